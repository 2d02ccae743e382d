"""Learners tuned for one p_c, in environments with another: Figures 8 (Gaussian) and 9 (Categorical), in two ways.

Published   Every learner, pf, MP, SOR and Exact Bayes too, takes the value of its search grid with the least error at p_c', on
            the very sequences that are shown (process_robustness.jl). The regret is its mean error less the least that Exact
            Bayes has over its grid. So a learner may assume a p_c other than p_c': pf20 one about twice as large at s 0.14.
Done right  Those whose parameter is p_c assume p_c', the others are tuned freely on other sequences. The regret is the error
            above that of Exact Bayes with the true p_c, on the same sequence.

Whether another p_c than the true one is better is decided on fresh sequences (`confirmation`): the best of many tried on three
sequences is the best there by chance, too.

A *group* is what the authors had: three sequences, one search, one set of curves. The curves of ten groups tell how much such a
set is a matter of chance, the choice of parameters included.

In the published way Merge20 stands for Exact Bayes, whose error it has to about 1e-4 of itself or better: many p_c are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.environments import ChangingEnvironment
from volatilis.experiments.sweep import Cell, Plan
from volatilis.experiments.tuning import free_parameter
from volatilis.learners import Leaky, Merge, SMiLe, VarSMiLe, record_of
from volatilis.paper.context import Context
from volatilis.paper.published.code import RARE, RATES_TRIED, PublishedStratifiedResampling, search_grid
from volatilis.paper.settings import ASSUMED, CATEGORICAL, NOISE_NAMES, ROBUSTNESS_NOISES, TaskSetting, family_of
from volatilis.paper.tuned import TUNED, WITH_N, all_learners, benchmark_for

if TYPE_CHECKING:
    import xarray as xr

    from volatilis.families import Categorical, Gaussian
    from volatilis.learners._base import Learner

EXACT = "Exact Bayes"
COUNTED = ("pf1", "pf20", "MP1", "MP20", "SOR1", "SOR20")  # of the published figures
ORIGINALS = ("Nas10", "Nas12")  # not in these figures
STAND_IN = 20  # hypotheses of the Merge that stands for Exact Bayes
STRIDES = (64, 8, 1)  # on a grid of hundreds every 64th value is tried, then closer around the best
AROUND = 10  # Exact Bayes, pf20 and MP20 try the p_c so many steps around p_c': a factor of six each way
FRESH, FRESH_GROUPS = 10_000, 10  # the first of the fresh sequences, and how many groups of them
REACH, NARROW_REACH, OFTEN = 4, 1, 0.005  # how far from the true p_c, in steps of the grid, Exact Bayes may be at its best


def wrong_rate(context: Context, task: str) -> xr.Dataset:
    """regret: panel x learner x p_c x seed, done right under plain names and "(free)", as published under "(published)"."""
    import xarray as xr

    return xr.concat([right_regrets(context, task), published_regrets(context, task, 0)], "learner", combine_attrs="override")


def panels_of(task: str) -> list[TaskSetting]:
    return [TaskSetting(task, noise, assumed) for noise in ROBUSTNESS_NOISES[task] for assumed in ASSUMED]


def tuned_names(task: str) -> list[str]:
    return [name for name in TUNED[task] if name not in ORIGINALS]


# --- done right ----------------------------------------------------------------------------------------------------------


def right_regrets(context: Context, task: str) -> xr.Dataset:
    panels, size = panels_of(task), context.size
    tuned = context.tuned(panels)
    names = (EXACT, *COUNTED, "Merge1", "Merge20", *(f"{name} (free)" for name in tuned_names(task)))
    lineups: dict[float, dict[str, Learner]] = {noise: {} for noise in ROBUSTNESS_NOISES[task]}
    for panel in panels:
        learners = {EXACT: benchmark_for(panel, context.near), **all_learners(panel, tuned)}
        lineups[panel.noise] |= {f"{name} for {panel.p_c}": learners[name] for name in names}
    plan = _plan(context, task, f"robustness-{size.name}{'-near' if context.near else ''}", lineups, context.near)
    error = context.sweep(plan).error.values  # benchmark and (assumed, learner), (noise, rate), seed
    return _regrets(context, task, names, error[1:] - error[:1])


def _plan(
    context: Context, task: str, name: str, lineups: Mapping[float, dict[str, Learner]], near: bool, first: int = 0
) -> Plan:
    """Every noise and true p_c, with the learners of that noise."""
    cells = []
    for noise in ROBUSTNESS_NOISES[task]:
        for p_c in context.size.rates():
            environment = ChangingEnvironment(family_of(task, noise), float(p_c))
            if "ladder 1" in lineups[noise]:
                benchmark, extra = make(EXACT, environment.family, float(p_c)), _ladder(task, noise, float(p_c))
            else:
                benchmark, extra = benchmark_for(TaskSetting(task, noise, float(p_c)), near), {}
            cells.append(Cell(environment, context.size.robustness_steps, benchmark, lineups[noise] | extra))
    return Plan(f"{task}-{name}", tuple(cells), context.size.robustness_seeds, first=first)


def _regrets(context: Context, task: str, names: tuple[str, ...], regret: np.ndarray, first: int = 0) -> xr.Dataset:
    """From (assumed, learner) x (noise, rate) x seed."""
    import xarray as xr

    panels, rates, noises = panels_of(task), context.size.rates(), ROBUSTNESS_NOISES[task]
    shape = (len(ASSUMED), len(names), len(noises), len(rates), regret.shape[-1])
    values = regret.reshape(shape).transpose(2, 0, 1, 3, 4).reshape(len(panels), len(names), len(rates), -1)
    coordinates = {
        "learner": list(names),
        "p_c": rates,
        "seed": first + np.arange(regret.shape[-1]),
        "noise": ("panel", [panel.noise for panel in panels]),
        "assumed": ("panel", [panel.p_c for panel in panels]),
    }
    attributes = {
        "task": task,
        "noise_name": NOISE_NAMES[task],
        "size": context.size.name,
        "benchmark": "near" if context.near else "exact",
    }
    return xr.Dataset({"regret": (("panel", "learner", "p_c", "seed"), values)}, coordinates, attributes)


# --- as published --------------------------------------------------------------------------------------------------------


class Tried(NamedTuple):
    """The values of a learner that were tried at p_c', and the errors: value x panel x seed."""

    values: np.ndarray
    errors: np.ndarray

    def best(self) -> np.ndarray:
        """The value with the least mean error, for each panel."""
        return self.values[np.argmin(self.errors.mean(axis=2), axis=0)]


