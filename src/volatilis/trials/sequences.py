"""The outcomes of a table as sequences, one per group; and the environment that they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from volatilis.catalogue import parse_family, parse_learner
from volatilis.estimation import Environment, Environments, estimate
from volatilis.estimation.texts import WORD, Texts, filled_in, given_texts, needs_estimate
from volatilis.tables import TableError
from volatilis.trials.engine import BatchResult, Engine
from volatilis.trials.groups import Key
from volatilis.trials.run import RunRequest, run_table

SYMBOLS = ("categorical", "transitions")
READER = "leaky:omega=0.5"  # a learner that costs next to nothing: only what it is given matters


class Sequence(NamedTuple):
    """The outcomes of a group in their order, NaN where one is missing, where blocks begin, and contexts."""

    key: Key
    outcomes: np.ndarray
    resets: np.ndarray | None
    given: np.ndarray | None = None


class _Collector:
    def __init__(self) -> None:
        self.outcomes: dict[Key, list[np.ndarray]] = {}
        self.resets: dict[Key, list[np.ndarray]] = {}
        self.given: dict[Key, list[np.ndarray]] = {}

    def begin(self, engine: Engine) -> None:
        """Nothing to prepare."""

    def see(self, seen: BatchResult) -> None:
        for group in seen.groups:
            self.outcomes.setdefault(group.key, []).append(seen.rows.outcomes[group.rows])
            if seen.rows.resets is not None:
                self.resets.setdefault(group.key, []).append(seen.rows.resets[group.rows])
            if seen.rows.given is not None:
                self.given.setdefault(group.key, []).append(seen.rows.given[group.rows])

    def end(self) -> None:
        """Nothing to write."""


def read_sequences(request: RunRequest) -> list[Sequence]:
    """The outcomes of every group of a table, checked as `volatilis run` checks them."""
    count = len(request.outcome)
    numbers = [[float(i == j) for i in range(count)] for j in range(count)]
    vector = f"multivariate-gaussian:covariance={numbers},mu_0={[0.0] * count},covariance_0={numbers}".replace(" ", "")
    plain = f"categorical:k={len(request.categories)}" if request.categories else "gaussian:sigma=1" if count == 1 else vector
    if request.given:
        plain = f"given:{plain};contexts=100000" if len(request.given) == 1 else f"linear-regression:p={len(request.given)}"
    collector = _Collector()
    reading = request._replace(family=parse_family(plain), learners=(parse_learner(READER),), measures=("mean",), missing="skip")
    try:
        run_table(reading, None, watchers=[collector])
    except TableError as error:
        if request.categories or "is not a number" not in str(error):
            raise
        raise TableError(f"{error}; where outcomes are texts, name them in their order: --categories NAME,NAME") from None
    return [
        Sequence(key, np.concatenate(parts), _joined(collector.resets.get(key)), _joined(collector.given.get(key)))
        for key, parts in collector.outcomes.items()
    ]


def _joined(parts: list[np.ndarray] | None) -> np.ndarray | None:
    return None if parts is None else np.concatenate(parts)


class EnvironmentRequest(NamedTuple):
    """What to estimate.

    trials      the table and its columns
    families    texts, of which what is not given is unknown; none: those that the outcomes suggest
    learner     a text, whose predictions are the evidence; None: next to exact inference
    p_c         None: unknown
    method      "map" or "ml"
    check       whether the one-step errors of the best are checked
    """

    trials: RunRequest
    families: tuple[str, ...] = ()
    learner: str | None = None
    p_c: float | None = None
    method: str = "map"
    check: bool = True


def environment_of(request: EnvironmentRequest) -> Environment | Environments:
    """The environment of a table; of several families all, the best first."""
    trials = request.trials
    sequences = read_sequences(trials)
    if not sequences:
        raise ValueError(f"{trials.table} has no rows, so there is nothing to estimate from")
    outcomes = [one.outcomes for one in sequences]
    absent = sum(int(np.isnan(one).sum()) for one in outcomes)
    if absent and trials.missing == "error":
        raise ValueError(
            f"{absent:,} of {sum(map(np.size, outcomes)):,} outcomes are missing; --missing elapse (time passes) or "
            "--missing skip accepts that"
        )
    suggested = list(request.families) in ([], [WORD])
    if suggested and trials.given:
        raise ValueError("with --given say which family it is, such as --family given:gaussian; auto knows none with contexts")
    texts = given_texts(request.families, outcomes, len(trials.categories))
    families: Any = [_with_counts(one, trials) for one in texts]
    families = WORD if suggested and not trials.categories else families if len(families) > 1 or suggested else families[0]
    return estimate(
        outcomes,
        families,
        given=[one.given for one in sequences] if trials.given else None,
        p_c=request.p_c,
        method=request.method,
        learner=request.learner,
        reset=None if sequences[0].resets is None else [one.resets for one in sequences],
        missing=trials.missing,
        check=request.check,
        workers=trials.workers,
    )


def _with_counts(text: str, trials: RunRequest) -> str:
    """Names of categories and of contexts say how many there are."""
    for name, names, heads in (("k", trials.categories, SYMBOLS), ("contexts", trials.contexts, ("given",))):
        innermost = text.rpartition(":")[0] or text
        if names and any(head in text for head in heads) and f"{name}=" not in text:
            tail = text[len(innermost) :]
            joint = ";" if name == "contexts" else "," if "=" in tail else ":"
            text = f"{text}{joint}{name}={len(names)}"
    return text


def resolved(texts: Texts, reading: Callable[[], RunRequest], say: Callable[[str], None]) -> Texts:
    """The texts with what is `auto` estimated from the table; tells what was found."""
    if not needs_estimate(texts):
        return texts
    estimate = environment_of(EnvironmentRequest(reading(), (texts.family,)))
    say(str(estimate))
    return filled_in(texts, estimate.best if isinstance(estimate, Environments) else estimate)
