"""The ordinary way through Numba, forced: the same numbers to the last bit. And which versions of Numba are accepted."""

from __future__ import annotations

import pathlib
import tomllib

import pytest

import volatilis as vl
from tests.helpers.paths import ROOT
from tests.helpers.workshop import SMALL, SMALL_MEAN, Workshop, rayleigh
from volatilis._compiler import cache

# Where a private name of Numba is gone, in a version that was never tried
MOVED = """
    from numba.core import codegen
    from volatilis._compiler import cache

    cache.TESTED = ("0.62.99", "0.99.0")  # not the one that is installed
    codegen.Renamed = codegen.CPUCodeLibrary
    del codegen.CPUCodeLibrary
"""
EVERYTHING = """
    import json
    import numpy as np
    import volatilis as vl
    from volatilis.behaviour.fitting.fit import fit
    from volatilis.behaviour.likelihood import Likelihood
    from volatilis.behaviour.models import Model
    from tests.behaviour.simulated import FAMILY_TEXT, gaussian_person
    from rayleigh import Rayleigh

    y, bits = np.sin(np.arange(40.0)) * 3.0, lambda values: np.asarray(values, dtype=float).tobytes().hex()
    results, merge, varsmile = {}, vl.Merge(vl.Gaussian(0.5), 0.1, 5), vl.VarSMiLe(vl.Gaussian(0.5), 0.1)
    for learner in (merge, varsmile):
        trace, many = vl.run(learner, y), vl.run_many(learner, np.stack([y, -y, y[::-1]]), workers=2)
        results[type(learner).__name__] = [bits(trace.mean), bits(trace.variance), bits(trace.shannon_surprise)]
        results[type(learner).__name__] += [bits([trace.mean for trace in many])]
    results["divergence"], stream = bits(trace.bayesian_surprise), vl.Stream(varsmile, missing="elapse")
    steps = [stream.update(value) for value in (*y.tolist(), 2, np.float64(0.25), None)]
    results["stream"] = [bits([step.mean for step in steps]), bits(stream.belief.mean)]
    results["own"] = bits(vl.run(vl.Leaky(Rayleigh(2.0, 1.0), 0.9), np.abs(y) + 0.1).mean)
    person = gaussian_person("a", 0.3, 8.0, 1, 20)
    results["fit"] = repr(fit(Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free"), person))
    sampled = Model.parse(FAMILY_TEXT, "pf:n=3,p_c=0.1", "gaussian:sd=8")
    results["copies"] = bits(Likelihood(sampled.make, person, {}, (1, 2))(()))
    print(json.dumps(results))
"""


@pytest.mark.timeout(1200)  # half a minute of processor time, which a busy machine stretches
def test_the_ordinary_way_gives_the_same_bits(tmp_path: pathlib.Path) -> None:
    """run, run_many, Stream, divergences, a user's family and fits."""
    workshop = Workshop(tmp_path / "work", vl.cache_directory())  # whose kernels other tests need too
    workshop.write("rayleigh.py", rayleigh())
    root = str(ROOT)
    program = f"    import sys\n    sys.path.append({root!r})\n" + EVERYTHING
    fast = workshop.run(program)
    ordinary = workshop.run(program, VOLATILIS_COMPILER="numba", VOLATILIS_CACHE_DIR=str(workshop.folder / "other"))
    assert ordinary == fast
    assert workshop.kernels()
    assert not (workshop.folder / "other").exists()  # nothing is kept
    assert "Warning" not in workshop.stderr  # the user asked for it


def test_a_moved_interface_warns_once_and_works(workshop: Workshop) -> None:
    stream = "    vl.Stream(vl.Leaky(vl.Gaussian(1.0), 0.5)).update(1.0)\n"
    program = MOVED + SMALL.replace("    print(", stream + "    print(")
    assert workshop.run(program)["mean"] == pytest.approx(SMALL_MEAN, rel=1e-15)
    assert workshop.stderr.count("RuntimeWarning") == 1
    assert "CPUCodeLibrary" in workshop.stderr
    assert not workshop.kernels()


def test_a_version_that_was_not_tried_but_works_takes_the_fast_way(workshop: Workshop) -> None:
    program = MOVED.split("codegen.Renamed")[0] + SMALL
    assert workshop.run(program)["mean"] == pytest.approx(SMALL_MEAN, rel=1e-15)
    assert workshop.stderr == ""
    assert workshop.kernels()


def test_an_unknown_compiler_is_refused(workshop: Workshop) -> None:
    process = workshop.start(
        "-c", "import volatilis as vl; vl.run(vl.Leaky(vl.Gaussian(1.0), 0.5), [1.0])", VOLATILIS_COMPILER="gcc"
    )
    assert "ValueError: the environment variable VOLATILIS_COMPILER is 'gcc'" in process.communicate(timeout=120)[1]


@pytest.mark.parametrize("version", ["0.61.2", "0.9.0", "0.69.0", "0.69.0rc1", "1.0"])
def test_versions_outside_the_range_are_refused_in_one_sentence(version: str) -> None:
    with pytest.raises(ImportError, match=rf"^volatilis works with Numba 0\.62 to 0\.68, and {version} is installed: [^\n]*$"):
        cache.check_numba(version)


def test_versions_in_the_range_are_accepted_and_the_project_says_the_same() -> None:
    for version in (*cache.TESTED, "0.68.9", "0.66.0rc1"):
        cache.check_numba(version)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "numba>=0.62,<0.69" in project["dependencies"]
