"""Regressors for a GLM: what learners made of each outcome, as event files that BIDS tools, nilearn, FSL and MNE read."""

from volatilis.events.command import Written, run_events
from volatilis.events.plan import FORMATS, SCOPES, Plan

__all__ = ["FORMATS", "SCOPES", "Plan", "Written", "run_events"]
