"""Which event files to write: the request, checked before anything is computed."""

from __future__ import annotations

import difflib
import pathlib
import re
from typing import NamedTuple

from volatilis.trials import RunRequest

FORMATS = ("bids", "nilearn", "fsl", "mne")
SCOPES = ("none", "run", "subject", "all")  # from the narrowest to the widest


class EventsRequest(NamedTuple):
    """Learners over a table, and which event files to write. Columns are given by their names in the table.

    run             what to compute
    folder          where the files go; it is made if it does not exist
    formats         some of FORMATS
    onset           the column with the time of the outcome, in seconds from the start of the run
    duration        a column, or a number: seconds
    regressors      computed columns or measures; None: the surprise measures that were computed, with the logarithm of the
                    Bayes Factor Surprise in place of the ratio, and without the predictive, which is minus the Shannon surprise
    centre          within what the mean is subtracted: one of SCOPES; None: as zscore
    zscore          within what the standard deviation becomes 1: one of SCOPES
    run_by          the columns whose values make a run, each as COLUMN or ENTITY=COLUMN; None: those that make the groups
    task            the task's name in the names of the files
    allow_constant  write a regressor that is the same at all events of a run, rather than refuse it
    overwrite       replace files that exist already
    """

    run: RunRequest
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
        """Within what the mean is subtracted: for a z-score within the same scope, unless a narrower one is given."""
        return self.zscore if self.centre is None else self.centre


def check_request(request: EventsRequest) -> None:
    """Refuse what cannot be done."""
    for name in request.formats:
        _one_of("--events-format", name, FORMATS)
    _one_of("--zscore", request.zscore, SCOPES)
    _one_of("--centre", request.centred, SCOPES)
    if not request.formats:
        raise ValueError(f"--events-format names no format; accepted are {', '.join(FORMATS)}")
    if request.zscore != "none" and (request.centred == "none" or SCOPES.index(request.centred) > SCOPES.index(request.zscore)):
        raise ValueError(
            f"--centre {request.centred} contradicts --zscore {request.zscore}, which makes the mean 0 within each "
            f"{request.zscore}; leave --centre out, or name a narrower scope"
        )
    if not re.fullmatch("[A-Za-z0-9]+", request.task):
        raise ValueError(f"--task {request.task!r} is not accepted; BIDS names hold letters and digits only")
    folder = pathlib.Path(request.folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--events {request.folder} is a file; a folder is accepted, and made if it does not exist")


def _one_of(option: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        close = difflib.get_close_matches(value, accepted, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"{option} {value!r} is not accepted; accepted are {', '.join(accepted)}{hint}")
