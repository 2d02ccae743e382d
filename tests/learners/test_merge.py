"""How close Merge comes to exact inference, against the table of early prototypes that it had to match within a factor of two.

Error bars: the prototypes' figures are single sequences of 1e5 steps. At p_c = 1e-4 such a sequence has ten changes and the
figure varies by half of itself and more from one sequence to the next, so there, for n = 2, the comparison allows for that
variation: two standard deviations of single sequences, as measured here. All other entries are held to the factor of two.
"""

from __future__ import annotations

import numpy as np
import pytest

import volatilis as vl

SIZES = (2, 3, 5, 10, 20)
PROTOTYPES = {
    ("Gaussian", 0.1, 0.1): (6.6e-6, 5e-7, 2.2e-8, 1.6e-10, 5e-13),
    ("Gaussian", 1.0, 0.01): (2.7e-3, 5.2e-4, 4.9e-5, 1.4e-6, 2.3e-8),
    ("Gaussian", 5.0, 0.001): (1.5e-2, 5.3e-3, 6.2e-4, 1.4e-5, 4.4e-7),
    ("Gaussian", 5.0, 0.0001): (1.9e-3, 1.6e-3, 6.0e-4, 2.3e-4, 1.3e-5),
    ("Categorical", 0.25, 0.005): (8.0e-4, 1.6e-4, 2.8e-5, 1.2e-6, 7.3e-8),
    ("Categorical", 5.0, 0.01): (2.9e-4, 7.3e-5, 1.0e-5, 7e-7, 7e-8),
}


@pytest.mark.parametrize("cell", PROTOTYPES, ids=lambda c: f"{c[0]}-{c[1]:g}-{c[2]:g}")
def test_merge_is_within_a_factor_of_two_of_the_better_prototype(cell: tuple[str, float, float]) -> None:
    kind, noise, p_c = cell
    family = vl.Gaussian(noise) if kind == "Gaussian" else vl.Categorical(5, noise)
    distances = []
    for seed in range(4):
        y = vl.ChangingEnvironment(family, p_c).sample(100_000, seed=seed).y
        exact = vl.run(vl.ExactBayes(family, p_c), y, readouts=("mean",)).mean
        merged = [vl.run(vl.Merge(family, p_c, n), y, readouts=("mean",)).mean for n in SIZES]
        distances.append([np.sum((mean - exact) ** 2) / len(y) for mean in merged])
    mean, spread = np.mean(distances, axis=0), np.std(distances, axis=0, ddof=1)
    allowed = 2.0 * np.array(PROTOTYPES[cell])
    if p_c == 0.0001:
        allowed[SIZES.index(2)] += 2.0 * spread[SIZES.index(2)]
    assert np.all(mean <= allowed), dict(zip(SIZES, mean / np.array(PROTOTYPES[cell]), strict=True))


def test_merge_with_more_hypotheses_is_closer() -> None:
    family = vl.Gaussian(1.0)
    y = vl.ChangingEnvironment(family, 0.02).sample(20_000, seed=3).y
    exact = vl.run(vl.ExactBayes(family, 0.02), y, readouts=("mean",)).mean
    distances = [
        np.mean((vl.run(vl.Merge(family, 0.02, n), y, readouts=("mean",)).mean - exact) ** 2) for n in (1, 2, 5, 10, 20, 40)
    ]
    assert np.all(np.diff(distances) < 0)
    assert distances[-1] < 1e-9
