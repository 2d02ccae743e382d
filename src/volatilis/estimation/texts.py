"""`auto` in the texts of families and learners: which of them it is, and the same texts with what was found.

auto                       the family too: those that observations of this kind may come from are compared
gaussian:auto              every parameter that is not given
gaussian:sigma=auto        this one
merge:n=20,p_c=auto        the change probability; it may also be left out where the family has auto or an environment is given
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from volatilis import catalogue
from volatilis.catalogue import AUTO, Recipe
from volatilis.estimation.environment import Environment
from volatilis.estimation.unknowns import all_optional, open_family
from volatilis.families._observations import noise_scale
from volatilis.running.angles import wrapping

WORD = AUTO.word
ALONE = re.compile(r"(^|[:;,])\s*auto\s*(?=$|[;,])")  # not the value of a parameter
REAL = ("gaussian", "contaminated:gaussian", "gaussian-unknown-variance", "autoregression:1")
FEW_SYMBOLS = 10
COARSE = 3.0  # whole numbers whose noise is smaller than this are no measurements on a scale
MANY = 1e6  # counts


class Texts(NamedTuple):
    """What the command line says of the environment."""

    family: str
    learners: tuple[str, ...]


def needs_estimate(texts: Texts) -> bool:
    """Whether anything is to be estimated before."""
    return _has_auto(texts.family) or any(_has_auto(text) for text in texts.learners)


def _has_auto(text: str) -> bool:
    return ALONE.search(text) is not None or re.search(r"=\s*auto\s*(?=$|[;,])", text) is not None


def without_auto(text: str) -> str:
    """A family's text for `estimate`, where what is not given is unknown.

    With `auto` alone, or without any, that is every parameter; where some parameters are marked, the others have their defaults.
    """
    stripped = ALONE.sub(r"\1", text).rstrip(":;, ")
    recipe = open_family(stripped)
    marked = any(value == AUTO for _, value in recipe.fields)
    return _written(recipe, with_defaults=marked and ALONE.search(text) is None)


def _written(recipe: Recipe, with_defaults: bool) -> str:
    values = {name: value for name, value in recipe.own_values({}).items() if value != AUTO}
    inner = "" if recipe.inner is None else _written(recipe.inner, with_defaults)
    if with_defaults:
        marked = {name for name, value in recipe.fields if value == AUTO}
        for one in catalogue.parameters(recipe.name):
            if one.name in values or one.name in marked:
                continue
            if one.default is None:
                raise ValueError(f"{recipe.text!r}: {one.name} is missing; it must be {one.accepts}, or {one.name}=auto")
            values[one.name] = one.default
    fields = ",".join(f"{name}={json.dumps(value) if isinstance(value, list) else value!r}" for name, value in values.items())
    parts = ";".join(filter(None, (inner, fields))).replace(" ", "")
    return f"{recipe.name}:{parts}" if parts else recipe.name


def filled_in(texts: Texts, environment: Environment) -> Texts:
    """The texts with an environment: its family, and its p_c where a learner has none of its own or `auto`."""
    p_c = environment.p_c
    learners = tuple(with_defaults(text, {"p_c": p_c, "m": p_c / (1.0 - p_c)}) for text in texts.learners)
    return Texts(environment.text, learners)


# --- which families may it be? -----------------------------------------------------------------------------------------------


def candidates(sequences: Sequence[np.ndarray], categories: int = 0) -> tuple[str, ...]:
    """Families that observations of this kind may come from: symbols, 0 and 1, counts, angles, or any numbers.

    sequences    numbers, NaN where one is missing
    categories   how many symbols there are, where it is known that they are symbols

    Raises ValueError for vectors, whose covariance is not estimated.
    """
    if any(np.ndim(one) > 1 for one in sequences):
        raise ValueError("an observation has several numbers: say which family it is, with its covariance, and what is unknown")
    if categories:
        return f"categorical:k={categories}", f"transitions:k={categories}"
    observed = [one[np.isfinite(one)] for one in (np.asarray(one, dtype=float) for one in sequences)]
    seen = np.concatenate(observed) if observed else np.zeros(0)
    if seen.size == 0:
        return REAL
    if seen[0] not in (0.0, 1.0) and seen.size > 1 and np.all(seen == seen[0]):
        raise ValueError(f"all {seen.size:,} observations are {seen[0]:g}: data that do not vary do not tell their family")
    if np.isin(seen, (0.0, 1.0)).all():
        return "bernoulli", "transitions:k=2"
    turns = wrapping(observed)
    if turns is not None:
        circle = f"vonmises:mu_0=0,kappa_0=0,period={turns.period!r}"  # changes lead anywhere: few data tell where to
        return circle, f"contaminated:{circle}"
    whole = bool(np.all(seen == np.floor(seen)))
    differences = np.concatenate([np.diff(one) for one in observed])
    if whole and seen.min() >= 0.0 and seen.max() < MANY:
        return _of_counts(seen, noise_scale(differences))
    return (*REAL, "exponential") if seen.min() >= 0.0 else REAL


def _of_counts(seen: np.ndarray, noise: float) -> tuple[str, ...]:
    """A law with a density is left out where ties are the rule: it would be as high as its noise is small."""
    k = int(seen.max()) + 1
    symbols = (f"categorical:k={k}", f"transitions:k={k}") if k <= FEW_SYMBOLS and np.unique(seen).size == k else ()
    return ("poisson", "contaminated:poisson", *symbols, *(REAL if noise >= COARSE else ()))


def given_texts(families: Sequence[str], sequences: Sequence[np.ndarray], categories: int = 0) -> list[str]:
    """Those that are written, or those that the observations suggest."""
    suggested = not families or list(families) == [WORD]
    return list(candidates(sequences, categories)) if suggested else [without_auto(one) for one in families]


# --- learners ----------------------------------------------------------------------------------------------------------------


def with_defaults(text: str, values: Mapping[str, float]) -> str:
    """A learner's text with these values of what must be given and is not, or is `auto`."""
    recipe = catalogue.parse(text, catalogue.LEARNERS, "learner", all_optional)
    given = {name: value for one in recipe.chain() for name, value in (*one.grids, *one.fields)}
    needed = [one.name for one in catalogue.parameters(recipe.chain()[-1].name) if one.default is None and not one.from_family]
    missing = [f"{name}={values[name]!r}" for name in needed if name in values and name not in given]
    for name, value in values.items():
        if given.get(name) == AUTO:
            text = re.sub(rf"\b{name}\s*=\s*auto\b", f"{name}={value!r}", text)
    if not missing:
        return text
    inner, semicolon, outer = text.partition(";") if recipe.inner is not None else (text, "", "")
    joint = "," if ":" in inner and "=" in inner.rpartition(":")[2] else ":"
    return f"{inner}{joint}{','.join(missing)}{semicolon}{outer}"


