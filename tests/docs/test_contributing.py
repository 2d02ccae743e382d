"""The examples of CONTRIBUTING.md: their files, put into a copy of the package, are all that a learner and a family need."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import volatilis
from tests.helpers.paths import DOCS, ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHECKS = """
import inspect
import numpy as np
import volatilis as vl
from volatilis import catalogue
from volatilis.behaviour.fitting.parameters import RANGES
from volatilis.experiments.tuning import tune
from volatilis.plots import style

# names
assert "Forgetful" in vl.__all__ and "Geometric" in vl.__all__
assert list(inspect.signature(vl.Forgetful).parameters) == ["family", "share"]
# command line
family = catalogue.make_family(catalogue.parse_family("geometric:a=2,b=3"), {})
learner = catalogue.make_learner(catalogue.parse_learner("forget:share=0.1"), family, {})
assert learner == vl.Forgetful(vl.Geometric(2.0, 3.0), 0.1)
# figures
assert style.look("Forgetful").colour == "#00868b" and style.look("Forgetful").mark == "d"
assert style.ordered(["Leaky", "Forgetful", "SMiLe"]) == ["SMiLe", "Forgetful", "Leaky"]
# fits and tuning
assert RANGES["share"].scale.name == "logit"
environment = vl.ChangingEnvironment(vl.Gaussian(1.0), 0.05)
tuned = tune(vl.Forgetful, environment, steps=500, seeds=1)
assert 1e-4 < tuned.value < 1.0 and tuned.learner == vl.Forgetful(vl.Gaussian(1.0), tuned.value)
# both together, compiled and as plain Python
y = vl.ChangingEnvironment(family, 0.05).sample(50, seed=1).y
trace = vl.run(learner, y)
with vl.plain_python():
    plain = vl.run(learner, y)
np.testing.assert_array_equal(trace.mean, plain.mean)
exact = vl.run(vl.ExactBayes(vl.Geometric(1.0, 1.0), 1e-12), [3, 0, 2])
np.testing.assert_allclose(exact.mean, [2 / 6, 3 / 7, 4 / 10], rtol=1e-9)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of the package, with the files of the page in it."""
    root = tmp_path_factory.mktemp("contributing")
    source = pathlib.Path(volatilis.__file__).parent
    shutil.copytree(source, root / "src" / "volatilis", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in re.findall(r"`((?:src|tests)/[\w/]+\.py)`:\n\n```python\n(.*?)```", PAGE, flags=re.DOTALL):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def run(package: pathlib.Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(package / "src"), "COLUMNS": "80"}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=package, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_has_the_files(package: pathlib.Path) -> None:
    assert (package / "src" / "volatilis" / "learners" / "forgetful.py").is_file()
    assert (package / "src" / "volatilis" / "families" / "geometric.py").is_file()
    assert (package / "tests" / "learners" / "test_forgetful.py").is_file()


def test_lists_know_them(package: pathlib.Path) -> None:
    command = "from volatilis.cli import main; main()"
    listed = run(package, "-c", command, "learners")
    assert listed.index("smile\n") < listed.index("forgetful\n") < listed.index("leaky\n")
    assert "share: a number above 0 and below 1" in listed
    assert "geometric\n  y failures before a success" in run(package, "-c", command, "families")


def test_catalogue_tuning_figures_and_fits_know_them(package: pathlib.Path) -> None:
    run(package, "-c", CHECKS)


def test_the_tests_of_the_page_pass(package: pathlib.Path) -> None:
    run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/learners/test_forgetful.py")


def test_the_reference_pages_would_show_them(package: pathlib.Path) -> None:
    tables = ", ".join(f"generate.{name}()" for name in ("learner_table", "family_table", "search_ranges", "stub"))
    shutil.copytree(DOCS, package / "docs", ignore=shutil.ignore_patterns("*.png", "data", "figures"))
    made = run(package, "-c", f"import sys; sys.path.insert(0, 'docs'); import generate; print({tables})")
    for words in ("`Forgetful(family, share)`", "`Geometric(a=1.0, b=1.0)`", "| `share` | logit |", "import Forgetful"):
        assert words in made
