"""What the figures are made of, simulated: the errors of all learners, and sequences to look at.

Errors are those over the grid of environments, after a change, and against memory; with a wrong p_c: see `robustness`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from volatilis._core.seeds import seed_sequence
from volatilis.environments import ChangingEnvironment
from volatilis.experiments.sweep import Cell, Plan
from volatilis.families import Categorical, Gaussian
from volatilis.paper.context import Context
from volatilis.paper.settings import (
    GAUSSIAN,
    MEMORIES,
    MEMORY_CELLS,
    NOISE_NAMES,
    NOISES,
    RATES,
    SIZES,
    TRANSIENTS,
    TaskSetting,
    family_of,
    grid_environments,
)
from volatilis.paper.tuned import WITH_N, Best, all_learners, benchmark_for, tuned_learners

if TYPE_CHECKING:
    import xarray as xr


Tuned = Mapping[tuple[str, TaskSetting], Best]
ONE_UNIT = ("VarSMiLe", "SMiLe", "Leaky", "Nas10*", "Nas12*")

# --- steady state: Figures 3, 4 (Gaussian), 6, 7 (Categorical) and S2 --------------------------------------------------


def steady_state(context: Context, task: str) -> xr.Dataset:
    """error and distance to the benchmark: learner x noise x p_c x seed."""
    environments = grid_environments(task)
    tuned = context.tuned(environments)
    cells = tuple(_cell_for(where, context, tuned) for where in environments)
    plan = Plan(f"{task}-grid-{context.size.name}{'-near' if context.near else ''}", cells, context.size.seeds)
    return on_grid(context.sweep(plan), environments, context, task)


def on_grid(results: xr.Dataset, environments: list[TaskSetting], context: Context, task: str) -> xr.Dataset:
    """The cells of a plan as noise x p_c."""
    flat = results.drop_vars(["p_c", "steps"])
    grid = flat.assign_coords(
        noise=("cell", [where.noise for where in environments]), p_c=("cell", [where.p_c for where in environments])
    )
    grid = grid.set_index(cell=["noise", "p_c"]).unstack("cell").transpose("learner", "noise", "p_c", "seed")
    return described(grid.sel(noise=list(NOISES[task]), p_c=list(RATES)), context, task)


def _cell_for(where: TaskSetting, context: Context, tuned: Tuned) -> Cell:
    environment = ChangingEnvironment(family_of(where.task, where.noise), where.p_c)
    benchmark = benchmark_for(where, context.near)
    return Cell(environment, context.size.length(where.p_c), benchmark, all_learners(where, tuned))


def described(dataset: xr.Dataset, context: Context, task: str) -> xr.Dataset:
    """The first learner is always called Exact Bayes; what stands in its place is an attribute."""
    names = ["Exact Bayes", *dataset.learner.values[1:]]
    kind = "near" if context.near else "exact"
    return dataset.assign_coords(learner=names).assign_attrs(
        task=task, noise_name=NOISE_NAMES[task], size=context.size.name, benchmark=kind
    )


def nearness(context: Context, task: str) -> np.ndarray:
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


# --- the steps after a change: Figures 2 (Gaussian), 5 (Categorical) and S1 --------------------------------------------


def after_change(context: Context, task: str) -> xr.Dataset:
    """mean and standard_error of the squared error n steps after a change: setting x learner x n; mean_by_seed; naive_error.

    As the authors do it, over the changes that are followed by at least 1 / p_c steps without another, so that every n has the
    same changes. All changes of a seed share its sequence: the standard error is that over seeds; naive_error takes the changes
    for independent, as the authors did.
    """
    environments = [TaskSetting(task, noise, p_c) for noise, p_c in TRANSIENTS[task]]
    tuned, last = context.tuned(environments), [lasting(where) for where in environments]
    cells = tuple(_cell_for(where, context, tuned)._replace(lasting=lasting(where)) for where in environments)
    plan = Plan(f"{task}-transient-{context.size.name}{'-near' if context.near else ''}", cells, context.size.seeds, max(last))
    return described(over_changes(context.sweep(plan), environments), context, task)


def lasting(where: TaskSetting) -> int:
    """How many steps after a change are shown."""
    return round(1.0 / where.p_c)


def over_changes(sums: xr.Dataset, environments: list[TaskSetting]) -> xr.Dataset:
    """From the sums of a plan: the mean over all changes of all seeds, its standard error over seeds, the seeds' own means."""
    import xarray as xr

    total, count = sums.after_sum.values, sums.after_count.values  # learner x setting x seed x n; setting x seed x n
    seeds = count.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total.sum(axis=2) / count.sum(axis=1)
        left = total - mean[:, :, None, :] * count  # of a ratio of two sums over seeds
        error = np.sqrt(np.sum(left**2, axis=2) * seeds / max(seeds - 1, 1)) / count.sum(axis=1)
        by_seed = total / count
        squares = sums.after_squares.values.sum(axis=2) / count.sum(axis=1)
        naive = np.sqrt(np.maximum(squares - mean**2, 0.0) / count.sum(axis=1))
    error = np.where(seeds > 1, error, np.nan)
    steps = np.arange(1, mean.shape[-1] + 1)
    beyond = steps > np.array([lasting(where) for where in environments])[:, None]
    data: dict[str, tuple[tuple[str, ...], np.ndarray]] = {
        name: (("setting", "learner", "n"), np.where(beyond[:, None, :], np.nan, values.transpose(1, 0, 2)))
        for name, values in (("mean", mean), ("standard_error", error), ("naive_error", naive))
    }
    each_seed = np.where(beyond[:, None, :, None], np.nan, by_seed.transpose(1, 0, 3, 2))
    data["mean_by_seed"] = (("setting", "learner", "n", "seed"), each_seed)
    coordinates = {
        "learner": sums.learner.values,
        "n": steps,
        "noise": ("setting", [where.noise for where in environments]),
        "p_c": ("setting", [where.p_c for where in environments]),
    }
    return xr.Dataset(data, coordinates)


