"""How sure a person says to be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from volatilis._compiler.registry import python_only
from volatilis._core.fields import Real
from volatilis._core.records import LINEAR, LOG, Range
from volatilis.behaviour.responses._base import Moment, Noise, NonNegative, needs_variance, response, uncertainty
from volatilis.behaviour.responses.prediction import log_normal
from volatilis.special import log

if TYPE_CHECKING:
    from volatilis.learners._base import Learner, LearnerOf, S


@response
class Confidence(NamedTuple):
    """A report of confidence: N(level - slope * log(SD of the belief), sd^2): the surer, the higher."""

    sd: Noise
    level: Annotated[Real, Range(LINEAR, -1e3, 1e3, -2.0, 2.0)] = 0.0
    slope: Annotated[NonNegative, Range(LOG, 1e-4, 1e4, 0.1, 3.0)] = 1.0

    def log_response(self, learner: LearnerOf[S], state: S, given: float, before: float) -> float:
        return log_normal(given, self.level - self.slope * log(uncertainty(learner, state, 0)), self.sd)

    @python_only
    def draw(self, moment: Moment, rng: np.random.Generator) -> float:
        return rng.normal(self.level - self.slope * math.log(moment.sd[0]), self.sd)

    @python_only
    def check_learner(self, learner: Learner) -> None:
        needs_variance(self, learner)
