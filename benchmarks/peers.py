"""Adapters that time other libraries on the problem volatilis solves.

Every adapter feeds one sequence of real observations, one at a time, to a peer library and returns the
wall-clock seconds it spent per observation. All of them follow the same rules, so that the numbers may be put
side by side:

* the observations are turned into a list of Python floats before the clock starts;
* building the model or detector is not timed, and each repeat starts from a freshly built one;
* an untimed pass over the first observations comes first, so that imports, just-in-time compilation and
  caches are warm;
* the result is the median over ``repeats`` complete passes, divided by the number of observations;
* only the update is timed. Nothing is read back that the peer does not return by itself.

The figure is an average over the whole sequence. Where the work of one step grows with the number of
observations seen so far (``changepoint`` and ``bocd``), it therefore depends on the length of the sequence,
and the last steps cost more than the figure says; for such a peer it means nothing without the length.

The peers are optional. Each one is imported by the adapter that needs it, and a missing one raises a
``RuntimeError`` that names the package to install.
"""

from __future__ import annotations

import gc
import importlib
import math
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from types import ModuleType
from typing import Any

import numpy as np

__all__ = [
    "bocd_detector",
    "changepoint_bocpd",
    "particles_bootstrap",
    "river_adwin",
    "river_adwin_tight",
    "versions",
]

PACKAGES = ("changepoint", "bocd", "particles", "river", "pyhgf")

_WARMUP = 500


def versions() -> dict[str, str]:
    """Return the versions of Python, NumPy, SciPy and the peers; a package that is absent says so."""
    found = {"python": platform.python_version()}
    for package in ("numpy", "scipy", *PACKAGES):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def changepoint_bocpd(
    ys: Iterable[float],
    p_c: float,
    sigma: float = 1.0,
    mu_0: float = 0.0,
    sigma_0: float = 1.0,
    *,
    variance_weight: float = 1e8,
    repeats: int = 5,
) -> float:
    """Time ``changepoint.Bocpd`` (Rust, exact run-length recursion), in seconds per observation.

    Comparable: the model. The package has no Gaussian with a known variance; its Gaussian priors all learn
    the variance too. Here its normal inverse-chi-squared prior (the fastest of the three univariate ones)
    is given ``variance_weight`` pseudo-observations of the variance ``sigma**2``, which pins the variance:
    with the default weight the run-length posterior was that of the known-variance model to within 1e-6 in
    total variation, over 10,000 observations (a much larger weight loses digits to rounding). Pinning does
    not make a step cheaper, so the peer still pays for a Student-t predictive.

    Not comparable:

    * the first observation is by definition a change point there, and is left out of the inference;
    * a step returns the run-length distribution, as a new Python list with one float for each observation so
      far. It gives no mean and no prediction, and making the list is part of the time, because the package
      offers no way around it;
    * nothing is pruned at these hazards: step ``t`` works on ``t`` run lengths, so the time per observation
      grows with the length of ``ys``. A run length costs less once its probability has underflowed to
      exactly zero, but its statistics are still updated;
    * the package stops its recursion early once less than 1e-3 of the probability remains. The shortest run
      always holds ``p_c``, so above 1e-3 this never happens. Below, the stored probabilities were seen to
      stop summing to one and to overflow; such a time would describe a wrong answer, and ``p_c`` of at most
      1e-3 is refused.
    """
    if not 1e-3 < p_c < 1.0:
        raise ValueError(f"p_c must be above 1e-3 (see the docstring) and below 1, got {p_c}")
    _check_positive(sigma=sigma, sigma_0=sigma_0, variance_weight=variance_weight)
    changepoint = _peer("changepoint", "changepoint")
    prior = changepoint.NormalInvChiSquared(mu_0, (sigma / sigma_0) ** 2, variance_weight, sigma**2)

    def build(data: list[float]) -> Callable[[], None]:
        step = changepoint.Bocpd(prior=prior, lam=1.0 / p_c).step

        def run() -> None:
            for y in data:
                step(y)

        return run

    return _seconds_per_observation(build, ys, repeats)


