"""What is asked of event files, checked before anything is computed."""

from __future__ import annotations

import difflib
import pathlib
import re
from typing import NamedTuple

FORMATS = ("bids", "nilearn", "fsl", "mne")
SCOPES = ("none", "run", "subject", "all")  # from the narrowest to the widest


class Plan(NamedTuple):
    """Which event files to write. Columns are given by the file's own names.

    folder          where the files go; it is made if it is not there
    formats         some of FORMATS
    onset           the column with the time of the outcome, in seconds from the start of the run
    duration        a column, or a number: seconds
    regressors      computed columns or measures; None: the surprise measures that were computed, the logarithm of the Bayes
                    Factor Surprise in place of the ratio, the predictive left out since it is minus the Shannon surprise
    centre          within what the mean is taken away: one of SCOPES; None: as zscore, none if that is none
    zscore          within what the standard deviation becomes 1: one of SCOPES
    run_by          the columns whose values make a run, each as COLUMN or ENTITY=COLUMN; None: those that make the groups
    task            the task's name in the files' names
    allow_constant  write a regressor that is the same at all events of a run, rather than refuse it
    overwrite       replace files that are there already
    """

    folder: str
    formats: tuple[str, ...] = ("bids",)
    onset: str = "onset"
    duration: str = "duration"
    regressors: tuple[str, ...] | None = None
    centre: str | None = None
    zscore: str = "none"
    run_by: tuple[str, ...] | None = None
    task: str = "volatile"
    allow_constant: bool = False
    overwrite: bool = False

    @property
    def centred(self) -> str:
        """Within what the mean is taken away: a z-score has mean 0 within the same, unless something narrower is named."""
        return self.zscore if self.centre is None else self.centre


def check_plan(plan: Plan) -> None:
    """Say what cannot be done."""
    for name in plan.formats:
        _one_of("--events-format", name, FORMATS)
    _one_of("--zscore", plan.zscore, SCOPES)
    _one_of("--centre", plan.centred, SCOPES)
    if not plan.formats:
        raise ValueError(f"--events-format names no format; there are {', '.join(FORMATS)}")
    if plan.zscore != "none" and (plan.centred == "none" or SCOPES.index(plan.centred) > SCOPES.index(plan.zscore)):
        raise ValueError(
            f"--centre {plan.centred} contradicts --zscore {plan.zscore}, which makes the mean 0 within each {plan.zscore}; "
            "leave --centre away, or name something narrower"
        )
    if not re.fullmatch("[A-Za-z0-9]+", plan.task):
        raise ValueError(f"--task {plan.task!r} is not accepted; BIDS names hold letters and digits only")
    folder = pathlib.Path(plan.folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--events {plan.folder} is a file; a folder is accepted, made if it is not there")


def _one_of(option: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        close = difflib.get_close_matches(value, accepted, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"{option} {value!r} is not accepted; there are {', '.join(accepted)}{hint}")
