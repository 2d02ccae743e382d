// Sequences to learn from. Draws of a step depend on the seed, the step and what they are for, and on nothing else: a slider moves
// the numbers and does not throw new dice.
function dice(seed, t, purpose) {
  let a = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(t + 1, 0x85ebca6b) ^ Math.imul(purpose + 1, 0xc2b2ae35);
  const next = () => {
    a = (a + 0x6d2b79f5) | 0;
    let x = Math.imul(a ^ (a >>> 15), 1 | a);
    x ^= x + Math.imul(x ^ (x >>> 7), 61 | x);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
  next();
  return next;
}

const normal = (u) => Math.sqrt(-2 * Math.log(1 - u())) * Math.cos(2 * Math.PI * u());

function gammaDraw(shape, u) {
  // Marsaglia & Tsang 2000
  if (shape < 1) return gammaDraw(shape + 1, u) * (1 - u()) ** (1 / shape);
  const d = shape - 1 / 3, c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(u), v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - u()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

function poissonDraw(mean, u) {
  if (mean > 30) { // a sum of two halves
    const half = gammaDraw(Math.floor(mean / 2), u);
    if (half > mean) { // so many events before time `half` that the rest is a binomial share
      let count = 0;
      for (let i = 1; i < Math.floor(mean / 2); i++) count += u() < mean / half ? 1 : 0;
      return count;
    }
    return Math.floor(mean / 2) + poissonDraw(mean - half, u);
  }
  let count = 0;
  for (let product = 1 - u(); product > Math.exp(-mean); product *= 1 - u()) count += 1;
  return count;
}

function circleDraw(mean, kappa, u) {
  // Best & Fisher 1979, in radians
  if (kappa < 1e-6) return 2 * Math.PI * u();
  const a = 1 + Math.sqrt(1 + 4 * kappa * kappa), b = (a - Math.sqrt(2 * a)) / (2 * kappa), r = (1 + b * b) / (2 * b);
  for (;;) {
    const z = Math.cos(Math.PI * u()), f = (1 + r * z) / (r + z), c = kappa * (r - f), v = 1 - u();
    if (c * (2 - c) > v || Math.log(c / v) + 1 >= c) return mean + Math.sign(u() - 0.5) * Math.acos(Math.max(-1, Math.min(1, f)));
  }
}

function dirichletDraw(s, k, u) {
  const parts = Array.from({ length: k }, () => gammaDraw(s, u)), sum = parts.reduce((x, y) => x + y, 0);
  return sum > 0 ? parts.map((x) => x / sum) : parts.map((_, i) => (i === 0 ? 1 : 0));
}

function categoryDraw(p, u) {
  let left = u();
  for (let i = 0; i < p.length; i++) if ((left -= p[i]) < 0) return i;
  return p.length - 1;
}

const around = (x, period) => x - period * Math.floor(x / period);
// theta at a change, and an observation given theta
const SAMPLERS = {
  contaminated: {
    theta: (v, u) => [v.mu_0 + v.sigma_0 * normal(u)],
    y: (th, v, u) => th[0] + v.sigma * normal(u),
    odd: (v, u) => v.mu_0 + Math.hypot(v.sigma, v.sigma_0) * Math.tan(Math.PI * (u() - 0.5)), // Cauchy
  },
  gaussian: { theta: (v, u) => [v.mu_0 + v.sigma_0 * normal(u)], y: (th, v, u) => th[0] + v.sigma * normal(u) },
  "gaussian-unknown-variance": {
    theta: (v, u) => {
      const variance = v.beta_0 / gammaDraw(v.alpha_0, u);
      return [v.mu_0 + Math.sqrt(variance / v.kappa_0) * normal(u), variance];
    },
    y: (th, v, u) => th[0] + Math.sqrt(th[1]) * normal(u),
  },
  bernoulli: {
    theta: (v, u) => {
      const x = gammaDraw(v.a, u), y = gammaDraw(v.b, u);
      return [x + y > 0 ? x / (x + y) : 0.5];
    },
    y: (th, v, u) => (u() < th[0] ? 1 : 0),
  },
  categorical: { theta: (v, u) => dirichletDraw(v.s, v.k, u), y: (th, v, u) => categoryDraw(th, u) },
  poisson: { theta: (v, u) => [gammaDraw(v.shape, u) / v.rate], y: (th, v, u) => poissonDraw(Math.min(th[0], 1e4), u) },
  exponential: { theta: (v, u) => [gammaDraw(v.shape, u) / v.rate], y: (th, v, u) => -Math.log(1 - u()) / Math.max(th[0], 1e-12) },
  transitions: { // p[0|0], p[1|0], p[0|1], p[1|1]; the first symbol has no other before it
    theta: (v, u) => [...dirichletDraw(v.s, v.k, u), ...dirichletDraw(v.s, v.k, u)],
    y: (th, v, u, before) => (before === undefined ? (u() < 0.5 ? 0 : 1) : categoryDraw(th.slice(before * v.k, (before + 1) * v.k), u)),
  },
  vonmises: {
    theta: (v, u) => [around((circleDraw((2 * Math.PI * v.mu_0) / v.period, v.kappa_0, u) * v.period) / (2 * Math.PI), v.period)],
    y: (th, v, u) => around((circleDraw((2 * Math.PI * th[0]) / v.period, v.kappa, u) * v.period) / (2 * Math.PI), v.period),
  },
};

function sampleWorld(world) {
  // { family, values, p_c, oddballs, length, seed, changes }: observations, theta at each step, and where it changed
  const sampler = SAMPLERS[world.family], y = [], theta = [], changed = [], odd = [];
  let now = null;
  for (let t = 0; t < world.length; t++) {
    const change = t === 0 || (world.changes ? world.changes.includes(t) : dice(world.seed, t, 0)() < world.p_c);
    if (change) now = world.levels ? [world.levels[world.changes.filter((c) => c <= t).length]] : sampler.theta(world.values, dice(world.seed, t, 1));
    const isOdd = dice(world.seed, t, 2)() < (world.values.p_o ?? world.oddballs);
    const source = isOdd && !sampler.odd ? sampler.theta(world.values, dice(world.seed, t, 3)) : now;
    const value = isOdd && sampler.odd ? sampler.odd(world.values, dice(world.seed, t, 3)) : sampler.y(source, world.values, dice(world.seed, t, 4), y[t - 1]);
    y.push(Number(value.toPrecision(6)));
    theta.push(now);
    changed.push(change && t > 0);
    odd.push(isOdd);
  }
  return { y, theta, changed, odd };
}
