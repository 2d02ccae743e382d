"""Running learners: over a sequence (`run`), over many (`run_many`), one observation at a time (`Stream`)."""

from volatilis.running.arguments import ModelMismatchWarning
from volatilis.running.beliefs import Belief
from volatilis.running.run import run, run_many
from volatilis.running.state_files import StateFileError
from volatilis.running.steps import Step
from volatilis.running.stream import Stream
from volatilis.running.traces import Trace, Traces
from volatilis.running.weights import Weights

__all__ = [
    "Belief",
    "ModelMismatchWarning",
    "StateFileError",
    "Step",
    "Stream",
    "Trace",
    "Traces",
    "Weights",
    "run",
    "run_many",
]
