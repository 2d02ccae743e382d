"""The picture of docs/how-to/does-it-fit.md: one-step errors of a model that fits and of two that do not.

Run it:  python docs/how-to/does_it_fit.py
"""

from __future__ import annotations

import pathlib

import numpy as np
from matplotlib import pyplot

import volatilis as vl
from volatilis.plots.estimates import draw_errors

IMAGE = pathlib.Path(__file__).parents[1] / "images" / "does-it-fit.png"


def main() -> None:
    world = vl.Gaussian(sigma=1.0, mu_0=0.0, sigma_0=5.0)
    y = vl.ChangingEnvironment(world, p_c=0.02).sample(1000, seed=1).y
    noise, drifting = np.random.default_rng(5).normal(size=1000), np.zeros(1000)
    for t in range(1, 1000):
        drifting[t] = 0.9 * drifting[t - 1] + noise[t]
    cases = (
        ("a model that fits", world, y),
        ("sigma = 0.6, where it is 1", vl.Gaussian(0.6, 0.0, 5.0), y),
        ("autocorrelated observations", world, drifting),
    )
    figure, axes = pyplot.subplots(3, 2, figsize=(8.0, 9.6), layout="constrained")
    for row, (name, family, observations) in zip(axes, cases, strict=True):
        found = vl.check(vl.Merge(family, p_c=0.02, n=20), observations)
        draw_errors(found.errors, list(row))
        row[0].set_title(name)
        row[1].set_title(", ".join(misfit.kind for misfit in found.misfits) or "nothing speaks against it")
        print(found)
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
