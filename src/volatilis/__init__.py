"""volatilis: online Bayesian learning in environments that change abruptly.

import volatilis as vl

family = vl.Gaussian(sigma=1.0)
y, theta, changed = vl.ChangingEnvironment(family, p_c=0.02).sample(500, seed=1)
trace = vl.run(vl.Merge(family, p_c=0.02, n=20), y)
trace.plot(theta=theta).savefig("trace.png")
"""

from importlib import import_module as _import_module
from typing import Any as _Any

# Nothing is imported before it is used, so that a command that needs no numbers answers at once. Families and learners are not
# named here: their packages know which there are.
_MODULES = {
    "_compiler": ("CompilationError", "cache_directory", "compiled_function", "plain_python", "python_only"),
    "changepoints": ("AlarmRule", "Calibration", "CalibrationError", "Changes", "calibrate", "changes"),
    "environments": ("ChangingEnvironment",),
    "estimation": ("Check", "Environment", "Misfit", "check", "check_many", "estimate"),
    "families": ("family", "scalar_family", "transitions"),
    "learners": ("Unknown", "unknown"),
    "running": ("Belief", "ModelMismatchWarning", "StateFileError", "Step", "Stream", "Trace", "Traces", "run", "run_many"),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}


def _recorded() -> dict[str, type]:
    """All families and learners by the names of their classes."""
    families, learners = (_import_module(f"{__name__}.{package}") for package in ("families", "learners"))
    return {**families.FAMILIES, **learners.LEARNERS}


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("volatilis")
    if name == "__all__":
        return sorted([*_PLACES, *_recorded()])
    if name in _PLACES:
        value = getattr(_import_module(f"{__name__}.{_PLACES[name]}"), name)
    else:
        value = None if name.startswith("_") else _recorded().get(name)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
