"""The record of a learner, and what learners of a kind have without saying so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import given_fields
from volatilis._core.records import (
    Parameter,
    first_sentence,
    parameters_of,
    parameters_of_new,
)
from volatilis.families._base import Family, Observation
from volatilis.families._kinds import LAST, UndefinedError
from volatilis.families._kinds import RECORDS as FAMILIES
from volatilis.learners._base import READOUTS, Info, Learner, LearnerOf, Live
from volatilis.learners._exact_step import exact_elapse, exact_step, room_after_step
from volatilis.learners._hypotheses import NOTHING, Hypotheses, hypotheses, set_count
from volatilis.learners._one_belief import OneBelief, one_belief
from volatilis.learners._recent import begin_anew, count_observation, counter, read_onset, read_recent_change
from volatilis.learners._recent_kept import Recent

FIRST_ROOM = 128  # for hypotheses whose number is not fixed; it doubles as needed


class Style(NamedTuple):
    """How a learner is drawn; `many` is its colour with twenty hypotheses, where their number matters."""

    colour: str
    mark: str
    line: str = "solid"  # or dash-dotted
    many: str | None = None


class LearnerRecord(NamedTuple):
    """What is known of a learner beside its code: lists, pages, figures, tuning and the command line read it.

    name             on the command line: message-passing
    title            in figures and in the tables of the paper, where the number of hypotheses follows: MP
    original         whether its figures say that it is the original of a mended learner
    aliases          other names on the command line
    place            in lists and legends, the lowest first; learners without one come last
    keeps            what its state holds, in words
    style            how it is drawn; None is grey
    tuned            the parameter that `tune` finds
    readouts         those of READOUTS that it defines
    samples          whether it draws random numbers
    outliers         whether it weighs that an observation may be an outlier (volatilis.Contaminated)
    made_for         the family that a learner makes itself, from parameters of its own
    from_family      those of them that it takes from a family of that kind where they are not given
    combines         whether it is made of another learner, and takes that and parameters of its own
    cls              the class; the decorator puts it here
    """

    name: str
    title: str
    original: bool = False
    aliases: tuple[str, ...] = ()
    place: int = LAST
    keeps: str = ""
    style: Style | None = None
    tuned: str | None = None
    readouts: tuple[str, ...] = READOUTS
    samples: bool = True  # as far as is known: it may draw from its state's generator
    outliers: bool = False
    made_for: type | None = None
    from_family: tuple[str, ...] = ()
    combines: bool = False
    cls: type = object

    @property
    def sentence(self) -> str:
        return first_sentence(self.cls)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """But for the family."""
        new = self.made_for is not None or self.combines
        return parameters_of_new(self.cls, self.from_family) if new else parameters_of(self.cls)

    def make(self, family: Family, values: Mapping[str, object]) -> Learner:
        """The learner for a family, with these values of its parameters."""
        if self.made_for is None:
            return self.cls(family=family, **values)
        if not isinstance(family, self.made_for):
            raise TypeError(f"{self.cls.__name__} is defined for the family {FAMILIES[self.made_for].name} only")
        shared = {name: value for name, value in given_fields(family).items() if name in self.from_family}
        return self.cls(**shared | dict(values))


RECORDS: dict[type, LearnerRecord] = {}


def record_of(cls: type) -> LearnerRecord:
    """The record of a learner's class; TypeError where it is none."""
    if cls not in RECORDS:
        raise TypeError(f"{cls.__name__} is not a learner, such as volatilis.VarSMiLe")
    return RECORDS[cls]


class _HasChangeProbability(Protocol):
    @property
    def p_c(self) -> float: ...


class _HasHypothesisCount(Protocol):
    @property
    def n(self) -> int: ...


class _ExactLearner(LearnerOf[Hypotheses], _HasChangeProbability, Protocol):
    def approximate(self, state: Hypotheses) -> None: ...


