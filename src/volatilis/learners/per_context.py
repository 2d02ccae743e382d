"""One state of a learner for each context."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_methods, python_only
from volatilis._core.fields import Rule, derived
from volatilis.families._base import Beliefs, prior_beliefs
from volatilis.families._kinds import AnyFamily, UndefinedError
from volatilis.families._observations import inner_observations, is_seen
from volatilis.families.contaminated import Contaminated
from volatilis.families.given import ContextCount, Given
from volatilis.learners._bank import member, with_room
from volatilis.learners._base import NO_MEMORY, Info, Learner, put
from volatilis.learners._kinds import AnyLearner, LearnerRecord, LearnerTuple, learner


class Unseen(enum.IntEnum):
    """What a step of time is for the contexts that are not seen at it. A number, since compiled code has no words."""

    elapse = 0
    wait = 1

    def __repr__(self) -> str:
        return repr(self.name)


def _unseen(value: Any) -> Any:
    return next((one for one in Unseen if value in (one.name, one)), value)


def _is_unseen(value: object) -> bool:
    return isinstance(value, Unseen)


@learner(
    LearnerRecord(
        name="per-context",
        title="Per context",
        place=200,
        keeps="one state of its learner per context",
        outliers=True,
    )
)
class PerContext(LearnerTuple):
    """Each context has a state of the learner, learned from its observations alone, and changes of its own.

    At a step the context that is seen takes the observation in. For the others time passes ("elapse": they may have changed
    meanwhile, as with a missing observation) or stands still ("wait": they change only when they are seen). Each context's
    numbers are those of a run of its own, to the last bit: "elapse" with the other observations missing, "wait" without them.

    The surprises, the adaptation rate and `run_length` of a step are those of the context that is seen; mean and variance are
    those of all contexts, one after another. Where several contexts are seen in one step there is no one surprise: it is NaN.

        learner    such as vl.Merge(vl.Bernoulli(), p_c=0.1, n=20)
        contexts   how many contexts there are
        unseen     "elapse" or "wait"

    >>> import volatilis as vl
    >>> learner = vl.PerContext(vl.VarSMiLe(vl.Bernoulli(), m=0.1), contexts=2, unseen="wait")
    >>> vl.run(learner, [1, 1, 0], given=[0, 1, 0]).mean.round(3)
    array([[0.667, 0.5  ],
           [0.667, 0.667],
           [0.483, 0.667]])
    """

    learner: AnyLearner
    contexts: ContextCount
    unseen: Annotated[Unseen, Rule(_unseen, _is_unseen, "'elapse' or 'wait'")] = Unseen.elapse
    family: AnyFamily = derived()

    # --- compiled --------------------------------------------------------------------------------------------------------

    def restart(self, state: ContextStates) -> None:
        self.learner.family.prior(state.bank.at(0).pi_0, 0)  # in a fit its parameters may have changed
        for c in range(self.contexts):
            self.learner.begin(state.bank.at(c))
        state.last[0] = 0

    def begin(self, state: ContextStates) -> None:
        self.restart(state)

    def observe(self, state: ContextStates, y: np.ndarray) -> Info:
        return self.update(state, y)

    def update(self, state: ContextStates, y: np.ndarray) -> Info:
        if y[0] >= 0.0:
            self.pass_others(state, y)
            state.last[0] = int(y[0])
            return self.learner.observe(state.bank.at(int(y[0])), self.learner.family.encoded_in(y, 1))
        width = (y.size - 1) // self.contexts - 1
        for c in range(self.contexts):
            if is_seen(y, self.contexts, c):
                self.learner.observe(state.bank.at(c), self.learner.family.encoded_in(y, 1 + c * width))
                state.last[0] = c
            elif self.unseen == 0:
                self.learner.pass_time(state.bank.at(c), self.learner.family.encoded_in(y, 1 + c * width))
        return Info(np.nan, np.nan, np.nan)

    def pass_time(self, state: ContextStates, y: np.ndarray) -> None:
        """An observation is missing: time passes for its context, if that is known, and for the others if they do not wait."""
        self.pass_others(state, y)
        if y[0] >= 0.0:
            state.last[0] = int(y[0])
            self.learner.pass_time(state.bank.at(int(y[0])), self.learner.family.encoded_in(y, 1))

    def pass_others(self, state: ContextStates, y: np.ndarray) -> None:
        if self.unseen == 0:
            for c in range(self.contexts):
                if c != y[0]:
                    self.learner.pass_time(state.bank.at(c), self.learner.family.encoded_in(y, 1))

    def let_pass(self, state: ContextStates) -> None:
        if self.unseen == 0:
            for c in range(self.contexts):
                self.learner.let_pass(state.bank.at(c))

    def elapse(self, state: ContextStates) -> None:
        for c in range(self.contexts):
            self.learner.elapse(state.bank.at(c))

    def has_room(self, state: ContextStates) -> bool:
        room = True
        for c in range(self.contexts):
            room = room and self.learner.has_room(state.bank.at(c))
        return room

    def read_mean(self, state: ContextStates, k: int) -> float:
        size = self.learner.family.size()
        return self.learner.read_mean(state.bank.at(k // size), k % size)

    def read_variance(self, state: ContextStates, k: int, mean: float) -> float:
        size = self.learner.family.size()
        return self.learner.read_variance(state.bank.at(k // size), k % size, mean)

    def read_moments(self, state: ContextStates, means: np.ndarray, variances: np.ndarray) -> None:
        size = self.learner.family.size()
        width = size if variances.size > 0 else 0
        for c in range(self.contexts):
            of_mean, of_variance = means[c * size : (c + 1) * size], variances[c * width : (c + 1) * width]
            self.learner.read_moments(state.bank.at(c), of_mean, of_variance)

    def read_run_length(self, state: ContextStates) -> float:
        return self.learner.read_run_length(state.bank.at(state.last[0]))

    # --- Python only -----------------------------------------------------------------------------------------------------

    @staticmethod
    def _derive(learner: Learner, contexts: int, unseen: Unseen) -> dict[str, Any]:
        if isinstance(learner, PerContext):
            raise TypeError("PerContext of PerContext is not accepted; one with as many contexts as there are pairs is")
        one = learner.family
        if isinstance(one, Contaminated):  # its outliers are those of each context
            return {"family": one._replace(family=Given(one.family, contexts))}
        return {"family": Given(one, contexts)}

    @python_only
    def init(self, seed: int = 0) -> ContextStates:
        """The generator of each context has the seed itself: a context draws what a run of its own would draw."""
        fresh = self.learner.init(seed)
        bank = fresh.many(self.contexts)
        put(bank, slice(None), fresh)
        return ContextStates(bank, np.zeros(1, dtype=np.int64), prior_beliefs(self.family))

    @python_only
    def grow(self, state: ContextStates) -> ContextStates:
        states = [self.learner.grow(state.bank.at(c)) for c in range(self.contexts)]
        bank = states[0].many(self.contexts)
        for c, one in enumerate(states):
            put(bank, c, one)
        return state._replace(bank=bank)

    @python_only
    def grows(self) -> bool:
        return self.learner.grows()

    @python_only
    def readouts(self) -> tuple[str, ...]:
        return self.learner.readouts()

    @python_only
    def samples(self) -> bool:
        return self.learner.samples()

    @python_only
    def most_hypotheses(self) -> int | None:
        most = self.learner.most_hypotheses()
        return None if most is None else most * self.contexts

    @python_only
    def fewest_hypotheses(self) -> int:
        return self.learner.fewest_hypotheses() * self.contexts

    @python_only
    def is_mixture(self) -> bool:
        return True

    @python_only
    def change_probability(self) -> float:
        return self.learner.change_probability()

    @python_only
    def check_observations(self, values: np.ndarray) -> None:
        if self.learner.refuses_observations():
            self.learner.check_observations(inner_observations(self.learner.family, self.contexts, values))

    @python_only
    def refuses_observations(self) -> bool:
        return self.learner.refuses_observations()

    @python_only
    def states_within(self, arrays: Mapping[str, np.ndarray]) -> list[tuple[Learner, dict[str, np.ndarray]]]:
        if "last" in arrays and ((arrays["last"] < 0) | (arrays["last"] >= self.contexts)).any():
            raise ValueError(f"the context just seen is not from 0 to {self.contexts - 1}")
        kept = {name: array for name, array in arrays.items() if name != "last"}
        return self.learner.states_within({name: array.reshape(-1, *array.shape[2:]) for name, array in kept.items()})


@compiled_methods
class ContextStates(NamedTuple):
    """One state of a learner for each context, side by side."""

    bank: Any  # many states, one for each context
    last: np.ndarray  # one whole number: the context just seen
    pi_0: Beliefs  # the prior of all contexts, a bank of one
    memory: np.ndarray = NO_MEMORY

    def belief_mean(self, family: Any, k: int) -> float:
        size = family.within().size()
        return self.bank.at(k // size).belief_mean(family.within(), k % size)

    def belief_variance(self, family: Any, k: int, mean: float) -> float:
        size = family.within().size()
        return self.bank.at(k // size).belief_variance(family.within(), k % size, mean)

    def expected_run_length(self) -> float:
        return self.bank.at(self.last[0]).expected_run_length()

    def copy_from(self, other: ContextStates) -> None:
        for c in range(self.bank.nu.shape[0]):
            self.bank.at(c).copy_from(other.bank.at(c))
        self.last[0] = other.last[0]

    @property
    def run_lengths(self) -> np.ndarray:
        """Of one context: how much room there is."""
        return self.bank.run_lengths[0]

    @python_only
    def generator(self) -> np.ndarray | None:
        return self.bank.generators()

    @python_only
    def live(self) -> Any:
        raise UndefinedError("PerContext has a belief of its own for each context: step.mean and step.variance have all of them")

    @python_only
    def draw_column(self, rng: np.random.Generator) -> int:
        raise UndefinedError("PerContext has a belief of its own for each context, so no column is drawn")

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        return {**self.bank.kept_arrays(), "last": self.last}

    @python_only
    def many(self, count: int) -> ManyContextStates:
        bank = with_room(self.bank, list(self.bank.kept_arrays().values()), count)
        return ManyContextStates(bank, np.zeros((count, 1), dtype=np.int64), np.zeros((count, 0)), self.pi_0)


@compiled_methods
class ManyContextStates(NamedTuple):
    """The states of one learner for each context, for many independent sequences: the first axis goes over sequences."""

    bank: Any
    last: np.ndarray
    memory: np.ndarray
    pi_0: Beliefs

    def at(self, i: int) -> ContextStates:
        return ContextStates(member(self.bank, i), self.last[i], self.pi_0, self.memory[i])

    def take_over(self, i: int, j: int) -> None:
        """State i becomes state j, but keeps its own random numbers."""
        self.at(i).copy_from(self.at(j))

    @python_only
    def generators(self) -> np.ndarray | None:
        return self.bank.generators()

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        return {**self.bank.kept_arrays(), "last": self.last}
