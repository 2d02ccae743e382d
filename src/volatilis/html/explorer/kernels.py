"""What the explorer runs: every learner with every family that it offers, compiled for browsers, and how arguments lie in memory.

Nothing here knows a learner by name: the records say which there are and what their parameters accept. A family is offered where
`WORLDS` says how its page looks, and worlds.js how it is sampled.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from volatilis import learners
from volatilis._compiler import wasm
from volatilis._core.fields import DERIVED
from volatilis._core.records import Parameter, Range
from volatilis.catalogue import FAMILY_RECORDS, LEARNER_RECORDS
from volatilis.families._base import Beliefs, Family, prior_beliefs
from volatilis.families._circular import set_vector, unit_vector
from volatilis.families._kinds import FamilyRecord
from volatilis.html import Json
from volatilis.learners._base import Learner
from volatilis.learners._kinds import LearnerRecord
from volatilis.learners._one_belief import OneBelief
from volatilis.running import drivers
from volatilis.special import bessel_ratio, log, log_1p, scaled_bessel

READOUTS = ("mean", "variance", "run_length")  # and with them all others
FEW, MANY = 3, 30  # numbers of hypotheses that tell which arrays grow with them


class Slider(NamedTuple):
    """A number that the page lets one move: where it starts, and how far it goes on which scale."""

    value: float
    low: float
    high: float
    scale: str = "log"  # or linear, logit, whole


# Families that the page offers, with the parameters of the first world that it shows of each
WORLDS: Mapping[str, Mapping[str, Slider]] = {
    "gaussian": {"sigma": Slider(0.5, 0.01, 500), "mu_0": Slider(0, -500, 500, "linear"), "sigma_0": Slider(1, 0.01, 1000)},
    "gaussian-unknown-variance": {
        "mu_0": Slider(0, -500, 500, "linear"),
        "kappa_0": Slider(0.1, 0.001, 10),
        "alpha_0": Slider(3, 0.6, 50),
        "beta_0": Slider(1, 0.001, 1000),
    },
    "bernoulli": {"a": Slider(1, 0.05, 20), "b": Slider(1, 0.05, 20)},
    "categorical": {"k": Slider(4, 2, 8, "whole"), "s": Slider(0.5, 0.02, 20)},
    "poisson": {"shape": Slider(2, 0.1, 50), "rate": Slider(0.2, 0.005, 20)},
    "exponential": {"shape": Slider(3, 0.1, 50), "rate": Slider(5, 0.005, 500)},
    "vonmises": {
        "kappa": Slider(8, 0.1, 500),
        "mu_0": Slider(0, -180, 360, "linear"),
        "kappa_0": Slider(0, 0, 20, "linear"),
        "period": Slider(360, 1, 360, "linear"),
    },
    "contaminated": {
        "sigma": Slider(0.3, 0.01, 500),
        "mu_0": Slider(0, -500, 500, "linear"),
        "sigma_0": Slider(1.5, 0.01, 1000),
        "p_o": Slider(0.05, 0.0005, 0.5),
    },
}
# A family that is made of another one, and which that is here
INNER = {"contaminated": "gaussian"}
# Other values of the same parameters, not those that layouts are read off: tests compare these too
OTHER_WORLDS: Mapping[str, Mapping[str, float]] = {
    "gaussian": {"sigma": 10.0, "mu_0": 150.0, "sigma_0": 87.0},
    "gaussian-unknown-variance": {"mu_0": -2.0, "kappa_0": 0.5, "alpha_0": 2.0, "beta_0": 4.0},
    "bernoulli": {"a": 0.4, "b": 2.0},
    "categorical": {"k": 3, "s": 2.0},
    "poisson": {"shape": 0.7, "rate": 0.05},
    "exponential": {"shape": 1.5, "rate": 0.3},
    "vonmises": {"kappa": 40.0, "mu_0": -1.0, "kappa_0": 0.7, "period": 24.0},
    "contaminated": {"sigma": 10.0, "mu_0": 150.0, "sigma_0": 87.0, "p_o": 0.02},
}


# --- drivers beside that of a sequence -----------------------------------------------------------------------------------


def fill_prior(family: Family, beliefs: Beliefs) -> None:
    """Every column of a bank becomes the prior."""
    for i in range(beliefs.nu.size):
        family.prior(beliefs, i)


def derive_vonmises(family: Any, beliefs: Beliefs, out: np.ndarray, column: np.ndarray) -> None:
    """What `VonMises` computes from its parameters: start, log_unit and information into `out`, and the prior's column."""
    start = family.mu_0 - math.floor(family.mu_0 / family.period) * family.period
    c, s = unit_vector(start, family.period)
    set_vector(beliefs, 0, family.kappa_0 * c, family.kappa_0 * s)
    for row in range(column.size):
        column[row] = beliefs.chi[row, 0]
    out[0] = start
    out[1] = -log(family.period) - log(scaled_bessel(family.kappa))
    out[2] = family.kappa * bessel_ratio(family.kappa)


