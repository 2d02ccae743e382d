"""Merge in every family: how near it comes to Exact Bayes, beside pf20, MP20 and SOR20: mean, variance and surprise.

    python -m benchmarks.merge [OBSERVATIONS] [SEEDS] [FAMILY ...]

Prints a Markdown table: for each family and p_c the mean squared distance to Exact Bayes of the best of pf20, MP20 and SOR20, and
how many times nearer Merge with 3, 10 and 20 hypotheses is; the same for the variance of the belief and for the Shannon surprise.
Distances are means over observations and seeds; in brackets the least ratio of a single seed. Without families: all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np

import volatilis as vl

IDENTITY = [[1.0, 0.0], [0.0, 1.0]]
FAMILIES = {  # not AutoRegression: where a coefficient drawn from its prior is above 1 the observations grow beyond all bounds
    "Gaussian": vl.Gaussian(1.0),
    "Categorical": vl.Categorical(5, 1.0),
    "Bernoulli": vl.Bernoulli(1.0, 1.0),
    "Poisson": vl.Poisson(2.0, 0.2),
    "Exponential": vl.Exponential(2.0, 2.0),
    "unknown variance": vl.GaussianUnknownVariance(0.0, 0.2, 3.0, 3.0),
    "two-dimensional": vl.MultivariateGaussian([[1.0, 0.3], [0.3, 1.0]], [0.0, 0.0], [[9.0, 0.0], [0.0, 9.0]]),
    "unknown covariance": vl.MultivariateGaussianUnknownCovariance([0.0, 0.0], 0.2, 6.0, IDENTITY),
    "von Mises": vl.VonMises(4.0),
    "linear regression": vl.LinearRegression(1),
}
RATES = (0.1, 0.01, 0.001)
READOUTS = ("mean", "variance", "shannon_surprise")
RIVALS = {"pf20": vl.ParticleFilter, "MP20": vl.MessagePassing, "SOR20": vl.StratifiedResampling}
COUNTS = (3, 10, 20)


def distances(family: object, p_c: float, observations: int, seed: int) -> dict[str, np.ndarray]:
    """Mean squared distance to Exact Bayes of each readout, by learner."""
    given = np.random.default_rng([seed, 1]).normal(size=(observations, 1)) if isinstance(family, vl.LinearRegression) else None
    y = vl.ChangingEnvironment(family, p_c).sample(observations, seed=seed, given=given).y
    exact = vl.run(vl.ExactBayes(family, p_c), y, readouts=READOUTS, given=given)
    learners = {name: cls(family, p_c, 20) for name, cls in RIVALS.items()}
    learners |= {f"Merge{n}": vl.Merge(family, p_c, n) for n in COUNTS}
    found = {}
    for name, learner in learners.items():
        trace = vl.run(learner, y, seed=seed, readouts=READOUTS, given=given)
        gaps = {of: getattr(trace, of) - getattr(exact, of) for of in READOUTS}
        if isinstance(family, vl.VonMises):  # the shorter way round
            gaps["mean"] = (gaps["mean"] + 0.5 * family.period) % family.period - 0.5 * family.period
        found[name] = np.array([np.mean(gap**2) for gap in gaps.values()])
    return found


def row(readout: int, every: list[Mapping[str, np.ndarray]]) -> list[str]:
    """The best of the others, and how many times nearer each Merge is: of the means over seeds, and in the least of the seeds."""
    by_seed = {name: np.array([one[name][readout] for one in every]) for name in every[0]}
    best = min(RIVALS, key=lambda name: by_seed[name].mean())
    cells = [f"{best} {by_seed[best].mean():.2g}"]
    for n in COUNTS:
        merged = by_seed[f"Merge{n}"]
        cells.append(f"{two_digits(by_seed[best].mean() / merged.mean())} ({two_digits((by_seed[best] / merged).min())})")
    return cells


def two_digits(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,g}"


def main(observations: int = 20_000, seeds: int = 3, *names: str) -> None:
    heads = ["family", "p_c", "of", "best of the others", *(f"Merge{n}: times nearer" for n in COUNTS)]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for title, family in FAMILIES.items():
        for p_c in RATES if not names or title in names else ():
            every = [distances(family, p_c, observations, seed) for seed in range(seeds)]
            for k, readout in enumerate(READOUTS):
                cells = [title, f"{p_c:g}", readout.replace("_", " "), *row(k, every)]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
