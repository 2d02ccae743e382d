"""What `volatilis predict` leaves: a table of hypotheses, one of every person's windows, a picture, and what is shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from volatilis._core.terminal import console_of, plain, table
from volatilis.behaviour.indicators.request import PredictResult
from volatilis.plots.predictions import Curve, IndicatorAverages, draw_observed
from volatilis.predictions.estimators import ADJUSTED, ESTIMATORS, PAPER, mean_and_error
from volatilis.predictions.hypotheses import Row
from volatilis.predictions.pooling import ENOUGH, sentence
from volatilis.predictions.windows import SIGNS
from volatilis.tables import save_figure, write_columns

if TYPE_CHECKING:
    from rich.console import Console

DPI = 110
SHOWN = 8  # notes
SIGN_WORDS = {-1: "< 0", 0: "= 0", 1: "> 0"}


# --- files ---------------------------------------------------------------------------------------------------------------


def write(result: PredictResult, out: str | None = None, people: str | None = None, plot: str | None = None) -> None:
    """The tables and the picture that have a name."""
    if out is not None:
        write_hypotheses(out, result)
    if people is not None:
        write_people(people, result)
    if plot is not None:
        save_figure(draw_observed(_observed(result)), plot, DPI)


def write_hypotheses(path: str | os.PathLike[str], result: PredictResult) -> None:
    """One row per prediction, estimator, hypothesis and quantity."""
    rows = result.analysis.rows
    columns: dict[str, Sequence[object]] = {"prediction": [row.prediction for row in rows]}
    columns |= {name: [getattr(row, name) for row in rows] for name in ("hypothesis", "estimator", "quantity")}
    columns["predicted_sign"] = [row.predicted for row in rows]
    for name in ("value", "error", "low", "high", "t", "p", "p_flip", "degrees_of_freedom"):
        columns[name] = [float(getattr(row.test, name)) for row in rows]
    columns["people"] = [row.test.people for row in rows]
    columns |= {name: [getattr(row, name) for row in rows] for name in ("verdict", "hypothesis_verdict")}
    write_columns(path, columns)


def write_people(path: str | os.PathLike[str], result: PredictResult) -> None:
    """One row per person, prediction, window (and sign): trials in it, the indicator's average, the adjusted average.

    `warnings` are those of the person's fit.
    """
    analysis = result.analysis
    names = ("person", "prediction", "sign", "window", "trials", "mean", "adjusted_mean", "warnings")
    rows: list[tuple[object, ...]] = []
    for i, trials in enumerate(analysis.people):
        warnings = "; ".join(result.warnings.get(trials.name, ()))
        windows: list[tuple[int, int | None, float, tuple[int, ...]]] = [
            (1, sign, error, (i, s, k)) for s, sign in enumerate(SIGNS) for k, error in enumerate(analysis.first_window.errors)
        ]
        if analysis.second:
            windows += [(2, None, p, (i, k)) for k, p in enumerate(analysis.second_window.p)]
        for prediction, sign, window, place in windows:
            estimates = analysis.first if prediction == 1 else analysis.second
            means = (float(estimates[name].means[place]) for name in (PAPER, ADJUSTED))
            trials_in_window = int(estimates[PAPER].counts[place])
            rows.append((trials.name, prediction, sign, window, trials_in_window, *means, warnings))
    write_columns(path, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _observed(result: PredictResult) -> IndicatorAverages:
    """What the picture shows."""
    from scipy import stats

    analysis = result.analysis

    def curve(values: np.ndarray) -> Curve:
        return Curve(*mean_and_error(values.T))

    def difference(means: np.ndarray) -> Curve:
        values = means[:, 0] - means[:, 1]
        mean, error = curve(values)
        people = np.sum(~np.isnan(values), axis=0)
        reach = error * stats.t.ppf(0.5 + 0.5 * analysis.level, np.maximum(people - 1, 1))
        return Curve(mean, np.where(people > 1, reach, 0.0))

    means = analysis.first[PAPER].means
    at_p = analysis.second[PAPER].means if analysis.second else np.zeros((0, 0))
    return IndicatorAverages(
        indicator=result.request.indicator,
        level=analysis.level,
        errors=np.array(analysis.first_window.errors),
        signs=(curve(means[:, 0]), curve(means[:, 1])),
        differences={name: difference(estimates.means) for name, estimates in analysis.first.items()},
        people=np.sum(~np.isnan(means).any(axis=1), axis=0),
        p=np.array(analysis.second_window.p),
        probabilities={name: curve(estimates.means) for name, estimates in analysis.second.items()},
        people_at_p=np.sum(~np.isnan(at_p), axis=0),
    )


# --- the terminal --------------------------------------------------------------------------------------------------------


def show(result: PredictResult, console: Console | None = None) -> None:
    """Estimates and verdicts, then notes."""
    console = console or console_of()
    analysis = result.analysis
    trials = sum(person.indicator.size for person in analysis.people)
    basis = "their own predictions and confidence" if analysis.people[0].reported else "the learner's estimate and uncertainty"
    everyone = "1 person" if len(analysis.people) == 1 else f"{len(analysis.people)} people"
    heading = f"{everyone}, {trials:,} trials, indicator {result.request.indicator!r}; prediction 1 selects by {basis}"
    console.print(plain(heading), soft_wrap=True)
    _show_values(result, console)
    for prediction in (1, 2) if analysis.second else (1,):
        _show_estimates(result, prediction, console)
        _show_verdicts(result, prediction, console)
    if analysis.alike_without_prior():
        text = "A slope < 0 in prediction 2 also follows from |error| alone, and prediction 1 does not rule that out"
        console.print(f"[yellow]{text}: it is open whether people use the prior.[/yellow]", soft_wrap=True)
    _show_notes(result, console)


def _show_values(result: PredictResult, console: Console) -> None:
    if not result.values:
        return
    names = next(iter(result.values.values())).keys()
    middles = []
    for name in names:
        low, middle, high = np.quantile([values[name] for values in result.values.values()], (0.25, 0.5, 0.75))
        middles.append(f"{name} {middle:.3g} ({low:.3g} to {high:.3g})")
    console.print(f"fitted, median and middle half of people: {', '.join(middles)}", soft_wrap=True)


def _show_estimates(result: PredictResult, prediction: int, console: Console) -> None:
    analysis = result.analysis
    trials = (analysis.first if prediction == 1 else analysis.second)[ADJUSTED].trials
    what = "s = +1 less s = -1, and its slope over |error|" if prediction == 1 else "slope over p"
    counts = f"{trials.min():,}" if trials.min() == trials.max() else f"{trials.min():,} to {trials.max():,}"
    console.print()
    console.print(f"[bold]Prediction {prediction}[/bold]: {what}. {counts} trials a person were selected", soft_wrap=True)
    headings = ("quantity", "estimator", "mean", f"{100 * analysis.level:g} % interval", "p", "p (flips)", "people")
    estimates = table("llrrrrr", headings)
    for row in _distinct([row for row in analysis.rows if row.prediction == prediction]):
        test = row.test
        interval = "" if np.isnan(test.low) else f"{test.low:.3g} to {test.high:.3g}"
        p_values = ["" if np.isnan(p) else f"{p:.2g}" for p in (test.p, test.p_flip)]
        estimates.add_row(row.quantity, row.estimator, f"{test.value:.3g}", interval, *p_values, str(test.people))
    console.print(estimates)


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """One row per quantity and estimator; hypotheses share them."""
    return list({(row.quantity, row.estimator): row for row in rows}.values())


def _show_verdicts(result: PredictResult, prediction: int, console: Console) -> None:
    analysis = result.analysis
    verdicts = table("llll", ("hypothesis", "predicts", "verdict", "(paper)"))
    adjusted, paper = (analysis.verdicts(prediction, name) for name in reversed(ESTIMATORS))
    rows = [row for row in analysis.rows if row.prediction == prediction and row.estimator == ADJUSTED]
    for hypothesis, word in adjusted.items():
        signs = [f"{row.quantity} {SIGN_WORDS[row.predicted]}" for row in rows if row.hypothesis == hypothesis]
        verdicts.add_row(hypothesis.removeprefix("the indicator "), ", ".join(signs), f"[bold]{word}[/bold]", paper[hypothesis])
    console.print(verdicts)
    _show_needs(result, prediction, console)


def _show_needs(result: PredictResult, prediction: int, console: Console) -> None:
    """How much data it takes where these are too few. Hypotheses with the same answer share a line."""
    analysis = result.analysis
    answers: dict[str, list[str]] = {}
    for (of, hypothesis), needs in analysis.needs.items():
        if of == prediction:
            answers.setdefault(sentence(needs, len(analysis.people)), []).append(hypothesis.removeprefix("the indicator "))
    for answer, hypotheses in answers.items():
        text = f"Too little data to tell: {', '.join(hypotheses)}. It takes {answer}"
        console.print(f"[yellow]{text}[/yellow]", soft_wrap=True)
    if answers:
        share, noise = f"{100 * ENOUGH:g} %", "noise as large as the measure's own spread in these trials"
        console.print(f"(for a chance of {share} to see an effect, with {noise})", soft_wrap=True)


def _show_notes(result: PredictResult, console: Console) -> None:
    notes = [*result.notes, *(f"{name}: left out: {reason}" for name, reason in result.refused.items())]
    if notes:
        console.print()
    for note in notes[:SHOWN]:
        console.print(f"[yellow]-[/yellow] {plain(note)}", soft_wrap=True)
    if len(notes) > SHOWN:
        console.print(f"[yellow]-[/yellow] and {len(notes) - SHOWN} more notes of this kind", soft_wrap=True)
