"""Twenty simulated people who predict as VarSMiLe does, each with an m and a noise of their own: people.csv."""

from __future__ import annotations

import csv

import numpy as np

import volatilis as vl

family = vl.Gaussian(sigma=10.0, mu_0=150.0, sigma_0=50.0)
rng = np.random.default_rng(2026)
with open("people.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["subject", "trial", "outcome", "prediction", "true_m", "true_sd"])
    for subject in range(1, 21):
        m, sd = float(np.exp(rng.normal(np.log(0.2), 0.6))), float(np.exp(rng.normal(np.log(8.0), 0.3)))
        y = vl.ChangingEnvironment(family, p_c=0.1).sample(200, seed=subject).y
        before = np.concatenate([[family.mu_0], vl.run(vl.VarSMiLe(family, m), y).mean[:-1]])
        for t in range(200):
            table.writerow([subject, t + 1, round(y[t], 2), round(before[t] + rng.normal(0.0, sd), 2), round(m, 4), round(sd, 3)])
