"""Steady-state errors on the Gaussian task against the paper's published heat maps, at the published tuned parameters.

The published files are read where they are found (VOLATILIS_REFERENCE, or a folder `shared/release` beside the checkout).
Error bars: ten seeds of 1e5 steps on both sides; a difference may be three combined standard errors. Where the publication gives
no standard error (the original Nas10, Nas12) ours stands for both, since both sides have the same number of steps and seeds.
"""

from __future__ import annotations

import csv
import functools
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import volatilis as vl
from tests.helpers.paths import REFERENCE, needs_reference
from volatilis.paper.published import files

CELLS = [(0.1, 0.1), (0.5, 0.05), (0.5, 0.005), (1.0, 0.1), (1.0, 0.05), (2.0, 0.01)]
STEPS, SEEDS = 100_000, range(10)
DATA = REFERENCE / "NonstationaryModelLearning" / "doc" / "data_final"

# published name -> (name in the dictionaries of tuned values or None, learner from family, true p_c, tuned value)
LEARNERS: dict[str, tuple[str | None, Callable[[Any, float, float], Any]]] = {
    "smileextended": ("VarSMiLe", lambda f, p_c, v: vl.VarSMiLe(f, v)),
    "smileOriginal": ("SMiLe", lambda f, p_c, v: vl.SMiLe(f, v)),
    "leaky": ("Leaky", lambda f, p_c, v: vl.Leaky(f, v)),
    "gnassarJN": ("Nas10*", lambda f, p_c, v: vl.Nas10Star(f, v)),
    "gnassarNatN": ("Nas12*", lambda f, p_c, v: vl.Nas12Star(f, v)),
    "gnassarJNOriginal": ("Nas10", lambda f, p_c, v: vl.Nas10(f.sigma, v)),
    "gnassarNatNOriginal": ("Nas12", lambda f, p_c, v: vl.Nas12(f.sigma, v)),
    "pf1": (None, lambda f, p_c, v: vl.ParticleFilter(f, p_c, n=1)),
    "pf10": (None, lambda f, p_c, v: vl.ParticleFilter(f, p_c, n=10)),
    "pf20": (None, lambda f, p_c, v: vl.ParticleFilter(f, p_c, n=20)),
    "gsor1": (None, lambda f, p_c, v: vl.MessagePassing(f, p_c, n=1)),
    "gsor10": (None, lambda f, p_c, v: vl.MessagePassing(f, p_c, n=10)),
    "gsor20": (None, lambda f, p_c, v: vl.MessagePassing(f, p_c, n=20)),
    "gsorOriginal1": (None, lambda f, p_c, v: vl.StratifiedResampling(f, p_c, n=1)),
}

pytestmark = needs_reference


def cell_of(path: pathlib.Path, sigma: float, p_c: float) -> list[float]:
    with path.open() as file:
        rows = [list(map(float, row)) for row in list(csv.reader(file, delimiter=" "))[1:]]
    return next(row[2:] for row in rows if row[0] == sigma and np.isclose(row[1], p_c))


@functools.cache
def tuned_values() -> dict[tuple[str, str, float, float], float]:
    return files.tuned_values(REFERENCE)


@pytest.mark.parametrize(("sigma", "p_c"), CELLS, ids=lambda v: f"{v:g}")
def test_steady_state_errors_agree_with_the_published_heat_maps(sigma: float, p_c: float) -> None:
    family = vl.Gaussian(sigma)
    ours: dict[str, list[float]] = {name: [] for name in ["bayesfilter", *LEARNERS]}
    for seed in SEEDS:
        y, theta, _ = vl.ChangingEnvironment(family, p_c).sample(STEPS, seed=1000 + seed)
        exact = np.mean((vl.run(vl.ExactBayes(family, p_c), y, readouts=("mean",)).mean - theta) ** 2)
        ours["bayesfilter"].append(float(exact))
        for name, (tuned, make) in LEARNERS.items():
            value = tuned_values()["gaussian", tuned, sigma, p_c] if tuned else np.nan
            mean = vl.run(make(family, p_c, value), y, seed=seed, readouts=("mean",)).mean
            ours[name].append(float(np.mean((mean - theta) ** 2) - exact))
    disagreements = {}
    for name, errors in ours.items():
        own = np.std(errors, ddof=1) / np.sqrt(len(errors))
        with_error = DATA / "heatmaps_std_NONINDEPENDENT_final" / f"gaussian_heatmap_diff_std_{name}.csv"
        if with_error.exists():
            published, _, published_error = cell_of(with_error, sigma, p_c)
        else:
            file = "gaussian_heatmap_bayesfilter.csv" if name == "bayesfilter" else f"gaussian_heatmap_diff_{name}.csv"
            (published,), published_error = cell_of(DATA / "heatmaps" / file, sigma, p_c), own
        z = (np.mean(errors) - published) / np.hypot(own, published_error)
        if abs(z) > 3.0:
            disagreements[name] = f"ours {np.mean(errors):.4g}, published {published:.4g}, {z:.1f} standard errors apart"
    assert not disagreements
