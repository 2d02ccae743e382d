"""The text of event files, one function per format: BIDS, nilearn, FSL and MNE. Each gives the files of a run by name.

bids      events.tsv: onset and duration first, `n/a` where a value is missing. Its sidecar is made in `sidecar`.
nilearn   the long form: onset, duration, trial_type, modulation; a row per event, and one per event and regressor. The events
          themselves come with modulation 1, by their trial_type: a modulated regressor alone would also take up the response
          to the mere event. An event where a regressor is missing has no row for it: for a centred regressor that is the mean.
fsl       three columns, onset, duration and weight; a file per regressor, and one per kind of event with weight 1
mne       a table for Epochs.metadata: a row per row of the run, in its order, with names that a query can use unchanged
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence

import numpy as np

from volatilis.events.runs import TRIAL_TYPE, Run
from volatilis.tables import TableError

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
            raise ValueError(f"the trial_type {name!r} needs the file {file}, which another one has; rename it in the table")
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
