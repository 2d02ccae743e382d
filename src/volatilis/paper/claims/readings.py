"""How the count of verdicts changes with other readings of the words: stricter and looser ones, and other levels of a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from volatilis.paper.claims import FAILS, HOLDS, OPEN, PUBLISHED_ONLY, evaluate
from volatilis.paper.claims.statistics import STATED, Reading, read_as

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

READINGS = (
    STATED,
    Reading("words of degree twice as wide (close 20 %, similar 50 %)", stretch=2.0),
    Reading("half as wide (close 5 %, similar 12.5 %)", stretch=0.5),
    Reading("a difference counts below p = 0.05", level=0.05),
    Reading("a difference counts below p = 0.001", level=0.001),
)


def counts(datasets: Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """One row per reading: how many claims have which verdict, and how many have another than as stated."""
    import pandas as pd

    rows: list[Any] = []
    stated: dict[str, Any] = {}
    for reading in READINGS:
        with read_as(reading):
            verdicts = {claim.key: claim.verdict for claim in evaluate(datasets)}
        stated = stated or verdicts
        counted = Counter(verdicts.values())
        changed = sum(verdicts[key] != stated[key] for key in verdicts)
        rows.append(
            {"reading": reading.name} | {v: counted[v] for v in (HOLDS, PUBLISHED_ONLY, FAILS, OPEN)} | {"changed": changed}
        )
    return pd.DataFrame(rows)
