"""The text of event files, one function per format: BIDS, nilearn, FSL and MNE. Each gives the files of a run by name.

bids      events.tsv: onset and duration first, `n/a` where a value is missing. `sidecar` makes the JSON beside it.
nilearn   the long form: onset, duration, trial_type, modulation; a row per event, and one per event and regressor. The events
          themselves come with modulation 1, by their trial_type: a modulated regressor alone would also take up the response
          to the mere event. An event where a regressor is missing has no row for it: for a centred regressor that is the mean.
fsl       three columns, onset, duration and weight; a file per regressor, and one per kind of event with weight 1
mne       a table for Epochs.metadata: a row per row of the run, in its order, with names that a query can use unchanged
"""

from __future__ import annotations

import functools
import json
import pathlib
import re
from collections.abc import Callable, Container, Sequence

import numpy as np

from volatilis._core.fields import given_fields
from volatilis.events.request import EventsRequest, Regressor
from volatilis.events.runs import TRIAL_TYPE, Run
from volatilis.learners._base import Learner
from volatilis.tables import TableError
from volatilis.trials import MEASURES, Result

FSL_NO_EVENTS = "0 0 0\n"  # how FSL writes an explanatory variable without events
UNWRITABLE = '\t\n\r"'  # in a TSV of BIDS: some readers know quotes, others take them literally
CANNOT = "contains a tab, a line break or a double quote, which not all readers of TSV read alike; rename it in the table"


def bids(run: Run) -> dict[str, str]:
    import pandas as pd

    text = pd.DataFrame(_columns(run)).to_csv(sep="\t", index=False, na_rep="n/a", lineterminator="\n")
    return {f"{run.name}_events.tsv": text}


def nilearn(run: Run) -> dict[str, str]:
    import pandas as pd

    parts = [
        pd.DataFrame({"onset": onset, "duration": duration, "trial_type": name, "modulation": weight})
        for name, (onset, duration, weight) in _weighted(run).items()
    ]
    table = pd.concat(parts).sort_values("onset", kind="stable")
    return {f"{run.name}_nilearn.tsv": table.to_csv(sep="\t", index=False, lineterminator="\n")}


def fsl(run: Run) -> dict[str, str]:
    files: dict[str, str] = {}
    for name, columns in _weighted(run).items():
        rows = zip(*(column.tolist() for column in columns), strict=True)
        file = f"{run.name}_{re.sub('[^A-Za-z0-9_]+', '', name)}.txt"
        if file.casefold() in map(str.casefold, files):
            raise ValueError(
                f"the trial_type {name!r} and another one would be written to the same file {file}; rename one in the table"
            )
        files[file] = "".join(f"{onset!r} {duration!r} {weight!r}\n" for onset, duration, weight in rows) or FSL_NO_EVENTS
    return files


