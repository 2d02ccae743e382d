"""Our numbers beside the authors' published ones, cell by cell: do they agree within three combined standard errors?

    reference = read("data_final")
    frame = compare_grid(dataset, reference)       # ours, ours_se, theirs, theirs_se, z, agrees
    print(summary(frame))

Ours is always the published variant (SOR with the published resampling, tuning within the published bounds, prediction 1 with
the published selection). Where the authors give no standard error ours stands for both, which the column `se_from` says.
Standard errors are over seeds; with few seeds they are rough themselves, and z with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.paper.published.files import Reference, ReferenceDataError, read

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = [
    "Reference",
    "ReferenceDataError",
    "Summary",
    "compare_all",
    "compare_grid",
    "compare_predictions",
    "compare_robustness",
    "compare_transient",
    "read",
    "summary",
]

CLOSE = 3.0  # combined standard errors
EXACT = "Exact Bayes"
ORIGINALS = ("Nas10", "Nas12")  # whose figures are S1 and S2
DIGITS = 6  # to which an environment of ours and one of theirs have to be the same


class Summary(NamedTuple):
    """How many of the compared numbers agree, for how many our standard error stood for both, and those that do not agree."""

    compared: int
    agreeing: int
    assumed_errors: int
    disagreeing: pd.DataFrame

    def __str__(self) -> str:
        text = f"{self.agreeing} of {self.compared} agree within three combined standard errors"
        return text + (f"; in {self.assumed_errors} our standard error stands for both" if self.assumed_errors else "")


def compare_grid(dataset: xr.Dataset, reference: Reference) -> pd.DataFrame:
    """Delta MSE of every learner, and the error of Exact Bayes, in every cell that both have."""
    theirs = _for_task(reference.grid, dataset, "steady-state errors")
    exact = dataset.error.sel(learner=EXACT)
    values = (dataset.error - exact).where(dataset.learner != EXACT, dataset.error)
    return _joined(_over_seeds(values, ["learner", "noise", "p_c"]), theirs, ["learner", "noise", "p_c"])


def compare_transient(dataset: xr.Dataset, reference: Reference) -> pd.DataFrame:
    """The error n steps after a change."""
    theirs = _for_task(reference.transient, dataset, "errors after a change")
    frame = dataset[["mean", "standard_error"]].to_dataframe().reset_index()
    ours = frame.rename(columns={"mean": "ours", "standard_error": "ours_se"})[
        ["learner", "noise", "p_c", "n", "ours", "ours_se"]
    ]
    return _joined(ours, theirs, ["learner", "noise", "p_c", "n"])


def compare_robustness(dataset: xr.Dataset, reference: Reference) -> pd.DataFrame:
    """The regret against p_c; the authors give no standard errors."""
    theirs = _for_task(reference.robustness, dataset, "regrets")
    ours = _over_seeds(dataset.regret, ["learner", "noise", "assumed", "p_c"])
    return _joined(ours, theirs.assign(theirs_se=np.nan), ["learner", "noise", "assumed", "p_c"])


def compare_predictions(dataset: xr.Dataset, reference: Reference) -> pd.DataFrame:
    """Both surprises of prediction 1 (a dataset with the dimension delta) or 2 (with p), Shannon to base 10 as published."""
    name, keys = ("first", ["sign", "delta"]) if "delta" in dataset.dims else ("second", ["p"])
    theirs = getattr(reference, name)
    if theirs is None:
        raise ReferenceDataError(f"the published data has no files of prediction {1 if name == 'first' else 2}")
    published = dataset.sel(variant="published")
    parts = []
    for measure in ("bayes_factor", "shannon"):
        frame = published[[measure, f"{measure}_se"]].to_dataframe().reset_index()
        frame = frame.rename(columns={measure: "ours", f"{measure}_se": "ours_se"})
        parts.append(frame.assign(measure=measure)[["learner", "measure", *keys, "ours", "ours_se"]])
    import pandas

    return _joined(pandas.concat(parts), theirs, ["learner", "measure", *keys])


def compare_all(datasets: Mapping[str, xr.Dataset], reference: Reference) -> dict[str, pd.DataFrame]:
    """All that both sides have, by the number of the figure; what the authors' folder lacks is left out."""
    frames = {}
    for task, (after, cells, regrets) in {"gaussian": ("2", "3", "8"), "categorical": ("5", "6", "9")}.items():
        for suffix, figure, compare, theirs in (
            (" transient", after, compare_transient, reference.transient),
            ("", cells, compare_grid, reference.grid),
            (" robustness", regrets, compare_robustness, reference.robustness),
        ):
            if f"{task}{suffix}" in datasets and theirs is not None and (theirs.task == task).any():
                frames[figure] = compare(datasets[f"{task}{suffix}"], reference)
    for name, figure, theirs in (("prediction1", "10", reference.first), ("prediction2", "11", reference.second)):
        if name in datasets and theirs is not None:
            frames[figure] = compare_predictions(datasets[name], reference)
    return _originals_apart(frames)


