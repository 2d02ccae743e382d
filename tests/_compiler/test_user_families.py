"""A user's family: compiled, kept, compiled anew after an edit; and what is said where it cannot be compiled."""

from __future__ import annotations

import importlib
import json
import pathlib
import shutil
import sys

import numpy as np
import pytest

import volatilis as vl
from tests.helpers.workshop import RUN, OwnCache, Workshop, first_mean, rayleigh

# --- a user's family ---------------------------------------------------------------------------------------------------


LEARNERS = """
def learners(vl, family):
    return [
        vl.ExactBayes(family, 0.05), vl.MessagePassing(family, 0.05, 4), vl.ParticleFilter(family, 0.05, 4),
        vl.StratifiedResampling(family, 0.05, 4), vl.VarSMiLe(family, 0.1), vl.SMiLe(family, 0.1), vl.Leaky(family, 0.9),
        vl.Merge(family, 0.05, 2),
    ]
"""


def test_a_users_family_works_in_every_learner(tmp_path: pathlib.Path) -> None:
    """As Exponential does on y^2, which under a Rayleigh likelihood is exponential: to 1e-9."""
    workshop = Workshop(tmp_path / "work", vl.cache_directory())
    workshop.write("rayleigh.py", rayleigh())
    workshop.write("learners.py", LEARNERS)
    program = """
        import json
        import numpy as np
        import volatilis as vl
        from learners import learners
        from rayleigh import Rayleigh
        y = np.abs(np.random.default_rng(1).normal(size=25)) + 0.1
        print(json.dumps([vl.run(learner, y, seed=3).mean.tolist() for learner in learners(vl, Rayleigh(2.0, 1.0))]))
    """
    found, names = np.array(workshop.run(program)), {}
    exec(LEARNERS, names)
    y = np.abs(np.random.default_rng(1).normal(size=25)) + 0.1
    expected = np.array([vl.run(learner, y * y, seed=3).mean for learner in names["learners"](vl, vl.Exponential(2.0, 1.0))])
    assert found[:6] == pytest.approx(expected[:6], rel=1e-9)
    # Leaky starts from chi = nu = 0, where this family's mean is (nu + 1) / chi; Merge keeps other moments than Exponential's
    assert np.all(np.isfinite(found))
    assert found[7] == pytest.approx(expected[7], rel=0.1)


def test_a_users_family_is_cached_across_processes(workshop: Workshop) -> None:
    workshop.write("rayleigh.py", rayleigh())
    cold, warm = workshop.run(RUN), workshop.run(RUN)
    assert cold["numba"]
    assert not warm["numba"]
    assert cold["mean"] == warm["mean"]


def test_a_family_in_a_script_is_cached_too(workshop: Workshop) -> None:
    script = workshop.write("script.py", rayleigh() + RUN.replace("from rayleigh import Rayleigh", ""))
    results = []
    for _ in range(2):
        process = workshop.start(str(script))
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors[-2000:]
        results.append(json.loads(output))
    assert results[0]["numba"]
    assert not results[1]["numba"]
    assert results[0]["mean"] == results[1]["mean"]


def test_after_an_edit_of_the_family_the_results_are_new(workshop: Workshop) -> None:
    workshop.write("rayleigh.py", rayleigh("y * y"))
    assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
    workshop.write("rayleigh.py", rayleigh("2.0 * y"))
    assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y: 2.0 * y), rel=1e-12)
    workshop.write("rayleigh.py", rayleigh("y * y"))
    back = workshop.run(RUN)
    assert back["mean"][:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
    assert not back["numba"]  # what was compiled first is still there


class Edited:
    """The user's files, written and imported anew as often as one likes, in this process and with a cache of the test's own."""

    def __init__(self, folder: pathlib.Path, cache: OwnCache, patch: pytest.MonkeyPatch) -> None:
        self._folder, self._cache, self._patch = folder, cache, patch
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)

    def first_mean(self, **files: str) -> list[float]:
        """Of Leaky on the family in rayleigh.py."""
        for name, text in files.items():
            (self._folder / f"{name}.py").write_text(text)
            self._patch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        family = importlib.import_module("rayleigh").Rayleigh(2.0, 1.0)
        means, compiled = self._cache.run(vl.Leaky(family, 0.9), [0.5])
        assert compiled
        for name in files:
            del sys.modules[name]
        return means


