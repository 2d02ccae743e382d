// From what a learner writes to the readouts under their names in `volatilis run`.
function changeProbability(learner, values) {
  const rule = PAGE.learners[learner].change;
  return rule === "p_c" ? values.p_c : rule === "m" ? values.m / (1 + values.m) : NaN;
}

function logAddExp(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b)) return NaN;
  const top = Math.max(a, b);
  return top === -Infinity ? top : top + Math.log1p(Math.exp(Math.min(a, b) - top));
}

function measuresOf(raw, p) {
  // mean and variance per element; the rest one number per observation
  const columns = { mean: raw.means, variance: raw.variances, run_length: raw.run_length };
  if (!raw.gamma.length) return { mean: raw.means, run_length: raw.run_length };
  const length = raw.gamma.length, learned = raw.p_c.length > 0; // p_c may be learned: then it differs at every step
  for (const name of ["bayes_factor_surprise", "log_bayes_factor_surprise", "shannon_surprise"]) columns[name] = new Float64Array(length);
  columns.adaptation_rate = raw.gamma;
  columns.log_predictive = new Float64Array(length);
  for (let t = 0; t < length; t++) {
    const log = raw.log_p_0[t] - raw.log_p[t], p_c = learned ? raw.p_c[t] : p;
    const predictive = logAddExp(Math.log1p(-p_c) + raw.log_p[t], Math.log(p_c) + raw.log_p_0[t]);
    columns.log_bayes_factor_surprise[t] = log;
    columns.bayes_factor_surprise[t] = Math.exp(log);
    columns.log_predictive[t] = predictive;
    columns.shannon_surprise[t] = -predictive;
  }
  if (raw.log_outliers.length) columns.outlier_probability = raw.log_outliers.map((log, t) => Math.exp(log - columns.log_predictive[t]));
  if (learned) columns.change_probability = raw.p_c;
  return columns;
}
const MEASURES = ["mean", "variance", "run_length", "bayes_factor_surprise", "log_bayes_factor_surprise", "shannon_surprise", "adaptation_rate", "log_predictive"];
const ALL_MEASURES = [...MEASURES, "outlier_probability", "change_probability"];
const measuresWith = (family, specs) => ALL_MEASURES.filter((one) => (one === "outlier_probability" ? PAGE.families[family].splits : one === "change_probability" ? specs.some((spec) => PAGE.learners[spec.learner].inner) : true));

function runOnce(memory, spec, familyName, familyValues, ys, events, key, withHypotheses, from = 0) {
  // A whole sequence at once, with the hypotheses after every step `from` on as a list of (step, run length, weight).
  const runner = new Runner(memory, spec.learner, familyName, spec.values, familyValues, Math.max(ys.length, 1));
  runner.seed(key);
  runner.load(ys, events);
  const seen = [];
  if (withHypotheses && from > 0) runner.advance(from);
  if (withHypotheses) for (let t = from; t < ys.length; t++) {
    runner.advance(t + 1);
    runner.hypotheses((length, weight) => seen.push(t, length, weight));
  } else runner.advance(ys.length);
  const raw = Object.fromEntries(PAGE.outputs.map((name) => [name, runner.read(name, ys.length)]));
  return { size: runner.size, hypotheses: seen, raw, columns: measuresOf(raw, changeProbability(spec.learner, spec.values)) };
}
