"""The validator of BIDS itself on a dataset with event files, where it is installed (pip install bids-validator-deno)."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from tests.helpers.command_line import succeeded

from .example import TRIALS, run, trials

needs_validator = pytest.mark.skipif(shutil.which("bids-validator-deno") is None, reason="bids-validator-deno is not installed")


def dataset(root: pathlib.Path, name: str) -> pathlib.Path:
    """A dataset with one image; returns the folder for its events."""
    import nibabel

    folder = root / "sub-01" / "func"
    folder.mkdir(parents=True)
    (root / "dataset_description.json").write_text(json.dumps({"Name": "x", "BIDSVersion": "1.10.0", "Authors": ["A B"]}))
    (root / "README.md").write_text("To try event files with.")
    image = nibabel.Nifti1Image(np.zeros((4, 4, 4, 150), dtype=np.int16), 2.0 * np.eye(4))
    header: Any = image.header
    header.set_zooms((2.0, 2.0, 2.0, 2.0))
    header.set_xyzt_units("mm", "sec")
    nibabel.save(image, folder / f"{name}_bold.nii.gz")
    (folder / f"{name}_bold.json").write_text(json.dumps({"RepetitionTime": 2.0, "TaskName": "volatile"}))
    return folder


def errors(root: pathlib.Path) -> list[dict[str, Any]]:
    found = subprocess.run(["bids-validator-deno", "--json", str(root)], capture_output=True, check=False, timeout=120)
    return [issue for issue in json.loads(found.stdout)["issues"]["issues"] if issue.get("severity") == "error"]


@needs_validator
def test_valid(tmp_path: pathlib.Path) -> None:
    table = trials(missing=(3,)).iloc[:TRIALS]
    folder = dataset(tmp_path / "bids", "sub-01_task-volatile_run-1")
    table.to_csv(tmp_path / "trials.csv", index=False)  # outside the dataset
    said = succeeded(run(tmp_path / "trials.csv", folder, missing="elapse", zscore="run"))
    assert "BIDS" not in said
    assert errors(tmp_path / "bids") == []
    events = folder / "sub-01_task-volatile_run-1_events.tsv"
    events.write_text(events.read_text().replace("onset", "begin", 1))
    assert errors(tmp_path / "bids")  # it does look at them


@needs_validator
def test_parts_of_names_are_in_their_order(tmp_path: pathlib.Path) -> None:
    table = trials().iloc[:TRIALS].assign(condition="easy")
    folder = dataset(tmp_path / "bids", "sub-01_task-volatile_acq-easy_run-1")
    table.to_csv(tmp_path / "trials.csv", index=False)
    said = succeeded(run(tmp_path / "trials.csv", folder, run_by="run=run,acq=condition,sub=subject"))
    assert "BIDS" not in said
    assert errors(tmp_path / "bids") == []


@pytest.mark.parametrize(
    ("changed", "by", "said"),
    [
        ({"condition": "easy"}, "subject,run,condition", "BIDS has no entity 'condition'"),
        (
            {"run": "A"},
            "subject,run",
            "BIDS needs whole numbers as runs, and 'run' has other values; --run-by acq=run accepts them",
        ),
        ({}, "run", "no column holds the subject"),
    ],
)
def test_names_that_are_not_of_bids(tmp_path: pathlib.Path, changed: dict[str, str], by: str, said: str) -> None:
    table = trials().iloc[:TRIALS].assign(**changed)
    assert said in " ".join(succeeded(run(table, tmp_path / "events", by=by)).split())
    assert said not in succeeded(run(table, tmp_path / "others", by=by, events_format="nilearn"))
