"""Figures 3, 4 (Gaussian), 6, 7 (Categorical) and S2: mean squared errors over the whole grid of environments."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis.environments import ChangingEnvironment
from volatilis.experiments.sweep import Cell, Plan
from volatilis.paper.context import Context, grid_environments
from volatilis.paper.lineup import all_learners, benchmark_for
from volatilis.paper.settings import NOISE_NAMES, NOISES, RATES, SIZES, family_of
from volatilis.paper.tuned import Best, Environment


def simulate(context: Context, task: str) -> Any:
    """error and distance to the benchmark: learner x noise x p_c x seed."""
    environments = grid_environments(task)
    tuned = context.tuned(environments)
    cells = tuple(cell_for(where, context, tuned) for where in environments)
    plan = Plan(f"{task}-grid-{context.size.name}{'-near' if context.near else ''}", cells, context.size.seeds)
    flat = context.sweep(plan).drop_vars(["p_c", "steps"])
    grid = flat.assign_coords(
        noise=("cell", [where.noise for where in environments]), p_c=("cell", [where.p_c for where in environments])
    )
    grid = grid.set_index(cell=["noise", "p_c"]).unstack("cell").transpose("learner", "noise", "p_c", "seed")
    return described(grid.sel(noise=list(NOISES[task]), p_c=list(RATES)), context, task)


def cell_for(where: Environment, context: Context, tuned: dict[tuple[str, Environment], Best]) -> Cell:
    environment = ChangingEnvironment(family_of(where.task, where.noise), where.p_c)
    benchmark = benchmark_for(where, context.near)
    return Cell(environment, context.size.length(where.p_c), benchmark, all_learners(where, tuned))


def described(dataset: Any, context: Context, task: str) -> Any:
    """The first learner is always called Exact Bayes; what stands in its place is an attribute."""
    names = ["Exact Bayes", *dataset.learner.values[1:]]
    kind = "near" if context.near else "exact"
    return dataset.assign_coords(learner=names).assign_attrs(
        task=task, noise_name=NOISE_NAMES[task], size=context.size.name, benchmark=kind
    )


def nearness(context: Context, task: str) -> Any:
    """How far the near benchmark is from Exact Bayes, per cell: mean squared distance, at quick size."""
    environments, quick = grid_environments(task), SIZES["quick"]
    cells = tuple(
        Cell(
            ChangingEnvironment(family_of(task, where.noise), where.p_c),
            quick.length(where.p_c),
            benchmark_for(where, near=False),
            {"near": benchmark_for(where, near=True)},
        )
        for where in environments
    )
    distances = context.sweep(Plan(f"{task}-nearness", cells, 1)).distance.sel(learner="near").values.mean(axis=-1)
    return np.reshape(distances, (len(NOISES[task]), len(RATES)))
