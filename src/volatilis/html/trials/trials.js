// The trials in view as a table of text, made when it is opened.

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

function fillTrials() {
  if (!details.open) { return; }
  const numbers = state.numbers, columns = trialColumns(numbers);
  const first = lowerBound(numbers.trial, state.drawing.view.low), last = lowerBound(numbers.trial, state.drawing.view.high);
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  columns.forEach(([name]) => {
    const cell = head.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.textContent = name;
  });
  for (let i = first; i < Math.min(last, first + MOST_ROWS); i += 1) {
    const row = body.insertRow();
    columns.forEach(([, values, write]) => { row.insertCell().textContent = write(values[i]); });
  }
  if (last - first > MOST_ROWS) {
    table.createCaption().textContent = "The first " + MOST_ROWS + " of " + (last - first) + " trials; zoom in for others.";
  }
  details.querySelector("div").replaceChildren(table);
}
details.addEventListener("toggle", fillTrials);
