"""What the picture shows: numbers and words for `plots.separation`, which knows nothing of learners."""

from __future__ import annotations

import numpy as np

from volatilis.plots.separation import Picture, Scatter
from volatilis.separation.advice import FEW_CARRIERS, IDENTICAL, NEARLY, SHAPE, verdict
from volatilis.separation.relations import MOST, Pair, carried, correlations, residual
from volatilis.separation.study import Separation

EQUIVALENT = (IDENTICAL, SHAPE, NEARLY)


def picture_of(separation: Separation) -> Picture:
    regressors = separation.regressors
    equivalent = np.zeros((len(regressors.columns),) * 2, dtype=bool)
    verdicts = {pair: verdict(separation, pair) for pair in separation.pairs}
    for pair, found in verdicts.items():
        equivalent[pair.first, pair.second] = equivalent[pair.second, pair.first] = found in EQUIVALENT
    different = [pair for pair, found in verdicts.items() if found not in EQUIVALENT]
    telling = [pair for pair in different if min(separation.tails[i].effective for i in pair[:2]) >= FEW_CARRIERS]
    closest = max(telling or different or separation.pairs, key=lambda pair: abs(pair.pearson))
    labels = {column.label for column in regressors.columns}
    return Picture(
        names=regressors.names,
        pearson=correlations(regressors.values),
        spearman=correlations(regressors.ranks),
        equivalent=equivalent,
        inflation=np.array([one.factor for one in separation.inflations]),
        own_inflation=np.array([one.factor for one in separation.own_inflations]) if len(labels) > 1 else None,
        scatter=_scatter(separation, closest, "The closest pair that differs" if different else "The closest pair"),
        trials=separation.trials,
        runs=separation.runs,
    )


def _scatter(separation: Separation, pair: Pair, title: str) -> Scatter:
    """The pair in standard deviations, and the trials that hold most of the difference in the direction where they are fewer."""
    values, names = separation.regressors.values, separation.regressors.names
    places = (pair.first, pair.second)
    if pair.second_alone.most < pair.first_alone.most:
        places = (pair.second, pair.first)
    y, x = (values[:, i] / values[:, i].std() for i in places)
    left = residual(y, x)
    most = carried(left).most
    carriers = np.zeros(len(left), dtype=bool)
    carriers[np.argsort(-np.abs(left), kind="stable")[:most]] = True
    words = f"{100 * MOST:g} % of it is in {most:,} of {len(left):,} trials"
    return Scatter(title, names[places[1]], names[places[0]], x, left, carriers, words)
