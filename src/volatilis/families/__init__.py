"""Likelihoods with their conjugate priors, one per file. `_base` says what a family is."""

from volatilis.families._base import Beliefs, UndefinedError, empty_beliefs, family, prior_beliefs
from volatilis.families.bernoulli import Bernoulli
from volatilis.families.categorical import Categorical
from volatilis.families.exponential import Exponential
from volatilis.families.gaussian import Gaussian
from volatilis.families.gaussian_unknown_variance import GaussianUnknownVariance
from volatilis.families.multivariate_gaussian import MultivariateGaussian
from volatilis.families.multivariate_gaussian_unknown_covariance import MultivariateGaussianUnknownCovariance
from volatilis.families.poisson import Poisson
from volatilis.families.scalar import scalar_family

__all__ = [
    "Beliefs",
    "Bernoulli",
    "Categorical",
    "Exponential",
    "Gaussian",
    "GaussianUnknownVariance",
    "MultivariateGaussian",
    "MultivariateGaussianUnknownCovariance",
    "Poisson",
    "UndefinedError",
    "empty_beliefs",
    "family",
    "prior_beliefs",
    "scalar_family",
]
