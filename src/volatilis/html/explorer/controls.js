// Controls made of the records: a slider for each parameter, with a field for the exact number.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "text") made.textContent = value;
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const SCALES = {
  linear: { to: (x) => x, back: (x) => x },
  whole: { to: (x) => x, back: (x) => Math.round(x) },
  log: { to: Math.log, back: Math.exp },
  logit: { to: (p) => Math.log(p / (1 - p)), back: (x) => 1 / (1 + Math.exp(-x)) },
};
let controlCount = 0; // from 0 whenever all are built anew: a control keeps its id, and with it the focus

function slider({ label, hint = "", value, low, high, scale, disabled = false, changed }) {
  if (value < low && scale !== "whole") low = scale === "log" ? value / 20 : 2 * value; // data in other units
  if (value > high && scale !== "whole") high = scale === "log" ? value * 20 : 2 * value;
  const { to, back } = SCALES[scale], id = `control-${(controlCount += 1)}`, [from, until] = [to(low), to(high)];
  const place = (x) => Math.round((1000 * (to(Math.min(high, Math.max(low, x))) - from)) / (until - from));
  const rounded = (x) => (scale === "whole" ? Math.round(x) : Number(x.toPrecision(3)));
  const range = element("input", { type: "range", id, min: 0, max: scale === "whole" ? high - low : 1000, step: 1, disabled });
  const field = element("input", { type: "number", "aria-label": `${label}, as a number`, step: scale === "whole" ? 1 : "any", min: low, max: high, value, disabled });
  const show = (x) => {
    range.value = scale === "whole" ? x - low : place(x);
    range.setAttribute("aria-valuetext", String(x));
  };
  show(value);
  range.addEventListener("input", () => {
    const x = Math.min(high, Math.max(low, rounded(scale === "whole" ? low + Number(range.value) : back(from + (Number(range.value) / 1000) * (until - from)))));
    field.value = x;
    range.setAttribute("aria-valuetext", String(x));
    field.setCustomValidity("");
    changed(x);
  });
  field.addEventListener("change", () => {
    const x = Number(field.value), fits = field.value.trim() !== "" && x >= low && x <= high && (scale !== "whole" || Number.isInteger(x));
    field.setCustomValidity(fits ? "" : `${label} must be ${scale === "whole" ? "a whole number " : ""}from ${low} to ${high}`);
    if (!fits) return field.reportValidity();
    show(x);
    return changed(x);
  });
  return element("div", { class: "slider" }, element("label", { for: id, title: hint, text: label }), range, field);
}

function choice({ label, value, options, changed, hidden = false }) {
  const id = `control-${(controlCount += 1)}`;
  const select = element("select", { id, onchange: () => changed(select.value) });
  for (const [key, text] of options) select.append(element("option", { value: key, selected: key === value, text }));
  return element("div", { class: "choice" }, element("label", { for: id, class: hidden ? "unseen" : null, text: label }), select);
}

const GREEK = { sigma: "σ", mu: "μ", lambda: "λ", theta: "θ", alpha: "α", beta: "β", kappa: "κ", pi: "π" };
const withSymbols = (text) => text.replace(/\b(sigma|mu|lambda|theta|alpha|beta|kappa|pi)(_0)?(?![a-z])/g, (_, name, zero) => GREEK[name] + (zero ? "₀" : "")).replaceAll("^2", "²");
const readable = (name) => name.replaceAll("_", " ").replaceAll("-", " ");
const NAMES = { sigma: "noise σ", mu_0: "prior mean μ₀", sigma_0: "prior spread σ₀", p_c: "change probability", n: "hypotheses n", m: "modulation m", omega: "memory ω", k: "categories k", s: "prior count s", kappa: "concentration κ", kappa_0: "prior concentration κ₀", alpha_0: "prior α₀", beta_0: "prior β₀", p_o: "outlier probability", shape: "prior shape", rate: "prior rate", a: "prior a", b: "prior b" };
const nameOf = (name) => NAMES[name] ?? readable(name);

