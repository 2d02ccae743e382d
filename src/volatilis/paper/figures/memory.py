"""What is new here: the error against the number of hypotheses that a learner keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis.environments import ChangingEnvironment
from volatilis.experiments.sweep import Cell, Plan
from volatilis.paper.context import Context
from volatilis.paper.lineup import WITH_N, benchmark_for, tuned_learners
from volatilis.paper.settings import GAUSSIAN, MEMORIES, MEMORY_CELLS, NOISE_NAMES, family_of
from volatilis.paper.tuned import Environment

ONE_UNIT = ("VarSMiLe", "SMiLe", "Leaky", "Nas10*", "Nas12*")


def simulate(context: Context) -> Any:
    """distance to Exact Bayes: cell x kind of learner x n x seed, and that of the learners with one belief."""
    import xarray

    environments = [Environment(*cell) for cell in MEMORY_CELLS]
    tuned, size = context.tuned(environments), context.size
    distances = np.full((len(environments), len(WITH_N), len(MEMORIES), size.memory_seeds), np.nan)
    one_unit = np.full((len(environments), len(ONE_UNIT), size.memory_seeds), np.nan)
    for task in dict.fromkeys(where.task for where in environments):
        ours = [i for i, where in enumerate(environments) if where.task == task]
        cells = tuple(_cell(environments[i], tuned, context) for i in ours)
        plan = Plan(f"{task}-memory-{size.name}{'-near' if context.near else ''}", cells, size.memory_seeds)
        found = context.sweep(plan).distance
        for j, i in enumerate(ours):
            for k, kind in enumerate(WITH_N):
                distances[i, k] = found.sel(learner=[f"{kind}{n}" for n in MEMORIES]).values[:, j]
            for k, name in enumerate(ONE_UNIT):
                if name in found.learner.values:
                    one_unit[i, k] = found.sel(learner=name).values[j]
    data = {
        "distance": (("task_cell", "kind", "n", "seed"), distances),
        "one_unit": (("task_cell", "one_learner", "seed"), one_unit),
    }
    labels = [f"{w.task.capitalize()}, {NOISE_NAMES[w.task]} {w.noise:g}, p_c {w.p_c:g}" for w in environments]
    coordinates = {"task_cell": labels, "kind": list(WITH_N), "n": list(MEMORIES), "one_learner": list(ONE_UNIT)}
    return xarray.Dataset(data, coordinates, {"size": size.name, "benchmark": "near" if context.near else "exact"})


def _cell(where: Environment, tuned: Any, context: Context) -> Cell:
    family = family_of(where.task, where.noise)
    learners = {f"{kind}{n}": cls(family, where.p_c, n) for kind, cls in WITH_N.items() for n in MEMORIES}
    free = tuned_learners(where, tuned)
    names = [name for name in ONE_UNIT if where.task == GAUSSIAN or not name.startswith("Nas")]
    learners |= {name: free[f"{name} (free)"] for name in names}
    environment = ChangingEnvironment(family, where.p_c)
    return Cell(environment, context.size.memory_steps, benchmark_for(where, context.near), learners)