def bocd_detector(
    ys: Iterable[float],
    p_c: float,
    sigma: float = 1.0,
    mu_0: float = 0.0,
    sigma_0: float = 1.0,
    *,
    tuned: bool = False,
    repeats: int = 5,
) -> float:
    """Time ``bocd.BayesianOnlineChangePointDetection`` (NumPy, exact recursion), in seconds per observation.

    Comparable: the model, exactly. The package lets its user supply the distribution, so the Gaussian with
    known variance is written for it here, as the package writes its own (see ``_known_variance_gaussian``), or
    with ``tuned`` in a form that precomputes all that does not depend on the data. The recursion and the
    hazard are the package's.

    Not comparable: nothing is pruned, so step ``t`` works on ``t`` run lengths and the time per observation
    grows with the length of ``ys``; up to one or two thousand run lengths it is mostly the fixed cost of many
    small NumPy calls. An update returns nothing: the run-length distribution and the means are held, not
    read.
    """
    _check_probability(p_c)
    _check_positive(sigma=sigma, sigma_0=sigma_0)
    bocd = _peer("bocd", "bocd")
    distribution_class = (_tuned_known_variance_gaussian if tuned else _known_variance_gaussian)(bocd)

    def build(data: list[float]) -> Callable[[], None]:
        hazard = bocd.ConstantHazard(1.0 / p_c)
        distribution = distribution_class(mu_0, sigma_0, sigma)
        update = bocd.BayesianOnlineChangePointDetection(hazard, distribution).update

        def run() -> None:
            for y in data:
                update(y)

        return run

    return _seconds_per_observation(build, ys, repeats)


def particles_bootstrap(
    ys: Iterable[float],
    p_c: float,
    sigma: float = 1.0,
    n: int = 20,
    *,
    mu_0: float = 0.0,
    sigma_0: float = 1.0,
    library_density: bool = True,
    seed: int = 0,
    repeats: int = 5,
) -> float:
    """Time a bootstrap filter with ``n`` particles from ``particles``, in seconds per observation.

    The state is the mean itself: it stays with probability ``1 - p_c`` and is otherwise redrawn from
    ``N(mu_0, sigma_0**2)``; the observation is ``N(state, sigma**2)``. Resampling is the package's default
    (systematic, when the effective sample size falls below half), history and summaries are off.

    Comparable: the model, and a bounded cost a step: the time per observation does not grow with the
    sequence.

    Not comparable:

    * the accuracy for the same ``n``. A bootstrap particle is one guess of the mean, and only about
      ``p_c * n`` particles are redrawn a step, whereas a particle that holds a run length integrates the
      mean exactly. Equal ``n`` is not equal quality; this adapter times a step, it does not rate the filter;
    * the shape of the work. The package is general and written in Python over NumPy, with many small-array
      calls a step, so for small ``n`` the time is nearly independent of ``n``;
    * the filter is given all of ``ys`` at once, though it reads them one at a time.

    By default the observation density is written out in NumPy, which is what a user who cares about speed
    does. With ``library_density`` it is the package's own ``Normal``, as in its tutorials; that goes
    through ``scipy.stats`` and is slower. The package draws from NumPy's global generator, which is seeded
    here and put back afterwards.
    """
    _check_probability(p_c)
    _check_positive(sigma=sigma, sigma_0=sigma_0)
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    particles = _peer("particles", "particles")
    models = _peer("particles.state_space_models", "particles")
    distributions = _peer("particles.distributions", "particles")
    model = _changing_mean_model(models, distributions, p_c, sigma, mu_0, sigma_0, library_density)

    def build(data: list[float]) -> Callable[[], None]:
        np.random.seed(seed)
        filter_ = particles.SMC(fk=models.Bootstrap(ssm=model, data=data), N=n, collect="off")

        def run() -> None:
            for _ in filter_:
                pass

        return run

    state = np.random.get_state()
    try:
        return _seconds_per_observation(build, ys, repeats)
    finally:
        np.random.set_state(state)