def summary(frame: pd.DataFrame) -> Summary:
    """The numbers that disagree come furthest first."""
    agreeing = int(frame.agrees.sum())
    assumed = int((frame.se_from != "both").sum())
    off = frame[~frame.agrees].sort_values("z", key=abs, ascending=False)
    return Summary(len(frame), agreeing, assumed, off)


# --- joining -------------------------------------------------------------------------------------------------------------


def _for_task(table: pd.DataFrame | None, dataset: xr.Dataset, kind: str) -> pd.DataFrame:
    task = dataset.attrs.get("task", "gaussian")
    if table is None or not (table.task == task).any():
        raise ReferenceDataError(f"the published data has no files of {kind} in the {task} task")
    return table[table.task == task].drop(columns="task")


def _over_seeds(values: xr.DataArray, columns: list[str]) -> pd.DataFrame:
    """Mean and standard error over seeds, as columns beside these coordinates."""
    import xarray as xr

    count = values.notnull().sum("seed")
    both = xr.Dataset({"ours": values.mean("seed"), "ours_se": values.std("seed", ddof=1) / np.sqrt(count)})
    return both.to_dataframe().reset_index()[[*columns, "ours", "ours_se"]]


def _joined(ours: pd.DataFrame, theirs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Match environments by value, then judge. Numbers that one side lacks are left out."""
    matched = [f"_{key}" for key in keys]
    left, right = (_with_rounded(frame, keys) for frame in (ours, theirs))
    frame = left.merge(right[[*matched, "theirs", "theirs_se"]], on=matched, how="inner")
    frame = frame[frame.ours.notna() & frame.theirs.notna()].drop(columns=matched).reset_index(drop=True)
    return _judged(frame)


def _with_rounded(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """p_c' is 0.0041 in their file names and 0.00412 in ours; 0.1 may come as 0.1 or 0.10000000000000002."""
    rounded = {}
    for key in keys:
        rough = 2 if key == "assumed" else DIGITS
        numbers = frame[key].dtype.kind in "fiu"
        rounded[f"_{key}"] = [float(f"{value:.{rough - 1}e}") for value in frame[key]] if numbers else frame[key]
    return frame.assign(**rounded)


def _judged(frame: pd.DataFrame) -> pd.DataFrame:
    theirs_se = frame.theirs_se.where(frame.theirs_se.notna(), frame.ours_se)
    ours_se = frame.ours_se.where(frame.ours_se.notna(), frame.theirs_se)
    source = np.select([frame.theirs_se.isna(), frame.ours_se.isna()], ["ours", "theirs"], "both")
    gap, error = frame.ours - frame.theirs, np.hypot(ours_se, theirs_se)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(gap == 0.0, 0.0, gap / error)
    frame = frame.assign(z=z, agrees=np.abs(z) <= CLOSE, se_from=source)
    return frame[frame.z.notna()].reset_index(drop=True)


def _originals_apart(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Nas10 and Nas12 as originally published have supplementary figures of their own."""
    apart = dict(frames)
    for figure, supplement in (("2", "S1"), ("3", "S2")):
        if figure in frames:
            original = frames[figure].learner.isin(ORIGINALS)
            apart[figure] = frames[figure][~original].reset_index(drop=True)
            if original.any():
                apart[supplement] = frames[figure][original].reset_index(drop=True)
    return apart
