"""At home elsewhere: the same learners with the habits of other packages.

detection     `ChangePointDetector`, with the habits of scikit-learn and ruptures: fit, predict
drift         `DriftDetector`, with river's interface: update, drift_detected; needs river
"""

from importlib import import_module
from typing import Any

_PLACES = {"ChangePointDetector": "detection", "DriftDetector": "drift"}
__all__ = ["ChangePointDetector", "DriftDetector"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{name} needs {error.name}: pip install 'volatilis[adapters]'", name=error.name) from None
