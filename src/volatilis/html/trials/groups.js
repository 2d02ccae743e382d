// Which group is shown: the list, the table of all groups, the address of the page, and keys.

const groupChoice = document.getElementById("group"), measureChoice = document.getElementById("measure");
const learnerChoice = document.getElementById("learner"), search = document.getElementById("search");
const table = document.getElementById("groups"), body = table.tBodies[0];
const rowOf = new Map([...body.rows].map((row) => [Number(row.dataset.group), row]));

function address(index) {
  const key = DATA.groups[index].key;
  return "#" + DATA.by.map((column, i) => encodeURIComponent(column) + "=" + encodeURIComponent(key[i])).join("&");
}

// The group that the address names; the first one where it names none.
function addressed() {
  const named = new URLSearchParams(window.location.hash.slice(1).replaceAll("+", "%2B"));
  const fits = (group) => DATA.by.length > 0 && DATA.by.every((column, i) => named.get(column) === group.key[i]);
  return Math.max(DATA.groups.findIndex(fits), 0);
}

function showGroup(index) {
  const group = DATA.groups[index];
  Object.assign(state, { group: index, numbers: groupNumbers(index), range: null, at: null });
  groupChoice.value = String(index);
  document.getElementById("name").textContent = groupName(index);
  rowOf.forEach((row, i) => (i === index ? row.setAttribute("aria-current", "true") : row.removeAttribute("aria-current")));
  bringIntoView(rowOf.get(index));
  const drawn = state.numbers.trial.length, sums = document.getElementById("sums");
  const head = groupName(index) + ": " + group.rows + (group.rows === 1 ? " trial" : " trials")
    + (group.missing ? ", " + group.missing + " missing" : "");
  const [some, all] = [drawn, group.rows].map((count) => count.toLocaleString("en"));
  sums.textContent = "Only the first " + some + " of " + all + " trials are drawn.";
  sums.hidden = drawn === group.rows;
  frame.setAttribute("aria-label", head + sumsOf(group).map((text) => ". " + text).join("") + ".");
  redraw();
}

function sumsOf(group) {
  return DATA.labels.map((label) => {
    const [changes, shannon, error] = group.sums[label];
    const said = [[changes, "changes"], [shannon, "Shannon surprise"], [error, "mean error"]];
    const parts = said.filter(([value]) => value !== null).map(([value, name]) => name + " " + shown(value));
    return parts.length ? label + ": " + parts.join(", ") : "";
  }).filter(Boolean);
}

function bringIntoView(row) {
  const box = table.parentElement, head = table.tHead.offsetHeight;
  if (row.offsetTop - head < box.scrollTop) { box.scrollTop = row.offsetTop - head; }
  const below = row.offsetTop + row.offsetHeight - box.clientHeight;
  if (below > box.scrollTop) { box.scrollTop = below; }
}

function goTo(index) {
  if (DATA.by.length) { window.history.replaceState(null, "", address(index)); }
  showGroup(index);
}

// Previous and next go through the table as it stands: sorted, and without what the search hides.
function goBy(step) {
  const rows = [...body.rows].filter((row) => !row.hidden), at = rows.indexOf(rowOf.get(state.group));
  const next = at < 0 ? rows[0] : rows[at + step];
  if (next) { goTo(Number(next.dataset.group)); }
}

function sortBy(cell) {
  const way = cell.getAttribute("aria-sort") === "ascending" ? -1 : 1, column = cell.cellIndex;
  const value = (row) => row.cells[column].dataset.value, text = (row) => row.cells[column].textContent;
  const known = (row) => Number(value(row) !== "");
  const order = cell.classList.contains("number")
    ? (a, b) => known(b) - known(a) || way * (value(a) - value(b))  // what is not known comes last either way
    : (a, b) => way * text(a).localeCompare(text(b), undefined, { numeric: true });
  [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
  cell.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
  [...body.rows].sort(order).forEach((row) => body.appendChild(row));
}

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  rowOf.forEach((row, i) => {
    const name = groupName(i).toLowerCase();
    row.hidden = !words.every((word) => name.includes(word));
  });
  const count = [...body.rows].filter((row) => !row.hidden).length;
  document.getElementById("matches").textContent = words.length ? count + " of " + DATA.groups.length + " groups" : "";
}

function chooseSums() {
  const label = learnerChoice ? learnerChoice.value : DATA.labels[0];
  table.classList.add("one");
  table.querySelectorAll("[data-learner]").forEach((cell) => { cell.hidden = cell.dataset.learner !== label; });
}

// --- at the start -------------------------------------------------------------------------------------------------------

DATA.measures.forEach((measure, i) => measureChoice.add(new Option(measure.title, String(i))));
measureChoice.hidden = DATA.measures.length < 2;
measureChoice.addEventListener("change", () => { state.measure = DATA.measures[Number(measureChoice.value)]; redraw(); });
groupChoice.addEventListener("change", () => goTo(Number(groupChoice.value)));
groupChoice.parentElement.hidden = DATA.groups.length < 2;
document.getElementById("previous").addEventListener("click", () => goBy(-1));
document.getElementById("next").addEventListener("click", () => goBy(1));
[...table.tHead.rows[0].cells].forEach((cell) => cell.addEventListener("click", () => sortBy(cell)));
body.addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  event.preventDefault();
  goTo(Number(row.dataset.group));
});
if (learnerChoice) { learnerChoice.addEventListener("change", chooseSums); }
chooseSums();
if (search) {
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => { if (event.key === "Enter" && rowOf.get(state.group).hidden) { goBy(1); } });
}
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, #trials")) { return; }
  event.preventDefault();
  goBy(step);
});
window.addEventListener("hashchange", () => showGroup(addressed()));
document.querySelectorAll(".tools").forEach((tools) => { tools.hidden = false; });
showGroup(addressed());
new ResizeObserver(() => { if (frame.clientWidth && widthOf(frame) !== state.width) { redraw(); } }).observe(frame);
