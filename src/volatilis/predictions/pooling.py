"""One effect over all people: people weighed by what their trials tell, with an error that knows how few trials there are.

Each person i has trials with a level of their own, nuisances N and effects E in common, X = [N, E], and a vector w_i over the
trials whose product with the indicator is the person's estimate (a difference between windows, or a slope over them). All are
taken about the person's means. With s_i = w_i' E what w_i shows of an effect of 1, the weighted estimate is

    value = sum_i v_i w_i' (y_i - N_i b),    v_i = (s_i / w_i' w_i) / sum_j (s_j^2 / w_j' w_j),    b by least squares of y on X,

that is sum_i a_i' y_i for some a_i. Its variance is estimated from the residuals e_i, a person being a cluster, by the
bias-reduced linearisation of Bell and McCaffrey (2002),

    V = sum_i (a_i' (1 - H_ii)^(-1/2) e_i)^2,    H_ii = X_i (X'X)^-1 X_i',

which is unbiased for independent errors of one variance, and close to it where people differ. The degrees of freedom of its t are
Satterthwaite's, from the design alone: one person who decides nearly everything leaves about one, whatever the number of people.
Only the products of these columns with each other are needed, not the trials.

Below stands what a set of trials could tell, whatever its indicator shows: the minimum for a test, its power, and how much more
it takes. All of it comes from the trials' design (which trials are in which windows, and what a learner believes about them) and
none from the indicator's values. So a verdict that is withheld for want of data is not a choice among results.

The power is for an indicator that is the measure plus noise of the measure's own standard deviation within people, over the
trials in the windows: what `volatilis design --noise 1` simulates for prediction 1. More noise, or people who differ in the
strength of the effect, need more data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

RANK = 1e-10  # eigenvalues of products below this share of the largest are 0
LEVERAGE = 1e-6  # a person beyond 1 - this share decides a coefficient alone, and tells nothing about its error
# What a test needs: people with a value, degrees of freedom of its error, and trials beyond the levels and coefficients. With
# fewer its error is not known, and Satterthwaite's approximation fails
LEAST_PEOPLE, LEAST_FREEDOM, LEAST_SPARE = 3, 2.0, 5
ENOUGH = 0.8  # power
CERTAIN = 30.0  # standard errors: an effect that is always seen
MOST = 100.0  # times the present data


class ColumnOrder(NamedTuple):
    """The order of the columns in a table of products: nuisances, effects, functionals, references, the indicator.

    functionals   name -> which effect it shows, and how much of it (the value where the effect's coefficient is 1)
    references    measures that the indicator may reflect
    """

    nuisances: int
    effects: int
    functionals: dict[str, tuple[int, float]]
    references: tuple[str, ...]

    @property
    def terms(self) -> int:
        """Coefficients that all people share."""
        return self.nuisances + self.effects

    def functional(self, name: str) -> int:
        """The column of a functional."""
        return self.terms + list(self.functionals).index(name)

    def reference(self, name: str) -> int:
        """The column of a reference."""
        return self.terms + len(self.functionals) + self.references.index(name)


class Pooled(NamedTuple):
    """One effect over all people.

    shares     what each person adds to the value, nuisances taken away
    value      the estimate
    error      its standard error; 0 where no trial is left to estimate it from
    freedom    the error's degrees of freedom (Satterthwaite)
    spare      trials beyond one level a person and the coefficients
    per_noise  the standard error that independent noise of standard deviation 1 would give
    expected   reference -> the value for an indicator that is the reference, brought to standard deviation 1 within people
    """

    shares: np.ndarray
    value: float
    error: float
    freedom: float
    spare: int
    per_noise: float
    expected: dict[str, float]


def pool(products: np.ndarray, trials: np.ndarray, layout: ColumnOrder, name: str) -> Pooled:
    """The effect that a functional shows.

    products   people x column x column
    trials     of each person
    """
    k, column = layout.terms, layout.functional(name)
    place, unit = layout.functionals[name]
    chosen = [*range(k), column]
    grams, scale = _scaled(products, chosen)
    terms = grams.sum(axis=0)[:k, :k]
    inverse = np.linalg.pinv(terms, rcond=RANK, hermitian=True)
    within = int(np.maximum(trials - 1, 0).sum())
    spare = within - int(np.linalg.matrix_rank(terms, tol=RANK * k, hermitian=True))
    weights = _weights(grams[:, k, k], grams[:, k, layout.nuisances + place])
    remainder = weights @ grams[:, k, : layout.nuisances]
    of_terms = -inverse[:, : layout.nuisances] @ remainder
    parts = np.concatenate([np.broadcast_to(of_terms, (len(grams), k)), weights[:, None]], axis=1)  # a_i by columns
    to_units = unit / scale[layout.nuisances + place]

    def value_of(with_column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From products with a column to people's shares of the value of that column, and to its coefficients."""
        coefficients = inverse @ with_column[:, :k].sum(axis=0)
        left = with_column - grams[:, :, : layout.nuisances] @ coefficients[: layout.nuisances]
        return to_units * np.sum(parts * left, axis=1), coefficients

    aim = products[:, chosen, -1] / scale
    shares, coefficients = value_of(aim)
    whitened, residual, moved = _whitened(grams, inverse, parts, aim - grams[:, :, :k] @ coefficients)
    between = np.diag(np.sum(whitened**2, axis=1)) - moved @ inverse @ moved.T
    trace, squares = float(np.trace(between)), float(np.sum(between**2))
    error = to_units * math.sqrt(float(np.sum(np.sum(whitened * residual, axis=1) ** 2)))
    expected = {}
    for reference in layout.references:
        at = layout.reference(reference)
        spread = math.sqrt(float(products[:, at, at].sum()) / max(within, 1))
        total = float(value_of(products[:, chosen, at] / scale)[0].sum())
        expected[reference] = total / spread if spread > 0.0 else math.nan
    freedom = trace**2 / squares if squares > 0.0 and trace > 0.0 else 0.0
    freedom = min(freedom, float(np.sum(trials > 0)) - 1.0)  # people may differ in the effect too
    return Pooled(shares, float(shares.sum()), error, freedom, spare, to_units * math.sqrt(max(trace, 0.0)), expected)


def _scaled(products: np.ndarray, columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Products of some columns, each brought to length 1 over all people, and the lengths. What does not vary stays 0."""
    grams = products[:, columns][:, :, columns]
    scale = np.sqrt(np.einsum("ikk->k", grams))
    scale = np.where(scale > 0.0, scale, 1.0)
    return grams / np.outer(scale, scale), scale


def _weights(squares: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """v_i; 0 for a person without an estimate."""
    weights = np.divide(shown, squares, out=np.zeros(len(squares)), where=squares > 0.0)
    total = float(weights @ shown)
    return weights / total if total > 0.0 else np.zeros(len(squares))


def _whitened(
    grams: np.ndarray, inverse: np.ndarray, parts: np.ndarray, left: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """In an orthonormal basis of each person's columns: (1 - H_ii)^(-1/2) a_i and e_i; and the former's products with X_i."""
    k = len(inverse)
    root, of_root = _power(grams, 0.5, RANK), _power(grams, -0.5, RANK)
    terms = root[:, :, :k]  # X_i in that basis
    hat = terms @ inverse @ np.swapaxes(terms, 1, 2)
    spread = _power(np.eye(k + 1) - hat, -0.5, LEVERAGE)
    whitened = np.einsum("iab,ibc,ic->ia", spread, root, parts)
    return whitened, np.einsum("iab,ib->ia", of_root, left), np.einsum("iak,ia->ik", terms, whitened)


def _power(matrices: np.ndarray, exponent: float, least: float) -> np.ndarray:
    """Of symmetric matrices; eigenvalues below a share of the largest count as 0, and 0 to a negative power as 0."""
    values, vectors = np.linalg.eigh(matrices)
    kept = values > least * np.maximum(values.max(axis=1, keepdims=True), 1e-300)
    powers = np.where(kept, np.where(kept, values, 1.0) ** exponent, 0.0)
    return np.asarray((vectors * powers[:, None, :]) @ np.swapaxes(vectors, 1, 2))


# --- what the trials could tell ------------------------------------------------------------------------------------------


class Need(NamedTuple):
    """How much data one quantity takes, all else being as it is; None: more of that alone does not help.

    people    like these, with as many trials each
    trials    for each of these people
    minimum   whether the numbers are only those that make a test possible: from so few trials its power cannot be foreseen
    """

    quantity: str
    people: int | None
    trials: int | None
    minimum: bool = False


def least_people(level: float) -> int:
    """How many people a verdict takes: the permutation test gives n people p = 2^(1 - n) at least, so few never reach the level.

    Student's t may, but only by its assumption that people's values are normal, which so few cannot show.
    """
    return max(LEAST_PEOPLE, 1 + math.ceil(-math.log2(1.0 - level) - 1e-9))


def can_be_tested(pooled: Pooled, people: int) -> bool:
    """Whether the effect has enough people, trials and degrees of freedom for a test."""
    return people >= LEAST_PEOPLE and pooled.freedom >= LEAST_FREEDOM and pooled.spare >= LEAST_SPARE


def power(pooled: Pooled, measure: str, level: float, times: float = 1.0, freedom: float | None = None) -> float:
    """Of the two-sided test, for an indicator that reflects the measure with as much noise; NaN where that is not known.

    times     as many trials in all
    freedom   the degrees of freedom that they have; None: the present ones
    """
    from scipy import special

    if measure not in pooled.expected or not pooled.per_noise > 0.0:
        return math.nan
    freedom = pooled.freedom if freedom is None else freedom
    expected = abs(pooled.expected[measure]) / pooled.per_noise * math.sqrt(times)
    return 1.0 - float(special.nctdtr(freedom, min(expected, CERTAIN), special.stdtrit(freedom, 0.5 + 0.5 * level)))


def need(
    pooled: Pooled, quantity: str, measure: str, usable: np.ndarray, with_value: int, trials: Sequence[int], level: float
) -> Need:
    """How many people, or trials each, have a power of 80 %.

    usable       trials of each person in the windows
    with_value   people with a value
    trials       of everybody, in the windows or not
    """
    least = least_people(level)
    present, total, within = len(trials), int(usable.sum()), int(np.maximum(usable - 1, 0).sum())
    coefficients = within - pooled.spare
    foreseen = pooled.freedom > 0.0 and pooled.spare > 0 and power(pooled, measure, level) > 0.0

    def enough(more_people: float, more_trials: float) -> bool:
        times, everybody = more_people * more_trials, present * more_people
        one_each = present if more_trials > 1.0 else total - within  # people with a trial, who each take a level
        spare = total * times - one_each * more_people - coefficients
        freedom = min(pooled.freedom * times if foreseen else 0.5 * spare, everybody - 1.0)
        people = min(max(with_value, 1) * times, everybody)
        if people < least - 1e-9 or freedom < LEAST_FREEDOM or spare < LEAST_SPARE:
            return False
        return not foreseen or power(pooled, measure, level, times, freedom) >= ENOUGH

    of_people, of_trials = _first(lambda times: enough(times, 1.0)), _first(lambda times: enough(1.0, times))
    number = None if of_people is None else math.ceil(present * of_people)
    if number is not None and number - 1 >= present and enough((number - 1) / present, 1.0):  # the search is to 1 %
        number -= 1
    return Need(
        quantity,
        number,
        None if of_trials is None else rounded(float(np.mean(trials)) * of_trials),
        not foreseen,
    )


def _first(enough: Callable[[float], bool]) -> float | None:
    """The smallest number of times the present data, to 1 %, that is enough; None beyond MOST. More is never worse."""
    low, high = 1.0, MOST
    if enough(low):
        return low
    if not enough(high):
        return None
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def rounded(number: float) -> int:
    """Up, to two digits: an estimate has no more."""
    digit = 10 ** max(math.floor(math.log10(number)) - 1, 0)
    return math.ceil(number / digit) * digit


def sentence(needs: Sequence[Need], people: int) -> str:
    """In words, the largest of several needs."""
    of_people, of_trials = [one.people for one in needs], [one.trials for one in needs]
    about = "more than" if any(one.minimum for one in needs) else "about"
    ways = []
    if None not in of_people:
        most = rounded(max(number for number in of_people if number is not None))
        ways.append(f"{about} {most:,} people like these {people}")
    if None not in of_trials:
        ways.append(f"{about} {max(number for number in of_trials if number is not None):,} trials each")
    return "; or ".join(ways) or f"more than {MOST:g} times these data: better another task (volatilis design)"
