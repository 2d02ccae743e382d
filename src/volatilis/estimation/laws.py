"""Are one-step errors as the model says: uniform, independent, and as often changes as p_c says? Tests that need only sums.

Each test has a p-value that holds on data from the model, and a size below which a deviation, however certain, does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from volatilis._core.counts import at_least

NARROW, WIDE, TAILS, AUTOCORRELATED, CHANGES = "too narrow", "too wide", "heavy tails", "autocorrelated", "changes"
BACK = "outliers"  # changes that are taken back at once
TREND, DRIFT, SHAPE = "trend", "drift", "shape"
PRIOR, OVERDISPERSED, ANGLES, STUCK, GRID = "prior", "overdispersed", "angles", "stuck", "grid"
LEVELS = (1e-4, 1e-3, 1e-2)  # of the tails; beyond them, on both sides together, lies this share of the observations
OUTSIDE = 0.1  # the share outside the central 90 %
FEWEST = 30  # observations that say anything about a law
PARTS = 10  # equal parts of 0 to 1 that errors are counted in, and
FEWEST_IN_PARTS = 10 * PARTS  # observations with which these counts say something
STRETCH = 10  # observations whose errors may hang together
LEAN, SLOW, UNEVEN = 0.03, 1.4, 0.2  # the least that matters: of the mean, of stretches' variances, of shares in parts (relative)


class Sums(NamedTuple):
    """All that the tests need of the errors u of some observations: sums, so that those of several sequences add up.

    n            observations (elements of them, for vectors)
    lean         sum of u - 1/2
    parts        how many lie in each tenth of 0 to 1
    stretches    how many whole stretches of ten observations there are
    slow         sum of their 120 (mean u - 1/2)^2, which is 1 on average
    depth        sum of d = 2 min(u, 1 - u), which is uniform too: how far from the middle of its prediction, 0 is far out
    inside       how many lie in the central half, d > 0.5
    outside      how many lie outside the central 90 %, d < 0.1
    tails        how many lie outside the central 99.99, 99.9 and 99 %
    pairs        how many neighbours in time there are
    products     sum of 12 (u_t - 1/2) (u_t+1 - 1/2) over them
    steps        observations that can follow a change: not the first of a block
    expected     changes that p_c leads to expect among them
    found        sum of the probabilities that there was one
    twice        sum of the probabilities that there was one at two neighbouring observations
    expected_twice
    """

    n: int
    lean: float
    parts: tuple[int, ...]
    stretches: int
    slow: float
    depth: float
    inside: int
    outside: int
    tails: tuple[int, ...]
    pairs: int
    products: float
    steps: int
    expected: float
    found: float
    twice: float
    expected_twice: float

    @property
    def mean_depth(self) -> float:
        return self.depth / self.n

    @property
    def correlation(self) -> float:
        """Of neighbouring errors."""
        return self.products / self.pairs


def added(parts: Sequence[Sums]) -> Sums:
    """Those of several sequences together."""
    columns = {name: [getattr(part, name) for part in parts] for name in Sums._fields}
    tails, tenths = (tuple(int(sum(one)) for one in zip(*columns.pop(name), strict=True)) for name in ("tails", "parts"))
    return Sums(**{name: sum(column) for name, column in columns.items()}, tails=tails, parts=tenths)


class Deviation(NamedTuple):
    """How errors deviate from their law: what was found, what the law says, and how probable so much is under the model."""

    kind: str
    found: float
    expected: float
    p_value: float


def sums_of(errors: np.ndarray, rates: np.ndarray, starts: np.ndarray, p_c: float) -> Sums:
    """From the errors of one sequence (T, elements), its adaptation rates (T,), and where its blocks start (T,)."""
    seen = ~np.isnan(rates)
    u = np.nan_to_num(errors[seen], nan=0.0)  # what has no place in its prediction lies outside of it
    block = np.cumsum(starts)[seen]
    depth = 2.0 * np.minimum(u, 1.0 - u)
    centred, together = u - 0.5, block[1:] == block[:-1]
    first = np.concatenate([[True], ~together])[: len(u)]
    both = ~first[1:] & ~first[:-1]
    stretches = _stretches(centred, first)
    return Sums(
        n=u.size,
        lean=float(centred.sum()),
        parts=tuple(np.bincount(np.minimum((PARTS * u.ravel()).astype(int), PARTS - 1), minlength=PARTS).tolist()),
        stretches=stretches.size,
        slow=12.0 * STRETCH * float(np.sum(stretches**2)),
        depth=float(depth.sum()),
        inside=int(np.sum(depth > 0.5)),
        outside=int(np.sum(depth < OUTSIDE)),
        tails=tuple(int(np.sum(depth < level)) for level in LEVELS),
        pairs=int(together.sum()) * u.shape[1],
        products=12.0 * float(np.sum(centred[1:][together] * centred[:-1][together])),
        steps=int(np.sum(~first)),
        expected=p_c * float(np.sum(~first)),
        found=float(rates[seen][~first].sum()),
        twice=float(np.sum(rates[seen][1:][both] * rates[seen][:-1][both])),
        expected_twice=p_c * p_c * float(both.sum()),
    )


def _stretches(centred: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Means of the errors of whole stretches, one after the other within each block; of each element."""
    length = len(first)
    begins = np.flatnonzero(first)
    within = np.arange(length) - np.repeat(begins, np.diff(np.append(begins, length)))
    starts = np.flatnonzero(within % STRETCH == 0)
    starts = starts[starts + STRETCH <= length]
    starts = starts[within[starts + STRETCH - 1] == within[starts] + STRETCH - 1]  # not across the start of a block
    sums = np.concatenate([np.zeros((1, centred.shape[1])), np.cumsum(centred, axis=0)])
    return np.asarray((sums[starts + STRETCH] - sums[starts]) / STRETCH)


