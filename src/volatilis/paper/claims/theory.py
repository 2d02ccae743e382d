"""What the paper proves or prints as a formula; each is computed and compared (claims_equations, claims_identities)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from volatilis.paper.claims import equations, identities
from volatilis.paper.claims.equations import Errors


class Formula(NamedTuple):
    """A formula of the paper, what is claimed of it, and where needed what it should have been."""

    key: str
    where: str
    statement: str
    published: str
    errors: Callable[[], Errors]
    mended: str = "nothing to mend"


FORMULAS = (
    Formula(
        "proposition",
        "Results, Online Bayesian inference modulated by surprise, Proposition",
        "Exact inference is the recursion that mixes integration and reset with rate gamma.",
        "exact",
        equations.recursion,
    ),
    Formula(
        "gamma-shannon",
        "Results, Theoretical difference between both surprises; Discussion, Difference in Shannon Surprise",
        "The adaptation rate is p_c exp(difference in Shannon Surprise); the Bayes Factor Surprise is a function of the same.",
        "gamma = p_c e^D, S_BF = (1 - p_c) e^D / (1 - p_c e^D), D = Delta S_Sh",
        equations.adaptation_rate_and_shannon,
    ),
    Formula(
        "mp-exact-at-first",
        "Results, Message-Passing N",
        "MPN is exact for the first N observations (here: N = 1, 10, 20; mean and variance; both tasks).",
        "exact for t <= N",
        identities.message_passing_starts_exact,
    ),
    Formula(
        "varsmile-bound",
        "Methods, Derivation of the optimization-based formulation of VarSMiLe",
        "The bound B in VarSMiLe's optimisation problem falls as surprise rises.",
        "decreasing",
        equations.bound_falls_with_surprise,
    ),
    Formula(
        "pf1-expectation",
        "Methods, Nassar's algorithm and Particle Filtering with one particle",
        "In expectation over its sampling, the mean of pf1 is updated as by Nas10*, in both forms of that update.",
        "identical",
        equations.one_particle_on_average,
    ),
    Formula(
        "nassar-variance",
        "Appendix, Recursive update of the estimated variance",
        "The variance of Nas12* is sigma^2 alpha / (rho + 1) + (1 - gamma) gamma B^2.",
        "equal",
        equations.variance_update,
    ),
    Formula(
        "nassar-variance-line",
        "Appendix, Recursive update of the estimated variance, line after 'Using, as before'",
        "On the way: A = sigma^2 / (rho + 1) (1 - (1 - gamma) / (rho + r + 1)).",
        "equal",
        equations.variance_line,
        "with (1 - gamma) r / (rho + r + 1)",
    ),
    Formula(
        "gaussian-bayes-factor",
        "Appendix, Implementation of Nas10*, Nas12* and pf1",
        "The printed Bayes Factor Surprise of a Gaussian belief.",
        "equal to the general formula",
        equations.gaussian_bayes_factor,
        "as the ratio N(y; mu_0, sigma^2 + sigma_0^2) / N(y; mu_t, sigma^2 + sigma_t^2)",
    ),
    Formula(
        "pseudocode-sigma",
        "Appendix, pseudocode of Nas10* and pf1",
        "What is computed as sigma_{t+1} is the standard deviation that the Bayes Factor Surprise then takes.",
        "a standard deviation",
        equations.pseudocode_spread,
        "taken as a variance",
    ),
    Formula(
        "sign-bias-word",
        "Results, Prediction 1",
        "A sign bias s = sign(delta y_hat) = +1 means that the prediction was an overestimation in absolute value.",
        "overestimation",
        equations.sign_bias_word,
        "as an underestimation",
    ),
    Formula(
        "prediction-1-all-confidences",
        "Methods, Theoretical proofs for prediction 1",
        "The difference in Bayes Factor Surprise between both sign biases grows with delta for every sigma_C > 0.",
        "for all sigma_C > 0 (the proof uses sigma_C < sigma_0 = 1)",
        equations.effect_grows_for_every_confidence,
        "for sigma_C up to 1 only",
    ),
    Formula(
        "prediction-1-all-confidences-shannon",
        "Methods, Theoretical proofs for prediction 1",
        "The difference in Shannon Surprise between both sign biases grows with delta for every sigma_C > 0.",
        "for all sigma_C > 0 (the proof rests on that for the Bayes Factor Surprise)",
        identities.shannon_effect_grows_for_every_confidence,
        "for sigma_C up to 1 only",
    ),
    Formula(
        "flat-prior",
        "Results, Experimental prediction",
        "With an uninformative prior the Shannon Surprise is an invertible function of the adaptation rate.",
        "invertible",
        identities.flat_prior_links_both_surprises,
    ),
    Formula(
        "equal-probabilities",
        "Results, Prediction 2",
        "Where prior and belief give an observation the same probability p, S_BF is 1 and S_Sh is -log p.",
        "1 and -log p",
        identities.equal_probabilities,
    ),
    Formula(
        "corrected-surprise",
        "Discussion, Bayes Factor Surprise as a novel measure of surprise",
        "The confidence-corrected surprise is the same for both sign biases.",
        "no difference",
        identities.corrected_surprise_has_no_sign,
    ),
    Formula(
        "exponential-family",
        "Methods, Application to the exponential family",
        "S_BF is a ratio of normalisers of the conjugate prior (here: Gaussian, Poisson, Categorical).",
        "equal to the general formula",
        identities.exponential_family,
    ),
    Formula(
        "harmonic-mean",
        "Results, Algorithms 2 and 3",
        "The surprise of a set of weighted particles is the weighted harmonic mean of theirs.",
        "harmonic mean",
        identities.harmonic_mean,
    ),
    Formula(
        "particle-weights",
        "Results, Particle Filtering",
        "The particles' weights are a mixture, with rate gamma, of the Bayesian weights and those before.",
        "w = (1 - gamma) w_B + gamma w",
        identities.particle_weights,
    ),
    Formula(
        "nassar-limit",
        "Methods, Nas10* and Nas12* algorithms",
        "For sigma_0 much larger than sigma the update of Nas10* becomes that of the original.",
        "alpha = (1 + gamma r) / (1 + r)",
        identities.without_a_prior_the_original_rule,
    ),
    Formula(
        "smile-width",
        "Results, Gaussian estimation task",
        "SMiLe, by construction, never narrows its belief below a minimal value (here: the variance below the lesser of sigma^2 "
        "and sigma_0^2).",
        "by construction",
        identities.smile_stays_wide,
    ),
)
