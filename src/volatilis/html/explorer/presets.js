// Worlds to begin with. A preset says what differs from the first world of its family.
const learnersOf = (...list) => list.map(([learner, values = {}]) => ({ learner, values }));
const PRESETS = {
  gaussian: {
    title: "A level that jumps (the paper's Gaussian task)",
    about: "A number with noise around a level. Now and then the level jumps.",
    world: { family: "gaussian", values: { sigma: 0.5, mu_0: 0, sigma_0: 1 }, p_c: 0.03, length: 200, seed: 4 },
    learners: learnersOf(["exact-bayes"], ["varsmile"], ["leaky", { omega: 0.8 }]),
  },
  bridge: {
    title: "A bridge opens (the paper's Figure 1)",
    about: "A friend comes home at about the same time every day. Then a bridge opens, and she needs 12 minutes less.",
    world: { family: "gaussian", values: { sigma: 4, mu_0: 35, sigma_0: 15 }, p_c: 0.02, length: 60, seed: 7, changes: [31], levels: [40, 28] },
    learners: learnersOf(["exact-bayes"], ["varsmile"], ["nas10-star"]),
  },
  helicopter: {
    title: "A helicopter behind clouds",
    about: "Bags fall around where the helicopter is, from 0 to 300. Sometimes it flies somewhere else.",
    world: { family: "gaussian", values: { sigma: 20, mu_0: 150, sigma_0: 87 }, p_c: 0.1, length: 120, seed: 2 },
    learners: learnersOf(["nas12-star"], ["merge", { n: 3 }], ["varsmile"]),
  },
  oddball: {
    title: "An oddball task",
    about: "One stimulus is frequent, others are rare; the frequencies change once in a while.",
    world: { family: "categorical", values: { k: 4, s: 0.2 }, p_c: 0.01, length: 300, seed: 5 },
    learners: learnersOf(["exact-bayes"], ["varsmile"], ["leaky", { omega: 0.95 }]),
  },
  outliers: {
    title: "Outliers that nobody expects",
    about: "The level hardly ever changes, but one observation in twenty comes from elsewhere. Learners that know nothing of outliers take each for a change.",
    world: { family: "gaussian", values: { sigma: 0.3, mu_0: 0, sigma_0: 1.5 }, p_c: 0.01, oddballs: 0.05, length: 200, seed: 3 },
    learners: learnersOf(["exact-bayes"], ["varsmile"], ["leaky", { omega: 0.9 }]),
  },
  robust: {
    title: "Outliers that are expected",
    about: "The same with learners that know of outliers: a far observation is doubted, and only several of them are a change.",
    world: { family: "contaminated", values: { sigma: 0.3, mu_0: 0, sigma_0: 1.5, p_o: 0.05 }, p_c: 0.01, length: 200, seed: 3 },
    learners: learnersOf(["merge", { n: 20 }], ["particle-filter", { n: 20 }], ["varsmile"]),
  },
  reversal: {
    title: "Reversal learning",
    about: "Reward or none. The chance of a reward changes without notice.",
    world: { family: "bernoulli", values: { a: 0.4, b: 0.4 }, p_c: 0.02, length: 200, seed: 6 },
    learners: learnersOf(["exact-bayes"], ["merge", { n: 3 }], ["leaky", { omega: 0.9 }]),
  },
  counts: {
    title: "Events per minute",
    about: "Counts whose rate jumps.",
    world: { family: "poisson", values: { shape: 1.5, rate: 0.1 }, p_c: 0.03, length: 200, seed: 1 },
    learners: learnersOf(["exact-bayes"], ["merge", { n: 3 }], ["message-passing", { n: 5 }]),
  },
  unknown: {
    title: "Not knowing how often the world changes",
    about: "One learner is told how often the world changes, one is not: it weighs 20 values, from 1 in 100,000 to 1 in 2, by how well each predicts. The picture of what it learns is below the adaptation rate.",
    world: { family: "gaussian", values: { sigma: 0.5, mu_0: 0, sigma_0: 2 }, p_c: 0.1, length: 400, seed: 2 },
    learners: learnersOf(["averaged-merge", { n: 3 }], ["merge", { n: 3 }], ["leaky", { omega: 0.8 }]),
  },
  transitions: {
    title: "What comes after what",
    about: "Two symbols, as tones in a row. The probability of each depends on the one before, and these probabilities change together. Choose which of the four to look at.",
    world: { family: "transitions", values: { s: 0.7 }, p_c: 0.01, length: 400, seed: 3 },
    learners: learnersOf(["exact-bayes"], ["merge", { n: 3 }], ["leaky", { omega: 0.95 }]),
    element: 1,
  },
  directions: {
    title: "Directions on a circle",
    about: "Angles in degrees: 359 and 1 are neighbours.",
    world: { family: "vonmises", values: { kappa: 20, mu_0: 0, kappa_0: 0, period: 360 }, p_c: 0.04, length: 150, seed: 8 },
    learners: learnersOf(["exact-bayes"], ["varsmile"], ["merge", { n: 3 }]),
  },
};
const FIRST_LEARNERS = learnersOf(["exact-bayes"], ["merge", { n: 3 }], ["varsmile"]);
const LONG = 3000, LEARNERS_OF_LONG = learnersOf(["merge", { n: 20 }], ["varsmile"]); // exact inference may need as many hypotheses as rows

function firstValues(family) {
  const { fixed, sliders } = PAGE.families[family];
  return { ...fixed, ...Object.fromEntries(Object.entries(sliders).map(([name, one]) => [name, one.value])) };
}

function completeWorld(world) {
  return { p_c: 0.03, oddballs: 0, length: 200, seed: 1, changes: null, levels: null, ...world, values: { ...firstValues(world.family), ...world.values, ...PAGE.families[world.family].fixed } };
}

function completeLearner(one, p_c, told) {
  // Every parameter that the page shows; those that follow from the world's p_c where learners are told it.
  const values = {};
  for (const parameter of PAGE.learners[one.learner].parameters) if (parameter.shown) values[parameter.name] = one.values[parameter.name] ?? parameter.value;
  if (told && "p_c" in values) values.p_c = p_c;
  if (told && "m" in values && PAGE.learners[one.learner].change === "m") values.m = Number((p_c / (1 - p_c)).toPrecision(6));
  return { learner: one.learner, values };
}

const isDefined = (learner, family) => `${symbolOf(learner)}__${symbolOf(family)}` in PAGE.pairs;
