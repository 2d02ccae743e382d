"""Figures 2 (Gaussian), 5 (Categorical) and S1: the error n steps after a change."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis.experiments.sweep import Plan
from volatilis.paper.context import Context
from volatilis.paper.figures.steady_state import cell_for, described
from volatilis.paper.settings import TRANSIENTS
from volatilis.paper.tuned import Environment


def simulate(context: Context, task: str) -> Any:
    """mean and standard_error of the squared error over all changes of all seeds: setting x learner x n; mean_by_seed."""
    environments = [Environment(task, noise, p_c) for noise, p_c in TRANSIENTS[task]]
    tuned, last = context.tuned(environments), [round(1.0 / p_c) for _, p_c in TRANSIENTS[task]]
    cells = tuple(cell_for(where, context, tuned) for where in environments)
    plan = Plan(f"{task}-transient-{context.size.name}{'-near' if context.near else ''}", cells, context.size.seeds, max(last))
    return described(summarised(context.sweep(plan), environments, last), context, task)


def summarised(sums: Any, environments: list[Environment], last: list[int]) -> Any:
    import xarray

    count = sums.after_count.sum("seed").values
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums.after_sum.sum("seed").values / count
        variance = sums.after_squares.sum("seed").values / count - mean**2
        standard_error = np.sqrt(np.maximum(variance, 0.0) / count)
        by_seed = sums.after_sum.values / sums.after_count.values
    steps = np.arange(1, mean.shape[-1] + 1)
    beyond = steps > np.array(last)[:, None]
    data: dict[str, Any] = {
        name: (("setting", "learner", "n"), np.where(beyond[:, None, :], np.nan, values.transpose(1, 0, 2)))
        for name, values in (("mean", mean), ("standard_error", standard_error))
    }
    own = np.where(beyond[:, None, :, None], np.nan, by_seed.transpose(1, 0, 3, 2))
    data["mean_by_seed"] = (("setting", "learner", "n", "seed"), own)
    coordinates = {
        "learner": sums.learner.values,
        "n": steps,
        "noise": ("setting", [where.noise for where in environments]),
        "p_c": ("setting", [where.p_c for where in environments]),
    }
    return xarray.Dataset(data, coordinates)
