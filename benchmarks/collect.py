"""Collect two finished runs of `volatilis paper all` into docs/results: tables, pictures, claims, and the numbers of its README.

    python -m benchmarks.collect OUT NEAR [docs/results [AGAIN]]

Copies data/*.csv, figures/*.png (with 256 colours) and claims.md of OUT, and of NEAR, a run with `--benchmark near`, what it
cost and how near it was; removes there what neither has. Of the pages only what stands between `<!-- NAME -->` and
`<!-- end NAME -->` is written anew, from those tables: run, claims, merge, agreement, time and near in README.md, readings in
reading.md, and paper in the README.md two folders above, that of the repository. AGAIN is a run of some figures with
`--replications`: its comparisons with the published values, which rest on more seeds, take the place of those of OUT. Nothing is
changed if something is missing or if it all would be over 10 MB.
"""

from __future__ import annotations

import pathlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from volatilis.paper.claims import tally
from volatilis.paper.figures import FIGURES

Tables = Mapping[str, pathlib.Path]  # where the tables are, by their names in docs/results
Writer = Callable[[Tables], str]

MOST = 10_000_000  # bytes
NEAR = {f"data/{name}.csv": f"data/{name}.csv" for name in ("nearness_gaussian", "nearness_categorical")}
NEAR["data/costs_near.csv"] = "data/costs.csv"  # its name in docs/results -> where a run leaves it
NEEDED = ("claims", "readings", "merge", "costs", "run", "tuned", "table_1", "table_2")
RUN = ("command", "version", "Python", "cores", "size", "seeds", "benchmark", "run time", "memory")
PARTS = {  # of the ledger -> in words, and the figures that need it
    "tuning": ("tuning, both tasks", ""),
    "gaussian transient": ("after a change, Gaussian", "2, S1"),
    "categorical transient": ("after a change, Categorical", "5"),
    "gaussian": ("grid, Gaussian", "3, 4, S2"),
    "categorical": ("grid, Categorical", "6, 7"),
    "gaussian robustness": ("a wrong p_c, Gaussian", "8"),
    "categorical robustness": ("a wrong p_c, Categorical", "9"),
    "gaussian scan": ("which p_c is best, Gaussian", "8"),
    "categorical scan": ("which p_c is best, Categorical", "9"),
    "gaussian confirmation": ("the same on fresh sequences, Gaussian", "8"),
    "categorical confirmation": ("the same on fresh sequences, Categorical", "9"),
    "prediction1": ("prediction 1", "10"),
    "prediction2": ("prediction 2", "11"),
    "memory": ("error against memory", "memory"),
    "nearness": ("how near the benchmark is", ""),
    "claims": ("claims", ""),
    "drawing": ("drawing", "all"),
    "all": ("all", ""),
}


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    out, near, results = (pathlib.Path(name) for name in (*arguments, "docs/results")[:3])
    again = pathlib.Path(arguments[3]) if len(arguments) > 3 else None
    try:
        print(f"{results}: {collect(out, near, results, again)}")
    except (ValueError, OSError) as error:
        print(f"collect: {error}", file=sys.stderr)
        return 2
    return 0


def collect(out: pathlib.Path, near: pathlib.Path, results: pathlib.Path, again: pathlib.Path | None = None) -> str:
    """Copy, write the README's numbers, and say what was copied."""
    with tempfile.TemporaryDirectory() as folder:
        files = wanted(out) | wanted_near(near)
        if again is not None:
            files |= wanted_again(files, again, pathlib.Path(folder))
        return copied(files | with_fewer_colours(files, pathlib.Path(folder)), results)


def copied(files: dict[str, pathlib.Path], results: pathlib.Path) -> str:
    pages: dict[pathlib.Path, Mapping[str, Writer]]
    pages = {results / "README.md": WRITERS, results / "reading.md": READING_WRITERS}
    pages[results.resolve().parents[1] / "README.md"] = OUTER_WRITERS
    tables = {path.stem: files[name] for name in files if (path := pathlib.PurePath(name)).suffix == ".csv"}
    texts = {page: with_numbers(page, writers, tables) for page, writers in pages.items()}
    size = sum(path.stat().st_size for path in files.values()) + len(texts[results / "README.md"].encode())
    if size > MOST:
        raise ValueError(f"{len(files)} files of {size / 1e6:.1f} MB; at most {MOST / 1e6:g} MB are accepted")
    for kind in ("data/*.csv", "figures/*.png"):
        for old in results.glob(kind):
            if str(old.relative_to(results)) not in files:
                old.unlink()
    for name, path in files.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, results / name)
    for page, text in texts.items():
        page.write_text(text, encoding="utf-8")
    return f"{len(files)} files, {size / 1e6:.1f} MB, and the numbers of both README.md"


