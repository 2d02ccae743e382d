"""The authors' released data (doc/data_final of their repository, or part of it): found by file name, read and checked.

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
TUNED_FILE = "gaussian_tuned_parameters.csv"
TUNED_NAMES = {
    "varsmile": "VarSMiLe",
    "smile": "SMiLe",
    "leaky": "Leaky",
    "nas10star": "Nas10*",
    "nas12star": "Nas12*",
    "nas10": "Nas10",
    "nas12": "Nas12",
}
SIGNS = {"positive": 1, "negative": -1}
MEASURES = {"Sgm": "bayes_factor", "Ssh": "shannon"}


class ReferenceDataError(ValueError):
    """The authors' data is not where it was said to be, or a file of it cannot be understood."""


class Reference(NamedTuple):
    """The published numbers as tables, None where there is no file; `found` says in words which files there are."""

    grid: pd.DataFrame | None  # task, learner, noise, p_c, theirs, theirs_se
    transient: pd.DataFrame | None  # task, learner, noise, p_c, n, theirs, theirs_se
    robustness: pd.DataFrame | None  # task, learner, noise, assumed, p_c, theirs
    first: pd.DataFrame | None  # learner, measure, sign, delta, theirs, theirs_se
    second: pd.DataFrame | None  # learner, measure, p, theirs, theirs_se
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
    found: dict[str, list[tuple[pathlib.Path, re.Match[str]]]] = {kind: [] for kind in PATTERNS}
    seen = set()
    for path in sorted(folder.rglob("*.csv")):
        for kind, pattern in PATTERNS.items():
            match = pattern.fullmatch(path.name)
            if match and path.name not in seen:
                seen.add(path.name)
                found[kind].append((path, match))
                break
    return found


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
                yield place | {"theirs": row[mean], "theirs_se": row.get(error, math.nan)}


def _transient_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        place = {"task": TASKS[match["task"]], "noise": float(match["noise"]), "p_c": float(match["p_c"])}
        for row, name in _curves(path):
            if who := learner_name(name):
                values = {"theirs": row[f"{name}_mean"], "theirs_se": row[f"{name}_se"]}
                yield place | {"learner": who, "n": round(row["x"])} | values


def _robustness_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        place = {"task": TASKS[match["task"]], "noise": float(match["noise"]), "assumed": float(match["p_c"])}
        for row in read_file(path, "x"):
            for name, value in row.items():
                if who := learner_name(name):
                    yield place | {"learner": who, "p_c": row["x"], "theirs": value}


def _first_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        for row, name in _curves(path):
            parts = re.fullmatch(r"(\w+)_(Sgm|Ssh)(positive|negative)", name)
            if parts and (who := learner_name(match["learner"])):
                place = {"learner": who, "measure": MEASURES[parts[2]], "sign": SIGNS[parts[3]], "delta": row["x"]}
                yield place | {"theirs": row[f"{name}_mean"], "theirs_se": row[f"{name}_se"]}


def _second_rows(matches: list[tuple[pathlib.Path, re.Match[str]]]) -> Iterator[Row]:
    for path, match in matches:
        for row, name in _curves(path):
            parts = re.fullmatch(r"(\w+)_(Sgm|Ssh)", name)
            if parts and (who := learner_name(match["learner"])):
                place = {"learner": who, "measure": MEASURES[parts[2]], "p": row["x"]}
                yield place | {"theirs": row[f"{name}_mean"], "theirs_se": row[f"{name}_se"]}


# --- tuned values ---------------------------------------------------------------------------------------------------------


def has_tuned_values(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has the table of the authors' tuned values; their release itself has none."""
    return (pathlib.Path(folder) / TUNED_FILE).is_file()


def tuned_values(folder: str | os.PathLike[str]) -> dict[tuple[str, float, float], float]:
    """(learner, sigma, p_c) -> the value the authors tuned."""
    path = pathlib.Path(folder) / TUNED_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; a reference folder holds it beside heatmaps/ and afterswitch/")
    values: dict[tuple[str, float, float], float] = {}
    with path.open(newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines), start=2):
            try:
                name = TUNED_NAMES[row["learner"]]
                value = float(row["value"])
                if not 0.0 < value < (1.0 if name != "VarSMiLe" and name != "SMiLe" else math.inf):
                    raise ValueError(f"value {value}")
                values[name, float(row["sigma"]), float(row["p_c"])] = value
            except (KeyError, ValueError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: {error} in {row}; learner,sigma,p_c,value is accepted") from None
    return values
