// The picture of a group: strips for outcomes and estimates, then the probability of a change, surprise and the adaptation rate,
// over one axis of trials.

const LEFT = 54, RIGHT = 20, BELOW = 34, TITLE = 20, TRIANGLES = 11, GAP = 14;

const widthOf = (frame) => Math.max(frame.clientWidth, 240);

function make(name, attributes, parent, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  if (text !== undefined) { element.textContent = text; }
  if (parent) { parent.appendChild(element); }
  return element;
}

// Which trials are in view. `range` is in numbers of trials; null: all.
function viewOf(numbers, range, width) {
  const trial = numbers.trial, count = trial.length;
  const step = count > 1 ? (trial[count - 1] - trial[0]) / (count - 1) : 1;
  const [low, high] = range || [trial[0] - 0.6 * step, trial[count - 1] + 0.6 * step];
  return {
    trial, low, high, step, width: width - LEFT - RIGHT, resets: numbers.resets,
    first: Math.max(0, lowerBound(trial, low) - 1), last: Math.min(count, lowerBound(trial, high) + 1),
    x: scale(low, high, LEFT, width - RIGHT),
  };
}

// The panels from top to bottom, with their heights and ranges.
function panelsOf(numbers, state) {
  const strips = DATA.strips, alone = strips.length === 1, narrow = state.width < 600;
  const tall = alone ? (narrow ? 190 : 240) : Math.max(56, Math.min(150, 330 / strips.length));
  const panels = strips.map((strip) => ({
    kind: "strip", title: strip.title, strip, height: tall, warp: even,
    range: strip.low === null ? extent(stripArrays(strip, numbers, state), even)
      : strip.around ? [0, strip.around] : [strip.low - 0.06, strip.high + 0.06],
  }));
  if (changesShown(numbers, state.learners).length) {
    const range = [-0.03, 1.03], title = "probability of a change", unit = narrow ? "looking back" : "looking back, given all trials";
    panels.push({ kind: "stems", title, unit, warp: even, range, height: narrow ? 56 : 64 });
  }
  const lines = (measure) => state.learners.map((label) => numbers.of(label, measure)).filter(Boolean);
  if (state.measure && lines(state.measure.name).length) {
    const { name, title, units } = state.measure, warp = name.endsWith("surprise") ? Math.asinh : even;
    const range = extent(lines(name), warp), unit = units + (warp === even ? "" : ", asinh scale");
    panels.push({ kind: "line", title, unit, measure: name, warp, range, height: narrow ? 84 : 104 });
  }
  if (lines("adaptation_rate").length) {
    const rate = { title: "adaptation rate γ", measure: "adaptation_rate", range: [-0.03, 1.03] };
    panels.push({ kind: "line", ...rate, warp: even, height: narrow ? 64 : 76 });
  }
  let top = 2 + TRIANGLES * changesShown(numbers, state.learners).length;
  panels.forEach((panel) => {
    panel.top = top + TITLE;
    panel.bottom = panel.top + panel.height;
    const onScale = scale(panel.range[0], panel.range[1], panel.bottom, panel.top);
    panel.y = (value) => onScale(panel.warp(value));
    top = panel.bottom + GAP;
  });
  return { panels, height: top - GAP + BELOW };
}

const even = (value) => value;

function stripArrays(strip, numbers, state) {
  const own = strip.outcome === null ? [] : [numbers.outcomes[strip.outcome], numbers.predictions[strip.outcome]];
  const estimates = strip.element === null ? [] : state.learners.map((label) => numbers.of(label, "mean", strip.element));
  return [...own, ...estimates, ...(own.length ? [] : usualEdges(strip.element, numbers, state))].filter(Boolean);
}

// Where there are no outcomes, most of the band is in the picture, but not the little that is widest.
function usualEdges(element, numbers, state) {
  return state.learners.filter((label) => numbers.of(label, "variance", element)).map((label) => {
    const variance = numbers.of(label, "variance", element), mean = numbers.of(label, "mean", element);
    const edge = (sign) => mean.map((value, i) => value + sign * 2 * Math.sqrt(variance[i])).filter(Number.isFinite).sort();
    const lower = edge(-1), upper = edge(1);
    return upper.length ? [lower[Math.floor(0.25 * lower.length)], upper[Math.floor(0.75 * upper.length)]] : [];
  });
}

