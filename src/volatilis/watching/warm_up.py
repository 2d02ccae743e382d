"""A learner that begins without numbers: its first observations are kept, what they suggest is estimated, and then it learns.

Every key has parameters of its own. A state whose first observations are complete has no room: making room (`grow`) is estimating
its parameters and taking those observations in. So streams of many keys, their state files and restarts need nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_methods, python_only
from volatilis._core.fields import Count, derived, validated
from volatilis.estimation import check_model
from volatilis.estimation.evidence import Data, taken_in
from volatilis.estimation.texts import candidates
from volatilis.estimation.unseen import WIDE
from volatilis.families._base import Beliefs, Observation, prior_beliefs
from volatilis.families._kinds import RECORDS
from volatilis.learners._bank import BankOfStates, member, stacked, with_room
from volatilis.learners._base import NO_MEMORY, Info, Learner
from volatilis.learners._grids import parameter_places, value_of
from volatilis.learners._kinds import AnyLearner, LearnerRecord, LearnerTuple, combinator
from volatilis.watching.choosing import CHOICES, GUESS, guessed, suggested, templates

FARTHEST = 1.7e308  # stands for no bound in a state, whose numbers are finite


@compiled_methods
class Warming(NamedTuple):
    """The first observations, how many, whether parameters are known; the learner with them, a bank of one; its state.

    `doubts` are 0 or 1: whether no change stood out among the first observations; of each parameter, whether they left it open.
    `kind` is 0 before, then 1 and the place of the family among those that are chosen from; `behind` the nats by which each of
    them is behind the best; `support` the smallest and the largest number that the family takes, and 1 where only whole ones.
    """

    buffer: np.ndarray
    seen: np.ndarray
    known: np.ndarray
    doubts: np.ndarray
    kind: np.ndarray
    behind: np.ndarray
    support: np.ndarray
    row: np.ndarray
    own: Any
    inner: Any
    pi_0: Beliefs
    memory: np.ndarray = NO_MEMORY

    @property
    def beliefs(self) -> Beliefs:
        return self.inner.beliefs

    @property
    def run_lengths(self) -> np.ndarray:
        return self.inner.run_lengths

    @python_only
    def generator(self) -> None:
        """None: nothing here is random."""

    @python_only
    def kept_arrays(self) -> dict[str, np.ndarray]:
        numbers = {f"own_{i}": array for i, array in enumerate(_arrays(self.own))}
        inner = {f"inner_{name}": array for name, array in self.inner.kept_arrays().items()}
        prior = {"prior_chi": self.inner.pi_0.chi, "prior_nu": self.inner.pi_0.nu}  # every key has its own
        arrays = {name: getattr(self, name) for name in ("buffer", "seen", "known", "doubts", "kind", "behind", "support")}
        return {**arrays, **numbers, **prior, **inner}

    @python_only
    def many(self, count: int) -> BankOfStates:
        return BankOfStates(with_room(self, list(self.kept_arrays().values()), count))


def _support(learner: Learner) -> np.ndarray:
    accepted = learner.family.accepted_numbers()
    if accepted is None:
        return np.array([-FARTHEST, FARTHEST, 0.0])
    return np.array([max(accepted.low, -FARTHEST), min(accepted.high, FARTHEST), float(accepted.whole)])


def _arrays(value: object) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [array for item in value for array in _arrays(item)]
    return [value] if isinstance(value, np.ndarray) else []


class _Given(NamedTuple):
    learner: AnyLearner
    lines: Count
    choices: Count = 1
    family: Any = derived()


if TYPE_CHECKING:
    _Fields = LearnerTuple
else:
    _Fields = validated(_Given)


@combinator(LearnerRecord(name="warm-up", title="WarmUp", samples=False, combines=True))
class WarmUp(_Fields):
    """A learner whose parameters are estimated from its first observations.

    learner   with some parameters; of its family the class counts
    lines     how many observations are kept and estimated from; until then it predicts nothing
    choices   1: the family is the learner's; more: the observations choose among so many
    """

    if TYPE_CHECKING:
        learner: Learner
        lines: int
        choices: int
        family: Any

        def __init__(self, learner: Learner, lines: int, choices: int = 1) -> None: ...

    @staticmethod
    def _derive(learner: Learner, lines: int, choices: int) -> dict[str, object]:
        return {"family": learner.family}

    def __repr__(self) -> str:
        return f"WarmUp({self.learner!r}, lines={self.lines}{f', choices={self.choices}' if self.choices > 1 else ''})"

    # --- compiled --------------------------------------------------------------------------------------------------------

    def restart(self, state: Warming) -> None:
        state.seen[0] = 0.0
        state.known[0] = 0.0

    def update(self, state: Warming, y: Observation) -> Info:
        if state.known[0] == 0.0:
            state.buffer[int(state.seen[0])] = y
            state.seen[0] += 1.0
            return Info(np.nan, np.nan, np.nan)
        learner, low, high, whole = member(state.own, 0), state.support[0], state.support[1], state.support[2] != 0.0
        if y < low or y > high or (whole and y % 1.0 != 0.0):  # nothing that the family could have made: as if it were missing
            learner.let_pass(state.inner)
            return Info(np.nan, np.nan, np.nan)
        state.row[0] = y
        return learner.observe(state.inner, learner.family.in_row(state.row, 0))

    def elapse(self, state: Warming) -> None:
        if state.known[0] != 0.0:
            member(state.own, 0).let_pass(state.inner)

    def has_room(self, state: Warming) -> bool:
        return state.known[0] != 0.0 or state.seen[0] < self.lines

    def read_mean(self, state: Warming, k: int) -> float:
        return member(state.own, 0).read_mean(state.inner, k) if state.known[0] != 0.0 else np.nan

    def read_variance(self, state: Warming, k: int, mean: float) -> float:
        return member(state.own, 0).read_variance(state.inner, k, mean) if state.known[0] != 0.0 else np.nan

    def read_moments(self, state: Warming, means: np.ndarray, variances: np.ndarray) -> None:
        for k in range(self.family.size()):
            means[k] = self.read_mean(state, k)
            if variances.size > 0:
                variances[k] = self.read_variance(state, k, means[k])

    def read_run_length(self, state: Warming) -> float:
        return member(state.own, 0).read_run_length(state.inner) if state.known[0] != 0.0 else 0.0

    def read_change_probability(self, state: Warming) -> float:
        return member(state.own, 0).p_c if state.known[0] != 0.0 else np.nan

    # --- Python only -----------------------------------------------------------------------------------------------------

    @python_only
    def init(self, seed: int = 0) -> Warming:
        return self._state(self.learner, seed)

    @python_only
    def _state(self, learner: Learner, seed: int = 0, kind: int = 0) -> Warming:
        dtype = self.family.observations([])[0].dtype
        return Warming(
            np.zeros(self.lines, dtype=dtype),
            np.zeros(1),
            np.zeros(1),
            np.zeros(1 + len(parameter_places(learner))),
            np.full(1, float(kind)),
            np.zeros(len(CHOICES)),
            _support(learner),
            np.zeros(1),
            stacked([learner]),
            learner.init(seed),
            prior_beliefs(learner.family),
        )

    @python_only
    def example(self, kind: int) -> Warming:
        """A state as those have it whose family is this one, from 1; 0: before that is known."""
        return self._state(self._learners()[kind - 1] if kind else self.learner, kind=kind)

    @python_only
    def _learners(self) -> list[Learner]:
        return templates(self.learner) if self.choices > 1 else [self.learner]

    @python_only
    def grow(self, state: Warming) -> Warming:
        """The parameters from what is kept, and a learner with them that has taken it in."""
        if state.known[0] != 0.0 or state.seen[0] < self.lines:
            return state
        learner, doubts, choice, behind = suggested(self.learner, state.buffer, self.choices > 1)
        steps = np.zeros(self.lines, dtype=np.uint8)
        inner, _ = taken_in(learner, learner.init(0), Data(self._encoded(learner, state.buffer), steps, steps))
        fresh = self._state(learner, kind=choice + 1)
        fresh = fresh._replace(buffer=state.buffer, seen=state.seen, known=np.ones(1))
        return fresh._replace(doubts=doubts, behind=behind, inner=inner)

    @python_only
    def _encoded(self, learner: Learner, values: np.ndarray) -> np.ndarray:
        """As the learner's family has them, where it was chosen."""
        return learner.family.observations(values)[0] if self.choices > 1 else values

    @python_only
    def announcement(self, keyed: bool) -> str:
        """What is told at the start."""
        of = " of each key" if keyed else ""
        return (
            f"parameters are estimated from the first {self.lines} observations{of}, and nothing is predicted until then; "
            "--learn N changes that number, and with --environment FILE, or with all parameters given, nothing is estimated"
        )

    @python_only
    def words(self, state: Any) -> list[str]:
        """What was found, and what is wrong with it, in words."""
        learner, values = member(state.own, 0), state.buffer
        learned = ", ".join(f"{name} = {value_of(learner, name):.4g}" for name in parameter_places(learner))
        if state.doubts[0] == GUESS:
            return [guessed(values, learned)]
        texts = [f"learned from the first {self.lines} observations: {self._family_words(state)}{learned}"]
        vague = [name for name, doubt in zip(parameter_places(learner), state.doubts[1:], strict=True) if doubt]
        if state.doubts[0]:
            texts[0] += (
                " (no change stands out from the noise among them, so p_c and sigma_0 are not identified: sigma_0 is taken to be "
                f"{WIDE:g} sigma, and p_c at most 1/{self.lines})"
            )
        elif vague:
            texts[0] += (
                f" ({' and '.join(vague)} {'is' if len(vague) == 1 else 'are'} not identified: these observations say next to "
                f"nothing about {'it' if len(vague) == 1 else 'them'}; --learn N takes more)"
            )
        likely = candidates([values])[0]
        if self.choices == 1 and likely != RECORDS[type(learner.family)].name and likely in ("bernoulli", "poisson"):
            kind = "0 or 1" if likely == "bernoulli" else "counts"
            texts.append(f"warning: all of them are {kind}; --family {likely}:auto is made for these")
        if not learner.family.lacks("predictive_cdf"):
            found_misfits = check_model(learner.family, [self._encoded(learner, values)], value_of(learner, "p_c")).misfits
            texts += [f"warning: {one.kind}: {one}" for one in found_misfits]
        return texts

    @python_only
    def _family_words(self, state: Any) -> str:
        """Which family was chosen, and why."""
        if self.choices == 1:
            return ""
        nats = {text: float(one) for text, one in zip(CHOICES, state.behind, strict=True) if one >= 0.0}
        chosen = CHOICES[int(state.kind[0]) - 1]
        others = [f"{text} {nats[chosen] - one:+.1f}" for text, one in nats.items() if text != chosen]
        return f"{chosen} (log evidence of others, less its own: {', '.join(others)}): " if others else f"{chosen}: "

    @python_only
    def grows(self) -> bool:
        return True

    @python_only
    def learns_change_probability(self) -> bool:
        return True

    @python_only
    def change_probability(self) -> float:
        return self.learner.change_probability()

    @python_only
    def readouts(self) -> tuple[str, ...]:
        return (*self.learner.readouts(), "change_probability")

    @python_only
    def most_hypotheses(self) -> int | None:
        return self.learner.most_hypotheses()

    @python_only
    def states_within(self, arrays: Mapping[str, np.ndarray]) -> list[tuple[Learner, dict[str, np.ndarray]]]:
        seen, known = arrays["seen"], arrays["known"]
        known_flags, doubts = np.isin(known, (0.0, 1.0)).all(), np.isin(arrays["doubts"], (0.0, 1.0, GUESS)).all()
        if not (known_flags and doubts) or (seen < 0.0).any() or (seen > self.lines).any() or (seen % 1.0).any():
            raise ValueError("an impossible warm-up")
        inner = {name.removeprefix("inner_"): array for name, array in arrays.items() if name.startswith("inner_")}
        kinds = np.unique(arrays["kind"]).tolist()
        learners = self._learners()
        if len(kinds) > 1 or not all(kind in range(len(learners) + 1) for kind in kinds):
            raise ValueError("an impossible warm-up")
        learner = learners[int(kinds[0]) - 1] if kinds and kinds[0] else self.learner
        return [(learner, inner)]
