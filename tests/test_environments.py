"""The generative model: when it changes, from what it draws, and that the seed decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import volatilis as vl

FAMILIES = {
    "Gaussian": vl.Gaussian(0.5, mu_0=1.0, sigma_0=2.0),
    "GaussianUnknownVariance": vl.GaussianUnknownVariance(1.0, 2.0, 6.0, 3.0),
    "Categorical": vl.Categorical(4, s=0.7),
    "Bernoulli": vl.Bernoulli(2.0, 5.0),
    "Poisson": vl.Poisson(3.0, 0.5),
    "Exponential": vl.Exponential(6.0, 2.0),
    "MultivariateGaussian": vl.MultivariateGaussian([[1.0, 0.3], [0.3, 0.5]], [1.0, -2.0], [[2.0, 0.4], [0.4, 1.0]]),
    "MultivariateGaussianUnknownCovariance": vl.MultivariateGaussianUnknownCovariance(
        [1.0, -1.0], 2.0, 9.0, [[2.0, 0.3], [0.3, 1.0]]
    ),
}
STEPS = 4000
every_family = pytest.mark.parametrize("name", FAMILIES)


def rows(theta: np.ndarray) -> np.ndarray:
    return theta[:, None] if theta.ndim == 1 else theta


@every_family
def test_what_a_sample_is(name: str) -> None:
    family = FAMILIES[name]
    y, theta, changed = vl.ChangingEnvironment(family, 0.1).sample(300, seed=3)
    assert changed.dtype == bool
    assert changed.shape == (300,)
    assert changed[0]
    assert len(y) == len(theta) == 300
    assert rows(theta).shape == (300, family.size())
    assert not family.observations(y)[1].any()  # valid observations, none missing
    moved = np.any(rows(theta)[1:] != rows(theta)[:-1], axis=1)
    assert np.array_equal(moved, changed[1:])  # constant between changes, new at each
    assert np.all(np.isfinite(rows(theta)))


def test_the_rate_of_change() -> None:
    """Within 5 standard errors of p_c, at both ends too."""
    family, T = vl.Bernoulli(), 40_000
    for p_c in (0.001, 0.05, 0.5, 0.95):
        changed = vl.ChangingEnvironment(family, p_c).sample(T, seed=11).changed[1:]
        error = math.sqrt(p_c * (1.0 - p_c) / (T - 1))
        assert abs(changed.mean() - p_c) < 5.0 * error
        pairs = np.mean(changed[1:] & changed[:-1])  # independent of the step before
        assert abs(pairs - p_c**2) < 5.0 * math.sqrt(p_c**2 / T) + 1e-12
    assert vl.ChangingEnvironment(family, 1e-12).sample(1000, seed=1).changed.sum() == 1
    assert vl.ChangingEnvironment(family, 1.0 - 1e-12).sample(1000, seed=1).changed.all()


@every_family
def test_the_seed_decides(name: str) -> None:
    environment = vl.ChangingEnvironment(FAMILIES[name], 0.1)
    a, b, c = (environment.sample(50, seed=s) for s in (7, np.random.SeedSequence(7), 8))
    assert all(np.array_equal(x, z) for x, z in zip(a, b, strict=True))
    assert not np.array_equal(a.y, c.y)
    seeds = np.random.SeedSequence(7)
    first, second = environment.sample(20, seed=seeds), environment.sample(20, seed=seeds)
    assert np.array_equal(first.y, second.y), "sampling used up the caller's seed"


def test_the_first_observations_do_not_depend_on_the_length() -> None:
    """One stream of random numbers for changes, one for parameters, one for observations."""
    environment = vl.ChangingEnvironment(FAMILIES["Gaussian"], 0.2)
    short, long = environment.sample(40, seed=5), environment.sample(400, seed=5)
    assert np.array_equal(short.changed, long.changed[:40])
    assert np.array_equal(short.theta, long.theta[:40])


@every_family
@pytest.mark.parametrize("size", [1, 7, 64, 149, 150, 1000])
def test_pieces_are_the_sample(name: str, size: int) -> None:
    """Put together they are the same numbers, whatever their size: one, odd, more than there are."""
    environment = vl.ChangingEnvironment(FAMILIES[name], 0.1)
    whole, pieces = environment.sample(150, seed=9), list(environment.pieces(150, size, seed=9))
    assert [len(piece.y) for piece in pieces] == [size] * (150 // size) + [150 % size] * (150 % size > 0)
    for field in ("y", "theta", "changed"):
        together = np.concatenate([getattr(piece, field) for piece in pieces])
        assert together.dtype == getattr(whole, field).dtype
        assert np.array_equal(together, getattr(whole, field)), field
    assert pieces[0].changed[0]


@every_family
def test_pieces_of_nothing_are_one_empty_piece(name: str) -> None:
    (piece,) = vl.ChangingEnvironment(FAMILIES[name], 0.1).pieces(0, 10, seed=1)
    assert len(piece.y) == len(piece.changed) == 0
    assert rows(piece.theta).shape == (0, FAMILIES[name].size())


@pytest.mark.parametrize("size", [0, -1, 1.5, "3", None, True])
def test_sizes_of_pieces_that_make_no_sense(size: Any) -> None:
    with pytest.raises(ValueError, match=r"ChangingEnvironment.pieces: size = .* whole number, 1 or more"):
        vl.ChangingEnvironment(vl.Bernoulli(), 0.1).pieces(10, size)


@pytest.mark.parametrize("T", [-1, 1.5, "3", None, True])
def test_lengths_in_pieces_that_make_no_sense(T: Any) -> None:
    with pytest.raises(ValueError, match=r"ChangingEnvironment.pieces: T = .* whole number, 0 or more"):
        vl.ChangingEnvironment(vl.Bernoulli(), 0.1).pieces(T, 5)


@every_family
def test_parameters_come_from_the_prior(name: str) -> None:
    """Mean and variance of theta, p_c near 1 so that each step is a draw: within 5 standard errors of the prior's.

    The variance's standard error is estimated from the sample's own fourth moment.
    """
    family = FAMILIES[name]
    theta = rows(vl.ChangingEnvironment(family, 1.0 - 1e-12).sample(STEPS, seed=2).theta)
    prior = vl.Stream(vl.ExactBayes(family, 0.5)).belief
    mean, variance = np.atleast_1d(prior.mean), np.atleast_1d(prior.variance)
    assert np.all(np.abs(theta.mean(axis=0) - mean) < 5.0 * np.sqrt(variance / STEPS))
    squares = (theta - mean) ** 2
    assert np.all(np.abs(squares.mean(axis=0) - variance) < 5.0 * squares.std(axis=0) / math.sqrt(STEPS))


@every_family
def test_observations_come_from_the_likelihood(name: str) -> None:
    """One theta, 4,000 observations: their mean and variance within 5 standard errors of what the likelihood says."""
    family = FAMILIES[name]
    y, theta, _ = vl.ChangingEnvironment(family, 1e-12).sample(STEPS, seed=4)
    first = rows(theta)[0]
    if name == "Categorical":
        values, mean, variance = np.eye(4)[y], first, first * (1.0 - first)
    elif name == "Bernoulli":
        values, mean, variance = y, first, first * (1.0 - first)
    elif name == "Poisson":
        values, mean, variance = y, first, first
    elif name == "Exponential":
        values, mean, variance = y, 1.0 / first, 1.0 / first**2
    elif name == "Gaussian":
        values, mean, variance = y, first, np.array([0.25])
    elif name == "GaussianUnknownVariance":
        values, mean, variance = y, first[:1], first[1:]
    elif name == "MultivariateGaussian":
        values, mean, variance = y, first, np.array([1.0, 0.5])
    else:
        values, mean, variance = y, first[:2], first[[2, 4]]
    values = rows(np.asarray(values, dtype=float))
    assert np.all(np.abs(values.mean(axis=0) - mean) < 5.0 * np.sqrt(variance / STEPS))
    squares = (values - mean) ** 2
    assert np.all(np.abs(squares.mean(axis=0) - variance) < 5.0 * squares.std(axis=0) / math.sqrt(STEPS))


def test_covariances_of_vectors() -> None:
    """The covariance between the elements of an observation, within 5 standard errors."""
    y, theta, _ = vl.ChangingEnvironment(FAMILIES["MultivariateGaussian"], 1e-12).sample(STEPS, seed=4)
    products = (y[:, 0] - theta[:, 0]) * (y[:, 1] - theta[:, 1])
    assert abs(products.mean() - 0.3) < 5.0 * products.std() / math.sqrt(STEPS)
    y, theta, _ = vl.ChangingEnvironment(FAMILIES["MultivariateGaussianUnknownCovariance"], 1e-12).sample(STEPS, seed=4)
    products = (y[:, 0] - theta[:, 0]) * (y[:, 1] - theta[:, 1])
    assert abs(products.mean() - theta[0, 3]) < 5.0 * products.std() / math.sqrt(STEPS)


@every_family
def test_no_observation(name: str) -> None:
    family = FAMILIES[name]
    y, theta, changed = vl.ChangingEnvironment(family, 0.1).sample(0, seed=1)
    assert len(y) == len(theta) == len(changed) == 0
    assert rows(theta).shape == (0, family.size())
    assert len(vl.run(vl.Leaky(family, 0.9), y)) == 0


@pytest.mark.parametrize("T", [-1, 1.5, "3", None, True, [3]])
def test_lengths_that_make_no_sense(T: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="T = "):
        vl.ChangingEnvironment(vl.Bernoulli(), 0.1).sample(T)


@pytest.mark.parametrize("seed", [-1, 1.5, "3", True, None])
def test_seeds_that_make_no_sense(seed: Any) -> None:
    """None too: it would take a seed from the clock."""
    with pytest.raises((ValueError, TypeError), match="seed"):
        vl.ChangingEnvironment(vl.Bernoulli(), 0.1).sample(3, seed=seed)


@pytest.mark.parametrize("p_c", [0.0, 1.0, -0.1, math.nan, "0.1", None])
def test_arguments_that_make_no_sense(p_c: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"ChangingEnvironment: p_c = .*it must be a number above 0 and below 1"):
        vl.ChangingEnvironment(vl.Bernoulli(), p_c)
    with pytest.raises((ValueError, TypeError), match="ChangingEnvironment: family = "):
        vl.ChangingEnvironment(3.0, 0.1)


def test_a_weak_prior_on_categories_is_a_distribution() -> None:
    """Gamma variates of a tiny shape underflow; probabilities may not."""
    theta = vl.ChangingEnvironment(vl.Categorical(3, s=1e-3), 1.0 - 1e-12).sample(500, seed=6).theta
    assert np.all(np.isfinite(theta))
    assert theta.sum(axis=1) == pytest.approx(np.ones(500), rel=1e-12)


def test_covariances_that_are_next_to_singular_can_be_sampled() -> None:
    """With degrees of freedom just above p - 1 rounding leaves some draws without a Cholesky factor."""
    family = vl.MultivariateGaussianUnknownCovariance([0.0, 0.0], 1e-3, 1.02, [[1e4, 0.0], [0.0, 1e-4]])
    for seed in range(20):
        sample = vl.ChangingEnvironment(family, 0.5).sample(50, seed=seed)
        assert np.isfinite(sample.y).all()
        assert np.isfinite(sample.theta).all()
