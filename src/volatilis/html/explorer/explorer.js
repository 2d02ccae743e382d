// The page: one state, from which everything that is seen follows.
const $ = (id) => document.getElementById(id);
const state = { world: null, learners: [], told: true, seed: 0, placed: {}, element: 0, picture: 0, cursor: null, first: 0, table: null, preset: "gaussian" };
let memory = null, view = null, places = null, pending = false, waiting = 0, addressing = 0, playing = null, timing = { compute: 0, draw: 0 };
const WINDOW = 1000, SLOW = 200; // trials that are shown at once; milliseconds after which the page waits until a slider rests

function update(change, rebuild = false) {
  change(state);
  if (rebuild) buildControls();
  clearTimeout(waiting);
  if (timing.compute > SLOW) waiting = setTimeout(refresh, SLOW);
  else if (!pending) { pending = true; requestAnimationFrame(() => { pending = false; refresh(); }); }
}

function say(text, kind = "told") {
  $("message").textContent = text;
  $("message").className = kind;
  $("message").hidden = !text;
}

// --- computing -------------------------------------------------------------------------------------------------------------

function compute() {
  memory.clear();
  const { world } = state, specs = state.learners.map((one) => completeLearner(one, world.p_c, state.told && !state.table));
  const base = { family: world.family, familyValues: world.values, specs, seed: state.seed, element: state.element, picture: Math.min(state.picture, specs.length - 1), cursor: state.cursor, placed: {}, p_c: state.table || world.changes ? null : world.p_c };
  if (state.table) return computeTable(base);
  const sample = sampleWorld(world), ys = sample.y.slice();
  for (const [t, value] of Object.entries(state.placed)) ys[t] = value;
  const events = new Uint8Array(ys.length);
  events[0] = RESET;
  const key = generatorKey(seedWords(state.seed, []));
  const results = specs.map((spec, slot) => runOnce(memory, spec, world.family, world.values, ys, events, key, slot === base.picture));
  return { ...base, ...sample, ys, events, results, placed: state.placed, first: 0, last: ys.length };
}

function computeTable(base) {
  const { table } = state, data = readOutcomes(table.data, table.outcome, base.family, base.familyValues, table.missing);
  table.groups = groupsNow(table);
  table.group = Math.min(table.group, table.groups.length - 1);
  const whole = base.specs.map((spec) => runGroups(memory, spec, base.family, base.familyValues, table.groups, data, base.seed));
  const group = table.groups[table.group], rows = group.rows, ys = rows.map((i) => data.ys[i]), events = Uint8Array.from(rows, (i) => data.events[i]);
  const first = Math.min(state.first, Math.max(rows.length - WINDOW, 0)), last = Math.min(rows.length, first + WINDOW);
  const pick = (values, wide) => { const part = new Float64Array(rows.length * wide); rows.forEach((i, t) => { for (let k = 0; k < wide; k++) part[t * wide + k] = values[i * wide + k]; }); return part; };
  const results = whole.map((one) => ({ ...one, columns: Object.fromEntries(Object.entries(one.columns).map(([name, values]) => [name, pick(values, values.length / data.ys.length)])) }));
  memory.clear(); // once more, step by step, up to the end of what is shown: the picture of one learner
  const steps = Uint8Array.from(events.slice(0, last));
  steps[0] |= RESET;
  results[base.picture].hypotheses = runOnce(memory, base.specs[base.picture], base.family, base.familyValues, ys.slice(0, last), steps, generatorKey(seedWords(base.seed, group.name)), true, first).hypotheses;
  return { ...base, ys, events, results, whole, table: { ...table, name: table.data.name, separator: table.data.separator, singles: table.data.header.length === 1, gaps: missingWords(table) }, theta: null, changed: null, first, last };
}

function groupsNow(table) {
  // The groups of the chosen columns, made once; an error where a row has none.
  const chosen = JSON.stringify(table.by);
  if (!table.groups || table.grouped !== chosen) Object.assign(table, { groups: groupsOf(table.data, table.by), grouped: chosen });
  return table.groups;
}

