"""One wild case from one number: a family, a learner and observations, all far from what anybody would choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import volatilis as vl

Random = np.random.Generator
LARGEST = 1e60  # of an observation: the variance of an unknown variance goes with its fourth power


class Case(NamedTuple):
    """What is run. `seed` makes it again."""

    seed: int
    learner: Any
    y: np.ndarray
    missing: np.ndarray  # which observations are missing: time passes

    def __str__(self) -> str:
        return f"case {self.seed}: {self.learner!r} on {self.y.tolist()}, missing {np.flatnonzero(self.missing).tolist()}"


def make(seed: int) -> Case:
    """The case of this seed; seeds one after another go through all pairs of family and learner."""
    rng = np.random.default_rng([seed, 20210])
    family_name, learner_name = PAIRS[seed % len(PAIRS)]
    family = FAMILIES[family_name](rng)
    learner = LEARNERS[learner_name](family, rng)
    y = observations(family, rng, int(rng.integers(1, 25)))
    missing = rng.random(len(y)) < (0.2 if rng.random() < 0.2 else 0.0)
    return Case(seed, learner, y, missing)


# --- parameters --------------------------------------------------------------------------------------------------------


def magnitude(rng: Random, low: float = -6.0, high: float = 6.0) -> float:
    """A positive number, its logarithm uniform, or an ordinary one."""
    return float(10.0 ** rng.uniform(low, high)) if rng.random() < 0.7 else float(rng.choice([0.5, 1.0, 2.0]))


def probability(rng: Random) -> float:
    """Ordinary, next to 0, or next to 1."""
    kind = rng.integers(4)
    if kind == 0:
        return float(rng.uniform(0.01, 0.99))
    small = float(10.0 ** rng.uniform(-13.0, -1.0))
    return 1.0 - small if kind == 1 else small


def count(rng: Random) -> int:
    return int(rng.choice([1, 2, 3, 4, 7, 8, 20]))


def plane(rng: Random) -> np.ndarray:
    """A covariance matrix of two dimensions: axes of very different lengths, nearly parallel to each other or not at all."""
    a, b = magnitude(rng, -4.0, 4.0), magnitude(rng, -4.0, 4.0)
    off = float(rng.choice([0.0, 0.5, -0.9, 0.999])) * math.sqrt(a * b)
    return np.array([[a, off], [off, b]])


def middle(rng: Random) -> float:
    return 0.0 if rng.random() < 0.5 else float(rng.choice([-1.0, 1.0])) * magnitude(rng)


FAMILIES: dict[str, Callable[[Random], Any]] = {
    "Gaussian": lambda r: vl.Gaussian(magnitude(r), middle(r), magnitude(r)),
    "GaussianUnknownVariance": lambda r: vl.GaussianUnknownVariance(
        middle(r), magnitude(r), float(r.choice([0.3, 0.6, 1.1, 1.5, 2.5, 10.0])), magnitude(r)
    ),
    "Categorical": lambda r: vl.Categorical(int(r.integers(2, 7)), magnitude(r)),
    "Bernoulli": lambda r: vl.Bernoulli(magnitude(r), magnitude(r)),
    "Poisson": lambda r: vl.Poisson(magnitude(r), magnitude(r)),
    "Exponential": lambda r: vl.Exponential(magnitude(r), magnitude(r)),
    "VonMises": lambda r: vl.VonMises(magnitude(r), middle(r), 0.0 if r.random() < 0.4 else magnitude(r), magnitude(r)),
    "MultivariateGaussian": lambda r: vl.MultivariateGaussian(plane(r), [middle(r), middle(r)], plane(r)),
    "MultivariateGaussianUnknownCovariance": lambda r: vl.MultivariateGaussianUnknownCovariance(
        [middle(r), middle(r)], magnitude(r), float(r.choice([1.2, 2.6, 3.5, 5.5, 20.0])), plane(r)
    ),
}
LEARNERS: dict[str, Callable[[Any, Random], Any]] = {
    "ExactBayes": lambda f, r: vl.ExactBayes(f, probability(r), float(r.choice([0.0, 1e-16, 0.01]))),
    "MessagePassing": lambda f, r: vl.MessagePassing(f, probability(r), count(r)),
    "ParticleFilter": lambda f, r: vl.ParticleFilter(f, probability(r), count(r), float(r.choice([0.0, 0.5, 1.0]))),
    "StratifiedResampling": lambda f, r: vl.StratifiedResampling(f, probability(r), count(r)),
    "Merge": lambda f, r: vl.Merge(f, probability(r), count(r)),
    "VarSMiLe": lambda f, r: vl.VarSMiLe(f, magnitude(r, -12.0, 12.0)),
    "SMiLe": lambda f, r: vl.SMiLe(f, magnitude(r, -12.0, 12.0)),
    "Leaky": lambda f, r: vl.Leaky(f, float(r.choice([0.0, 0.1, 0.9, 0.999, 1.0]))),
    "Nas10Star": lambda f, r: vl.Nas10Star(f, probability(r)),
    "Nas12Star": lambda f, r: vl.Nas12Star(f, probability(r)),
}
NO_SCALED_LIKELIHOOD = ("GaussianUnknownVariance", "MultivariateGaussianUnknownCovariance")
PAIRS = [
    (family, learner)
    for family in FAMILIES
    for learner in LEARNERS
    if not (learner == "SMiLe" and family in NO_SCALED_LIKELIHOOD) and not (learner.startswith("Nas") and family != "Gaussian")
]


# --- observations ------------------------------------------------------------------------------------------------------


def observations(family: Any, rng: Random, length: int) -> np.ndarray:
    """From the family's own environment now and then; else of every size, in blocks of one size, or one number again."""
    categories = {vl.Categorical: getattr(family, "k", 2), vl.Bernoulli: 2}.get(type(family))
    if categories is not None:
        return rng.integers(0, categories, length) if rng.random() < 0.7 else np.full(length, rng.integers(0, categories))
    if rng.random() < 0.25:
        with np.errstate(all="ignore"):  # a rate that underflows to 0 makes an infinite waiting time: as far out as may be
            y = vl.ChangingEnvironment(family, 0.2).sample(length, seed=int(rng.integers(1 << 30))).y
        return clipped(family, y)
    if type(family) in (vl.MultivariateGaussian, vl.MultivariateGaussianUnknownCovariance):
        return np.stack([numbers(rng, length), numbers(rng, length)], axis=-1)
    return clipped(family, numbers(rng, length))


def numbers(rng: Random, length: int) -> np.ndarray:
    kind = rng.integers(5)
    far = 60.0 if rng.random() < 0.1 else 8.0
    if kind == 0:
        sizes = 10.0 ** rng.uniform(-far, far, length)
    elif kind == 1:
        sizes = np.full(length, 10.0 ** rng.uniform(-far, far))
    elif kind == 2:
        return np.full(length, float(rng.normal() * 10.0 ** rng.uniform(-far, far)))
    elif kind == 3:
        sizes = 10.0 ** np.repeat(rng.uniform(-3.0, far, 1 + length // 5), 5)[:length]
    else:
        sizes = np.where(rng.random(length) < 0.15, 10.0 ** rng.uniform(0.0, far), 1.0)
    return sizes * rng.normal(size=length)


def clipped(family: Any, y: np.ndarray) -> np.ndarray:
    """What the family accepts, and no further out than LARGEST."""
    if isinstance(family, vl.Poisson):
        return np.minimum(np.abs(y), 1e9).astype(np.int64)
    if isinstance(family, vl.Exponential):
        return np.clip(np.abs(y), 1e-60, LARGEST)
    return np.clip(y, -LARGEST, LARGEST)
