"""Comparison and recovery in words and small tables, for a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from volatilis.behaviour.comparison.criteria import Comparison, Group
from volatilis.behaviour.fitting.jobs import Failure
from volatilis.behaviour.recovery.conclusions import conclusions, recovered, thresholds
from volatilis.behaviour.recovery.recover import Recovery

SHOWN = 5  # failures that are told in full
NAMES = {
    "log_likelihood": "log likelihood",
    "aic": "-AIC / 2",
    "bic": "-BIC / 2",
    "laplace": "Laplace evidence",
    "cross_validated": "cross-validated log likelihood",
}
SURE, EQUAL = 0.95, 0.25  # of a protected exceedance, and of the omnibus risk, from which words change
CLEAR = 3.0  # of a difference in log evidence: twenty to one
SAME = 0.05  # of the largest difference between two models, below which nothing tells them apart


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def comparison_text(comparison: Comparison, group: Group) -> list[str]:
    head = ("model", "sum", "behind", "95 % interval", "best for", "frequency", "exceedance", "protected")
    order = np.argsort(group.behind, kind="stable")
    selection, alone = group.selection, len(group.persons) == 1
    rows = [
        (
            *(comparison.models[k], f"{group.total[k]:.1f}", f"{group.behind[k]:.1f}"),
            *("" if k == order[0] or alone else f"{group.low[k]:.1f} to {group.high[k]:.1f}", str(group.best_for[k])),
            *(f"{values[k]:.3f}" for values in (selection.frequency, selection.exceedance, selection.protected)),
        )
        for k in order
    ]
    people = "1 person" if len(group.persons) == 1 else f"{len(group.persons)} people"
    title = f"{people}, {len(comparison.models)} models, by {NAMES[group.criterion]} (more is better)"
    return [title, "", *aligned([head, *rows]), "", *_comparison_words(comparison, group), *notes(comparison, group)]


def _comparison_words(comparison: Comparison, group: Group) -> list[str]:
    order, risk, protected = np.argsort(group.behind, kind="stable"), group.selection.omnibus_risk, group.selection.protected
    best, second, top = comparison.models[order[0]], comparison.models[order[1]], int(protected.argmax())
    least = group.low[order[1]]
    if len(group.persons) == 1:
        lead = f"{group.behind[order[1]]:.1f} ahead of {second}"
        return [f"For this person {best} is the best, {lead}; one person says nothing about others."]
    sure = "clearly" if least > CLEAR else f"but not clearly: the interval of the difference begins at {least:.1f}"
    lead = f"{group.behind[order[1]]:.1f} ahead of {second}"
    words = [f"By the sum over people {best} is the best, {lead}, {sure}."]
    verdict = "is the most frequent model" if protected[top] >= SURE else "leads, but it is not sure that it is the most frequent"
    words.append(f"As a model that people are drawn with, {comparison.models[top]} {verdict} (protected {protected[top]:.3f}).")
    if risk > EQUAL:
        words.append(f"That all models are equally frequent has the probability {risk:.2f}: this group does not settle it.")
    for j, k in itertools.combinations(range(len(comparison.models)), 2):
        if np.abs(group.evidence[:, j] - group.evidence[:, k]).max() < SAME:
            pair = f"{comparison.models[j]} and {comparison.models[k]}"
            words.append(f"{pair} describe everybody equally well: for whom which is the best means nothing.")
    rank = {name: comparison.models[int(np.nansum(comparison.evidence(name), axis=0).argmax())] for name in comparison.scores}
    other = [f"{NAMES[name]}: {model}" for name, model in rank.items() if model != best and _complete(comparison, name)]
    if other:
        words.append(f"Other criteria have another best sum: {'; '.join(other)}.")
    return words


def _complete(comparison: Comparison, criterion: str) -> bool:
    return bool(np.isfinite(comparison.scores[criterion]).all())


def notes(comparison: Comparison, group: Group) -> list[str]:
    told = []
    if group.left_out:
        who = ", ".join(group.left_out[:SHOWN]) + _more(group.left_out)
        told.append(f"{len(group.left_out)} left out, without a number under some model: {who}.")
    for kind in dict.fromkeys(kind for count, kind in comparison.folds if count):
        counts = [count for count, own in comparison.folds if own == kind and count]
        how = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        whose = (
            "everybody" if len(counts) == len(comparison.folds) else "1 person" if len(counts) == 1 else f"{len(counts)} people"
        )
        why = "" if kind == "blocks" else ", since there is one block"
        told.append(f"Cross-validation of {whose}: {how} folds made of {kind}{why}.")
    failed = {(one.person, one.label) for one in comparison.failures}
    pairs = [(i, k) for i in range(len(comparison.persons)) for k in range(len(comparison.models))]
    flat = [pair for pair in pairs if np.isnan(comparison.scores["laplace"][pair])]
    flat = [(i, k) for i, k in flat if (comparison.persons[i], comparison.models[k]) not in failed]
    if flat:
        where = ", ".join(f"{comparison.persons[i]} ({comparison.models[k]})" for i, k in flat[:SHOWN])
        told.append(
            f"No Laplace evidence, since the posterior is no bowl at its maximum (or that is at a bound): {where}{_more(flat)}."
        )
    return [*told, *failure_texts(comparison.failures)]


def _more(listed: Sequence[object]) -> str:
    return f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""


def failure_texts(failures: Sequence[Failure]) -> list[str]:
    told = [f"{one.label}: {one.message}" for one in failures[:SHOWN]]
    more = len(failures) - len(told)
    return [*told, *([f"... and {more} more fits that failed."] if more > 0 else [])]


def recovery_text(recovery: Recovery) -> list[str]:
    counts, confusion = recovery.counts(), recovery.confusion()
    head = ("true \\ best", *recovery.models, "people")
    rows = [
        (model, *("" if np.isnan(share) else f"{share:.2f}" for share in confusion[k]), str(int(counts[k].sum())))
        for k, model in enumerate(recovery.models)
    ]
    title = f"Simulated people on the designs of {recovery.people} people, the best model by {NAMES[recovery.criterion]}"
    lines = [title, "", *aligned([head, *rows]), ""]
    head = ("parameter", "correlation", "rank", "bias / spread", "coverage", "flagged")
    numbers = [
        (
            f"{one.model} {one.parameter}",
            *("" if np.isnan(v) else f"{v:.2f}" for v in (one.correlation, one.rank_correlation, one.bias, one.coverage)),
            str(one.flagged),
        )
        for one in recovered(recovery)
    ]
    if numbers:
        lines += [*aligned([head, *numbers]), ""]
    return [*lines, *(f"- {text}" for text in conclusions(recovery)), "", thresholds(), *failure_texts(recovery.failures)]
