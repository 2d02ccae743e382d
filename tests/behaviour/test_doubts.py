"""Responses on another scale than the outcomes: found, with the people's names, and not where a person is only slow or still."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import volatilis

from .simulated import FAMILY, FAMILY_TEXT

MODEL = ("--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--starts", "1", "--workers", "1")
OTHER_SCALES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a share of the screen": lambda given: given / 300.0,
    "millimetres": lambda given: 100.0 * given,
    "around another middle": lambda given: given + 2000.0,
}
SAME_SCALE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as it is": lambda given: given,
    "a person who never moves": lambda given: np.full(given.size, 150.0),
    "a person who hardly moves": lambda given: 150.0 + 0.05 * (given - 150.0),
    "a person who answers the other way round": lambda given: 300.0 - given,
}


def people(path: pathlib.Path, convert: Callable[[np.ndarray], np.ndarray], whose: tuple[int, ...] = (0, 1, 2)) -> None:
    parts = []
    for subject in range(3):
        y = vl.ChangingEnvironment(FAMILY, 0.1).sample(80, seed=subject).y
        noise = np.random.default_rng(subject).normal(0.0, 8.0, 80)
        given = np.append(150.0, vl.run(vl.VarSMiLe(FAMILY, 0.15), y).mean[:-1]) + noise
        given = convert(given) if subject in whose else given
        parts.append(pd.DataFrame({"subject": f"p{subject}", "outcome": y, "prediction": given}))
    pd.concat(parts).to_csv(path, index=False)


@pytest.mark.parametrize("scale", OTHER_SCALES)
def test_responses_on_another_scale_are_told(scale: str, tmp_path: pathlib.Path) -> None:
    people(tmp_path / "people.csv", OTHER_SCALES[scale])
    done = volatilis("fit", tmp_path / "people.csv", *MODEL, "--out", tmp_path / "out.csv")
    assert done.exit_code == 0, done.output
    assert "responses of p0; p1; p2 are on another scale than the outcomes" in done.stderr


def test_of_one_person(tmp_path: pathlib.Path) -> None:
    people(tmp_path / "people.csv", OTHER_SCALES["a share of the screen"], whose=(1,))
    done = volatilis("fit", tmp_path / "people.csv", *MODEL, "--out", tmp_path / "out.csv")
    assert "responses of p1 are on another scale" in done.stderr
    frame = pd.read_csv(tmp_path / "out.csv")
    assert frame[frame.person == "p1"].warnings.str.contains("scale").all()
    assert not frame[frame.person == "p0"].warnings.fillna("").str.contains("scale").any()


@pytest.mark.parametrize("person", SAME_SCALE)
def test_people_of_all_kinds_are_not_called_so(person: str, tmp_path: pathlib.Path) -> None:
    people(tmp_path / "people.csv", SAME_SCALE[person])
    done = volatilis("fit", tmp_path / "people.csv", *MODEL, "--out", tmp_path / "out.csv")
    assert "another scale" not in done.output