// Draws into the frame and returns what a reading needs: the view and the panels.
function draw(frame, numbers, state) {
  const view = viewOf(numbers, state.range, state.width);
  const { panels, height } = panelsOf(numbers, state);
  const crowd = view.last - view.first > view.width ? "dense" : "";
  const size = { viewBox: "0 0 " + state.width + " " + height, width: state.width, height };
  const svg = make("svg", { ...size, class: crowd, "aria-hidden": "true" });
  panels.forEach((panel, i) => drawAxes(svg, panel, view, i === panels.length - 1));
  drawStarts(svg, view, panels);
  panels.forEach((panel, i) => {
    const clip = make("clipPath", { id: "panel-" + i }, svg);
    make("rect", { x: LEFT, y: panel.top, width: view.width, height: panel.height }, clip);
    const inside = make("g", { "clip-path": "url(#panel-" + i + ")" }, svg);
    ({ strip: drawStrip, stems: drawStems, line: drawLines })[panel.kind](inside, panel, numbers, state, view);
  });
  drawChanges(svg, panels, numbers, state, view);
  const cursor = make("g", { class: "cursor" }, svg);
  frame.replaceChildren(svg);
  return { svg, cursor, view, panels };
}

function drawAxes(svg, panel, view, lowest) {
  const axes = make("g", { class: "axes" }, svg);
  const title = make("text", { x: LEFT, y: panel.top - 6, class: "title" }, axes, panel.title);
  if (panel.unit) { make("tspan", { class: "unit", dx: 6 }, title, panel.unit); }
  make("rect", { x: LEFT, y: panel.top, width: view.width, height: panel.height, class: "field" }, axes);
  const around = panel.strip && panel.strip.around, fixed = panel.strip && panel.strip.low !== null;
  const [low, high] = panel.range, lines = panel.height / 38;
  const marks = around ? [0, 0.25, 0.5, 0.75, 1].map((share) => share * around) : fixed || panel.range[1] === 1.03 ? (panel.height < 90 && panel.strip ? [0, 1] : [0, 0.5, 1])
    : panel.warp === even ? ticks(low, high, lines) : warpedTicks(low, high, (high - low) * 17 / panel.height);
  marks.forEach((mark) => {
    const y = place(panel.y(mark)), name = panel.strip ? panel.strip.names[mark] : undefined;
    make("line", { x1: LEFT, x2: LEFT + view.width, y1: y, y2: y, class: "grid" }, axes);
    make("text", { x: LEFT - 6, y, class: "tick side" }, axes, name === undefined ? shown(mark) : name.slice(0, 7));
  });
  ticks(view.low, view.high, view.width / 80, view.step >= 1).forEach((mark) => {
    const x = place(view.x(mark));
    make("line", { x1: x, x2: x, y1: panel.bottom, y2: panel.bottom + 4, class: "mark" }, axes);
    if (lowest) { make("text", { x, y: panel.bottom + 16, class: "tick" }, axes, shown(mark)); }
  });
  if (lowest) { make("text", { x: LEFT + view.width, y: panel.bottom + 30, class: "tick end" }, axes, "trial"); }
}

function drawStarts(svg, view, panels) {
  view.resets.forEach((i) => {
    const between = i === 0 ? -Infinity : (view.trial[i] + view.trial[i - 1]) / 2, x = place(view.x(between));
    if (between < view.low || between > view.high) { return; }
    make("line", { x1: x, x2: x, y1: panels[0].top, y2: panels[panels.length - 1].bottom, class: "start" }, svg);
  });
}

function drawStrip(inside, panel, numbers, state, view) {
  const strip = panel.strip, outcome = numbers.outcomes[strip.outcome], person = numbers.predictions[strip.outcome];
  if (outcome) { drawMissing(inside, panel, outcome, view); }
  const estimate = (label) => (strip.element === null ? undefined : numbers.of(label, "mean", strip.element));
  const drawn = state.learners.map((label) => [label, estimate(label)]).filter((entry) => entry[1]);
  drawn.forEach(([label, mean]) => {
    const variance = numbers.of(label, "variance", strip.element);
    if (variance) { make("path", { d: bandPath(mean, variance, view, panel.y, strip.around), class: "band " + hue(label) }, inside); }
  });
  const here = (value) => value === strip.category, at = (height) => () => panel.y(height);
  if (outcome) {
    const d = strip.category === null ? dotPath(outcome, view, panel.y) : dotPath(outcome, view, at(1), here);
    make("path", { d, class: "dots" }, inside);
  }
  drawn.forEach(([label, mean]) => {
    make("path", { d: linePath(mean, view, panel.y, strip.around), class: "line " + hue(label) + " " + rank(label, state) }, inside);
  });
  if (person && state.person) {
    const d = strip.category === null ? linePath(person, view, panel.y, strip.around) : dotPath(person, view, at(0.88), here);
    make("path", { d, class: strip.category === null ? "person" : "person mark" }, inside);
  }
}

