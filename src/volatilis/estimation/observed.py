"""Observations as they were given, as each family has them, and which of them count where families are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.estimation.environment import kind_of
from volatilis.estimation.evidence import Data, joined
from volatilis.estimation.models import first_alike
from volatilis.estimation.texts import WORD, candidates, without_auto
from volatilis.estimation.unknowns import Unknowns, unknowns_of
from volatilis.families._observations import as_array
from volatilis.running.arguments import step_events
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET
from volatilis.running.pieces import ReadoutPieces

SHORTEST = 3  # rows of an array that are sequences, not observations of one


def is_auto(family: object) -> bool:
    """Whether the observations are to say which families are compared."""
    return isinstance(family, str) and family.strip() == WORD


def families_of(ys: object, family: Any, given: object) -> list[Any]:
    """Those of a list; of `auto` those that the observations suggest."""
    if is_auto(family):
        if given is not None:
            raise ValueError("with contexts (given) say which family it is, such as 'given:gaussian'; auto knows none of them")
        return list(candidates(_numbers(ys)))
    if not family:
        raise ValueError("estimate needs a family, such as vl.Gaussian")
    return [without_auto(one) if isinstance(one, str) else one for one in family]


def _numbers(ys: object) -> list[np.ndarray]:
    sequences, many = _sequences(ys, 1)
    numbers = [_as_numbers(one) for one in sequences]
    for i, one in enumerate(numbers):
        if np.isinf(one).any():
            at = tuple(np.argwhere(np.isinf(one))[0].tolist())
            of = f"sequence {i}: " if many else ""
            raise ValueError(f"{of}observation {at[0]} is {one[at]}; it must be a finite number, or NaN where it is missing")
    return numbers


def _as_numbers(given: object) -> np.ndarray:
    array = as_array("estimate", given)
    try:
        if array.dtype.kind in "biufO":
            return np.asarray(array, dtype=float)
    except (ValueError, TypeError):
        pass
    raise ValueError(
        f"observations of type {array.dtype} are not real numbers, so no family can be chosen; number the symbols 0, 1, ... "
        "and give vl.Categorical"
    )


class Door(NamedTuple):
    """Observations as they were given."""

    ys: Any
    given: Any
    reset: Any
    missing: str

    def entries(self, dimensions: int) -> tuple[list[tuple[Any, Any, Any]], bool]:
        """Of each sequence: observations, contexts, resets; and whether there are several."""
        sequences, many = _sequences(self.ys, dimensions)
        columns = [sequences]
        for name, value in (("given", self.given), ("reset", self.reset)):
            one = [None] * len(sequences) if value is None else list(value) if many else [value]
            if len(one) != len(sequences):
                raise ValueError(
                    f"estimate: {name} has {len(one)} entries for {len(sequences)} sequences; one per sequence is accepted"
                )
            columns.append(one)
        return list(zip(*columns, strict=True)), many


class Observed(NamedTuple):
    """Observations as a model has them; `kept` says which sequences count: of those that are the same, the first."""

    model: Unknowns
    data: Data
    kept: tuple[int, ...]
    sequences: int

    def predicted(self) -> np.ndarray:
        """Which steps have an observation that the family predicts, and does not only condition on."""
        family, (values, events, _) = self.model.template.family, self.data
        if family.memory_size():
            out = ReadoutPieces(self.model.template, 0, ("run_length",)).advance(values, events) if _is_given(family) else None
            events = family.without_past(values, events)[2] if out is None else np.where(np.isnan(out.log_p), ELAPSE, events)
        return events % RESET == OBSERVE


def observed_as(
    door: Door, family: object, known: Mapping[str, object], learner: str | None, kept: tuple[int, ...] | None = None
) -> Observed:
    model = unknowns_of(family, known, door.ys, door.given)
    model = model if learner is None else model.predicted_by(learner)
    template = model.template.family
    rows = template.observations([])[0].ndim - (template.context_width() > 0)
    entries, many = door.entries(max(rows, 1))
    values, events = [], []
    for i, (y, x, marks) in enumerate(entries):
        try:
            encoded, absent = template.observations(y) if x is None else template.observations(y, given=x)
        except (ValueError, TypeError) as error:
            raise type(error)(f"sequence {i}: {error}" if many else str(error)) from None
        values.append(encoded)
        events.append(step_events(absent, marks, door.missing, i if many else None))
    kept = tuple(sorted(set(first_alike(values, events)))) if kept is None else kept
    return Observed(model, joined([values[i] for i in kept], [events[i] for i in kept]), kept, len(values))


def counted_once(observed: Observed) -> tuple[str, ...]:
    """Whether some sequences are the same."""
    more = observed.sequences - len(observed.kept)
    same = f"{more:,} of {observed.sequences:,} sequences are the same as another one: they count once"
    return (same,) if more else ()


def _sequences(ys: object, dimensions: int) -> tuple[list[Any], bool]:
    """One sequence or many: told by how many dimensions there are beyond those of one."""
    if ys is None or (np.ndim(ys) == 0 and not hasattr(ys, "__iter__")):  # type: ignore[arg-type]
        raise TypeError(f"estimate: {ys!r} is no sequence of observations; a list or an array is accepted, or several of them")
    if isinstance(ys, np.ndarray):
        if ys.ndim > dimensions and len(ys) > 1 and ys.shape[1] < SHORTEST:
            raise ValueError(
                f"an array of shape {ys.shape} is {len(ys):,} sequences, one for each row, of {ys.shape[1]}: "
                "too short to tell anything; give y.ravel() for one sequence, y.T for sequences in columns"
            )
        return (list(ys), True) if ys.ndim > dimensions else ([ys], False)
    entries = list(ys)  # type: ignore[call-overload]
    deep = [np.ndim(one) for one in entries[:1] if one is not None]
    return (entries, True) if deep and deep[0] + 1 > dimensions else ([ys], False)


def with_a_past(observed: list[Observed]) -> tuple[list[Observed], tuple[str, ...]]:
    """Without the families that leave most observations unscored, since sequences are short or full of gaps."""
    all_of_them = observed[0].data.observations
    kept = [one for one in observed if 2 * int(one.predicted().sum()) >= all_of_them]
    names = ", ".join(kind_of(one.model.template.family) for one in observed if one not in kept)
    return kept, ((f"{names} is left out: most observations have too few before them in their sequence",) if names else ())


def same_observations(observed: Sequence[Observed]) -> np.ndarray:
    """Which observations count: those that every family predicts (an autoregression is only conditioned on its first)."""
    return np.logical_and.reduce([one.predicted() for one in observed]).astype(np.uint8)


def _is_given(family: Any) -> bool:
    """Whether a past is kept for each context, so that only a run tells where it is known."""
    return bool(family.context_width() > 0)
