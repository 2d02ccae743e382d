"""The outcomes of a table as sequences, one per group; and the environment that they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from volatilis.catalogue import parse_family, parse_learner
from volatilis.estimation import Environment, Environments, estimate
from volatilis.estimation.texts import Texts, filled_in, given_texts, needs_estimate, without_auto
from volatilis.trials.engine import Engine, Seen
from volatilis.trials.groups import Key
from volatilis.trials.run import RunRequest, run_table

READER = "leaky:omega=0.5"  # a learner that costs next to nothing: only what it is given matters


class Sequence(NamedTuple):
    """The outcomes of a group in their order, NaN where one is missing, and where blocks begin."""

    key: Key
    outcomes: np.ndarray
    resets: np.ndarray | None


class _Collector:
    def __init__(self) -> None:
        self.outcomes: dict[Key, list[np.ndarray]] = {}
        self.resets: dict[Key, list[np.ndarray]] = {}

    def begin(self, engine: Engine) -> None:
        """Nothing to prepare."""

    def see(self, seen: Seen) -> None:
        for group in seen.groups:
            self.outcomes.setdefault(group.key, []).append(seen.rows.outcomes[group.rows])
            if seen.rows.resets is not None:
                self.resets.setdefault(group.key, []).append(seen.rows.resets[group.rows])

    def end(self) -> None:
        """Nothing to write."""


def read_sequences(request: RunRequest) -> list[Sequence]:
    """The outcomes of every group of a table, checked as `volatilis run` checks them."""
    count = len(request.outcome)
    numbers = [[float(i == j) for i in range(count)] for j in range(count)]
    vector = f"multivariate-gaussian:covariance={numbers},mu_0={[0.0] * count},covariance_0={numbers}".replace(" ", "")
    plain = f"categorical:k={len(request.categories)}" if request.categories else "gaussian:sigma=1" if count == 1 else vector
    collector = _Collector()
    reading = request._replace(family=parse_family(plain), learners=(parse_learner(READER),), measures=("mean",), missing="skip")
    run_table(reading, None, watchers=[collector])
    return [
        Sequence(key, np.concatenate(parts), np.concatenate(collector.resets[key]) if key in collector.resets else None)
        for key, parts in collector.outcomes.items()
    ]


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
    values = np.concatenate([np.ravel(one.outcomes) for one in sequences])
    families: Any = [_with_categories(without_auto(one), trials) for one in given_texts(request.families, values)]
    return estimate(
        [one.outcomes for one in sequences],
        families if len(families) > 1 else families[0],
        p_c=request.p_c,
        method=request.method,
        learner=request.learner,
        reset=None if trials.reset is None else [one.resets for one in sequences],
        missing=trials.missing,
        check=request.check,
        workers=trials.workers,
    )


def _with_categories(text: str, trials: RunRequest) -> str:
    """Names of categories say how many there are."""
    named = trials.categories and text.partition(":")[0] == "categorical" and "k=" not in text
    return f"{text}{',' if ':' in text else ':'}k={len(trials.categories)}" if named else text


def resolved(texts: Texts, reading: Callable[[], RunRequest], say: Callable[[str], None]) -> Texts:
    """The texts with what is `auto` estimated from the table; tells what was found."""
    if not needs_estimate(texts):
        return texts
    found = environment_of(EnvironmentRequest(reading(), (texts.family,)))
    say(str(found))
    return filled_in(texts, found.best if isinstance(found, Environments) else found)
