"""What speaks against fitting a model to people: outcomes that contradict its environment, responses that come at another time.

Both concern what a fit takes as given, and are not seen in it: it finds the best parameters of a wrong model, with small errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis import catalogue
from volatilis.behaviour.fitting.parameters import RANGES
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Doubt, People, Person, Source, Trials, read_people
from volatilis.behaviour.responses.registry import RESPONSES
from volatilis.behaviour.situations import ALL, NO_NUMBERS, inner_family
from volatilis.estimation import check_model, laws
from volatilis.estimation.models import P_CS, Sequences, best, described, first_of, reference
from volatilis.families._base import Family
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET
from volatilis.running.grid_ends import piles, run_over, weighed
from volatilis.running.pieces import ReadoutPieces

NAMED = 5  # people who are named one by one
FEW = 5000  # responses that the test of --when looks at
FEW_RESPONSES, LOOKED_AT = 20, 50  # responses that say something about their scale, and people who are asked
APART, SMALL, FOLLOWS = 3.0, 0.03, 0.5  # how far from estimates, how much smaller, and how alike: another scale
TOO_MUCH, CERTAIN = 0.2, 5.0  # a correlation that matters, in units of one and of its standard error


def people_of(source: Source, models: Sequence[Model], notify: Callable[[str], None] = lambda text: None) -> People:
    """All people of a table; nobody who can be fitted is an error. `notify` gets lines for a reader."""
    people = read_people(source, *models)
    if not people.persons:
        raise ValueError(f"{source.table}: nobody can be fitted: {next(iter(people.refused.values()), 'there is no one')}")
    people = with_doubts(people, models, source)
    for doubt in people.doubts:
        notify(f"warning: {doubt.message}")
    for name, note in people.notes.items():
        notify(f"{name}: {note}")
    for reason in people.refused.values():
        notify(f"left out: {reason}")
    return people


def blocks_of(people: People) -> str:
    """How many blocks there are, in words: a person's first trial begins one, a label that changes, and what --reset marks."""
    count = sum(1 + int(np.sum(np.concatenate([part.events for part in one.parts])[1:] >= RESET)) for one in people.persons)
    if count == len(people.persons):
        return "each person's trials are one block: the learner never starts anew"
    return f"{count:,} blocks: the learner starts anew in each"


def with_doubts(people: People, models: Sequence[Model], source: Source) -> People:
    """The same people with what speaks against fitting these models to them."""
    return people._replace(doubts=_doubts(people.persons, models, source) if people.persons else ())


def _doubts(persons: Sequence[Person], models: Sequence[Model], source: Source) -> tuple[Doubt, ...]:
    """Of the first model, whose family all share. With contexts, the outcomes of each are looked at as a sequence of its own."""
    grids = [doubt for model in models if model.learner.grids for doubt in _of_grids(model, persons)]
    persons = [person._replace(parts=tuple(one for part in person.parts for one in by_context(part))) for person in persons]
    parts: dict[tuple[tuple[str, float], ...], list[tuple[str, Trials]]] = {}
    for person in persons:
        for part in person.parts:
            parts.setdefault(tuple(part.columns.items()), []).append((person.name, part))
    doubts: dict[str, Doubt] = {}
    for columns, owned in parts.items():
        family = _family(models[0], dict(columns), [part for _, part in owned])
        if not family.lacks("predictive_cdf"):
            for doubt in _of_outcomes(family, owned):
                doubts.setdefault(doubt.kind, doubt)
    responses = [] if source.response is None else [_of_timing(models[0], persons, source), _of_scale(models[0], persons)]
    return (*doubts.values(), *grids, *(one for one in responses if one is not None))


def by_context(part: Trials) -> list[Trials]:
    """A sequence for each context, as its own family has it; the part itself where there are no contexts.

    Whether contexts change together or apart, each is a sequence with changes, and time passes while another one is seen.
    Responses stay only where they are about their row's outcome: not those given after it, nor choices.
    """
    if not part.contexts.size:
        return [part]
    rows, observed = np.asarray(part.values), part.events % RESET == OBSERVE
    if part.learn == ALL:
        columns = [(np.nan_to_num(paid).astype(rows.dtype), np.isfinite(paid)) for paid in part.rewards.T]
    else:
        values = np.ascontiguousarray(rows[:, 1] if rows.shape[1] == 2 else rows[:, 1:])
        columns = [(values, observed & (rows[:, 0] == c)) for c in range(int(rows[observed, 0].max(initial=-1)) + 1)]
    silent = part.after or part.worth.size > 0
    starts = part.events // RESET * RESET
    return [
        part._replace(
            values=values,
            events=(starts + np.where(seen, OBSERVE, ELAPSE)).astype(part.events.dtype),
            given=np.where(seen & ~silent, part.given, np.nan),
            contexts=NO_NUMBERS,
            worth=NO_NUMBERS,
            rewards=NO_NUMBERS,
        )
        for values, seen in columns
        if seen.any()
    ]


