"""The authors' release as it is: data (doc/data_final, or part of it) and tuned values (src/parameterDicts), read and checked.

A folder may be the release itself, its data folder or any folder with some of its files.

Names in the files are those of an earlier time: gsor, tsor are MP; gsorOriginal, tsorOriginal are SOR; smileextended is VarSMiLe;
gnassarJN is Nas10*, gnassarNatN is Nas12*, with ...Original for the original algorithms; Sgm is the Bayes Factor Surprise, Ssh
the Shannon Surprise to base 10; multi is the Categorical task.
"""

from __future__ import annotations

import csv
import math
import os
import pathlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


TASKS = {"gaussian": "gaussian", "multi": "categorical", "multinomial": "categorical", "categorical": "categorical"}
NOISE_COLUMNS = {"gaussian": "sigma", "categorical": "stochasticity"}
_TASK, _NUMBER = f"(?P<task>{'|'.join(TASKS)})", r"[0-9.]+(?:e-?[0-9]+)?"
PATTERNS = {
    "steady-state errors": re.compile(rf"{_TASK}_heatmap_(?P<learner>bayesfilter)\.csv"),
    "steady-state errors with standard errors": re.compile(rf"{_TASK}_heatmap_diff_std_(?P<learner>\w+)\.csv"),
    "steady-state differences": re.compile(rf"{_TASK}_heatmap_diff_(?P<learner>(?!std_)\w+)\.csv"),
    "errors after a change": re.compile(rf"{_TASK}_s(?P<noise>{_NUMBER})_Pc(?P<p_c>{_NUMBER})(?:_\w+)?\.csv"),
    "regrets": re.compile(rf"{_TASK}_robustnessfrombayes_s(?P<noise>{_NUMBER})_Pc(?P<p_c>{_NUMBER})\.csv"),
    "prediction 1": re.compile(r"exp_(?!second_)(?P<learner>\w+?)sigma.*\.csv"),
    "prediction 2": re.compile(r"exp_second_(?P<learner>\w+?)sigma.*\.csv"),
}
NAMES = {
    "bayesfilter": "Exact Bayes",
    "smileextended": "VarSMiLe",
    "smileoriginal": "SMiLe",
    "leaky": "Leaky",
    "leakyintegrator": "Leaky",
    "nassarjn": "Nas10*",
    "nassarnatn": "Nas12*",
    "nassarjnoriginal": "Nas10",
    "nassarnatnoriginal": "Nas12",
    "particlefilter": "pf20",  # in the files of the predictions, without a number
}
NUMBERED = {"sor": "MP{}", "sororiginal": "SOR{} (published)", "pf": "pf{}", "particlefilter": "pf{}"}
TUNED_FILE = re.compile(rf"parameterDict_{_TASK}_(?P<learner>\w+)\.jld2")
TUNED_NAMES = {
    "varsmile": "VarSMiLe",
    "smileOriginal": "SMiLe",
    "leaky": "Leaky",
    "gnassar10": "Nas10*",
    "gnassar12": "Nas12*",
    "gnassar10original": "Nas10",
    "gnassar12original": "Nas12",
}
SEEDS, ROBUSTNESS_SEEDS = 10, 3  # of the authors (their run_comparisons.jl, run_gridsearch_*.jl)
SIGNS = {"positive": 1, "negative": -1}
MEASURES = {"Sgm": "bayes_factor", "Ssh": "shannon"}


class ReferenceDataError(ValueError):
    """The authors' data is not where it was said to be, or a file of it cannot be understood."""


class Reference(NamedTuple):
    """The published numbers as tables, None where there is no file; `found` says in words which files there are.

    theirs is NaN where the authors had no trial; theirs_se is the error they give (NaN: none), theirs_n the number of independent
    samples behind theirs: seeds, or in the predictions subjects with such trials.
    """

    grid: pd.DataFrame | None  # task, learner, noise, p_c, theirs, theirs_se, theirs_n
    transient: pd.DataFrame | None  # task, learner, noise, p_c, n, and the same three
    robustness: pd.DataFrame | None  # task, learner, noise, assumed, p_c, and the same three
    first: pd.DataFrame | None  # learner, measure, sign, delta, and the same three
    second: pd.DataFrame | None  # learner, measure, p, and the same three
    found: tuple[str, ...]


Row = dict[str, object]


def learner_name(published: str) -> str | None:
    """The paper's name for a name in the files; None for one that nobody knows."""
    name = published.lower()
    for candidate in (name, name[1:]):  # with or without the letter of the task
        if candidate in NAMES:
            return NAMES[candidate]
        numbered = re.fullmatch(r"([a-z]+)(\d+)", candidate)
        if numbered and numbered[1] in NUMBERED:
            return NUMBERED[numbered[1]].format(numbered[2])
    return None


