"""What these trials can show: people are simulated from each model on the very same designs, and fitted with all models.

A design is a person's outcomes, blocks, missing responses and catch trials. Each simulated person has the parameters that were
fitted to the person whose design it is, or parameters drawn from the distribution of all fitted ones (normal on the real line).

    parameter recovery   true values against estimates: correlation, bias, how often the 95 % interval holds the truth
    confusion matrix     P(model is best | true model); its inverse P(true model | best) for true models that are equally likely
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis.behaviour.comparison.criteria import check_models
from volatilis.behaviour.comparison.selection import select
from volatilis.behaviour.fitting.fit import Fit, log_evidence
from volatilis.behaviour.fitting.jobs import Failure, FitOptions, fitter
from volatilis.behaviour.fitting.parameters import WHOLE, Unit, searched, weak
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.recovery.simulation import simulate
from volatilis.behaviour.responses._base import can_be_simulated
from volatilis.behaviour.responses.registry import RESPONSES

if TYPE_CHECKING:
    import xarray as xr

CRITERIA = ("bic", "aic", "laplace", "log_likelihood")  # those that need one fit each
DRAWS = ("fitted", "distribution")
CENTRAL = 1.959963984540054


class Truth(NamedTuple):
    """One simulated person: the model, whose design, and the parameters, on their natural scales and on the real line.

    doubtful   parameters that are themselves at a bound or not identified in the person
    """

    model: int
    person: str
    values: dict[str, float]
    x: np.ndarray
    doubtful: tuple[str, ...] = ()


class RecoveredValue(NamedTuple):
    """A continuous parameter of a simulated person: the truth, the estimate and its interval (NaN where there is none).

    doubtful   whether the truth is a value that was itself at a bound or not identified
    """

    model: str
    parameter: str
    person: str
    true: float
    found: float
    low: float
    high: float
    true_x: float
    found_x: float
    warnings: tuple[str, ...]
    doubtful: bool = False

    @property
    def covered(self) -> float:
        """1 where the interval holds the truth, 0 where not, NaN without an interval."""
        return float(self.low <= self.true <= self.high) if self.low == self.low else np.nan


class Recovery(NamedTuple):
    """The result of fitting simulated people; `recover` returns it.

    criterion    by which a model is the best
    models       labels
    people       in the table
    truths       all simulated people
    evidence     simulated people x models, on the scale of a log evidence; NaN where a fit failed
    parameters   one entry per simulated person and continuous parameter of the true model
    failures     what could not be fitted, people and simulated ones
    """

    criterion: str
    models: tuple[str, ...]
    people: int
    truths: list[Truth]
    evidence: np.ndarray
    parameters: list[RecoveredValue]
    failures: list[Failure]

    def counts(self) -> np.ndarray:
        """How many simulated people of a model (row) have which best model (column)."""
        table = np.zeros((len(self.models), len(self.models)), dtype=np.int64)
        for truth, row in zip(self.truths, self.evidence, strict=True):
            if np.isfinite(row).all():
                table[truth.model, int(row.argmax())] += 1
        return table

    def confusion(self) -> np.ndarray:
        """P(best | true); a row of NaN where nobody could be simulated."""
        counts = self.counts()
        return _shares(counts, counts.sum(axis=1, keepdims=True))

    def inverse(self) -> np.ndarray:
        """P(true | best), rows the true model; true models are equally likely beforehand. NaN where a model never is the best."""
        confusion = np.nan_to_num(self.confusion())
        return _shares(confusion, confusion.sum(axis=0, keepdims=True))

    def group_choice(self) -> tuple[np.ndarray, int, int]:
        """For groups that all follow one model (row): mean protected exceedance probabilities; people in a group, and groups."""
        of = [[i for i, truth in enumerate(self.truths) if truth.model == k] for k in range(len(self.models))]
        size = min([self.people, *(len(members) for members in of if members)])
        protected, most = np.full((len(self.models),) * 2, np.nan), 0
        for k, members in enumerate(of):
            logs = self.evidence[members]
            logs = logs[np.isfinite(logs).all(axis=1)]
            groups = [logs[i : i + size] for i in range(0, len(logs) - size + 1, size)]
            most = max(most, len(groups))
            if groups:
                protected[k] = np.mean([select(group).protected for group in groups], axis=0)
        return protected, size, most


def _shares(values: np.ndarray, total: np.ndarray) -> np.ndarray:
    return np.where(total > 0, values / np.where(total > 0, total, 1), np.nan)


def recover(
    models: Sequence[Model],
    persons: Sequence[Person],
    options: FitOptions = FitOptions(),  # noqa: B008 - a tuple, which nothing changes
    people: int | None = None,
    draw: str = "fitted",
    criterion: str = "bic",
    progress: Callable[[str, float], None] = lambda what, share: None,
) -> Recovery:
    """Simulate people from each model on the trials of real ones, and fit them again: what could these data tell?

    models, persons   as for `compare`
    options           starts, seed, workers and store of the fits
    people            simulated ones per model; None: as many as there are, each design once
    draw              where their parameters come from: "fitted" people, or their "distribution"
    criterion         by which the best model is chosen
    progress          called with what is done and its share

    Returns a Recovery. Raises ValueError for a response model that cannot be simulated, and for words that are not accepted.

    >>> from volatilis.behaviour import FitOptions, Model, Source, read_people, recover
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> people = read_people(Source("people.csv"), model).persons[:2]
    >>> [one.parameter for one in recover([model], people, FitOptions(starts=2, workers=1)).parameters]
    ['m', 'sd', 'm', 'sd']
    """
    check_models(models, persons, least=1)
    for model in models:
        cls = RESPONSES[model.response.name]
        if not can_be_simulated(cls):
            raise ValueError(f"{cls.__name__} cannot be simulated: give it a method draw(self, moment, rng)")
    if criterion not in CRITERIA:
        raise ValueError(f"recovery by {criterion!r} is not known; {', '.join(CRITERIA)} are")
    if draw not in DRAWS:
        raise ValueError(f"draw = {draw!r} is not accepted; {' or '.join(DRAWS)} is")
    unit, prior = models[0].unit(persons), weak if criterion == "laplace" else None
    count = people or len(persons)
    with fitter(options, len(models) * (len(persons) + len(models) * count)) as pool:
        first = pool.fit_people(models, persons, prior=prior, unit=unit, progress=lambda share: progress("people", share))
        if not any(isinstance(one, Fit) for by_model in first for one in by_model):
            reason = next(one.message for by_model in first for one in by_model if isinstance(one, Failure))
            raise ValueError(f"nobody could be fitted: {reason}")
        truths, simulated = _simulated(models, persons, first, unit, count, draw, options.seed)
        advance = partial(progress, "simulated people")
        second = pool.fit_people(models, simulated, prior=prior, unit=unit, progress=advance)
    evidence = np.array(
        [[evidence_of(model, one, criterion) for model, one in zip(models, by_model, strict=True)] for by_model in second]
    ).reshape(len(simulated), len(models))
    estimates = [
        entry for truth, by_model in zip(truths, second, strict=True) for entry in _estimates(truth, by_model[truth.model], unit)
    ]
    failures = [one for by_model in (*first, *second) for one in by_model if isinstance(one, Failure)]
    return Recovery(criterion, tuple(model.label for model in models), len(persons), truths, evidence, estimates, failures)


def evidence_of(model: Model, fit: Fit | Failure, criterion: str) -> float:
    """One fit by a criterion, on the scale of a log evidence."""
    if isinstance(fit, Failure):
        return np.nan
    if criterion == "laplace":
        return log_evidence(fit)
    cost = {"aic": 1.0, "bic": 0.5 * np.log(fit.responses), "log_likelihood": 0.0}[criterion]
    return float(fit.log_likelihood - cost * len(model.free()))


# --- the simulated people ------------------------------------------------------------------------------------------------


def _simulated(
    models: Sequence[Model],
    persons: Sequence[Person],
    fits: Sequence[Sequence[Fit | Failure]],
    unit: Unit,
    people: int,
    draw: str,
    seed: int,
) -> tuple[list[Truth], list[Person]]:
    """Seeds depend on the model's place, the simulated person's number and the seed alone."""
    truths, simulated = [], []
    for k, model in enumerate(models):
        usable = [(person, one) for person, by_model in zip(persons, fits, strict=True) if isinstance(one := by_model[k], Fit)]
        known = [one for _, one in usable]
        for i in range(people if usable else 0):
            person, fitted = usable[i % len(usable)]
            parameters, responses = np.random.SeedSequence([seed, k, i]).spawn(2)
            values, x = (
                (fitted.values, fitted.x) if draw == "fitted" else _drawn(model, known, unit, np.random.default_rng(parameters))
            )
            doubtful = tuple(name for name in fitted.names if about(fitted, name)) if draw == "fitted" else ()
            truths.append(Truth(k, person.name, values, x, doubtful))
            simulated.append(simulate(model, values, person, responses)._replace(name=f"{person.name} as {model.label} {i + 1}"))
    return truths, simulated


def _drawn(model: Model, fits: Sequence[Fit], unit: Unit, rng: np.random.Generator) -> tuple[dict[str, float], np.ndarray]:
    """From the normal distribution on the real line of the fits without warnings; whole numbers from one of these fits."""
    clean = [fit for fit in fits if not fit.warnings]
    if len(clean) < 3:
        raise ValueError(f"{model.label}: {len(clean)} people have a fit without warnings, too few to draw from; --draw fitted")
    free = [searched(name, unit) for name in clean[0].names]
    points = np.array([fit.x for fit in clean])
    spread = np.atleast_2d(np.cov(points, rowvar=False)) if free else np.zeros((0, 0))
    x = rng.multivariate_normal(points.mean(axis=0), spread) if free else np.zeros(0)
    x = np.clip(x, [min(one.low, one.high) for one in free], [max(one.low, one.high) for one in free])
    other = clean[int(rng.integers(len(clean)))]
    whole = {name: other.values[name] for name in other.values if name in WHOLE}
    return whole | {one.name: one.natural(value) for one, value in zip(free, x.tolist(), strict=True)}, x


def _estimates(truth: Truth, fit: Fit | Failure, unit: Unit) -> list[RecoveredValue]:
    if isinstance(fit, Failure):
        return []
    entries = []
    for i, name in enumerate(fit.names):
        one, half = searched(name, unit), CENTRAL * np.sqrt(fit.covariance[i, i])
        ends = [one.natural(fit.x[i] - half), one.natural(fit.x[i] + half)] if half == half else [np.nan, np.nan]
        low, high = sorted(ends) if half == half else ends
        at = (truth.values[name], fit.values[name], low, high, float(truth.x[i]), float(fit.x[i]))
        entries.append(RecoveredValue(fit.label, name, truth.person, *at, about(fit, name), name in truth.doubtful))
    return entries


def about(fit: Fit, name: str) -> tuple[str, ...]:
    """The warnings about one parameter."""
    return tuple(text for text in fit.warnings if text.startswith(f"{name} "))


# --- for pictures -----------------------------------------------------------------------------------------------------


def dataset(recovery: Recovery) -> xr.Dataset:
    """For pictures: the confusion matrix and its inverse, and true and found values side by side."""
    import xarray

    entries = recovery.parameters
    protected, size, _ = recovery.group_choice()
    data: dict[str, Any] = {
        "confusion": (("true", "best"), recovery.confusion()),
        "inverse": (("true", "best"), recovery.inverse()),
        "counts": (("true", "best"), recovery.counts()),
        "protected": (("true", "best"), protected),
    }
    for name, dtype in (
        ("model", str),
        ("parameter", str),
        ("true_value", float),
        ("found", float),
        ("low", float),
        ("high", float),
    ):
        values = [getattr(one, name.removesuffix("_value")) for one in entries]
        data[name] = ("entry", np.array(values, dtype=dtype if entries else float))
    data["flagged"] = ("entry", np.array([bool(one.warnings) for one in entries], dtype=bool))
    return xarray.Dataset(
        data, {"true": list(recovery.models), "best": list(recovery.models)}, {"criterion": recovery.criterion, "group": size}
    )
