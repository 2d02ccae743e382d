"""The paper's two predictions (Figures 10 and 11, Tables 1 and 2), defined once.

`volatilis paper` uses them on simulated subjects, `volatilis separate` on sequences of outcomes, `volatilis predict` on people
with a measured indicator, `volatilis design` on planned experiments.

windows      trials as the predictions see them, and which of them count as alike
estimators   averages in the windows, their difference between the sign biases, their slopes
pooling      one effect over all people, with its error; whether data are enough for a test, its power, and how much more it takes
hypotheses   what Tables 1 and 2 predict, tests over people, verdicts
analysis     all of it for people with an indicator
"""

from volatilis.predictions.analysis import Analysis, analyse
from volatilis.predictions.hypotheses import Row, judge
from volatilis.predictions.windows import FirstWindow, SecondWindow, SubjectTrials

__all__ = ["Analysis", "FirstWindow", "Row", "SecondWindow", "SubjectTrials", "analyse", "judge"]
