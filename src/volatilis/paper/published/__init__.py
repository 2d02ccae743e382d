"""Our numbers beside all of the authors' published ones: does each lie where chance would leave it?

    reference = read("release")                                     # the authors' release, or its folder doc/data_final
    compared = compare_all(datasets, reference, replications)       # {"3": Compared, ...}
    print(compared["3"])

Ours is the published procedure (SOR with the published resampling, their tuned values, the argmin of their search in Figures 8
and 9, their selection of trials). A published number is the mean of theirs_n seeds, subjects or groups of seeds; ours of ours_n.
With s the standard deviation over ours, their difference has the standard error

    s sqrt(1 / ours_n + 1 / theirs_n)      with ours_n - 1 degrees of freedom,

and agrees where Student's t of it lies within the 99.73 % interval ("three sigma"). The authors' own standard errors are shown
but not used: they are of ten or fewer seeds, take changes of one seed for independent (errata 22), or are missing.
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
    "Compared",
    "Reference",
    "ReferenceDataError",
    "compare_all",
    "compare_grid",
    "compare_predictions",
    "compare_robustness",
    "compare_transient",
    "read",
]

LEVEL = 0.0027  # outside three standard deviations of a normal distribution
EXACT = "Exact Bayes"
ORIGINALS = ("Nas10", "Nas12")
SUPPLEMENTS = {"2": "S1", "3": "S2"}  # the figures of these
ROUNDING = 1e-12  # of sums of errors
FEW = 5  # samples: fewer tell no spread
HEAVY_TAILED = ("MP1", "MP10", "MP20", "Nas10")  # a change missed, or taken for one, may shift them for very long
DIGITS = 6  # to which an environment of ours and one of theirs have to be the same
FIGURES = {"gaussian": ("2", "3", "8"), "categorical": ("5", "6", "9")}


class Compared(NamedTuple):
    """The numbers of a figure that could be compared, how many were published, and why others could not: (how many, why)."""

    frame: pd.DataFrame
    published: int
    left_out: tuple[tuple[int, str], ...]

    @property
    def agreeing(self) -> int:
        return int(self.frame.agrees.sum())

    @property
    def beyond(self) -> pd.DataFrame:
        """Those that do not agree, furthest first, with what is known of the reason."""
        off = self.frame[~self.frame.agrees].sort_values("z", key=abs, ascending=False)
        return off.assign(why=[self._why(row) for _, row in off.iterrows()])

    def _why(self, row: pd.Series) -> str:
        """What is known of the reason; where nothing is it is called unexplained."""
        place = [name for name in ("noise", "assumed", "p_c", "n") if name in row.index]
        same = self.frame[(self.frame[place] == row[place]).all(axis=1) & (self.frame.learner == EXACT)]
        if row.learner != EXACT and len(same) and not same.agrees.iloc[0]:
            return "Exact Bayes deviates there too: this comes from the authors' ten sequences, which all learners share"
        if row.ours_n < FEW:
            return f"the spread is of {int(row.ours_n)} samples only: --replications 30 gives a better one"
        if str(row.learner) in HEAVY_TAILED:
            return "heavy tails: a few seeds deviate far, so the spread over seeds says little about the error of the mean"
        return "unexplained"

    def __str__(self) -> str:
        text = f"{self.agreeing} of {len(self.frame)} published values lie within their 99.73 % interval"
        return text + "".join(f"; {count} not compared: {why}" for count, why in self.left_out)


# --- one kind of number at a time ----------------------------------------------------------------------------------------


def compare_grid(dataset: xr.Dataset, reference: Reference) -> Compared:
    """Delta MSE of every learner, and the error of Exact Bayes, in every cell."""
    exact = dataset.error.sel(learner=EXACT)
    values = (dataset.error - exact).where(dataset.learner != EXACT, dataset.error)
    ours = _over(values, "seed", ["learner", "noise", "p_c"])
    return _joined(ours, _for_task(reference.grid, dataset, "steady-state errors"), ["learner", "noise", "p_c"])


def compare_transient(dataset: xr.Dataset, reference: Reference) -> Compared:
    """The error n steps after a change; all changes of a seed are one sample."""
    ours = _over(dataset.mean_by_seed, "seed", ["learner", "noise", "p_c", "n"])
    return _joined(ours, _for_task(reference.transient, dataset, "errors after a change"), ["learner", "noise", "p_c", "n"])


def compare_robustness(dataset: xr.Dataset, reference: Reference) -> Compared:
    """The regret against p_c. With groups of seeds a sample is a group with its own search: the authors had one group."""
    published = [name for name in dataset.learner.values if str(name).endswith(" (published)")]
    regret = dataset.regret.sel(learner=published)
    theirs = _for_task(reference.robustness, dataset, "regrets")
    names = [str(name) if str(name).startswith("SOR") else str(name).removesuffix(" (published)") for name in published]
    over = "group" if "group" in regret.dims else "seed"
    ours = _over(regret.assign_coords(learner=names), over, ["learner", "noise", "assumed", "p_c"])
    return _joined(ours, theirs.assign(theirs_n=1) if over == "group" else theirs, ["learner", "noise", "assumed", "p_c"])


def compare_predictions(dataset: xr.Dataset, reference: Reference) -> Compared:
    """Both surprises of prediction 1 (a dataset with the dimension delta) or 2 (with p), Shannon to base 10 as published."""
    import pandas

    name, keys = ("first", ["sign", "delta"]) if "delta" in dataset.dims else ("second", ["p"])
    theirs = getattr(reference, name)
    if theirs is None:
        raise ReferenceDataError(f"the published data has no files of prediction {1 if name == 'first' else 2}")
    published, columns, parts = dataset.sel(variant="published"), ["learner", *keys], []
    for measure in ("bayes_factor", "shannon"):
        parts.append(_over(published[f"{measure}_by_subject"], "subject", columns).assign(measure=measure))
    return _joined(pandas.concat(parts), theirs, ["learner", "measure", *keys])


def compare_all(
    datasets: Mapping[str, xr.Dataset], reference: Reference, replications: Mapping[str, xr.Dataset] | None = None
) -> dict[str, Compared]:
    """All that both sides have, by the number of the figure; from the replications where there are some."""
    data = {**datasets, **(replications or {})}
    compared = {}
    for task, (after, cells, regrets) in FIGURES.items():
        for suffix, figure, compare, kind in (
            (" transient", after, compare_transient, "transient"),
            ("", cells, compare_grid, "grid"),
            (" robustness", regrets, compare_robustness, "robustness"),
        ):
            theirs = getattr(reference, kind)
            if f"{task}{suffix}" in datasets and theirs is not None and (theirs.task == task).any():
                for key, part in _figures(figure, theirs):
                    compared[key] = compare(data[f"{task}{suffix}"], reference._replace(**{kind: part}))
    for name, figure, theirs in (("prediction1", "10", reference.first), ("prediction2", "11", reference.second)):
        if name in datasets and theirs is not None:
            compared[figure] = compare_predictions(data[name], reference)
    return compared


def _figures(figure: str, theirs: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Nas10 and Nas12 as originally published have supplementary figures of their own."""
    original = theirs.learner.isin(ORIGINALS)
    if figure not in SUPPLEMENTS or not original.any():
        return [(figure, theirs)]
    return [(figure, theirs[~original]), (SUPPLEMENTS[figure], theirs[original])]