def _family(model: Model, columns: dict[str, float], parts: Sequence[Trials]) -> Family:
    """What is free, or learned, is as the outcomes suggest: a person may believe something else, and that is no fault."""
    free = model.family.free()
    learned = [name for name, _ in model.learner.grids]
    family = inner_family(catalogue.make_family(model.family, {**dict.fromkeys(free, 1.0), **columns}))
    if not free and not learned:
        return family
    suggested = family.plausible([part.values[part.events % RESET == OBSERVE] for part in parts])
    known = {name: float(getattr(suggested, name)) for name in (*free, *learned) if name in getattr(suggested, "_fields", ())}
    inner = inner_family(catalogue.make_family(model.family, {**dict.fromkeys(free, 1.0), **known, **columns}))
    replaced: Family = inner._replace(**{name: known[name] for name in learned if name in known})  # type: ignore[attr-defined]
    return replaced


def _of_outcomes(family: Family, owned: Sequence[tuple[str, Trials]]) -> list[Doubt]:
    """Whether the environment of the model made the outcomes, with whatever change probability suits them best."""
    check = check_model(family, [part.values for _, part in owned], None, [part.events for _, part in owned])
    doubts = []
    for misfit in check.misfits:
        names = tuple(dict.fromkeys(owned[i][0] for i in misfit.sequences))
        doubts.append(Doubt(f"{described(family)} does not fit the outcomes{_whom(names)}: {misfit}", misfit.kind, names))
    return doubts


def _whom(names: Sequence[str]) -> str:
    listed = "; ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    return f" of {listed}" if names else ""


def _of_grids(model: Model, persons: Sequence[Person]) -> list[Doubt]:
    """Whether outcomes come from beyond the values that a learner weighs, so that it cannot learn what they are."""
    parts: dict[tuple[tuple[str, float], ...], list[tuple[str, Trials]]] = {}
    for person in persons:
        for part in person.parts:
            parts.setdefault(tuple(part.columns.items()), []).append((person.name, part))
    doubts: dict[str, Doubt] = {}
    for columns, owned in parts.items():
        learner = model.example(dict(columns))[0]
        inner = weighed(learner)
        runs = [] if inner is None else run_over(learner, [p.values for _, p in owned], [p.events for _, p in owned])
        for pile in [] if inner is None else piles(inner, runs):
            names = tuple(dict.fromkeys(owned[i][0] for i in pile.sequences)) if len(runs) <= len(owned) else ()
            doubts.setdefault(pile.name, Doubt(f"{model.label}{_whom(names)}: {pile}", laws.GRID, names))
    return list(doubts.values())


# --- when responses were given -------------------------------------------------------------------------------------------


class Timing(NamedTuple):
    """The correlation of responses with the unpredictable part of an outcome, and the same in standard errors."""

    correlation: float
    z: float


def _of_timing(model: Model, persons: Sequence[Person], source: Source) -> Doubt | None:
    """Given the past, the unforeseen part of an outcome has mean 0: a response given before cannot be correlated with it."""
    same, later = _timing(model, persons, 0), _timing(model, persons, 1)
    if source.when == "before" and same.correlation > TOO_MUCH and same.z > CERTAIN:
        pattern = f"responses correlate with the unpredictable part of their own row's outcome ({same.correlation:.2f})"
        return Doubt(f"--when before: {pattern}, so they were given after it: use --when after", "when")
    if source.when == "after" and later.correlation > TOO_MUCH and later.z > CERTAIN and same.z < 2.0:
        pattern = f"responses do not depend on their own row's outcome (correlation {same.correlation:.2f})"
        return Doubt(
            f"--when after: {pattern}, but on that of the row before ({later.correlation:.2f}): use --when before", "when"
        )
    return None


