"""Twenty simulated people, fourteen who predict as VarSMiLe does and six as a leaky integrator: a table of trials.

python mixed_people.py OUT.csv TRIALS     three blocks of TRIALS each
"""

from __future__ import annotations

import csv
import sys

import numpy as np

import volatilis as vl
from volatilis.behaviour import Model, Person, Trials, simulate

FAMILY, TEXT = vl.Gaussian(sigma=10, mu_0=150, sigma_0=50), "gaussian:sigma=10,mu_0=150,sigma_0=50"
path, length = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(1)
with open(path, "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["subject", "block", "outcome", "prediction"])
    for subject in range(1, 21):
        learner = "varsmile:m=free" if subject <= 14 else "leaky:omega=free"
        values = {"m": rng.lognormal(-1.5, 0.5)} if subject <= 14 else {"omega": rng.beta(12, 6)}
        values["sd"] = rng.lognormal(2.0, 0.3)
        for block in (1, 2, 3):
            y = vl.ChangingEnvironment(FAMILY, p_c=0.1).sample(length, seed=10 * subject + block).y
            design = Trials(y, np.zeros(length, dtype=np.uint8), np.zeros(length), np.ones(length, dtype=bool))
            model = Model.parse(TEXT, learner, "gaussian:sd=free")
            said = simulate(model, values, Person("one", (design,)), seed=10 * subject + block).parts[0].given
            missed = rng.random(length) < 0.03
            for outcome, prediction, silent in zip(y, said, missed, strict=True):
                table.writerow([subject, block, round(outcome, 1), "" if silent else round(prediction, 1)])
