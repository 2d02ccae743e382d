"""The learners of the paper under its names, for one environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from volatilis.experiments.tuning import free_parameter
from volatilis.learners import (
    ExactBayes,
    Leaky,
    Merge,
    MessagePassing,
    Nas10,
    Nas10Star,
    Nas12,
    Nas12Star,
    ParticleFilter,
    SMiLe,
    StratifiedResampling,
    VarSMiLe,
    record_of,
)
from volatilis.paper.published.code import PublishedStratifiedResampling
from volatilis.paper.settings import CATEGORICAL, GAUSSIAN, MERGED, NEAR, PARTICLES, Environment, family_of

if TYPE_CHECKING:
    from volatilis.learners._base import Learner
    from volatilis.paper.tuned import Best

WITH_N: dict[str, type] = {"pf": ParticleFilter, "MP": MessagePassing, "SOR": StratifiedResampling, "Merge": Merge}
TUNED: dict[str, dict[str, type]] = {  # those with a parameter that is tuned
    GAUSSIAN: {
        "VarSMiLe": VarSMiLe,
        "SMiLe": SMiLe,
        "Leaky": Leaky,
        "Nas10*": Nas10Star,
        "Nas12*": Nas12Star,
        "Nas10": Nas10,
        "Nas12": Nas12,
    },
    CATEGORICAL: {"VarSMiLe": VarSMiLe, "SMiLe": SMiLe, "Leaky": Leaky},
}


def benchmark_for(where: Environment, near: bool) -> Learner:
    """Exact Bayes, or `near`: a Merge with so many hypotheses that its estimates hardly differ."""
    family = family_of(where.task, where.noise)
    return Merge(family, where.p_c, NEAR) if near else ExactBayes(family, where.p_c)


def all_learners(where: Environment, tuned: Mapping[tuple[str, Environment], Best]) -> dict[str, Learner]:
    """Every learner but Exact Bayes."""
    return sampling_learners(where) | tuned_learners(where, tuned)


def sampling_learners(where: Environment) -> dict[str, Learner]:
    """Those whose one parameter is the true p_c."""
    family, p_c = family_of(where.task, where.noise), where.p_c
    learners: dict[str, Learner] = {f"{kind}{n}": WITH_N[kind](family, p_c, n) for kind in ("pf", "MP", "SOR") for n in PARTICLES}
    learners |= {f"SOR{n} (published)": PublishedStratifiedResampling(family, p_c, n) for n in PARTICLES}
    return learners | {f"Merge{n}": Merge(family, p_c, n) for n in MERGED}


def tuned_learners(where: Environment, tuned: Mapping[tuple[str, Environment], Best]) -> dict[str, Learner]:
    """Those with a tuned parameter: within the authors' bounds, and free of them."""
    learners: dict[str, Learner] = {}
    for name in TUNED[where.task]:
        best = tuned[name, where]
        learners[name] = _make(name, where, best.bounded)
        learners[f"{name} (free)"] = _make(name, where, best.free)
    return learners


def _make(name: str, where: Environment, value: float) -> Learner:
    cls = TUNED[where.task][name]
    return record_of(cls).make(family_of(where.task, where.noise), {free_parameter(cls): value})


# --- the best leak of Leaky in the Gaussian task, in closed form ---------------------------------------------------------

# The estimate is sum_k (1 - omega) omega^k y_(t-k); means k steps apart correlate with (1 - p_c)^k. So
#
#     MSE(omega) = (1 - omega) / (1 + omega) (sigma^2 + sigma_0^2 (1 + omega a) / (1 - omega a)) + sigma_0^2
#                  - 2 sigma_0^2 (1 - omega) / (1 - omega a),       a = 1 - p_c


def error_of_leak(omega: float, sigma: float, p_c: float, sigma_0: float = 1.0) -> float:
    """The mean squared error of a leak, long after the start."""
    a, prior = 1.0 - p_c, sigma_0**2
    of_estimate = (1.0 - omega) / (1.0 + omega) * (sigma**2 + prior * (1.0 + omega * a) / (1.0 - omega * a))
    return of_estimate + prior - 2.0 * prior * (1.0 - omega) / (1.0 - omega * a)


def best_leak(sigma: float, p_c: float, sigma_0: float = 1.0) -> float:
    """The omega of the least error, up to 1 - 1e-6: a perfect integrator where that is best."""
    from scipy.optimize import minimize_scalar

    optimum = minimize_scalar(
        lambda x: error_of_leak(-math.expm1(-x), sigma, p_c, sigma_0),
        bounds=(0.0, -math.log(1e-6)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return -math.expm1(-float(optimum.x))
