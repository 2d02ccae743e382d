"""`volatilis recover`: from a table of trials to what such trials can tell, in tables, in a picture and in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._core.terminal import console_of, plain, table
from volatilis.behaviour.comparison.request import NAMES, failure_texts
from volatilis.behaviour.doubts import people_of
from volatilis.behaviour.fitting.jobs import FitOptions
from volatilis.behaviour.models import models_of
from volatilis.behaviour.people import Source
from volatilis.behaviour.recovery.conclusions import conclusions, recovered, thresholds
from volatilis.behaviour.recovery.recover import Recovery, dataset, recover
from volatilis.tables import save_picture, write_columns

if TYPE_CHECKING:
    from rich.table import Table


class RecoverRequest(NamedTuple):
    """What is simulated and fitted, and how: the request of `recover_table`, as `volatilis recover` makes it.

    source           the table of people's trials
    family           what is observed, such as gaussian:sigma=10
    learners         such as ("varsmile:m=free", "leaky:omega=free")
    response         how responses arise, such as gaussian:sd=free
    people           simulated people per learner; None: as many as the table has
    draw             their parameters: fitted, to the person whose trials they get; or drawn from the distribution of all fits
    criterion        by which a model is the best: one of `recover.CRITERIA`
    options          starts, seed, where fits are made, and a folder that keeps finished ones
    own              Python files with families, learners and response models of the user's own
    """

    source: Source
    family: str
    learners: tuple[str, ...]
    response: str = "gaussian:sd=free"
    people: int | None = None
    draw: str = "fitted"
    criterion: str = "bic"
    options: FitOptions = FitOptions()
    own: tuple[str, ...] = ()


def recover_table(
    request: RecoverRequest,
    progress: Callable[[str, float], None] = lambda what, share: None,
    notify: Callable[[str], None] = lambda text: None,
) -> Recovery:
    """Read, simulate and fit, as `volatilis recover` does.

    request    what is simulated and fitted, and how
    progress   called with what is done and its share
    notify     called with a line for each person who is left out

    Returns a Recovery. Raises TableError for a table that cannot be used, ValueError for what is not accepted.

    >>> from volatilis.behaviour import FitOptions, RecoverRequest, Source, recover_table
    >>> family, options = "gaussian:sigma=10,mu_0=150,sigma_0=50", FitOptions(starts=1, workers=1)
    >>> request = RecoverRequest(Source("people.csv"), family, ("varsmile:m=free",), people=2, options=options)
    >>> len(recover_table(request).truths)
    2
    """
    models = models_of(request.family, request.learners, request.response, request.own)
    persons = people_of(request.source, models, notify).persons
    return recover(models, persons, request.options, request.people, request.draw, request.criterion, progress)


def write(recovery: Recovery, out: str | None = None, confusion: str | None = None, plot: str | None = None) -> None:
    """True and found values in `out`, pairs of models in `confusion`, a picture in `plot`; each file is whole or not there."""
    if plot is not None:
        from volatilis.plots import recovery as picture

        save_picture(picture, dataset(recovery), plot)
    if confusion is not None:
        write_columns(confusion, confusion_columns(recovery))
    if out is not None:
        write_columns(out, parameter_columns(recovery))


def parameter_columns(recovery: Recovery) -> dict[str, list[Any]]:
    """One row per simulated person and parameter of the model that is true."""
    rows = recovery.parameters
    columns = {
        name: [getattr(one, name) for one in rows] for name in ("model", "person", "parameter", "true", "found", "low", "high")
    }
    return columns | {"warnings": ["; ".join(one.warnings) for one in rows]}


def confusion_columns(recovery: Recovery) -> dict[str, list[Any]]:
    """One row per pair of models."""
    counts, confusion, inverse = recovery.counts(), recovery.confusion(), recovery.inverse()
    pairs = [(k, j) for k in range(len(recovery.models)) for j in range(len(recovery.models))]
    return {
        "true": [recovery.models[k] for k, _ in pairs],
        "best": [recovery.models[j] for _, j in pairs],
        "people": [int(counts[pair]) for pair in pairs],
        "share": [float(confusion[pair]) for pair in pairs],
        "true_given_best": [float(inverse[pair]) for pair in pairs],
    }


def show(recovery: Recovery, stderr: bool = False) -> None:
    """Print the confusion matrix, a line per parameter, and what can be concluded."""
    console = console_of(stderr)
    title = f"Simulated people on the designs of {recovery.people} people, the best model by {NAMES[recovery.criterion]}"
    console.print(title, soft_wrap=True)
    console.print(_confusion_table(recovery))
    if recovery.parameters:
        console.print(_parameter_table(recovery))
    for text in (*(f"- {text}" for text in conclusions(recovery)), "", thresholds(), *failure_texts(recovery.failures)):
        console.print(plain(text), soft_wrap=True)


def _confusion_table(recovery: Recovery) -> Table:
    counts, confusion = recovery.counts(), recovery.confusion()
    rows = [
        (model, *("" if np.isnan(share) else f"{share:.2f}" for share in confusion[k]), str(int(counts[k].sum())))
        for k, model in enumerate(recovery.models)
    ]
    return table("l" + "r" * (len(rows) + 1), ("true \\ best", *recovery.models, "people"), rows)


def _parameter_table(recovery: Recovery) -> Table:
    rows = [
        (
            f"{one.model} {one.parameter}",
            *("" if np.isnan(v) else f"{v:.2f}" for v in (one.correlation, one.rank_correlation, one.bias, one.coverage)),
            str(one.flagged),
        )
        for one in recovered(recovery)
    ]
    return table("lrrrrr", ("parameter", "correlation", "rank", "bias / spread", "coverage", "flagged"), rows)
