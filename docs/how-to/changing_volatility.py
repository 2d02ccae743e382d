"""The picture of docs/how-to/unknown-environment.md: p_c goes from 0.01 to 0.2 and back, and two averages learn it.

python docs/how-to/changing_volatility.py [OUT.png]
"""

from __future__ import annotations

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import volatilis as vl

OUT = pathlib.Path(__file__).parents[1] / "images" / "changing-volatility.png"
RATES, LENGTH = (0.01, 0.2, 0.01), 1500


def main() -> None:
    family = vl.Gaussian(sigma=1.0, mu_0=0.0, sigma_0=5.0)
    parts = [vl.ChangingEnvironment(family, p_c).sample(LENGTH, seed=seed).y for seed, p_c in enumerate(RATES)]
    y, steps = np.concatenate(parts), np.arange(1, len(RATES) * LENGTH + 1)
    figure, axis = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    axis.plot(steps, np.repeat(RATES, LENGTH), color="black", linewidth=1.2, linestyle="dashed", label="true p_c")
    for forget, colour in ((0.0, "#b0452c"), (0.002, "#06397a")):
        learner = vl.Averaged(vl.Merge(family, p_c=0.1, n=10), p_c="unknown", forget=forget)
        p_c = vl.run(learner, y).parameter("p_c")
        axis.plot(steps, p_c.mean, color=colour, linewidth=1.4, label=f"forget={forget:g}: mean and 95 % interval")
        axis.fill_between(steps, p_c.low, p_c.high, color=colour, alpha=0.18, linewidth=0)
    axis.set(xlabel="observation", ylabel="p_c", yscale="log", xlim=(0, steps[-1]), ylim=(1e-3, 0.6))
    axis.legend(fontsize=8, loc="upper left", framealpha=0.6)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else OUT, dpi=150)


if __name__ == "__main__":
    main()
