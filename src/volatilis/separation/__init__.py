"""Which measures and learners a sequence of outcomes can tell apart, before anyone is scanned."""

from volatilis.separation.advice import advice, verdict
from volatilis.separation.study import SeparateRequest, Separation, separate

__all__ = ["SeparateRequest", "Separation", "advice", "separate", "verdict"]
