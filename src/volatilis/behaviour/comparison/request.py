"""`volatilis compare`: from a table of trials to the learner that describes people best, in tables, in a picture and in words."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._core.terminal import console_of, plain, table
from volatilis.behaviour.comparison.criteria import Comparison, Group, check_criterion, compare, dataset, group
from volatilis.behaviour.doubts import people_of
from volatilis.behaviour.fitting.baseline import NO_BETTER
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.jobs import Failure, FitOptions
from volatilis.behaviour.models import models_of
from volatilis.behaviour.people import People, Source
from volatilis.tables import save_picture, write_columns

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = 5  # people and failures that are listed one by one
NAMES = {
    "log_likelihood": "log likelihood",
    "aic": "-AIC / 2",
    "bic": "-BIC / 2",
    "laplace": "Laplace evidence",
    "cross_validated": "cross-validated log likelihood",
}
SURE, EQUAL = 0.95, 0.25  # of a protected exceedance, and of the omnibus risk, from which words change
CLEAR = 3.0  # of a difference in log evidence: twenty to one
FEWEST = 5  # people whose differences tell how sure a sum over people is
SAME = 0.05  # of the largest difference between two models, below which they are the same


class CompareRequest(NamedTuple):
    """What is compared, and how: the request of `compare_table`, as `volatilis compare` makes it.

    source           the table of people's trials
    family           what is observed, such as gaussian:sigma=10
    learners         two or more, such as ("varsmile:m=free", "leaky:omega=free")
    response         how responses arise, such as gaussian:sd=free
    criterion        of the group: one of `criteria.CRITERIA`; all are computed for each person
    folds            of cross-validation, at most; 0: none
    options          starts, seed, where fits are made, and a folder that keeps finished ones
    own              Python files with families, learners and response models of the user's own
    """

    source: Source
    family: str
    learners: tuple[str, ...]
    response: str = "gaussian:sd=free"
    criterion: str = "bic"
    folds: int = 10
    options: FitOptions = FitOptions()
    own: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompareResult:
    """All criteria of all people who could be fitted; `group` raises ValueError where nobody has a number under every model."""

    request: CompareRequest
    people: People
    comparison: Comparison

    @functools.cached_property
    def group(self) -> Group:
        return group(self.comparison, self.request.criterion, self.request.options.seed)


def compare_table(
    request: CompareRequest,
    progress: Callable[[str, float], None] = lambda what, share: None,
    notify: Callable[[str], None] = lambda text: None,
) -> CompareResult:
    """Read, check, fit and compare, as `volatilis compare` does.

    request    what is compared, and how
    progress   called with what is done and its share
    notify     called with a line for each person who is left out

    Returns a CompareResult. Raises TableError for a table that cannot be used, ValueError for models that cannot be compared.

    >>> from volatilis.behaviour import CompareRequest, FitOptions, Source, compare_table
    >>> learners, options = ("varsmile:m=free", "leaky:omega=free"), FitOptions(starts=1, workers=1)
    >>> family = "gaussian:sigma=10,mu_0=150,sigma_0=50"
    >>> result = compare_table(CompareRequest(Source("people.csv"), family, learners, folds=0, options=options))
    >>> result.comparison.models
    ('varsmile', 'leaky')
    """
    check_criterion(request.criterion)
    if request.criterion == "cross_validated" and request.folds < 2:
        raise ValueError("--criterion cross_validated needs --folds 2 or more")
    models = models_of(request.family, request.learners, request.response, request.own)
    people = people_of(request.source, models, notify)
    return CompareResult(request, people, compare(models, people.persons, request.options, request.folds, progress))


def write(result: CompareResult, out: str | None = None, summary: str | None = None, plot: str | None = None) -> None:
    """A row per person and model in `out`, a row per model in `summary`, a picture in `plot`; each file is whole or not there."""
    if out is not None and result.comparison.anybody():  # first: it is kept even if the group cannot be compared
        write_columns(out, people_columns(result.comparison, result.request.criterion, result.people.refused))
    if plot is not None:
        from volatilis.plots import comparison as picture

        save_picture(picture, dataset(result.comparison, result.group), plot)
    if summary is not None:
        write_columns(summary, group_columns(result.comparison, result.group))


# --- tables --------------------------------------------------------------------------------------------------------------


def people_columns(comparison: Comparison, criterion: str, refused: Mapping[str, str]) -> dict[str, list[Any]]:
    """One row per person and model: criteria, parameters, and what must be known before they are used.

    refused    people of the table who could not be read, and why: rows without numbers, at the end
    """
    columns = _fitted_columns(comparison, criterion)
    for name, why in refused.items():
        for k, label in enumerate(comparison.models):
            nothing = {
                column: float("nan") if isinstance(values[0], float) else type(values[0])() for column, values in columns.items()
            }
            known = {"person": name, "model": label, "parameters": int(comparison.parameters[k]), "warnings": f"left out: {why}"}
            for column, values in columns.items():
                values.append((nothing | known)[column])
    return columns


def _fitted_columns(comparison: Comparison, criterion: str) -> dict[str, list[Any]]:
    labels, pairs = comparison.models, [(i, k) for i in range(len(comparison.persons)) for k in range(len(comparison.models))]
    fits = [comparison.fits[i][k] for i, k in pairs]
    evidence = comparison.evidence(criterion)
    best = np.where(np.isfinite(evidence).all(axis=1), np.where(np.isnan(evidence), -np.inf, evidence).argmax(axis=1), -1)
    columns: dict[str, list[Any]] = {
        "person": [comparison.persons[i] for i, _ in pairs],
        "model": [labels[k] for _, k in pairs],
        "parameters": [int(comparison.parameters[k]) for _, k in pairs],
        "responses": [int(comparison.responses[i]) for i, _ in pairs],
    }
    columns |= {name: [float(values[i, k]) for i, k in pairs] for name, values in comparison.scores.items()}
    columns["folds"] = [comparison.folds[i][0] for i, _ in pairs]
    columns["folds_of"] = [comparison.folds[i][1] if comparison.folds[i][0] else "" for i, _ in pairs]
    columns["best"] = [bool(best[i] == k) for i, k in pairs]
    names = dict.fromkeys(name for one in fits if isinstance(one, Fit) for name in one.values)
    columns |= {name: [float(one.values.get(name, np.nan)) if isinstance(one, Fit) else np.nan for one in fits] for name in names}
    columns["warnings"] = ["; ".join(one.warnings) if isinstance(one, Fit) else one.message for one in fits]
    return columns


def group_columns(comparison: Comparison, group: Group) -> dict[str, list[Any]]:
    """One row per model: the group by one criterion."""
    columns: dict[str, list[Any]] = {
        "model": list(comparison.models),
        "criterion": [group.criterion] * len(comparison.models),
        "people": [len(group.persons)] * len(comparison.models),
    }
    columns |= {name: getattr(group, name).tolist() for name in ("total", "behind", "low", "high", "best_for")}
    columns |= {name: getattr(group.selection, name).tolist() for name in ("alpha", "frequency", "exceedance", "protected")}
    columns["omnibus_risk"] = [group.selection.omnibus_risk] * len(comparison.models)
    return columns


# --- in words ------------------------------------------------------------------------------------------------------------


def show(result: CompareResult, stderr: bool = False) -> None:
    """Print the group's table and what it says."""
    console, comparison, group = console_of(stderr), result.comparison, result.group
    people = "1 person" if len(group.persons) == 1 else f"{len(group.persons)} people"
    console.print(f"{people}, {len(comparison.models)} models, by {NAMES[group.criterion]} (more is better)", soft_wrap=True)
    console.print(_group_table(comparison, group))
    for sentence in sentences(comparison, group):
        console.print(plain(sentence), soft_wrap=True)


