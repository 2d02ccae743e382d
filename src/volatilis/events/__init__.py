"""Regressors for a GLM: what learners made of each outcome, as event files that BIDS tools, nilearn, FSL and MNE read."""

from volatilis.events.request import FORMATS, SCOPES, EventsRequest
from volatilis.events.run_events import EventsResult, run_events

__all__ = ["FORMATS", "SCOPES", "EventsRequest", "EventsResult", "run_events"]