def deviations(sums: Sums, alpha: float) -> list[Deviation]:
    """Those that are certain (each at the level alpha on data from the model) and large enough to matter."""
    if sums.n < FEWEST:
        return []
    candidates = [_dispersion(sums), _tails(sums), _correlation(sums), _changes(sums), _twice(sums)]
    candidates += [_trend(sums), _drift(sums), _shape(sums)]
    return [one for one in candidates if one is not None and one.p_value < alpha]


def _dispersion(sums: Sums) -> Deviation | None:
    z = (sums.mean_depth - 0.5) * math.sqrt(12.0 * sums.n)
    if abs(sums.mean_depth - 0.5) < 0.04:  # about 15 % of the standard deviation
        return None
    p_value = math.erfc(abs(z) / math.sqrt(2.0))
    if z > 0.0:
        return Deviation(WIDE, sums.inside / sums.n, 0.5, p_value)
    inside, outside = sums.inside / sums.n, sums.outside / sums.n
    if (0.5 - inside) / 0.5 > (outside - OUTSIDE) / 0.3:  # in standard errors: without tails it shows in the middle
        return Deviation(NARROW, inside, 0.5, p_value)
    return Deviation(NARROW, outside, OUTSIDE, p_value)


def _tails(sums: Sums) -> Deviation | None:
    """Too many beyond one of the levels: the most improbable, times their number."""
    at_levels = [
        Deviation(TAILS, count / sums.n, level, len(LEVELS) * at_least(count, sums.n, level))
        for count, level in zip(sums.tails, LEVELS, strict=True)
        if count > 2.0 * sums.n * level + 1.0
    ]
    return min(at_levels, key=lambda one: one.p_value, default=None)


def _correlation(sums: Sums) -> Deviation | None:
    if sums.pairs < FEWEST or abs(sums.correlation) < 0.1:
        return None
    z = sums.correlation * math.sqrt(sums.pairs)
    return Deviation(AUTOCORRELATED, sums.correlation, 0.0, math.erfc(abs(z) / math.sqrt(2.0)))


def _changes(sums: Sums) -> Deviation | None:
    """The sum of probabilities varies less than the number of changes, which is binomial: so its tail is an upper bound."""
    if sums.steps == 0 or 0.5 * sums.expected < sums.found < 2.0 * sums.expected:
        return None
    p_c = sums.expected / sums.steps
    more = sums.found > sums.expected
    if more:
        p_value = at_least(math.floor(sums.found), sums.steps, p_c)
    else:
        p_value = at_least(sums.steps - math.ceil(sums.found), sums.steps, 1.0 - p_c)  # so many steps without a change
    return Deviation(CHANGES, sums.found / sums.steps, p_c, 2.0 * p_value)


def _twice(sums: Sums) -> Deviation | None:
    """An outlier looks like a change, and what follows it like a change back. Two true changes in a row are rare, and Poisson."""
    if sums.twice < 2.0 * sums.expected_twice + 1.0:
        return None
    from scipy.special import gammainc

    p_value = float(gammainc(math.floor(sums.twice), sums.expected_twice))
    return Deviation(BACK, sums.twice / sums.steps, sums.expected_twice / sums.steps, p_value)


def _trend(sums: Sums) -> Deviation | None:
    """Errors to one side on average: levels that rise or fall are always behind, and so is a mean of skewed noise."""
    mean = sums.lean / sums.n
    if abs(mean) < LEAN:
        return None
    return Deviation(TREND, 0.5 + mean, 0.5, math.erfc(abs(mean) * math.sqrt(6.0 * sums.n)))


def _drift(sums: Sums) -> Deviation | None:
    """Errors of ten observations in a row that hang together, less than neighbours must to be seen: a slow wave, a ramp."""
    if STRETCH * sums.stretches < FEWEST or sums.slow < SLOW * sums.stretches:
        return None
    from scipy.special import gammaincc

    return Deviation(DRIFT, sums.slow / sums.stretches, 1.0, float(gammaincc(0.5 * sums.stretches, 0.5 * sums.slow)))


def _shape(sums: Sums) -> Deviation | None:
    """Some parts of the predictions hold too many and others too few, whatever their width: Pearson's test. Tells the worst."""
    expected = sums.n / PARTS
    excess = np.array(sums.parts) / expected - 1.0
    if sums.n < FEWEST_IN_PARTS or math.sqrt(float(np.mean(excess**2))) < UNEVEN:
        return None
    from scipy.special import gammaincc

    worst = int(np.argmax(np.abs(excess)))
    p_value = float(gammaincc(0.5 * (PARTS - 1), 0.5 * expected * float(np.sum(excess**2))))
    return Deviation(SHAPE, sums.parts[worst] / sums.n, 1.0 / PARTS, p_value)
