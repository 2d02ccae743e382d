"""What speaks against fitting a model to people: outcomes that contradict its environment, responses that come at another time.

Both concern what a fit takes as given, and are not seen in it: it finds the best parameters of a wrong model, with small errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from volatilis.behaviour.doubts_of_responses import doubts_of_arms, doubts_of_responses, family_of, whom
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Doubt, People, Person, Source, Trials, read_people
from volatilis.behaviour.situations import ALL, NO_NUMBERS
from volatilis.estimation import check_model, laws
from volatilis.estimation.models import described
from volatilis.estimation.proper import improper
from volatilis.families._base import Family
from volatilis.running.drivers import ELAPSE, OBSERVE, RESET
from volatilis.running.grid_ends import piles, run_over, weighed


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
    arms = doubts_of_arms(models, persons)
    persons = [person._replace(parts=tuple(one for part in person.parts for one in by_context(part))) for person in persons]
    parts: dict[tuple[tuple[str, float], ...], list[tuple[str, Trials]]] = {}
    for person in persons:
        for part in person.parts:
            parts.setdefault(tuple(part.columns.items()), []).append((person.name, part))
    doubts: dict[str, Doubt] = {}
    for columns, owned in parts.items():
        family = family_of(models[0], dict(columns), [part for _, part in owned])
        wrong = improper(family, np.concatenate([part.values[part.events % RESET == OBSERVE] for _, part in owned]))
        if wrong is not None:
            doubts.setdefault("improper", Doubt(wrong, "improper"))
        if not family.lacks("predictive_cdf"):
            for doubt in _of_outcomes(family, owned):
                doubts.setdefault(doubt.kind, doubt)
    responses = [] if source.response is None else doubts_of_responses(models[0], persons, source)
    return (*doubts.values(), *grids, *arms, *responses)


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


def _of_outcomes(family: Family, owned: Sequence[tuple[str, Trials]]) -> list[Doubt]:
    """Whether the environment of the model made the outcomes, with whatever change probability suits them best."""
    check = check_model(family, [part.values for _, part in owned], None, [part.events for _, part in owned])
    doubts = []
    for misfit in check.misfits:
        names = tuple(dict.fromkeys(owned[i][0] for i in misfit.sequences))
        doubts.append(Doubt(f"{described(family)} does not fit the outcomes{whom(names)}: {misfit}", misfit.kind, names))
    return doubts


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
            doubts.setdefault(pile.name, Doubt(f"{model.label}{whom(names)}: {pile}", laws.GRID, names))
    return list(doubts.values())
