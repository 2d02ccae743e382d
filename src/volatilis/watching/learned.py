"""What is told of keys that began without numbers: what was learned, and what later lines say against it.

Later lines are checked key by key, each with its own parameters: one-step errors that no parameters of the family mend, and
alarms that come too often. Both in memory that does not grow with the stream; a restart counts anew.
"""

from __future__ import annotations

import numpy as np

from volatilis.estimation.environment import kind_of
from volatilis.estimation.streams import StreamCheck
from volatilis.families._base import Family
from volatilis.learners._bank import member
from volatilis.learners._base import Learner
from volatilis.learners._grids import value_of
from volatilis.running.drivers import OBSERVE, RESET, Outputs
from volatilis.tables import counted
from volatilis.watching.keyed import Keyed
from volatilis.watching.output import Report
from volatilis.watching.warm_up import WarmUp

KEYS = 64  # whose one-step errors are checked: the first that are learned
NAMED, FURTHER = 10, -1  # keys that are warned of by name; the number that stands for all others
FEWEST = 200  # lines after the warm-up before alarms are counted; then after every doubling, and at the end
PROMISED, SOME, MANY = 5.0, 0.03, 0.05  # times p_c is far above it; shares of lines that are no accident of p_c, and too many
LEVEL = 1e-3  # how often more alarms than that may come by chance, at a look
CONTAMINATED = "contaminated:"
ESTIMATE = "; volatilis environment estimates such a family, for --environment"
SHIFTS = (
    "an alarm here tells of a jump at a single line; lasting small shifts need a rule of volatilis calibrate (--alarms FILE), or "
    "--alarm-run-length"
)