def read(folder: str | pathlib.Path) -> Reference:
    """Read what of the authors' data lies in a folder or below it."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise ReferenceDataError(f"{folder} is not a folder; it must hold the authors' released data")
    files = discover(folder)
    if not any(files.values()):
        kinds = "gaussian_heatmap_..., gaussian_s..._Pc..., exp_..."
        raise ReferenceDataError(f"{folder} holds none of the authors' data files; expected are names such as {kinds} (.csv)")
    return Reference(
        grid=_table(_grid_rows(files), ["task", "learner", "noise", "p_c"]),
        transient=_table(_transient_rows(files["errors after a change"]), ["task", "learner", "noise", "p_c", "n"]),
        robustness=_table(_robustness_rows(files["regrets"]), ["task", "learner", "noise", "assumed", "p_c"]),
        first=_table(_first_rows(files["prediction 1"]), ["learner", "measure", "sign", "delta"]),
        second=_table(_second_rows(files["prediction 2"]), ["learner", "measure", "p"]),
        found=tuple(f"{kind}: {_count(matches)}" for kind, matches in files.items()),
    )


def _count(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> str:
    return f"{len(matches)} file{'' if len(matches) == 1 else 's'}" if matches else "none"


def discover(folder: pathlib.Path) -> dict[str, list[tuple[pathlib.Path, re.Match[str]]]]:
    """Files by kind, in any subfolder; of files with the same name, the first by path."""
    files: dict[str, list[tuple[pathlib.Path, re.Match[str]]]] = {kind: [] for kind in PATTERNS}
    seen = set()
    for path in sorted(folder.rglob("*.csv")):
        for kind, pattern in PATTERNS.items():
            match = pattern.fullmatch(path.name)
            if match and path.name not in seen:
                seen.add(path.name)
                files[kind].append((path, match))
                break
    return files


# --- one file ------------------------------------------------------------------------------------------------------------


def read_file(path: pathlib.Path, *columns: str) -> list[dict[str, float]]:
    """Rows of a space-separated file of numbers that has these columns. Missing values are NaN."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReferenceDataError(f"{path} is not a text file; expected are a line of names and lines of numbers") from None
    lines = [line for line in csv.reader(text.splitlines(), delimiter=" ", skipinitialspace=True) if line]
    if len(lines) < 2:
        raise ReferenceDataError(f"{path} is empty; expected are a line of names and lines of numbers")
    header, *body = [[cell for cell in line if cell] for line in lines]
    missing = [name for name in columns if name not in header]
    if missing:
        raise ReferenceDataError(f"{path} lacks the column {', '.join(missing)}; it has {', '.join(header)}")
    return [_numbers(path, i, header, line) for i, line in enumerate(body, start=2)]


def _numbers(path: pathlib.Path, number: int, header: list[str], line: list[str]) -> dict[str, float]:
    if len(line) != len(header):
        raise ReferenceDataError(f"{path}, line {number}: {len(line)} values under {len(header)} names")
    row = {}
    for name, text in zip(header, line, strict=True):
        try:
            row[name] = float(text)
        except ValueError:
            raise ReferenceDataError(f"{path}, line {number}, column {name}: {text!r} is not a number") from None
        if math.isinf(row[name]) or (name.endswith("_se") and row[name] < 0.0):
            raise ReferenceDataError(f"{path}, line {number}, column {name}: {text!r} is not accepted")
    return row


def _curves(path: pathlib.Path) -> Iterator[tuple[dict[str, float], str]]:
    """Each row of a file with a column x, with the names that have a ..._mean and a ..._se."""
    for row in read_file(path, "x"):
        for column in row:
            if column.endswith("_mean"):
                name = column.removesuffix("_mean")
                if f"{name}_se" not in row:
                    raise ReferenceDataError(f"{path} lacks the column {name}_se beside {column}")
                yield row, name


# --- tables --------------------------------------------------------------------------------------------------------------


def _table(rows: Iterator[Row], keys: list[str]) -> pd.DataFrame | None:
    import pandas as pd

    frame = pd.DataFrame(list(rows))
    if frame.empty:
        return None
    double = frame[frame.duplicated(keys)]
    if len(double):
        raise ReferenceDataError(f"the published data holds {double.iloc[0][keys].to_dict()} twice")
    return frame


def _grid_rows(files: dict[str, list[tuple[pathlib.Path, re.Match[str]]]]) -> Iterator[Row]:
    """A file with standard errors stands for the one without."""
    with_errors = {(m["task"], m["learner"]) for _, m in files["steady-state errors with standard errors"]}
    for kind in ("steady-state errors", "steady-state errors with standard errors", "steady-state differences"):
        for path, match in files[kind]:
            who, task = learner_name(match["learner"]), TASKS[match["task"]]
            if who is None or (kind == "steady-state differences" and (match["task"], match["learner"]) in with_errors):
                continue
            mean, error = f"{match['learner']}_meanerror", f"{match['learner']}_diff_se"
            noise = NOISE_COLUMNS[task]
            columns = [noise, "changeprobability", mean] + ([error] if kind.endswith("standard errors") else [])
            for row in read_file(path, *columns):
                place = {"task": task, "learner": who, "noise": row[noise], "p_c": row["changeprobability"]}
                yield place | {"theirs": row[mean], "theirs_se": row.get(error, math.nan), "theirs_n": SEEDS}


