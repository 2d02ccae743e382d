"""When to ring: a rule on one statistic, the same in Python, in `watch` and in reports.

A rule rings at the first of k among the newest n observations whose statistic is above the threshold; once per event: not again
before the statistic came down; and not within `cool_down` observations after an alarm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler import Call
from volatilis.running.arguments import checked_within
from volatilis.running.drivers import Array, Outputs
from volatilis.running.steps import Step
from volatilis.running.traces import Trace

STATISTICS = ("recent_change", "log_bayes_factor_surprise", "adaptation_rate")
RINGING, QUIET, PLACE, HEAD = range(4)  # of a key: whether an event lasts, how long it is quiet, the place of the next hit, hits


class Alarm(NamedTuple):
    """One alarm: where it rang, the statistic there, and when the change was, with an interval of 90 %.

    Positions count from 0. Where the statistic is of one observation the change is taken to be there.
    """

    position: int
    statistic: float
    onset: int
    onset_low: int
    onset_high: int


class AlarmRule:
    """Rings when a statistic is above a threshold.

    threshold   between 0 and 1 for probabilities
    statistic   recent_change (the probability that a change lies within the newest observations), adaptation_rate, or
                log_bayes_factor_surprise (of the newest observation; it does not saturate)
    within      how many observations are recent, for recent_change
    release     an event lasts until the statistic is at or below this; the threshold if not given
    cool_down   observations after an alarm in which there is no other
    k, n        it rings where k of the newest n observations are above the threshold

    >>> import volatilis as vl
    >>> rule = vl.AlarmRule(0.9, within=20)
    >>> trace = vl.run(vl.Merge(vl.Gaussian(sigma=1.0, sigma_0=5.0), p_c=0.01, n=20), [0.1, -0.3, 0.2, 0.4, 6.1, 5.8, 6.0])
    >>> [alarm.position for alarm in rule.alarms(trace)]
    [4]
    """

    def __init__(
        self,
        threshold: float,
        statistic: str = "recent_change",
        *,
        within: int | None = None,
        release: float | None = None,
        cool_down: int = 0,
        k: int = 1,
        n: int = 1,
    ) -> None:
        if statistic not in STATISTICS:
            raise ValueError(f"AlarmRule: statistic = {statistic!r} is not accepted; it must be one of {', '.join(STATISTICS)}")
        if (within is None) == (statistic == "recent_change"):
            needs = "needs within, a number of observations such as 100" if within is None else "has no within"
            raise ValueError(f"AlarmRule: the statistic {statistic} {needs}")
        release = threshold if release is None else release
        for name, value in (("threshold", threshold), ("release", release)):
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
                raise ValueError(f"AlarmRule: {name} = {value!r} is not accepted; it must be a finite number")
        if release > threshold:
            raise ValueError(f"AlarmRule: release = {release!r} is above the threshold {threshold!r}; at most that is accepted")
        for name, count, least in (("cool_down", cool_down, 0), ("k", k, 1), ("n", n, 1)):
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not least <= count <= 1_000_000:
                raise ValueError(f"AlarmRule: {name} = {count!r} is not accepted; whole numbers from {least} to 1,000,000 are")
        if k > n:
            raise ValueError(f"AlarmRule: k = {k} of n = {n} can never be; k must be at most n")
        self.threshold, self.statistic, self.release = float(threshold), statistic, float(release)
        self.within = None if within is None else checked_within(within)
        self.cool_down, self.k, self.n = int(cool_down), int(k), int(n)

    def __repr__(self) -> str:
        fields = self.to_data()
        first = f"{fields.pop('threshold')!r}"
        return f"AlarmRule({', '.join([first, *(f'{name}={value!r}' for name, value in fields.items() if value is not None)])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AlarmRule) and self.to_data() == other.to_data()

    def __hash__(self) -> int:
        return hash(tuple(self.to_data().values()))

    def to_data(self) -> dict[str, Any]:
        """Its fields."""
        names = ("threshold", "statistic", "within", "release", "cool_down", "k", "n")
        return {name: getattr(self, name) for name in names}

    def with_threshold(self, threshold: float, release: float | None = None) -> AlarmRule:
        """The same rule with another threshold; where events end too, if no `release` is given."""
        return AlarmRule(**{**self.to_data(), "threshold": threshold, "release": release})

    def statistics(self, trace: Trace) -> np.ndarray:
        """The statistic of every observation of a trace; NaN where one is missing."""
        if self.statistic == "recent_change":
            return trace.recent_change(within=self.within or 0)
        return np.asarray(getattr(trace, self.statistic))

    def statistics_of(self, out: Outputs) -> np.ndarray:
        """The same of `out`, what a run writes."""
        if self.statistic == "recent_change":
            return out.recent
        return out.gamma if self.statistic == "adaptation_rate" else out.log_p_0 - out.log_p

    def alarms(self, trace: Trace) -> list[Alarm]:
        """The alarms of a whole sequence, `trace`: one `Alarm` for each event, at the observation where it rings."""
        values = self.statistics(trace)
        observed = ~np.isnan(trace.adaptation_rate)
        rang = np.flatnonzero(KeyedAlarms(self).of(values, np.zeros(len(values), dtype=np.int64), observed))
        if self.statistic == "recent_change":
            onsets = trace.recent_onset(within=self.within or 0)[rang]
            onsets = np.where(np.isnan(onsets), rang[:, None], onsets).astype(int)
        else:
            onsets = np.repeat(rang[:, None], 3, axis=1)
        return [Alarm(int(t), float(values[t]), *map(int, where)) for t, where in zip(rang, onsets, strict=True)]

    def start(self) -> Bell:
        """For a stream: `bell.update(step)` says whether it rings."""
        return Bell(self)


class Bell:
    """A rule on one stream; the stream must be made with the rule's `within`.

    stream, bell = vl.Stream(learner, within=rule.within), rule.start()
    if bell.update(stream.update(y)):
        stream.recent_onset()
    """

    def __init__(self, rule: AlarmRule) -> None:
        self.rule, self._keyed = rule, KeyedAlarms(rule)
        self._number, self._value, self._seen, self._rang = (np.zeros(1, dtype=kind) for kind in (int, float, int, int))
        self._bind()

    def _bind(self) -> None:
        self._ring = self._keyed.call(self._number, self._value, self._seen, self._rang).run

    def update(self, step: Step) -> bool:
        """Whether there is an alarm at this step of the stream."""
        rule = self.rule
        value = step.recent_change(rule.within) if rule.statistic == "recent_change" else getattr(step, rule.statistic)
        self._value[0], self._seen[0], self._rang[0] = value, step.adaptation_rate == step.adaptation_rate, 0
        self._ring()
        return bool(self._rang[0])

    def reset(self) -> None:
        """As at the start."""
        self._keyed.renew(self._number)

    def memory(self) -> np.ndarray:
        """What it remembers, to be kept beside the stream's state."""
        return self._keyed.arrays(self._number)["alarms"]

    def set_memory(self, memory: np.ndarray) -> None:
        """What was kept."""
        self._keyed.set_arrays({"alarms": memory}, 1)
        self._bind()


