"""What speaks against fitting responses to these outcomes: another time, another scale, arms that nobody chose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis import catalogue
from volatilis.behaviour.fitting.parameters import RANGES
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Doubt, Person, Source, Trials
from volatilis.behaviour.responses.registry import RESPONSES
from volatilis.behaviour.situations import inner_family
from volatilis.estimation.models import P_CS, first_of, reference
from volatilis.families._base import Family
from volatilis.running.drivers import OBSERVE, RESET
from volatilis.running.pieces import ReadoutPieces
from volatilis.surprise import log_predictive

NAMED = 5  # people who are named one by one
FEW = 5000  # responses that the test of --when looks at
FEW_RESPONSES, LOOKED_AT = 20, 50  # responses that say something about their scale, and people who are asked
FEW_OUTCOMES = 0.2  # a share of choices with an outcome below which something is wrong
APART, SMALL, FOLLOWS = 3.0, 0.03, 0.5  # how far from estimates, how much smaller, and how alike: another scale
TOO_MUCH, CERTAIN = 0.2, 5.0  # a correlation that matters, in units of one and of its standard error


def doubts_of_arms(models: Sequence[Model], persons: Sequence[Person]) -> list[Doubt]:
    """Arms that nobody ever chose count as choices all the same, and choices whose outcomes are missing teach nothing."""
    doubts: dict[str, Doubt] = {}
    for model in models:
        parts = [part for person in persons for part in person.parts if part.contexts.size]
        arms = model.example(dict(parts[0].columns))[0].family.accepted_in_contexts() if parts else None
        if arms is None or not model.chooses_contexts():
            continue
        given = np.concatenate([part.given[part.scored] for part in parts])
        never = sorted(set(range(arms[0])) - set(given.astype(int).tolist()))
        if never:
            which = " and ".join(map(str, never))
            text = f"nobody chose arm {which} of {arms[0]} (counted from 0) in {given.size:,} choices, and {model.label} expects"
            text += " that they may: give the number of arms that there were to choose from (contexts=)"
            doubts.setdefault("arms", Doubt(text, "arms"))
        seen = sum(int(np.sum(part.events[part.scored] % RESET == OBSERVE)) for part in parts)
        if seen < FEW_OUTCOMES * given.size:
            text = f"{seen:,} of {given.size:,} choices have an outcome, and the others teach nothing: is --outcome the right "
            doubts.setdefault("feedback", Doubt(f"{text}column (or are its columns in the arms' order)?", "feedback"))
    return list(doubts.values())


def doubts_of_responses(model: Model, persons: Sequence[Person], source: Source) -> list[Doubt]:
    """Whether they follow the outcomes at the time and on the scale that the model takes them for."""
    doubts = (_of_timing(model, persons, source), _of_scale(model, persons))
    return [one for one in doubts if one is not None]


def whom(names: Sequence[str]) -> str:
    listed = "; ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    return f" of {listed}" if names else ""


def family_of(model: Model, columns: dict[str, float], parts: Sequence[Trials]) -> Family:
    """What is free, or learned, is as the outcomes suggest: a person may believe something else, and that is no fault."""
    free = model.family.free()
    learned = [name for name, _ in model.learner.grids]
    family = inner_family(catalogue.make_family(model.family, {**dict.fromkeys(free, 1.0), **columns}))
    seen = [part.values[part.events % RESET == OBSERVE] for part in parts]
    if (not free and not learned) or not sum(map(len, seen)):
        return family
    suggested = family.plausible(seen)
    known = {name: float(getattr(suggested, name)) for name in (*free, *learned) if name in getattr(suggested, "_fields", ())}
    inner = inner_family(catalogue.make_family(model.family, {**dict.fromkeys(free, 1.0), **known, **columns}))
    replaced: Family = inner._replace(**{name: known[name] for name in learned if name in known})  # type: ignore[attr-defined]
    return replaced


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
        family = family_of(model, dict(part.columns), [part]).plausible([part.values[part.events % RESET == OBSERVE]])
        if family.size() != 1 or family.coordinates() != 1:
            continue
        expected = _expected(family, part)
        end = len(part.values) - lag
        usable = (part.events[:end] == OBSERVE) & ~np.isnan(part.given[lag:]) & ~np.isnan(expected[:end])
        for between in range(1, lag + 1):
            usable &= part.events[between : end + between] < RESET
        y, given, mean = np.asarray(part.values[:end], dtype=float)[usable], part.given[lag:][usable], expected[:end][usable]
        if np.unique(given).size < 2:  # a person who always says the same follows nothing
            continue
        unforeseen += [family.difference(a, b) for a, b in zip(y, mean, strict=True)]
        moved += [family.difference(a, b) for a, b in zip(given, mean, strict=True)]
    return _correlated(np.array(unforeseen), np.array(moved))


# --- in which unit responses are -----------------------------------------------------------------------------------------


def _of_scale(model: Model, persons: Sequence[Person]) -> Doubt | None:
    """Responses that a model takes for estimates, and that lie far from where any estimate can be, or follow them in small."""
    response: Any = RESPONSES[model.response.name]
    fields = response._fields
    if model.chooses() or not any(RANGES[name].unit for name in fields if name in RANGES):
        return None
    doubts = {
        one.name: text for one in persons[:LOOKED_AT] for part in _some([one]) if (text := _other_scale(model, part)) is not None
    }
    if not doubts:
        return None
    first = next(iter(doubts))
    return Doubt(
        f"the responses{whom(tuple(doubts))} are on another scale than the outcomes: {doubts[first]}; convert them to "
        "the outcomes' unit, or name the right columns (--outcome, --response-column)",
        "scale",
        tuple(doubts),
    )


def _other_scale(model: Model, part: Trials) -> str | None:
    family = family_of(model, dict(part.columns), [part]).plausible([part.values[part.events % RESET == OBSERVE]])
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
    outcomes = np.quantile(np.asarray(part.values, dtype=float)[part.events % RESET == OBSERVE], (0.05, 0.95))
    apart = abs(family.difference(here, middle)) > APART * max(reach, answered, float(np.ptp(outcomes)))
    resized = min(reach, answered) < SMALL * max(reach, answered)
    if not apart and not (resized and _correlation(estimates, given) > FOLLOWS):
        return None
    return (
        f"most of them lie between {lowest:.4g} and {highest:.4g}, estimates from the outcomes between {low:.4g} and {high:.4g}"
    )


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """0 of numbers that do not vary."""
    with np.errstate(all="ignore"):  # of wild numbers squares overflow: NaN, which is above nothing
        return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0.0 and np.ptp(b) > 0.0 else 0.0


def _some(persons: Sequence[Person]) -> list[Trials]:
    """The beginnings of those with an outcome."""
    parts = [part for person in persons for part in person.parts if np.any(part.events % RESET == OBSERVE)]
    data = first_of([part.given for part in parts], [part.events for part in parts], FEW)
    return [part._replace(values=part.values[: len(e)], events=e, given=y) for part, y, e in zip(parts, *data, strict=False)]


def _expected(family: Family, part: Trials) -> np.ndarray:
    """Before each trial, from the outcomes alone, with the p_c that suits them best; NaN for the first of a block."""
    runs = [
        ReadoutPieces(reference(family, p_c), 0, ("mean", "log_predictive")).advance(part.values, part.events) for p_c in P_CS
    ]
    evidences = [np.nansum(log_predictive(run.log_p, run.log_p_0, p_c)) for run, p_c in zip(runs, P_CS, strict=True)]
    after = runs[int(np.argmax(evidences))].means[:, 0]
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