def wanted(out: pathlib.Path) -> dict[str, pathlib.Path]:
    """What is copied, by its name in docs/results."""
    paths = [out / "claims.md", *sorted(out.glob("data/*.csv")), *sorted(out.glob("figures/*.png"))]
    files = {str(path.relative_to(out)): path for path in paths if path.is_file()}
    needed = ["claims.md", *(f"data/{name}.csv" for name in NEEDED), *(f"figures/figure_{f.key}.png" for f in FIGURES)]
    missing = [name for name in needed if name not in files]
    if missing:
        raise ValueError(f"{out} lacks {', '.join(missing)}; it must be the folder of a finished `volatilis paper all`")
    return files


def wanted_near(near: pathlib.Path) -> dict[str, pathlib.Path]:
    """What is copied of the run with the near benchmark."""
    missing = [name for name in NEAR.values() if not (near / name).is_file()]
    if missing:
        raise ValueError(
            f"{near} lacks {', '.join(missing)}; it must be the folder of a finished `volatilis paper all --benchmark near`"
        )
    return {name: near / where for name, where in NEAR.items()}


def wanted_again(files: Tables, again: pathlib.Path, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The comparisons of a run with replications, and both tables of all comparisons with theirs in place, in a new folder."""
    import pandas

    chosen = {f"data/{path.name}": path for path in sorted(again.glob("data/comparison_figure_*.csv"))}
    if not chosen:
        raise ValueError(f"{again} has no data/comparison_figure_*.csv; it must be a folder of `volatilis paper --replications`")
    figures = [pathlib.PurePath(name).stem.rpartition("_")[2] for name in chosen]
    for name in ("agreement", "beyond"):
        old, new = (pandas.read_csv(path, dtype=str) for path in (files[f"data/{name}.csv"], again / "data" / f"{name}.csv"))
        pandas.concat([old[~old.figure.isin(figures)], new]).to_csv(folder / f"{name}.csv", index=False)
        chosen[f"data/{name}.csv"] = folder / f"{name}.csv"
    return chosen


def with_fewer_colours(files: Tables, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """The pictures with 256 colours, which take a quarter of the room and look the same, in a new folder."""
    from PIL import Image

    pictures = {name: folder / path.name for name, path in files.items() if path.suffix == ".png"}
    for name, path in pictures.items():
        with Image.open(files[name]) as picture:
            picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    return pictures


def with_numbers(page: pathlib.Path, writers: Mapping[str, Writer], data: Tables) -> str:
    """The page with its marked parts written anew."""
    text = page.read_text(encoding="utf-8")
    for name, write in writers.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end {name} -->"
        if text.count(start) != 1 or text.partition(start)[2].count(end) != 1:
            raise ValueError(f"{page} must have one part between <!-- {name} --> and <!-- end {name} -->")
        before, _, rest = text.partition(start)
        text = f"{before}{start}\n{write(data)}\n\n{end}{rest.partition(end)[2]}"
    return text


# --- the parts -------------------------------------------------------------------------------------------------------------


def read(data: Tables, name: str) -> Any:
    import pandas

    return pandas.read_csv(data[name], keep_default_na=False)


def table(headers: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (headers, ["---"] * len(headers), *rows))


def run_part(data: Tables) -> str:
    facts = dict(read(data, "run").to_numpy().tolist())
    return table(["", ""], [[name, f"`{facts[name]}`" if name == "command" else facts[name]] for name in RUN if name in facts])


def claims_part(data: Tables) -> str:
    verdicts = read(data, "claims").verdict.tolist()
    return f"{len(verdicts)} claims of the paper: {tally(verdicts)}. All of them, with numbers: [claims.md](claims.md)."


def merge_part(data: Tables) -> str:
    rows = [
        [row.statement, f"{row.cells} of {row.of}", times(float(row.least)), times(float(row.most))]
        for row in read(data, "merge").itertuples()
    ]
    return table(["mean squared distance to Exact Bayes", "environments", "least ratio", "largest ratio"], rows)


def times(ratio: float) -> str:
    """Three digits, without an exponent."""
    return f"{float(f'{ratio:.3g}'):,g} times" if ratio < 1e5 else f"{float(f'{ratio:.3g}'):,.0f} times"


def agreement_part(data: Tables) -> str:
    """Per figure: published, compared, agreeing, and what is known of the others."""
    if "agreement" not in data:
        return "This run had no published data beside it (`--reference`)."
    counts, beyond = read(data, "agreement"), read(data, "beyond")
    rows = []
    for row in sorted(counts.itertuples(), key=lambda row: (not row.figure.isdigit(), row.figure.zfill(3))):
        why = beyond[beyond.figure.astype(str) == row.figure].why.value_counts() if len(beyond) else {}
        others = "; ".join(f"{count}: {reason}" for reason, count in why.items()) or "none"
        rows.append(
            [row.figure, str(row.published), f"{row.agree} of {row.compared}", str(row.samples), others, row.not_compared]
        )
    total = f"In all {int(counts.agree.sum())} of {int(counts.compared.sum())} agree"
    share = counts.agree.sum() / counts.compared.sum()
    heads = ["figure", "published", "within their 99.73 % interval", "our samples", "beyond, and why", "not compared"]
    return f"{total}, {share:.2%}.\n\n{table(heads, rows)}"


def time_part(data: Tables) -> str:
    return time_table(data, "costs")


def near_part(data: Tables) -> str:
    """What the run with the near benchmark cost, and how far the latter is from Exact Bayes."""
    tasks = {"gaussian": "Gaussian", "categorical": "Categorical"}
    worst = {words: float(read(data, f"nearness_{task}").distance.max()) for task, words in tasks.items()}
    distances = " and ".join(f"{value:.2g} in the [{words}](data/nearness_{words.lower()}.csv)" for words, value in worst.items())
    return f"{time_table(data, 'costs_near')}\n\nMean squared distance to Exact Bayes in the worst cell: {distances} grid."


def time_table(data: Tables, name: str) -> str:
    costs = {row.part: row for row in read(data, name).itertuples()}
    rows = []
    for part in (*(name for name in PARTS if name in costs), *(name for name in costs if name not in PARTS)):
        words, figures = PARTS.get(part, (part, ""))
        minutes = [f"{float(value) / 60.0:.1f}" for value in (costs[part].seconds, costs[part].processor_seconds)]
        rows.append([words, figures, *minutes])
    memory = float(costs["all"].peak_memory_mib) / 1024.0
    parts = table(["part", "figures", "minutes", "processor minutes"], rows)
    return f"{parts}\n\nMost memory: {memory:.2f} GiB."


def paper_part(data: Tables) -> str:
    """For the repository's README: the claims, the agreement with the published values, and Merge."""
    verdicts = read(data, "claims").verdict.tolist()
    text = f"At full size, of {len(verdicts)} claims of the paper's text {tally(verdicts)} ([results](docs/results/README.md))"
    if "agreement" in data:
        counts = read(data, "agreement")
        text += f"; {int(counts.agree.sum())} of {int(counts.compared.sum())} published values lie within their 99.73 % interval"
    merge = read(data, "merge").iloc[-1]
    text += (
        f". `Merge` with 20 hypotheses is at least {times(float(merge.least))} closer to Exact Bayes than the best of the paper's"
    )
    return f"{text} learners with 20, in all {merge.of} environments."


def readings_part(data: Tables) -> str:
    """How the count of verdicts changes with other readings."""
    frame = read(data, "readings")
    return table(list(frame.columns), [[str(cell) for cell in row] for row in frame.to_numpy().tolist()])


READING_WRITERS = {"readings": readings_part}
OUTER_WRITERS = {"paper": paper_part}
WRITERS = {
    "run": run_part,
    "claims": claims_part,
    "merge": merge_part,
    "agreement": agreement_part,
    "time": time_part,
    "near": near_part,
}

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
