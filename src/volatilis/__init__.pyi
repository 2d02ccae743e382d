# Written by docs/generate.py

from volatilis._compiler import CompilationError, cache_directory, compiled_function, plain_python, python_only
from volatilis.changepoints import AlarmRule, Calibration, CalibrationError, Changes, calibrate, changes
from volatilis.environments import ChangingEnvironment
from volatilis.estimation import Check, Environment, Misfit, check, check_many, estimate
from volatilis.families import family, scalar_family, transitions
from volatilis.families.auto_regression import AutoRegression
from volatilis.families.bernoulli import Bernoulli
from volatilis.families.categorical import Categorical
from volatilis.families.contaminated import Contaminated
from volatilis.families.exponential import Exponential
from volatilis.families.gaussian import Gaussian
from volatilis.families.gaussian_unknown_variance import GaussianUnknownVariance
from volatilis.families.given import Given
from volatilis.families.linear_regression import LinearRegression
from volatilis.families.multivariate_gaussian import MultivariateGaussian
from volatilis.families.multivariate_gaussian_unknown_covariance import MultivariateGaussianUnknownCovariance
from volatilis.families.poisson import Poisson
from volatilis.families.transitions import Transitions
from volatilis.families.von_mises import VonMises
from volatilis.learners import Unknown, unknown
from volatilis.learners.averaged import Averaged
from volatilis.learners.exact_bayes import ExactBayes
from volatilis.learners.leaky import Leaky
from volatilis.learners.merge import Merge
from volatilis.learners.message_passing import MessagePassing
from volatilis.learners.nas10 import Nas10, Nas10Star
from volatilis.learners.nas12 import Nas12, Nas12Star
from volatilis.learners.particle_filter import ParticleFilter
from volatilis.learners.per_context import PerContext
from volatilis.learners.smile import SMiLe
from volatilis.learners.stratified_resampling import StratifiedResampling
from volatilis.learners.varsmile import VarSMiLe
from volatilis.running import Belief, ModelMismatchWarning, StateFileError, Step, Stream, Trace, Traces, run, run_many

__version__: str

__all__ = [
    "AlarmRule",
    "AutoRegression",
    "Averaged",
    "Belief",
    "Bernoulli",
    "Calibration",
    "CalibrationError",
    "Categorical",
    "Changes",
    "ChangingEnvironment",
    "Check",
    "CompilationError",
    "Contaminated",
    "Environment",
    "ExactBayes",
    "Exponential",
    "Gaussian",
    "GaussianUnknownVariance",
    "Given",
    "Leaky",
    "LinearRegression",
    "Merge",
    "MessagePassing",
    "Misfit",
    "ModelMismatchWarning",
    "MultivariateGaussian",
    "MultivariateGaussianUnknownCovariance",
    "Nas10",
    "Nas10Star",
    "Nas12",
    "Nas12Star",
    "ParticleFilter",
    "PerContext",
    "Poisson",
    "SMiLe",
    "StateFileError",
    "Step",
    "StratifiedResampling",
    "Stream",
    "Trace",
    "Traces",
    "Transitions",
    "Unknown",
    "VarSMiLe",
    "VonMises",
    "cache_directory",
    "calibrate",
    "changes",
    "check",
    "check_many",
    "compiled_function",
    "estimate",
    "family",
    "plain_python",
    "python_only",
    "run",
    "run_many",
    "scalar_family",
    "transitions",
    "unknown",
]
