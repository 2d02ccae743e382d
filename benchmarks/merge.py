"""Merge in every family: how near it comes to Exact Bayes, beside pf20, MP20 and SOR20: mean, variance and surprise.

    python -m benchmarks.merge [OBSERVATIONS] [SEEDS]

Prints a Markdown table: for each family and p_c the mean squared distance to Exact Bayes of the best of pf20, MP20 and SOR20, and
how many times nearer Merge with 3, 10 and 20 hypotheses is; the same for the variance of the belief and for the Shannon surprise.
"""

from __future__ import annotations

import sys

import numpy as np

import volatilis as vl

FAMILIES = {
    "Bernoulli": vl.Bernoulli(1.0, 1.0),
    "Poisson": vl.Poisson(2.0, 0.2),
    "Exponential": vl.Exponential(2.0, 2.0),
    "Gaussian, unknown variance": vl.GaussianUnknownVariance(0.0, 0.2, 3.0, 3.0),
    "two-dimensional Gaussian": vl.MultivariateGaussian([[1.0, 0.3], [0.3, 1.0]], [0.0, 0.0], [[9.0, 0.0], [0.0, 9.0]]),
}
RATES = (0.1, 0.01, 0.001)
READOUTS = ("mean", "variance", "shannon_surprise")
RIVALS = {"pf20": vl.ParticleFilter, "MP20": vl.MessagePassing, "SOR20": vl.StratifiedResampling}
COUNTS = (3, 10, 20)


def distances(family: object, p_c: float, observations: int, seed: int) -> dict[str, np.ndarray]:
    """Mean squared distance to Exact Bayes of each readout, by learner."""
    y = vl.ChangingEnvironment(family, p_c).sample(observations, seed=seed).y
    exact = vl.run(vl.ExactBayes(family, p_c), y, readouts=READOUTS)
    learners = {name: cls(family, p_c, 20) for name, cls in RIVALS.items()}
    learners |= {f"Merge{n}": vl.Merge(family, p_c, n) for n in COUNTS}
    found = {}
    for name, learner in learners.items():
        trace = vl.run(learner, y, seed=seed, readouts=READOUTS)
        found[name] = np.array([np.mean((getattr(trace, of) - getattr(exact, of)) ** 2) for of in READOUTS])
    return found


def two_digits(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,g}"


def main(observations: int = 20_000, seeds: int = 3) -> None:
    heads = ["family", "p_c", "of", "best of the others", *(f"Merge{n}: times nearer" for n in COUNTS)]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for title, family in FAMILIES.items():
        for p_c in RATES:
            every = [distances(family, p_c, observations, seed) for seed in range(seeds)]
            means = {name: np.mean([one[name] for one in every], axis=0) for name in every[0]}
            for k, readout in enumerate(READOUTS):
                best = min(RIVALS, key=lambda name: means[name][k])
                ratios = [two_digits(means[best][k] / means[f"Merge{n}"][k]) for n in COUNTS]
                cells = [title, f"{p_c:g}", readout.replace("_", " "), f"{best} {means[best][k]:.2g}", *ratios]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
