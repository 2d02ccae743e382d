"""A learner that does not know its parameters: many of it, each with its own, weighted by how well they predict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from volatilis._compiler.registry import python_only
from volatilis._core.fields import given_fields, validated
from volatilis.families._base import Beliefs, Family, Observation, prior_beliefs
from volatilis.learners._average import (
    LEAST_LOG,
    LOG_P_C,
    LOG_STAY,
    P_C,
    STAY,
    Average,
    Forgetting,
    OnGrid,
    PriorCount,
    bank_of,
    drift,
    log_joint,
    log_sum,
    member_parts,
    member_states,
)
from volatilis.learners._bank import member, stacked
from volatilis.learners._base import Info, Learner
from volatilis.learners._defaults import OfOneLearner
from volatilis.learners._grids import Unknown, checked_names, parameter_places, points_of, with_values
from volatilis.learners._kinds import LearnerRecord, LearnerTuple, Style, combinator
from volatilis.special import exp, log

if TYPE_CHECKING:
    _Fields = LearnerTuple
else:
    _Fields = validated(OnGrid)


@combinator(
    LearnerRecord(
        name="averaged",
        title="Averaged",
        place=45,
        keeps="one state of its learner per value of the unknown parameters",
        combines=True,
        style=Style("#7a4b00", "P"),
    ),
    OfOneLearner,
)
class Averaged(_Fields):
    """A learner with unknown parameters: one of it per value on a grid, and W_k, the probability of value k.

        W_k <- W_k ((1 - p_k) P_k(y) + p_k P_0k(y)) / Z
        p = sum W_k p_k,   P = sum W_k (1 - p_k) P_k / (1 - p),   P_0 = sum W_k p_k P_0k / p

    P_k and P_0k are what learner k expects of y without a change and after one, p_k is its p_c. Surprises and gamma follow from
    p, P and P_0; mean, variance and run length are those of the mixture. With `ExactBayes(cutoff=0)` this is exact inference for
    parameters that are constant and on the grid. With forget > 0 they may change: W <- (1 - forget) W + forget W_0 before each
    step, as if they were drawn anew with that probability.

        learner         such as vl.Merge(family, p_c=0.1, n=10); the parameters that are not unknown are its own
        weights         W_0, the prior probability of each point of the grid; None is uniform
        forget          the probability, at each step, that the parameters are drawn anew
        prior_changes   with prior_stays: p_c has a Beta prior, as if so many changes and so many steps without one had been
        prior_stays     seen before; p_c="unknown" then is 20 values (Gauss-Jacobi) that integrate over it
        parameters      of the learner or its family, by name: the values to weigh; "unknown" or vl.Unknown(...) is a default grid

    >>> import volatilis as vl
    >>> learner = vl.Averaged(vl.Merge(vl.Gaussian(sigma=0.5, sigma_0=2.0), p_c=0.1, n=2), p_c=[0.01, 0.1, 0.3])
    >>> vl.run(learner, [0.2, -0.1, 3.0, 3.2]).parameter("p_c").mean.round(3)
    array([0.137, 0.127, 0.238, 0.227])
    """

    if TYPE_CHECKING:
        learner: Learner
        places: np.ndarray
        values: np.ndarray
        weights: np.ndarray
        forget: float
        family: Any
        bank: Any
        chances: np.ndarray

        def __init__(
            self,
            learner: Learner,
            *,
            weights: npt.ArrayLike | None = None,
            forget: float = 0.0,
            prior_changes: float = 0.0,
            prior_stays: float = 0.0,
            **parameters: str | Unknown | npt.ArrayLike,
        ) -> None: ...
    else:

        def __new__(
            cls,
            learner: Learner,
            *,
            weights: npt.ArrayLike | None = None,
            forget: Forgetting = 0.0,
            prior_changes: PriorCount = 0.0,
            prior_stays: PriorCount = 0.0,
            **parameters: npt.ArrayLike,
        ) -> Any:
            places, points, usual = points_of(learner, parameters, (prior_changes, prior_stays))
            if weights is not None and (prior_changes or prior_stays):
                raise ValueError("Averaged: prior_changes and prior_stays make weights of their own; give these or weights")
            weights = usual if weights is None else np.array(weights, dtype=float).ravel()
            whole = weights.sum()
            return super().__new__(cls, learner, places, points, weights / (whole if whole > 0.0 else 1.0), forget)

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Averaged:
        learner, places, points, weights, forget, *_ = values
        return super().__new__(cls, learner, places, points, weights, forget)  # type: ignore[call-arg]

    @staticmethod
    def _derive(
        learner: Learner, places: np.ndarray, values: np.ndarray, weights: np.ndarray, forget: float
    ) -> dict[str, object]:
        names = checked_names(learner, places, values, weights)
        learners = [with_values(learner, dict(zip(names, point, strict=True))) for point in values.tolist()]
        p_c = np.array([one.change_probability() for one in learners])
        chances = np.stack([p_c, 1.0 - p_c, np.log(p_c), np.log1p(-p_c)])
        return {"family": learner.family, "bank": stacked(learners), "chances": chances}

    def __reduce__(self) -> tuple[Any, ...]:
        return Averaged._make, (list(given_fields(self).values()),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Averaged) or (self.learner, self.forget) != (other.learner, other.forget):
            return False
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("places", "values", "weights"))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Averaged, self.learner, self.values.tobytes(), self.weights.tobytes(), self.forget))

    def __repr__(self) -> str:
        shown = [f"{name}={self.grid(name).tolist()}" for name in self.parameters()]
        shown += [f"weights={self.weights.tolist()}"] if np.ptp(self.weights) > 0.0 else []
        shown += [f"forget={self.forget}"] if self.forget > 0.0 else []
        return f"Averaged({self.learner!r}, {', '.join(shown)})"

    # --- compiled --------------------------------------------------------------------------------------------------------

    def restart(self, state: Average) -> None:
        for k in range(state.shares.size):
            learner, one = member(self.bank, k), member(state.members, k)
            learner.family.prior(one.pi_0, 0)  # in a fit its parameters may have changed
            learner.restart(one)
            state.shares[k] = self.weights[k]
            state.log_shares[k] = log(self.weights[k])
        state.last[0] = 0.0

    def update(self, state: Average, y: Observation) -> Info:
        count, w = state.shares.size, state.log_shares
        drift(state, self.weights, self.forget)
        stay, change = state.scratch[0], state.scratch[1]
        # log W_k (1 - p_k) P_k and log W_k p_k P_0k
        for k in range(count):
            info = member(self.bank, k).update(member(state.members, k), y)
            stay[k], change[k] = info.log_p, info.log_p_0
        p, q = 0.0, 0.0  # p_c and 1 - p_c of the mixture
        for k in range(count):
            p += state.shares[k] * self.chances[P_C, k]
            q += state.shares[k] * self.chances[STAY, k]
            stay[k] += w[k] + self.chances[LOG_STAY, k]
            change[k] += w[k] + self.chances[LOG_P_C, k]
        state.last[0] = p
        log_stay, log_change = log_sum(stay, count), log_sum(change, count)
        log_odds = log_change - log_stay
        evidence = log_joint(log_stay, log_change)
        # W_k <- W_k ((1 - p_k) P_k + p_k P_0k) / Z
        for k in range(count):
            weight = log_joint(stay[k], change[k]) - evidence
            w[k] = weight if weight > LEAST_LOG else LEAST_LOG
            state.shares[k] = exp(w[k])
        gamma = 1.0 / (1.0 + exp(-log_odds)) if log_odds > 0.0 else exp(log_odds) / (1.0 + exp(log_odds))
        return Info(log_stay - log(q), log_change - log(p), gamma)

    def elapse(self, state: Average) -> None:
        drift(state, self.weights, self.forget)
        state.last[0] = 0.0
        for k in range(state.shares.size):
            state.last[0] += state.shares[k] * self.chances[P_C, k]
            member(self.bank, k).elapse(member(state.members, k))

    def has_room(self, state: Average) -> bool:
        room = True
        for k in range(state.shares.size):
            room = room and member(self.bank, k).has_room(member(state.members, k))
        return room

    def read_mean(self, state: Average, k: int) -> float:
        self.read_members(state, k)
        return self.family.pooled_mean(state.scratch[0], state.scratch[1], state.shares, state.shares.size)

    def read_variance(self, state: Average, k: int, mean: float) -> float:
        self.read_members(state, k)
        return self.family.pooled_variance(state.scratch[0], state.scratch[1], state.shares, state.shares.size, mean)

    def read_moments(self, state: Average, means: np.ndarray, variances: np.ndarray) -> None:
        one, two, w, count = state.scratch[0], state.scratch[1], state.shares, state.shares.size
        for k in range(self.family.size()):
            self.read_members(state, k)
            means[k] = self.family.pooled_mean(one, two, w, count)
            if variances.size > 0:
                variances[k] = self.family.pooled_variance(one, two, w, count, means[k])

    def read_members(self, state: Average, k: int) -> None:
        """Mean and variance of theta_k of every member, in `scratch`."""
        for i in range(state.shares.size):
            learner, one = member(self.bank, i), member(state.members, i)
            mean = learner.read_mean(one, k)
            state.scratch[0, i] = mean
            state.scratch[1, i] = learner.read_variance(one, k, mean)

    def read_run_length(self, state: Average) -> float:
        result = 0.0
        for k in range(state.shares.size):
            result += state.shares[k] * member(self.bank, k).read_run_length(member(state.members, k))
        return result

    def read_change_probability(self, state: Average) -> float:
        return state.last[0]

    # --- Python only -----------------------------------------------------------------------------------------------------

    @python_only
    def init(self, seed: int = 0) -> Average:
        count = len(self.weights)
        members = bank_of([member(self.bank, k).init(seed) for k in range(count)])
        room = (np.zeros(1), np.zeros((2, count)), prior_beliefs(self.family), np.zeros(self.family.memory_size()))
        state = Average(np.zeros(count), np.zeros(count), members, *room)
        self.begin(state)
        return state

    @python_only
    def grow(self, state: Average) -> Average:
        members = [member(self.bank, k).grow(member(state.members, k)) for k in range(len(self.weights))]
        return state._replace(members=bank_of(members))

    @python_only
    def parameters(self) -> tuple[str, ...]:
        """The names of the unknown parameters."""
        names = list(parameter_places(self.learner))
        return tuple(names[place] for place in self.places)

    @python_only
    def points(self, name: str) -> np.ndarray:
        """The value of an unknown parameter at each point of the grid."""
        if name not in self.parameters():
            raise ValueError(f"{name!r} is not among what this learner learns: {', '.join(self.parameters())}")
        return self.values[:, self.parameters().index(name)]

    @python_only
    def grid(self, name: str) -> np.ndarray:
        """The values of an unknown parameter, in their order."""
        return np.unique(self.points(name))

    @python_only
    def learns_change_probability(self) -> bool:
        return True

    @python_only
    def change_probability(self) -> float:
        """Before the first observation."""
        return float(self.weights @ self.chances[P_C])

    @python_only
    def readouts(self) -> tuple[str, ...]:
        return (*self.learner.readouts(), "change_probability")

    @python_only
    def most_hypotheses(self) -> int | None:
        most = self.learner.most_hypotheses()
        return None if most is None else most * len(self.weights)

    @python_only
    def check_observations(self, values: np.ndarray) -> None:
        for k in range(len(self.weights) if self.learner.refuses_observations() else 0):
            member(self.bank, k).check_observations(values)

    @python_only
    def states_within(self, arrays: Mapping[str, np.ndarray]) -> list[tuple[Learner, dict[str, np.ndarray]]]:
        return member_states(self.family, self.bank, len(self.weights), arrays)

    @python_only
    def parts(self, state: Average) -> list[tuple[float, Family, tuple[np.ndarray, np.ndarray, Beliefs]]]:
        """Of every member its weight, its family and its live hypotheses."""
        return member_parts(self.bank, state)
