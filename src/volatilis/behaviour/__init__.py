"""Learners as models of people: fit, compare, recover, the paper's two predictions as an analysis, and planning experiments.

from volatilis.behaviour import Model, Source, fit_all, read_people

model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=87", "varsmile:m=free", "gaussian:sd=free")
fits = fit_all([model], read_people(Source("trials.csv"), model).persons)
"""

from importlib import import_module as _import_module
from typing import Any as _Any

# Nothing is imported before it is used, as in `volatilis` itself.
_MODULES = {
    "comparison.criteria": ("Comparison", "Group", "compare", "group"),
    "design": ("DesignRequest", "Setting", "choose", "power", "smallest"),
    "fitting.fit": ("Fit", "fit", "intervals"),
    "fitting.hierarchy": ("fit_groups",),
    "fitting.jobs": ("Failure", "FitOptions", "fit_all"),
    "models": ("Model",),
    "responses.registry": ("load_own", "register_response"),
    "people": ("People", "Person", "Trials", "Source", "read_people"),
    "indicators": ("FirstWindow", "PredictRequest", "PredictResult", "SecondWindow", "analyse", "predict"),
    "fitting.request": ("FitRequest", "fit_table"),
    "recovery.request": ("RecoverRequest", "recover_table"),
    "responses._base": ("Moment", "ResponseModel"),
    "recovery.recover": ("Recovery", "recover"),
    "responses": (
        "Arms",
        "CensoredNoise",
        "ChoiceHabits",
        "CircularNoise",
        "Confidence",
        "GaussianNoise",
        "Habits",
        "LaplaceNoise",
        "NonNegative",
        "Positive",
        "Probability",
        "Real",
        "Share",
        "Softmax",
        "TruncatedNoise",
        "UnderBelief",
        "estimate",
        "log_normal",
        "response",
        "uncertainty",
    ),
    "fitting.results": ("load", "save", "tidy"),
    "likelihood": ("log_likelihoods",),
    "comparison.request": ("CompareRequest", "compare_table"),
    "comparison.selection": ("Selection", "select"),
    "recovery.simulation": ("simulate",),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_PLACES)


def __getattr__(name: str) -> _Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
