"""What the explorer runs: every learner with every family that it offers, compiled for browsers, and how they lie in memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from volatilis._compiler import wasm
from volatilis._core.fields import DERIVED
from volatilis.families._base import Beliefs, Family, prior_beliefs
from volatilis.families._circular import set_vector, unit_vector
from volatilis.html import Json
from volatilis.html.explorer.offers import FEW, OTHER_WORLDS, WORLDS, Pair, example_family, example_learner, offers
from volatilis.learners._base import Learner
from volatilis.learners._one_belief import OneBelief
from volatilis.running import drivers
from volatilis.special import bessel_ratio, log, log_1p, scaled_bessel

READOUTS = ("mean", "variance", "run_length")  # and with them all others


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
    """The numbers that a family computes from its parameters; not a family within, whose parameters are the same."""
    derived = (name for name, default in type(family)._field_defaults.items() if default is DERIVED)
    return [name for name in derived if not isinstance(getattr(family, name), tuple)]


# --- how arguments lie in memory -------------------------------------------------------------------------------------------


def layout(pair: Pair) -> Json:
    """The learner and its state: for each number its kind and name, for each array its kind, its shape and how it begins."""
    family = pair.example.family
    other = example_family(pair.family, {**OTHER_WORLDS[pair.family], **_one_more(pair.family)})
    wide = example_learner(offers()[pair.learner], other, FEW)
    assert wide is not None
    few, many, wider = pair.example.init(0), _roomy(pair.more), wide.init(0)
    room = _room(few, many)
    return {"learner": _node(pair.example, pair.more, wide, family, room), "state": _node(few, many, wider, family, room)}


def _room(few: Any, many: Any) -> int:
    """How many hypotheses there is room for: the least length that differs where there is room for more of them."""
    if isinstance(few, tuple):
        return min((_room(one, other) for one, other in zip(few, many, strict=True)), default=sys.maxsize)
    if isinstance(few, np.ndarray):
        return min((a for a, b in zip(few.shape, many.shape, strict=True) if a != b), default=sys.maxsize)
    return sys.maxsize


def _one_more(name: str) -> dict[str, float]:
    """One category more than in the first world: it tells which arrays grow with their number."""
    return {"k": WORLDS[name]["k"].value + 1} if "k" in WORLDS[name] else {}


def _roomy(learner: Learner) -> Any:
    state = learner.init(0)
    return learner.grow(state) if learner.grows() else state


def _node(value: Any, more: Any, wide: Any, family: Family, room: int) -> Json:
    if isinstance(value, tuple):
        names = getattr(value, "_fields", tuple(map(str, range(len(value)))))
        node: dict[str, Json] = {
            name: _node(one, other, third, family, room) for name, one, other, third in zip(names, value, more, wide, strict=True)
        }
        return {"fields": node, "prior": _is_prior(value, family)} if isinstance(value, Beliefs) else {"fields": node}
    if isinstance(value, np.ndarray):
        size = zip(value.shape, more.shape, wide.shape, strict=True)
        shape: list[Json] = [
            {"rooms": a // room} if a != b else {"k": a - int(WORLDS["categorical"]["k"].value)} if a != c else a
            for a, b, c in size
        ]
        begins = value.ravel().tolist() if value.any() and all(isinstance(one, int) for one in shape) else None
        return {"array": value.dtype.str[1:], "shape": shape, "begins": begins}
    return {"number": "float" if isinstance(value, float) else "int", "value": value}


def _is_prior(beliefs: Beliefs, family: Family) -> bool:
    """Whether every column is the prior; of a bank of states, side by side, all of each."""
    prior = prior_beliefs(family, beliefs.nu.shape[-1])
    return bool((beliefs.chi == prior.chi).all() and (beliefs.nu == prior.nu).all())
