// A table of one's own: read, checked, split into groups, run, and written again with what was computed. It never leaves the page.
const MOST_ROWS = 250000, MISSING = ["", "na", "n/a", "nan", "null", "none", "."];

class TableError extends Error {}

function decoded(bytes, name) {
  // Text in UTF-8, as `volatilis run` takes it; anything else is refused instead of guessed at.
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) throw new TableError(`${name} is text in UTF-16; save it as UTF-8`);
  if (bytes.subarray(0, 65536).includes(0)) throw new TableError(`${name} is a binary file; a table of text is accepted`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TableError(`${name} is not text in UTF-8; save it as UTF-8`);
  }
}

function asNumber(text) {
  // Decimal numbers only: JavaScript would also read 0x10 and the empty text.
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : NaN;
}

function separatorOf(first, name) {
  // As `volatilis run` has it: a comma, unless the header has none and a semicolon or a tab instead.
  if (/\.tsv$/i.test(name)) return "\t";
  return first.includes(",") ? "," : [";", "\t"].find((one) => first.includes(one)) ?? ",";
}

function parseTable(text, name) {
  // Columns by name, as texts.
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  if (!text.trim()) throw new TableError(`${name} is empty; a header and at least one row are needed`);
  const separator = separatorOf(/^[^\r\n]*/.exec(text)[0], name);
  const rows = text.includes('"') ? quotedRows(text, separator, name) : plainRows(text, separator, name);
  const header = rows.shift();
  const twice = header.find((one, i) => header.indexOf(one) !== i);
  if (twice !== undefined) throw new TableError(`${name} has two columns called "${twice}"; every column needs a name of its own`);
  if (!rows.length) throw new TableError(`${name} has a header but no rows`);
  rows.forEach((row, i) => {
    if (row.length !== header.length) throw new TableError(`${name}: row ${i + 1} has ${counted(row.length, "value")}, the header ${header.length}; a value with a ${separator === "," ? "comma" : "separator"} in it needs quotes`);
  });
  return { name, header, rows, separator };
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function tooLong(name, rows) {
  return new TableError(`${name} has ${rows.toLocaleString("en")} rows or more; this page takes up to ${MOST_ROWS.toLocaleString("en")}. The command "volatilis run" takes any number.`);
}

function plainRows(text, separator, name) {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines[lines.length - 1] === "") lines.pop();
  const single = lines[0].split(separator).length === 1; // there an empty line is a missing value; elsewhere it is nothing
  const kept = single ? lines : lines.filter((line) => line !== "");
  if (kept.length - 1 > MOST_ROWS) throw tooLong(name, kept.length - 1);
  return kept.map((line) => line.split(separator));
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
      if (row.length > 1 || field !== "" || (rows.length && rows[0].length === 1)) rows.push(row);
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
  const numeric = table.header.filter((_, j) => table.rows.slice(0, 50).some((row) => row[j].trim() !== "" && Number.isFinite(asNumber(row[j]))));
  const outcome = table.header.includes("outcome") ? "outcome" : numeric.find((one) => !["subject", "session", "block", "trial"].includes(one)) ?? table.header[0];
  if (Number.isFinite(asNumber(outcome))) throw new TableError(`${table.name} seems to have no header: its first row is "${table.header.join(table.separator)}"; a first row with the names of the columns is needed`);
  return { outcome, by: ["subject", "session", "block"].filter((one) => table.header.includes(one) && one !== outcome) };
}

function readOutcomes(table, column, family, values, missing) {
  // Numbers, and what happens at each step. An error names row, column, value and what is accepted.
  const j = checkedColumn(table, column), record = PAGE.families[family];
  const most = family === "categorical" ? values.k - 1 : record.most ?? Infinity;
  const ys = new Float64Array(table.rows.length), events = new Uint8Array(table.rows.length);
  table.rows.forEach((row, i) => {
    const text = row[j].trim();
    const bad = (what) => new TableError(`${table.name}: row ${i + 1}, column "${column}": ${what}`);
    if (MISSING.includes(text.toLowerCase())) {
      if (missing === "error") throw bad('the outcome is missing; choose what a missing outcome means');
      events[i] = missing === "elapse" ? ELAPSE : SKIP;
      return;
    }
    const y = asNumber(text);
    if (!Number.isFinite(y)) throw bad(`"${text}" is not a number${text.includes(",") ? " (a decimal point, not a comma)" : ""}`);
    if (record.whole && (!Number.isInteger(y) || y < 0 || y > Math.min(most, Number.MAX_SAFE_INTEGER))) throw bad(`${text} is not accepted; ${record.class} observes ${record.observes}`);
    if (!record.whole && record.least !== null && y < record.least) throw bad(`${text} is not accepted; ${record.class} observes ${record.observes}`);
    ys[i] = y;
  });
  return { ys, events };
}

function checkedColumn(table, column) {
  // A command separates the names of columns by commas, and takes no spaces around them.
  if (column !== column.trim() || column.includes(",")) throw new TableError(`${table.name}: the column "${column}" has ${column.includes(",") ? "a comma in" : "spaces around"} its name, so that no command can name it; rename it`);
  return table.header.indexOf(column);
}

function missingWords(table) {
  // How missing outcomes are written in this column.
  const j = table.data.header.indexOf(table.outcome);
  return [...new Set(table.data.rows.map((row) => row[j]))].filter((one) => one !== "" && MISSING.includes(one.trim().toLowerCase()));
}

function groupsOf(table, by) {
  // Rows of each group, in the order in which groups first come; the name is what seeds its generator.
  const places = by.map((one) => checkedColumn(table, one)), groups = new Map();
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
  for (const { label, result } of labelled) for (const measure of ALL_MEASURES) {
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
