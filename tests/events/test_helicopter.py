"""People's trials in the helicopter task, as docs/how-to/helicopter-events.md goes about them.

The file is read where it is found (VOLATILIS_DATA, or a folder `shared/data` beside the checkout).
"""

from __future__ import annotations

import json
import pathlib
import re
import shlex
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import succeeded, volatilis
from tests.helpers.paths import HELICOPTER, HOW_TO, needs_helicopter

PAGE = HOW_TO / "helicopter-events.md"
pytestmark = needs_helicopter


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_the_page_does_what_it_says(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own Python and command, on the real file; its regressors against the library without tables."""
    monkeypatch.chdir(tmp_path)
    for subject, own in pd.read_csv(HELICOPTER).query("subj_num <= 2").groupby("subj_num"):  # two of the 129, for time
        folder = tmp_path / "adaptivelearning_analysis" / "al_data" / "first_experiment" / f"sub_{subject}" / "behav"
        folder.mkdir(parents=True)
        own.to_csv(folder / f"sub-{subject}_task-helicopter_behav.tsv", sep="\t", index=False)
    onsets, glm, epochs = blocks("python")
    exec(compile(onsets, "onsets", "exec"), {})
    trials = pd.read_csv("helicopter.csv")
    command = next(block for block in blocks("bash") if "--events" in block)
    succeeded(volatilis(*shlex.split(command.replace("\\\n", " "))[1:]))

    own = trials[(trials.subj_num == 2) & (trials.run == 1)]
    learner = vl.Nas12Star(vl.Gaussian(sigma=float(own.sigma.iloc[0]), mu_0=150.0, sigma_0=87.0), p_c=0.1)
    wanted = vl.run(learner, own.x_t.to_numpy(dtype=float)).shannon_surprise
    name = "events/sub-2_task-helicopter_run-1"
    events = pd.read_csv(f"{name}_events.tsv", sep="\t")
    np.testing.assert_allclose(events.nas12_star_shannon_surprise, (wanted - wanted.mean()) / wanted.std(), atol=1e-10)
    sidecar = json.loads(pathlib.Path(f"{name}_events.json").read_text())
    assert sidecar["nas12_star_shannon_surprise"]["FamilyParameters"]["sigma"] == own.sigma.iloc[0]

    made: dict[str, Any] = {}
    exec(compile(glm, "glm", "exec"), made)
    assert {"hidden", "visible", "merge_shannon_surprise", "merge_adaptation_rate"} <= set(made["design"].columns)
    exec(compile(epochs, "epochs", "exec"), made)
    assert len(made["epochs"]) == 200
