"""The learners of the paper under its names, for one environment."""

from __future__ import annotations

from typing import Any

from volatilis.learners import ExactBayes, Merge, MessagePassing, ParticleFilter, StratifiedResampling
from volatilis.paper.published.code import PublishedStratifiedResampling
from volatilis.paper.settings import GAUSSIAN, MERGED, NEAR, PARTICLES, family_of
from volatilis.paper.tuned import TUNED, Best, Environment

WITH_N = {"pf": ParticleFilter, "MP": MessagePassing, "SOR": StratifiedResampling, "Merge": Merge}


def benchmark_for(where: Environment, near: bool) -> Any:
    """Exact Bayes, or a Merge with so many hypotheses that it is next to it."""
    family = family_of(where.task, where.noise)
    return Merge(family, where.p_c, NEAR) if near else ExactBayes(family, where.p_c)


def sampling_learners(where: Environment) -> dict[str, Any]:
    """Those whose one parameter is the true p_c."""
    family, p_c = family_of(where.task, where.noise), where.p_c
    learners: dict[str, Any] = {f"{kind}{n}": WITH_N[kind](family, p_c, n) for kind in ("pf", "MP", "SOR") for n in PARTICLES}
    learners |= {f"SOR{n} (published)": PublishedStratifiedResampling(family, p_c, n) for n in PARTICLES}
    return learners | {f"Merge{n}": Merge(family, p_c, n) for n in MERGED}


def tuned_learners(where: Environment, tuned: dict[tuple[str, Environment], Best]) -> dict[str, Any]:
    """Those with a tuned parameter: within the authors' bounds, and free of them."""
    learners: dict[str, Any] = {}
    for name, cls in TUNED[where.task].items():
        best = tuned[name, where]
        learners[name] = make(cls, where, best.bounded)
        learners[f"{name} (free)"] = make(cls, where, best.free)
    return learners


def make(cls: type, where: Environment, value: float) -> Any:
    original = where.task == GAUSSIAN and cls.__name__ in ("Nas10", "Nas12")
    return cls(where.noise, value) if original else cls(family_of(where.task, where.noise), value)


def all_learners(where: Environment, tuned: dict[tuple[str, Environment], Best]) -> dict[str, Any]:
    return sampling_learners(where) | tuned_learners(where, tuned)
