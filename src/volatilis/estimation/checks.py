"""Does a model fit the observations? One-step errors against their law; and where they differ, what would mend it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from volatilis.estimation import laws
from volatilis.estimation.errors import prior_errors
from volatilis.estimation.laws import Deviation, deviations
from volatilis.estimation.models import P_CS, Measured, Sequences, as_rows, best, described, first_alike, first_of
from volatilis.estimation.remedies import Misfit, explain
from volatilis.estimation.stuck import stuck
from volatilis.estimation.wagers import misfits_by_wager
from volatilis.families._base import Family
from volatilis.families._kinds import RECORDS
from volatilis.learners._base import Learner
from volatilis.learners.averaged import Averaged
from volatilis.learners.per_context import PerContext
from volatilis.running.angles import NAMES, filled, wrapping
from volatilis.running.arguments import MOST_TURNS, checked_learner, step_events

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALPHA = 0.002  # each warning on data from the model: at most so often
OUTER, MANY = 1e-3, 0.02  # the prior's outer part, and a share of observations there that is no accident
FEW_TURNS = 0.1  # periods over which angles reach: fewer, and the period is perhaps another


class Check(NamedTuple):
    """What came of comparing observations with a model.

    misfits          how the model does not fit; empty if nothing is wrong
    family, p_c      the model
    observations     how many were looked at
    errors           the one-step errors of each sequence: u, uniform on data from the model, (T, elements of an observation)

    >>> import volatilis as vl
    >>> found = vl.check(vl.Merge(vl.Gaussian(sigma=1.0), p_c=0.1, n=3), [0.1, -0.4, 0.3])
    >>> found.fits, found.observations
    (True, 3)
    """

    misfits: tuple[Misfit, ...]
    family: Family
    p_c: float
    observations: int
    errors: tuple[np.ndarray, ...]

    def plot(self, axes: Sequence[Axes] | None = None) -> Figure:
        """Draw the one-step errors, their law and each against the next, into two `axes` if given; returns the figure."""
        from volatilis.plots.estimates import draw_errors

        return draw_errors(self.errors, axes)

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against the model."""
        return not self.misfits

    @property
    def enough(self) -> bool:
        """Whether there were enough observations to say anything."""
        return self.observations >= laws.FEWEST

    def __str__(self) -> str:
        if not self.enough:
            return f"{self.observations} observations are too few to check a model; {laws.FEWEST} are needed"
        head = f"{described(self.family)}, p_c = {self.p_c:.3g}, {self.observations:,} observations: "
        if self.fits:
            return head + "nothing speaks against the model"
        return "\n".join([head + "the model does not fit", *(f"- {misfit.kind}: {misfit}" for misfit in self.misfits)])


def check(
    learner: Learner,
    y: object,
    reset: npt.ArrayLike | None = None,
    missing: str = "error",
    p_c: float | None = None,
    given: object = None,
) -> Check:
    """Does the model of a learner, its family and change probability, fit these observations?

    learner   any; the predictions that are checked are those of exact inference with its family, so every learner has this check
    y         a sequence of observations, as for `volatilis.run`
    reset     where a new block begins: a boolean per observation, or positions
    missing   what a missing observation means: "error"; "elapse", time passes and nothing is seen; "skip"
    p_c       the change probability, if it is not the learner's; learners that have none are checked with the best of a few
    given     the context of each observation, for a family with contexts

    Returns a Check: it prints what is wrong, with numbers and what would mend it. On data from the model each kind of misfit is
    found in at most 1 of 100 data sets.

    Raises TypeError for a family that has no `predictive_cdf`, ValueError for observations that the family does not accept.

    >>> import volatilis as vl
    >>> y, _, _ = vl.ChangingEnvironment(vl.Gaussian(sigma=1.0, mu_0=100.0, sigma_0=5.0), p_c=0.02).sample(500, seed=1)
    >>> vl.check(vl.VarSMiLe(vl.Gaussian(sigma=1.0), m=0.02), y).misfits[0].kind
    'prior'
    """
    return check_many(learner, [y], [reset], missing, p_c, [given])


