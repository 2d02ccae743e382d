// The compiled learners: their memory, their arguments as rows of 8-byte words, and a run of one of them over a sequence.
const PAGE = JSON.parse(document.getElementById("explorer-data").textContent);
const OBSERVE = 0, ELAPSE = 1, SKIP = 2, RESET = 4;
const STRETCH = 256; // steps between two looks at the clock
const VIEWS = { f8: Float64Array, i8: BigInt64Array, u8: BigUint64Array, u1: Uint8Array };

class TooSlow extends Error {}
let patience = 4000, deadline = Infinity; // milliseconds for all learners of a picture

class Memory {
  // One memory for all; `clear` gives everything back at once.
  constructor(exports) {
    this.exports = exports;
    this.start = exports.__heap_base.value;
    this.top = this.start;
  }
  clear() { this.top = this.start; }
  take(bytes) {
    const place = (this.top + 63) & ~63;
    this.top = place + bytes + 64; // eight numbers may be read where fewer are used
    const missing = this.top - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536) + 16);
    return place;
  }
  view(array) { return new VIEWS[array.kind](this.exports.memory.buffer, array.place, array.length); }
}

class Words {
  // The arguments of a call, in their order: a number is a word; an array is its address and its shape.
  constructor(memory) {
    this.memory = memory;
    this.words = [];
  }
  float(value) {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, value, true);
    this.words.push(bits.getBigInt64(0, true));
  }
  int(value) { this.words.push(BigInt(value)); }
  array(kind, shape, begins = null) {
    const length = shape.reduce((a, b) => a * b, 1);
    const array = { kind, shape, length, place: this.memory.take(Math.max(length, 1) * (kind === "u1" ? 1 : 8)) };
    const view = this.memory.view(array);
    if (begins) view.set(kind === "f8" ? begins : begins.map(BigInt)); else view.fill(kind === "f8" || kind === "u1" ? 0 : 0n);
    return this.put(array);
  }
  put(array) {
    array.word = this.words.length;
    this.words.push(BigInt(array.place), ...array.shape.map(BigInt));
    return array;
  }
  lay() {
    this.place = this.memory.take(this.words.length * 8);
    this.refresh();
    return this.place;
  }
  refresh() { new BigInt64Array(this.memory.exports.memory.buffer, this.place, this.words.length).set(this.words); }
  call(symbol) { this.memory.exports[symbol](BigInt(this.place ?? this.lay())); }
}

async function loadMemory() {
  const bytes = Uint8Array.from(atob(PAGE.kernels), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer());
  return new Memory(instance.exports);
}

const symbolOf = (name) => name.replaceAll("-", "_");
const inEights = (n) => 8 * Math.ceil(n / 8);

function familyFields(memory, name, node, values) {
  // The family's fields, those of the family within it apart, with those that it computes from the others.
  const { inner, derived } = PAGE.families[name], isInner = (one) => inner?.fields.includes(one);
  const part = (wanted) => Object.fromEntries(Object.entries(values).filter(([one]) => Boolean(isInner(one)) === wanted));
  const fields = inner ? { ...part(false), family: part(true) } : { ...values };
  if (derived.length) {
    const words = new Words(memory), rows = PAGE.families[name].rows;
    const zeros = { ...fields, prior_column: new Array(rows).fill(0) };
    layTuple(words, node, zeros, rows);
    words.array("f8", [rows, 1]);
    words.array("f8", [1]);
    const out = words.array("f8", [3]), column = words.array("f8", [rows]);
    words.call(`derive__${symbolOf(name)}`);
    derived.filter((one) => one !== "prior_column").forEach((one, i) => { fields[one] = memory.view(out)[i]; });
    if (derived.includes("prior_column")) fields.prior_column = [...memory.view(column)];
  }
  return fields;
}

function layTuple(words, node, values) {
  // A part that has no values of its own takes those of the whole, by name.
  for (const [name, one] of Object.entries(node.fields)) {
    if (one.fields) layTuple(words, one, { ...values, ...values[name] });
    else if (one.array) words.array(one.array, one.shape, repeated(values[name] ?? one.begins, one.shape));
    else words[one.number](values[name] ?? one.value ?? 0);
  }
}

function repeated(given, shape) {
  // Where learners stand side by side, a number or a row is that of each of them.
  const row = typeof given === "number" ? [given] : given;
  return row ? Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => row[i % row.length]) : null;
}

