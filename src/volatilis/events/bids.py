"""BIDS: events.tsv, onset and duration first, `n/a` where a value is missing. Its sidecar is made in `sidecar`."""

from __future__ import annotations

from volatilis.events.runs import TRIAL_TYPE, Run


def files(run: Run) -> dict[str, str]:
    import pandas as pd

    columns: dict[str, object] = {"onset": run.onset, "duration": run.duration}
    if run.trial_type is not None:
        columns[TRIAL_TYPE] = run.trial_type
    columns |= {name: values for name, values in run.outcomes.items() if name not in columns}
    columns |= {regressor.name: regressor.values for regressor in run.regressors}
    text = pd.DataFrame(columns).to_csv(sep="\t", index=False, na_rep="n/a", lineterminator="\n")
    return {f"{run.name}_events.tsv": text}
