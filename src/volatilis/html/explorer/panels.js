// The pictures. All panels share one horizontal axis, the trials; colours differ in lightness too, and lines in their dashes.
const COLOURS = { light: ["#0060a8", "#c04a00", "#00795a", "#8a2f78"], dark: ["#6bbdf2", "#f5a04e", "#43d3a4", "#eba6dc"] };
const DASHES = [[], [7, 3], [2, 2.5], [9, 3, 2, 3]];
const MARGIN = { left: 54, right: 44, top: 8, bottom: 20 };
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const colourOf = (slot) => COLOURS[isDark() ? "dark" : "light"][slot % 4];
const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function prepare(canvas, labelled) {
  const ratio = Math.min(devicePixelRatio || 1, 2), width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = `11px ${cssColour("--sans") || "sans-serif"}`;
  pen.lineJoin = "round";
  const box = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - (labelled ? MARGIN.bottom : 6) };
  return { pen, box, ratio };
}

function niceTicks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((one) => one * power >= raw) * power, ticks = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + 1e-9 * step; x += step) ticks.push(Math.abs(x) < step / 1e6 ? 0 : x);
  return ticks;
}
const shortNumber = (x) => (x !== 0 && (Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3) ? x.toExponential(0) : String(Number(x.toPrecision(4))));

function verticalAxis({ pen, box }, scale, { right = false, text = shortNumber, lines = true, ticks = null } = {}) {
  pen.textBaseline = "middle";
  pen.textAlign = right ? "left" : "right";
  for (const x of ticks ?? niceTicks(scale.low, scale.high, Math.max(2, Math.round((box.bottom - box.top) / 34)))) {
    const y = scale(x);
    if (lines) {
      pen.strokeStyle = cssColour("--line");
      pen.lineWidth = 1;
      pen.setLineDash([]);
      pen.beginPath();
      pen.moveTo(box.left, y);
      pen.lineTo(box.right, y);
      pen.stroke();
    }
    pen.fillStyle = cssColour("--soft");
    pen.fillText(text(x), right ? box.right + 5 : box.left - 6, y);
  }
}

function scaleOf(low, high, box) {
  if (!(high > low)) { low -= 0.5; high += 0.5; }
  const scale = (x) => box.bottom - ((x - low) / (high - low)) * (box.bottom - box.top);
  return Object.assign(scale, { low, high, back: (y) => low + ((box.bottom - y) / (box.bottom - box.top)) * (high - low) });
}

function horizontal(box, view) {
  const wide = Math.max(view.last - view.first, 1), step = (box.right - box.left) / wide;
  return Object.assign((t) => box.left + (t - view.first + 0.5) * step, { step, back: (x) => view.first + Math.floor((x - box.left) / step) });
}

function trialAxis({ pen, box }, across, view) {
  pen.fillStyle = cssColour("--soft");
  pen.textAlign = "center";
  pen.textBaseline = "top";
  pen.fillText("trial", box.left - 22, box.bottom + 5);
  for (const t of niceTicks(view.first + 1, view.last, Math.max(2, (box.right - box.left) / 90))) if (Number.isInteger(t)) pen.fillText(String(t), across(t - 1), box.bottom + 5);
}

function clipped({ pen, box }, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  pen.clip();
  draw();
  pen.restore();
}

function line(pen, across, scale, view, value, jump = Infinity) {
  pen.beginPath();
  let drawing = false, before = 0;
  for (let t = view.first; t < view.shown; t++) {
    const x = value(t);
    if (!Number.isFinite(x)) { drawing = false; continue; }
    const y = scale(x);
    if (drawing && Math.abs(x - before) < jump) pen.lineTo(across(t), y); else pen.moveTo(across(t), y);
    drawing = true;
    before = x;
  }
  pen.stroke();
}

function steps(pen, across, scale, view, value) {
  // A line that jumps between trials, as the truth does.
  pen.beginPath();
  for (let t = view.first; t < view.shown; t++) {
    const y = scale(value(t)), half = across.step / 2;
    if (t === view.first) pen.moveTo(across(t) - half, y); else pen.lineTo(across(t) - half, y);
    pen.lineTo(across(t) + half, y);
  }
  pen.stroke();
}