class KeyedAlarms:
    """A rule on many interleaved sequences: what it remembers of each is a row of one array."""

    def __init__(self, rule: AlarmRule) -> None:
        self.rule = rule
        self._numbers = np.array([rule.threshold, rule.release, rule.cool_down, rule.k, rule.n], dtype=float)
        self._memory = np.zeros((1, HEAD + rule.n))

    def of(self, values: np.ndarray, numbers: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """Whether there is an alarm at each line: its statistic, the number of its key, whether it has an observation."""
        rang = np.zeros(len(values), dtype=np.int64)
        if len(values):
            self._enlarge(int(numbers.max()) + 1)
            seen, keys = np.asarray(observed, dtype=np.int64), np.ascontiguousarray(numbers, dtype=np.int64)
            self.call(keys, np.ascontiguousarray(values, dtype=float), seen, rang)()
        return rang.astype(bool)

    def call(self, keys: np.ndarray, values: np.ndarray, observed: np.ndarray, rang: np.ndarray) -> Call:
        """What sets `rang`, bound to these arrays and to what is remembered of keys now."""
        return Call(ring, self._numbers, self._memory, keys, values, observed, rang)

    def arrays(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """What is remembered of these keys, one row each."""
        self._enlarge(int(numbers.max()) + 1 if len(numbers) else 1)
        return {"alarms": self._memory[numbers]}

    def set_arrays(self, arrays: dict[str, np.ndarray], count: int) -> None:
        """What was remembered of so many keys. Raises ValueError where it cannot be that."""
        memory = arrays["alarms"]
        if memory.shape != (count, self._memory.shape[1]) or memory.dtype != np.float64 or not (memory >= 0.0).all():
            raise ValueError("what is kept of alarms is of another rule")
        if (memory[:, PLACE] >= self.rule.n).any() or (memory[:, HEAD:] > 1.0).any() or (memory[:, PLACE] % 1.0 != 0.0).any():
            raise ValueError("what is kept of alarms cannot be of this rule")
        self._memory = np.concatenate([memory, np.zeros((1, memory.shape[1]))])

    def renew(self, numbers: np.ndarray) -> None:
        """These keys start anew."""
        self._enlarge(int(numbers.max()) + 1 if len(numbers) else 1)
        self._memory[numbers] = 0.0

    def _enlarge(self, count: int) -> None:
        if count > len(self._memory):
            more = np.zeros((max(count, 2 * len(self._memory)) - len(self._memory), self._memory.shape[1]))
            self._memory = np.concatenate([self._memory, more])


def ring(rule: Array, memory: Array, numbers: Array, values: Array, observed: Array, rang: Array) -> None:
    """A line after the other; compiled. rule: threshold, release, cool-down, k, n."""
    threshold, release, cool_down, least, n = rule[0], rule[1], rule[2], rule[3], int(rule[4])
    for j in range(values.size):
        if observed[j] == 0:
            continue
        key, hits = numbers[j], 0.0
        memory[key, HEAD + int(memory[key, PLACE])] = 1.0 if values[j] > threshold else 0.0
        memory[key, PLACE] = (memory[key, PLACE] + 1.0) % n
        for k in range(n):
            hits += memory[key, HEAD + k]
        if hits < least and not values[j] > release:
            memory[key, RINGING] = 0.0
        if memory[key, QUIET] > 0.0:
            memory[key, QUIET] -= 1.0
        elif hits >= least and memory[key, RINGING] == 0.0:
            rang[j] = 1
            memory[key, RINGING] = 1.0
            memory[key, QUIET] = cool_down


class Rate(NamedTuple):
    """A measured rate: so many alarms among so many observations, and its exact 95 % interval for alarms that come one by one."""

    alarms: int
    observations: int

    @property
    def value(self) -> float:
        return self.alarms / self.observations

    @property
    def interval(self) -> tuple[float, float]:
        from scipy import stats

        low = stats.chi2.ppf(0.025, 2 * self.alarms) / 2 if self.alarms else 0.0
        return float(low / self.observations), float(stats.chi2.ppf(0.975, 2 * self.alarms + 2) / 2 / self.observations)

    def text(self) -> str:
        low, high = self.interval
        return f"{self.value:.3g} ({low:.3g} to {high:.3g}; {self.alarms} in {self.observations:,} observations)"