def check_many(
    learner: Learner,
    ys: Sequence[object],
    reset: Sequence[npt.ArrayLike | None] | None = None,
    missing: str = "error",
    p_c: float | None = None,
    given: Sequence[object] | None = None,
) -> Check:
    """Does the model of a learner fit several sequences? They are looked at all together, and each alone.

    learner   as for `check`
    ys        the sequences, such as one for each person
    reset     where blocks begin, one entry for each sequence
    missing   what a missing observation means: "error"; "elapse", time passes and nothing is seen; "skip"
    p_c       the change probability, if it is not the learner's
    given     the contexts, one entry for each sequence, for a family with contexts

    Returns a Check, whose misfits name the sequences that differ from the rest.

    Raises TypeError for a family that has no `predictive_cdf` and for PerContext, ValueError for observations that the family
    does not accept.

    >>> import volatilis as vl
    >>> vl.check_many(vl.Merge(vl.Gaussian(sigma=1.0), p_c=0.1, n=3), [[0.1, -0.4], [0.3, 0.2]]).observations
    4
    """
    learner = checked_learner(learner)
    if changes_apart(learner):
        raise TypeError("PerContext has changes of its own in each context; check the observations of each context alone")
    contexts = given if given is not None else [None] * len(ys)
    encoded = [learner.family.observations(y, given=x) for y, x in zip(ys, contexts, strict=True)]
    resets = reset if reset is not None else [None] * len(encoded)
    events = [step_events(absent, one, missing) for (_, absent), one in zip(encoded, resets, strict=True)]
    values = [one for one, _ in encoded]
    if p_c is None and isinstance(learner, Averaged):
        from volatilis.estimation.weighed import check_weighed

        return check_weighed(learner, values, events)
    return check_model(learner.family, values, change_probabilities(learner, p_c), events)


def changes_apart(learner: Learner) -> bool:
    """Whether contexts change each for themselves, which no one family and p_c says."""
    return isinstance(learner, PerContext)


def change_probabilities(learner: Learner, p_c: float | None) -> Sequence[float] | None:
    """Those that a learner's model may have. m of VarSMiLe stands for one, but is chosen for other reasons too."""
    if p_c is not None:
        return (p_c,)
    assumed = learner.change_probability()
    fields = getattr(learner, "_fields", ())
    if not 0.0 < assumed < 1.0:
        return None
    return (assumed,) if "p_c" in fields else (assumed, *P_CS)


def check_model(
    family: Family,
    sequences: Sequence[np.ndarray],
    p_c: float | Sequence[float] | None = None,
    events: Sequence[np.ndarray] | None = None,
    alpha: float = ALPHA,
) -> Check:
    """Compare observations with a model: a family and a change probability.

    sequences    observations as `family.observations` encodes them
    p_c          one, or several of which the best is taken; None: of a few from 0.003 to 0.3
    events       what happens at each step, as `running.arguments.step_events` has it; None: an observation
    alpha        how often each kind of misfit may be found on data from the model

    Raises TypeError for a family that has no `predictive_cdf`.
    """
    if family.lacks("predictive_cdf"):
        raise TypeError(
            f"{type(family).__name__} does not define predictive_cdf(beliefs, i, y, k, v, around), which one-step errors need"
        )
    if not sequences:
        raise ValueError("there is no sequence to check")
    steps = events if events is not None else [np.zeros(len(y), dtype=np.uint8) for y in sequences]
    first = first_alike(sequences, steps)
    kept = sorted(set(first))
    data = first_of([sequences[i] for i in kept], [steps[i] for i in kept])
    p_cs = P_CS if p_c is None else tuple(np.atleast_1d(np.asarray(p_c, dtype=float)))
    base = best(family, p_cs, data)
    seen = int(sum(one.n for one in base.sums)) // family.coordinates()
    misfits = _misfits(family, data, base, alpha) if seen >= laws.FEWEST else _misfits_of_few(family, data, base, alpha)
    if len(kept) < len(first):
        misfits = tuple(_of_all(misfit, first, kept) for misfit in misfits)
    return Check(misfits, family, base.p_c, seen, base.errors)


# --- what is wrong, and why ----------------------------------------------------------------------------------------------


