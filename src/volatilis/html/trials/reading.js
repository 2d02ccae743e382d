// Reading a trial and choosing which trials are in view: pointer, touch, wheel and keys on the picture.

const frame = document.getElementById("frame"), readout = document.getElementById("readout");
const state = {
  group: 0, numbers: null, drawing: null, at: null, range: null, width: 0,
  learners: DATA.labels.slice(), person: true, measure: DATA.measures[0] || null,
};

function redraw() {
  state.width = widthOf(frame);
  state.drawing = draw(frame, state.numbers, state);
  document.getElementById("whole").hidden = state.range === null;
  read(state.at);
  fillChanges();
  fillTrials();
}

// --- the trial that is pointed at ---------------------------------------------------------------------------------------

function read(at) {
  state.at = at;
  const { cursor, view, panels } = state.drawing;
  cursor.replaceChildren();
  const trial = at === null ? null : state.numbers.trial[at];
  if (at !== null && trial >= view.low && trial <= view.high) {
    const x = place(view.x(trial));
    make("line", { x1: x, x2: x, y1: panels[0].top, y2: panels[panels.length - 1].bottom }, cursor);
    panels.forEach((panel) => markers(panel, at).forEach(([value, name]) => {
      const inside = panel.warp(value) >= panel.range[0] && panel.warp(value) <= panel.range[1];
      if (inside) { make("circle", { cx: x, cy: place(panel.y(value)), r: 4, class: name }, cursor); }
    }));
  }
  fillReadout(at);
}

function markers(panel, at) {
  return state.learners.map((label) => {
    if (panel.kind === "stems") { return [NaN, ""]; }
    const values = panel.kind === "line" ? state.numbers.of(label, panel.measure)
      : panel.strip.element === null ? undefined : state.numbers.of(label, "mean", panel.strip.element);
    return [values ? values[at] : NaN, hue(label)];
  });
}

// The legend, the sums of the group and the reading of a trial are one table: a row per thing that is drawn.
function fillReadout(at) {
  const group = DATA.groups[state.group], trials = group.rows === 1 ? "1 trial" : group.rows + " trials";
  const heads = at === null ? [trials, "mean error", "Shannon", "changes"]
    : ["trial " + trialName(at), DATA.categorical ? "its probability ± 2 SD" : "value ± 2 SD", "surprise", "rate γ"];
  const rows = at === null ? sumRows(group) : trialRows(at);
  [...readout.tHead.rows[0].cells].forEach((cell, i) => { cell.textContent = heads[i]; });
  rows.forEach((cells, i) => cells.forEach((text, k) => { readout.tBodies[0].rows[i].cells[k + 1].textContent = text; }));
}

function sumRows(group) {
  const people = DATA.predictions.length ? [[shown(group.person), "", ""]] : [];
  return [[group.missing ? group.missing + " missing" : "", "", ""], ...people, ...DATA.labels.map((label) => {
    const [changes, shannon, error] = group.sums[label];
    return [shown(error), shown(shannon), shown(changes)];
  })];
}

function trialRows(at) {
  const value = (array) => (array ? shown(array[at]) : "–"), named = (array) => outcomeName(array[at]);
  const elements = DATA.strips.map((strip) => strip.element).filter((element) => element !== null);
  const came = DATA.categorical ? state.numbers.outcomes[0][at] : undefined;
  const meant = came === undefined ? elements : elements.filter((element) => element === came);  // only the one that came
  const looked = changesShown(state.numbers, state.learners)[0];
  const change = looked ? "change: " + shown(Number(looked.probability[at].toFixed(3))) : "";
  const rows = [[state.numbers.outcomes.map(named).join(" · "), change, ""]];
  const people = state.numbers.predictions.map(DATA.categorical ? named : value);
  if (people.length) { rows.push([people.join(" · "), "", ""]); }
  return rows.concat(DATA.labels.map((label) => {
    const mean = meant.map((element) => value(state.numbers.of(label, "mean", element))).join(" · ") || "–";
    const variance = meant.length === 1 ? state.numbers.of(label, "variance", meant[0]) : undefined;
    const wide = variance ? " ± " + shown(2 * Math.sqrt(variance[at])) : "";
    const measured = state.measure ? value(state.numbers.of(label, state.measure.name)) : "–";
    return [mean + wide, measured, value(state.numbers.of(label, "adaptation_rate"))];
  }));
}

