"""What the paper says on the two experimental predictions: Figures 10 and 11, and its two tables of hypotheses."""

from __future__ import annotations

from volatilis.paper.claims.surprise import constant_one, no_sign_effect, shannon_falls, sign_effect, sign_effect_slope
from volatilis.paper.claims.views import Check, Statement


def first(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Experimental prediction, Prediction 1, Figure 10B"
    return Statement(f"prediction-1-{key}", "prediction1", "10", where, statement, published, check)


def second(key: str, statement: str, published: str, check: Check) -> Statement:
    where = "Results, Experimental prediction, Prediction 2, Figure 11B"
    return Statement(f"prediction-2-{key}", "prediction2", "11", where, statement, published, check)


STATEMENTS = (
    first(
        "bayes-factor",
        "The Bayes Factor Surprise is lower for positive than for negative sign bias, for Nas12* and pf20.",
        "difference below 0",
        sign_effect("bayes_factor", -1),
    ),
    first(
        "bayes-factor-slope",
        "That difference grows in size with the prediction error delta.",
        "slope below 0",
        sign_effect_slope("bayes_factor", -1),
    ),
    first(
        "shannon",
        "The Shannon Surprise is higher for positive than for negative sign bias, for Nas12* and pf20.",
        "difference above 0",
        sign_effect("shannon", 1),
    ),
    first(
        "shannon-slope",
        "That difference grows with the prediction error delta.",
        "slope above 0",
        sign_effect_slope("shannon", 1),
    ),
    first(
        "prior-unused",
        "If the prior is not used for inference there is no difference between the sign biases (here: sigma_0 = 1000).",
        "difference 0 (Table 1)",
        no_sign_effect,
    ),
    second(
        "bayes-factor",
        "Where prior and belief give an observation the same probability p, the Bayes Factor Surprise is 1 whatever p is.",
        "constant, equal to 1",
        constant_one,
    ),
    second("shannon", "There the Shannon Surprise falls as p grows.", "slope below 0", shannon_falls),
)
