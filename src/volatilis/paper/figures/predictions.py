"""The two experimental predictions (paper, Figures 10 and 11, Tables 1 and 2): which surprise does an indicator reflect?

Simulated subjects learn the mean of Gaussian observations. Trials are selected by what an experimenter would know about them, and
both surprises are averaged over the selected trials: first within a subject, then over subjects.

Every quantity comes in two variants (errata 6 to 8):

right       as the paper's text and formulas mean it: prediction 1 selects on the standard deviation of the belief after the
            observation; Nas12* assumes its tuned p_c; surprises are in nats
published   as the authors' code does it: prediction 1 selects on the variance before the observation, which for pf20 takes
            sigma / nu for sigma^2 / nu; the Shannon surprise is a logarithm to base 10. Nas12* assumes the true p_c: the text
            says the tuned one, but the published numbers fit the true one better (inferred from them, not read in code)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis._core.seeds import seed_sequence
from volatilis.environments import ChangingEnvironment
from volatilis.experiments.tuning import tune
from volatilis.families import Gaussian
from volatilis.learners import Nas12Star, ParticleFilter
from volatilis.paper.published.code import search_grid
from volatilis.running.run import Stream, run_many

VARIANTS = ("right", "published")
LEARNERS = ("Nas12*", "pf20")
MEASURES = ("bayes_factor", "shannon")
SIGNS = (1, -1)
DELTAS = tuple(k / 10 for k in range(11))
PROBABILITIES = tuple(k / 40 for k in range(1, 17))
FLAT = 1000.0  # sigma_0 of a learner that as good as does not use its prior


class Window(NamedTuple):
    """Which trials prediction 1 takes for alike: each quantity's middle, and how far from it a trial may be.

    `spread` is the standard deviation of the belief after the observation; in the published variant the variance before it.
    """

    theta: float = 1.0
    theta_width: float = 0.25
    spread: float = 0.5
    spread_width: float = 1.0
    delta_width: float = 0.1


PUBLISHED_WINDOW = Window()


class Trials(NamedTuple):
    """What one variant saves of one learner: arrays of subjects x trials."""

    before: np.ndarray  # the prediction, theta_hat of the trial before
    delta: np.ndarray  # the prediction error
    spread: np.ndarray  # what prediction 1 selects on
    bayes_factor: np.ndarray
    shannon: np.ndarray
    p: np.ndarray  # P(y; pi^(t)) of the observation under the belief before it
    p_0: np.ndarray  # P(y; pi^(0)) of the observation under the prior


# --- the subjects ------------------------------------------------------------------------------------------------------


def simulate_first(
    subjects: int = 20,
    trials: int = 500,
    seed: int = 0,
    sigma: float = 0.5,
    p_c: float = 0.1,
    window: Window = PUBLISHED_WINDOW,
    deltas: Sequence[float] = DELTAS,
    nas12_p_c: float | None = None,
) -> Any:
    """Prediction 1: average surprises against the absolute prediction error, for both sign biases.

    The sign bias is s = sign(delta * prediction): +1 where the prediction was too small in absolute value (errata 6).
    Variables named control_... are of the same learners with a nearly flat prior (sigma_0 = 1000), for the third row of Table 1.
    nas12_p_c   the p_c that Nas12* assumes in the right variant; None tunes it as in the paper
    """
    setting = _Setting(subjects, trials, seed, sigma, p_c, nas12_p_c)
    variables: dict[str, Any] = {}
    for prefix, sigma_0 in (("", 1.0), ("control_", FLAT)):
        saved = setting.run(sigma_0)
        masks = [[_masks_first(trials, window, deltas) for trials in row] for row in saved]
        variables |= _variables(prefix, saved, np.array(masks), ("variant", "learner", "sign", "delta"))
    coordinates = {"sign": list(SIGNS), "delta": list(deltas)}
    return _dataset(variables, coordinates, setting.attributes() | {"prediction": 1} | window._asdict())


def simulate_second(
    subjects: int = 20,
    trials: int = 500,
    seed: int = 0,
    sigma: float = 0.5,
    p_c: float = 0.1,
    p_width: float = 0.0125,
    probabilities: Sequence[float] = PROBABILITIES,
    nas12_p_c: float | None = None,
) -> Any:
    """Prediction 2: average surprises over trials where belief and prior give the observation nearly the same probability p."""
    setting = _Setting(subjects, trials, seed, sigma, p_c, nas12_p_c)
    saved = setting.run(1.0)
    masks = [[_masks_second(trials, p_width, probabilities) for trials in row] for row in saved]
    variables = _variables("", saved, np.array(masks), ("variant", "learner", "p"))
    return _dataset(variables, {"p": list(probabilities)}, setting.attributes() | {"prediction": 2, "p_width": p_width})


class _Setting:
    """The subjects' world and sequences, which all learners share."""

    def __init__(self, subjects: int, trials: int, seed: int, sigma: float, p_c: float, nas12_p_c: float | None) -> None:
        for name, count in (("subjects", subjects), ("trials", trials)):
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
                raise ValueError(f"{name} = {count!r} is not accepted; it must be a whole number, 1 or more")
        self._world = ChangingEnvironment(Gaussian(sigma), p_c)
        self._seed, self._shape = seed, (subjects, trials)
        worlds, self._learning = seed_sequence(seed).spawn(2)
        self._ys = np.array([self._world.sample(trials, child).y for child in worlds.spawn(subjects)])
        if nas12_p_c is None:
            nas12_p_c = tune(Nas12Star, self._world, grid=search_grid(Nas12Star)).value
        self._nas12_p_c = nas12_p_c

    def attributes(self) -> dict[str, Any]:
        (subjects, trials), (family, p_c) = self._shape, self._world
        numbers = {"sigma": family.sigma, "p_c": p_c, "nas12_p_c": self._nas12_p_c}
        return {"subjects": subjects, "trials": trials, "seed": int(self._seed)} | numbers

    def run(self, sigma_0: float) -> list[list[Trials]]:
        """Every subject's trials, per variant and learner. The learners assume a prior of this sigma_0; the world's is 1."""
        family, p_c = Gaussian(self._world.family.sigma, 0.0, sigma_0), self._world.p_c
        filtering = ParticleFilter(family, p_c, n=20)
        right, published = Nas12Star(family, self._nas12_p_c), Nas12Star(family, p_c)
        return [
            [self._right(learner) for learner in (right, filtering)],
            [self._published(learner) for learner in (published, filtering)],
        ]

    def _right(self, learner: Any) -> Trials:
        from scipy import stats

        family, ys = learner.family, self._ys
        traces = list(run_many(learner, ys, seed=self._learning))
        log_bayes_factor = np.array([trace.log_bayes_factor_surprise for trace in traces])
        log_p_0 = stats.norm.logpdf(ys, family.mu_0, math.hypot(family.sigma, family.sigma_0))
        before = _shifted(np.array([trace.mean for trace in traces]), family.mu_0)
        return Trials(
            before=before,
            delta=ys - before,
            spread=np.sqrt([trace.variance for trace in traces]),
            bayes_factor=np.exp(log_bayes_factor),
            shannon=np.array([trace.shannon_surprise for trace in traces]),
            p=np.exp(log_p_0 - log_bayes_factor),
            p_0=np.exp(log_p_0),
        )

    def _published(self, learner: Any) -> Trials:
        trials = self._right(learner)
        variance_before = _shifted(trials.spread**2, learner.family.sigma_0**2)
        return trials._replace(spread=variance_before + self._excess(learner), shannon=trials.shannon / math.log(10.0))

    def _excess(self, learner: Any) -> np.ndarray:
        """What the published variance before each observation has too much: sigma / nu - sigma^2 / nu, averaged over particles.

        nu = rho + the observations since the particle's last change, rho = sigma^2 / sigma_0^2. A Stream with the seed that
        run_many gives a sequence goes through the same states.
        """
        excess, sigma = np.zeros(self._shape), learner.family.sigma
        if not isinstance(learner, ParticleFilter):
            return excess
        rho = (sigma / learner.family.sigma_0) ** 2
        for i, child in enumerate(seed_sequence(self._learning).spawn(len(self._ys))):
            stream = Stream(learner, seed=child)
            for t, y in enumerate(self._ys[i]):
                belief = stream.belief
                excess[i, t] = (sigma - sigma**2) * np.sum(belief.weights / (rho + belief.run_lengths))
                stream.update(float(y))
        return excess


