"""A learner that begins without numbers: its first observations are kept, what they suggest is estimated, and then it learns.

Every key has parameters of its own. A state whose first observations are complete has no room: making room (`grow`) is estimating
its parameters and taking those observations in. So streams of many keys, their state files and restarts need nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._compiler.registry import compiled_methods, python_only
from volatilis._core.fields import Count, derived, validated
from volatilis.estimation import Environment, check_model, estimate
from volatilis.estimation.texts import candidates
from volatilis.estimation.words import OFTEN
from volatilis.families._base import Beliefs, Observation, prior_beliefs
from volatilis.families._kinds import RECORDS
from volatilis.learners._bank import BankOfStates, member, stacked, with_room
from volatilis.learners._base import NO_MEMORY, Info, Learner
from volatilis.learners._grids import parameter_places, value_of, with_values
from volatilis.learners._kinds import AnyLearner, LearnerRecord, LearnerTuple, combinator

NO_CHANGE = ("no change", "changes from noise", "p_c is not identified")  # in the notes of an estimate that saw none
VAGUE = 30.0  # the upper end of an interval of p_c over the lower: beyond, changes smaller than the noise are as good as none
NOT_IDENTIFIED = " is not identified"  # in the notes of an estimate, after the name of a parameter
WIDE = 10.0  # standard deviations of the noise: how large changes are taken to be where there was none to learn from
STILL = 1e-3  # the noise that is assumed of numbers that do not vary, as a share of their size


@compiled_methods
class Warming(NamedTuple):
    """The first observations, how many, whether parameters are known; the learner with them, a bank of one; its state.

    `doubts` are 0 or 1: whether no change stood out among the first observations; of each parameter, whether they left it open.
    """

    buffer: np.ndarray
    seen: np.ndarray
    known: np.ndarray
    doubts: np.ndarray
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
        return {"buffer": self.buffer, "seen": self.seen, "known": self.known, "doubts": self.doubts, **numbers, **prior, **inner}

    @python_only
    def many(self, count: int) -> BankOfStates:
        return BankOfStates(with_room(self, list(self.kept_arrays().values()), count))


def _arrays(value: object) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [array for item in value for array in _arrays(item)]
    return [value] if isinstance(value, np.ndarray) else []


def _saw_no_change(found: Environment) -> bool:
    """Whether an estimate tells of no change; or only of such as are smaller than the noise, at a rate that is anyone's guess, or
    come at every second observation."""
    if any(sign in note for note in found.notes for sign in NO_CHANGE):
        return True
    names = {one.name for one in found.estimates}
    if not {"sigma", "sigma_0", "p_c"} <= names:
        return False
    p_c, small = found["p_c"], found["sigma_0"].value < found["sigma"].value
    return p_c.value > OFTEN or (small and p_c.high > VAGUE * p_c.low)


class _Given(NamedTuple):
    learner: AnyLearner
    lines: Count
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
    """

    if TYPE_CHECKING:
        learner: Learner
        lines: int
        family: Any

        def __init__(self, learner: Learner, lines: int) -> None: ...

    @staticmethod
    def _derive(learner: Learner, lines: int) -> dict[str, object]:
        return {"family": learner.family}

    def __repr__(self) -> str:
        return f"WarmUp({self.learner!r}, lines={self.lines})"

    # --- compiled --------------------------------------------------------------------------------------------------------

    def restart(self, state: Warming) -> None:
        state.seen[0] = 0.0
        state.known[0] = 0.0

    def update(self, state: Warming, y: Observation) -> Info:
        if state.known[0] == 0.0:
            state.buffer[int(state.seen[0])] = y
            state.seen[0] += 1.0
            return Info(np.nan, np.nan, np.nan)
        return member(state.own, 0).update(state.inner, y)

    def elapse(self, state: Warming) -> None:
        if state.known[0] != 0.0:
            member(state.own, 0).elapse(state.inner)

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
        inner = self.learner.init(seed)
        dtype = self.family.observations([])[0].dtype
        return Warming(
            np.zeros(self.lines, dtype=dtype),
            np.zeros(1),
            np.zeros(1),
            np.zeros(1 + len(parameter_places(self.learner))),
            stacked([self.learner]),
            inner,
            prior_beliefs(self.family),
        )

    @python_only
    def grow(self, state: Warming) -> Warming:
        """The parameters from what is kept, and a learner with them that has taken it in."""
        if state.known[0] != 0.0 or state.seen[0] < self.lines:
            return state
        learner, doubts = self.suggested(state.buffer)
        inner = learner.init(0)
        for y in state.buffer:
            learner.update(inner, y)
        own = stacked([learner])
        return state._replace(known=np.ones(1), doubts=doubts, own=own, inner=inner)

    @python_only
    def suggested(self, values: np.ndarray) -> tuple[Learner, np.ndarray]:
        """The learner with what these observations suggest, and the doubts about it."""
        places = list(parameter_places(self.learner))
        try:
            found: Environment = estimate(values, type(self.family), check=False, workers=1, **self._given())
        except ValueError:  # they do not vary
            size = max(abs(float(values[0])), 1.0) * STILL
            still = {"sigma": size, "mu_0": float(values[0]), "sigma_0": 100.0 * size}
            return with_values(self.learner, {name: still[name] for name in still if name in places}), np.zeros(1 + len(places))
        learner: Learner = self.learner._replace(family=found.family, p_c=found.p_c)  # type: ignore[attr-defined]
        unseen = _saw_no_change(found)
        vague = [name + NOT_IDENTIFIED in " ".join(found.notes) or (name == "p_c" and unseen) for name in places]
        if not unseen or not {"sigma", "sigma_0"} <= set(places):
            return learner, np.array([0.0, *vague])
        # Nobody saw how large a change is, nor how often one comes: larger ones than the noise are what matters, and rare
        sigma, sigma_0 = value_of(learner, "sigma"), value_of(learner, "sigma_0")
        sigma = math.hypot(sigma, sigma_0) if found.p_c > OFTEN else sigma  # levels that hardly last are noise
        rare = min(found.p_c, 1.0 / self.lines)
        learner = with_values(learner, {"sigma": sigma, "sigma_0": max(sigma_0, WIDE * sigma), "p_c": rare})
        return learner, np.array([1.0, *vague])

    @python_only
    def _given(self) -> dict[str, Any]:
        """What a family must be given: how many categories, a period."""
        fields = self.family._asdict()
        return {name: fields[name] for name in ("k", "period") if name in fields}

    @python_only
    def announcement(self, keyed: bool) -> str:
        """What is told at the start."""
        of = " of each key" if keyed else ""
        return (
            f"the first {self.lines} observations{of} are learned from, and nothing is predicted until then; --learn N takes "
            "another number, and --environment FILE, or --family and --learner with their parameters, none"
        )

    @python_only
    def words(self, state: Any) -> list[str]:
        """What was found, and what is wrong with it, in words."""
        learner, values = member(state.own, 0), state.buffer
        found = ", ".join(f"{name} = {value_of(learner, name):.4g}" for name in parameter_places(learner))
        if np.all(values == values[0]):
            return [f"all of the first {self.lines} observations are {values[0]}, so their noise is a guess: {found}"]
        texts = [f"learned from the first {self.lines} observations: {found}"]
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
        likely = candidates(values)[0]
        if likely != RECORDS[type(learner.family)].name and likely in ("bernoulli", "poisson"):
            kind = "0 or 1" if likely == "bernoulli" else "counts"
            texts.append(f"warning: all of them are {kind}; --family {likely}:auto is made for these")
        if not learner.family.lacks("predictive_cdf"):
            texts += [
                f"warning: {one.kind}: {one}" for one in check_model(learner.family, [values], value_of(learner, "p_c")).misfits
            ]
        return texts

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
        flags = np.append(known, arrays["doubts"])
        if not np.isin(flags, (0.0, 1.0)).all() or (seen < 0.0).any() or (seen > self.lines).any() or (seen % 1.0).any():
            raise ValueError("a warm-up that cannot be")
        inner = {name.removeprefix("inner_"): array for name, array in arrays.items() if name.startswith("inner_")}
        return [(self.learner, inner)]