class Learned:
    """The keys of one watcher whose learner warms up. `see` what each block brought, then `look`."""

    def __init__(self, keyed: Keyed, report: Report, is_keyed: bool) -> None:
        assert isinstance(keyed.learner, WarmUp)
        self._keyed, self._learner, self._report, self._is_keyed = keyed, keyed.learner, report, is_keyed
        self.start_anew()
        self._named: set[int] = set()

    def start_anew(self) -> None:
        """Also where keys have other numbers from here on."""
        self._checks: dict[int, StreamCheck] = {}
        self._counts = np.zeros((0, 2), dtype=np.int64)  # by number: lines since the warm-up, alarms among them
        self._due = np.zeros(0, dtype=np.int64)
        self._rang: set[int] = set()  # keys whose alarms were told
        self._touched: set[int] = set()
        self._strange: set[int] = set()  # keys of which numbers were told that their family does not take

    def renew(self, numbers: list[int], count: int) -> None:
        """These keys are new; there are numbers up to `count`."""
        more = max(0, count - len(self._due))
        if more:
            more = max(more, len(self._due))
            self._counts = np.concatenate([self._counts, np.zeros((more, 2), dtype=np.int64)])
            self._due = np.concatenate([self._due, np.full(more, FEWEST)])
        self._counts[numbers], self._due[numbers] = 0, FEWEST
        for number in numbers:
            self._checks.pop(number, None)
            self._rang.discard(number)
            self._touched.discard(number)
            self._strange.discard(number)

    # --- what was learned ------------------------------------------------------------------------------------------------

    def tell(self) -> None:
        """What a warm-up found, of the keys whose warm-up has just ended."""
        moved = self._keyed.moved
        if moved:
            names = self._names()
            for number, state in moved:
                for text in self._learner.words(state):
                    self._report(f"{names.get(number, '')}{text}")
        moved.clear()

    def tell_unlearned(self, state: str | None) -> None:
        """That the input ended before everything was learned."""
        _, pool_of, _ = self._keyed.packed()
        waiting = int(np.count_nonzero(pool_of == 0))
        if waiting:
            of = f" of {counted(waiting, 'key')} among {len(pool_of):,}" if self._is_keyed else ""
            goes_on = f"; {state} keeps their lines, and the same command goes on" if state else ""
            self._report(
                f"the input ended before the warm-up{of} was complete, which takes {self._learner.lines} observations: nothing "
                f"was estimated there, and nothing is predicted; --learn N takes fewer{goes_on}"
            )

    # --- what later lines say --------------------------------------------------------------------------------------------

    def see(self, numbers: np.ndarray, values: np.ndarray, events: np.ndarray, out: Outputs, alarms: np.ndarray) -> int:
        """Lines of the keys with these numbers, and what came of them; those of a warm-up have no prediction.

        Returns how many observations were taken as missing, since the family that was chosen cannot give them.
        """
        if self._keyed.keys.count > len(self._due):  # of a state that was loaded
            self.renew([], self._keyed.keys.count)
        learned = self._keyed.place_of[numbers, 0] > 0
        predicted = learned & ~np.isnan(out.log_p)
        np.add.at(self._counts, (numbers[predicted], 0), 1)
        np.add.at(self._counts, (numbers[predicted & alarms], 1), 1)
        strange = self._tell_strange(numbers, values, learned & np.isnan(out.log_p) & (events % RESET == OBSERVE))
        later = predicted | (learned & (events % RESET != OBSERVE))
        present = np.unique(numbers[later]).tolist()
        self._touched.update(present)
        for number in present:
            if number not in self._checks and len(self._checks) < KEYS:
                self._checks[number] = StreamCheck(self._learner_of(number), learned=True, hint=ESTIMATE)
            if number in self._checks:
                mine = later & (numbers == number)
                seen = np.nan_to_num(values[mine]).astype(self._checks[number].dtype)
                self._checks[number].see(numbers[mine], seen, events[mine])
        return strange

    def _tell_strange(self, numbers: np.ndarray, values: np.ndarray, strange: np.ndarray) -> int:
        """Of observations that are none of the family that was chosen, once for a key; returns how many there are."""
        count = 0
        for number in dict.fromkeys(numbers[strange].tolist()):
            of_key = values[strange & (numbers == number)]
            family = self._learner_of(number).family
            wrong = of_key[~np.array([_takes(family, one) for one in of_key.tolist()])]  # the others are of the warm-up
            count += len(wrong)
            if len(wrong) and number not in self._strange:
                self._strange.add(number)
                self._warn(
                    number,
                    f"warning: {kind_of(family)}, which the first {self._learner.lines} observations suggested, cannot give "
                    f"{wrong[0]}: such numbers are taken as missing (said once). A longer warm-up (--learn N) may choose another "
                    "family; --family gaussian:auto accepts them",
                )
        return count

    def look(self, at_the_end: bool = False) -> None:
        """Warn of keys whose later lines contradict what was learned; each kind of warning once for a key."""
        for number, check in self._checks.items():
            if at_the_end or number in self._touched:
                for text in check.at_the_end() if at_the_end else check.misfits():
                    self._warn(number, f"warning: {text}")
        numbers = np.flatnonzero(self._counts[:, 0] >= FEWEST) if at_the_end else np.array(sorted(self._touched), dtype=np.int64)
        due = numbers if at_the_end else numbers[self._counts[numbers, 0] >= self._due[numbers]]
        self._due[due] = 2 * self._counts[due, 0]
        for number in due.tolist():
            self._look_at_alarms(number)
        self._touched.clear()

    def _look_at_alarms(self, number: int) -> None:
        lines, rang = self._counts[number].tolist()
        if number in self._rang or rang <= SOME * lines:
            return
        learner = self._learner_of(number)
        p_c, family = value_of(learner, "p_c"), kind_of(learner.family)
        tails = (
            ""
            if family.startswith(CONTAMINATED) or learner.family.categories() is not None
            else (
                f"against outliers and heavy tails take volatilis environment with --family {CONTAMINATED}{family}, and its "
                "file as --environment; "
            )
        )
        if _above(rang, lines, min(MANY, max(SOME, PROMISED * p_c))):
            self._rang.add(number)
            share = rang / lines
            kept = share <= p_c or not _above(rang, lines, p_c)
            warning = "" if kept else "warning: "
            says = f"as often as the learned p_c = {p_c:.3g} says; if changes are rarer" if kept else f"where p_c = {p_c:.3g}"
            self._warn(
                number,
                f"{warning}{rang:,} of {lines:,} lines since the warm-up raised an alarm ({100.0 * share:.3g} %), {says}: "
                f"{tails}a longer warm-up (--learn N) may help; volatilis calibrate and --alarms give a stated rate of false "
                "alarms",
            )

    def ended(self, rings_at_jumps: bool, state: str | None) -> None:
        """All that is left to say at the end of the input."""
        self.look(at_the_end=True)
        self.tell_unlearned(state)
        if rings_at_jumps and self._counts[:, 0].any():
            self._report(SHIFTS)

    def _learner_of(self, number: int) -> Learner:
        pool, row = self._keyed.place_of[number].tolist()
        learner: Learner = member(self._keyed.pools[pool].states.at(row).own, 0)
        return learner

    def _warn(self, number: int, text: str) -> None:
        if number not in self._named and len(self._named) == NAMED:
            self._named.add(FURTHER)
            self._report("further keys whose later lines contradict what was learned are not named")
        elif number in self._named or len(self._named) < NAMED:
            self._named.add(number)
            self._report(f"{self._names().get(number, '')}{text}")

    def _names(self) -> dict[int, str]:
        """What stands before a text about a key."""
        keys = ((number, key) for key, number in self._keyed.keys.numbers.items() if key)
        return {number: f"{key if isinstance(key, str) else ','.join(key)}: " for number, key in keys}


def _takes(family: Family, value: float) -> bool:
    accepted = family.accepted_numbers()
    return accepted is None or (accepted.low <= value <= accepted.high and not (accepted.whole and value % 1.0))


def _above(number: int, count: int, share: float) -> bool:
    """Whether so many come by chance less often than LEVEL, where this share is expected."""
    from scipy.special import bdtrc

    return number > 0 and share < 1.0 and float(bdtrc(number - 1, count, share)) < LEVEL