function worldControls(state, update) {
  const { world } = state, family = PAGE.families[world.family], parts = [];
  const families = Object.entries(PAGE.families).map(([name, one]) => [name, one.title]);
  parts.push(choice({ label: "Family", value: world.family, options: families, changed: (name) => update((s) => {
    s.world = completeWorld({ family: name, p_c: s.world.p_c, length: s.world.length, seed: s.world.seed });
    s.learners = s.learners.filter((one) => isDefined(one.learner, name));
    if (!s.learners.length) s.learners = FIRST_LEARNERS.filter((one) => isDefined(one.learner, name));
    s.placed = {};
    s.element = 0;
  }, true) }));
  parts.push(element("p", { class: "note", text: withSymbols(family.sentence) }));
  for (const [name, one] of Object.entries(family.sliders)) {
    parts.push(slider({ label: nameOf(name), hint: `${name}: ${family.words[name] ?? ""}`, ...one, value: world.values[name], changed: (x) => update((s) => { s.world.values[name] = x; if (name === "k") s.placed = {}; }) }));
  }
  if (state.table) return parts;
  parts.push(slider({ label: nameOf("p_c"), hint: "p_c: how often the world changes", value: world.p_c, low: 0.0005, high: 0.5, scale: "log", changed: (x) => update((s) => { s.world.p_c = x; }) }));
  if (world.changes) parts.push(element("p", { class: "note", text: "Here the preset says when the world changes; learners expect it with this probability." }));
  if (world.values.p_o === undefined) parts.push(slider({ label: "share of outliers", hint: "observations that come from elsewhere, without a change", value: world.oddballs, low: 0, high: 0.5, scale: "linear", changed: (x) => update((s) => { s.world.oddballs = x; }) }));
  parts.push(slider({ label: "trials", value: world.length, low: 10, high: 2000, scale: "log", changed: (x) => update((s) => { s.world.length = Math.round(x); for (const t of Object.keys(s.placed)) if (Number(t) >= s.world.length) delete s.placed[t]; }) }));
  parts.push(element("button", { type: "button", id: "again", text: "Draw another sequence", onclick: () => update((s) => { s.world.seed += 1; s.placed = {}; }) }));
  return parts;
}

function swatchOf(prepared, dots = false) {
  // A piece of a line as it is drawn, or of the dots.
  const swatch = element("canvas", { class: "swatch", width: 56, height: 12, "aria-hidden": "true" });
  requestAnimationFrame(() => {
    const pen = swatch.getContext("2d");
    prepared(pen);
    pen.beginPath();
    if (dots) for (const x of [12, 28, 44]) { pen.moveTo(x, 6); pen.arc(x, 6, 3.2, 0, 7); }
    else { pen.moveTo(0, 6); pen.lineTo(56, 6); }
    if (dots) pen.fill(); else pen.stroke();
  });
  return swatch;
}

function legendItems(state) {
  const item = (swatch, text) => element("li", {}, swatch, element("span", { text }));
  const truth = (pen) => { pen.strokeStyle = cssColour("--ink"); pen.lineWidth = 2; pen.setLineDash([]); };
  const change = (pen) => { pen.strokeStyle = cssColour("--soft"); pen.lineWidth = 2; pen.setLineDash([2, 4]); };
  const band = (pen) => { pen.strokeStyle = cssColour("--ink"); pen.lineWidth = 12; pen.globalAlpha = 0.16; pen.setLineDash([]); };
  const items = [item(swatchOf((pen) => { pen.fillStyle = cssColour("--soft"); }, true), "observed")];
  if (!state.table) items.push(item(swatchOf(truth), "truth"), item(swatchOf(change), "it changes"));
  items.push(...state.learners.map((one, slot) => item(swatchOf((pen) => stroke(pen, slot, 4)), PAGE.learners[one.learner].title + (PAGE.learners[one.learner].readouts.includes("gamma") ? "" : " (estimates only)"))));
  if (state.world.family !== "vonmises") items.push(item(swatchOf(band), "± standard deviation"));
  return items;
}