function trouble(error) {
  // What is said where something cannot be computed; any other error is a mistake of this page.
  if (error instanceof TableError) return error.message;
  if (error instanceof TooSlow) return `${PAGE.learners[error.message].title} takes longer than ${patience / 1000} seconds on so many rows. Choose Merge with 20 hypotheses, which comes close to exact inference, or fewer hypotheses; the command "volatilis run" has no such limit.`;
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) return `These parameters cannot be computed (${error.message}); move them back.`;
  throw error;
}

function refresh() {
  const start = performance.now();
  let failed = "";
  deadline = start + patience;
  try {
    view = compute();
  } catch (error) {
    failed = trouble(error);
  } finally {
    deadline = Infinity;
  }
  say(failed, "wrong");
  $("pictures").classList.toggle("stale", failed !== "");
  for (const id of ["play", "copy-python", "copy-command", "download"]) $(id).disabled = failed !== ""; // they would be of something else
  $("clear-placed").hidden = state.table !== null || !Object.keys(state.placed).length;
  if (!view) return;
  timing.compute = performance.now() - start;
  draw();
  refreshTour(view);
  clearTimeout(addressing); // when all rests: browsers refuse an address that changes too often
  addressing = setTimeout(() => location.replace(`#${encodeURIComponent(JSON.stringify(shared()))}`), SLOW);
}

// --- drawing ---------------------------------------------------------------------------------------------------------------

function draw() {
  const start = performance.now();
  view.cursor = state.cursor === null ? null : Math.min(state.cursor, view.last - 1);
  view.shown = playing === null ? view.last : Math.min(view.last, playing);
  places = drawObservations($("panel-observations"), view);
  drawMeasure($("panel-bayes-factor"), view, "log_bayes_factor_surprise", { of: (x) => x / Math.LN10, powers: true, least: -1 });
  drawMeasure($("panel-shannon"), view, "shannon_surprise");
  drawMeasure($("panel-rate"), view, "adaptation_rate", { low: -0.04, high: 1.04 });
  $("learned").hidden = !view.results.some((one) => one.columns.change_probability);
  if (!$("learned").hidden) drawMeasure($("panel-learned"), view, "change_probability", { of: Math.log10, powers: true, low: -5.2, high: 0, truth: view.p_c });
  drawRunLengths($("panel-run-length"), view);
  timing.draw = performance.now() - start;
  readouts();
}

function readouts() {
  const t = view.cursor ?? view.shown - 1, missing = view.events[t] & 3, truth = view.theta ? `, truth ${shortNumber(view.theta[t][view.element])}` : "";
  $("readout-title").textContent = `Trial ${t + 1}: ${missing ? "no observation" : `observed ${shortNumber(view.ys[t])}`}${truth}`;
  const titles = labelsWithNumbers(view.specs), rows = view.results.map((one, slot) => {
    const number = (name) => (one.columns[name] && Number.isFinite(one.columns[name][t]) ? shortNumber(one.columns[name][t]) : "–");
    const mean = one.columns.mean[t * one.size + view.element], sd = one.columns.variance ? ` ± ${shortNumber(Math.sqrt(one.columns.variance[t * one.size + view.element]))}` : "";
    const error = view.theta ? squaredError(one) : "–";
    return element("tr", {}, element("th", { scope: "row", text: titles[slot] }), ...[`${Number.isFinite(mean) ? shortNumber(mean) : "–"}${sd}`, number("bayes_factor_surprise"), number("shannon_surprise"), number("adaptation_rate"), number("run_length"), error].map((text) => element("td", { text })));
  });
  $("readout-rows").replaceChildren(...rows);
  const summary = `${view.last - view.first} trials. ${$("readout-title").textContent}.`;
  $("panel-observations").setAttribute("aria-label", `Observations and estimates. ${summary} Arrow keys left and right choose a trial, up and down move its observation, Delete takes it back.`);
}

function squaredError(one) {
  let sum = 0, count = 0; // not where there is no estimate yet
  const circle = view.family === "vonmises" ? view.familyValues.period : null;
  for (let t = 0; t < view.ys.length; t++) {
    let apart = one.columns.mean[t * one.size + view.element] - view.theta[t][view.element];
    if (circle) apart -= circle * Math.round(apart / circle);
    if (Number.isFinite(apart)) { sum += apart * apart; count += 1; }
  }
  return count ? shortNumber(Number((sum / count).toPrecision(3))) : "–";
}

