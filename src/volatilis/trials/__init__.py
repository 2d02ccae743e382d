"""Learners on tables of trials: from a file of outcomes to one with what every learner made of each."""

from volatilis.trials.engine import Seen, Summary, Watcher
from volatilis.trials.measures import MEASURES, Column, Measure
from volatilis.trials.run import Result, RunRequest, compute, run_table

__all__ = ["MEASURES", "Column", "Measure", "Result", "RunRequest", "Seen", "Summary", "Watcher", "compute", "run_table"]