def _transient_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        place = {"task": TASKS[match["task"]], "noise": float(match["noise"]), "p_c": float(match["p_c"])}
        for row, name in _curves(path):
            if who := learner_name(name):
                values = {"theirs": row[f"{name}_mean"], "theirs_se": row[f"{name}_se"], "theirs_n": SEEDS}
                yield place | {"learner": who, "n": round(row["x"])} | values


def _robustness_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        place = {"task": TASKS[match["task"]], "noise": float(match["noise"]), "assumed": float(match["p_c"])}
        for row in read_file(path, "x"):
            for name, value in row.items():
                if who := learner_name(name):
                    values = {"theirs": value, "theirs_se": math.nan, "theirs_n": ROBUSTNESS_SEEDS}
                    yield place | {"learner": who, "p_c": row["x"]} | values


def _first_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        for row, name in _curves(path):
            parts = re.fullmatch(r"(\w+)_(Sgm|Ssh)(positive|negative)", name)
            if parts and (who := learner_name(match["learner"])):
                place = {"learner": who, "measure": MEASURES[parts[2]], "sign": SIGNS[parts[3]], "delta": row["x"]}
                yield place | _over_subjects(row, name)


def _over_subjects(row: dict[str, float], name: str) -> Row:
    """Mean and standard error; the number of subjects is (standard deviation / standard error)^2, 1 where there is neither."""
    deviation, error = row.get(f"{name}_std", math.nan), row[f"{name}_se"]
    count = round((deviation / error) ** 2) if error > 0.0 and math.isfinite(deviation) else 1
    return {"theirs": row[f"{name}_mean"], "theirs_se": error, "theirs_n": count}


def _second_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        for row, name in _curves(path):
            parts = re.fullmatch(r"(\w+)_(Sgm|Ssh)", name)
            if parts and (who := learner_name(match["learner"])):
                place = {"learner": who, "measure": MEASURES[parts[2]], "p": row["x"]}
                yield place | _over_subjects(row, name)


# --- tuned values ---------------------------------------------------------------------------------------------------------

TunedKey = tuple[str, str, float, float]  # task, learner, noise, p_c


def tuned_files(folder: str | os.PathLike[str]) -> list[pathlib.Path]:
    """The authors' parameter dictionaries: below the folder, or beside it where it is doc/data_final of their release."""
    folder = pathlib.Path(folder).resolve()
    below = sorted(path for path in folder.rglob("*.jld2") if TUNED_FILE.fullmatch(path.name))
    beside = folder.parent.parent / "src" / "parameterDicts"
    return below or sorted(path for path in beside.glob("*.jld2") if TUNED_FILE.fullmatch(path.name))


def tuned_values(folder: str | os.PathLike[str]) -> dict[TunedKey, float]:
    """(task, learner, sigma or s, p_c) -> the value the authors tuned; empty without their dictionaries."""
    values: dict[TunedKey, float] = {}
    for path in tuned_files(folder):
        match = TUNED_FILE.fullmatch(path.name)
        assert match is not None
        if name := TUNED_NAMES.get(match["learner"]):
            for (noise, p_c), value in read_dictionary(path).items():
                if not 0.0 <= value < (math.inf if "SMiLe" in name else 1.0):
                    raise ReferenceDataError(f"{path}: {value!r} at {noise:g}, p_c {p_c:g} is no tuned value of {name}")
                values[TASKS[match["task"]], name, noise, p_c] = value
    return values


def read_dictionary(path: pathlib.Path) -> dict[tuple[float, float], float]:
    """A Julia dictionary (noise, p_c) -> value in a .jld2 file: HDF5, a reference to an array of pairs or of references."""
    try:
        import h5py
    except ImportError:
        raise ReferenceDataError(
            f"{path}: the authors' tuned values are HDF5 files, which need h5py: pip install 'volatilis[reference]'"
        ) from None
    try:
        with h5py.File(path, "r") as file:
            pairs = file[file["parameterDict"][()]][()].ravel()
            pairs = [file[pair][()] if isinstance(pair, h5py.Reference) else pair for pair in pairs]
            return {(float(pair["first"]["1"]), float(pair["first"]["2"])): float(pair["second"]) for pair in pairs}
    except (OSError, KeyError, ValueError, TypeError, IndexError, AttributeError, RuntimeError) as error:
        raise ReferenceDataError(f"{path} is not a dictionary of tuned values: {error}") from None