function labelsWithNumbers(specs) {
  return specs.map((one) => {
    const [title, ...more] = PAGE.learners[one.learner].title.split(",");
    return [one.values.n ? `${title} ${one.values.n}` : title, ...more].join(",");
  });
}

// --- controls --------------------------------------------------------------------------------------------------------------

function buildControls() {
  const focused = document.activeElement?.id;
  controlCount = 0;
  if (state.table) try { groupsNow(state.table); } catch (error) { trouble(error); } // told when all is computed
  $("world").replaceChildren(...worldControls(state, update));
  $("learners").replaceChildren(...learnerControls(state, update));
  $("table").replaceChildren(...(state.table ? tableControls(state, update) : []));
  $("presets").hidden = $("placing").hidden = state.table !== null;
  $("legend").replaceChildren(...legendItems(state));
  $("world-title").textContent = state.table ? "What is observed" : "World";
  const names = state.world.family === "categorical" ? Array.from({ length: state.world.values.k }, (_, i) => `p[${i}]`) : PAGE.families[state.world.family].names;
  $("which-parameter").replaceChildren(...(names.length < 2 ? [] : [choice({ label: "Parameter", value: String(state.element), options: names.map((name, i) => [String(i), name]), changed: (i) => update((s) => { s.element = Number(i); }) })]));
  $("whose-run-lengths").replaceChildren(choice({ label: "Run lengths of", value: String(state.picture), options: state.learners.map((one, i) => [String(i), `${i + 1}: ${PAGE.learners[one.learner].title}`]), changed: (i) => update((s) => { s.picture = Number(i); }) }));
  // A button that took itself away gives the focus to what stands nearest.
  const nearest = { "leave-table": "file", "add-learner": `remove-${state.learners.length - 1}` }[focused] ?? "add-learner";
  if (focused) ($(focused) ?? $(nearest))?.focus();
}

function applyPreset(name, more = {}) {
  const preset = PRESETS[name];
  state.world = completeWorld({ ...preset.world, ...more.world, values: { ...preset.world.values, ...more.world?.values } });
  state.learners = structuredClone(more.learners ?? preset.learners);
  Object.assign(state, { told: true, placed: {}, element: preset.element ?? 0, picture: more.picture ?? 0, cursor: more.cursor ?? null, first: 0, table: null, preset: name });
  $("preset").value = name;
  $("preset-about").textContent = preset.about;
  buildControls();
  refresh();
}

function shared() {
  const { world, learners, told, seed, placed, element: shownElement, picture } = state;
  return { world, learners, told, seed, placed, element: shownElement, picture };
}

function fromAddress() {
  // A view that somebody shared; anything that does not fit is left alone.
  try {
    const given = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    if (!(given.world.family in PAGE.families) || !given.learners.every((one) => isDefined(one.learner, given.world.family)) || given.learners.length < 1) return false;
    const limits = Object.entries(PAGE.families[given.world.family].sliders);
    if (!limits.every(([name, one]) => given.world.values[name] === undefined || (given.world.values[name] >= one.low && given.world.values[name] <= one.high))) return false;
    if (!(given.world.length >= 10 && given.world.length <= 2000 && given.world.p_c > 0 && given.world.p_c < 1)) return false;
    Object.assign(state, { ...shared(), ...given, world: completeWorld(given.world), learners: given.learners.slice(0, 4) });
    buildControls();
    refresh();
    return true;
  } catch {
    return false;
  }
}

// --- files and texts -------------------------------------------------------------------------------------------------------

function useTable(text, name) {
  const data = parseTable(text, name), { outcome, by } = guessColumns(data), j = data.header.indexOf(outcome);
  state.table = { data, outcome, by, missing: "error", group: 0, groups: null };
  const known = data.rows.map((row) => row[j].trim()).filter((one) => !MISSING.includes(one.toLowerCase())).map(asNumber).filter(Number.isFinite);
  if (known.length > 2) Object.assign(state.world, guessWorld(known));
  let longest = data.rows.length;
  try { longest = groupsNow(state.table).reduce((most, one) => Math.max(most, one.rows.length), 0); } catch (error) { trouble(error); }
  state.learners = (longest > LONG ? LEARNERS_OF_LONG : FIRST_LEARNERS).map((one) => completeLearner(one, 0.05, true));
  Object.assign(state, { placed: {}, cursor: null, first: 0, element: 0, picture: 0 });
  buildControls();
  refresh();
}

