"""Figures 8 (Gaussian) and 9 (Categorical): learners tuned for one change probability in worlds with another."""

from __future__ import annotations

from typing import Any

import numpy as np

from volatilis.environments import ChangingEnvironment
from volatilis.experiments.sweep import Cell, Plan
from volatilis.paper.context import Context
from volatilis.paper.figures.steady_state import described
from volatilis.paper.lineup import all_learners, benchmark_for
from volatilis.paper.settings import ASSUMED, CATEGORICAL, GAUSSIAN, ROBUSTNESS_NOISES, family_of
from volatilis.paper.tuned import Best, Environment

SAMPLING = ("pf20", "MP20", "SOR20", "SOR20 (published)", "Merge1", "Merge20")
TUNED_FOR = {GAUSSIAN: ("VarSMiLe", "SMiLe", "Leaky", "Nas10*", "Nas12*"), CATEGORICAL: ("VarSMiLe", "SMiLe", "Leaky")}


def simulate(context: Context, task: str) -> Any:
    """regret: panel x learner x p_c x seed, against Exact Bayes with the true p_c."""
    import xarray

    panels = [Environment(task, noise, assumed) for noise in ROBUSTNESS_NOISES[task] for assumed in ASSUMED]
    tuned, rates, size = context.tuned(panels), context.size.rates(), context.size
    names = ("Exact Bayes", *SAMPLING, *TUNED_FOR[task], *(f"{name} (free)" for name in TUNED_FOR[task]))
    cells = []
    for noise in ROBUSTNESS_NOISES[task]:
        ours = [panel for panel in panels if panel.noise == noise]
        learners = {
            f"{name} for {panel.p_c}": learner for panel in ours for name, learner in _lineup(panel, context, tuned, names)
        }
        for p_c in rates:
            environment = ChangingEnvironment(family_of(task, noise), float(p_c))
            benchmark = benchmark_for(Environment(task, noise, float(p_c)), context.near)
            cells.append(Cell(environment, size.robustness_steps, benchmark, learners))
    plan = Plan(f"{task}-robustness-{size.name}{'-near' if context.near else ''}", tuple(cells), size.robustness_seeds)
    error = context.sweep(plan).error.values  # benchmark and (assumed, learner), (noise, rate), seed
    shape = (len(ASSUMED), len(names), len(ROBUSTNESS_NOISES[task]), len(rates), size.robustness_seeds)
    regret = (error[1:] - error[:1]).reshape(shape).transpose(2, 0, 1, 3, 4)
    data = {"regret": (("panel", "learner", "p_c", "seed"), regret.reshape(len(panels), *regret.shape[2:]))}
    coordinates = {
        "learner": list(names),
        "p_c": rates,
        "seed": np.arange(size.robustness_seeds),
        "noise": ("panel", [panel.noise for panel in panels]),
        "assumed": ("panel", [panel.p_c for panel in panels]),
    }
    return described(xarray.Dataset(data, coordinates), context, task)


def _lineup(
    panel: Environment, context: Context, tuned: dict[tuple[str, Environment], Best], names: tuple[str, ...]
) -> list[tuple[str, Any]]:
    learners = {"Exact Bayes": benchmark_for(panel, context.near), **all_learners(panel, tuned)}
    return [(name, learners[name]) for name in names]