def _timing(model: Model, persons: Sequence[Person], lag: int) -> Timing:
    """Of responses `lag` rows after an outcome with what a nearly ideal observer had not foreseen of it."""
    unforeseen, moved = [], []
    for part in _some(persons):
        family = _family(model, dict(part.columns), [part]).plausible([part.values[part.events % RESET == OBSERVE]])
        if family.size() != 1 or family.coordinates() != 1:
            continue
        expected = _expected(family, part)
        end = len(part.values) - lag
        usable = (part.events[:end] == OBSERVE) & ~np.isnan(part.given[lag:]) & ~np.isnan(expected[:end])
        for between in range(1, lag + 1):
            usable &= part.events[between : end + between] < RESET
        y, given, mean = np.asarray(part.values[:end], dtype=float)[usable], part.given[lag:][usable], expected[:end][usable]
        unforeseen += [family.difference(a, b) for a, b in zip(y, mean, strict=True)]
        moved += [family.difference(a, b) for a, b in zip(given, mean, strict=True)]
    return _correlated(np.array(unforeseen), np.array(moved))


# --- in which unit responses are -----------------------------------------------------------------------------------------


def _of_scale(model: Model, persons: Sequence[Person]) -> Doubt | None:
    """Responses that a model takes for estimates, and that lie far from where any estimate can be, or follow them in small."""
    fields = RESPONSES[model.response.name]._fields
    if model.chooses() or not any(RANGES[name].unit for name in fields if name in RANGES):
        return None
    doubts = {
        one.name: text for one in persons[:LOOKED_AT] for part in _some([one]) if (text := _other_scale(model, part)) is not None
    }
    if not doubts:
        return None
    first = next(iter(doubts))
    return Doubt(
        f"the responses{_whom(tuple(doubts))} are on another scale than the outcomes: {doubts[first]}; convert them to "
        "the outcomes' unit, or name the right columns (--outcome, --prediction)",
        "scale",
        tuple(doubts),
    )


def _other_scale(model: Model, part: Trials) -> str | None:
    family = _family(model, dict(part.columns), [part]).plausible([part.values[part.events % RESET == OBSERVE]])
    if family.size() != 1 or family.coordinates() != 1:
        return None
    estimates = _expected(family, part)
    usable = ~np.isnan(estimates) & ~np.isnan(part.given)
    estimates, given = estimates[usable], part.given[usable]
    if given.size < FEW_RESPONSES:
        return None
    low, middle, high = np.quantile(estimates, (0.05, 0.5, 0.95))
    lowest, here, highest = np.quantile(given, (0.05, 0.5, 0.95))
    reach, answered = high - low, highest - lowest
    apart = abs(family.difference(here, middle)) > APART * max(reach, answered)
    resized = min(reach, answered) < SMALL * max(reach, answered)
    if not apart and not (resized and _correlation(estimates, given) > FOLLOWS):
        return None
    return f"most lie from {lowest:.4g} to {highest:.4g}, estimates from the outcomes from {low:.4g} to {high:.4g}"


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """0 of numbers that do not vary."""
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0.0 and np.ptp(b) > 0.0 else 0.0


def _some(persons: Sequence[Person]) -> list[Trials]:
    parts = [part for person in persons for part in person.parts]
    data = first_of([part.given for part in parts], [part.events for part in parts], FEW)
    return [part._replace(values=part.values[: len(e)], events=e, given=y) for part, y, e in zip(parts, *data, strict=False)]


def _expected(family: Family, part: Trials) -> np.ndarray:
    """Before each trial, from the outcomes alone; NaN for the first of a block."""
    p_c = best(family, P_CS, Sequences([part.values], [part.events])).p_c
    after = ReadoutPieces(reference(family, p_c), 0, ("mean",)).advance(part.values, part.events).means[:, 0]
    before = np.concatenate([[np.nan], after[:-1]])
    before[part.events >= RESET] = np.nan
    return before


def _correlated(a: np.ndarray, b: np.ndarray) -> Timing:
    """The sum of products of two numbers of which one has mean 0 given the other, by its own standard error. None weighs much."""
    if not a.size:
        return Timing(0.0, 0.0)
    a, b = (np.clip(x / max(float(np.median(np.abs(x))), 1e-300), -8.0, 8.0) for x in (a, b))
    products = a * b
    size = math.sqrt(float(np.sum(a * a)) * float(np.sum(b * b)))
    error = math.sqrt(float(np.sum(products * products)))
    if size == 0.0 or error == 0.0:
        return Timing(0.0, 0.0)
    return Timing(float(products.sum()) / size, float(products.sum()) / error)