function guessWorld(known) {
  // A first guess, to be moved: outcomes of 0 and 1 are binary, others real numbers with the noise of their steps.
  if (known.every((y) => y === 0 || y === 1)) return completeWorld({ family: "bernoulli" });
  const mean = known.reduce((a, b) => a + b, 0) / known.length, spread = Math.sqrt(known.reduce((a, b) => a + (b - mean) ** 2, 0) / known.length) || 1;
  const steps = known.slice(1).map((y, i) => Math.abs(y - known[i])).sort((a, b) => a - b), noise = steps[steps.length >> 1] / 0.954 || spread / 2;
  const three = (x) => Number(x.toPrecision(3));
  return completeWorld({ family: "gaussian", values: { sigma: three(Math.min(noise, spread)), mu_0: three(mean), sigma_0: three(spread) } });
}

async function takeFile(file) {
  if (!file) return;
  say(`Reading ${file.name} …`);
  try {
    if (file.size > 2e8) throw tooLong(file.name, MOST_ROWS);
    useTable(decoded(new Uint8Array(await file.arrayBuffer()), file.name), file.name);
  } catch (error) {
    if (!view?.table) { state.table = null; buildControls(); }
    say(trouble(error), "wrong");
  }
}

function resultTable() {
  const labels = labelsOf(view.specs), labelled = (results) => results.map((result, i) => ({ label: labels[i], result }));
  if (state.table) return tableText(state.table.data.header, state.table.data.rows, labelled(view.whole));
  return tableText(["outcome"], view.ys.map((y) => [String(y)]), labelled(view.results));
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" })), link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

async function copy(text, what) {
  $("copied-text").value = text;
  $("copied").hidden = false;
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is on the clipboard, and below.`);
  } catch {
    $("copied-text").select();
    say(`${what} is below, ready to be copied.`);
  }
}

async function start() {
  if (!("DecompressionStream" in window) || !("OffscreenCanvas" in window)) return say("This browser is too old for the explorer: Chrome 80, Firefox 113 or Safari 16.4 and newer can run it.", "wrong");
  memory = await loadMemory();
  for (const [name, one] of Object.entries(PRESETS)) $("preset").append(element("option", { value: name, text: one.title }));
  $("preset").addEventListener("change", () => applyPreset($("preset").value));
  $("play").addEventListener("click", play);
  $("clear-placed").addEventListener("click", () => { $("play").focus(); update((s) => { s.placed = {}; }); }); // it takes itself away
  $("copy-python").addEventListener("click", () => copy(asPython(view), "Python"));
  $("copy-command").addEventListener("click", () => copy(asCommand(view), "The command"));
  $("download").addEventListener("click", () => download("surprise.csv", resultTable()));
  $("file").addEventListener("change", () => takeFile($("file").files[0]));
  const step = (by) => { const to = Number($("tour").dataset.step) + by; if (to < TOUR.length) tourStep(to); else closeTour(); };
  const tourStep = (to) => showTour(to, (set) => applyPreset(set.preset, set), () => view);
  const closeTour = () => { $("tour").hidden = true; $("start-tour").focus(); };
  $("start-tour").addEventListener("click", () => tourStep(0));
  $("tour-next").addEventListener("click", () => step(1));
  $("tour-back").addEventListener("click", () => step(-1));
  $("tour-close").addEventListener("click", closeTour);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !$("tour").hidden) closeTour(); });
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", (event) => { event.preventDefault(); document.body.classList.remove("dropping"); takeFile(event.dataTransfer.files[0]); });
  addEventListener("resize", () => view && draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { buildControls(); draw(); });
  if (!fromAddress()) applyPreset("gaussian");
  listenToPanels();
  document.documentElement.dataset.ready = "yes";
}

// For the console, and for tests: the same functions that the page itself uses
globalThis.explorer = { state, update, refresh, applyPreset, useTable, resultTable, PAGE, runOnce, generatorKey, seedWords, sampleWorld, completeWorld, asPython: () => asPython(view), asCommand: () => asCommand(view), memory: () => memory, view: () => view, timing: () => ({ ...timing }), waitAtMost: (milliseconds) => { patience = milliseconds; } };
start();