# --- new here: the error against the number of hypotheses that a learner keeps -----------------------------------------


def memory(context: Context) -> xr.Dataset:
    """distance to Exact Bayes: cell x kind of learner x n x seed, and that of the learners with one belief."""
    import xarray as xr

    environments = [TaskSetting(*cell) for cell in MEMORY_CELLS]
    tuned, size = context.tuned(environments), context.size
    distances = np.full((len(environments), len(WITH_N), len(MEMORIES), size.memory_seeds), np.nan)
    one_unit = np.full((len(environments), len(ONE_UNIT), size.memory_seeds), np.nan)
    for task in dict.fromkeys(where.task for where in environments):
        ours = [i for i, where in enumerate(environments) if where.task == task]
        cells = tuple(_memory_cell(environments[i], tuned, context) for i in ours)
        plan = Plan(f"{task}-memory-{size.name}{'-near' if context.near else ''}", cells, size.memory_seeds)
        results = context.sweep(plan).distance
        for j, i in enumerate(ours):
            for k, kind in enumerate(WITH_N):
                distances[i, k] = results.sel(learner=[f"{kind}{n}" for n in MEMORIES]).values[:, j]
            for k, name in enumerate(ONE_UNIT):
                if name in results.learner.values:
                    one_unit[i, k] = results.sel(learner=name).values[j]
    data = {
        "distance": (("task_cell", "kind", "n", "seed"), distances),
        "one_unit": (("task_cell", "one_learner", "seed"), one_unit),
    }
    labels = [f"{w.task.capitalize()}, {NOISE_NAMES[w.task]} {w.noise:g}, p_c {w.p_c:g}" for w in environments]
    coordinates = {"task_cell": labels, "kind": list(WITH_N), "n": list(MEMORIES), "one_learner": list(ONE_UNIT)}
    return xr.Dataset(data, coordinates, {"size": size.name, "benchmark": "near" if context.near else "exact"})


def _memory_cell(where: TaskSetting, tuned: Tuned, context: Context) -> Cell:
    family = family_of(where.task, where.noise)
    learners = {f"{kind}{n}": cls(family, where.p_c, n) for kind, cls in WITH_N.items() for n in MEMORIES}
    free = tuned_learners(where, tuned)
    names = [name for name in ONE_UNIT if where.task == GAUSSIAN or not name.startswith("Nas")]
    learners |= {name: free[f"{name} (free)"] for name in names}
    environment = ChangingEnvironment(family, where.p_c)
    return Cell(environment, context.size.memory_steps, benchmark_for(where, context.near), learners)


# --- sequences to look at: Figures 1 B, 2 A and 5 A; a few hundred observations with a few changes ----------------------

EXAMPLE_STEPS = 400
FEWEST, MOST = 3, 5  # changes within an example, that at its start aside
EXAMPLE_P_C = 0.01


def gaussian_example(seed: int = 0) -> dict[str, npt.ArrayLike]:
    """Gaussian observations whose mean changes: sigma = 1, p_c = 0.01."""
    family = Gaussian(1.0)
    return {"task": "gaussian", "sigma": family.sigma, "p_c": EXAMPLE_P_C} | _with_a_few_changes(
        ChangingEnvironment(family, EXAMPLE_P_C), seed
    )


def categorical_example(seed: int = 0) -> dict[str, npt.ArrayLike]:
    """Observations in five categories whose probabilities change: s = 1, p_c = 0.01. theta has a column per category."""
    family = Categorical(5, 1.0)
    return {"task": "categorical", "s": family.s, "p_c": EXAMPLE_P_C} | _with_a_few_changes(
        ChangingEnvironment(family, EXAMPLE_P_C), seed
    )


def bridge_example(seed: int = 0, days: int = 60) -> dict[str, npt.ArrayLike]:
    """When a friend arrives, in minutes after leaving work, day by day, until a new bridge spares her the detour.

    The paper's story has no numbers. Here the way takes 40 minutes on average, the bridge opens somewhere in the middle third of
    the days and saves 12, and the days differ with a standard deviation of 4. `changed` is true on the first day, as in every
    sequence, and on the day of the opening.
    """
    if isinstance(days, bool) or not isinstance(days, (int, np.integer)) or days < 3:
        raise ValueError(f"bridge_example: days = {days!r} is not accepted; it must be a whole number, 3 or more")
    detour, saved, sigma = 40.0, 12.0, 4.0
    rng = np.random.default_rng(seed_sequence(seed))
    opening = int(rng.integers(days // 3, 2 * days // 3))
    day = np.arange(days)
    theta = np.where(day < opening, detour, detour - saved)
    changed = (day == 0) | (day == opening)
    return {
        "task": "bridge",
        "sigma": sigma,
        "p_c": 1.0 / days,
        "y": rng.normal(theta, sigma),
        "theta": theta,
        "changed": changed,
    }


def _with_a_few_changes(environment: ChangingEnvironment, seed: int) -> dict[str, np.ndarray]:
    """The first of the seed's sequences with a few changes: a picture of the model, not a fair sample of it."""
    source = seed_sequence(seed)
    while True:
        sample = environment.sample(EXAMPLE_STEPS, source.spawn(1)[0])
        if FEWEST <= sample.changed[1:].sum() <= MOST:
            return sample._asdict()