def published_names(task: str) -> tuple[str, ...]:
    return (EXACT, *COUNTED, *tuned_names(task))


def published_regrets(context: Context, task: str, group: int) -> xr.Dataset:
    """The curves of one group, under "NAME (published)"; the values taken are attributes, per panel."""
    panels, size, names = panels_of(task), context.size, published_names(task)
    chosen = {name: searched.best() for name, searched in search(context, task, group).items() if name in names}
    lineups: dict[float, dict[str, Learner]] = {noise: _ladder(task, noise, 0.1) for noise in ROBUSTNESS_NOISES[task]}
    for k, panel in enumerate(panels):
        family = family_of(task, panel.noise)
        lineups[panel.noise] |= {f"{name} for {panel.p_c}": make(name, family, float(chosen[name][k])) for name in names}
    first = group * size.robustness_seeds
    plan = _plan(context, task, f"published-{group}-{size.name}", lineups, near=True, first=first)
    results = context.sweep(plan).error
    rungs = ["ladder" in str(name) for name in results.learner.values]
    rungs[0] = True  # the benchmark: Exact Bayes with the true p_c
    tried, error = results.values[rungs], results.values[~np.array(rungs)]
    least = np.argmin(tried.mean(axis=2), axis=0)
    base = tried[least, np.arange(tried.shape[1])]
    dataset = _regrets(context, task, tuple(f"{name} (published)" for name in names), error - base, first)
    return dataset.assign_attrs({f"value {name}": [float(value) for value in values] for name, values in chosen.items()})


