"""What would mend a model that does not fit: other parameters if they do, else another family.

Too narrow predictions, heavy tails and too many changes look alike in one-step errors, since a learner takes for changes what it
did not expect. So the same family is tried with the best p_c, then with parameters as the observations suggest them: if nothing
is wrong then, they are the remedy. What is still wrong is the family's fault.
"""

from __future__ import annotations

import contextlib
import math
from typing import NamedTuple

import numpy as np

from volatilis.estimation import laws
from volatilis.estimation.laws import Deviation
from volatilis.estimation.models import P_CS, Measured, Sequences, best, described, first_of
from volatilis.families._base import Family, prior_beliefs
from volatilis.families.gaussian_unknown_variance import GaussianUnknownVariance

NO_PARAMETERS = "No parameters of this family mend that"  # how the remedy of a misfit begins that is the family's fault
NONE = "none here; "  # how another family is described where there is none
FEW = 5000  # observations that candidates are tried on


class Misfit(NamedTuple):
    """One way in which a model does not fit.

    kind         prior, too narrow, too wide, heavy tails, outliers, overdispersed, autocorrelated, trend, drift, shape, changes
                 angles, stuck or grid
    message      what was found, in numbers, and what should be
    remedy       which parameter or family would mend it
    found        the number that was found
    expected     what the model says that it should be
    p_value      how probable so much is on data from the model
    sequences    which of the sequences it concerns; empty: all of them together

    >>> import volatilis as vl
    >>> print(vl.Misfit("changes", "changes come more often than p_c = 0.01 says", "p_c = 0.1 would fit", 0.1, 0.01, 1e-6))
    changes come more often than p_c = 0.01 says. p_c = 0.1 would fit
    """

    kind: str
    message: str
    remedy: str
    found: float
    expected: float
    p_value: float
    sequences: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}"


def explain(base: Measured, data: Sequences, deviations: list[Deviation], prior: Deviation | None, alpha: float) -> list[Misfit]:
    """The misfits of a model, each with its remedy."""
    family, few = base.family, first_of(*data, FEW)
    p_cs = (*P_CS, base.p_c)
    same = best(family, p_cs, few)
    if prior is None and not same.deviations(alpha):
        return [_misfit(_chief(deviations, laws.CHANGES), base, data, _nothing_wrong(same, base))]
    likely = suggested(family, few)
    other = best(likely, p_cs, few) if likely != family else same
    left = other.deviations(alpha)
    if not left:
        remedy, kinds = _nothing_wrong(other, base), {one.kind for one in deviations}
        if prior is None and other.p_c > base.p_c and kinds & {laws.TAILS, laws.BACK}:
            remedy += "; or some observations are outliers, not changes: contaminated"
        return [_misfit(prior or _chief(deviations, laws.NARROW, laws.WIDE), base, data, remedy)]
    nearer = f"{_named(other, base)} fits better, but not in everything: {', '.join(sorted({one.kind for one in left}))}"
    misfits = [] if prior is None else [_misfit(prior, base, data, nearer)]
    numbers = {one.kind: one for one in (*left, *deviations)}  # those of the model itself, where it has them
    fault = numbers[_fault(left, deviations)]
    if fault.kind not in (laws.AUTOCORRELATED, laws.TREND, laws.DRIFT, laws.WIDE) and _are_counts(family):
        fault = fault._replace(kind=laws.OVERDISPERSED)
    return [*misfits, _misfit(fault, base, data, _other_family(fault, family))]


def suggested(family: Family, data: Sequences) -> Family:
    """The same family where the observations have no moments that a parameter could be: beyond 1e154 squares overflow."""
    with np.errstate(all="ignore"), contextlib.suppress(ValueError):
        return family.plausible(data.observed())
    return family


def _chief(deviations: list[Deviation], *kinds: str) -> Deviation:
    """The one to report of several with one cause."""
    for kind in kinds:
        for one in deviations:
            if one.kind == kind:
                return one
    return min(deviations, key=lambda one: one.p_value)