@pytest.fixture
def edited(tmp_path: pathlib.Path, own_cache: OwnCache, monkeypatch: pytest.MonkeyPatch) -> Edited:
    return Edited(tmp_path, own_cache, monkeypatch)


def test_after_an_edit_of_what_the_family_uses_the_results_are_new(edited: Edited) -> None:
    """A helper function of another module, a function that the helper calls, a constant, a module that is used by name."""
    helper = "import volatilis\n\n@volatilis.compiled_function\ndef inner(y):\n    return {inner}\n\n"
    helper += "@volatilis.compiled_function\ndef outer(y):\n    return inner(y)\n\nFACTOR = {factor}\n"
    cases = [
        ("outer(y)", "from helper import outer", "y * y", 1.0, lambda y: y * y),
        ("outer(y)", "from helper import outer", "3.0 * y", 1.0, lambda y: 3.0 * y),
        ("FACTOR * y", "from helper import FACTOR", "y", 1.0, lambda y: y),
        ("FACTOR * y", "from helper import FACTOR", "y", 5.0, lambda y: 5.0 * y),
        ("helper.FACTOR * y", "import helper", "y", 2.0, lambda y: 2.0 * y),
        ("helper.FACTOR * y", "import helper", "y", 7.0, lambda y: 7.0 * y),
    ]
    for statistic, imports, inner, factor, true in cases:
        found = edited.first_mean(helper=helper.format(inner=inner, factor=factor), rayleigh=rayleigh(statistic, imports))
        assert found == pytest.approx(first_mean(true), rel=1e-12), (statistic, inner, factor)


def test_after_an_edit_of_a_constant_in_the_family_file_the_results_are_new(edited: Edited) -> None:
    for scale in (1.0, 4.0):
        found = edited.first_mean(rayleigh=rayleigh("SCALE * y", f"SCALE = {scale}"))
        assert found == pytest.approx(first_mean(lambda y, s=scale: s * y), rel=1e-12)


def test_a_class_attribute_and_a_default_are_part_of_the_key(edited: Edited) -> None:
    """A private method's body and a default argument reach compiled code as well."""
    for power in (1.0, 2.0):
        text = rayleigh("raised(y)", f"@volatilis.compiled_function\ndef raised(y, power={power}):\n    return y**power\n")
        assert edited.first_mean(rayleigh=text) == pytest.approx(first_mean(lambda y, p=power: y**p), rel=1e-12)


def test_a_family_from_a_folder_that_is_gone_harms_nobody(workshop: Workshop, tmp_path: pathlib.Path) -> None:
    gone = Workshop(tmp_path / "gone", workshop.cache)
    gone.write("rayleigh.py", rayleigh("9.0 * y"))
    gone.run(RUN)
    shutil.rmtree(gone.folder)
    program = """
        import json, sys
        import volatilis as vl
        print(json.dumps({"mean": vl.run(vl.VarSMiLe(vl.Gaussian(1.0), 0.1), [1.0]).mean.tolist()}))
    """
    assert workshop.run(program)["mean"] == [0.5]
    workshop.write("rayleigh.py", rayleigh("y * y"))  # the same names in another folder are another family
    assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)


def test_redefining_a_family_in_one_process(workshop: Workshop) -> None:
    """As in a notebook: the cell is run again after an edit."""
    workshop.write("first.py", rayleigh("y * y"))
    program = """
        import json
        import volatilis as vl
        text, means = open("first.py").read(), []
        for statistic in ("y * y", "2.0 * y", "y * y"):
            names = {"__name__": "__main__"}
            exec(text.replace("return y * y", f"return {statistic}"), names)
            means.append(float(vl.run(vl.Leaky(names["Rayleigh"](2.0, 1.0), 0.9), [0.5]).mean[0]))
        print(json.dumps(means))
    """
    expected = [first_mean(f)[0] for f in (lambda y: y * y, lambda y: 2.0 * y, lambda y: y * y)]
    assert workshop.run(program) == pytest.approx(expected, rel=1e-12)


# --- what cannot be compiled, and what can ----------------------------------------------------------------------------


