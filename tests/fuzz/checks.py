"""What every learner promises, however wild the case: finite in, finite out; stepping is batch; weights are probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import volatilis as vl

from .cases import Case


def problems(case: Case, everything: bool = True) -> list[str]:
    """What is wrong with a case; nothing, if all is well.

    everything   also observations that are missing, and a stream: more kernels to compile for each pair of family and learner
    """
    if not everything:
        return list(_not_finite(vl.run(case.learner, case.y, seed=case.seed), case._replace(missing=np.zeros(len(case.y), bool))))
    seen = case.y.astype(float)
    seen[case.missing] = np.nan
    trace = vl.run(case.learner, seen, seed=case.seed, missing="elapse")
    stream = vl.Stream(case.learner, seed=case.seed, missing="elapse")
    steps = [stream.update(None if gone else y) for y, gone in zip(case.y, case.missing, strict=True)]
    return [*_not_finite(trace, case), *_not_the_same(steps, trace), *_no_probabilities(stream, trace)]


def _not_finite(trace: vl.Trace, case: Case) -> Iterator[str]:
    observed = ~case.missing
    for name in trace.readouts:
        values = np.asarray(getattr(trace, name), dtype=float)
        learned = name in ("mean", "variance", "run_length")
        rows = trace.run_length > 0.0 if isinstance(case.learner, vl.Leaky) else np.ones(len(values), dtype=bool)
        rows = rows if learned else rows & observed
        if np.isnan(values[rows]).any():
            yield f"{name} is NaN, first at {np.argwhere(np.isnan(values[rows]))[0]} of what must be a number"
        elif name != "bayes_factor_surprise":
            bad = np.isinf(values[rows]) & ~_may_be_infinite(case.learner, name, values.shape[1:])
            if bad.any():
                yield f"{name} is infinite, first at {np.argwhere(bad)[0]}"
    if "variance" in trace.readouts and (trace.variance < 0.0).any():
        yield "a variance is negative"


def _may_be_infinite(learner: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The moments of an unknown variance that the prior does not have, so that time without observations may take them away."""
    family, result = learner.family, np.zeros(shape, dtype=bool)
    if isinstance(family, vl.GaussianUnknownVariance):
        excess, locations = family.alpha_0, 1
    elif isinstance(family, vl.MultivariateGaussianUnknownCovariance):
        excess, locations = 0.5 * (family.nu_0 - 1.0), 2
    else:
        return result
    if name in ("mean", "variance"):
        result[:locations] = name == "variance" and excess <= 1.0
        result[locations:] = excess <= (1.0 if name == "mean" else 2.0)
    return result


def _not_the_same(steps: list[vl.Step], trace: vl.Trace) -> Iterator[str]:
    for name in trace.readouts:
        stepped = np.array([getattr(step, name) for step in steps])
        if not np.array_equal(stepped, getattr(trace, name), equal_nan=True):
            yield f"{name} differs between a stream and a run"


def _no_probabilities(stream: vl.Stream, trace: vl.Trace) -> Iterator[str]:
    weights = stream.belief.weights
    if not ((weights >= 0.0).all() and abs(weights.sum() - 1.0) < 1e-9):
        yield f"weights are not probabilities: {weights.tolist()}"
    if "adaptation_rate" in trace.readouts:
        gamma = trace.adaptation_rate[~np.isnan(trace.adaptation_rate)]
        if not ((gamma >= 0.0) & (gamma <= 1.0)).all():
            yield "an adaptation rate is outside [0, 1]"
