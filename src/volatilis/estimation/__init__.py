"""What environment made these observations: its parameters; does a model fit them, and what would mend it?"""

from volatilis.estimation.checks import Check, check, check_many, check_model
from volatilis.estimation.environment import Environment, Environments, Estimate
from volatilis.estimation.estimate import estimate
from volatilis.estimation.remedies import Misfit

__all__ = [
    "Check",
    "Environment",
    "Environments",
    "Estimate",
    "Misfit",
    "check",
    "check_many",
    "check_model",
    "estimate",
]
