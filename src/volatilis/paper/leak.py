"""The best leak of a leaky integrator in the Gaussian task, in closed form: no simulation, no noise.

The estimate is sum_k (1 - omega) omega^k y_(t-k); means k steps apart correlate with (1 - p_c)^k. So

    MSE(omega) = (1 - omega) / (1 + omega) (sigma^2 + sigma_0^2 (1 + omega a) / (1 - omega a)) + sigma_0^2
                 - 2 sigma_0^2 (1 - omega) / (1 - omega a),       a = 1 - p_c
"""

from __future__ import annotations

import math


def error_of(omega: float, sigma: float, p_c: float, sigma_0: float = 1.0) -> float:
    """The mean squared error long after the start."""
    a, prior = 1.0 - p_c, sigma_0**2
    of_estimate = (1.0 - omega) / (1.0 + omega) * (sigma**2 + prior * (1.0 + omega * a) / (1.0 - omega * a))
    return of_estimate + prior - 2.0 * prior * (1.0 - omega) / (1.0 - omega * a)


def best_leak(sigma: float, p_c: float, sigma_0: float = 1.0) -> float:
    """The omega of the least error, up to 1 - 1e-6: a perfect integrator where that is best."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda x: error_of(-math.expm1(-x), sigma, p_c, sigma_0),
        bounds=(0.0, -math.log(1e-6)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return -math.expm1(-float(found.x))
