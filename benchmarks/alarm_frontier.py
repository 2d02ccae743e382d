"""Small shifts sooner, at the price of large ones: `python -m benchmarks.alarm_frontier [--rate 1000 --within 200]`.

The exact filter on unit Gaussian noise (p_c 0.001, sigma_0 3), and in place of P(a change within the newest w) the odds

    sum over recent changes of w_i g(r_i)  :  the weight of no recent change

r_i observations after the change. g = 1 is `recent_change`. Its Occam factor costs a change r observations ago a factor of about
3 sqrt(r), so g = r^(1/2) takes that back: as the generalised likelihood ratio does, and ADWIN more than that. Or g is 1 for the
first observations and a constant afterwards. Sequences, shifts and rate as in `benchmarks.alarms`, other seeds; ADWIN and the
generalised likelihood ratio on the same sequences.
"""

from __future__ import annotations

import argparse
import functools

import numba
import numpy as np

import volatilis as vl
from benchmarks.alarms import BEFORE, SEQUENCES, SHIFTS, Rings, glr, level_for, river
from volatilis.changepoints.thresholds import alarms_at, rule_for

SIGMA_0, P_C, FAINT, LONGEST = 3.0, 0.001, 1e-10, 4096
SEED, PART = 11, 50_000
AGO = np.arange(1.0, LONGEST + 1.0)
WEIGHTS = {f"r^{a:g}": AGO**a for a in (0.0, 0.25, 0.4, 0.5)} | {
    f"{large:g} from r = {start + 1}": np.where(start < AGO, large, 1.0) for start in (10, 15, 25) for large in (2.0, 4.0, 8.0)
}


@numba.njit(cache=True)
def log_odds(y: np.ndarray, within: int, weights: np.ndarray) -> np.ndarray:
    """(weights, T), where `weights` has a row for each g, by how long ago a change was.

    Changes longer ago than `within` are one hypothesis, with the moments of their mixture.
    """
    out = np.empty((weights.shape[0], y.size))
    log_w, w, mean, variance = np.empty(LONGEST), np.empty(LONGEST), np.empty(LONGEST), np.empty(LONGEST)
    born, count = np.empty(LONGEST, np.int64), 0
    for t in range(y.size):
        for i in range(count):
            log_w[i] += np.log1p(-P_C)
        log_w[count], mean[count], variance[count], born[count] = np.log(P_C), 0.0, SIGMA_0**2, t
        if t == 0:
            log_w[0] = 0.0
        count += 1
        for i in range(count):
            gain, apart = variance[i] / (variance[i] + 1.0), y[t] - mean[i]
            log_w[i] -= 0.5 * (np.log(variance[i] + 1.0) + apart * apart / (variance[i] + 1.0))
            mean[i] += gain * apart
            variance[i] *= 1.0 - gain
        top, whole = log_w[:count].max(), 0.0
        for i in range(count):
            w[i] = np.exp(log_w[i] - top)
            whole += w[i]
        while count > 1 and t - born[1] >= within:
            joint = w[0] + w[1] + 1e-300
            middle = (w[0] * mean[0] + w[1] * mean[1]) / joint
            spread = w[0] * (variance[0] + (mean[0] - middle) ** 2) + w[1] * (variance[1] + (mean[1] - middle) ** 2)
            mean[1], variance[1], w[1], born[1] = middle, spread / joint, joint, born[0]
            for i in range(1, count):
                w[i - 1], mean[i - 1], variance[i - 1], born[i - 1] = w[i], mean[i], variance[i], born[i]
            count -= 1
        kept = 0
        for i in range(count):
            if w[i] > FAINT * whole or i == 0 or t - born[i] < 3:
                w[kept], mean[kept], variance[kept], born[kept] = w[i] / whole, mean[i], variance[i], born[i]
                log_w[kept] = np.log(w[kept] + 1e-300)
                kept += 1
        count = kept
        for k in range(weights.shape[0]):
            recent = 0.0
            for i in range(1, count):
                recent += w[i] * weights[k, t - born[i]]
            out[k, t] = np.log(recent + 1e-300) - np.log(w[0] + 1e-300)
    return out


def main() -> None:
    from river import drift

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=1000, help="one false alarm in so many observations")
    parser.add_argument("--within", type=int, default=200)
    options = parser.parse_args()
    rate, weights = 1.0 / options.rate, np.array(list(WEIGHTS.values()))
    quiet = np.random.default_rng(SEED).normal(size=100 * options.rate)
    parts = [log_odds(part, options.within, weights) for part in np.array_split(quiet, -(-quiet.size // PART))]
    rules = [
        rule_for(vl.AlarmRule(0.0, "log_bayes_factor_surprise"), [part[k] for part in parts], rate) for k in range(len(WEIGHTS))
    ]

    def adwin(h: float) -> object:
        return drift.ADWIN(delta=float(np.exp(-h)), clock=1)

    chosen = functools.partial(adwin, level_for(lambda h: river(functools.partial(adwin, h), quiet), rate, 0.05, 50.0))
    window = 200 if rate > 5e-4 else 400
    level = level_for(lambda h: glr(quiet, h, window), rate, 1.0, 40.0)
    others: dict[str, Rings] = {
        "river ADWIN": lambda y: river(chosen, y, 0),
        "generalised likelihood ratio": lambda y: glr(y, level, window),
    }
    names = [*WEIGHTS, *others]
    rows: list[list[str]] = [[] for _ in names]
    for shift in SHIFTS:
        rng, after = np.random.default_rng(SEED + 100), 400 if shift < 1 else 80
        delays: list[list[int]] = [[] for _ in names]
        for _ in range(SEQUENCES):
            y = rng.normal(size=BEFORE + after)
            y[BEFORE:] += shift
            values = log_odds(y, options.within, weights)
            rang = [alarms_at(rule, values[k]) for k, rule in enumerate(rules)] + [rings(y) for rings in others.values()]
            for found, one in zip(delays, rang, strict=True):
                if not one[:BEFORE].any():
                    found.append(int(np.flatnonzero(one[BEFORE:])[0]) + 1 if one[BEFORE:].any() else after)
        for row, found in zip(rows, delays, strict=True):
            row.append(f"{np.mean(found):.3g} ± {np.std(found) / np.sqrt(len(found)):.2g}")
    print("| statistic | " + " | ".join(f"{s:g} sigma" for s in SHIFTS) + " |", "|---" * (len(SHIFTS) + 1) + "|", sep="\n")
    for name, row in zip(names, rows, strict=True):
        print(f"| {name} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
