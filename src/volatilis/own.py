"""What a family, a learner or a response model of one's own is written with.

    from volatilis.own import AnyFamily, Info, Probability, learner_with_one_belief

    @learner_with_one_belief
    class Forgetful(NamedTuple): ...

A class is known to `run`, `Model.parse` and all others as soon as it is defined; the commands find it with --own FILE.py. See
docs/how-to/own.md.
"""

from volatilis._compiler.registry import compiled_function, python_only
from volatilis._core.fields import Count, Positive, Probability, Real
from volatilis._core.records import LINEAR, LOG, LOGIT, Choices, Range
from volatilis.behaviour.responses import NonNegative, Share, estimate, log_normal, response, uncertainty
from volatilis.behaviour.responses._base import Moment
from volatilis.families import Beliefs, family, scalar_family
from volatilis.families._base import AcceptedNumbers, Observation
from volatilis.families._kinds import AnyFamily, FamilyRecord
from volatilis.families._observations import real_observations, whole_observations
from volatilis.learners._base import Info
from volatilis.learners._hypotheses import Hypotheses
from volatilis.learners._kinds import (
    LearnerRecord,
    Style,
    learner,
    learner_with_hypotheses,
    learner_with_one_belief,
)
from volatilis.learners._one_belief import OneBelief, relax

__all__ = [
    "LINEAR",
    "LOG",
    "LOGIT",
    "AcceptedNumbers",
    "AnyFamily",
    "Beliefs",
    "Choices",
    "Count",
    "FamilyRecord",
    "Hypotheses",
    "Info",
    "LearnerRecord",
    "Moment",
    "NonNegative",
    "Observation",
    "OneBelief",
    "Positive",
    "Probability",
    "Range",
    "Real",
    "Share",
    "Style",
    "compiled_function",
    "estimate",
    "family",
    "learner",
    "learner_with_hypotheses",
    "learner_with_one_belief",
    "log_normal",
    "python_only",
    "real_observations",
    "relax",
    "response",
    "scalar_family",
    "uncertainty",
    "whole_observations",
]