def _ladder(task: str, noise: float, p_c: float) -> dict[str, Learner]:
    """Exact Bayes with assumed p_c next to the true one; where changes are many the best is at most a step away."""
    family, reach = family_of(task, noise), REACH if p_c < OFTEN else NARROW_REACH
    true = int(np.argmin(np.abs(np.log(RATES_TRIED / p_c))))
    steps = [step for step in range(-REACH, REACH + 1) if step]
    places = [min(max(true + min(max(step, -reach), reach), 0), len(RATES_TRIED) - 1) for step in steps]
    return {f"ladder {step}": make(EXACT, family, float(RATES_TRIED[place])) for step, place in zip(steps, places, strict=True)}


def make(name: str, family: Gaussian | Categorical, value: float) -> Learner:
    """A learner of the published figures with a value of its grid; "SOR20 right" is SOR20 with its resampling done right."""
    if name == EXACT:
        return Merge(family, value, STAND_IN)
    base, _, right = name.partition(" ")
    kind, count = base.rstrip("0123456789"), base[len(base.rstrip("0123456789")) :]
    if kind in WITH_N:
        cls = PublishedStratifiedResampling if kind == "SOR" and not right else WITH_N[kind]
        return cls(family, value, int(count))
    cls = TUNED[CATEGORICAL].get(name) or TUNED["gaussian"][name]
    return record_of(cls).make(family, {free_parameter(cls): value})


def tried_values(name: str, task: str) -> np.ndarray:
    """The search grid of a learner; in these figures the leak has its fine steps for every p_c, as the published curves show."""
    cls = TUNED[task].get(name)
    if cls is None or name.startswith("Nas"):
        return RATES_TRIED
    return search_grid(cls, task == CATEGORICAL, RARE if cls is Leaky else 0.1)


def search(context: Context, task: str, group: int) -> dict[str, Tried]:
    """Every learner with the values of its grid, at each noise and p_c', on a group's sequences; infinite where not tried."""
    names = (*published_names(task), *(("SOR1 right", "SOR20 right") if group == 0 else ()))
    results = {name: Tried(tried_values(name, task), np.zeros(0)) for name in names}
    for name, searched in results.items():
        shape = (len(searched.values), len(panels_of(task)), context.size.robustness_seeds)
        results[name] = searched._replace(errors=np.full(shape, np.inf))
    for level, stride in enumerate(STRIDES):
        wider = STRIDES[level - 1] if level else 0
        places = {name: _next_places(name, task, searched, stride, wider) for name, searched in results.items()}
        places = {name: chosen for name, chosen in places.items() if len(chosen)}
        grids = {name: results[name].values for name in places}
        errors = _errors(context, task, f"search-{group}-{level}-{context.size.name}", group, grids, places)
        for name, chosen in places.items():
            for panel in range(chosen.shape[1]):
                results[name].errors[chosen[:, panel], panel] = errors[name][:, panel]
    return results


def _next_places(name: str, task: str, searched: Tried, stride: int, wider: int) -> np.ndarray:
    """Which values are tried at a level of the search: place x panel. Small grids are tried at once, large ones ever closer."""
    panels, last = panels_of(task), len(searched.values) - 1
    if not wider:
        if TUNED[task].get(name) in (VarSMiLe, SMiLe):
            return np.tile(np.unique([*range(0, last, stride), last]), (len(panels), 1)).T
        if name in (EXACT, "pf20", "MP20"):
            middle = [int(np.argmin(np.abs(np.log(RATES_TRIED / panel.p_c)))) for panel in panels]
            return np.clip(np.arange(-AROUND, AROUND + 1)[:, None] + middle, 0, last)
        return np.tile(np.arange(last + 1), (len(panels), 1)).T
    if TUNED[task].get(name) not in (VarSMiLe, SMiLe):
        return np.zeros((0, len(panels)), dtype=int)
    best = np.argmin(searched.errors.mean(axis=2), axis=0)
    return np.clip(np.arange(-wider + stride, wider, stride)[:, None] + best, 0, last)


