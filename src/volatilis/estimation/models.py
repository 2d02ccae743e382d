"""A model on observations: its one-step errors, their sums, and its evidence.

The predictions are those of nearly exact inference (`Merge` with 20 hypotheses), whatever learner is used: a learner that
approximates, or a person who does, has errors of another law on data from the model, and would be blamed for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.fields import given_fields
from volatilis.estimation import laws
from volatilis.estimation.errors import Errors, one_step_errors
from volatilis.estimation.laws import Deviation, Sums, added, deviations, sums_of
from volatilis.families._base import Family
from volatilis.families._kinds import RECORDS
from volatilis.learners._base import Learner
from volatilis.learners.merge import Merge
from volatilis.learners.message_passing import MessagePassing
from volatilis.running.drivers import OBSERVE, RESET
from volatilis.surprise import log_predictive

HYPOTHESES = 20
P_CS = (0.003, 0.01, 0.03, 0.1, 0.3)  # where p_c is not known, the one of largest evidence
CHANCE = 30.0  # nats: sequences that are less probable to be the same by chance are one
MOST = 20_000  # observations that are looked at: more would not say more


class Sequences(NamedTuple):
    """Sequences with what happens at each of their steps."""

    values: list[np.ndarray]
    events: list[np.ndarray]

    def observed(self) -> list[np.ndarray]:
        return [y[e % RESET == OBSERVE] for y, e in zip(self.values, self.events, strict=True)]

    def only(self, chosen: Sequence[int]) -> Sequences:
        return Sequences([self.values[i] for i in chosen], [self.events[i] for i in chosen])


class Measured(NamedTuple):
    """One model on the data."""

    family: Family
    p_c: float
    sums: list[Sums]
    log_evidence: float
    errors: tuple[np.ndarray, ...]

    def total(self) -> Sums:
        return added(self.sums)

    def only(self, chosen: Sequence[int]) -> Measured:
        """Some of the sequences."""
        return self._replace(sums=[self.sums[i] for i in chosen], errors=tuple(self.errors[i] for i in chosen))

    def deviations(self, alpha: float) -> list[Deviation]:
        return deviations(self.total(), alpha)


def first_of(sequences: Sequence[np.ndarray], events: Sequence[np.ndarray], most: int = MOST) -> Sequences:
    """The beginnings of all sequences, or of the first thousand: as many observations as are looked at."""
    some = list(zip(sequences, events, strict=True))[:1000]
    length = max(most // max(len(some), 1), laws.FEWEST)
    short = sum(max(length - len(e), 0) for _, e in some)  # what short ones leave goes to long ones
    length += short // max(sum(len(e) > length for _, e in some), 1)
    return Sequences([y[:length] for y, _ in some], [e[:length] for _, e in some])


def first_alike(sequences: Sequence[np.ndarray], events: Sequence[np.ndarray]) -> list[int]:
    """For each sequence the place of the first one that is the same, such as the outcomes that everybody saw: they count once.

    Sequences that may be the same by chance, such as short ones of two symbols, count each.
    """
    places: dict[object, int] = {}
    first = list(range(len(sequences)))
    for i, (y, e) in enumerate(zip(sequences, events, strict=True)):
        key = (len(e), y[:MOST].tobytes(), e[:MOST].tobytes())
        if key in places:
            first[i] = places[key]
        elif not _may_come_again(y[e % RESET == OBSERVE][:MOST]):
            places[key] = i
    return first


def _may_come_again(observed: np.ndarray) -> bool:
    """Whether another sequence like this one, in another order, equals it with a probability that counts."""
    _, counts = np.unique(observed, return_counts=True, axis=0)
    return bool(-len(observed) * np.log(np.sum((counts / max(len(observed), 1)) ** 2)) < CHANCE) if counts.size else True


def reference(family: Family, p_c: float) -> Learner:
    """The learner whose predictions are checked: next to exact, for every family."""
    if family.lacks("merge", "dissimilarity"):
        return MessagePassing(family, p_c, HYPOTHESES)
    return Merge(family, p_c, HYPOTHESES)


def as_rows(family: Family, data: Sequences) -> tuple[Family, Sequences]:
    """A family whose context is the past as one of rows, and its observations as these; any other as it is."""
    rows = [family.without_past(y, e) for y, e in zip(*data, strict=True)]
    return (rows[0][0], Sequences([one[1] for one in rows], [one[2] for one in rows])) if rows else (family, data)


def best(family: Family, p_cs: Sequence[float], data: Sequences) -> Measured:
    """With the change probability of largest evidence."""
    inner, rows = as_rows(family, data)
    runs = {p_c: _errors(inner, p_c, rows) for p_c in dict.fromkeys(p_cs)}
    evidences = {p_c: float(np.nansum(log_predictive(run.log_p, run.log_p_0, p_c))) for p_c, run in runs.items()}
    p_c = max(evidences, key=lambda one: evidences[one])
    ends = np.cumsum([len(e) for e in rows.events])[:-1]
    errors, rates = np.split(runs[p_c].u, ends), np.split(runs[p_c].gamma, ends)
    sums = [sums_of(u, rate, e >= RESET, p_c) for u, rate, e in zip(errors, rates, rows.events, strict=True)]
    return Measured(family, p_c, sums, evidences[p_c], tuple(errors))


def _errors(family: Family, p_c: float, data: Sequences) -> Errors:
    """Of all sequences behind each other, each from a start of its own: one call, since there may be many short ones."""
    events = [e.copy() for e in data.events]
    for one in events:
        one[:1] = one[:1] % RESET + RESET
    return one_step_errors(reference(family, p_c), np.concatenate(data.values), np.concatenate(events))


def described(family: Family, other: Family | None = None) -> str:
    """A family as the command line has it; with another one of its kind only the parameters that differ from it."""
    fields = given_fields(family)
    before = given_fields(other) if other is not None and type(other) is type(family) else {}
    inner = [described(value, before.get(name)) for name, value in fields.items() if type(value) in RECORDS]
    plain = {name: value for name, value in fields.items() if type(value) not in RECORDS}
    changed = [name for name, value in plain.items() if name not in before or not np.array_equal(before[name], value)]
    parameters = ",".join(f"{name}={_short(fields[name])}" for name in changed)
    shown = ";".join(filter(None, [*inner, parameters]))
    return shown if before else f"{RECORDS[type(family)].name}:{shown}".rstrip(":")


def _short(value: object) -> str:
    if isinstance(value, (float, int, np.floating)):
        return f"{float(value):.3g}"
    return str(np.round(np.asarray(value), 3).tolist()).replace(" ", "") if isinstance(value, np.ndarray) else str(value)