def mne(run: Run) -> dict[str, str]:
    import pandas as pd

    columns: dict[str, object] = {name: [value] * len(run.rows) for name, value in run.labels.items()}
    columns |= _columns(run, without=columns)
    names = [_query_name(name) for name in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two columns would be called {twice!r} in the table for MNE; rename one in the table")
    table = pd.DataFrame(columns).set_axis(names, axis=1)
    return {f"{run.name}_metadata.csv": table.to_csv(index=False, lineterminator="\n")}


WRITERS: dict[str, Callable[[Run], dict[str, str]]] = {"bids": bids, "nilearn": nilearn, "fsl": fsl, "mne": mne}


def _columns(run: Run, without: Container[str] = ()) -> dict[str, object]:
    """One value per row of the run: times, kinds of event, outcomes that are not among others already, regressors."""
    columns: dict[str, object] = {"onset": run.onset, "duration": run.duration}
    if run.trial_type is not None:
        columns[TRIAL_TYPE] = run.trial_type
    columns |= {name: values for name, values in run.outcomes.items() if name not in columns and name not in without}
    return columns | {regressor.name: regressor.values for regressor in run.regressors}


def _weighted(run: Run) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Onset, duration and modulation of every condition: the events themselves, then the regressors."""
    weights = {name: np.where(events, 1.0, np.nan) for name, events in run.conditions().items()}
    weights |= {regressor.name: regressor.values for regressor in run.regressors}
    present = {name: ~np.isnan(weight) for name, weight in weights.items()}
    return {name: (run.onset[i], run.duration[i], weights[name][i]) for name, i in present.items()}


def _query_name(name: str) -> str:
    """A name that epochs["name > 1"] can use."""
    plain = re.sub("[^A-Za-z0-9_]", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


# --- what a format cannot hold --------------------------------------------------------------------------------------------


def check_formats(runs: Sequence[Run], formats: Sequence[str], path: str) -> None:
    """Refuse what one of the formats cannot hold."""
    if {"nilearn", "fsl"} & set(formats):
        _check_conditions(runs, path)
    if {"bids", "nilearn"} & set(formats):
        _check_texts(runs, path)


def _check_conditions(runs: Sequence[Run], path: str) -> None:
    """nilearn and FSL need a name for every event, other than the regressors' names."""
    for run in runs:
        if run.trial_type is not None:
            events = zip(run.rows, run.trial_type, run.happened, strict=True)
            nameless = next((row for row, kind, happened in events if happened and not kind), None)
            if nameless is not None:
                raise TableError(
                    f"{path}: row {nameless + 1}, column {TRIAL_TYPE!r} is missing; nilearn and FSL need it for every event"
                )
        for regressor in run.regressors:
            if regressor.name in run.conditions():
                raise TableError(f"{path}: {regressor.name!r} is both a {TRIAL_TYPE} and a regressor; rename it in the table")


def _check_texts(runs: Sequence[Run], path: str) -> None:
    """Texts that all readers of TSV read alike: names of columns, kinds of event, outcomes that are texts."""
    for run in runs:
        texts = dict(run.outcomes) | ({} if run.trial_type is None else {TRIAL_TYPE: run.trial_type})
        for column, values in texts.items():
            if not set(UNWRITABLE).isdisjoint(column):
                raise TableError(f"{path}: the column name {column!r} {CANNOT}")
            bad = next((i for i, value in enumerate(values) if value and not set(UNWRITABLE).isdisjoint(value)), None)
            if bad is not None:
                raise TableError(f"{path}: row {run.rows[bad] + 1}, column {column!r}: {values[bad]!r} {CANNOT}")


# --- the JSON beside an events file: what every column means, which learner made it, and what to cite ------------------

PAPER = (
    "Liakoni, V., Modirshanechi, A., Gerstner, W. & Brea, J. (2021). Learning in volatile environments with the Bayes Factor "
    "Surprise. Neural Computation 33(2), 269-340. https://doi.org/10.1162/neco_a_01352"
)
SYMBOLS = (
    "y: the outcome; theta: the hidden parameter; pi, pi': the belief before and after the outcome; pi0: the prior; P(y; pi): "
    "the probability of y under pi, or its density; p_c: the probability of a change, m / (1 + m) for a learner with m; "
    "log: natural logarithm; KL[a || b]: the expectation of log(a / b) under a"
)
FORMULAS = {
    "mean": "E[theta] under pi'",
    "variance": "Var[theta] under pi'",
    "run_length": "E[r] under pi', with r the number of observations since the last change",
    "bayes_factor_surprise": "P(y; pi0) / P(y; pi)",
    "log_bayes_factor_surprise": "log P(y; pi0) - log P(y; pi)",
    "shannon_surprise": "-log((1 - p_c) P(y; pi) + p_c P(y; pi0))",
    "adaptation_rate": "m S / (1 + m S) with S = P(y; pi0) / P(y; pi), m = p_c / (1 - p_c); for SMiLe the rate of its own rule",
    "log_predictive": "log((1 - p_c) P(y; pi) + p_c P(y; pi0))",
    "outlier_probability": "p_o Q(y) / ((1 - p_c) P(y; pi) + p_c P(y; pi0))",
    "change_probability": "E[p_c | all outcomes before]",
    "bayesian_surprise": "KL[pi || pi']",
    "confidence_corrected_surprise": "KL[pi || p], with p(theta) = P(y | theta) / (integral of P(y | theta) over theta)",
}
LONG_NAMES = {name: name.replace("_", " ").capitalize() for name in MEASURES} | {
    "bayes_factor_surprise": "Bayes Factor Surprise",
    "log_bayes_factor_surprise": "Log Bayes Factor Surprise",
    "bayesian_surprise": "Bayesian surprise",
    "confidence_corrected_surprise": "Confidence-corrected surprise",
    "run_length": "Expected run length",
}
TIMES = {
    "before": "It belongs to the outcome, under the belief before it.",
    "after": "It is known once the outcome has been taken in.",
}


def sidecar(run: Run, result: Result, request: EventsRequest) -> dict[str, str]:
    table = pathlib.Path(request.run.table).name
    lasting = (
        f"from column {request.duration!r} of {table}" if request.duration in result.rows.schema.names else "the same for all"
    )
    described: dict[str, object] = _given_columns(run, request, table, lasting)
    described |= {regressor.name: _computed(regressor, run, result, request) for regressor in run.regressors}
    described["GeneratedBy"] = {
        "Name": "volatilis",
        "Version": _version(),
        "Description": "Columns computed from a table of outcomes; their meaning is in docs/reference/columns.md of volatilis.",
        "Symbols": SYMBOLS,
        "Table": table,
        "Family": request.run.family.text,
        "Learners": {recipe.label: recipe.text for recipe in request.run.learners},
        "LearnersStartAnewFor": list(result.by),
        "LearnersStartAnewWhere": ", ".join(
            f"{name} is not 0" if name == request.run.reset else f"{name} changes" for name in result.starts
        )
        or "n/a",
        "MissingOutcomes": request.run.missing,
        "Seed": request.run.seed,
        "References": [PAPER, f"The volatilis developers. volatilis (version {_version()}) [computer software]."],
    }
    return {f"{run.name}_events.json": json.dumps(described, indent=2, ensure_ascii=False, allow_nan=False) + "\n"}


def _given_columns(run: Run, request: EventsRequest, table: str, lasting: str) -> dict[str, object]:
    described: dict[str, object] = {
        "onset": {
            "LongName": "Onset of the outcome",
            "Description": f"When the outcome came, from the start of the run, from column {request.onset!r} of {table}.",
            "Units": "s",
        },
        "duration": {"LongName": "Duration of the event", "Description": f"How long the event lasts, {lasting}.", "Units": "s"},
    }
    if run.trial_type is not None:
        described[TRIAL_TYPE] = {"LongName": "Kind of event", "Description": f"From column {TRIAL_TYPE!r} of {table}."}
    for column in request.run.outcome:
        outcome = {
            "LongName": "Outcome",
            "Description": f"The outcome that learners observed, from column {column!r} of {table}.",
            "Units": f"as in {table}",
        }
        described.setdefault(column, outcome)
    return described


def _computed(regressor: Regressor, run: Run, result: Result, request: EventsRequest) -> dict[str, object]:
    column, measure = regressor.column, MEASURES[regressor.column.measure]
    learners = [result.learners[column.label, key] for key in run.groups]
    names = learners[0].family.parameter_names()
    element = "" if column.element is None else f" Of the parameter's element {names[column.element]}."
    described: dict[str, object] = {
        "LongName": f"{LONG_NAMES[measure.name]} ({column.label})",
        "Description": f"{measure.description}{element} {TIMES[measure.of]}{_scaling(request)}",
        "Units": measure.units if request.zscore == "none" else "standard deviations",
        "Formula": FORMULAS[measure.name],
        "Learner": type(learners[0]).__name__,
    }
    described |= _parameters(run, result, learners)
    if request.centred != "none" or request.zscore != "none":
        described |= {"UnitsBefore": measure.units, "Subtracted": _one(regressor.shift), "DividedBy": _one(regressor.scale)}
    absent = np.isnan(regressor.values) & ~regressor.infinite
    return described | {"MissingValues": int(absent.sum()), "InfiniteValuesAsMissing": int(regressor.infinite.sum())}


def _parameters(run: Run, result: Result, learners: list[Learner]) -> dict[str, object]:
    """Once, where all groups of the run have the same; else one entry per group."""
    parameters: list[dict[str, object]] = [
        {
            "LearnerParameters": {name: _plain(value) for name, value in given_fields(learner).items() if name != "family"},
            "Family": type(learner.family).__name__,
            "FamilyParameters": {name: _plain(value) for name, value in given_fields(learner.family).items()},
        }
        for learner in learners
    ]
    if all(entry == parameters[0] for entry in parameters):
        return parameters[0]
    groups = (dict(zip(result.by, key, strict=True)) for key in run.groups)
    return {"ParametersByGroup": [{"Group": group} | entry for group, entry in zip(groups, parameters, strict=True)]}


def _scaling(request: EventsRequest) -> str:
    words = {"run": "of the run", "subject": "of the subject", "all": "of all runs"}
    sentence = f" The mean {words[request.centred]} was subtracted." if request.centred != "none" else ""
    return sentence + (f" Then divided by the standard deviation {words[request.zscore]}." if request.zscore != "none" else "")


def _one(values: np.ndarray) -> float | str:
    """The value that all rows of a run share; n/a where no row has a value."""
    return "n/a" if np.isnan(values[0]) else float(values[0])


@functools.cache
def _version() -> str:
    from importlib.metadata import version

    return version("volatilis")


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value
