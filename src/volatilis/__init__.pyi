from volatilis._compiler import CompilationError, cache_directory, compiled_function, plain_python, python_only
from volatilis.environments import ChangingEnvironment
from volatilis.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianUnknownVariance,
    MultivariateGaussian,
    MultivariateGaussianUnknownCovariance,
    Poisson,
    family,
    scalar_family,
)
from volatilis.learners import (
    ExactBayes,
    Leaky,
    Merge,
    MessagePassing,
    Nas10,
    Nas10Star,
    Nas12,
    Nas12Star,
    ParticleFilter,
    SMiLe,
    StratifiedResampling,
    VarSMiLe,
)
from volatilis.running.beliefs import Belief
from volatilis.running.run import Stream, run, run_many
from volatilis.running.state_files import StateFileError
from volatilis.running.traces import Step, Trace, Traces

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
    "cache_directory",
    "compiled_function",
    "family",
    "plain_python",
    "python_only",
    "run",
    "run_many",
    "scalar_family",
]
