"""Response models: how probable a person's response is, given what a learner believes at that moment.

    @response
    class Rounded(NamedTuple):           # one of your own: fields are its parameters, the method is the model
        sd: Positive
        def log_response(self, learner, state, given, before):
            return log_normal(given, round(estimate(learner, state, 0)), self.sd)

`given` is the response, `before` the person's last one (NaN if there is none). It runs as Python and as native code, as a learner
does.
"""

from volatilis._core.fields import Positive, Probability, Real
from volatilis.behaviour.responses._base import NonNegative, Share, estimate, response, uncertainty
from volatilis.behaviour.responses.choice import Arms, Softmax
from volatilis.behaviour.responses.prediction import (
    CircularNoise,
    Confidence,
    GaussianNoise,
    LaplaceNoise,
    UnderBelief,
    log_normal,
)
from volatilis.behaviour.responses.registry import ChoiceHabits, Habits
from volatilis.behaviour.responses.slider import CensoredNoise, TruncatedNoise

__all__ = [
    "Arms",
    "CensoredNoise",
    "ChoiceHabits",
    "CircularNoise",
    "Confidence",
    "GaussianNoise",
    "Habits",
    "LaplaceNoise",
    "NonNegative",
    "Positive",
    "Probability",
    "Real",
    "Share",
    "Softmax",
    "TruncatedNoise",
    "UnderBelief",
    "estimate",
    "log_normal",
    "response",
    "uncertainty",
]
