"""nilearn's long form: onset, duration, trial_type, modulation; a row per event, and one per event and regressor.

The events themselves come with modulation 1, by their trial_type: a modulated regressor alone would also take up the response
to the mere event. An event where a regressor is missing has no row for it, which for a centred regressor means the mean.
"""

from __future__ import annotations

import numpy as np

from volatilis.events.runs import Run


def rows(run: Run) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Onset, duration and modulation of every condition: the events themselves, then the regressors."""
    weights = {name: np.where(events, 1.0, np.nan) for name, events in run.conditions().items()}
    weights |= {regressor.name: regressor.values for regressor in run.regressors}
    there = {name: ~np.isnan(weight) for name, weight in weights.items()}
    return {name: (run.onset[i], run.duration[i], weights[name][i]) for name, i in there.items()}


def files(run: Run) -> dict[str, str]:
    import pandas as pd

    parts = [
        pd.DataFrame({"onset": onset, "duration": duration, "trial_type": name, "modulation": weight})
        for name, (onset, duration, weight) in rows(run).items()
    ]
    table = pd.concat(parts).sort_values("onset", kind="stable")
    return {f"{run.name}_nilearn.tsv": table.to_csv(sep="\t", index=False, lineterminator="\n")}
