"""Which measures and learners a sequence of outcomes can tell apart, before anyone is scanned."""

from volatilis.separation.advice import advice, verdict
from volatilis.separation.study import Question, Separation, separate

__all__ = ["Question", "Separation", "advice", "separate", "verdict"]