def _shifted(values: np.ndarray, first: float) -> np.ndarray:
    """From after each observation to before it."""
    return np.concatenate([np.full((len(values), 1), first), values[:, :-1]], axis=1)


# --- selecting and averaging -------------------------------------------------------------------------------------------


def _masks_first(trials: Trials, window: Window, deltas: Sequence[float]) -> np.ndarray:
    """Which trials count, for each sign and delta: sign x delta x subject x trial."""
    alike = np.abs(np.abs(trials.before) - window.theta) < window.theta_width
    alike &= np.abs(trials.spread - window.spread) < window.spread_width
    close = [np.abs(np.abs(trials.delta) - delta) < window.delta_width for delta in deltas]
    bias = np.sign(trials.delta * trials.before)
    return np.array([[alike & near & (bias == sign) for near in close] for sign in SIGNS])


def _masks_second(trials: Trials, width: float, probabilities: Sequence[float]) -> np.ndarray:
    """Which trials count, for each p: p x subject x trial."""
    return np.array([(np.abs(trials.p - p) < width) & (np.abs(trials.p_0 - p) < width) for p in probabilities])


def _variables(prefix: str, saved: list[list[Trials]], masks: np.ndarray, dims: tuple[str, ...]) -> dict[str, Any]:
    """Averages over subjects, their standard errors, and the subjects' own averages; masks are `dims` x subject x trial."""
    count = masks.sum(axis=-1)
    variables: dict[str, Any] = {}
    for measure in MEASURES:
        values = np.array([[getattr(trials, measure) for trials in row] for row in saved])
        sums = np.einsum("vl...st,vlst->vl...s", masks.astype(float), values)
        own = np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0)
        mean, error = mean_and_error(own)
        variables[f"{prefix}{measure}"], variables[f"{prefix}{measure}_se"] = (dims, mean), (dims, error)
        variables[f"{prefix}{measure}_by_subject"] = ((*dims, "subject"), own)
    variables[f"{prefix}subjects"] = (dims, np.sum(count > 0, axis=-1))
    return variables


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of the mean over the last axis, NaN aside; NaN where there are too few."""
    there = ~np.isnan(values)
    n = there.sum(axis=-1)
    nothing = np.full(n.shape, np.nan)
    mean = np.divide(np.where(there, values, 0.0).sum(axis=-1), n, out=nothing.copy(), where=n > 0)
    squares = np.where(there, values - mean[..., None], 0.0) ** 2
    return mean, np.sqrt(np.divide(squares.sum(axis=-1), n * (n - 1.0), out=nothing, where=n > 1))


def _dataset(variables: dict[str, Any], coordinates: dict[str, Any], attributes: dict[str, Any]) -> Any:
    import xarray as xr

    return xr.Dataset(variables, {"variant": list(VARIANTS), "learner": list(LEARNERS)} | coordinates, attributes)
