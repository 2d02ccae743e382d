"""What an experiment may find with the two predictions, judged as `volatilis predict` does: powers, mistakes, no test at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from volatilis.predictions.estimators import ADJUSTED, FIRST_LAYOUT, SECOND_LAYOUT, Sums, pooled_effects
from volatilis.predictions.hypotheses import BAYES_FACTOR, CANNOT_BE_TOLD, CONFIRMED, CONTRADICTED, SHANNON, judge, pooled_test

HYPOTHESES = {"S_BF": BAYES_FACTOR, "S_Sh": SHANNON}
NOISE = "noise"
# what an experiment may find, in words
POWERS = {
    "prediction 1, S_BF": "the indicator reflects S_BF: prediction 1 confirms it (difference and slope)",
    "prediction 1, S_Sh": "the indicator reflects S_Sh: prediction 1 confirms it (difference and slope)",
    "prediction 2, S_Sh": "the indicator reflects S_Sh: prediction 2 confirms it (slope)",
}
MISTAKES = {
    "prediction 1, S_BF refused": "the indicator reflects S_BF: prediction 1 contradicts it",
    "prediction 1, S_Sh refused": "the indicator reflects S_Sh: prediction 1 contradicts it",
    "prediction 2, S_BF refused": "the indicator reflects S_BF: prediction 2 finds a slope that is not there",
    "prediction 2, S_Sh refused": "the indicator reflects S_Sh: prediction 2 contradicts it",
    "prediction 1, noise": "the indicator is noise: prediction 1 confirms or contradicts something",
    "prediction 2, noise": "the indicator is noise: prediction 2 confirms or contradicts something",
}
UNTOLD = {
    "prediction 1, no test": "too few trials or people for a test: prediction 1 cannot be told, whatever the indicator reflects",
    "prediction 2, no test": "too few trials or people for a test: prediction 2 cannot be told, whatever the indicator reflects",
}
FINDINGS = POWERS | MISTAKES | UNTOLD

Verdicts = dict[int, dict[str, str]]  # prediction -> hypothesis -> verdict


def verdicts(first: Sequence[Sums], second: Sequence[Sums], level: float, with_powers: bool = False) -> Verdicts:
    """Those of `volatilis predict`.

    with_powers   False: what needs a power to be "cannot be told" is called undecided or consistent, which takes less time
    """
    results: Verdicts = {}
    for prediction, sums, layout in ((1, first, FIRST_LAYOUT), (2, second, SECOND_LAYOUT)):
        known = np.sum([person.defined for person in sums], axis=0)
        pooled = pooled_effects(sums, layout)
        tests = {
            quantity: pooled_test(effect, int(count), level, None, with_powers=with_powers)
            for (quantity, effect), count in zip(pooled.items(), known, strict=True)
        }
        results[prediction] = {row.hypothesis: row.hypothesis_verdict for row in judge(prediction, ADJUSTED, tests, level)}
    return results


def findings_of(judged: Mapping[str, Verdicts]) -> dict[str, bool]:
    """Finding -> whether it was made, from what each indicator was judged to be."""
    found = {}
    for name, hypothesis in HYPOTHESES.items():
        for prediction in (1, 2):
            word = judged[name][prediction][hypothesis]
            found[f"prediction {prediction}, {name}"] = word == CONFIRMED
            found[f"prediction {prediction}, {name} refused"] = word == CONTRADICTED
    for prediction, words in judged[NOISE].items():
        found[f"prediction {prediction}, noise"] = not {CONFIRMED, CONTRADICTED}.isdisjoint(words.values())
        found[f"prediction {prediction}, no test"] = set(words.values()) == {CANNOT_BE_TOLD}
    return {finding: found[finding] for finding in FINDINGS}
