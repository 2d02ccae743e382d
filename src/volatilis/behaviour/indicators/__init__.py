"""Which surprise does a measured indicator reflect? The paper's two predictions put to the test on people's data.

request    what to analyse, and the analysis: people read, learners fitted, predictions tested (`volatilis predict`)
trials     one person's trials as the predictions see them
results    the tables, the picture and what is shown
"""

from volatilis.behaviour.indicators.request import PredictRequest, PredictResult, predict
from volatilis.predictions import FirstWindow, SecondWindow, analyse

__all__ = ["FirstWindow", "PredictRequest", "PredictResult", "SecondWindow", "analyse", "predict"]
