"""How soon after a change an alarm rings, at one measured rate of false alarms: `python -m benchmarks.alarms [--write]`.

Unit Gaussian noise. After 300 observations the level shifts; the delay is from the first shifted observation to the alarm, that
one included, over 300 sequences without an alarm before; 1,000 where none rings. Every threshold is set so that, while nothing
changes, alarms begin at the same rate; levels before and after are unknown to all but CUSUM, which is told both. River's
detectors start anew after an alarm, as they do by themselves.
"""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Callable

import numba
import numpy as np

import volatilis as vl
from volatilis.changepoints.calibration import alarms_at, statistics_of, threshold_for

BEFORE, AFTER, SEQUENCES, SHIFTS = 300, 1000, 300, (0.5, 1.0, 1.5, 2.0, 3.0)
LEARNER = vl.Merge(vl.Gaussian(1.0, 0.0, 3.0), 0.001, 20)
PAGE = pathlib.Path(__file__).parents[1] / "docs" / "results" / "alarms.md"
WINDOW = 200


@numba.njit(cache=True)
def glr(y: np.ndarray, threshold: float) -> np.ndarray:
    """Generalised likelihood ratio of a change among the newest 200 observations, both levels unknown; anew after an alarm."""
    rang, sums, begin = np.zeros(y.size, dtype=np.bool_), np.zeros(y.size + 1), 0
    for t in range(y.size):
        sums[t + 1] = sums[t] + y[t]
        for k in range(1, min(WINDOW, t - begin) + 1):
            n = t + 1 - k - begin
            apart = (sums[t + 1] - sums[t + 1 - k]) / k - (sums[t + 1 - k] - sums[begin]) / n
            if apart * apart * n * k / (n + k) / 2.0 > threshold:
                rang[t] = True
                begin = t + 1
                break
    return rang


@numba.njit(cache=True)
def cusum(y: np.ndarray, threshold: float, shift: float) -> np.ndarray:
    rang, s = np.zeros(y.size, dtype=np.bool_), 0.0
    for t in range(y.size):
        s = max(0.0, s + shift * (y[t] - shift / 2.0))
        if s > threshold:
            rang[t], s = True, 0.0
    return rang


def river(make: Callable[[float], object], y: np.ndarray, level: float) -> np.ndarray:
    detector, rang = make(level), np.zeros(y.size, dtype=bool)
    for t, x in enumerate(y.tolist()):
        detector.update(x)  # type: ignore[attr-defined]
        rang[t] = detector.drift_detected  # type: ignore[attr-defined]
    return rang


def level_for(rings: Callable[[np.ndarray, float], np.ndarray], y: np.ndarray, rate: float, low: float, high: float) -> float:
    """By bisection on a logarithmic scale: more alarms at `low` than at `high`."""
    for _ in range(14):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if rings(y, middle).mean() > rate else (low, middle)
    return high


def delays(rings: Callable[[np.ndarray], np.ndarray], shift: float, count: int = SEQUENCES) -> float:
    found, rng = [], np.random.default_rng(7)
    while len(found) < count:
        y = rng.normal(size=BEFORE + AFTER)
        y[BEFORE:] += shift
        rang = rings(y)
        after = np.flatnonzero(rang[BEFORE:])
        if not rang[:BEFORE].any():
            found.append(after[0] + 1 if after.size else AFTER)
    return float(np.mean(found))


def table(rate: float, quick: bool) -> list[list[str]]:
    from river import drift

    quiet = np.random.default_rng(1).normal(size=int(400 / rate) if rate > 5e-4 else int(200 / rate))
    few = quiet[: int(60 / rate)]
    rows = []
    for within in (50, 100, 200):
        rule = vl.AlarmRule(0.5, within=within)
        rule = rule.with_threshold(threshold_for(rule, [statistics_of(LEARNER, rule, quiet)], rate))
        ours = [delays(lambda y, rule=rule: alarms_at(rule, statistics_of(LEARNER, rule, y)), s) for s in SHIFTS]
        rows.append([f"`recent_change`, within {within}", *map(shown, ours)])
    rule = vl.AlarmRule(0.5, "adaptation_rate")
    rule = rule.with_threshold(threshold_for(rule, [statistics_of(LEARNER, rule, quiet)], rate))
    gamma = [delays(lambda y: alarms_at(rule, statistics_of(LEARNER, rule, y)), s) for s in SHIFTS]
    rows.append(["adaptation rate", *map(shown, gamma)])
    level = level_for(glr, quiet, rate, 1.0, 40.0)
    rows.append(["generalised likelihood ratio, window 200", *(shown(delays(lambda y: glr(y, level), s)) for s in SHIFTS)])
    told = []
    for s in SHIFTS:
        level = level_for(lambda y, h, s=s: cusum(y, h, s), quiet, rate, 0.1, 40.0)
        told.append(delays(lambda y, s=s, level=level: cusum(y, level, s), s))
    rows.append(["CUSUM, told both laws", *map(shown, told)])
    peers: list[tuple[str, Callable[[float], object], float, float, bool]] = [
        ("river ADWIN", lambda h: drift.ADWIN(delta=float(np.exp(-h)), clock=1), 0.05, 200.0, False),
        ("river PageHinkley", lambda h: drift.PageHinkley(threshold=h), 1.0, 1e4, False),
        ("river KSWIN", lambda h: drift.KSWIN(alpha=float(np.exp(-h)), seed=1), 1.0, 200.0, True),
    ]
    for name, make, low, high, slow in peers:
        if slow and (quick or rate < 5e-4):
            continue
        sample = few[:20_000] if slow else few
        level = level_for(lambda y, h, make=make: river(make, y, h), sample, rate, low, high)
        count = 40 if slow else 150
        rows.append([name, *(shown(delays(lambda y, make=make, level=level: river(make, y, level), s, count)) for s in SHIFTS)])
    return rows


def shown(value: float) -> str:
    return f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/results/alarms.md")
    parser.add_argument("--quick", action="store_true", help="without KSWIN")
    parser.add_argument("--rates", default="1000,10000", help="one false alarm in so many observations")
    options = parser.parse_args()
    words = " ".join((__doc__ or "").split("\n\n")[1].split())
    lines = ["# How soon an alarm rings", "", f"Made by `python -m benchmarks.alarms --write`. {words}"]
    for rate in (1.0 / float(text) for text in options.rates.split(",")):
        lines += ["", f"## One false alarm in {round(1 / rate):,} observations: mean delay", ""]
        lines += ["| statistic | " + " | ".join(f"{s:g} sigma" for s in SHIFTS) + " |", "|---" * (len(SHIFTS) + 1) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in table(rate, options.quick)]
        print("\n".join(lines), flush=True)
    if options.write:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
