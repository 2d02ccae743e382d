# Written by docs/generate.py

from volatilis._compiler import CompilationError, cache_directory, compiled_function, plain_python, python_only
from volatilis.environments import ChangingEnvironment
from volatilis.families import family, scalar_family
from volatilis.families.bernoulli import Bernoulli
from volatilis.families.categorical import Categorical
from volatilis.families.exponential import Exponential
from volatilis.families.gaussian import Gaussian
from volatilis.families.gaussian_unknown_variance import GaussianUnknownVariance
from volatilis.families.multivariate_gaussian import MultivariateGaussian
from volatilis.families.multivariate_gaussian_unknown_covariance import MultivariateGaussianUnknownCovariance
from volatilis.families.poisson import Poisson
from volatilis.families.von_mises import VonMises
from volatilis.learners.exact_bayes import ExactBayes
from volatilis.learners.leaky import Leaky
from volatilis.learners.merge import Merge
from volatilis.learners.message_passing import MessagePassing
from volatilis.learners.nas10 import Nas10, Nas10Star
from volatilis.learners.nas12 import Nas12, Nas12Star
from volatilis.learners.particle_filter import ParticleFilter
from volatilis.learners.smile import SMiLe
from volatilis.learners.stratified_resampling import StratifiedResampling
from volatilis.learners.varsmile import VarSMiLe
from volatilis.running import Belief, StateFileError, Step, Stream, Trace, Traces, run, run_many

__version__: str

__all__ = [
    "Belief",
    "Bernoulli",
    "Categorical",
    "ChangingEnvironment",
    "CompilationError",
    "ExactBayes",
    "Exponential",
    "Gaussian",
    "GaussianUnknownVariance",
    "Leaky",
    "Merge",
    "MessagePassing",
    "MultivariateGaussian",
    "MultivariateGaussianUnknownCovariance",
    "Nas10",
    "Nas10Star",
    "Nas12",
    "Nas12Star",
    "ParticleFilter",
    "Poisson",
    "SMiLe",
    "StateFileError",
    "Step",
    "StratifiedResampling",
    "Stream",
    "Trace",
    "Traces",
    "VarSMiLe",
    "VonMises",
    "cache_directory",
    "compiled_function",
    "family",
    "plain_python",
    "python_only",
    "run",
    "run_many",
    "scalar_family",
]
