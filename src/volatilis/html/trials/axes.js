// Scales, ticks and paths: from numbers to places in the picture. No document in here.

function scale(low, high, from, to) {
  const slope = (to - from) / (high - low || 1);
  return (value) => from + (value - low) * slope;
}

// Round numbers within a range, about as many as asked for.
function ticks(low, high, about, whole) {
  const rough = (high - low) / Math.max(about, 1);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  let step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  if (whole) { step = Math.max(1, Math.round(step)); }
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

// For a scale that is even around 0 and logarithmic far from it: numbers whose distances on it can be told apart.
function warpedTicks(low, high, apart) {
  const found = [0];
  for (let power = 1; power < 1e300 && (Math.asinh(power) <= high || Math.asinh(-power) >= low); power *= 10) {
    [power, 3 * power].forEach((size) => [size, -size].forEach((mark) => {
      const far = found.every((other) => Math.abs(Math.asinh(other) - Math.asinh(mark)) >= apart);
      if (Math.asinh(mark) >= low && Math.asinh(mark) <= high && far) { found.push(mark); }
    }));
  }
  return found.filter((mark) => Math.asinh(mark) >= low && Math.asinh(mark) <= high);
}

// The range of the finite numbers of several arrays, as the scale has them, with a little air; never empty.
function extent(arrays, warp) {
  let low = Infinity, high = -Infinity;
  arrays.forEach((array) => array.forEach((value) => {
    if (Number.isFinite(value)) { low = Math.min(low, warp(value)); high = Math.max(high, warp(value)); }
  }));
  if (low > high) { return [0, 1]; }
  const air = (high - low) * 0.06 || Math.abs(low) * 0.1 || 1;
  return [low - air, high + air];
}

// The first position whose number is not below the value.
function lowerBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) { low = middle + 1; } else { high = middle; }
  }
  return low;
}

function nearest(sorted, value) {
  const after = Math.min(lowerBound(sorted, value), sorted.length - 1);
  return after > 0 && value - sorted[after - 1] < sorted[after] - value ? after - 1 : after;
}

const place = (number) => number.toFixed(1);

// A stretch of the trials as runs without a gap: broken where a number is missing and where learners start anew. Each comes with
// the numbers to draw: the values, or on a circle (`around` is once around) the values of one lap.
function runs(values, view, around) {
  const found = [];
  let run = null;
  for (let i = view.first; i < view.last; i += 1) {
    if (!Number.isFinite(values[i])) { run = null; continue; }
    if (run === null || view.resets.has(i)) { run = []; found.push(run); }
    run.push(i);
  }
  return around ? found.flatMap((one) => laps(one, values, around)) : found.map((one) => [one, values]);
}

// A run that goes the short way round leaves the axis at one end and comes in at the other: once for each lap, as far as that
// lap is near the axis. What lies beyond the axis is clipped.
function laps(run, values, around) {
  let turns = 0;
  const whole = run.map((i, k) => {
    turns -= k ? Math.round((values[i] - values[run[k - 1]]) / around) : 0;
    return values[i] + turns * around;
  });
  const [low, high] = whole.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const found = [];
  for (let k = Math.floor(low / around) - 1; k <= Math.floor(high / around) + 1; k += 1) {
    let near = null, at = null;
    run.forEach((i, place) => {
      const value = whole[place] - k * around;
      if (value < -around || value > 2 * around) { near = null; return; }
      if (near === null) { near = []; at = {}; found.push([near, at]); }
      near.push(i);
      at[i] = value;
    });
  }
  return found;
}

// Where several trials share a pixel, the highest and the lowest of them are enough.
function thinned(run, values, view) {
  if (run.length < 4 * view.width) { return run; }
  const kept = [];
  for (let start = 0, end = 0; start < run.length; start = end) {
    const column = Math.round(view.x(view.trial[run[start]]));
    let low = run[start], high = run[start];
    for (end = start; end < run.length && Math.round(view.x(view.trial[run[end]])) === column; end += 1) {
      if (values[run[end]] < values[low]) { low = run[end]; }
      if (values[run[end]] > values[high]) { high = run[end]; }
    }
    [...new Set([run[start], low, high, run[end - 1]])].sort((a, b) => a - b).forEach((i) => kept.push(i));
  }
  return kept;
}

// A run of one trial is a line of no length, which round ends make a dot.
function linePath(values, view, y, around) {
  return runs(values, view, around).map(([run, at]) => {
    const points = thinned(run, at, view).map((i) => place(view.x(view.trial[i])) + " " + place(y(at[i])));
    return "M" + points.join("L") + (points.length === 1 ? "h0" : "");
  }).join("");
}

// Between mean - 2 sd and mean + 2 sd, kept near the picture: a prior may be wider than any screen.
function bandPath(mean, variance, view, y, around) {
  const clip = (value) => Math.max(-2000, Math.min(4000, y(value)));
  const known = mean.map((value, i) => (Number.isFinite(variance[i]) ? value : NaN));
  return runs(known, view, around).map(([run, at]) => {
    const edge = (sign) => Object.fromEntries(run.map((i) => [i, at[i] + sign * 2 * Math.sqrt(variance[i])]));
    const upper = edge(1), lower = edge(-1);
    const point = (values) => (i) => place(view.x(view.trial[i])) + " " + place(clip(values[i]));
    const above = thinned(run, upper, view).map(point(upper)), below = thinned(run, lower, view).map(point(lower));
    return "M" + above.join("L") + "L" + below.reverse().join("L") + "Z";
  }).join("");
}

// Dots as lines of no length; those that fall on the same pixel once.
function dotPath(values, view, y, fits) {
  const seen = new Set();
  for (let i = view.first; i < view.last; i += 1) {
    if (Number.isFinite(values[i]) && (!fits || fits(values[i]))) {
      seen.add("M" + place(view.x(view.trial[i])) + " " + place(y(values[i])) + "h0");
    }
  }
  return [...seen].join("");
}
