"""Fitting: one person once compiled, 129 people with six learners, a confusion matrix, and `pyhgf` where it installs."""

from __future__ import annotations

import statistics
import time
from typing import NamedTuple

import numpy as np

import volatilis as vl
from volatilis.behaviour import FitOptions, Model, Person, Trials, fit, fit_all, recover, simulate

FAMILY = "gaussian:sigma=10,mu_0=150,sigma_0=50"
SIX = ("varsmile:m=free", "nas12*:p_c=free", "nas10*:p_c=free", "merge:n=20,p_c=free", "smile:m=free", "leaky:omega=free")
PEOPLE, TRIALS = 129, 400  # as many as in the helicopter data
SIMULATED, LENGTH = 100, 500  # people per learner of the confusion matrix, and their trials


class Fitting(NamedTuple):
    """Seconds: processor time of one fit per learner and of one bandit, and of all people on two processes by the clock."""

    one: dict[str, float]
    bandit: float
    everybody: float


class Confusion(NamedTuple):
    """Seconds by the clock, fits, and the share of simulated people whose best model is the true one."""

    seconds: float
    fits: int
    right: float


def person(seed: int, trials: int, m: float = 0.3, sd: float = 8.0) -> Person:
    """Who predicts as VarSMiLe does, with Gaussian noise."""
    family = vl.Gaussian(10.0, 150.0, 50.0)
    y = vl.ChangingEnvironment(family, 0.1).sample(trials, seed=seed).y
    believed = np.concatenate([[150.0], vl.run(vl.VarSMiLe(family, m), y).mean[:-1]])
    given = believed + np.random.default_rng(seed).normal(0.0, sd, trials)
    return Person(str(seed), (Trials(y, np.zeros(trials, dtype=np.uint8), given, np.ones(trials, dtype=bool)),))


def gambler(trials: int = 200) -> tuple[Model, Person]:
    """Who chooses among two arms as the model does: three free parameters."""
    model = Model.parse("bernoulli", "per-context:varsmile:m=free;contexts=2", "arms:beta=free,sticky=free")
    rewards, nothing = (np.random.default_rng(1).random((trials, 2)) < (0.3, 0.7)).astype(float), np.zeros(trials)
    values, _ = vl.Given(vl.Bernoulli(), 2).observations(rewards[:, 0], nothing)
    arms = {"contexts": nothing, "worth": np.ones((trials, 2)), "rewards": rewards}
    part = Trials(values, np.zeros(trials, dtype=np.uint8), nothing, np.ones(trials, dtype=bool), **arms)
    return model, simulate(model, {"m": 0.3, "beta": 4.0, "sticky": 0.5}, Person("gambler", (part,)), 1)


def seconds_of(model: Model, someone: Person, repeats: int) -> float:
    """Processor time of a fit, once compiled."""
    fit(model, someone)
    times = []
    for _ in range(max(repeats, 5)):
        start = time.process_time()
        fit(model, someone)
        times.append(time.process_time() - start)
    return statistics.median(times)


def measure(repeats: int) -> Fitting:
    one = {}
    for learner in ("varsmile:m=free", "nas12*:p_c=free"):
        one[learner] = seconds_of(Model.parse(FAMILY, learner, "gaussian:sd=free"), person(1, 500), repeats)
    models = [Model.parse(FAMILY, learner, "laplace:sd=free") for learner in SIX]
    people = [person(seed, TRIALS) for seed in range(PEOPLE)]
    fit_all(models, people[:1], workers=1)
    start = time.perf_counter()
    fit_all(models, people, starts=10, workers=2)
    everybody = time.perf_counter() - start
    return Fitting(one, seconds_of(*gambler(), repeats), everybody)


def confusion_matrix(people: int = SIMULATED, trials: int = LENGTH, workers: int = 2) -> Confusion:
    """People are fitted with all learners; so many simulated from each fit are fitted with all again."""
    models = [Model.parse(FAMILY, learner, "gaussian:sd=free") for learner in SIX]
    rng = np.random.default_rng(0)
    designs = [person(i, trials, rng.lognormal(-1.5, 0.5), rng.lognormal(2.0, 0.3)) for i in range(people)]
    fit_all(models, designs[:1], starts=1, workers=1)  # compiled
    start = time.perf_counter()
    found = recover(models, designs, FitOptions(workers=workers))
    seconds = time.perf_counter() - start
    counts = found.counts()
    return Confusion(seconds, len(models) * (len(designs) + len(found.truths)), float(np.trace(counts) / counts.sum()))


def pyhgf_seconds() -> float | None:
    """One person of 500 trials with two free parameters (tonic volatility, noise), by L-BFGS; None where it is not installed."""
    try:
        import jax
        import jax.numpy as jnp
        from pyhgf.model import Network
    except ImportError:
        return None
    from scipy.optimize import minimize

    trials = person(1, 500).parts[0]
    y, given = jnp.asarray(trials.values), jnp.asarray(trials.given)
    network = Network().add_nodes(precision=0.01, expected_precision=0.01).add_nodes(value_children=0, mean=150.0)
    network = network.create_belief_propagation_fn()
    inputs = (y[:, None],)
    observed, steps = (jnp.ones(500),), jnp.ones(500)

    def cost(x: jax.Array) -> jax.Array:
        attributes = {key: dict(value) if isinstance(value, dict) else value for key, value in network.attributes.items()}
        attributes[1]["tonic_volatility"] = x[0]
        _, traced = jax.lax.scan(network.scan_fn, attributes, (inputs, observed, steps, None))
        apart = given - traced[1]["expected_mean"]
        return 0.5 * jnp.sum(apart**2) * jnp.exp(-2.0 * x[1]) + 500 * x[1]

    with_slope = jax.jit(jax.value_and_grad(cost))

    def search() -> object:
        return minimize(
            lambda x: tuple(np.asarray(v, dtype=float) for v in with_slope(x)), [2.0, 2.0], jac=True, method="L-BFGS-B"
        )

    search()
    start = time.process_time()
    search()
    return time.process_time() - start
