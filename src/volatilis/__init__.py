"""volatilis: online Bayesian learning in environments that change abruptly.

import volatilis as vl

family = vl.Gaussian(sigma=1.0)
y, theta, changed = vl.ChangingEnvironment(family, p_c=0.02).sample(500, seed=1)
trace = vl.run(vl.Merge(family, p_c=0.02, n=20), y)
trace.plot(theta=theta).savefig("trace.png")
"""

from importlib import import_module as _import_module
from typing import Any as _Any

# Nothing is imported before it is used, so that a command that needs no numbers answers at once.
_MODULES = {
    "_compiler": ("CompilationError", "cache_directory", "compiled_function", "plain_python", "python_only"),
    "environments": ("ChangingEnvironment",),
    "families": (
        "Bernoulli",
        "Categorical",
        "Exponential",
        "Gaussian",
        "GaussianUnknownVariance",
        "MultivariateGaussian",
        "MultivariateGaussianUnknownCovariance",
        "Poisson",
        "family",
        "scalar_family",
    ),
    "learners": (
        "ExactBayes",
        "Leaky",
        "Merge",
        "MessagePassing",
        "Nas10",
        "Nas10Star",
        "Nas12",
        "Nas12Star",
        "ParticleFilter",
        "SMiLe",
        "StratifiedResampling",
        "VarSMiLe",
    ),
    "running": ("Belief", "StateFileError", "Step", "Stream", "Trace", "Traces", "run", "run_many"),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_PLACES)


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("volatilis")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