def _errors(
    context: Context, task: str, name: str, group: int, grids: Mapping[str, np.ndarray], places: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The errors at some places (value x panel) of the grids: value x panel x seed."""
    size, cells = context.size, []
    for k, panel in enumerate(panels_of(task)):
        family = family_of(task, panel.noise)
        learners = {
            f"{who} {i}": make(who, family, float(grids[who][place]))
            for who in places
            for i, place in enumerate(places[who][:, k])
        }
        benchmark = make(EXACT, family, panel.p_c)
        cells.append(Cell(ChangingEnvironment(family, panel.p_c), size.robustness_steps, benchmark, learners))
    seeds = size.robustness_seeds
    error = context.sweep(Plan(f"{task}-{name}", tuple(cells), seeds, first=group * seeds)).error.values[1:]
    ends = np.cumsum([len(places[who]) for who in places])
    return dict(zip(places, np.split(error, ends[:-1]), strict=True))


def scan(context: Context, task: str) -> xr.Dataset:
    """error at p_c' of the learners whose parameter is p_c, against the p_c they assume: panel x learner x tried x seed."""
    searches = scanned(context, task)
    errors = np.array([searched.errors for searched in searches.values()]).transpose(2, 0, 1, 3)
    errors = np.where(np.isfinite(errors), errors, np.nan)
    return _at_assumed(context, task, searches, errors, {"tried": RATES_TRIED})


def scanned(context: Context, task: str) -> dict[str, Tried]:
    """The search of the learners whose parameter is p_c."""
    return {name: searched for name, searched in search(context, task, 0).items() if name not in TUNED[task]}


def confirmation(context: Context, task: str) -> xr.Dataset:
    """The same on fresh sequences, with the true p_c and with the best of the scan: panel x learner x assuming x seed.

    The coordinate `best` (panel x learner) is that p_c as a multiple of the true one.
    """
    searches, panels, size = scanned(context, task), panels_of(task), context.size
    assumed = np.array([panel.p_c for panel in panels])
    best = np.array([searched.best() for searched in searches.values()]).T
    cells = []
    for k, panel in enumerate(panels):
        family = family_of(task, panel.noise)
        learners = {f"{name} true": make(name, family, panel.p_c) for name in searches}
        learners |= {f"{name} best": make(name, family, float(best[k, i])) for i, name in enumerate(searches)}
        environment = ChangingEnvironment(family, panel.p_c)
        cells.append(Cell(environment, size.robustness_steps, make(EXACT, family, panel.p_c), learners))
    plan = Plan(f"{task}-confirmation-{size.name}", tuple(cells), FRESH_GROUPS * size.robustness_seeds, first=FRESH)
    errors = context.sweep(plan).error.values[1:].reshape(2, len(searches), len(panels), -1).transpose(2, 1, 0, 3)
    dataset = _at_assumed(context, task, searches, errors, {"assuming": ["true", "best"]})
    return dataset.assign_coords(best=(("panel", "learner"), best / assumed[:, None]))


def _at_assumed(context: Context, task: str, names: Iterable[str], errors: np.ndarray, third: Mapping[str, object]) -> xr.Dataset:
    """panel x learner x a third dimension x seed; SOR under its plain name is done right."""
    import xarray as xr

    panels = panels_of(task)
    labels = [
        f"{name} (published)" if name.startswith("SOR") and "right" not in name else name.removesuffix(" right") for name in names
    ]
    coordinates = {
        "learner": labels,
        **third,
        "noise": ("panel", [panel.noise for panel in panels]),
        "assumed": ("panel", [panel.p_c for panel in panels]),
    }
    data = {"error_at_assumed": (("panel", "learner", *third, "seed"), errors)}
    return xr.Dataset(data, coordinates, {"task": task, "noise_name": NOISE_NAMES[task], "size": context.size.name})