// Pressing a row's name takes its lines out of the picture, or brings them back.
function switchOn(button) {
  const label = button.dataset.label, on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  if (label === undefined) { state.person = on; } else {
    state.learners = DATA.labels.filter((other) => (other === label ? on : state.learners.includes(other)));
  }
  redraw();
}
readout.querySelectorAll("button").forEach((button) => {
  button.disabled = false;
  button.addEventListener("click", () => switchOn(button));
});

function aloud() {
  const cells = (row) => [...row.cells].map((cell) => cell.textContent).filter(Boolean).join(" ");
  document.getElementById("reading").textContent =
    readout.tHead.rows[0].cells[0].textContent + ": " + [...readout.tBodies[0].rows].map(cells).join("; ");
}

// --- which trials are in view -------------------------------------------------------------------------------------------

function show(low, high) {
  const all = viewOf(state.numbers, null, state.width);
  const least = 3 * all.step, span = Math.max(high - low, least), middle = (low + high) / 2;
  const start = Math.min(Math.max(middle - span / 2, all.low), Math.max(all.high - span, all.low));
  state.range = span >= (all.high - all.low) * 0.999 ? null : [start, start + span];
  redraw();
}

function zoom(factor, around) {
  const { low, high } = state.drawing.view;
  const centre = around === undefined ? (low + high) / 2 : around;
  show(centre - (centre - low) * factor, centre + (high - centre) * factor);
}

function trialAt(event) {
  const { svg, view } = state.drawing, box = svg.getBoundingClientRect();
  const share = ((event.clientX - box.left) * state.width / box.width - LEFT) / view.width;
  return view.low + Math.min(Math.max(share, 0), 1) * (view.high - view.low);
}

let from = null;
frame.addEventListener("pointerdown", (event) => {
  if (event.pointerType === "mouse" && event.button === 0) { from = trialAt(event); frame.setPointerCapture(event.pointerId); }
});
frame.addEventListener("pointermove", (event) => {
  const here = trialAt(event);
  read(nearest(state.numbers.trial, here));
  if (from === null) { return; }
  const { cursor, view, panels } = state.drawing, [low, high] = [Math.min(from, here), Math.max(from, here)];
  const [top, bottom] = [panels[0].top, panels[panels.length - 1].bottom];
  make("rect", { x: view.x(low), y: top, width: view.x(high) - view.x(low), height: bottom - top, class: "chosen" }, cursor);
});
frame.addEventListener("pointerup", (event) => {
  const start = from, end = trialAt(event), view = state.drawing.view;
  from = null;
  if (start !== null && Math.abs(view.x(end) - view.x(start)) > 8) { show(Math.min(start, end), Math.max(start, end)); }
});
frame.addEventListener("pointercancel", () => { from = null; });
frame.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && from === null) { read(null); } });
frame.addEventListener("dblclick", () => { state.range = null; redraw(); });
frame.addEventListener("wheel", (event) => {  // a plain wheel scrolls the page; with Ctrl, as pinching sends it, it zooms
  const { low, high } = state.drawing.view, aside = Math.abs(event.deltaX) > Math.abs(event.deltaY) && state.range !== null;
  if (!event.ctrlKey && !event.metaKey && !aside) { return; }
  event.preventDefault();
  if (aside) { const way = event.deltaX / state.width * (high - low); show(low + way, high + way); return; }
  zoom(Math.exp(event.deltaY / 200), trialAt(event));
}, { passive: false });
frame.addEventListener("keydown", (event) => {
  const last = state.numbers.trial.length - 1;
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -last, End: last }[event.key];
  const whole = () => { state.range = null; redraw(); };
  const doing = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: whole }[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey || (!step && !doing)) { return; }
  event.preventDefault();
  event.stopPropagation();
  if (doing) { doing(); return; }
  read(state.at === null ? state.drawing.view.first : Math.min(Math.max(state.at + step, 0), last));
  const { low, high } = state.drawing.view, trial = state.numbers.trial[state.at];
  if (trial < low || trial > high) { show(trial - (high - low) / 2, trial + (high - low) / 2); }
  aloud();
});
document.getElementById("closer").addEventListener("click", () => zoom(0.5));
document.getElementById("wider").addEventListener("click", () => zoom(2));
document.getElementById("whole").addEventListener("click", () => { state.range = null; redraw(); });