function drawMissing(inside, panel, outcome, view) {
  const bars = new Set();
  for (let i = view.first; i < view.last; i += 1) {
    if (Number.isNaN(outcome[i])) { bars.add("M" + place(view.x(view.trial[i])) + " " + panel.top + "V" + panel.bottom); }
  }
  const width = Math.max(1, Math.min(14, view.x(view.step) - view.x(0)));
  if (bars.size) { make("path", { d: [...bars].join(""), class: "missing", "stroke-width": width }, inside); }
}

function drawLines(inside, panel, numbers, state, view) {
  if (panel.measure.startsWith("log_bayes")) {
    make("line", { x1: LEFT, x2: LEFT + view.width, y1: panel.y(0), y2: panel.y(0), class: "level" }, inside);
  }
  state.learners.forEach((label) => {
    const values = numbers.of(label, panel.measure);
    const look = "line thin " + hue(label) + " " + rank(label, state);
    if (values) { make("path", { d: linePath(values, view, panel.y), class: look }, inside); }
  });
}

// How probable a change is at each trial: an upright line as high as that. On one pixel the highest is enough.
function drawStems(inside, panel, numbers, state, view) {
  changesShown(numbers, state.learners).reverse().forEach((looked) => {
    const highest = new Map();
    for (let i = view.first; i < view.last; i += 1) {
      const x = place(view.x(view.trial[i]));
      if (looked.probability[i] > 0.004) { highest.set(x, Math.max(looked.probability[i], highest.get(x) || 0)); }
    }
    const d = [...highest].map(([x, value]) => "M" + x + " " + place(panel.y(0)) + "V" + place(panel.y(value))).join("");
    make("path", { d, class: "stems " + changeHue(looked, numbers) }, inside);
  });
}

// A row above the strips for each p_c: a triangle where a change is, a bar over its credible set; of the first also down the strips.
function drawChanges(svg, panels, numbers, state, view) {
  const all = panels.filter((panel) => panel.kind === "strip"), half = view.step / 2;
  let y = 2;
  changesShown(numbers, state.learners).forEach((looked, i) => {
    const strips = i === 0 ? all : [];
    const row = make("g", { class: changeHue(looked, numbers) }, svg);
    const within = (trial) => Math.min(Math.max(trial, view.low), view.high);
    let seen = 0;
    looked.found.forEach(([at, , low, high, probability]) => {
      const [from, to] = [within(view.trial[low] - half), within(view.trial[high] + half)], opacity = 0.25 + 0.75 * probability;
      if (to <= from) { return; }
      const wide = { x: place(view.x(from)), width: Math.max(view.x(to) - view.x(from), 1).toFixed(1) };
      make("rect", { ...wide, y: y + 3, height: 3, rx: 1.5, class: "credible", opacity: opacity / 2 }, row);
      strips.forEach((panel) => make("rect", { ...wide, y: panel.top, height: panel.height, class: "credible", opacity: opacity / 8 }, row));
      if (view.trial[at] < view.low || view.trial[at] > view.high) { return; }
      const x = place(view.x(view.trial[at] - half));
      seen += 1;
      make("path", { d: "M" + x + " " + (y + 9) + "l-4 -8h8z", class: "triangle", opacity }, row);
      const d = strips.map((panel) => "M" + x + " " + panel.top + "V" + panel.bottom).join("");
      make("path", { d, class: "change", opacity: opacity / 2 }, row);
    });
    if (!seen) { make("text", { x: LEFT, y: y + 5, class: "none" }, row, "none"); }
    y += TRIANGLES;
  });
  if (y > 2) { make("text", { x: LEFT - 6, y: y / 2, class: "tick side" }, svg, "changes"); }
}

// A colour of its own where all learners found the same changes, else that of the first learner of several with one p_c.
function changeHue(looked, numbers) {
  return numbers.changes.length === 1 ? "found" : hue(looked.labels[0]);
}

// The first learner's line is the widest: where lines agree, all of them can be seen.
function rank(label, state) {
  return "rank-" + Math.min(state.learners.indexOf(label), 2);
}

function hue(label) {
  return "learner-" + DATA.labels.indexOf(label);
}