def warm_up_texts(family: str, learner: str) -> tuple[str, str]:
    """Texts of which only the class of the family counts, and the learner but for p_c: the rest is estimated from first lines.

    Raises ValueError where a parameter is given that would be estimated, or the learner has no p_c.
    """
    recipe = open_family(ALONE.sub(r"\1", family).rstrip(":;, ") or "gaussian")
    name, given = recipe.name, dict(recipe.fields)
    needed = [p for p in catalogue.parameters(name) if p.default is None]
    wrong = [key for key in given if key not in ("k", "period")]
    if wrong:
        raise ValueError(f"{family!r}: with --learn every parameter is estimated, so {wrong[0]} cannot be given")
    if recipe.inner is not None or any(
        not p.accepts.startswith(("a finite number", "a number above 0")) for p in needed if p.name not in given
    ):
        raise ValueError(f"{family!r}: watch cannot estimate it from its first lines; give its parameters")
    fields = {p.name: 1.0 if "above 0" in p.accepts else 0.0 for p in needed if p.name not in given} | given
    learner = with_defaults(learner, {"p_c": 0.01})
    predictor = catalogue.parse_learner(learner)
    if predictor.grids:
        raise ValueError(
            f"{learner!r} learns its parameters as lines come: none is estimated from the first ones, so give --family"
        )
    if "p_c" not in dict(predictor.fields):
        raise ValueError(
            f"{learner!r} has no p_c; a learner that has one, such as merge:n=20, can estimate it from its first lines"
        )
    text = ",".join(f"{key}={value!r}" for key, value in fields.items())
    return (f"{name}:{text}" if text else name), learner