# --- joining -------------------------------------------------------------------------------------------------------------


def _for_task(table: pd.DataFrame | None, dataset: xr.Dataset, kind: str) -> pd.DataFrame:
    task = dataset.attrs.get("task", "gaussian")
    if table is None or not (table.task == task).any():
        raise ReferenceDataError(f"the published data has no files of {kind} in the {task} task")
    return table[table.task == task].drop(columns="task")


def _over(values: xr.DataArray, samples: str, columns: list[str]) -> pd.DataFrame:
    """Mean, standard deviation and number of the samples, as columns beside these coordinates."""
    import xarray as xr

    count = values.notnull().sum(samples)
    spread = values.std(samples, ddof=1).where(count > 1)
    table = xr.Dataset({"ours": values.mean(samples), "spread": spread, "ours_n": count})
    return table.to_dataframe().reset_index()[[*columns, "ours", "spread", "ours_n"]]


def _joined(ours: pd.DataFrame, theirs: pd.DataFrame, keys: list[str]) -> Compared:
    """Match environments by value, then judge; what one side lacks is counted."""
    matched = [f"_{key}" for key in keys]
    left, right = (_with_rounded(frame, keys) for frame in (ours, theirs))
    frame = right[[*keys, *matched, "theirs", "theirs_se", "theirs_n"]].merge(
        left[[*matched, "ours", "spread", "ours_n"]], on=matched, how="left"
    )
    reasons = {
        "the authors had no such trial": frame.theirs.isna(),
        "not simulated at this size": frame.theirs.notna() & frame.ours_n.isna(),
        "no such trial here": frame.theirs.notna() & (frame.ours_n == 0),
        "one sample tells no spread": frame.theirs.notna() & (frame.ours_n == 1),
    }
    left_out = tuple((int(which.sum()), why) for why, which in reasons.items() if which.any())
    usable = frame[frame.theirs.notna() & (frame.ours_n > 1)].drop(columns=matched).reset_index(drop=True)
    return Compared(_judged(usable), len(frame), left_out)


def _with_rounded(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """p_c' is 0.0041 in their file names and 0.00412 in ours; 0.1 may come as 0.1 or 0.10000000000000002."""
    rounded = {}
    for key in keys:
        rough = 2 if key == "assumed" else DIGITS
        numbers = frame[key].dtype.kind in "fiu"
        rounded[f"_{key}"] = [float(f"{value:.{rough - 1}e}") for value in frame[key]] if numbers else frame[key]
    return frame.assign(**rounded)


def _judged(frame: pd.DataFrame) -> pd.DataFrame:
    from scipy.special import stdtrit

    gap, freedom = frame.ours - frame.theirs, frame.ours_n - 1.0
    error = frame.spread * np.sqrt(1.0 / frame.ours_n + 1.0 / frame.theirs_n)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(np.abs(gap) <= ROUNDING, 0.0, gap / error)  # 0 by construction: Exact Bayes at p_c' in Figures 8 and 9
    limit = stdtrit(freedom, 1.0 - LEVEL / 2.0)
    return frame.assign(error=error, z=z, limit=limit, agrees=np.abs(z) <= limit)
