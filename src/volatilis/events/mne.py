"""A table for MNE's Epochs.metadata: one row per row of the run, in its order, with names that a query can use as they are."""

from __future__ import annotations

import re

from volatilis.events.runs import TRIAL_TYPE, Run


def files(run: Run) -> dict[str, str]:
    import pandas as pd

    columns: dict[str, object] = {name: [value] * len(run.rows) for name, value in run.labels.items()}
    columns |= {"onset": run.onset, "duration": run.duration}
    if run.trial_type is not None:
        columns[TRIAL_TYPE] = run.trial_type
    columns |= {name: values for name, values in run.outcomes.items() if name not in columns}
    columns |= {regressor.name: regressor.values for regressor in run.regressors}
    plain = [_plain(name) for name in columns]
    twice = next((name for name in plain if plain.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two columns would be called {twice!r} in the table for MNE; rename one in the table")
    table = pd.DataFrame(columns).set_axis(plain, axis=1)
    return {f"{run.name}_metadata.csv": table.to_csv(index=False, lineterminator="\n")}


def _plain(name: str) -> str:
    """A name that stands for itself in epochs["name > 1"]."""
    plain = re.sub("[^A-Za-z0-9_]", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain
