"""What the authors ran, again and again: their procedure alone on many seeds of our own, for the spread that chance gives.

    samples(context, 30, ("gaussian", "prediction2")) -> {"gaussian": dataset, "prediction2": dataset}

The published numbers are means of ten or three seeds, or of 20 subjects. How far such a mean may lie from ours is told by the
spread over at least 30 seeds, not by the same ten or three. Only the learners that the authors published are run, with their
tuned values where the reference has them, and with Merge40 for Exact Bayes (its error differs by less than 1e-5 of itself).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from volatilis.environments import ChangingEnvironment
from volatilis.experiments.sweep import Cell, Plan
from volatilis.learners import Merge
from volatilis.paper.context import Context
from volatilis.paper.figures import predictions, robustness, simulations
from volatilis.paper.settings import PARTICLES, TASKS, TRANSIENTS, TaskSetting, family_of, grid_environments
from volatilis.paper.tuned import TUNED, Best, all_learners

if TYPE_CHECKING:
    import xarray as xr

STAND_IN = 40  # hypotheses of the Merge that stands for Exact Bayes
SUBJECTS_PER_SEED = 4  # a simulated subject costs next to nothing
Tuned = dict[tuple[str, TaskSetting], Best]


def samples(context: Context, seeds: int, names: Collection[str]) -> dict[str, xr.Dataset]:
    """The published procedure on so many seeds, for the datasets of these names; regrets in groups of three, one search each."""
    subjects = SUBJECTS_PER_SEED * seeds
    simulate: dict[str, Callable[[], xr.Dataset]] = {
        "prediction1": lambda: predictions.simulate_first(subjects, seed=1),
        "prediction2": lambda: predictions.simulate_second(subjects, seed=1),
    }
    for task in TASKS:
        simulate[f"{task} transient"] = partial(after_change, context, task, seeds)
        simulate[f"{task} robustness"] = partial(regrets, context, task, seeds)
        simulate[task] = partial(steady_state, context, task, seeds)
    data: dict[str, xr.Dataset] = {}
    for name in (name for name in simulate if name in names):
        with context.ledger.part(f"replications: {name}"):
            data[name] = simulate[name]()
    return data


def steady_state(context: Context, task: str, seeds: int) -> xr.Dataset:
    """error: learner x noise x p_c x seed."""
    environments = grid_environments(task)
    tuned = context.tuned(environments)
    plan = Plan(f"{task}-again-grid-{context.size.name}", tuple(_cell(w, context, tuned) for w in environments), seeds)
    return simulations.on_grid(context.sweep(plan), environments, context, task)


def after_change(context: Context, task: str, seeds: int) -> xr.Dataset:
    environments = [TaskSetting(task, noise, p_c) for noise, p_c in TRANSIENTS[task]]
    tuned = context.tuned(environments)
    cells = tuple(_cell(w, context, tuned)._replace(lasting=simulations.lasting(w)) for w in environments)
    longest = max(map(simulations.lasting, environments))
    sums = context.sweep(Plan(f"{task}-again-transient-{context.size.name}", cells, seeds, longest))
    return simulations.described(simulations.over_changes(sums, environments), context, task)


def regrets(context: Context, task: str, seeds: int) -> xr.Dataset:
    """regret: panel x learner x p_c x group; each group makes its own search."""
    import xarray as xr

    groups = max(1, seeds // context.size.robustness_seeds)
    curves = [robustness.published_regrets(context, task, group).mean("seed") for group in range(groups)]
    return xr.concat(curves, "group", combine_attrs="override").assign_attrs(task=task)


def _cell(where: TaskSetting, context: Context, tuned: Tuned) -> Cell:
    names = [f"{kind}{n}" for kind in ("pf", "MP") for n in PARTICLES] + [f"SOR{n} (published)" for n in PARTICLES]
    learners = all_learners(where, tuned)
    chosen = {name: learners[name] for name in (*names, *TUNED[where.task])}
    environment = ChangingEnvironment(family_of(where.task, where.noise), where.p_c)
    return Cell(environment, context.size.length(where.p_c), Merge(environment.family, where.p_c, STAND_IN), chosen)
