"""Simulated people: outcomes of a changing environment, and responses around what a learner believes."""

from __future__ import annotations

import csv
import pathlib
from typing import Any

import numpy as np

import volatilis as vl
from volatilis.behaviour.people import Person, Trials
from volatilis.running.arguments import step_events

FAMILY = vl.Gaussian(sigma=10.0, mu_0=150.0, sigma_0=50.0)
COLUMNS = ["subject", "block", "trial", "outcome", "prediction"]  # of a table of people
FAMILY_TEXT = "gaussian:sigma=10,mu_0=150,sigma_0=50"


def trials_of(
    family: Any,
    y: Any,
    given: Any,
    scored: Any = None,
    after: bool = False,
    reset: Any = None,
    missing: str = "error",
) -> Trials:
    values, absent = family.observations(np.asarray(y, dtype=float))
    given = np.asarray(given, dtype=float)
    answered = ~np.isnan(given)
    counted = answered if scored is None else answered & np.asarray(scored)
    return Trials(values, step_events(absent, reset, missing), given, counted, after)


def believed(learner: Any, y: Any, after: bool = False, reset: Any = None, missing: str = "error") -> tuple[Any, Any]:
    """Mean and standard deviation of the belief at the moment of each response, from `vl.run`."""
    trace = vl.run(learner, y, reset=reset, missing=missing)
    mean = np.asarray(trace.mean, dtype=float)
    sd = np.sqrt(trace.variance) if "variance" in learner.readouts() else np.full(mean.shape, np.nan)
    first = vl.Stream(learner).belief
    start = first.mean, np.sqrt(first.variance) if "variance" in learner.readouts() else np.nan
    if np.any(np.isnan(start[0])):  # a learner without a prior of its own
        start = vl.Stream(vl.VarSMiLe(learner.family, 1.0)).belief.mean, np.nan
    if after:
        return mean, sd
    mean, sd = np.roll(mean, 1, axis=0), np.roll(sd, 1, axis=0)
    for t in (0, *(() if reset is None else reset)):
        mean[t], sd[t] = start
    return mean, sd


def gaussian_person(
    name: str, m: float, sd: float, seed: int, length: int = 300, scale: float = 1.0, shift: float = 0.0
) -> Person:
    """Who predicts as VarSMiLe does, with Gaussian noise."""
    rng = np.random.default_rng(seed)
    y = vl.ChangingEnvironment(FAMILY, 0.1).sample(length, seed=seed).y
    mean, _ = believed(vl.VarSMiLe(FAMILY, m), y)
    given = mean + rng.normal(0.0, sd, length)
    family = vl.Gaussian(FAMILY.sigma * scale, FAMILY.mu_0 * scale + shift, FAMILY.sigma_0 * scale)
    return Person(name, (trials_of(family, y * scale + shift, given * scale + shift),))


def write_people(path: pathlib.Path, count: int = 3, length: int = 80) -> list[list[object]]:
    """A table of people who predict as VarSMiLe does, two blocks each; returns its rows."""
    rows: list[list[object]] = []
    for i in range(count):
        part = gaussian_person(str(i), 0.3, 8.0, i, length).parts[0]
        rows += [[f"s{i}", 1 + t // 40, t + 1, part.values[t], part.given[t]] for t in range(length)]
    save_rows(path, rows)
    return rows


def save_rows(path: pathlib.Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