def _fault(left: list[Deviation], deviations: list[Deviation]) -> str:
    """The one fault that parameters do not mend.

    A fault of the noise looks like changes, and changes that are none make errors of alternating sign, a little; errors that hang
    together look like changes too.
    """
    remaining = {one.kind for one in left}
    kinds = [kind for kind in (laws.TAILS, laws.BACK, laws.NARROW, laws.WIDE) if kind in remaining]
    hangs = [one.found for one in (*left, *deviations) if one.kind == laws.AUTOCORRELATED]
    if hangs and (max(hangs) > 0.2 or min(hangs) < -0.5 or not kinds):
        return laws.AUTOCORRELATED
    kinds += [kind for kind in (laws.TREND, laws.DRIFT, laws.SHAPE) if kind in remaining]
    return kinds[0] if kinds else left[0].kind


# --- in words ------------------------------------------------------------------------------------------------------------


def _named(model: Measured, base: Measured) -> str:
    """What differs from the model that was given."""
    parts = [described(model.family, base.family)] if model.family != base.family else []
    parts += [f"p_c={model.p_c:g}"] if model.p_c != base.p_c else []
    return " and ".join(parts)


def _nothing_wrong(model: Measured, base: Measured) -> str:
    return f"With {_named(model, base)} nothing is wrong"


def _are_counts(family: Family) -> bool:
    accepted = family.accepted_numbers()
    return accepted is not None and accepted.whole and accepted.high > 1e6


def _are_positive(family: Family) -> bool:
    accepted = family.accepted_numbers()
    return accepted is not None and accepted.low >= 0.0 and not accepted.whole


def _other_family(fault: Deviation, family: Family) -> str:
    accepted = family.accepted_numbers()
    whole = accepted is not None and accepted.whole and not _are_counts(family)
    if fault.kind in (laws.AUTOCORRELATED, laws.DRIFT) or (whole and fault.kind == laws.TREND):
        other = _with_more_past(family, whole)
    elif whole and fault.kind not in (laws.TAILS, laws.BACK):
        other = f"{NONE}a prior of another strength (s, or a and b), or a family of one's own"
    elif fault.kind == laws.WIDE and _are_counts(family):
        other = "gaussian, for numbers that vary less than counts of events do"
    elif fault.kind == laws.TREND:
        other = f"{_with_more_past(family, whole)}; where the noise is skewed and the numbers positive, take logarithms"
    elif fault.kind == laws.SHAPE or (fault.kind in (laws.NARROW, laws.WIDE) and _are_positive(family)):
        other = _other_noise(family)
    elif fault.kind in (laws.TAILS, laws.BACK) and not family.splits():
        other = f"contaminated, the same family with outliers (p_o about {max(fault.found, 1e-3):.1g})"
    elif fault.kind in (laws.TAILS, laws.BACK):
        other = f"{NONE}leave out or cap what is far from its neighbours, or take logarithms if the numbers are positive"
    elif fault.kind == laws.OVERDISPERSED:
        other = "gaussian-unknown-variance, which learns how much counts vary (of their square roots, if they are small)"
    elif isinstance(family, GaussianUnknownVariance):
        other = f"{NONE}a family of one's own whose noise has the form of these numbers"
    else:
        other = "gaussian-unknown-variance, if the size of the noise changes"
    if other.startswith(NONE):
        return f"{NO_PARAMETERS}, and no family here does: {other.removeprefix(NONE)}"
    return f"{NO_PARAMETERS}; another family may: {other}"


def _other_noise(family: Family) -> str:
    """Where the noise has another form than the family's."""
    accepted = family.accepted_numbers()
    if _are_positive(family):
        return "gaussian or gaussian-unknown-variance, of the logarithms of these positive numbers"
    if accepted is not None and accepted.low > -np.inf:
        return "gaussian-unknown-variance, if these are numbers on a scale"
    return f"{NONE}where the noise is skewed and the numbers positive, take logarithms, else a family of one's own"


def _with_more_past(family: Family, whole: bool) -> str:
    order = getattr(family, "order", 0) if family.memory_size() else 0
    if whole:
        return f"transitions{f' of order {order + 1}' if order else ' (each symbol depends on the one before)'}"
    season = "; or take a season or a trend out first (differences to the same time of the day or week before)"
    return f"autoregression of order {order + 1}{season}"


def _misfit(deviation: Deviation, base: Measured, data: Sequences, remedy: str) -> Misfit:
    kind, value, expected, p_value = deviation
    return Misfit(kind, _message(deviation, base, data), remedy, value, expected, p_value)


