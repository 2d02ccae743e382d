"""A response model of one's own: a careful person goes only a part of the way from the last prediction to the belief."""

from __future__ import annotations

from typing import Any, NamedTuple

from volatilis.behaviour import Positive, estimate, log_normal, response


@response
class Careful(NamedTuple):
    """N(last + (mean of the belief - last) / (1 + care), sd^2)."""

    sd: Positive
    care: Positive

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        if before == before:  # there is a last prediction
            mean = before + (mean - before) / (1.0 + self.care)
        return log_normal(given, mean, self.sd)
