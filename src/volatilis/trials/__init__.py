"""Learners on tables of trials: from a file of outcomes to one with what every learner made of each."""

from volatilis.trials.engine import BatchResult, Onlooker, RunSummary
from volatilis.trials.measures import MEASURES, Column, Measure
from volatilis.trials.run import Result, RunRequest, compute, run_table

__all__ = [
    "MEASURES",
    "BatchResult",
    "Column",
    "Measure",
    "Onlooker",
    "Result",
    "RunRequest",
    "RunSummary",
    "compute",
    "run_table",
]