class Common:  # states are Any: with a type variable in every `self`, mypy would need minutes
    def read_mean(self: Learner, state: Any, k: int) -> float:
        return state.belief_mean(self.family, k)

    def read_variance(self: Learner, state: Any, k: int, mean: float) -> float:
        return state.belief_variance(self.family, k, mean)

    def read_moments(self: Learner, state: Any, means: np.ndarray, variances: np.ndarray) -> None:
        state.belief_moments(self.family, means, variances)

    def read_run_length(self: Learner, state: Any) -> float:
        return state.expected_run_length()

    def read_recent(self: Learner, state: Any) -> float:
        return np.nan

    def read_onset(self: Learner, state: Any, level: float) -> float:
        return np.nan

    def begin(self: Learner, state: Any) -> None:
        self.family.forget_past(state)
        self.restart(state)

    def observe(self: Learner, state: Any, y: Observation) -> Info:
        return self.family.take_in(self, state, y)

    def pass_unscored(self: Learner, state: Any) -> Info:
        self.elapse(state)
        return Info(np.nan, np.nan, np.nan)

    def pass_time(self: Learner, state: Any, y: Observation) -> None:
        self.let_pass(state)

    def let_pass(self: Learner, state: Any) -> None:
        self.family.forget_past(state)
        self.elapse(state)

    def has_room(self: Learner, state: Any) -> bool:
        return True

    @python_only
    def keep_recent(self: Learner, within: int) -> Recent:
        raise UndefinedError(
            f"{type(self).__name__} does not weigh times of changes, so it has no recent_change; "
            "ExactBayes(family, p_c) and Merge(family, p_c, n=20) have one"
        )

    @python_only
    def grow(self: Learner, state: Any) -> Any:
        raise UndefinedError(f"{type(self).__name__} does not define grow(state), which a state without room needs")

    @python_only
    def grows(self: Learner) -> bool:
        return False

    @python_only
    def readouts(self: Learner) -> tuple[str, ...]:
        return RECORDS[type(self)].readouts

    @python_only
    def samples(self: Learner) -> bool:
        return RECORDS[type(self)].samples

    @python_only
    def most_hypotheses(self: Learner) -> int | None:
        return 1

    @python_only
    def fewest_hypotheses(self: Learner) -> int:
        return 1

    @python_only
    def is_mixture(self: Learner) -> bool:
        return self.most_hypotheses() != 1

    @python_only
    def change_probability(self: _HasChangeProbability) -> float:
        return self.p_c

    def read_change_probability(self: Learner, state: Any) -> float:
        return np.nan

    @python_only
    def learns_change_probability(self: Learner) -> bool:
        return False

    @python_only
    def states_within(self: Learner, arrays: Mapping[str, np.ndarray]) -> list[tuple[Learner, dict[str, np.ndarray]]]:
        return [(self, dict(arrays))]

    @python_only
    def parts(self: Learner, state: Any) -> list[tuple[float, Family, Live]]:
        return [(1.0, self.family, state.live())]

    @python_only
    def check_observations(self: Learner, values: np.ndarray) -> None:
        """Takes all."""

    @python_only
    def refuses_observations(self: Learner) -> bool:
        return type(self).check_observations is not Common.check_observations


class _MadeOfLearner(LearnerOf[Any], Protocol):
    @property
    def learner(self) -> Learner: ...


class OfOneLearner:
    """What a bank of states of another learner has from that."""

    @python_only
    def samples(self: _MadeOfLearner) -> bool:
        return self.learner.samples()

    @python_only
    def grows(self: _MadeOfLearner) -> bool:
        return self.learner.grows()

    @python_only
    def is_mixture(self: _MadeOfLearner) -> bool:
        return True

    @python_only
    def refuses_observations(self: _MadeOfLearner) -> bool:
        return self.learner.refuses_observations()


class OneBeliefStart:
    @python_only
    def init(self: Learner, seed: int = 0, columns: int = 1) -> OneBelief:
        return one_belief(self.family, columns)

    def restart(self: Learner, state: OneBelief) -> None:
        self.family.prior(state.beliefs, state.i)
        state.run_lengths[state.i] = 0.0


class ExactThenApproximate:
    @python_only
    def init(self: _ExactLearner, seed: int = 0) -> Hypotheses:
        most = self.most_hypotheses()
        state = hypotheses(self.family, FIRST_ROOM if most is None else room_after_step(self.family, most), seed)
        self.restart(state)
        return state

    @python_only
    def most_hypotheses(self: _HasHypothesisCount) -> int | None:
        return self.n

    def restart(self: _ExactLearner, state: Hypotheses) -> None:
        """One hypothesis: nothing observed since the change that begins every sequence."""
        begin_anew(state)
        set_count(state, 1)
        state.weights[0] = 1.0
        state.run_lengths[0] = 0.0
        self.family.prior(state.beliefs, 0)

    def update(self: _ExactLearner, state: Hypotheses, y: Observation) -> Info:
        info = exact_step(self.family, self.p_c, state, y, NOTHING)
        count_observation(state)
        self.approximate(state)
        return info

    def elapse(self: _ExactLearner, state: Hypotheses) -> None:
        exact_elapse(self.family, self.p_c, state)
        self.approximate(state)

    def read_recent(self: _ExactLearner, state: Hypotheses) -> float:
        return read_recent_change(state)

    def read_onset(self: _ExactLearner, state: Hypotheses, level: float) -> float:
        return read_onset(state, level) if state.recent.is_kept() else np.nan

    @python_only
    def keep_recent(self: _ExactLearner, within: int) -> Recent:
        return counter(within)