def _group_table(comparison: Comparison, group: Group) -> Table:
    headings = ("model", "sum", "behind", "95 % interval", "best for", "frequency", "exceedance", "protected")
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
    return table("lrrrrrrr", headings, rows)


def sentences(comparison: Comparison, group: Group) -> list[str]:
    """Which model is best, how sure that is, and what a reader must know about the numbers."""
    return [*_verdicts(comparison, group), *_notes(comparison, group), *failure_texts(comparison.failures)]


def _verdicts(comparison: Comparison, group: Group) -> list[str]:
    order, risk, protected = np.argsort(group.behind, kind="stable"), group.selection.omnibus_risk, group.selection.protected
    best, second, top = comparison.models[order[0]], comparison.models[order[1]], int(protected.argmax())
    least = group.low[order[1]]
    lead = f"{group.behind[order[1]]:.1f} ahead of {second}"
    if len(group.persons) == 1:
        return [f"For this person {best} is the best model, {lead}; one person says nothing about others."]
    sure = "clearly" if least > CLEAR else f"but not clearly: the interval of the difference begins at {least:.1f}"
    if least > CLEAR and len(group.persons) < FEWEST:
        sure = f"but {len(group.persons)} people are too few to say how sure that is of others ({FEWEST} are the least)"
    words = [f"By the sum over people {best} is the best model, {lead}, {sure}."]
    verdict = "is the most frequent model" if protected[top] >= SURE else "leads, but may not be the most frequent model"
    words.append(f"By group selection {comparison.models[top]} {verdict} (protected exceedance {protected[top]:.3f}).")
    if risk > EQUAL:
        words.append(
            f"The probability that all models are equally frequent is {risk:.2f}: this group does not decide between them."
        )
    for j, k in itertools.combinations(range(len(comparison.models)), 2):
        if np.abs(group.evidence[:, j] - group.evidence[:, k]).max() < SAME:
            pair = f"{comparison.models[j]} and {comparison.models[k]}"
            words.append(f"{pair} describe everybody equally well: which of them is the best for a person means nothing.")
    rank = {name: comparison.models[int(np.nansum(comparison.evidence(name), axis=0).argmax())] for name in comparison.scores}
    other = [f"{NAMES[name]}: {model}" for name, model in rank.items() if model != best and _complete(comparison, name)]
    if other:
        words.append(f"By other criteria another model has the best sum: {'; '.join(other)}.")
    return words


