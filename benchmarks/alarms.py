"""How soon after a change an alarm rings, at one measured rate of false alarms: `python -m benchmarks.alarms [--write]`.

Unit Gaussian noise. After 300 observations the level shifts; the delay is from the first shifted observation to the alarm, that
one included, over 400 sequences (KSWIN: 60) less those with an alarm before, with its standard error; 2,000 where none rings.
"Alarm before" is how many of 400 others had one.
Every threshold is set so that, while nothing changes, alarms begin at the same rate (onsets per observation, 400 of them, of
ADWIN and PageHinkley 200); levels before and after are unknown to all but CUSUM, which is told both and the sign. River's
detectors start anew after an alarm, as they do by themselves; ADWIN looks at every observation (clock=1). KSWIN compares ranks
of 30 with 30, so only some rates exist: the nearest not above the target.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
from collections.abc import Callable

import numba
import numpy as np

import volatilis as vl
from volatilis.changepoints import Rate
from volatilis.changepoints.thresholds import alarms_at, rule_for, statistics_of

BEFORE, AFTER, SEQUENCES, SHIFTS = 300, 2000, 400, (0.5, 1.0, 1.5, 2.0, 3.0)
LEARNER = vl.Merge(vl.Gaussian(1.0, 0.0, 3.0), 0.001, 20)
PAGE = pathlib.Path(__file__).parents[1] / "docs" / "results" / "alarms.md"
Rings = Callable[[np.ndarray], np.ndarray]


# --- the others -----------------------------------------------------------------------------------------------------------------


@numba.njit(cache=True)
def glr(y: np.ndarray, threshold: float, window: int) -> np.ndarray:
    """Generalised likelihood ratio of a change among the newest observations, both levels unknown; anew after an alarm."""
    rang, sums, begin = np.zeros(y.size, dtype=np.bool_), np.zeros(y.size + 1), 0
    for t in range(y.size):
        sums[t + 1] = sums[t] + y[t]
        for k in range(1, min(window, t - begin) + 1):
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


@numba.njit(cache=True)
def kswin(y: np.ndarray, least: int, seed: int) -> np.ndarray:
    """River's KSWIN with its windows of 100 and 30, ringing where the distance of the two laws is at least `least` thirtieths."""
    np.random.seed(seed)
    rang, begin, order = np.zeros(y.size, dtype=np.bool_), 0, np.arange(70)
    for t in range(y.size):
        if t + 1 - begin < 100:
            continue
        for i in range(30):
            j = np.random.randint(i, 70)
            order[i], order[j] = order[j], order[i]
        old, new = np.sort(y[t - 99 + order[:30]]), np.sort(y[t - 29 : t + 1])
        a = b = widest = 0
        while a < 30 and b < 30:
            if old[a] < new[b]:
                a += 1
            else:
                b += 1
            widest = max(widest, abs(a - b))
        if widest >= least:
            rang[t], begin = True, t - 29
    return rang


def river(make: Callable[[], object], y: np.ndarray, until: int | None = None) -> np.ndarray:
    """Whether a detector rings at each observation; with `until`, only up to the first alarm from there on."""
    detector, rang = make(), np.zeros(y.size, dtype=bool)
    for t, x in enumerate(y.tolist()):
        detector.update(x)  # type: ignore[attr-defined]
        rang[t] = detector.drift_detected  # type: ignore[attr-defined]
        if until is not None and rang[t]:
            break
    return rang


# --- one rate for all -----------------------------------------------------------------------------------------------


def rate_of(rang: np.ndarray) -> float:
    """Onsets of alarms per observation."""
    return float((rang[1:] & ~rang[:-1]).sum() + rang[0]) / rang.size


def level_for(rings: Callable[[float], np.ndarray], rate: float, low: float, high: float) -> float:
    """By bisection on a logarithmic scale: more alarms at `low` than at `high`."""
    for _ in range(12):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if rate_of(rings(middle)) > rate else (low, middle)
    return high


