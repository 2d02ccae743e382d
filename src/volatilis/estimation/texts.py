"""`auto` in the texts of families and learners: which of them it is, and the same texts with what was found.

gaussian:auto              every parameter that is not given
gaussian:sigma=auto        this one
merge:n=20,p_c=auto        the change probability; it may also be left out where the family has auto or an environment is given
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis import catalogue
from volatilis.catalogue import AUTO
from volatilis.estimation.environment import Environment
from volatilis.estimation.unknowns import all_optional, open_family

WORD = AUTO.word
CANDIDATES = ("gaussian",)


class Texts(NamedTuple):
    """What the command line says of the environment."""

    family: str
    learners: tuple[str, ...]


def needs_estimate(texts: Texts) -> bool:
    """Whether anything is to be estimated before."""
    return _has_auto(texts.family) or any(_has_auto(text) for text in texts.learners)


def _has_auto(text: str) -> bool:
    return text == WORD or any(item == WORD or item.endswith(f"={WORD}") for item in _items(text))


def _items(text: str) -> list[str]:
    """The parameters of all levels, without blanks."""
    pieces = text.replace(";", ",").split(":")
    return [item.strip().replace(" ", "") for piece in pieces for item in catalogue.split_items(piece)]


def without_auto(text: str) -> str:
    """A family's text for `estimate`, where what is not given is unknown."""
    head, _, tail = text.partition(":")
    items = catalogue.split_items(tail)
    kept = [item for item in items if item.strip() != WORD and not item.replace(" ", "").endswith(f"={WORD}")]
    if len(kept) < len(items) and WORD not in (item.strip() for item in items):  # some are marked, so the others are as they are
        marked = {item.partition("=")[0].strip() for item in items} - {item.partition("=")[0].strip() for item in kept}
        given = {item.partition("=")[0].strip() for item in kept}
        defaults = [p for p in catalogue.parameters(open_family(head)[0]) if p.name not in given | marked]
        for one in defaults:
            if one.default is None:
                raise ValueError(f"{text!r}: {one.name} is missing; it must be {one.accepts}, or {one.name}=auto")
        kept += [f"{one.name}={one.default!r}" for one in defaults]
    return f"{head}:{','.join(kept)}" if kept else head


def filled_in(texts: Texts, environment: Environment) -> Texts:
    """The texts with an environment: its family, and its p_c where a learner has none of its own or `auto`."""
    p_c = environment.p_c
    learners = tuple(with_defaults(text, {"p_c": p_c, "m": p_c / (1.0 - p_c)}) for text in texts.learners)
    return Texts(environment.text, learners)


def candidates(values: np.ndarray) -> tuple[str, ...]:
    """Families that observations of this kind may come from: 0 and 1, counts, or any numbers."""
    seen = np.asarray(values, dtype=float)
    seen = seen[np.isfinite(seen)]
    if seen.size == 0:
        return CANDIDATES
    if np.isin(seen, (0.0, 1.0)).all():
        return ("bernoulli",)
    counts = np.all(seen == np.floor(seen)) and seen.min() >= 0.0 and seen.max() < 1e6
    return (*(("poisson",) if counts else ()), *CANDIDATES)


def given_texts(families: Sequence[str], values: np.ndarray) -> list[str]:
    """Those that are written, or those that the observations suggest."""
    return list(families) if families and list(families) != [WORD] else list(candidates(values))


def with_defaults(text: str, values: Mapping[str, float]) -> str:
    """A learner's text with these values of what must be given and is not, or is `auto`."""
    recipe = catalogue.parse(text, catalogue.LEARNERS, "learner", all_optional)
    given = dict(recipe.fields)
    needed = [one.name for one in catalogue.parameters(recipe.name) if one.default is None and not one.from_family]
    missing = [f"{name}={values[name]!r}" for name in needed if name in values and name not in given]
    head, _, tail = text.partition(":")
    items = catalogue.split_items(tail)
    for name, value in values.items():
        if given.get(name) == AUTO:
            items = [f"{name}={value!r}" if item.partition("=")[0].strip() == name else item for item in items]
    return ":".join((head, ",".join([*items, *missing]))) if items or missing else head


def warm_up_texts(family: str, learner: str) -> tuple[str, str]:
    """Texts of which only the class of the family counts, and the learner but for p_c: the rest is estimated from first lines.

    Raises ValueError where a parameter is given that would be estimated, or the learner has no p_c.
    """
    name, given = open_family(family.replace(f":{WORD}", "").strip())
    needed = [p for p in catalogue.parameters(name) if p.default is None]
    wrong = [key for key in given if key not in ("k", "period")]
    if wrong:
        raise ValueError(f"{family!r}: with --learn every parameter is estimated, so {wrong[0]} cannot be given")
    if any(not p.accepts.startswith(("a finite number", "a number above 0")) for p in needed if p.name not in given):
        raise ValueError(f"{family!r}: watch cannot estimate it from its first lines; give its parameters")
    fields = {p.name: 1.0 if "above 0" in p.accepts else 0.0 for p in needed if p.name not in given} | given
    learner = with_defaults(learner, {"p_c": 0.01})
    recipe = catalogue.parse_learner(learner)
    if recipe.grids:
        raise ValueError(
            f"{learner!r} learns its parameters as lines come: none is estimated from the first ones, so give --family"
        )
    if "p_c" not in dict(recipe.fields):
        raise ValueError(
            f"{learner!r} has no p_c; a learner that has one, such as merge:n=20, can estimate it from its first lines"
        )
    text = ",".join(f"{key}={value!r}" for key, value in fields.items())
    return (f"{name}:{text}" if text else name), learner
