"""Two published data sets, as downloaded, to three tables of trials: helicopter.csv, ada-pos.csv, ada-prob.csv.

python docs/how-to/real_people.py DATA [OUT]

DATA holds the two repositories, adaptivelearning_analysis and ada-learn; the tables are written to OUT, or here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

EXPERIMENT = "adaptivelearning_analysis/al_data/first_experiment"
STUDY = "ada-learn/data/structured-dataset/ada-learn_study/data_outcome-level.csv"


def helicopter(data: Path) -> pd.DataFrame:
    """One file per person there. The prediction was made before the outcome; where `shown` is 1 the mean was to be seen."""
    files = sorted((data / EXPERIMENT).glob("sub_*/behav/*_behav.tsv"))
    if not files:
        raise SystemExit(f"no trials in {data / EXPERIMENT}: is {data} the folder with the repository?")
    trials = pd.concat([pd.read_csv(file, sep="\t") for file in files])
    trials = trials.sort_values("subj_num", kind="stable", ignore_index=True)
    trials["block"] = trials.groupby("subj_num").new_block.cumsum()
    trials["trial"] = trials.groupby("subj_num").cumcount() + 1
    names = {"subj_num": "subject", "x_t": "outcome", "b_t": "prediction", "v_t": "shown"}
    return trials.rename(columns=names)[["subject", "age_group", "block", "trial", "outcome", "prediction", "sigma", "shown"]]


def ada_learn(data: Path, task: str) -> pd.DataFrame:
    """One file with both tasks there. The estimate was given after the outcome. People are numbered as they come."""
    if not (data / STUDY).exists():
        raise SystemExit(f"{data / STUDY} is not there: is {data} the folder with the repository?")
    trials = pd.read_csv(data / STUDY)
    subject = pd.Series(pd.factorize(trials.subject)[0] + 1)
    table = {"subject": subject, "block": trials.session_idx + 1, "trial": trials.outcome_idx + 1}
    table |= {"outcome": trials.outcome, "estimate": trials.estimate}
    kept = pd.DataFrame(table)[trials.task == task]
    return kept.astype({"outcome": int}) if task == "ada-prob" else kept


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    data, out = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) == 3 else ".")
    for name, table in (
        ("helicopter.csv", helicopter(data)),
        ("ada-pos.csv", ada_learn(data, "ada-pos")),
        ("ada-prob.csv", ada_learn(data, "ada-prob")),
    ):
        table.to_csv(out / name, index=False)
        print(f"{name}: {table.subject.nunique()} people, {len(table):,} trials")
