from volatilis.behaviour.comparison.criteria import Comparison, Group, compare, group
from volatilis.behaviour.comparison.request import CompareRequest, compare_table
from volatilis.behaviour.comparison.selection import Selection, select
from volatilis.behaviour.design import DesignRequest, Setting, choose, power, smallest
from volatilis.behaviour.fitting.fit import Fit, fit, intervals
from volatilis.behaviour.fitting.hierarchy import fit_groups
from volatilis.behaviour.fitting.jobs import Failure, FitOptions, fit_all
from volatilis.behaviour.fitting.request import FitRequest, fit_table
from volatilis.behaviour.fitting.results import load, save, tidy
from volatilis.behaviour.indicators import FirstWindow, PredictRequest, PredictResult, SecondWindow, analyse, predict
from volatilis.behaviour.likelihood import log_likelihoods
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import People, Person, Source, Trials, read_people
from volatilis.behaviour.recovery.recover import Recovery, recover
from volatilis.behaviour.recovery.request import RecoverRequest, recover_table
from volatilis.behaviour.recovery.simulation import simulate
from volatilis.behaviour.responses import (
    Arms,
    CensoredNoise,
    ChoiceHabits,
    CircularNoise,
    Confidence,
    GaussianNoise,
    Habits,
    LaplaceNoise,
    NonNegative,
    Positive,
    Probability,
    Real,
    Share,
    Softmax,
    TruncatedNoise,
    UnderBelief,
    estimate,
    log_normal,
    response,
    uncertainty,
)
from volatilis.behaviour.responses._base import Moment, ResponseModel
from volatilis.behaviour.responses.registry import load_own, register_response

__all__ = [
    "Arms",
    "CensoredNoise",
    "ChoiceHabits",
    "CircularNoise",
    "CompareRequest",
    "Comparison",
    "Confidence",
    "DesignRequest",
    "Failure",
    "FirstWindow",
    "Fit",
    "FitOptions",
    "FitRequest",
    "GaussianNoise",
    "Group",
    "Habits",
    "LaplaceNoise",
    "Model",
    "Moment",
    "NonNegative",
    "People",
    "Person",
    "Positive",
    "PredictRequest",
    "PredictResult",
    "Probability",
    "Real",
    "RecoverRequest",
    "Recovery",
    "ResponseModel",
    "SecondWindow",
    "Selection",
    "Setting",
    "Share",
    "Softmax",
    "Source",
    "Trials",
    "TruncatedNoise",
    "UnderBelief",
    "analyse",
    "choose",
    "compare",
    "compare_table",
    "estimate",
    "fit",
    "fit_all",
    "fit_groups",
    "fit_table",
    "group",
    "intervals",
    "load",
    "load_own",
    "log_likelihoods",
    "log_normal",
    "power",
    "predict",
    "read_people",
    "recover",
    "recover_table",
    "register_response",
    "response",
    "save",
    "select",
    "simulate",
    "smallest",
    "tidy",
    "uncertainty",
]
