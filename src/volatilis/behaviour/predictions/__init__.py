"""The paper's two experimental predictions put to the test on people's data: which surprise does an indicator reflect?"""

from volatilis.behaviour.predictions.analysis import Analysis, analyse
from volatilis.behaviour.predictions.hypotheses import Row, rows_of
from volatilis.behaviour.predictions.observed import Observed
from volatilis.behaviour.predictions.reading import Order, predict
from volatilis.behaviour.predictions.windows import FirstWindow, SecondWindow

__all__ = ["Analysis", "FirstWindow", "Observed", "Order", "Row", "SecondWindow", "analyse", "predict", "rows_of"]