def _message(deviation: Deviation, base: Measured, data: Sequences) -> str:
    kind, value, expected, _ = deviation
    if kind == laws.PRIOR:
        return _prior_message(base.family, data, value)
    if kind == laws.AUTOCORRELATED:
        # relative to the variance that the law says, so beyond 1 where errors lie at both ends
        return f"neighbouring one-step errors have a correlation of {min(max(value, -1.0), 1.0):.2f}, where 0 should be"
    if kind == laws.TREND:
        return (
            f"observations lie {'above' if value > 0.5 else 'below'} what is predicted more often than not, as with a trend: on "
            f"average at the {_percent(value, 0.5)} quantile of what is predicted, where 50 % should be"
        )
    if kind == laws.DRIFT:
        times = f"{value:.2g} times as much as they should"
        return f"one-step errors are correlated over ten observations, as with levels that drift: their means vary {times}"
    if kind == laws.SHAPE:
        return f"predictions have another form than the observations: {_worst_part(base, value)}, where 10 % should be"
    if kind == laws.CHANGES:
        return f"changes are found in {1e3 * value:.3g} of 1,000 observations, where p_c = {expected:g} says {1e3 * expected:.3g}"
    if kind == laws.BACK:
        often, due = f"{1e3 * value:.3g} times in 1,000", f"{1e3 * expected:.2g}"
        return f"changes that the next observation reverses are found {often}, where {due} are expected"
    much = {
        laws.NARROW: "predictions are too narrow",
        laws.WIDE: "predictions are too wide",
        laws.TAILS: "there are outliers or heavy tails",
    }
    share = _percent(value, expected)
    where = f"{share} of the observations lie outside the central {100.0 * (1.0 - expected):g} % of what is predicted"
    if expected == 0.5:  # it shows in the middle of the predictions
        where = f"the middle half of what is predicted holds {share} of the observations"
    text = f"{much.get(kind, 'counts vary more than the family allows')}: {where}, where {_percent(expected)} should be"
    counts = base.total()
    rate = f", and changes are found in {1e3 * counts.found / max(counts.steps, 1):.3g} of 1,000, where p_c = {base.p_c:g}"
    return text + (rate if kind == laws.OVERDISPERSED else "")


def _worst_part(base: Measured, share: float) -> str:
    """Which tenth of the predictions holds too many or too few."""
    total = base.total()
    worst = int(np.argmin(np.abs(np.array(total.parts) / total.n - share)))
    between = f"between the {10 * worst} % and the {10 * worst + 10} % quantile of what is predicted"
    return f"{between} lie {_percent(share, 0.1)} of the observations"


def _prior_message(family: Family, data: Sequences, share: float) -> str:
    values = np.concatenate(data.observed())
    if values.ndim > 1:
        return f"{_percent(share)} of the observations lie where the prior expects 0.1 %"
    if family.memory_size():
        reach = f"from {values.min():.4g} to {values.max():.4g}"
        return f"{_percent(share)} of the observations, which reach {reach}, lie where the prior expects 0.1 %"
    low, high = (_prior_quantile(family, values, q) for q in (0.0005, 0.9995))
    middle = f"observations reach from {values.min():.4g} to {values.max():.4g} (median {np.median(values):.4g})"
    return f"the prior is contradicted: {middle}, where the prior expects 99.9 % between {low:.4g} and {high:.4g}"


def _prior_quantile(family: Family, values: np.ndarray, q: float) -> float:
    """By bisection of the prior's predictive distribution function, to three digits."""
    pi_0, whole = prior_beliefs(family), values.dtype.kind == "i"

    def below(x: float) -> bool:
        return family.predictive_cdf(pi_0, 0, int(x) if whole else x, 0, 1.0, family.mean(pi_0, 0, 0)) < q

    accepted = family.accepted_numbers()
    least = accepted.low if accepted is not None else -np.inf
    high = max(1.0, float(np.abs(values).max()))
    low = least if least > -np.inf else -high
    while least == -np.inf and not below(low) and low > -1e300:
        low *= 2.0
    while below(high) and high < 1e300:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return float(np.ceil(low)) if whole else high


def _percent(share: float, expected: float = math.nan) -> str:
    """With two digits, or so many that it is not the same as what is expected."""
    digits = 3 if share >= 0.995 else 2  # 100 %, not 1e+02 %
    while digits < 6 and f"{100.0 * share:.{digits}g}" == f"{100.0 * expected:.{digits}g}":
        digits += 1
    return f"{100.0 * share:.{digits}g} %"
