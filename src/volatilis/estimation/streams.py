"""Does the model fit a stream? Looks at stretches of it, in memory that does not grow.

Any stretch has the law of one-step errors by itself, so nothing is lost by forgetting what came before it. The first 4,096
observations are looked at when there are 256, 1,024 and all of them, then as many after every doubling of the stream. On data of
the model the k-th look may find each kind of misfit with probability 0.002 / 2^k, all looks together with less than 0.004.
"""

from __future__ import annotations

import numpy as np

from volatilis.estimation import laws
from volatilis.estimation.checks import ALPHA, Check, change_probabilities, changes_apart, check_model
from volatilis.estimation.environment import kind_of
from volatilis.estimation.estimate import estimate
from volatilis.estimation.models import described
from volatilis.estimation.remedies import NO_PARAMETERS
from volatilis.estimation.weighed import check_weighed
from volatilis.families._base import Family
from volatilis.learners._base import Learner
from volatilis.running.drivers import ELAPSE, OBSERVE, PASSED, RESET
from volatilis.running.grid_ends import weighed

LOOKS = (256, 1024, 4096)
KEYS = 64  # that a stretch has at most: the first that come
ENOUGH, FEW = 100, 10  # observations at the end of a stream; and those that say only whether the prior is far off
LONG_GAP = 64  # steps without a line
FURTHEST = 20  # looks that are told apart in their level


class StreamCheck:
    """Sees every observation, keeps few of them, and says each kind of misfit once.

    learned   whether the parameters were estimated from few observations: then only what no parameters mend is said
    hint      is added to what another family would mend
    """

    def __init__(self, learner: Learner, learned: bool = False, hint: str = "") -> None:
        self._learned, self._hint = learned, hint
        self._learner, self._family, self._p_c = learner, learner.family, change_probabilities(learner, None)
        self._can = weighed(learner) is not None or not (self._family.lacks("predictive_cdf") or changes_apart(learner))
        self.dtype = self._family.observations([])[0].dtype  # of what is seen
        self._told: set[str] = set()
        self._seen = self._again = self._looks = 0
        self.start_anew()

    def start_anew(self) -> None:
        """Another stretch; also where keys have other numbers from here on."""
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._keys: set[int] = set()
        self._kept, self._due = 0, list(LOOKS)

    def see(self, numbers: np.ndarray, values: np.ndarray, events: np.ndarray) -> None:
        """Observations of the keys with these numbers."""
        self._seen += len(numbers)
        if not self._can or self._seen < self._again or not len(numbers):
            return
        if len(self._keys) < KEYS:
            new = [number for number in dict.fromkeys(numbers.tolist()) if number not in self._keys]
            self._keys.update(new[: KEYS - len(self._keys)])
        mine = np.isin(numbers, list(self._keys))
        self._parts.append(_with_gaps(numbers[mine], values[mine], events[mine]))
        self._kept += int(mine.sum())

    def misfits(self) -> list[str]:
        """What is wrong and was not told yet, if a look is due."""
        texts: list[str] = []
        while self._due and self._kept >= self._due[0]:
            self._due.pop(0)
            texts += [] if self._due and self._kept >= self._due[0] else self._look()
        if not self._due:
            self._again = 2 * self._seen
            self.start_anew()
        return texts

    def at_the_end(self) -> list[str]:
        """What the rest says, where there is enough of it."""
        if not self._can or self._kept < FEW or self._kept <= self._last_look():
            return []
        return self._look(None if self._kept >= ENOUGH else laws.PRIOR)

    def _last_look(self) -> int:
        return ([0, *LOOKS])[len(LOOKS) - len(self._due)]

    def _look(self, only: str | None = None) -> list[str]:
        """At what is kept; `only` one kind of misfit."""
        numbers, values, events = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
        order = np.argsort(numbers, kind="stable")
        cuts = np.flatnonzero(np.diff(numbers[order])) + 1
        sequences, steps = np.split(values[order], cuts), np.split(events[order], cuts)
        level = ALPHA / 2.0 ** min(self._looks, FURTHEST)
        self._looks += 1
        if weighed(self._learner) is not None:
            check = check_weighed(self._learner, sequences, steps, level)
        else:
            check = check_model(self._family, sequences, self._p_c, steps, level)
        if self._learned and check.misfits:
            check = _with_own_parameters(self._family, sequences, steps, level)
        new = [misfit for misfit in check.misfits if misfit.kind not in self._told and only in (None, misfit.kind)]
        self._told.update(misfit.kind for misfit in new)
        of = f"{len(sequences)} keys" if len(sequences) > 1 else "the stream"
        looked = f"({check.observations:,} observations of {of} were looked at; said once)"
        even = "does not fit, even with parameters from these lines" if self._learned else "does not fit"
        return [
            f"{described(check.family)} {even}: {misfit} {looked}{'' if misfit.kind == laws.STUCK else self._hint}"
            for misfit in new
        ]


def _with_gaps(numbers: np.ndarray, values: np.ndarray, events: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same with the steps that passed before each line, by ones; a long gap begins anew, which is much the same."""
    gaps = events // PASSED
    passed = np.where(gaps > LONG_GAP, 0, gaps)
    rows = np.repeat(np.arange(len(events)), passed + 1)
    steps = np.full(len(rows), ELAPSE, dtype=np.uint8)
    steps[np.cumsum(passed + 1) - 1] = events % RESET + RESET * ((gaps > LONG_GAP) | (events % PASSED >= RESET))
    return numbers[rows], values[rows], steps


def _with_own_parameters(family: Family, sequences: list[np.ndarray], steps: list[np.ndarray], level: float) -> Check:
    """The check of a family with the parameters that these observations suggest; of its misfits those that none mend."""
    given = {name: value for name, value in family._asdict().items() if name in ("k", "period")}  # type: ignore[attr-defined]
    seen = [values[events % RESET == OBSERVE] for values, events in zip(sequences, steps, strict=True)]
    try:
        estimated = estimate(seen, kind_of(family), check=False, workers=1, **given)
    except ValueError:  # they do not vary: there is no noise whose law could be wrong
        return Check((), family, 0.0, sum(map(len, seen)), ())
    check = check_model(estimated.family, sequences, estimated.p_c, steps, level)
    return check._replace(misfits=tuple(one for one in check.misfits if one.remedy.startswith(NO_PARAMETERS)))
