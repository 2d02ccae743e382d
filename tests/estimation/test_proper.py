"""A family of one's own whose probabilities do not sum to one is told, by `run` and `fit` too; one that is right is not."""

from __future__ import annotations

import pathlib
import textwrap
from typing import Any

import numpy as np
import pytest

from tests.helpers.command_line import volatilis
from volatilis import catalogue
from volatilis.estimation.proper import improper
from volatilis.own_files import load_own

PAGES = pathlib.Path(__file__).parents[2] / "docs" / "how-to"
WAITING = np.sqrt(np.random.default_rng(0).standard_exponential(100))
COUNTS = np.random.default_rng(1).geometric(0.3, 100) - 1
# Rayleigh's law with an unknown rate (docs/how-to/rayleigh.py), with room for mistakes
RAYLEIGH = """
    from volatilis.own import Positive, python_only, real_observations, scalar_family
    from typing import NamedTuple
    from volatilis.special import log, log_gamma
    @scalar_family
    class {name}(NamedTuple):
        shape: Positive = 2.0
        rate: Positive = 1.0
        def prior_chi(self, row): return self.rate
        def prior_nu(self): return self.shape - 1.0
        def sufficient_statistic(self, y, row): return y * y
        def log_normalizer(self, chi, nu): return {normalizer}
        def log_base_measure(self, y): return {base}
        def mean(self, chi, nu, k): return (nu + 1.0) / chi[0]
        def variance(self, chi, nu, k): return (nu + 1.0) / chi[0] / chi[0]
        @python_only
        def observations(self, ys): return real_observations("{name}", ys, lambda v: v > 0.0, "a number above 0")
"""
RIGHT = {"normalizer": "log_gamma(nu + 1.0) - (nu + 1.0) * log(chi[0])", "base": "log(2.0 * y)"}
MISTAKES = {
    "AmplitudeWithoutTwo": RIGHT | {"base": "log(y)"},
    "AmplitudeOfTheWrongGamma": RIGHT | {"normalizer": "log_gamma(nu + 2.0) - (nu + 1.0) * log(chi[0])"},
    "AmplitudeOfTheWrongSign": RIGHT | {"normalizer": "log_gamma(nu + 1.0) + (nu + 1.0) * log(chi[0])"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One for each class, since a name of a family belongs to the file that it is from."""
    folder, paths = tmp_path_factory.mktemp("own"), {}
    for name, parts in {"AmplitudeRight": RIGHT, **MISTAKES}.items():
        path = folder / f"{name}.py"
        path.write_text(textwrap.dedent(RAYLEIGH.format(name=name, **parts)), encoding="utf-8")
        paths[name] = str(path)
    return paths


def own(path: str, **fields: float) -> Any:
    load_own([path])
    name = pathlib.Path(path).stem.lower()
    return next(cls for key, cls in catalogue.FAMILIES.items() if key.replace("-", "") == name)(**fields)


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("fields", [{}, {"shape": 1.01, "rate": 1e-3}, {"shape": 5.0, "rate": 100.0}])
def test_one_that_is_right(fields: dict[str, float], unit: float, files: dict[str, str]) -> None:
    assert improper(own(files["AmplitudeRight"], **fields), WAITING * unit) is None


@pytest.mark.parametrize("fields", [{}, {"a": 3.0}, {"a": 2.0, "b": 9.0}])
def test_counts_that_are_right(fields: dict[str, float]) -> None:
    assert improper(own(str(PAGES / "geometric.py"), **fields), COUNTS.astype(float)) is None


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str, files: dict[str, str]) -> None:
    text = improper(own(files[name]), WAITING)
    assert text is not None
    assert "check its log_normalizer and log_base_measure" in text
    if name == "AmplitudeWithoutTwo":
        assert "sum to 0.5 under its prior, not to 1" in text


def test_built_in_families_are_not_asked() -> None:
    assert improper(catalogue.FAMILIES["gaussian"](1.0), WAITING) is None


@pytest.mark.parametrize("command", [("run", "varsmile:m=0.1"), ("fit", "varsmile:m=free", "--starts", "1", "--workers", "1")])
def test_commands_say_it(command: tuple[str, ...], files: dict[str, str], tmp_path: pathlib.Path) -> None:
    table = tmp_path / "people.csv"
    rows = [f"p,{y},{0.5 + 0.1 * (i % 3)}" for i, y in enumerate(WAITING)]
    table.write_text("\n".join(["subject,outcome,prediction", *rows]), encoding="utf-8")
    model = ("--own", files["AmplitudeWithoutTwo"], "--family", "amplitude-without-two", "--out", tmp_path / "out.csv")
    name, learner, *options = command
    done = volatilis(name, table, *model, "--learner", learner, *options)
    assert done.exit_code == 0, done.output
    assert "sum to 0.5 under its prior, not to 1" in done.stderr