def river_adwin(ys: Iterable[float], *, repeats: int = 5) -> float:
    """Time ``river.drift.ADWIN().update`` in a plain Python loop, in seconds per observation.

    Comparable: only the role, an online reaction to change, and the way of calling it, one Python call an
    observation.

    Not comparable: the task. ADWIN keeps a compressed window and tests whether two parts of it differ in
    mean; it has no model, no hazard and no posterior, and its false-alarm bound is stated for bounded
    observations. With its defaults, kept here, it looks for a change only at every 32nd observation, so a
    time is an average over cheap insertions and rare tests. The update runs in Rust behind a thin Python
    method, whose call is a large part of the time.
    """
    drift = _peer("river.drift", "river")

    def build(data: list[float]) -> Callable[[], None]:
        update = drift.ADWIN().update

        def run() -> None:
            for y in data:
                update(y)

        return run

    return _seconds_per_observation(build, ys, repeats)


def river_adwin_tight(ys: Iterable[float], *, repeats: int = 5) -> float:
    """Time ``river.drift.ADWIN().update`` without the cost of the loop around it, in seconds per observation.

    This is the plain loop of :func:`river_adwin` less the same loop with nothing in it, so what is left is
    the call and the work of ``update``. (Driving the calls from C with ``map`` was measured to be no faster.)
    What is and is not comparable is as in :func:`river_adwin`; use the plain figure beside peers timed in a
    plain loop. The two differ by a few nanoseconds, about the noise of a shared machine.
    """
    observations = _observations(ys)

    def build_empty(data: list[float]) -> Callable[[], None]:
        def run() -> None:
            for _ in data:
                pass

        return run

    with_update = river_adwin(observations, repeats=repeats)
    return with_update - _seconds_per_observation(build_empty, observations, repeats)


def _known_variance_gaussian(bocd: ModuleType) -> Any:
    """Return a ``bocd.Distribution`` class in the style of the package's own: arrays of parameters, one entry per run.

    Gaussian observations with known variance, Gaussian prior on the mean; plain vectorised NumPy, no SciPy.
    """

    class KnownVarianceGaussian(bocd.Distribution):  # type: ignore[misc, name-defined]
        def __init__(self, mu_0: float, sigma_0: float, sigma: float) -> None:
            self.prior_mean, self.prior_precision = np.array([mu_0]), np.array([1.0 / sigma_0**2])
            self.noise = sigma**2
            self.reset_params()

        def reset_params(self) -> None:
            self.means, self.precisions = self.prior_mean.copy(), self.prior_precision.copy()

        def pdf(self, x: float) -> np.ndarray:
            variance = 1.0 / self.precisions + self.noise
            return np.exp(-0.5 * (x - self.means) ** 2 / variance) / np.sqrt(2.0 * math.pi * variance)

        def update_params(self, x: float) -> None:
            precisions = self.precisions + 1.0 / self.noise
            means = (self.precisions * self.means + x / self.noise) / precisions
            self.means = np.concatenate([self.prior_mean, means])
            self.precisions = np.concatenate([self.prior_precision, precisions])

    return KnownVarianceGaussian