function learnerControls(state, update) {
  const parts = [], family = state.world.family;
  const names = Object.keys(PAGE.learners).filter((one) => isDefined(one, family));
  if (!state.table) {
    const id = "told", box = element("input", { type: "checkbox", id, checked: state.told, onchange: () => update((s) => { s.told = box.checked; }, true) });
    parts.push(element("div", { class: "tick" }, box, element("label", { for: id, text: "Learners know how often the world changes" })));
  }
  state.learners.forEach((given, slot) => {
    const spec = completeLearner(given, state.world.p_c, state.told && !state.table), record = PAGE.learners[spec.learner];
    const options = names.map((name) => [name, PAGE.learners[name].title]);
    const swatch = swatchOf((pen) => stroke(pen, slot, 4));
    const head = element("div", { class: "learner-head" }, swatch, choice({ label: `Learner ${slot + 1}`, hidden: true, value: spec.learner, options, changed: (name) => update((s) => { s.learners[slot] = { learner: name, values: {} }; }, true) }));
    if (state.learners.length > 1) head.append(element("button", { type: "button", class: "quiet", id: `remove-${slot}`, "aria-label": `Remove learner ${slot + 1}, ${record.title}`, text: "×", onclick: () => update((s) => { s.learners.splice(slot, 1); s.picture = Math.min(s.picture, s.learners.length - 1); }, true) }));
    const part = element("fieldset", { class: "learner" }, element("legend", { class: "unseen", text: `Learner ${slot + 1}: ${record.title}` }), head);
    part.append(element("p", { class: "note", title: record.sentence, text: `keeps ${withSymbols(record.keeps).replaceAll("`", "")}` }));
    for (const one of record.parameters.filter((parameter) => parameter.shown)) {
      const told = state.told && !state.table && (one.name === "p_c" || (one.name === "m" && record.change === "m"));
      const clean = one.scale === "logit" ? { low: Math.max(one.low, 1e-4), high: Math.min(one.high, 0.999) } : { low: one.low, high: one.high };
      if (!told) part.append(slider({ label: nameOf(one.name), hint: `${one.name}: ${one.accepts}`, value: Number(spec.values[one.name].toPrecision(6)), ...clean, scale: one.scale, changed: (x) => update((s) => { s.learners[slot] = { learner: spec.learner, values: { ...s.learners[slot].values, [one.name]: x } }; }) }));
    }
    parts.push(part);
  });
  if (state.learners.length < 4) parts.push(element("button", { type: "button", id: "add-learner", text: "Add a learner", onclick: () => update((s) => { s.learners.push({ learner: names.find((one) => !s.learners.some((other) => other.learner === one)) ?? names[0], values: {} }); }, true) }));
  return parts;
}

function tableControls(state, update) {
  const { table } = state, parts = [element("p", { class: "note", text: `${table.data.name}: ${table.data.rows.length.toLocaleString("en")} rows. It stays on this machine.` })];
  const columns = table.data.header.map((one) => [one, one]);
  parts.push(choice({ label: "Outcome", value: table.outcome, options: columns, changed: (name) => update((s) => { s.table.outcome = name; s.table.by = s.table.by.filter((one) => one !== name); }, true) }));
  const box = element("fieldset", {}, element("legend", { text: "One sequence for each" }));
  for (const name of table.data.header.filter((one) => one !== table.outcome)) {
    const id = `by-${(controlCount += 1)}`, tick = element("input", { type: "checkbox", id, checked: table.by.includes(name), onchange: () => update((s) => { s.table.by = s.table.data.header.filter((one) => (one === name ? tick.checked : s.table.by.includes(one))); s.table.group = 0; }, true) });
    box.append(element("div", { class: "tick" }, tick, element("label", { for: id, text: name })));
  }
  parts.push(box);
  parts.push(choice({ label: "A missing outcome", value: table.missing, options: [["error", "is an error"], ["elapse", "means that time passes"], ["skip", "is left out"]], changed: (name) => update((s) => { s.table.missing = name; }, true) }));
  if (table.groups && table.groups.length > 1) parts.push(choice({ label: `Sequence that is shown${table.groups.length > 500 ? `: the first 500 of ${table.groups.length.toLocaleString("en")}` : ""}`, value: String(table.group), options: table.groups.slice(0, 500).map((one, i) => [String(i), one.name.join(", ")]), changed: (i) => update((s) => { s.table.group = Number(i); s.first = 0; }, true) }));
  const rows = table.groups?.[table.group]?.rows.length ?? 0;
  if (rows > WINDOW) parts.push(slider({ label: "shown from row", hint: `${WINDOW} of ${rows} rows are shown; all of them are computed and downloaded`, value: Math.min(state.first, rows - WINDOW) + 1, low: 1, high: rows - WINDOW + 1, scale: "whole", changed: (x) => update((s) => { s.first = x - 1; s.cursor = null; }) }));
  parts.push(element("button", { type: "button", id: "leave-table", text: "Back to made-up worlds", onclick: () => update((s) => { s.table = null; s.first = 0; }, true) }));
  return parts;
}
