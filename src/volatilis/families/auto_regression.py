"""Autoregression with unknown coefficients and unknown variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Positive, derived
from volatilis.families._base import AcceptedNumbers
from volatilis.families._chains import ChainTuple, chain
from volatilis.families._kinds import AnyFamily, FamilyRecord
from volatilis.families._observations import level_and_spread, noise_scale, real_observations
from volatilis.families._regression import without_growth
from volatilis.families.gaussian import Location
from volatilis.families.gaussian_unknown_variance import ENOUGH, PriorWeight
from volatilis.families.linear_regression import LinearRegression, OtherWeight, Shape
from volatilis.families.transitions import Order

USUAL = 0.5  # the size of a coefficient


@chain(
    FamilyRecord(
        name="autoregression",
        aliases=("ar",),
        unnamed="order",
        place=230,
        observes="a finite number",
        likelihood=r"$y_t - \mu_0 \sim N(c + \sum_j a_j (y_{t-j} - \mu_0), v)$",
        theta="(c, a, v) (`c`, `a[1]`, ..., `v`)",
        prior=r"$v \sim \mathrm{InverseGamma}(\alpha_0, \beta_0)$, $c \sim N(0, v / \kappa_0)$, $a_j \sim N(0, v / \kappa_x)$",
    )
)
class AutoRegression(ChainTuple):
    """y_t - mu_0 ~ N(c + sum_j a[j] (y_{t-j} - mu_0), v), j = 1 ... order; c, a and v are new at each change.

    A `LinearRegression` on the constant 1 and the last observations; theta = (c, a[1], ..., a[order], v). The first `order`
    observations after a start, a reset or a gap are conditioned on, not scored.

        order     how many observations before it decide about the next
        kappa_0   how many observations the prior of c, and of a, is worth
        alpha_0   the shape of the prior of v: its mean exists above 1, its variance above 2
        beta_0    the scale of the prior of v, whose mean is beta_0 / (alpha_0 - 1)
        mu_0      is subtracted from y: where the observations are, roughly
        kappa_x   a ~ N(0, v / kappa_x), where it is not kappa_0 as well (0): like v it has the unit of y squared

    >>> import volatilis as vl
    >>> learner = vl.VarSMiLe(vl.AutoRegression(order=1), m=0.1)
    >>> vl.run(learner, [1.0, 0.6, 0.5, 0.2]).mean[-1].round(3)
    array([0.21 , 0.203, 0.61 ])
    """

    order: Order
    kappa_0: PriorWeight = 1.0
    alpha_0: Shape = 3.0
    beta_0: Positive = 2.0
    mu_0: Location = 0.0
    kappa_x: OtherWeight = 0.0
    family: AnyFamily = derived()

    def write_row(self, memory: np.ndarray, past: int, at: int, y: float) -> None:
        memory[at] = y
        memory[at + 1] = 1.0
        for k in range(self.order):
            memory[at + 2 + k] = memory[past + k] - self.mu_0

    @staticmethod
    def _derive(order: int, kappa_0: float, alpha_0: float, beta_0: float, mu_0: float, kappa_x: float) -> dict[str, Any]:
        return {"family": LinearRegression(order + 1, kappa_0, alpha_0, beta_0, mu_0, kappa_x)}

    @python_only
    def observations(self, ys: object) -> tuple[np.ndarray, np.ndarray]:
        return real_observations("AutoRegression", ys)

    @python_only
    def accepted_numbers(self) -> AcceptedNumbers:
        return AcceptedNumbers()

    @python_only
    def parameter_names(self) -> tuple[str, ...]:
        return ("c", *(f"a[{k + 1}]" for k in range(self.order)), "v")

    @python_only
    def plausible(self, sequences: Sequence[np.ndarray]) -> AutoRegression:
        stable = without_growth(sequences, self.order)
        mean, spread = level_and_spread(np.concatenate(sequences)) if stable is None else stable[:2]
        v = (noise_scale(np.concatenate([np.diff(y) for y in sequences])) or 1.0) ** 2 if stable is None else stable.v
        return AutoRegression(self.order, v / max(spread * spread - v, v), ENOUGH, (ENOUGH - 1.0) * v, mean, v / (USUAL * USUAL))

    @python_only
    def sample_segment(
        self, theta: np.ndarray, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        """The first observations of a sequence, which have no past, are drawn as if mu_0 had come before."""
        if given is not None:
            raise TypeError("AutoRegression finds the context by itself, so it takes no given")
        series = np.concatenate([np.zeros(self.order), past - self.mu_0, np.zeros(n)])
        start, noise = len(series) - n, rng.normal(0.0, math.sqrt(theta[-1]), n)
        for t in range(n):
            before = series[start + t - self.order : start + t][::-1]
            series[start + t] = theta[0] + before @ theta[1:-1] + noise[t]
        return self.mu_0 + series[start:]

    @python_only
    def sample_broad_in(
        self, spread: float, n: int, rng: np.random.Generator, given: np.ndarray | None, past: np.ndarray
    ) -> np.ndarray:
        """One, in the context of the past."""
        before = np.concatenate([np.zeros(self.order), past - self.mu_0])[-self.order :][::-1]
        return self.family.sample_broad_in(spread, 1, rng, np.array([[1.0, *before]]), past)
