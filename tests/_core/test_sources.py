"""Stores are keyed on the sources that make their numbers: an edit of VarSMiLe makes them anew, nothing else does."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest

import volatilis as vl
from tests.behaviour.simulated import FAMILY_TEXT, write_people
from tests.helpers.processes import COMMAND
from volatilis._core import sources

SWEEP = """
import sys, volatilis as vl
from volatilis.experiments.sweep import Cell, Plan, sweep
family, shares = vl.Gaussian(1.0), []
cell = Cell(vl.ChangingEnvironment(family, 0.1), 200, vl.VarSMiLe(family, 0.1), {"Leaky": vl.Leaky(family, 0.9)})
print(sweep(Plan("plan", (cell,), seeds=2), sys.argv[1], progress=shares.append).error.values.tolist(), shares[0])
"""
TUNE = """
import sys
from volatilis.paper import tuned
from volatilis.paper.settings import GAUSSIAN, Size, TaskSetting
tuned.TUNED = {GAUSSIAN: {name: tuned.TUNED[GAUSSIAN][name] for name in ("VarSMiLe", "Leaky")}}
size, shares = Size("tiny", 2, 120, 160, (1, 60), (1, 60), 3, 1, 100, 1, 80, 3), []
print(tuned.tune_all([TaskSetting(GAUSSIAN, 1.0, 0.1)], size, sys.argv[1], progress=shares.append), shares[0])
"""


class Copy:
    """A copy of the package, which a test may edit."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        shutil.copytree(
            pathlib.Path(vl.__file__).parent, folder / "src" / "volatilis", ignore=shutil.ignore_patterns("__pycache__")
        )

    def run(self, *words: str, program: str = COMMAND[-1]) -> tuple[str, str]:
        """What it prints, on both streams."""
        environment = os.environ | {"PYTHONPATH": str(self.folder / "src")}
        command = [sys.executable, "-c", program, *words]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=250, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def edit(self, module: str, old: str, new: str) -> None:
        path = self.folder / "src" / "volatilis" / module
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> Copy:
    return Copy(tmp_path)


MODULATION = "modulated(self.m, family"
EDITED = "modulated(2.0 * self.m, family"


@pytest.mark.timeout(600)
def test_a_fit_is_made_anew_after_an_edit_of_the_learner(copy: Copy) -> None:
    write_people(copy.folder / "people.csv", 1, 40)
    words = ("fit", "people.csv", "--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--store", "store", "--workers", "1")
    first, _ = copy.run(*words)
    store = copy.folder / "store" / "fits.jsonl"
    assert store.read_text().count("\n") == 1
    copy.edit("cli/fit.py", '"""Fit learners', '"""We fit learners')  # makes no numbers
    again, said = copy.run(*words)
    assert (again, store.read_text().count("\n")) == (first, 1)
    assert "other sources" not in said
    copy.edit("learners/varsmile.py", MODULATION, EDITED)
    other, said = copy.run(*words)
    assert "1 result in store was made with other sources; it is computed again" in said
    lines = [json.loads(line) for line in store.read_text().splitlines()]
    assert len(lines) == 2
    assert lines[1]["values"]["m"] == pytest.approx(0.5 * lines[0]["values"]["m"], rel=1e-3)
    assert other != first
    copy.edit("learners/varsmile.py", EDITED, MODULATION)  # back again: the first numbers are still there
    assert copy.run(*words)[0] == first
    assert len(store.read_text().splitlines()) == 2


@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", [SWEEP, TUNE], ids=["sweep", "tuned"])
def test_the_papers_numbers_are_made_anew_after_an_edit_of_the_learner(copy: Copy, program: str) -> None:
    first, said = copy.run("store", program=program)
    assert (first.split()[-1], said) == ("0.0", "")
    assert copy.run("store", program=program)[0].split()[-1] == "1.0"
    copy.edit("learners/varsmile.py", MODULATION, EDITED)
    other, said = copy.run("store", program=program)
    assert other.split()[-1] == "0.0"
    assert said == "2 results in store were made with other sources; they are computed again\n"
    assert other != first


# --- which sources -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module", ["experiments.sweep", "experiments.tuning", "behaviour.fitting.jobs", "behaviour.design.experiment"]
)
def test_all_that_is_imported_is_among_the_sources(module: str) -> None:
    """But for what only moves, keeps or shows numbers."""
    program = f"import sys, volatilis.{module}; print(*(name for name in sys.modules if name.split('.')[0] == 'volatilis'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    loaded = {name for name in done.stdout.split() if not f"{name}.".startswith(tuple(f"{room}." for room in sources.NO_NUMBERS))}
    assert loaded <= sources.reached(f"volatilis.{module}")
    assert {"volatilis.special", "volatilis.learners.varsmile", "volatilis.running.drivers"} <= loaded


def test_rooms_without_numbers_exist() -> None:
    for name in sources.NO_NUMBERS:
        assert sources._path_of(name).is_file(), name


class Own(NamedTuple):
    """A user's class."""

    value: float


def test_the_text_of_a_users_class_counts(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.user_digest(vl.Gaussian(1.0), [1, "text"], {"a": 2.0}) == ""
    assert sources.user_digest({"a": (Own(1.0), 2)}) == sources.user_digest(Own) != ""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "helper_of_mine.py").write_text("def twice(x):\n    return 2 * x\n")
    (tmp_path / "class_of_mine.py").write_text("from helper_of_mine import twice\nclass Mine(tuple):\n    pass\n")
    import class_of_mine  # type: ignore[import-not-found]

    first = sources.user_digest([class_of_mine.Mine()])
    assert first == sources.user_digest([class_of_mine.Mine()])
    (tmp_path / "helper_of_mine.py").write_text("def twice(x):\n    return 2.0 * x\n")  # what it uses counts, too
    assert sources.user_digest([class_of_mine.Mine()]) != first
