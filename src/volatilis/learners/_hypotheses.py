"""The state of a learner that weighs hypotheses about the last change."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_function, compiled_methods, python_only
from volatilis.families._base import Beliefs, Family, copy_column, in_eights, prior_beliefs, zeros
from volatilis.learners._base import NO_MEMORY, kept_memory, rooms
from volatilis.learners._recent import kept_recent
from volatilis.learners._recent_kept import NO_RECENT, Recent
from volatilis.special import exp, largest, log, total

ROWS_TO_SPLIT = 6  # of room to work in, where one hypothesis may become two; four are used, and saved states have six
NOTHING = 1e-300  # a weight below this is none: products of it with a predictive would lose digits to underflow


@compiled_methods
class Hypotheses(NamedTuple):
    """The state of a learner that weighs hypotheses about the time of the last change, the newest last.

    The first `count[0]` columns live; their weights sum to one, and those of all other columns are 0. So a loop that takes
    eight columns at a time may run on beyond the last that lives (`family.whole`).
    """

    weights: np.ndarray
    beliefs: Beliefs
    run_lengths: np.ndarray  # observations since the change (for merged hypotheses their expected number)
    scratch: np.ndarray  # room to work in
    count: np.ndarray  # type: ignore[assignment]  # one number: how many live
    random: np.ndarray  # the state of the random generator
    pi_0: Beliefs  # the prior, a bank of one
    recent: Recent = NO_RECENT  # what the probability of a recent change needs, where somebody asks for it
    memory: np.ndarray = NO_MEMORY  # what the family keeps of past observations

    def belief_mean(self, family: Family, k: int) -> float:
        return family.mixture_mean(self.beliefs, self.weights, family.whole(self.count[0]), k, self.scratch)

    def belief_variance(self, family: Family, k: int, mean: float) -> float:
        """Within and between the hypotheses."""
        return family.mixture_variance(self.beliefs, self.weights, family.whole(self.count[0]), k, mean, self.scratch)

    def belief_moments(self, family: Family, means: np.ndarray, variances: np.ndarray) -> None:
        """Mean and, where there is room for it, variance of every element of theta."""
        for k in range(family.size()):
            means[k] = self.belief_mean(family, k)
            if variances.size > 0:
                variances[k] = self.belief_variance(family, k, means[k])

    def belief_log_density(self, family: Family, x: float) -> float:
        """log sum_i w_i pi_i(x)."""
        top = -np.inf
        for i in range(self.count[0]):
            value = log(self.weights[i]) + family.log_density(self.beliefs, i, x)
            self.scratch[i] = value
            top = value if value > top else top
        if top == -np.inf:
            return top
        result = 0.0
        for i in range(self.count[0]):
            result += exp(self.scratch[i] - top)
        return top + log(result)

    def expected_run_length(self) -> float:
        n = self.count[0]
        for i in range(n):
            self.scratch[i] = self.weights[i] * self.run_lengths[i]
        return total(self.scratch, n)

    def column_weights(self, room: np.ndarray) -> tuple[int, int]:
        for i in range(self.count[0]):
            room[i] = self.weights[i]
        return 0, self.count[0]

    def copy_from(self, other: Hypotheses) -> None:
        for i in range(other.count[0]):
            self.weights[i] = other.weights[i]
            self.run_lengths[i] = other.run_lengths[i]
            copy_column(other.beliefs, i, self.beliefs, i)
        for i in range(self.recent.numbers.size):
            self.recent.numbers[i] = other.recent.numbers[i]
        for i in range(self.memory.size):
            self.memory[i] = other.memory[i]
        set_count(self, other.count[0])

    @python_only
    def generator(self) -> np.ndarray:
        return self.random

    @python_only
    def live(self) -> tuple[np.ndarray, np.ndarray, Beliefs]:
        alive = np.flatnonzero(self.weights > 0.0)
        alive = alive[np.argsort(-self.run_lengths[alive], kind="stable")]
        beliefs = Beliefs(np.ascontiguousarray(self.beliefs.chi[:, alive]), self.beliefs.nu[alive])
        return self.weights[alive], self.run_lengths[alive], beliefs

    @python_only
    def draw_column(self, rng: np.random.Generator) -> int:
        return int(rng.choice(self.weights.size, p=self.weights / self.weights.sum()))

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        beliefs = {"chi": self.beliefs.chi, "nu": self.beliefs.nu, "run_lengths": self.run_lengths}
        kept = {"weights": self.weights, **beliefs, "count": self.count, "random": self.random}
        return kept | kept_recent(self.recent.numbers) | kept_memory(self.memory)

    @python_only
    def many(self, count: int) -> ManyHypotheses:
        made: dict[str, Any] = rooms(self, count)
        made["recent"] = self.recent._replace(numbers=made.get("recent", np.zeros((count, 0))))
        return ManyHypotheses(**made, scratch=self.scratch, pi_0=self.pi_0)


@compiled_methods
class ManyHypotheses(NamedTuple):
    """The states of one learner for many independent sequences: the first axis of every array goes over sequences."""

    weights: np.ndarray
    chi: np.ndarray
    nu: np.ndarray
    run_lengths: np.ndarray
    count: np.ndarray  # type: ignore[assignment]
    random: np.ndarray
    recent: Recent
    memory: np.ndarray
    scratch: np.ndarray
    pi_0: Beliefs

    def at(self, i: int) -> Hypotheses:
        beliefs, count, random = Beliefs(self.chi[i], self.nu[i]), self.count[i], self.random[i]
        weights, run_lengths, recent, memory = self.weights[i], self.run_lengths[i], self.recent.of_sequence(i), self.memory[i]
        return Hypotheses(weights, beliefs, run_lengths, self.scratch, count, random, self.pi_0, recent, memory)

    def take_over(self, i: int, j: int) -> None:
        """State i becomes state j, but keeps its own random numbers."""
        self.count[i, 0] = self.count[j, 0]
        for k in range(self.weights.shape[1]):
            self.weights[i, k] = self.weights[j, k]
            self.run_lengths[i, k] = self.run_lengths[j, k]
            self.nu[i, k] = self.nu[j, k]
            for row in range(self.chi.shape[1]):
                self.chi[i, row, k] = self.chi[j, row, k]
        for k in range(self.recent.numbers.shape[1]):
            self.recent.numbers[i, k] = self.recent.numbers[j, k]
        for k in range(self.memory.shape[1]):
            self.memory[i, k] = self.memory[j, k]

    @python_only
    def generators(self) -> np.ndarray:
        return self.random

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        beliefs = {"chi": self.chi, "nu": self.nu, "run_lengths": self.run_lengths}
        kept = {"weights": self.weights, **beliefs, "count": self.count, "random": self.random}
        return kept | kept_recent(self.recent.numbers) | kept_memory(self.memory)


def hypotheses(family: Family, capacity: int, seed: int) -> Hypotheses:
    """Room for `capacity` hypotheses or, in eights, a few more; none lives yet."""
    capacity = in_eights(capacity)
    return Hypotheses(
        weights=zeros(capacity),
        beliefs=prior_beliefs(family, capacity),
        run_lengths=zeros(capacity),
        scratch=zeros(capacity * (ROWS_TO_SPLIT if family.splits() else 1)),
        count=np.zeros(1, dtype=np.int64),
        random=np.array([seed], dtype=np.uint64),
        pi_0=prior_beliefs(family),
        memory=np.zeros(family.memory_size()),
    )


def with_room(family: Family, state: Hypotheses, capacity: int) -> Hypotheses:
    """The same state with room for more hypotheses."""
    larger, n = hypotheses(family, capacity, 0), state.weights.size
    larger.weights[:n], larger.run_lengths[:n] = state.weights, state.run_lengths
    larger.beliefs.chi[:, :n], larger.beliefs.nu[:n] = state.beliefs.chi, state.beliefs.nu
    larger.count[:], larger.random[:], larger.memory[:] = state.count, state.random, state.memory
    return larger._replace(recent=state.recent)


@compiled_function
def knows_nothing(state: Hypotheses) -> bool:
    """Whether the newest hypothesis, the last, has observed nothing."""
    return state.run_lengths[state.count[0] - 1] == 0.0


@compiled_function
def add_prior(family: Family, state: Hypotheses, weight: float) -> int:
    """One more hypothesis, which has observed nothing; returns its place, the last."""
    new = state.count[0]
    state.count[0] = new + 1
    state.weights[new] = weight
    state.run_lengths[new] = 0.0
    family.prior(state.beliefs, new)
    return new


@compiled_function
def drop_below(state: Hypotheses, threshold: float, share: float) -> None:
    """Forget the hypotheses lighter than the threshold once they are more than a share of all, and weigh the others anew."""
    n, w = state.count[0], state.weights
    light = 0
    for i in range(n):
        light += 1 if w[i] < threshold else 0
    if light <= share * n:
        return
    if light == n:  # the heaviest always stays
        threshold = largest(w, n)
    kept, lost = 0, 0.0
    for i in range(n):
        if w[i] >= threshold:
            move(state, i, kept)
            kept += 1
        else:
            lost += w[i]
    set_count(state, kept)
    if lost > 1e-16:  # less would not change a weight
        normalise(state)


@compiled_function
def set_count(state: Hypotheses, n: int) -> None:
    """Only the first n columns live."""
    for i in range(n, state.count[0]):
        state.weights[i] = 0.0
    state.count[0] = n


@compiled_function
def move(state: Hypotheses, source: int, target: int) -> None:
    state.weights[target] = state.weights[source]
    state.run_lengths[target] = state.run_lengths[source]
    copy_column(state.beliefs, source, state.beliefs, target)


@compiled_function
def forget(state: Hypotheses, i: int) -> None:
    """Hypothesis i goes and those after it move up: row by row, in flat loops."""
    n, chi = state.count[0], state.beliefs.chi
    moved = min(in_eights(n - i - 1), state.weights.size - i - 1)  # eight at a time: those that do not live may move, too
    move_up(state.weights[i:], moved)
    move_up(state.run_lengths[i:], moved)
    move_up(state.beliefs.nu[i:], moved)
    for row in range(chi.shape[0]):
        move_up(chi[row, i:], moved)
    set_count(state, n - 1)


@compiled_function
def move_up(numbers: np.ndarray, count: int) -> None:
    """The count numbers after the first move up by one place."""
    for k in range(count):
        numbers[k] = numbers[k + 1]


@compiled_function
def normalise(state: Hypotheses) -> None:
    n = state.count[0]
    factor = 1.0 / total(state.weights, n)
    for i in range(n):
        state.weights[i] *= factor