def _misfits(family: Family, data: Sequences, base: Measured, alpha: float) -> tuple[Misfit, ...]:
    strange = _wrong_period(family, data) if _wraps(family) else _angles(family, data)
    strange = strange or stuck(family, data, alpha)
    if strange is not None:
        return (strange,)  # all else would be said of numbers that are none
    deviations, prior, concerned = base.deviations(alpha), _prior(family, data, alpha), _few_of_many(base, alpha)
    if concerned:  # the others fit
        data, base = data.only(concerned), base.only(concerned)
        deviations, prior = base.deviations(alpha), _prior(family, data, alpha)
    if not deviations and prior is None:
        return misfits_by_wager(family, base.p_c, data, alpha)
    return tuple(misfit._replace(sequences=concerned) for misfit in explain(base, data, deviations, prior, alpha))


def _misfits_of_few(family: Family, data: Sequences, base: Measured, alpha: float) -> tuple[Misfit, ...]:
    """A few observations say nothing about a law, but they may lie where the prior expects none."""
    prior = _prior(family, data, alpha) if base.total().n else None
    return () if prior is None else tuple(explain(base, data, [], prior, alpha))


def _of_all(misfit: Misfit, first: Sequence[int], kept: Sequence[int]) -> Misfit:
    """With all sequences that are the same as those that it concerns."""
    concerned = {kept[i] for i in misfit.sequences}
    return misfit._replace(sequences=tuple(i for i, place in enumerate(first) if place in concerned))


def _few_of_many(base: Measured, alpha: float) -> tuple[int, ...]:
    """The sequences that do not fit, each at its share of the level, where they are at most half of them and all others do."""
    count = len(base.sums)
    misfits = [i for i, one in enumerate(base.sums) if count > 1 and deviations(one, alpha / count)]
    others = [i for i in range(count) if i not in set(misfits)]
    few = 0 < len(misfits) <= len(others) and not base.only(others).deviations(alpha)
    return tuple(misfits) if few else ()


def _wraps(family: Family) -> bool:
    return family.difference(1e-3, 1e-3) != 0.0 or family.range_ends(np.zeros(2)) == 2


def _prior(family: Family, data: Sequences, alpha: float) -> Deviation | None:
    """Observations where the prior predicts next to none, and too many of them for outliers.

    Each one alone has the law that the prior predicts, so the smallest of n is below a / n with probability a at most.
    """
    inner, rows = as_rows(family, data)
    depth = np.concatenate([_depth(inner, y, e) for y, e in zip(*rows, strict=True)])
    share = float(np.mean(depth < OUTER))
    p_value = min(1.0, depth.size * float(depth.min()))
    return Deviation(laws.PRIOR, share, OUTER, p_value) if p_value < alpha and share > MANY else None


def _depth(family: Family, values: np.ndarray, events: np.ndarray) -> np.ndarray:
    u = prior_errors(family, values, events)
    u = u[~np.isnan(u)]
    return 2.0 * np.minimum(u, 1.0 - u)


def _wrong_period(family: Family, data: Sequences) -> Misfit | None:
    """Observations that go round many times, or that fill a circle of quite another period."""
    period, values = family.circumference(), np.concatenate(data.observed())
    turns = float(np.ptp(values)) / period if np.isfinite(period) else 1.0
    other = filled(values) if not FEW_TURNS < turns < MOST_TURNS else None
    reach = f"observations reach from {values.min():.4g} to {values.max():.4g}, {turns:.3g} times the period {period:.6g}"
    if other is not None:
        words = f"{reach}: they look like {NAMES[other]}"
        return Misfit(laws.ANGLES, words, f"Use period={other:.6g}", turns, 1.0, 0.0)
    if turns < MOST_TURNS:
        return None
    return Misfit(laws.ANGLES, reach, "Give their period (360 for degrees), or bring them within one", turns, 1.0, 0.0)


def _angles(family: Family, data: Sequences) -> Misfit | None:
    wraps = wrapping(data.observed())
    if wraps is None:
        return None
    return Misfit(
        laws.ANGLES,
        f"observations look like {NAMES[wraps.period]}: {wraps.wrapped} of {wraps.far} jumps by more than half of "
        f"{wraps.period:.4g} end where a circle closes, near their start: {RECORDS[type(family)].name} takes each for a change",
        f"Use the family vonmises with period={wraps.period:.6g}",
        wraps.wrapped / wraps.far,
        0.0,
        wraps.p_value,
    )
