// A guided tour in six steps. Each sets the page and says what to look at; its numbers are read off what the page just computed.
const distanceTo = (results, from, to) => {
  let sum = 0;
  const a = results[from].columns.mean, b = results[to].columns.mean;
  for (let t = 0; t < a.length; t++) sum += (a[t] - b[t]) ** 2;
  return sum / a.length;
};
const amount = (x) => Number(x.toPrecision(2)).toString();

const TOUR = [
  {
    title: "Noise",
    set: { preset: "gaussian", world: { p_c: 0.0005, changes: [], length: 100 }, learners: learnersOf(["exact-bayes"], ["leaky", { omega: 0.8 }]) },
    text: () => "Nothing changes here: the line is the truth, the dots are what one sees of it. Exact Bayes averages more and more, and its band gets narrow. The leaky integrator keeps forgetting, so it never settles. Move “noise σ” and watch both.",
  },
  {
    title: "Change",
    set: { preset: "bridge" },
    text: () => "A bridge opens after day 31, and the friend arrives 12 minutes earlier. Whoever went on averaging would need weeks to notice. A learner must tell noise from change: one odd day is noise, three in a row are not. Dotted lines mark true changes.",
  },
  {
    title: "Surprise",
    set: { preset: "bridge", learners: learnersOf(["exact-bayes"], ["varsmile"]), cursor: 31 },
    text: (view) => `The Bayes Factor Surprise compares two explanations of an observation: the prior, as if everything had just begun anew, against the current belief. On the first day after the opening it is ${amount(view.results[0].columns.bayes_factor_surprise[31])} for Exact Bayes; above 1 the prior explains the day better. Shannon surprise only says how improbable it was. Click into the first picture to put an observation where you want it.`,
  },
  {
    title: "Adaptation",
    set: { preset: "helicopter", learners: learnersOf(["exact-bayes"], ["varsmile"], ["nas12-star"]) },
    text: () => "The adaptation rate γ says how much of the old belief is given up: 0 integrates, 1 begins anew. It grows with the surprise, and with how often changes are expected. Move “change probability”: the same observation leads to other rates.",
  },
  {
    title: "One belief against many",
    set: { preset: "gaussian", world: { p_c: 0.03, seed: 4, length: 200 }, learners: learnersOf(["exact-bayes"], ["varsmile"]), picture: 0 },
    text: (view) => {
      let most = 0, t = -1, count = 0;
      for (let i = 0; i < view.results[0].hypotheses.length; i += 3) { if (view.results[0].hypotheses[i] !== t) { t = view.results[0].hypotheses[i]; count = 0; } most = Math.max(most, (count += 1)); }
      return `The last picture shows when Exact Bayes thinks that the last change was: each line that climbs is one hypothesis, “nothing has changed since”. Here up to ${most} of them have a weight above 0.001 at once. VarSMiLe keeps one single belief and shifts it; choose it above that picture: one line. It is nearly as good, at a fraction of the work.`;
    },
  },
  {
    title: "Three merged beliefs against twenty particles",
    set: { preset: "gaussian", world: { p_c: 0.03, seed: 4, length: 400 }, learners: learnersOf(["exact-bayes"], ["merge", { n: 3 }], ["particle-filter", { n: 20 }]), picture: 1 },
    text: (view) => {
      const merge = distanceTo(view.results, 1, 0), particles = distanceTo(view.results, 2, 0);
      return `A particle filter guesses twenty histories at random and throws most away. Merge keeps three: after each step it joins the two neighbours that say nearly the same, so that nothing is forgotten and nothing is left to chance. Mean squared distance from Exact Bayes on these ${view.ys.length} trials: Merge with 3, ${amount(merge)}; twenty particles, ${amount(particles)}, ${amount(particles / merge)} times as much. Draw another sequence and look again.`;
    },
  },
];

function showTour(step, apply, latest) {
  const panel = document.getElementById("tour"), one = TOUR[step];
  apply(one.set);
  document.getElementById("tour-title").textContent = `${step + 1} of ${TOUR.length}: ${one.title}`;
  document.getElementById("tour-back").disabled = step === 0;
  document.getElementById("tour-next").textContent = step === TOUR.length - 1 ? "End" : "Next";
  panel.hidden = false;
  panel.dataset.step = step;
  refreshTour(latest());
  document.getElementById("tour-title").focus({ preventScroll: false });
}

function refreshTour(view) {
  const panel = document.getElementById("tour");
  if (!panel.hidden) try {
    document.getElementById("tour-text").textContent = TOUR[Number(panel.dataset.step)].text(view);
  } catch {
    document.getElementById("tour-text").textContent = "The learners of this step were changed; go back or on to see its numbers.";
  }
}
