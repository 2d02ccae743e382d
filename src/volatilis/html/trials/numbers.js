// The numbers that lie in the page, and how numbers are written.

const DATA = JSON.parse(document.getElementById("data").textContent);

function decoded(array) {
  const bytes = Uint8Array.from(atob(array.data), (character) => character.charCodeAt(0));
  return array.type === "f4" ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer);
}

// One group with its arrays; `of(label, measure, element)` is a computed one, or undefined where it was not computed.
function groupNumbers(index) {
  const group = DATA.groups[index];
  const trial = "count" in group.trial
    ? Float64Array.from({ length: group.trial.count }, (_, i) => group.trial.first + i) : decoded(group.trial);
  const computed = new Map(DATA.computed.map((name, i) => [name.join("\n"), decoded(group.computed[i])]));
  return {
    trial,
    outcomes: group.outcomes.map(decoded),
    predictions: group.predictions.map(decoded),
    resets: new Set(group.resets),
    changes: group.changes.map((looked) => ({ ...looked, probability: decoded(looked.probability) })),
    of: (label, measure, element) => computed.get([label, measure, element || 0].join("\n")),
  };
}

// What looking back found, for the learners that are in the picture; those with the same p_c found the same.
function changesShown(numbers, learners) {
  return numbers.changes.filter((looked) => looked.labels.some((label) => learners.includes(label)));
}

function hasMeasure(label, measure) {
  return DATA.computed.some((name) => name[0] === label && name[1] === measure);
}

function groupName(index) {
  return DATA.by.map((column, i) => column + " " + DATA.groups[index].key[i]).join(", ") || "the whole table";
}

// Four digits; nothing as a dash.
function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) { return "–"; }
  if (!Number.isFinite(value)) { return value > 0 ? "∞" : "−∞"; }
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return text.replace("-", "−");
}

// Trials are told apart: in full, unlike other numbers.
function trialName(at) {
  return String(state.numbers.trial[at]);
}

function outcomeName(value) {
  return DATA.categories.length && Number.isInteger(value) ? DATA.categories[value] : shown(value);
}
