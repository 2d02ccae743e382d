"""How often `volatilis.check` warns on data from the model, for docs/how-to/does-it-fit.md.

python -m benchmarks.model_checks [--sets 300] [--length 500]
"""

from __future__ import annotations

import argparse
from collections import Counter

import volatilis as vl

WORLDS = {
    "Gaussian, p_c = 0.02": (vl.Gaussian(1.0, 0.0, 5.0), 0.02),
    "Gaussian, p_c = 0.2": (vl.Gaussian(1.0, 0.0, 2.0), 0.2),
    "Gaussian, unknown variance, p_c = 0.05": (vl.GaussianUnknownVariance(0.0, 0.1, 3.0, 2.0), 0.05),
    "Poisson, p_c = 0.05": (vl.Poisson(3.0, 0.3), 0.05),
    "Exponential, p_c = 0.05": (vl.Exponential(3.0, 1.0), 0.05),
    "Bernoulli, p_c = 0.05": (vl.Bernoulli(), 0.05),
    "Categorical, p_c = 0.05": (vl.Categorical(4), 0.05),
    "Directions, p_c = 0.05": (vl.VonMises(10.0, 0.0, 0.5, 360.0), 0.05),
    "Contaminated Gaussian, p_c = 0.05": (vl.Contaminated(vl.Gaussian(1.0, 0.0, 5.0), 0.05, 2.0), 0.05),
    "Autoregression, p_c = 0.05": (vl.AutoRegression(1, 0.1, 4.0, 6.0, 20.0, 25.0), 0.05),
    "Vectors, p_c = 0.05": (vl.MultivariateGaussian([[1.0, 0.3], [0.3, 1.0]], [0.0, 0.0], [[9.0, 0.0], [0.0, 9.0]]), 0.05),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--length", type=int, default=500)
    arguments = parser.parse_args()
    print("| model | data sets with any warning | the most frequent |\n|---|---|---|")
    for name, (family, p_c) in WORLDS.items():
        learner, counts, sets_with_one = vl.Merge(family, p_c, 20), Counter[str](), 0
        for seed in range(arguments.sets):
            y = vl.ChangingEnvironment(family, p_c).sample(arguments.length, seed=seed).y
            kinds = {misfit.kind for misfit in vl.check(learner, y, p_c=p_c).misfits}
            counts.update(kinds)
            sets_with_one += bool(kinds)
        most = ", ".join(f"{kind}: {100.0 * count / arguments.sets:.1f} %" for kind, count in counts.most_common(1)) or "none"
        print(f"| {name} | {100.0 * sets_with_one / arguments.sets:.1f} % | {most} |", flush=True)


if __name__ == "__main__":
    main()
