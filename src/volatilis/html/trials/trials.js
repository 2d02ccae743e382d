// What is in the picture as tables of text: the changes of the group, and the trials in view, made when it is opened.

const MOST_ROWS = 500, details = document.getElementById("trials");

// What stands in each column: its name, its numbers and how they are written.
function trialColumns(numbers) {
  const columns = [["trial", numbers.trial, shown]];
  DATA.outcomes.forEach((name, i) => columns.push([name, numbers.outcomes[i], outcomeName]));
  DATA.predictions.forEach((name, i) => columns.push([name, numbers.predictions[i], DATA.categorical ? outcomeName : shown]));
  DATA.computed.filter((column) => state.learners.includes(column[0])).forEach(([label, measure, element]) => {
    const several = DATA.computed.some((other) => other[0] === label && other[1] === measure && other[2] !== element);
    const name = label + " " + measure.replaceAll("_", " ") + (several ? " " + element : "");
    columns.push([name, numbers.of(label, measure, element), shown]);
  });
  return columns;
}

// One row per change: where, its credible set, and how probable it is; for each p_c a table.
function fillChanges() {
  const all = changesShown(state.numbers, state.learners), box = document.getElementById("changes");
  const trial = (i) => String(state.numbers.trial[i]);
  box.hidden = all.length === 0;
  box.querySelector("summary").textContent = all.map((looked) => {
    const whose = all.length > 1 ? looked.labels.join(", ") + ": " : "", count = looked.found.length;
    return whose + count + (count === 1 ? " change found, " : " changes found, ") + shown(looked.expected) + " expected";
  }).join("; ");
  box.querySelector("div").replaceChildren(...all.filter((looked) => looked.found.length).map((looked) => {
    const rows = looked.found.map(([at, earliest, low, high, probability]) => [
      earliest < at ? trial(earliest) + " to " + trial(at) : trial(at), trial(low), trial(high), shown(Number(probability.toFixed(4)))]);
    return textTable(["first trial after it", "95 % from", "to", "probability"], rows);
  }));
}

function textTable(heads, rows) {
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  heads.forEach((name) => {
    const cell = head.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.textContent = name;
  });
  rows.forEach((cells) => {
    const row = body.insertRow();
    cells.forEach((text) => { row.insertCell().textContent = text; });
  });
  return table;
}

function fillTrials() {
  if (!details.open) { return; }
  const numbers = state.numbers, columns = trialColumns(numbers);
  const first = lowerBound(numbers.trial, state.drawing.view.low), last = lowerBound(numbers.trial, state.drawing.view.high);
  const rows = [];
  for (let i = first; i < Math.min(last, first + MOST_ROWS); i += 1) { rows.push(columns.map(([, values, write]) => write(values[i]))); }
  const table = textTable(columns.map(([name]) => name), rows);
  if (last - first > MOST_ROWS) {
    table.createCaption().textContent = "The first " + MOST_ROWS + " of " + (last - first) + " trials; zoom in for others.";
  }
  details.querySelector("div").replaceChildren(table);
}
details.addEventListener("toggle", fillTrials);