def derive_contaminated(family: Any, beliefs: Beliefs, out: np.ndarray, column: np.ndarray) -> None:
    """What `Contaminated` computes from p_o: log_p_o and log_rest."""
    out[0] = log(family.p_o)
    out[1] = log_1p(-family.p_o)


DERIVE = {"vonmises": derive_vonmises, "contaminated": derive_contaminated}


# --- what is offered ------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A learner with a family: the name of its function, an example, and what the page knows of it."""

    symbol: str
    learner: str
    family: str
    example: Learner
    more: Learner  # the same with more hypotheses


def family_records() -> list[FamilyRecord]:
    return [record for name, record in FAMILY_RECORDS.items() if name in WORLDS]


def learner_records() -> list[LearnerRecord]:
    """Those whose parameters are numbers that can be searched, are the family's, or have defaults."""
    own = (record for record in learners.records() if not record.combines)  # without those of a user of this process
    return [record for record in own if all(_is_known(one) for one in record.parameters)]


def _is_known(one: Parameter) -> bool:
    return one.default is not None or one.from_family or one.search is not None


def example_family(name: str, values: Mapping[str, float] | None = None) -> Family:
    given = {one: slider.value for one, slider in WORLDS[name].items()} if values is None else values
    if name not in INNER:
        return FAMILY_RECORDS[name].cls(**given)
    within = {one: given[one] for one in WORLDS[INNER[name]]}
    own = {one: value for one, value in given.items() if one not in within}
    return FAMILY_RECORDS[name].cls(FAMILY_RECORDS[INNER[name]].cls(**within), **own)


def example_learner(record: LearnerRecord, family: Family, n: int = FEW) -> Learner | None:
    """The learner with values from the middle of where searches start; None where it is not defined for the family.

    Nor where it warns, as Exact Bayes does with outliers: the page would show as exact what is not.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return record.make(family, {one.name: middle(one, n) for one in shown(record)})
        except (TypeError, ValueError, UserWarning):
            return None


def shown(record: LearnerRecord) -> list[Parameter]:
    """The parameters that the page shows: those without a default that are not the family's."""
    return [one for one in record.parameters if one.default is None and not one.from_family]


def middle(one: Parameter, n: int) -> float:
    if isinstance(one.search, Range):
        scale = one.search.scale
        return scale.back(0.5 * (scale.to(one.search.first) + scale.to(one.search.last)))
    return n


def pairs() -> list[Pair]:
    found = []
    for family_record in family_records():
        family = example_family(family_record.name)
        for record in learner_records():
            example, more = (example_learner(record, family, n) for n in (FEW, MANY))
            if example is not None and more is not None:
                symbol = f"{record.name}__{family_record.name}".replace("-", "_")
                found.append(Pair(symbol, record.name, family_record.name, example, more))
    return found


