"""The trials of a cannon task, as downloaded, to one table: cannon.csv. And one person's trials drawn on the circle: cannon.png.

python docs/how-to/cannon.py DATA [OUT]       DATA is the repository FOR-1-Paper
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import volatilis as vl

PEOPLE = 36  # the first of 73
NAMES = {"x_t": "outcome", "b_t": "prediction", "kappa_t": "kappa", "v_t": "shown"}


def trials_of(data: Path) -> pd.DataFrame:
    """One file per person there, all angles in degrees."""
    files = sorted((data / "for_data" / "for_bids_data").glob("sub_*/behav/*_behav.tsv"))[:PEOPLE]
    if not files:
        raise SystemExit(f"no trials in {data}: is it the folder of the repository?")
    return pd.concat([pd.read_csv(file, sep="\t").assign(subject=f"{i:02}") for i, file in enumerate(files, 1)])


def tidy(trials: pd.DataFrame) -> pd.DataFrame:
    """Short names, and blocks numbered through: their own numbers come twice. No value is changed."""
    kept = trials.drop(columns=["outcome", "block", "trial"], errors="ignore").rename(columns=NAMES).reset_index(drop=True)
    kept["block"] = kept.groupby("subject").new_block.cumsum()
    kept["trial"] = kept.groupby("subject").cumcount() + 1
    return kept[["subject", "block", "trial", "outcome", "prediction", "kappa", "shown"]]


def draw(people: pd.DataFrame, subject: str, block: int, path: Path) -> None:
    """One block of one person from the centre out: outcomes, the person's predictions, and what Merge believes."""
    own = people[(people.subject == subject) & (people.block == block)]
    family = vl.VonMises(kappa=float(own.kappa.iloc[0]), period=360.0)
    trace = vl.run(vl.Merge(family, p_c=0.1, n=20), own.outcome)
    trace.plot_circle(responses=np.asarray(own.prediction)).savefig(path, dpi=110)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    out = Path(sys.argv[2] if len(sys.argv) == 3 else ".")
    table = tidy(trials_of(Path(sys.argv[1])))
    table.to_csv(out / "cannon.csv", index=False)
    print(f"cannon.csv: {table.subject.nunique()} people, {len(table):,} trials")
    draw(table, "01", 1, out / "cannon.png")
