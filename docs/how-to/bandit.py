"""Simulated people who choose among two arms whose probabilities of a reward change: bandit.csv.

python docs/how-to/bandit.py [PEOPLE] [OUT]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import volatilis as vl

TRIALS, P_C = 200, 0.05


def person(number: int) -> pd.DataFrame:
    """Learns as VarSMiLe does, each arm with changes of its own; chooses by a softmax, and likes to choose the same arm again."""
    rng = np.random.default_rng([8, number])
    m, beta, sticky = np.exp(rng.normal(-1.2, 0.5)), np.exp(rng.normal(1.5, 0.4)), rng.normal(0.4, 0.4)
    stream = vl.Stream(vl.PerContext(vl.VarSMiLe(vl.Bernoulli(), m=m), contexts=2))
    p, mean, last, rows = rng.random(2), np.full(2, 0.5), None, []
    for t in range(TRIALS):
        p = np.where(rng.random(2) < P_C, rng.random(2), p)
        score = beta * mean + (0.0 if last is None else sticky * (np.arange(2) == last))
        choice = int(rng.random() < 1.0 / (1.0 + np.exp(score[0] - score[1])))
        reward = (rng.random(2) < p).astype(int)
        mean, last = np.array(stream.update(reward[choice], given=choice).mean), choice
        rows.append((number, t + 1, choice, reward[choice], *reward))
    return pd.DataFrame(rows, columns=["subject", "trial", "choice", "reward", "reward_0", "reward_1"])


if __name__ == "__main__":
    count, out = int(sys.argv[1]) if len(sys.argv) > 1 else 20, Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    table = pd.concat([person(number) for number in range(1, count + 1)])
    table.to_csv(out / "bandit.csv", index=False)
    print(f"bandit.csv: {count} people, {len(table):,} trials")