class Runner {
  // A learner on sequences of at most `rows` observations at a time. Numbers come out as the learner writes them.
  constructor(memory, learner, family, learnerValues, familyValues, rows) {
    this.memory = memory;
    this.learner = learner;
    this.symbol = `${symbolOf(learner)}__${symbolOf(family)}`;
    this.familyName = family;
    const layout = PAGE.layouts[PAGE.pairs[this.symbol]], record = PAGE.learners[learner];
    const own = record.made_for ? learnerValues : {}; // a learner that makes its family itself
    const given = Object.fromEntries(Object.keys(familyValues).map((name) => [name, own[name] ?? familyValues[name]]));
    if (record.made_for) for (const one of record.parameters) if (one.default !== null && one.name in given && !one.from_family) given[one.name] = own[one.name] ?? one.default;
    this.familyNode = layout.learner.fields.family;
    this.fields = familyFields(memory, family, this.familyNode, given);
    this.categories = familyValues.k ?? 0;
    this.size = PAGE.families[family].size ?? this.categories;
    this.full = record.readouts.includes("gamma");
    this.words = new Words(memory);
    // where an observation may be an outlier, each hypothesis becomes two; pairs of neighbours are compared eight at a time
    const most = learnerValues.n === undefined ? 128 : inEights(learnerValues.n) + 2;
    this.room = PAGE.families[family].splits ? inEights(inEights(2 * most) + most) : inEights(most);
    layTuple(this.words, layout.learner, { ...learnerValues, family: this.fields });
    this.banks = [];
    this.state = {};
    this._layState(layout.state, this.state);
    this.ys = this.words.array(PAGE.families[family].observation, [rows]);
    this.events = this.words.array("u1", [rows]);
    this.progress = this.words.array("i8", [1]);
    const some = this.full ? rows : 0;
    this.out = {};
    const sizes = { means: rows * this.size, variances: some * this.size, log_p: some, log_p_0: some, gamma: some, run_length: rows, p_c: record.change === "learned" ? rows : 0, log_outliers: PAGE.families[family].splits ? some : 0 };
    for (const name of PAGE.outputs) this.out[name] = this.words.array("f8", [sizes[name] ?? 0]);
    this.words.lay();
    for (const bank of this.banks) this._fillPrior(bank);
  }
  _layState(node, into) {
    for (const [name, one] of Object.entries(node.fields)) {
      if (one.fields) {
        into[name] = {};
        this._layState(one, into[name]);
        if (one.prior) this.banks.push(into[name]);
      } else if (one.array) {
        const shape = one.shape.map((d) => (d.rooms ? d.rooms * this.room : typeof d === "object" ? d.k + this.categories : d));
        into[name] = this.words.array(one.array, shape, one.begins);
        into[name].grows = one.shape.some((d) => d.rooms);
      } else {
        this.words[one.number](one.value);
        into[name] = one.value;
      }
    }
  }
  _fillPrior({ chi, nu }) {
    // Of states side by side, those of each.
    const parts = nu.shape.length > 1 ? nu.shape[0] : 1, of = (one, k) => ({ ...one, shape: one.shape.slice(parts > 1 ? 1 : 0), place: one.place + (k * one.length * 8) / parts });
    for (let k = 0; k < parts; k++) {
      const words = new Words(this.memory);
      layTuple(words, this.familyNode, this.fields);
      words.put(of(chi, k));
      words.put(of(nu, k));
      words.call(`prior__${symbolOf(this.familyName)}`);
    }
  }
  seed(key) {
    const random = this.state.random ?? this.state.members?.random;
    if (random) this.memory.view(random)[0] = key;
  }
  load(values, events) {
    const integer = this.ys.kind === "i8", ys = this.memory.view(this.ys);
    for (let i = 0; i < values.length; i++) ys[i] = integer ? BigInt(events[i] & 3 ? 0 : values[i]) : values[i];
    this.memory.view(this.events).set(events);
    this.memory.view(this.progress)[0] = 0n;
  }
  advance(to) {
    // From where the last call ended up to step `to`, not included; in stretches, so that a page never stands still.
    for (let next = Number(this.memory.view(this.progress)[0]); next < to;) {
      next = Math.min(next + STRETCH, to);
      this._advance(next);
      if (performance.now() > deadline) throw new TooSlow(this.learner);
    }
  }
  _advance(to) {
    const length = new BigInt64Array(this.memory.exports.memory.buffer, this.words.place + 8 * (this.events.word + 1), 1);
    length[0] = BigInt(to);
    this.words.words[this.events.word + 1] = BigInt(to);
    this.memory.exports[this.symbol](BigInt(this.words.place));
    while (Number(this.memory.view(this.progress)[0]) < to) {
      this._grow();
      this.memory.exports[this.symbol](BigInt(this.words.place));
    }
  }
  _grow() {
    // Twice the room for hypotheses: every array that grows with them is laid anew, its rows one after the other.
    const before = this.room;
    this.room *= 2;
    const enlarge = (part) => {
      for (const one of Object.values(part)) {
        if (one.grows) {
          const old = this.memory.view({ ...one }).slice();
          one.shape = one.shape.map((d, i) => (i === one.shape.length - 1 ? 2 * d : d));
          one.length *= 2;
          one.place = this.memory.take(one.length * 8);
          const view = this.memory.view(one);
          view.fill(one.kind === "f8" ? 0 : 0n);
          for (let row = 0; row * before < old.length; row++) view.set(old.subarray(row * before, (row + 1) * before), row * this.room);
          this.words.words[one.word] = BigInt(one.place);
          one.shape.forEach((d, i) => { this.words.words[one.word + 1 + i] = BigInt(d); });
        } else if (one && typeof one === "object" && !one.kind) enlarge(one);
      }
    };
    enlarge(this.state);
    this.words.refresh();
  }
  read(name, rows) {
    const wide = name === "means" || name === "variances" ? this.size : 1;
    return this.memory.view(this.out[name]).slice(0, this.out[name].length ? rows * wide : 0);
  }
  hypotheses(visit) {
    // Every hypothesis about the last change: its run length and its weight.
    if (this.state.members) return this._sharedHypotheses(visit);
    const lengths = this.memory.view(this.state.run_lengths);
    if (!this.state.weights) return visit(lengths[this.state.i ?? 0], 1);
    const weights = this.memory.view(this.state.weights), n = Number(this.memory.view(this.state.count)[0]);
    for (let i = 0; i < n; i++) if (weights[i] > 1e-3) visit(lengths[i], weights[i]);
  }
  _sharedHypotheses(visit) {
    // Of learners side by side, each with its share: the weight that each run length has in all of them.
    const { members, shares } = this.state, sums = new Map();
    const [lengths, weights, counts, share] = [members.run_lengths, members.weights, members.count, shares].map((one) => this.memory.view(one));
    share.forEach((part, k) => {
      for (let i = k * this.room; i < k * this.room + Number(counts[k]); i++) sums.set(lengths[i], (sums.get(lengths[i]) ?? 0) + part * weights[i]);
    });
    sums.forEach((weight, length) => { if (weight > 1e-3) visit(length, weight); });
    return undefined;
  }
}