function band(pen, across, scale, view, low, high) {
  pen.beginPath();
  let begun = false;
  for (let t = view.first; t < view.shown; t++) if (Number.isFinite(high(t))) { if (begun) pen.lineTo(across(t), scale(high(t))); else pen.moveTo(across(t), scale(high(t))); begun = true; }
  for (let t = view.shown - 1; t >= view.first; t--) if (Number.isFinite(low(t))) pen.lineTo(across(t), scale(low(t)));
  pen.closePath();
  pen.fill();
}

function stroke(pen, slot, width = 1.7) {
  pen.strokeStyle = colourOf(slot);
  pen.lineWidth = width;
  pen.setLineDash(DASHES[slot % 4]);
}

function extent(numbers, pad = 0.06) {
  let low = Infinity, high = -Infinity;
  for (const x of numbers) if (Number.isFinite(x)) { if (x < low) low = x; if (x > high) high = x; }
  if (low > high) return [0, 1];
  const room = (high - low || 1) * pad;
  return [low - room, high + room];
}

// --- the panels ------------------------------------------------------------------------------------------------------------

function drawObservations(canvas, view) {
  const frame = prepare(canvas, true), { pen, box } = frame, across = horizontal(box, view), k = view.element;
  const shares = ["bernoulli", "categorical", "transitions"].includes(view.family), apart = view.family === "categorical" || view.family === "exponential" || (k > 0 && !shares);
  const estimates = view.results.flatMap((one) => { const part = []; for (let t = view.first; t < view.last; t++) part.push(one.columns.mean[t * one.size + k]); return part; });
  const truth = view.theta ? view.theta.slice(view.first, view.last).map((one) => one[k]) : [];
  const seen = []; // not those of steps without an observation
  for (let t = view.first; t < view.last; t++) if (!(view.events[t] & 3)) seen.push(view.ys[t]);
  const [low, high] = shares ? [-0.06, 1.06] : extent(apart ? [...truth, ...estimates] : [...truth, ...estimates, ...seen]);
  const scale = scaleOf(low, high, box), dots = apart ? scaleOf(...extent(view.family === "categorical" ? [0, view.familyValues.k - 1] : seen), box) : scale;
  const jump = view.family === "vonmises" ? view.familyValues.period / 2 : Infinity;
  document.getElementById("two-axes").hidden = !apart;
  verticalAxis(frame, scale);
  if (apart) verticalAxis(frame, dots, { right: true, lines: false, ticks: view.family === "categorical" ? Array.from({ length: view.familyValues.k }, (_, i) => i) : null });
  trialAxis(frame, across, view);
  clipped(frame, () => {
    if (view.changed) {
      pen.strokeStyle = cssColour("--soft");
      pen.lineWidth = 1;
      pen.setLineDash([1, 3]);
      for (let t = view.first; t < view.shown; t++) if (view.changed[t]) { const x = across(t) - across.step / 2; pen.beginPath(); pen.moveTo(x, box.top); pen.lineTo(x, box.bottom); pen.stroke(); }
    }
    view.results.forEach((one, slot) => {
      if (!one.columns.variance || !(jump === Infinity)) return;
      pen.fillStyle = colourOf(slot);
      pen.globalAlpha = 0.14;
      const middle = (t) => one.columns.mean[t * one.size + k], wide = (t) => Math.sqrt(one.columns.variance[t * one.size + k]);
      band(pen, across, scale, view, (t) => middle(t) - wide(t), (t) => middle(t) + wide(t));
      pen.globalAlpha = 1;
    });
    const radius = Math.max(1.3, Math.min(3.2, across.step * 0.4));
    pen.fillStyle = cssColour("--soft");
    for (let t = view.first; t < view.shown; t++) if (!(view.events[t] & 3)) { pen.beginPath(); pen.arc(across(t), dots(view.ys[t]), radius, 0, 7); pen.fill(); }
    for (const t of Object.keys(view.placed).map(Number)) if (t < view.shown) {
      pen.strokeStyle = cssColour("--ink");
      pen.setLineDash([]);
      pen.lineWidth = 1.6;
      pen.beginPath();
      pen.arc(across(t), dots(view.ys[t]), radius + 3, 0, 7);
      pen.stroke();
    }
    if (view.theta) {
      pen.strokeStyle = cssColour("--ink");
      pen.lineWidth = 1.2;
      pen.setLineDash([]);
      steps(pen, across, scale, view, (t) => view.theta[t][k]);
    }
    view.results.forEach((one, slot) => { stroke(pen, slot); line(pen, across, scale, view, (t) => one.columns.mean[t * one.size + k], jump); });
  });
  cursor(frame, across, view);
  return { across, dots, box };
}