# --- compiled -------------------------------------------------------------------------------------------------------------


def arguments(learner: Learner) -> tuple[object, ...]:
    """Of `run_sequence`, for a sequence of one observation."""
    values, absent = learner.family.observations([1])
    out = drivers.outputs(1, learner.family.size(), READOUTS)
    return learner, learner.init(0), values, absent.astype(np.uint8), np.zeros(1, dtype=np.int64), out


def module(chosen: list[Pair], progress: Callable[[str], None] = lambda name: None) -> bytes:
    """The functions of all pairs, and of their families, as one module of WebAssembly."""
    objects = {}
    for pair in chosen:
        progress(pair.symbol)
        args = arguments(pair.example)
        # with one belief the very bits of the host are cheap; with many hypotheses they would cost a frame's time
        objects[pair.symbol] = wasm.compiled(drivers.run_sequence, args, pair.symbol, exact=isinstance(args[1], OneBelief))
    for name in dict.fromkeys(pair.family for pair in chosen):
        family = example_family(name)
        beliefs, symbol = prior_beliefs(family), name.replace("-", "_")
        objects[f"prior__{symbol}"] = wasm.compiled(fill_prior, (family, beliefs), f"prior__{symbol}", exact=True)
        if derived_fields(family):
            parts = (family, beliefs, np.zeros(3), np.zeros(family.rows()))
            objects[f"derive__{symbol}"] = wasm.compiled(DERIVE[name], parts, f"derive__{symbol}", exact=True)
    return wasm.link(objects)


def derived_fields(family: Any) -> list[str]:
    return [name for name, default in type(family)._field_defaults.items() if default is DERIVED]


# --- how arguments lie in memory -------------------------------------------------------------------------------------------


def layout(pair: Pair) -> Json:
    """The learner and its state: for each number its kind and name, for each array its kind, its shape and how it begins."""
    family = pair.example.family
    other = example_family(pair.family, {**OTHER_WORLDS[pair.family], **_one_more(pair.family)})
    wide = example_learner(LEARNER_RECORDS[pair.learner], other, FEW)
    assert wide is not None
    few, many, wider = pair.example.init(0), _roomy(pair.more), wide.init(0)
    learner = _node(pair.example, pair.more, wide, family)
    return {"learner": learner, "state": _node(few, many, wider, family)}


def _one_more(name: str) -> dict[str, float]:
    """One category more than in the first world: it tells which arrays grow with their number."""
    return {"k": WORLDS[name]["k"].value + 1} if "k" in WORLDS[name] else {}


def _roomy(learner: Learner) -> Any:
    state = learner.init(0)
    return learner.grow(state) if learner.grows() else state


def _node(value: Any, more: Any, wide: Any, family: Family) -> Json:
    if isinstance(value, tuple):
        names = getattr(value, "_fields", tuple(map(str, range(len(value)))))
        node: dict[str, Json] = {
            name: _node(one, other, third, family) for name, one, other, third in zip(names, value, more, wide, strict=True)
        }
        return {"fields": node, "prior": _is_prior(value, family)} if isinstance(value, Beliefs) else {"fields": node}
    if isinstance(value, np.ndarray):
        size = zip(value.shape, more.shape, wide.shape, strict=True)
        shape: list[Json] = [
            "room" if a != b else {"k": a - int(WORLDS["categorical"]["k"].value)} if a != c else a for a, b, c in size
        ]
        begins = value.ravel().tolist() if value.any() and all(isinstance(one, int) for one in shape) else None
        return {"array": value.dtype.str[1:], "shape": shape, "begins": begins}
    return {"number": "float" if isinstance(value, float) else "int", "value": value}


def _is_prior(beliefs: Beliefs, family: Family) -> bool:
    prior = prior_beliefs(family, beliefs.nu.size)
    return bool((beliefs.chi == prior.chi).all() and (beliefs.nu == prior.nu).all())
