"""Learners on tables of trials: from a file of outcomes to one with what every learner made of each."""

from volatilis.trials.engine import Order, Result, Summary, compute, run_table
from volatilis.trials.measures import MEASURES, Column, Measure
from volatilis.trials.watching import Seen, Watcher

__all__ = ["MEASURES", "Column", "Measure", "Order", "Result", "Seen", "Summary", "Watcher", "compute", "run_table"]
