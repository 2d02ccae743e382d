// A table of one's own: read, checked, split into groups, run, and written again with what was computed. It never leaves the page.
const MOST_ROWS = 250000, MISSING = ["", "na", "n/a", "nan", "null", "none", "."];

class TableError extends Error {}

function parseTable(text, name) {
  // Columns by name, as texts. The separator is the one that the first line has most of.
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  if (!text.trim()) throw new TableError(`${name} is empty; a header and at least one row are needed`);
  const first = text.slice(0, (text.indexOf("\n") + 1 || text.length + 1) - 1);
  const separator = [",", "\t", ";"].reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best), ",");
  const rows = text.includes('"') ? quotedRows(text, separator, name) : plainRows(text, separator, name);
  const header = rows.shift().map((one) => one.trim());
  const twice = header.find((one, i) => header.indexOf(one) !== i);
  if (twice !== undefined) throw new TableError(`${name} has two columns called "${twice}"; every column needs a name of its own`);
  if (!rows.length) throw new TableError(`${name} has a header but no rows`);
  rows.forEach((row, i) => {
    if (row.length !== header.length) throw new TableError(`${name}: row ${i + 1} has ${row.length} fields, and the header has ${header.length}`);
  });
  return { name, header, rows };
}

function tooLong(name, rows) {
  return new TableError(`${name} has ${rows.toLocaleString("en")} rows or more; this page takes up to ${MOST_ROWS.toLocaleString("en")}. The command "volatilis run" takes any number.`);
}

function plainRows(text, separator, name) {
  const lines = text.split(/\r?\n/);
  while (lines.length && lines[lines.length - 1] === "") lines.pop();
  if (lines.length - 1 > MOST_ROWS) throw tooLong(name, lines.length - 1);
  return lines.map((line) => line.split(separator));
}

function quotedRows(text, separator, name) {
  const rows = [];
  let row = [], field = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') { field += c; i += 1; } else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === separator) { row.push(field); field = ""; }
    else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[i + 1] === "\n") i += 1;
      row.push(field);
      if (row.length > 1 || field !== "") rows.push(row);
      row = []; field = "";
      if (rows.length - 1 > MOST_ROWS) throw tooLong(name, rows.length - 1);
    } else field += c;
  }
  if (quoted) throw new TableError(`${name}: a quotation mark that opens a field is never closed`);
  if (field !== "" || row.length) { row.push(field); rows.push(row); }
  return rows;
}

function guessColumns(table) {
  // The outcome and the groups as `volatilis run` finds them.
  const numeric = table.header.filter((_, j) => table.rows.slice(0, 50).some((row) => row[j].trim() !== "" && Number.isFinite(Number(row[j]))));
  const outcome = table.header.includes("outcome") ? "outcome" : numeric.find((one) => !["subject", "session", "block", "trial"].includes(one)) ?? table.header[0];
  return { outcome, by: ["subject", "session", "block"].filter((one) => table.header.includes(one) && one !== outcome) };
}

function readOutcomes(table, column, family, values, missing) {
  // Numbers, and what happens at each step. An error names row, column, value and what is accepted.
  const j = table.header.indexOf(column), record = PAGE.families[family];
  const most = family === "categorical" ? values.k - 1 : family === "bernoulli" ? 1 : Infinity;
  const ys = new Float64Array(table.rows.length), events = new Uint8Array(table.rows.length);
  table.rows.forEach((row, i) => {
    const text = row[j].trim();
    const bad = (what) => new TableError(`${table.name}: row ${i + 1}, column "${column}": ${what}`);
    if (MISSING.includes(text.toLowerCase())) {
      if (missing === "error") throw bad('the outcome is missing; choose what a missing outcome means');
      events[i] = missing === "elapse" ? ELAPSE : SKIP;
      return;
    }
    const y = Number(text);
    if (!Number.isFinite(y)) throw bad(`"${text}" is not a number`);
    if (record.whole && (!Number.isInteger(y) || y < 0 || y > Math.min(most, Number.MAX_SAFE_INTEGER))) throw bad(`${text} is not accepted; ${record.class} observes ${record.observes}`);
    if (!record.whole && record.least !== null && y < record.least) throw bad(`${text} is not accepted; ${record.class} observes ${record.observes}`);
    ys[i] = y;
  });
  return { ys, events };
}

function groupsOf(table, by) {
  // Rows of each group, in the order in which groups first come; the name is what seeds its generator.
  const places = by.map((one) => table.header.indexOf(one)), groups = new Map();
  table.rows.forEach((row, i) => {
    const name = places.map((j) => row[j].trim()), key = JSON.stringify(name);
    if (name.some((one) => MISSING.includes(one.toLowerCase()))) throw new TableError(`${table.name}: row ${i + 1}: a column that makes the groups is empty`);
    if (!groups.has(key)) groups.set(key, { name, rows: [] });
    groups.get(key).rows.push(i);
  });
  return [...groups.values()];
}

function runGroups(memory, spec, family, familyValues, groups, data, seed) {
  // One learner over all groups; the readouts of every row of the table.
  const most = Math.max(...groups.map((group) => group.rows.length)), all = data.ys.length;
  const runner = new Runner(memory, spec.learner, family, spec.values, familyValues, most);
  const raw = Object.fromEntries(PAGE.outputs.map((name) => [name, new Float64Array(all * (runner.out[name].length / most))]));
  for (const group of groups) {
    const events = Uint8Array.from(group.rows, (i) => data.events[i]);
    events[0] |= RESET;
    runner.seed(generatorKey(seedWords(seed, group.name)));
    runner.load(Float64Array.from(group.rows, (i) => data.ys[i]), events);
    runner.advance(group.rows.length);
    for (const name of PAGE.outputs) {
      const wide = runner.out[name].length / most, part = runner.memory.view(runner.out[name]);
      group.rows.forEach((i, place) => { for (let k = 0; k < wide; k++) raw[name][i * wide + k] = part[place * wide + k]; });
    }
  }
  return { size: runner.size, hypotheses: [], raw, columns: measuresOf(raw, changeProbability(spec.learner, spec.values)) };
}

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function tableText(header, rowTexts, labelled) {
  // The table with the computed columns, under the names of `volatilis run`; a missing number is empty.
  const parts = [], names = [...header];
  for (const { label, result } of labelled) for (const measure of [...MEASURES, "outlier_probability"]) {
    const values = result.columns[measure];
    if (!values) continue;
    const wide = measure === "mean" || measure === "variance" ? result.size : 1;
    for (let k = 0; k < wide; k++) {
      names.push(wide === 1 ? `${label}_${measure}` : `${label}_${measure}_${k}`);
      parts.push((i) => values[i * wide + k]);
    }
  }
  const lines = [names.map(quoted).join(",")];
  rowTexts.forEach((row, i) => {
    const numbers = parts.map((part) => { const x = part(i); return Number.isNaN(x) ? "" : x === Infinity ? "inf" : x === -Infinity ? "-inf" : String(x); });
    lines.push([...row.map(quoted), ...numbers].join(","));
  });
  return lines.join("\n") + "\n";
}