def delays(rings: Rings, shift: float, count: int = SEQUENCES) -> str:
    """Mean delay and its standard error."""
    found, rng = [], np.random.default_rng(7)
    for _ in range(count):
        y = rng.normal(size=BEFORE + AFTER)
        y[BEFORE:] += shift
        rang = rings(y)
        after = np.flatnonzero(rang[BEFORE:])
        if not rang[:BEFORE].any():
            found.append(after[0] + 1 if after.size else AFTER)
    mean, error = float(np.mean(found)), float(np.std(found) / np.sqrt(len(found)))
    return " ± ".join(f"{x:,.0f}" if x >= 100 else f"{x:.{digits}g}" for x, digits in ((mean, 3), (error, 2)))


def early(rings: Rings, count: int = SEQUENCES) -> str:
    """The share of sequences with an alarm among the observations before a shift: the same for all if the rates are."""
    rng = np.random.default_rng(8)
    return f"{np.mean([rings(rng.normal(size=BEFORE)).any() for _ in range(count)]):.0%}"


def ours(rule: vl.AlarmRule, quiet: np.ndarray, rate: float) -> list[str]:
    parts = [statistics_of(LEARNER, rule, part) for part in np.array_split(quiet, -(-quiet.size // 50_000))]
    rule = rule_for(rule, parts, rate)

    def rings(y: np.ndarray) -> np.ndarray:
        return alarms_at(rule, statistics_of(LEARNER, rule, y))

    return [*(delays(rings, s) for s in SHIFTS), early(rings)]


def rows_of(rate: float) -> list[list[str]]:
    quiet = np.random.default_rng(1).normal(size=int(400 / rate))
    rows = [[f"`recent_change`, within {w}", *ours(vl.AlarmRule(0.5, within=w), quiet, rate)] for w in (50, 100, 200, 400)]
    rows.append(["adaptation rate", *ours(vl.AlarmRule(0.5, "adaptation_rate"), quiet, rate)])
    window = 200 if rate > 5e-4 else 400
    level = level_for(lambda h: glr(quiet, h, window), rate, 1.0, 40.0)
    found = [*(delays(lambda y: glr(y, level, window), s) for s in SHIFTS), early(lambda y: glr(y, level, window))]
    rows.append([f"generalised likelihood ratio, window {window}", *found])
    told = []
    for s in SHIFTS:
        told_level = level_for(lambda h, s=s: cusum(quiet, h, s), rate, 0.1, 40.0)
        told.append(delays(lambda y, s=s, level=told_level: cusum(y, level, s), s))
    return [*rows, ["CUSUM, told both laws", *told, ""], *river_rows(rate, quiet)]


def river_rows(rate: float, quiet: np.ndarray) -> list[list[str]]:
    from river import drift
    from scipy import stats

    def adwin(h: float) -> object:
        return drift.ADWIN(delta=float(np.exp(-h)), clock=1)

    def page_hinkley(h: float) -> object:
        return drift.PageHinkley(threshold=h)

    rows = []
    for name, make, low, high in (("river ADWIN", adwin, 0.05, 50.0), ("river PageHinkley", page_hinkley, 1.0, 1e4)):
        level = level_for(lambda h, make=make: river(functools.partial(make, h), quiet[: quiet.size // 2]), rate, low, high)
        chosen = functools.partial(make, level)
        rings: Rings = functools.partial(lambda chosen, y: river(chosen, y, 0), chosen)
        rows.append([name, *(delays(rings, s) for s in SHIFTS), early(rings)])
    some = quiet[: quiet.size // 2]
    rates = {k: rate_of(kswin(some, k, 1)) for k in range(12, 24)}
    least = min((k for k, r in rates.items() if r <= rate), default=24)
    alpha = float(np.sqrt(stats.ks_2samp(range(30), range(least, 30 + least)).pvalue * _p_below(least)))
    measured = f"river KSWIN, measured rate 1/{1 / max(rates[least], 1e-9):,.0f}"

    def by_ranks(y: np.ndarray) -> np.ndarray:
        return river(lambda: drift.KSWIN(alpha=alpha, seed=1), y, 0)

    return [*rows, [measured, *(delays(by_ranks, s, 60) for s in SHIFTS), early(by_ranks, 60)]]


def _p_below(least: int) -> float:
    """The p-value of the next smaller distance: alpha lies between the two."""
    from scipy import stats

    return float(stats.ks_2samp(range(30), range(least - 1, 29 + least)).pvalue)


# --- do calibrated rates hold? ------------------------------------------------------------------------------------------


def worlds(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Observations in which nothing changes, of several kinds."""
    noise, slow = rng.normal(size=count), np.zeros(count)
    for t in range(1, count):
        slow[t] = 0.9 * slow[t - 1] + noise[t]
    outliers = np.where(rng.random(count) < 0.01, rng.normal(0.0, 10.0, size=count), noise)
    season = noise + 2.0 * np.sin(2.0 * np.pi * np.arange(count) / 24.0)
    return {
        "the model": noise,
        "Student-t (4)": rng.standard_t(4, size=count),
        "AR(0.9)": slow,
        "season": season,
        "1 % outliers": outliers,
    }


def calibrated_rows(rate: float, length: int = 50_000, fresh: int = 400_000) -> list[list[str]]:
    """Calibrate on a log without a learner given, then count alarms in fresh observations of the same kind."""
    logs, later = worlds(np.random.default_rng(3), length), worlds(np.random.default_rng(4), fresh)
    rows = []
    for name, log in logs.items():
        try:
            found = vl.calibrate(None, log, false_alarms=rate)
        except vl.CalibrationError as error:
            rows.append([name, "refused", str(error).split(":")[0], ""])
            continue
        parts = [statistics_of(found.learner, found.rule, part) for part in np.array_split(later[name], 4)]
        measured = Rate(sum(int(alarms_at(found.rule, part).sum()) for part in parts), fresh)
        rows.append(
            [name, found.source, f"{found.on_log.value / rate:.2f}" if found.on_log else "", f"{measured.value / rate:.2f}"]
        )
        rows[-1][-1] += " ({:.2f} to {:.2f})".format(*(end / rate for end in measured.interval))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/results/alarms.md")
    parser.add_argument("--rates", default="1000,10000", help="one false alarm in so many observations")
    parser.add_argument("--seeds", type=int, help="the rate after calibrating with so many seeds on data from the model, instead")
    parser.add_argument("--calibrated", action="store_true", help="whether calibrated rates hold, instead of delays")
    options = parser.parse_args()
    if options.seeds:
        for rate in (1.0 / float(text) for text in options.rates.split(",")):
            found = [vl.calibrate(LEARNER, false_alarms=rate, seed=seed).simulated for seed in range(options.seeds)]
            times = [one.value / rate for one in found if one is not None]
            print(f"one in {round(1 / rate):,}: {min(times):.2f} to {max(times):.2f} times the target", flush=True)
        return
    if options.calibrated:
        print("| observations | threshold from | rate on the log, of target | rate in fresh ones, of target |\n|---|---|---|---|")
        for row in calibrated_rows(1.0 / float(options.rates.split(",")[0])):
            print("| " + " | ".join(row) + " |", flush=True)
        return
    words = " ".join((__doc__ or "").split("\n\n")[1].split())
    lines = ["# How soon an alarm rings", "", f"Made by `python -m benchmarks.alarms --write`. {words}"]
    for rate in (1.0 / float(text) for text in options.rates.split(",")):
        lines += ["", f"## One false alarm in {round(1 / rate):,} observations: mean delay", ""]
        lines += [
            "| statistic | " + " | ".join(f"{s:g} sigma" for s in SHIFTS) + " | alarm before |",
            "|---" * (len(SHIFTS) + 2) + "|",
        ]
        lines += ["| " + " | ".join(row) + " |" for row in rows_of(rate)]
        print("\n".join(lines), flush=True)
    if options.write:
        _, mark, rest = PAGE.read_text(encoding="utf-8").partition("\nWith the window that")  # the words below the tables stay
        PAGE.write_text("\n".join(lines) + "\n" + mark + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
