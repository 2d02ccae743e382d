"""How a claim is judged: differences with their standard errors, t-tests at 1 %, and answers that may be yes, no or unknown.

Samples are arrays of strata x seeds. A stratum is an environment (a cell of the grid, a p_c of a robustness curve); its seeds
are independent of those of other strata. Learners that saw the same observations are compared by paired differences.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np


class Reading(NamedTuple):
    """How words are read: below which p-value a difference counts, and by what factor words of degree are stretched."""

    name: str
    level: float = 0.01
    stretch: float = 1.0


STATED = Reading("as stated")
_READING = contextvars.ContextVar("reading", default=STATED)


def level() -> float:
    """Below this p-value a difference counts."""
    return _READING.get().level


def degree(share: float) -> float:
    """What a word of degree allows under the present reading."""
    return share * _READING.get().stretch


@contextlib.contextmanager
def read_as(reading: Reading) -> Iterator[None]:
    """Judge under another reading."""
    token = _READING.set(reading)
    try:
        yield
    finally:
        _READING.reset(token)


class MissingDataError(LookupError):
    """The dataset lacks a learner, a cell or the seeds that a claim needs."""


class Outcome(NamedTuple):
    """What the data says on a claim: in words and numbers, as yes, no or unknown (None), and how sure that is."""

    text: str
    truth: bool | None
    uncertainty: str


class Difference(NamedTuple):
    """An estimated difference, claimed to be above 0, with its standard error and degrees of freedom."""

    estimate: float
    standard_error: float
    freedom: float

    @property
    def p(self) -> float:
        """Two-sided; a difference without any noise is certain."""
        from scipy.special import stdtr

        if self.standard_error == 0.0:
            return 1.0 if self.estimate == 0.0 else 0.0
        return float(2.0 * stdtr(self.freedom, -abs(self.estimate) / self.standard_error))

    @property
    def half_width(self) -> float:
        """Of the 99 % confidence interval."""
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, 1.0 - level() / 2.0) * self.standard_error)

    def above(self, bound: float) -> Difference:
        return self._replace(estimate=self.estimate - bound)

    def sign(self, tries: int = 1) -> int:
        """+1 or -1 where the difference counts among so many tries, else 0."""
        return int(np.sign(self.estimate)) if self.p < level() / tries else 0

    def __str__(self) -> str:
        return f"{self.estimate:.3g} ± {self.standard_error:.2g} (p {p_text(self.p)})"


def p_text(p: float) -> str:
    return "< 1e-300" if p < 1e-300 else f"= {p:.2g}"


# --- tests ---------------------------------------------------------------------------------------------------------------


def stratified(samples: np.ndarray) -> Difference:
    """The mean over strata of the means over seeds; the noise is that between the seeds of a stratum (Satterthwaite)."""
    rows = [row[np.isfinite(row)] for row in np.atleast_2d(samples)]
    rows = [row for row in rows if len(row) > 1]
    if not rows:
        raise MissingDataError("fewer than two seeds")
    variances = np.array([np.var(row, ddof=1) / len(row) for row in rows])
    total = float(variances.sum())
    fourth = sum(v**2 / (len(row) - 1.0) for v, row in zip(variances, rows, strict=True))
    freedom = total**2 / fourth if fourth > 0.0 else len(rows[0]) - 1.0
    return Difference(float(np.mean([row.mean() for row in rows])), math.sqrt(total) / len(rows), freedom)


def difference(larger: Difference, smaller: Difference) -> Difference:
    """Of two independent estimates (Welch's unequal-variance test, where both are means over seeds)."""
    a, b = larger.standard_error**2, smaller.standard_error**2
    fourth = a**2 / larger.freedom + b**2 / smaller.freedom
    freedom = (a + b) ** 2 / fourth if fourth > 0.0 else min(larger.freedom, smaller.freedom)
    return Difference(larger.estimate - smaller.estimate, math.sqrt(a + b), freedom)


def known(estimate: float, standard_error: float, samples: float = math.inf) -> Difference:
    """A test from a standard error over so many samples; over very many it counts as known."""
    if not (math.isfinite(estimate) and math.isfinite(standard_error)):
        raise MissingDataError("a value or a standard error is missing")
    return Difference(float(estimate), float(standard_error), samples - 1.0)


def spread(samples: np.ndarray) -> tuple[float, np.ndarray]:
    """How unlike the strata are: the standard deviation of their means, and its derivative with respect to each mean."""
    means = samples.mean(axis=1)
    deviations = means - means.mean()
    value = float(np.sqrt(np.mean(deviations**2)))
    slopes = deviations / (len(means) * value) if value > 0.0 else np.zeros(len(means))
    return value, slopes


def spread_difference(larger: np.ndarray, smaller: np.ndarray) -> Difference:
    """The spread of one learner above that of another on the same strata and seeds; noise to first order."""
    usable = np.isfinite(larger).all(axis=1) & np.isfinite(smaller).all(axis=1)
    if usable.sum() < 2:
        raise MissingDataError("fewer than two strata to spread over")
    larger, smaller = larger[usable], smaller[usable]
    (a, slopes_a), (b, slopes_b) = spread(larger), spread(smaller)
    linear = stratified(slopes_a[:, None] * larger - slopes_b[:, None] * smaller)
    return Difference(a - b, linear.standard_error * len(slopes_a), linear.freedom)


def slope(samples: np.ndarray, x: np.ndarray) -> Difference:
    """Of a straight line through the strata's means against x."""
    if len(x) < 2:
        raise MissingDataError("fewer than two points for a slope")
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    linear = stratified(weights[:, None] * samples)
    return Difference(linear.estimate * len(x), linear.standard_error * len(x), linear.freedom)


# --- answers -------------------------------------------------------------------------------------------------------------


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """One no is a no; without one, an unknown leaves it unknown."""
    answers = list(answers)
    return False if False in answers else None if None in answers else True


def every(tests: Mapping[str, Difference]) -> bool | None:
    """Whether every difference is above 0: yes if each counts by itself, no if one counts against it among so many tries."""
    if any(test.sign(len(tests)) < 0 for test in tests.values()):
        return False
    return True if all(test.sign() > 0 for test in tests.values()) else None


def none_differ(tests: Mapping[str, Difference], room: float) -> bool | None:
    """Whether all are the same: no if one differs among so many tries, yes only if a difference of `room` would have shown."""
    if any(test.sign(len(tests)) for test in tests.values()):
        return False
    return True if all(test.half_width <= room for test in tests.values()) else None


def below(test: Difference, bound: float) -> bool | None:
    """Whether a quantity is below a bound, judged by its 99 % interval."""
    sign = test.above(bound).sign()
    return None if sign == 0 else sign < 0


def weakest(tests: Mapping[str, Difference]) -> str:
    """The comparison that decides: the one furthest against the claim, else the least certain."""
    name = min(tests, key=lambda key: math.copysign(-math.log(max(tests[key].p, 1e-300)), tests[key].estimate))
    return f"{name}: {tests[name]}"