def test_a_method_that_cannot_be_compiled_names_the_line(workshop: Workshop) -> None:
    path = workshop.write("rayleigh.py", rayleigh("float(len(open('numbers').read())) * y"))
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "open(" in text)
    program = """
        import json
        import volatilis as vl
        from rayleigh import Rayleigh
        try:
            vl.run(vl.Leaky(Rayleigh(2.0, 1.0), 0.9), [0.5, 1.0])
        except vl.CompilationError as error:
            print(json.dumps([str(error), isinstance(error, TypeError)]))
    """
    message, is_type_error = workshop.run(program)
    assert is_type_error
    assert "Rayleigh" in message
    assert "rayleigh.py" in message
    assert f"line {line}" in message or f"({line})" in message, message
    # Numba works on after the failure
    workshop.write("rayleigh.py", rayleigh())
    assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)


def test_a_failed_compilation_leaves_numba_as_it_was(workshop: Workshop) -> None:
    workshop.write("rayleigh.py", rayleigh("float(len(open('numbers').read())) * y"))
    program = """
        import json
        import numba
        import numpy as np
        import volatilis as vl
        from rayleigh import Rayleigh

        @numba.njit
        def before(x):
            return 2.0 * x

        before(1.0)
        try:
            vl.run(vl.Leaky(Rayleigh(2.0, 1.0), 0.9), [0.5, 1.0])
        except vl.CompilationError:
            pass

        @numba.njit
        def after(x):
            return np.sort(x)[0] + before(x[0])

        trace = vl.run(vl.Leaky(vl.Gaussian(1.0), 0.5), [1.0, 2.0])
        print(json.dumps([after(np.array([3.0, 1.0])), trace.mean[0]]))
    """
    assert workshop.run(program) == [7.0, 1.0]


def test_a_family_that_allocates_works(workshop: Workshop) -> None:
    """Memory is counted: a hundred thousand arrays come and go."""
    workshop.write("rayleigh.py", rayleigh("squares(y)", ALLOCATING))
    program = """
        import json, resource, sys
        import numpy as np
        import volatilis as vl
        from rayleigh import Rayleigh
        learner = vl.Leaky(Rayleigh(2.0, 1.0), 0.9)
        first = vl.run(learner, [0.5, 1.0, 2.0]).mean.tolist()
        vl.run(learner, np.full(1000, 0.5))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        vl.run(learner, np.full(100_000, 0.5))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(json.dumps({"mean": first, "grown": grown}))
    """
    for _ in range(2):  # compiled, and from the cache
        found = workshop.run(program)
        assert found["mean"][:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
        assert found["grown"] < 100_000  # kilobytes; 100,000 arrays of 1,000 numbers would be 800,000


ALLOCATING = """
import numpy as np


@volatilis.compiled_function
def squares(y):
    room = np.zeros(1000)
    room[7] = y * y
    return room.sum()
"""


def test_a_family_that_calls_the_users_own_njit_function(workshop: Workshop) -> None:
    """Compiled before or after, called from Python before and after: it works everywhere."""
    workshop.write("rayleigh.py", rayleigh("square(y)", "import numba\n\n\n@numba.njit\ndef square(y):\n    return y * y\n"))
    program = """
        import json
        import volatilis as vl
        import rayleigh
        {before}
        mean = vl.run(vl.Leaky(rayleigh.Rayleigh(2.0, 1.0), 0.9), [0.5, 1.0]).mean.tolist()
        print(json.dumps([mean, rayleigh.square(3.0), rayleigh.square(4)]))
    """
    for before in ("rayleigh.square(2.0)", "pass"):
        for _ in range(2):  # compiled, and from the cache
            mean, nine, sixteen = workshop.run(program.replace("{before}", before))
            assert mean[:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
            assert (nine, sixteen) == (9.0, 16)


def test_an_edit_of_the_users_njit_function_is_seen(edited: Edited) -> None:
    for factor in (1.0, 6.0):
        imports = f"import numba\n\n\n@numba.njit\ndef scaled(y):\n    return {factor} * y\n"
        found = edited.first_mean(rayleigh=rayleigh("scaled(y)", imports))
        assert found == pytest.approx(first_mean(lambda y, f=factor: f * y), rel=1e-12)
