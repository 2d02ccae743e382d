from volatilis.behaviour.cluster import How
from volatilis.behaviour.comparison import Comparison, Group, compare, group
from volatilis.behaviour.design import Setting, choose, power, smallest
from volatilis.behaviour.fitting import Fit, fit, intervals
from volatilis.behaviour.hierarchy import fit_groups
from volatilis.behaviour.jobs import Failure
from volatilis.behaviour.many import fit_all
from volatilis.behaviour.models import Model
from volatilis.behaviour.own import load_responses, register_response
from volatilis.behaviour.people import People, Source, read_people
from volatilis.behaviour.predictions import FirstWindow, Order, SecondWindow, analyse, predict
from volatilis.behaviour.recovery import Recovery, recover
from volatilis.behaviour.responses import (
    CensoredNoise,
    ChoiceHabits,
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
from volatilis.behaviour.results import load, save, tidy
from volatilis.behaviour.scoring import Person, Trials, log_likelihoods
from volatilis.behaviour.selection import Selection, select
from volatilis.behaviour.simulation import simulate

__all__ = [
    "CensoredNoise",
    "ChoiceHabits",
    "Comparison",
    "Confidence",
    "Failure",
    "FirstWindow",
    "Fit",
    "GaussianNoise",
    "Group",
    "Habits",
    "How",
    "LaplaceNoise",
    "Model",
    "NonNegative",
    "Order",
    "People",
    "Person",
    "Positive",
    "Probability",
    "Real",
    "Recovery",
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
    "estimate",
    "fit",
    "fit_all",
    "fit_groups",
    "group",
    "intervals",
    "load",
    "load_responses",
    "log_likelihoods",
    "log_normal",
    "power",
    "predict",
    "read_people",
    "recover",
    "register_response",
    "response",
    "save",
    "select",
    "simulate",
    "smallest",
    "tidy",
    "uncertainty",
]