def _complete(comparison: Comparison, criterion: str) -> bool:
    return bool(np.isfinite(comparison.scores[criterion]).all())


def _notes(comparison: Comparison, group: Group) -> list[str]:
    notes = []
    if group.left_out:
        who = ", ".join(group.left_out[:SHOWN]) + _more(group.left_out)
        people = "1 person" if len(group.left_out) == 1 else f"{len(group.left_out)} people"
        notes.append(f"Left out: {people} without a value under every model: {who}.")
    for kind in dict.fromkeys(kind for count, kind in comparison.folds if count):
        counts = [count for count, made_of in comparison.folds if made_of == kind and count]
        number = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        whose = (
            "everybody" if len(counts) == len(comparison.folds) else "1 person" if len(counts) == 1 else f"{len(counts)} people"
        )
        why = "" if kind == "blocks" else ", since there is one block"
        notes.append(f"Cross-validation of {whose}: {number} folds made of {kind}{why}.")
    notes += _of_fits(comparison)
    failed = {(one.person, one.label) for one in comparison.failures}
    pairs = [(i, k) for i in range(len(comparison.persons)) for k in range(len(comparison.models))]
    flat = [pair for pair in pairs if np.isnan(comparison.scores["laplace"][pair])]
    flat = [(i, k) for i, k in flat if (comparison.persons[i], comparison.models[k]) not in failed]
    if flat:
        where = ", ".join(f"{comparison.persons[i]} ({comparison.models[k]})" for i, k in flat[:SHOWN])
        why = "the maximum of the posterior is at a bound, or its curvature there is not positive definite"
        notes.append(f"No Laplace evidence ({why}): {where}{_more(flat)}.")
    return notes


def _of_fits(comparison: Comparison) -> list[str]:
    """What the fits of each model warn of most: the best of models that all fail is no good model."""
    counts = {label: Counter[str]() for label in comparison.models}
    warned, fits = Counter[str](), [one for by_model in comparison.fits for one in by_model if isinstance(one, Fit)]
    for one in fits:
        warned[one.label] += bool(one.warnings)
        counts[one.label].update(one.warnings)
    people = Counter(one.label for one in fits)
    notes = [
        f"{label}: fits of {warned[label]} of {people[label]} people have warnings "
        f"({', '.join(f'{text}: {count}' for text, count in counts[label].most_common(3))})."
        for label in comparison.models
        if warned[label]
    ]
    if all(2 * counts[label][NO_BETTER] > people[label] for label in comparison.models):
        notes.append("No model predicts most people better than a constant does: which one is best says little about learning.")
    return notes


def _more(listed: Sequence[object]) -> str:
    return f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""


def failure_texts(failures: Sequence[Failure]) -> list[str]:
    """The first failures in full, and how many more there are."""
    texts = [f"{one.label}: {one.message}" for one in failures[:SHOWN]]
    more = len(failures) - len(texts)
    return [*texts, *([f"... and {more} more fits that failed."] if more > 0 else [])]
