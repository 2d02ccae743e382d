"""Where the repository's files are, and the published data: tests that need a file which is not there are skipped and say so."""

from __future__ import annotations

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HOW_TO = DOCS / "how-to"
# people's trials and the authors' results: in folders that the environment names, or in `shared` beside the checkout
DATA = pathlib.Path(os.environ.get("VOLATILIS_DATA", ROOT.parent / "shared" / "data"))
REFERENCE = pathlib.Path(os.environ.get("VOLATILIS_REFERENCE", ROOT.parent / "shared" / "release"))
HELICOPTER = DATA / "bruckner_helicopter" / "experiment1_trials.csv.gz"

CANNON = DATA / "cannon" / "cannon_trials.csv.gz"


def ada_learn_file(task: str) -> pathlib.Path:
    """Trials of a task of ada-learn: ada-pos or ada-prob."""
    return DATA / "ada_learn" / f"ada-learn_study_{task}_outcome-level.csv.gz"


def needs(path: pathlib.Path, what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not path.exists(), reason=f"{what} are not there: {path}")


needs_helicopter = needs(HELICOPTER, "the helicopter task's trials")
needs_cannon = needs(CANNON, "the cannon task's trials")
needs_ada_learn = needs(ada_learn_file("ada-pos"), "ada-learn's trials")
needs_reference = needs(REFERENCE, "the authors' released data and tuned values (VOLATILIS_REFERENCE, or shared/release beside)")
