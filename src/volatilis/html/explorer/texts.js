// What is seen, as Python and as a command: the same observations, the same parameters, the same seeds, so the same numbers.
function labelsOf(specs) {
  const used = new Map();
  return specs.map((spec) => {
    const plain = spec.learner.replaceAll("-", "_"), count = (used.get(plain) ?? 0) + 1;
    used.set(plain, count);
    return count === 1 ? plain : `${plain}_${count}`;
  });
}
const python = (x) => (/^-?\d+$/.test(String(x)) ? `${x}.0` : String(x));
const isWhole = (name) => name === "k" || name === "n";
const pythonFields = (values) => Object.entries(values).map(([name, x]) => `${name}=${isWhole(name) ? x : python(x)}`).join(", ");
const commandFields = (values) => Object.entries(values).map(([name, x]) => `${name}=${x}`).join(",");
const shellQuoted = (text) => (/^[\w.,:=@/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const divided = (inner, values) => [true, false].map((within) => Object.fromEntries(Object.entries(values).filter(([name]) => inner.fields.includes(name) === within)));

function familyInPython(family, values) {
  const { inner, class: name } = PAGE.families[family];
  if (!inner) return `vl.${name}(${pythonFields(values)})`;
  const [within, own] = divided(inner, values);
  return `vl.${name}(vl.${inner.class}(${pythonFields(within)}), ${pythonFields(own)})`;
}

function familyInCommand(family, values) {
  const { inner } = PAGE.families[family];
  if (!inner) return `${family}:${commandFields(values)}`;
  const [within, own] = divided(inner, values);
  return `${family}:${inner.name}:${commandFields(within)};${commandFields(own)}`;
}

function learnerInPython(spec, family, familyValues) {
  const record = PAGE.learners[spec.learner];
  if (record.inner) return `vl.Averaged(vl.${record.class}(family, ${pythonFields({ p_c: 0.1, ...spec.values })}), p_c="unknown")`;
  if (!record.made_for) return `vl.${record.class}(family, ${pythonFields(spec.values)})`;
  const shared = record.parameters.filter((one) => one.from_family && one.name in familyValues).map((one) => [one.name, familyValues[one.name]]);
  return `vl.${record.class}(${pythonFields({ ...Object.fromEntries(shared), ...spec.values })})`;
}

function wrapped(items, indent) {
  const lines = [];
  let line = indent;
  for (const one of items) {
    if (line.length + one.length > 118) { lines.push(line.trimEnd()); line = indent; }
    line += `${one}, `;
  }
  return [...lines, line.trimEnd()].join("\n");
}

function asPython(view) {
  const { family, familyValues, specs, seed } = view, labels = labelsOf(specs), sampling = specs.some((one) => PAGE.learners[one.learner].samples);
  const text = ["import numpy as np", view.table ? "import pandas as pd\n" : "", "import volatilis as vl", ""].filter((one, i) => i === 3 || one);
  if (!sampling) text.shift();
  const learners = ["learners = {", ...specs.map((one, i) => `    "${labels[i]}": ${learnerInPython(one, family, familyValues)},`), "}"];
  text.push(`family = ${familyInPython(family, familyValues)}`, ...learners);
  const seeded = sampling ? `, seed=np.random.SeedSequence([${seedWords(seed, []).join(", ")}])` : "";
  if (!view.table) {
    const whole = PAGE.families[family].whole;
    text.push("y = [", wrapped(view.ys.map((one) => (whole ? String(one) : python(one))), "    "), "]");
    if (sampling) text.push(`# this seed is that of "volatilis run --seed ${seed}" for a table without groups`);
    text.push(`traces = {label: vl.run(learner, y${seeded}) for label, learner in learners.items()}`);
    text.push("for label, trace in traces.items():", "    print(label, trace.mean[-1], trace.run_length[-1])");
    return text.join("\n") + "\n";
  }
  const { name, outcome, by, missing, groups, separator, singles, gaps } = view.table, options = ['encoding="utf-8-sig"'];
  if (separator !== ",") options.push(`sep=${JSON.stringify(separator)}`);
  if (singles) options.push("skip_blank_lines=False");
  if (gaps.length) options.push(`na_values={${JSON.stringify(outcome)}: ${JSON.stringify(gaps).replaceAll(",", ", ")}}`);
  if (by.length) options.push(`dtype={${by.map((one) => `${JSON.stringify(one)}: str`).join(", ")}}`);
  text.push(`table = pd.read_csv(${JSON.stringify(name)}, ${options.join(", ")})`);
  for (const one of by) text.push(`table[${JSON.stringify(one)}] = table[${JSON.stringify(one)}].str.strip()`);
  if (sampling) {
    const tuple = (group) => `(${group.name.map((one) => `${JSON.stringify(one)},`).join(" ")})`;
    text.push(`seeds = {  # those of "volatilis run --seed ${seed}"`, ...groups.map((one) => `    ${tuple(one)}: [${seedWords(seed, one.name).join(", ")}],`), "}");
  }
  const call = `vl.run(learner, rows[${JSON.stringify(outcome)}], missing="${missing}"${sampling ? ", seed=np.random.SeedSequence(seeds[key])" : ""})`;
  const parts = by.length ? `table.groupby(${JSON.stringify(by)}, sort=False)` : "[((), table)]";
  text.push("traces = {", `    (label, key): ${call}`, "    for label, learner in learners.items()", `    for key, rows in ${parts}`, "}");
  text.push("for (label, key), trace in traces.items():", "    print(label, key, trace.mean[-1], trace.run_length[-1])");
  return text.join("\n") + "\n";
}

function asCommand(view) {
  const { family, familyValues, specs, seed } = view, labels = labelsOf(specs), file = view.table ? view.table.name : "observations.csv";
  const words = ["volatilis", "run", shellQuoted(file.startsWith("-") ? `./${file}` : file)];
  if (view.table) {
    if (view.table.outcome !== "outcome") words.push("--outcome", shellQuoted(view.table.outcome));
    if (view.table.by.length) words.push("--by", shellQuoted(view.table.by.join(",")));
    words.push("--trial", "none");
    if (view.table.missing !== "error") words.push("--missing", view.table.missing);
  }
  words.push("--family", shellQuoted(familyInCommand(family, familyValues)));
  specs.forEach((one, i) => {
    const { inner } = PAGE.learners[one.learner], label = !inner && labels[i] === one.learner.replaceAll("-", "_") ? "" : `${labels[i]}=`;
    words.push("--learner", shellQuoted(`${label}${inner ? `averaged:${inner}` : one.learner}:${commandFields(inner ? { ...one.values, p_c: "unknown" } : one.values)}`));
  });
  const defined = specs.some((one) => PAGE.learners[one.learner].readouts.includes("gamma"));
  words.push("--measures", (defined ? measuresWith(family, specs) : ["mean", "run_length"]).join(","), "--seed", String(seed), "--out", "surprise.csv");
  const command = words.join(" ") + "\n";
  return view.table ? command : `cat > observations.csv <<'END'\noutcome\n${view.ys.join("\n")}\nEND\n${command}`;
}