function cursor({ pen, box }, across, view) {
  if (view.cursor === null || view.cursor < view.first || view.cursor >= view.last) return;
  pen.strokeStyle = cssColour("--accent");
  pen.lineWidth = 1;
  pen.setLineDash([]);
  pen.beginPath();
  pen.moveTo(across(view.cursor), box.top);
  pen.lineTo(across(view.cursor), box.bottom);
  pen.stroke();
}

const powerOfTen = (x) => `10${[...String(x)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}`;

function drawMeasure(canvas, view, measure, { low = null, high = null, of = (x) => x, powers = false, least = 0, truth = null } = {}) {
  const frame = prepare(canvas, false), { pen, box } = frame, across = horizontal(box, view), seen = [];
  for (const one of view.results) if (one.columns[measure]) for (let t = view.first; t < view.last; t++) seen.push(of(one.columns[measure][t]));
  const [a, b] = extent(seen);
  const scale = scaleOf(low ?? Math.min(a, least), high ?? Math.max(b, 1), box);
  const ticks = powers ? niceTicks(scale.low, scale.high, 3).filter(Number.isInteger) : null;
  verticalAxis(frame, scale, { text: powers ? powerOfTen : shortNumber, ticks });
  clipped(frame, () => {
    if (truth !== null) { pen.strokeStyle = cssColour("--ink"); pen.lineWidth = 1.2; pen.setLineDash([]); steps(pen, across, scale, view, () => of(truth)); }
    view.results.forEach((one, slot) => { if (one.columns[measure]) { stroke(pen, slot, 1.4); line(pen, across, scale, view, (t) => of(one.columns[measure][t])); } });
  });
  cursor(frame, across, view);
}

function drawRunLengths(canvas, view) {
  const frame = prepare(canvas, true), { pen, box, ratio } = frame, across = horizontal(box, view), slot = view.picture, one = view.results[slot];
  let most = 10;
  for (let i = 0; i < one.hypotheses.length; i += 3) if (one.hypotheses[i] >= view.first && one.hypotheses[i] < view.last) most = Math.max(most, one.hypotheses[i + 1]);
  const scale = scaleOf(0, most * 1.03, box), columns = view.last - view.first, rows = Math.max(8, Math.min(Math.round(box.bottom - box.top), Math.ceil(most * 1.03)));
  const image = pen.createImageData(columns, rows), level = new Float32Array(columns * rows);
  for (let i = 0; i < one.hypotheses.length; i += 3) {
    const t = one.hypotheses[i] - view.first, row = rows - 1 - Math.min(rows - 1, Math.max(0, Math.floor((one.hypotheses[i + 1] / scale.high) * rows)));
    if (t >= 0 && t < view.shown - view.first) level[row * columns + t] += one.hypotheses[i + 2];
  }
  const [r, g, b] = colourOf(slot).match(/\w\w/g).map((two) => parseInt(two, 16));
  for (let i = 0; i < level.length; i++) {
    image.data[4 * i] = r;
    image.data[4 * i + 1] = g;
    image.data[4 * i + 2] = b;
    image.data[4 * i + 3] = 255 * Math.sqrt(Math.min(level[i], 1));
  }
  const sheet = new OffscreenCanvas(columns, rows);
  sheet.getContext("2d").putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  verticalAxis(frame, scale);
  pen.drawImage(sheet, box.left, box.top, box.right - box.left, box.bottom - box.top);
  trialAxis(frame, across, view);
  cursor(frame, across, view);
  return ratio;
}
