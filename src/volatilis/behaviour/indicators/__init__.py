"""The paper's two experimental predictions put to the test on people's data: which surprise does an indicator reflect?"""

from volatilis.behaviour.indicators.analysis import Analysis, analyse
from volatilis.behaviour.indicators.observed import Observed
from volatilis.behaviour.indicators.reading import Order, predict
from volatilis.predictions.hypotheses import Row, rows_of
from volatilis.predictions.windows import FirstWindow, SecondWindow

__all__ = ["Analysis", "FirstWindow", "Observed", "Order", "Row", "SecondWindow", "analyse", "predict", "rows_of"]
