"""What the numbers mean for an experiment, in sentences.

The limits behind them: two regressors can be told apart where there are as many trials as are needed (`relations`) and the
difference is worth 30 of them; a variance inflation factor above 10 is too much; 20 trials are enough for a selection. They are
conventions; the sentences state them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from volatilis.separation.equivalences import AT_FIRST
from volatilis.separation.relations import RegressorPair
from volatilis.separation.study import Separation
from volatilis.tables import counted

FEW_CARRIERS = 30.0
TOO_INFLATED = 10.0
ENOUGH = 20
SAME_RANKS = 1.0 - 1e-9
MOST_NAMED = 4
MOSTLY = 0.5
FEWEST_POINTS = 3  # for a slope

IDENTICAL, SHAPE, NEARLY, TOO_FEW, RESTS_ON_FEW, YES = (
    "no: identical",
    "by shape only",
    "hardly: prior nearly flat",
    "too few trials",
    "rests on few trials",
    "yes",
)
CAN = {
    IDENTICAL: "are identical",
    SHAPE: "can be told apart by their shape only",
    NEARLY: "can hardly be told apart",
    TOO_FEW: "cannot be told apart with so few trials",
    RESTS_ON_FEW: "can be told apart by few trials only",
    YES: "can be told apart",
}


def verdict(separation: Separation, pair: RegressorPair) -> str:
    """Whether two regressors can be told apart with these trials.

    separation   what `separate` returns
    pair         one of its `pairs`

    Returns the answer in words. Raises nothing. An example stands at `separate`.
    """
    proven = separation.equivalence(pair)
    kind = None if proven is None else proven.kind
    if kind in ("identical", "mirrored") or math.isinf(pair.needed):
        return IDENTICAL
    if kind == "nearly monotone":
        return NEARLY
    if kind == "monotone":
        return SHAPE
    if pair.needed > separation.trials:
        return TOO_FEW
    if abs(pair.spearman) > SAME_RANKS:
        return SHAPE
    return RESTS_ON_FEW if pair.effective < FEW_CARRIERS else YES


def advice(separation: Separation) -> list[str]:
    """One sentence or two per finding, the answer first.

    separation   what `separate` returns

    Returns a list of texts. Raises nothing. An example stands at `separate`.
    """
    verdicts = {pair: verdict(separation, pair) for pair in separation.pairs}
    return [
        _summary(separation, verdicts),
        *_paper_question(separation, verdicts),
        *_groups(separation, verdicts, IDENTICAL, "are the same regressor except for scale and sign: use one of them"),
        *_groups(
            separation,
            verdicts,
            SHAPE,
            "increase or decrease together without exception: only the assumed shape of an indicator's dependence on them can "
            "tell them apart, so choose one beforehand",
        ),
        *_at_first(separation),
        *_named(separation, verdicts, TOO_FEW, _too_few),
        *_named(separation, verdicts, RESTS_ON_FEW, _rests_on_few),
        *_tails(separation),
        *_at_starts(separation, verdicts),
        *_inflated(separation),
        *_first_prediction(separation),
        *_second_prediction(separation),
    ]


def _summary(separation: Separation, verdicts: dict[RegressorPair, str]) -> str:
    apart = sum(v == YES for v in verdicts.values())
    effect = separation.request.effect
    return (
        f"{apart} of {counted(len(verdicts), 'pair')} of regressors can be told apart with these {separation.trials:,} trials, "
        f"by an indicator that correlates at {effect:g} in each trial with the measure it reflects (--effect)."
    )


def _paper_question(separation: Separation, verdicts: dict[RegressorPair, str]) -> list[str]:
    """Shannon or Bayes Factor surprise: one sentence per verdict and reason, for all learners that share them."""
    columns = separation.regressors.columns
    groups: dict[tuple[str, str], list[str]] = {}
    for pair, answer in verdicts.items():
        one, other = columns[pair.first], columns[pair.second]
        if one.label == other.label and {one.measure, other.measure} == {"log_bayes_factor_surprise", "shannon_surprise"}:
            proven = separation.equivalence(pair)
            needs = f", {pair.needed:,.0f} trials needed" if answer in (YES, TOO_FEW) else ""
            reason = "" if proven is None else f": {proven.reason}"
            label = f"{one.label} (rank correlation {correlation(pair.spearman)}{needs})"
            groups.setdefault((answer, reason), []).append(label)
    sentences = []
    for (answer, reason), labels in groups.items():
        flat = answer in (SHAPE, NEARLY)
        remedy = ". An informative prior, known to the person, would separate them" if flat and reason else ""
        remedy = ". This rests on the prior that the learner is given: people must have it too" if answer == YES else remedy
        sentences.append(f"Shannon and Bayes Factor surprise {CAN[answer]} for {listed(labels)}{reason}{remedy}.")
    return sentences


def _groups(separation: Separation, verdicts: dict[RegressorPair, str], wanted: str, words: str) -> list[str]:
    """Regressors that hang together by one verdict; those with the same reasons in one sentence."""
    names = separation.regressors.names
    groups: list[set[int]] = []
    for pair, answer in verdicts.items():
        if answer == wanted:
            touching = [group for group in groups if pair.first in group or pair.second in group]
            groups = [group for group in groups if group not in touching]
            groups.append({pair.first, pair.second}.union(*touching))
    by_reason: dict[str, list[str]] = {}
    for group in groups:
        reasons = _reasons(separation, (p for p, v in verdicts.items() if v == wanted and {p.first, p.second} <= group))
        by_reason.setdefault(reasons, []).append(listed([names[i] for i in sorted(group)]))
    return [f"{'; '.join(members)}: these {words} ({reasons})." for reasons, members in by_reason.items()]


def _reasons(separation: Separation, pairs: Iterable[RegressorPair]) -> str:
    proofs = [separation.equivalence(pair) for pair in pairs]
    reasons = ("as these outcomes show; nothing proves it" if proof is None else proof.reason for proof in proofs)
    return "; ".join(dict.fromkeys(part for reason in reasons for part in reason.split("; ")))


def _at_first(separation: Separation) -> list[str]:
    """One sentence per two learners, not per measure."""
    label = {column.name: column.label for column in separation.regressors.columns}
    at_first = {(label[e.first], label[e.second]): e for e in separation.equivalences if e.kind == AT_FIRST}
    return [
        f"{one} and {other} hold the same belief in the first {e.until} trials of each block: only later ones tell them apart."
        for (one, other), e in at_first.items()
    ]


def _named(
    separation: Separation, verdicts: dict[RegressorPair, str], wanted: str, words: Callable[[RegressorPair], str]
) -> list[str]:
    """The pairs of a verdict, the closest by name and the others by number."""
    chosen = sorted((pair for pair, answer in verdicts.items() if answer == wanted), key=lambda pair: -abs(pair.pearson))
    if not chosen:
        return []
    names = separation.regressors.names
    shown = [f"{names[p.first]} and {names[p.second]} {words(p)}" for p in chosen[:MOST_NAMED]]
    more = f"; and {counted(len(chosen) - MOST_NAMED, 'more pair')}" if len(chosen) > MOST_NAMED else ""
    start = "These trials are too few to tell apart " if wanted == TOO_FEW else "The difference rests on few trials for "
    return [f"{start}{'; '.join(shown)}{more}."]


def _too_few(pair: RegressorPair) -> str:
    shown = correlation(pair.pearson)
    return f"(r {shown if shown[0] in '<>' else f'= {shown}'}, {pair.needed:,.0f} needed)"


def _rests_on_few(pair: RegressorPair) -> str:
    return f"(worth {pair.effective:.1f} trials; 90 % of it in {counted(pair.most, 'trial')})"


def _tails(separation: Separation) -> list[str]:
    names, columns = separation.regressors.names, separation.regressors.columns
    sentences = []
    for i, tail in enumerate(separation.tails):
        if tail.effective < min(FEW_CARRIERS, 0.5 * separation.trials):
            instead = "; use log S_BF" if columns[i].measure == "bayes_factor_surprise" else ""
            sentences.append(
                f"{names[i]} is a regressor of few trials: its variance is worth {tail.effective:.1f} of {separation.trials:,}"
                f"{instead}."
            )
    return sentences


def _at_starts(separation: Separation, verdicts: dict[RegressorPair, str]) -> list[str]:
    """Differences that are those of first trials, where the belief is the prior and S_BF is 1 by definition."""
    names = separation.regressors.names
    pairs = [
        f"{names[p.first]} and {names[p.second]} ({100 * max(p.first_alone.at_starts, p.second_alone.at_starts):.0f} %)"
        for p, answer in verdicts.items()
        if answer in (YES, RESTS_ON_FEW) and max(p.first_alone.at_starts, p.second_alone.at_starts) > MOSTLY
    ]
    if not pairs:
        return []
    more = f" and {counted(len(pairs) - MOST_NAMED, 'more pair')}" if len(pairs) > MOST_NAMED else ""
    return [
        "First trials of blocks, where the belief is still the prior, hold most of what tells apart "
        f"{', '.join(pairs[:MOST_NAMED])}{more}: without them these are closer than it seems."
    ]


def _inflated(separation: Separation) -> list[str]:
    names = separation.regressors.names
    infinite = [i for i, one in enumerate(separation.own_inflations) if math.isinf(one.factor)]
    high = [i for i, one in enumerate(separation.own_inflations) if TOO_INFLATED < one.factor < math.inf]
    sentences = []
    if infinite and separation.trials - separation.runs < len(names):
        sentences.append("There are too few trials for one model with all of these regressors.")
    elif infinite:
        sentences.append(
            f"{listed([names[i] for i in infinite])} are linear combinations of other measures: never put all of them into one "
            "model."
        )
    if high:
        sentences.append(
            f"In one model with all measures of the same learner {listed([names[i] for i in high])} would have a variance "
            f"inflation factor above {TOO_INFLATED:g}: leave some out."
        )
    return sentences


def _first_prediction(separation: Separation) -> list[str]:
    sentences = []
    for label in separation.selected_labels:
        selected = [s for s in separation.selected if s.label == label and s.prediction == 1 and s.at > 0.0]
        fewer = {d: min(s.trials for s in selected if s.at == d) for d in dict.fromkeys(s.at for s in selected)}
        enough = [d for d, trials in fewer.items() if trials >= ENOUGH]
        most = f"{max(fewer.values())} at most"
        sentences.append(f"{label} at {counted(len(enough), 'value')} of delta{_span(enough) if enough else f' ({most})'}")
    return [f"Prediction 1 has {ENOUGH} trials or more of both sign biases with {'; '.join(sentences)}."] if sentences else []


def _second_prediction(separation: Separation) -> list[str]:
    sentences = []
    for label in separation.selected_labels:
        selected = [s for s in separation.selected if s.label == label and s.prediction == 2]
        enough = [s.at for s in selected if s.trials >= ENOUGH]
        few = "" if len(enough) >= FEWEST_POINTS else f"; a slope needs {FEWEST_POINTS} at least"
        sentences.append(f"{label} at {counted(len(enough), 'value')} of p{_span(enough)}{few}")
    return [f"Prediction 2 has {ENOUGH} trials or more with {'; '.join(sentences)}."] if sentences else []


def _span(values: Sequence[float]) -> str:
    return f" ({values[0]:g} to {values[-1]:g})" if len(values) > 1 else f" ({values[0]:g})" if values else ""


def correlation(value: float) -> str:
    """Three digits; what is not 1 does not read 1."""
    shown = f"{value:.3f}"
    return shown if abs(float(shown)) < 1.0 or abs(value) > SAME_RANKS else f"{'< -' if value < 0 else '> '}0.999"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