def _tuned_known_variance_gaussian(bocd: ModuleType) -> Any:
    """The same model, tuned. Return a ``bocd.Distribution`` class: Gaussian, known variance, Gaussian prior on the mean.

    Index ``r`` of every array is the run of the last ``r`` observations, as the package expects. The
    variance of a run's mean depends on ``r`` alone, so the gains and predictive variances are tables; only
    the means follow the data. They fill a buffer from its right end, so that a new run of length zero is
    put in front without moving the others. Tables and buffer double when full.
    """

    class TunedKnownVarianceGaussian(bocd.Distribution):  # type: ignore[misc, name-defined]
        def __init__(self, mu_0: float, sigma_0: float, sigma: float) -> None:
            self.mu_0 = mu_0
            self.sigma_0 = sigma_0
            self.sigma = sigma
            self.reset_params()

        def reset_params(self) -> None:
            self._reserve(1024)
            self._buffer = np.empty(1024)
            self._buffer[-1] = self.mu_0
            self.means = self._buffer[-1:]

        def _reserve(self, capacity: int) -> None:
            variance = self.sigma**2
            posterior = 1.0 / (1.0 / self.sigma_0**2 + np.arange(capacity) / variance)
            predictive = posterior + variance
            self._gain = posterior / predictive
            self._height = 1.0 / np.sqrt(2.0 * math.pi * predictive)
            self._exponent = -0.5 / predictive

        def pdf(self, x: float) -> np.ndarray:
            runs = self.means.size
            density = x - self.means
            density *= density
            density *= self._exponent[:runs]
            np.exp(density, out=density)
            density *= self._height[:runs]
            return density

        def update_params(self, x: float) -> None:
            runs = self.means.size
            shift = x - self.means
            shift *= self._gain[:runs]
            self.means += shift
            if runs == self._buffer.size:
                self._reserve(2 * runs)
                self._buffer = np.concatenate([np.empty(runs), self.means])
            self.means = self._buffer[-runs - 1 :]
            self.means[0] = self.mu_0

    return TunedKnownVarianceGaussian


def _changing_mean_model(
    models: ModuleType,
    distributions: ModuleType,
    p_c: float,
    sigma: float,
    mu_0: float,
    sigma_0: float,
    library_density: bool,
) -> Any:
    """Return a ``particles`` state-space model of a mean that stays or is redrawn, seen in Gaussian noise."""
    log_height = -0.5 * math.log(2.0 * math.pi) - math.log(sigma)
    exponent = -0.5 / sigma**2

    class StayOrRedraw(distributions.ProbDist):  # type: ignore[misc, name-defined]
        def __init__(self, previous: np.ndarray) -> None:
            self.previous = previous

        def rvs(self, size: int | None = None) -> np.ndarray:
            state = self.previous.copy()
            redrawn = np.flatnonzero(np.random.random_sample(state.size) < p_c)
            if redrawn.size:
                state[redrawn] = np.random.normal(mu_0, sigma_0, redrawn.size)
            return state

    class Noise(distributions.ProbDist):  # type: ignore[misc, name-defined]
        def __init__(self, mean: np.ndarray) -> None:
            self.mean = mean

        def logpdf(self, x: float) -> np.ndarray:
            residual = x - self.mean
            return log_height + exponent * residual * residual

    class ChangingMean(models.StateSpaceModel):  # type: ignore[misc, name-defined]
        def PX0(self) -> Any:  # noqa: N802
            return distributions.Normal(loc=mu_0, scale=sigma_0)

        def PX(self, t: int, xp: np.ndarray) -> Any:  # noqa: N802
            return StayOrRedraw(xp)

        def PY(self, t: int, xp: np.ndarray, x: np.ndarray) -> Any:  # noqa: N802
            return distributions.Normal(loc=x, scale=sigma) if library_density else Noise(x)

    return ChangingMean()


def _peer(module: str, package: str) -> ModuleType:
    """Import a peer's module, or say which package is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RuntimeError(f"this benchmark needs the '{package}' package: pip install {package} ({error})") from error


def _seconds_per_observation(build: Callable[[list[float]], Callable[[], None]], ys: Iterable[float], repeats: int) -> float:
    """Return the median time of a complete pass over ``ys`` divided by their number, after a warm-up."""
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    data = _observations(ys)
    build(data[:_WARMUP])()
    times = []
    for _ in range(repeats):
        run = build(data)
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) / len(data)


def _observations(ys: Iterable[float]) -> list[float]:
    """Return the observations as a list of Python floats, refusing an empty or non-finite sequence."""
    data = [float(y) for y in ys]
    if not data:
        raise ValueError("ys must hold at least one observation")
    if not all(map(math.isfinite, data)):
        raise ValueError("ys must be finite")
    return data


def _check_probability(p_c: float) -> None:
    if not 0.0 < p_c < 1.0:
        raise ValueError(f"p_c must lie strictly between 0 and 1, got {p_c}")


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} must be finite and positive, got {value}")
