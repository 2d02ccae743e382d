"""The compiler and its cache, in processes of their own: warm starts, no stale results, nobody harmed.

Each test that needs a cold cache has one of its own in a temporary folder; what is compiled there is small.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest

import volatilis as vl
from volatilis._compiler.registry import compiled_methods

RAYLEIGH = '''
import math
from typing import NamedTuple

import volatilis
{imports}


@volatilis.scalar_family
class Rayleigh(NamedTuple):
    """y ~ Rayleigh with density 2 theta y exp(-theta y^2), theta ~ Gamma(shape, rate)."""

    shape: float
    rate: float

    def prior_chi(self, row: int) -> float:
        return self.rate

    def prior_nu(self) -> float:
        return self.shape - 1.0

    def sufficient_statistic(self, y: float, row: int) -> float:
        return {statistic}

    def log_normalizer(self, chi, nu) -> float:
        return math.lgamma(nu + 1.0) - (nu + 1.0) * math.log(chi[0])

    def log_base_measure(self, y: float) -> float:
        return math.log(2.0 * y)

    def mean(self, chi, nu, k: int) -> float:
        return (nu + 1.0) / chi[0]

    def variance(self, chi, nu, k: int) -> float:
        return (nu + 1.0) / chi[0] ** 2

    def flat_chi(self, row: int) -> float:
        return 0.0

    def flat_nu(self) -> float:
        return 0.0
'''
RUN = """
import json, sys
import volatilis as vl
from rayleigh import Rayleigh
trace = vl.run(vl.Leaky(Rayleigh(2.0, 1.0), 0.9), [0.5, 1.0, 2.0])
print(json.dumps({"mean": trace.mean.tolist(), "numba": "numba" in sys.modules}))
"""


def rayleigh(statistic: str = "y * y", imports: str = "") -> str:
    return RAYLEIGH.replace("{statistic}", statistic).replace("{imports}", imports)


class Workshop:
    """A folder with the user's files, and a cache."""

    def __init__(self, folder: pathlib.Path, cache: pathlib.Path | None = None) -> None:
        self.folder, self.cache = folder, cache or folder / "cache"
        folder.mkdir(exist_ok=True)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        # an edit within the same second and of the same size must not be hidden by a stale __pycache__
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
        return path

    def start(self, *args: str, **environment: str) -> subprocess.Popen[str]:
        variables = os.environ | {"VOLATILIS_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"} | environment
        variables["PYTHONPATH"] = os.pathsep.join([str(self.folder), variables.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, *args], cwd=self.folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, program: str, **environment: str) -> Any:
        """What the program printed last, read as JSON; its warnings in `stderr`."""
        process = self.start("-c", textwrap.dedent(program), **environment)
        output, self.stderr = process.communicate(timeout=120)
        assert process.returncode == 0, self.stderr[-2000:]
        return json.loads(output.splitlines()[-1])

    def kernels(self) -> list[pathlib.Path]:
        return sorted(self.cache.glob("*.kernel"))


@pytest.fixture
def workshop(tmp_path: pathlib.Path) -> Workshop:
    return Workshop(tmp_path / "work")


# --- start-up ----------------------------------------------------------------------------------------------------------


def test_importing_imports_nothing_heavy(workshop: Workshop) -> None:
    program = """
        import json, sys
        import volatilis
        heavy = ("numba", "llvmlite", "matplotlib", "pandas", "xarray", "scipy")
        print(json.dumps([name for name in heavy if name in sys.modules]))
    """
    loaded = workshop.run(program)
    assert not set(loaded) - {"llvmlite"}  # LLVM's linker loads what was compiled before


def test_the_second_start_is_warm_and_has_the_same_bits(workshop: Workshop) -> None:
    program = """
        import json, sys
        import numpy as np
        import volatilis as vl
        y = np.sin(np.arange(40.0))
        learner = vl.VarSMiLe(vl.Gaussian(0.5), 0.1)
        trace, stream, many = vl.run(learner, y), vl.Stream(learner), vl.run_many(learner, [y, y])
        steps = [stream.update(v).mean for v in y]
        print(json.dumps({"mean": [*trace.mean, *steps, *many[1].mean], "numba": "numba" in sys.modules}))
    """
    cold, kernels = workshop.run(program), workshop.kernels()
    assert cold["numba"]
    assert len(kernels) >= 3
    warm = workshop.run(program)
    assert not warm["numba"]
    assert warm["mean"] == cold["mean"]
    assert workshop.kernels() == kernels
    assert not list(workshop.cache.glob("*.partial"))


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


def first_mean(statistic: Any) -> list[float]:
    """Leaky's first step: chi = phi(y) and nu = 1, so this family's mean is 2 / phi(y)."""
    return [2.0 / statistic(0.5)]


def test_after_an_edit_of_the_family_the_results_are_new(workshop: Workshop) -> None:
    workshop.write("rayleigh.py", rayleigh("y * y"))
    assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
    workshop.write("rayleigh.py", rayleigh("2.0 * y"))
    assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y: 2.0 * y), rel=1e-12)
    workshop.write("rayleigh.py", rayleigh("y * y"))
    back = workshop.run(RUN)
    assert back["mean"][:1] == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
    assert not back["numba"]  # what was compiled first is still there


def test_after_an_edit_of_what_the_family_uses_the_results_are_new(workshop: Workshop) -> None:
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
        workshop.write("helper.py", helper.format(inner=inner, factor=factor))
        workshop.write("rayleigh.py", rayleigh(statistic, imports))
        found = workshop.run(RUN)["mean"][:1]
        assert found == pytest.approx(first_mean(true), rel=1e-12), (statistic, inner, factor)


def test_after_an_edit_of_a_constant_in_the_family_file_the_results_are_new(workshop: Workshop) -> None:
    for scale in (1.0, 4.0):
        workshop.write("rayleigh.py", rayleigh("SCALE * y", f"SCALE = {scale}"))
        assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y, s=scale: s * y), rel=1e-12)


def test_a_class_attribute_and_a_default_are_part_of_the_key(workshop: Workshop) -> None:
    """A private method's body and a default argument reach compiled code as well."""
    for power in (1.0, 2.0):
        text = rayleigh("raised(y)", f"@volatilis.compiled_function\ndef raised(y, power={power}):\n    return y**power\n")
        workshop.write("rayleigh.py", text)
        assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y, p=power: y**p), rel=1e-12)


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


# --- a cache that is damaged, not writable, shared ---------------------------------------------------------------------

SMALL = """
    import json, sys
    import volatilis as vl
    trace = vl.run(vl.Leaky(vl.Gaussian(1.0), 0.5), [1.0, 2.0])
    print(json.dumps({"mean": trace.mean.tolist(), "numba": "numba" in sys.modules}))
"""
SMALL_MEAN = [1.0, 2.5 / 1.5]


@pytest.mark.parametrize("damage", ["empty", "truncated", "altered", "foreign", "folder"])
def test_a_damaged_cache_file_is_compiled_anew(damage: str, workshop: Workshop) -> None:
    assert workshop.run(SMALL)["mean"] == pytest.approx(SMALL_MEAN, rel=1e-15)
    (kernel,) = workshop.kernels()
    content = kernel.read_bytes()
    altered = bytearray(content)
    altered[len(altered) // 2] ^= 0xFF
    changes = {
        "empty": b"",
        "truncated": content[: len(content) // 2],
        "altered": bytes(altered),
        "foreign": b'{"sha256": 1}\n',
    }
    if damage == "folder":
        kernel.unlink()
        kernel.mkdir()
    else:
        kernel.write_bytes(changes[damage])
    again = workshop.run(SMALL)
    assert again["mean"] == pytest.approx(SMALL_MEAN, rel=1e-15)
    assert again["numba"]
    if damage != "folder":
        assert not workshop.run(SMALL)["numba"]  # repaired


def test_a_cache_that_cannot_be_written_warns_and_works(workshop: Workshop) -> None:
    """A path below a regular file: no user, not even root, can write there."""
    (workshop.folder / "file").write_text("")
    found = workshop.run(SMALL, VOLATILIS_CACHE_DIR=str(workshop.folder / "file" / "cache"))
    assert found["mean"] == pytest.approx(SMALL_MEAN, rel=1e-15)
    assert "RuntimeWarning" in workshop.stderr
    assert "VOLATILIS_CACHE_DIR" in workshop.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root can write everywhere")
def test_a_read_only_cache_warns_and_works(workshop: Workshop) -> None:
    workshop.cache.mkdir()
    workshop.cache.chmod(0o500)
    assert workshop.run(SMALL)["mean"] == pytest.approx(SMALL_MEAN, rel=1e-15)
    assert "RuntimeWarning" in workshop.stderr


def test_two_processes_may_compile_the_same_at_once(workshop: Workshop) -> None:
    processes = [workshop.start("-c", textwrap.dedent(SMALL)) for _ in range(2)]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors[-2000:]
        assert json.loads(output)["mean"] == pytest.approx(SMALL_MEAN, rel=1e-15)
    assert len(workshop.kernels()) == 1
    assert not workshop.run(SMALL)["numba"]


def test_two_threads_may_compile_the_same_at_once(workshop: Workshop) -> None:
    program = """
        import json
        from concurrent.futures import ThreadPoolExecutor
        import volatilis as vl
        learner = vl.Leaky(vl.Gaussian(1.0), 0.5)
        with ThreadPoolExecutor(4) as pool:
            means = list(pool.map(lambda i: vl.run(learner, [1.0, 2.0]).mean.tolist(), range(8)))
        print(json.dumps(means))
    """
    assert workshop.run(program) == [pytest.approx(SMALL_MEAN, rel=1e-15)] * 8
    assert len(workshop.kernels()) == 1


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("VOLATILIS_CACHE_DIR", str(tmp_path / "here"))
    assert vl.cache_directory() == tmp_path / "here"
    monkeypatch.delenv("VOLATILIS_CACHE_DIR")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert vl.cache_directory() == tmp_path / "volatilis"
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert vl.cache_directory() == tmp_path / ".cache" / "volatilis"


# --- mistakes in a family ----------------------------------------------------------------------------------------------


def test_a_method_that_raises_is_refused_at_definition() -> None:
    with pytest.raises(TypeError, match=r"Raises\.absorb raises an exception.*python_only"):

        @vl.family
        class Raises(NamedTuple):
            rate: float

            def absorb(self, beliefs: Any, i: int, y: Any) -> None:
                if y < 0.0:
                    raise ValueError("negative")


def test_a_method_with_the_name_of_a_tuples_is_refused_at_definition() -> None:
    for name in ("count", "index"):
        cls = type("Counts", (tuple,), {"_fields": ("rate",), name: lambda self, x: x})
        with pytest.raises(TypeError, match=f"Counts.*{name}"):
            compiled_methods(cls)


def test_a_field_named_like_a_method_is_refused_at_definition() -> None:
    assert vl.Leaky.__name__  # methods are known once their module is imported
    for field in ("mean", "variance", "update", "rows"):
        with pytest.raises(TypeError, match=f"Fields.*field.*{field!r}"):
            vl.family(NamedTuple("Fields", [(field, float)]))  # type: ignore[misc]


def test_a_method_named_like_a_field_is_refused_at_definition() -> None:
    with pytest.raises(TypeError, match=r"Methods.*'sigma'.*field"):

        @vl.family
        class Methods(NamedTuple):
            rate: float

            def sigma(self) -> float:
                return self.rate


def test_a_method_with_other_arguments_is_refused_at_definition() -> None:
    with pytest.raises(TypeError, match=r"Arguments\.absorb"):

        @vl.family
        class Arguments(NamedTuple):
            rate: float

            def absorb(self, beliefs: Any, y: Any) -> None:
                pass


def test_a_scalar_family_that_lacks_something_says_what() -> None:
    with pytest.raises(TypeError, match=r"Lacking lacks .*log_normalizer"):

        @vl.scalar_family
        class Lacking(NamedTuple):
            rate: float

            def prior_chi(self, row: int) -> float:
                return self.rate


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


def test_an_edit_of_the_users_njit_function_is_seen(workshop: Workshop) -> None:
    for factor in (1.0, 6.0):
        imports = f"import numba\n\n\n@numba.njit\ndef scaled(y):\n    return {factor} * y\n"
        workshop.write("rayleigh.py", rayleigh("scaled(y)", imports))
        assert workshop.run(RUN)["mean"][:1] == pytest.approx(first_mean(lambda y, f=factor: f * y), rel=1e-12)


def test_plain_python_needs_no_compiler(workshop: Workshop) -> None:
    workshop.write("rayleigh.py", rayleigh())
    program = """
        import json, sys
        import volatilis as vl
        from rayleigh import Rayleigh
        with vl.plain_python():
            mean = vl.run(vl.Leaky(Rayleigh(2.0, 1.0), 0.9), [0.5]).mean.tolist()
        print(json.dumps([mean, "numba" in sys.modules]))
    """
    mean, numba = workshop.run(program)
    assert mean == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
    assert not numba
    assert not workshop.kernels()


def test_arrays_that_are_not_contiguous_are_refused() -> None:
    from volatilis._compiler import Call

    def driver(x: Any, out: Any) -> None:
        out[0] = x[0]

    with pytest.raises(TypeError, match="contiguous"):
        Call(driver, np.zeros(10)[::2], np.zeros(1))


def test_compiled_code_knows_that_arrays_do_not_overlap() -> None:
    """All arrays of the driver itself, and of nothing else: functions it calls may get the same array twice."""
    import re

    from volatilis._compiler.translation import translate
    from volatilis.running import drivers

    learner = vl.VarSMiLe(vl.Gaussian(1.0), 0.1)
    texts, _ = translate(drivers.step, (learner, learner.init(0), np.zeros(1), np.zeros(7)))
    marked = re.findall(r"^define .*ptr noalias %arg\..*$", "\n".join(texts), flags=re.MULTILINE)
    assert len(marked) == 1
    assert re.search(r"\d+stepB", marked[0])
    assert not re.search(r"ptr %arg\.", marked[0])


def test_the_page_on_own_families_names_every_compiled_method() -> None:
    """They are reserved: no field may be called so."""
    import re

    from volatilis import surprise
    from volatilis._compiler import registry
    from volatilis.learners import _many

    assert surprise.__name__  # classes are known once their module is imported
    assert _many.__name__
    page = (pathlib.Path(__file__).parents[1] / "docs" / "how-to" / "own-family.md").read_text(encoding="utf-8")
    reserved = page.split("## Reserved names")[1].split("once a scalar family exists")[0]
    ours = [cls for name, cls in registry.classes.items() if name.startswith(("volatilis.families", "volatilis.learners"))]
    ours += [cls for name, cls in registry.classes.items() if name.startswith("volatilis.surprise")]
    methods = {name for cls in ours for name in vars(cls) if name in registry.method_signatures}
    assert set(re.findall(r"`(\w+)`", reserved)) == methods


# --- plain Python, in one thread and not in another --------------------------------------------------------------------


def copy_one(x: Any, out: Any) -> None:
    out[0] = x[0]


def test_plain_python_holds_in_one_thread_alone() -> None:
    """Two overlapping contexts: the first ends while the second is open. Neither reaches the other thread, or stays on."""
    from volatilis._compiler import Call

    first_open, second_open, first_closed = (threading.Event() for _ in range(3))

    def is_python() -> bool:
        return Call(copy_one, np.ones(1), np.zeros(1)).words() is None

    def first() -> list[bool]:
        ways = [is_python()]
        with vl.plain_python():
            first_open.set()
            second_open.wait(30)
            ways.append(is_python())
        ways.append(is_python())
        first_closed.set()
        return ways

    def second() -> list[bool]:
        first_open.wait(30)
        ways = [is_python()]
        with vl.plain_python():
            second_open.set()
            first_closed.wait(30)
            ways.append(is_python())
        ways.append(is_python())
        return ways

    with ThreadPoolExecutor(2) as pool:
        assert [future.result() for future in (pool.submit(first), pool.submit(second))] == [[False, True, False]] * 2
    assert not is_python()


def test_plain_python_reaches_the_threads_of_run_many(workshop: Workshop) -> None:
    program = """
        import json, sys
        import numpy as np
        import volatilis as vl
        family = vl.Gaussian(1.0)
        with vl.plain_python():
            learners = (vl.Leaky(family, 0.5), vl.Merge(family, 0.1, 2))
            many = [vl.run_many(learner, np.ones((130, 2)), workers=2) for learner in learners]
        print(json.dumps([float(many[0][7].mean[1]), "numba" in sys.modules]))
    """
    assert workshop.run(program) == [1.0, False]


# --- the sources in the key --------------------------------------------------------------------------------------------


def test_every_source_in_the_key_exists() -> None:
    from volatilis._compiler.cache import SOURCES, source_files

    files = source_files()
    assert all(path.is_file() for path in files)
    assert len(set(files)) == len(files) > len(SOURCES)


def test_whatever_compiled_code_reaches_is_in_the_key() -> None:
    """Each compiled function, method and driver: what it takes from other modules of volatilis is part of every key.

    Otherwise an edit there would leave old machine code in use.
    """
    from volatilis._compiler.cache import is_source

    reached = set()
    for function in compiled_code_of_volatilis():
        names = {name for code in all_code(function.__code__) for name in code.co_names}
        for name, module in imported_names(function.__module__).items():
            if name in names and is_source(function.__module__):
                reached.add((f"{function.__module__}.{function.__qualname__}", name, module))
    assert len(reached) > 100  # the test sees something
    assert [entry for entry in reached if not is_source(entry[2])] == []


def test_all_that_is_marked_as_compiled_is_in_the_key_or_told_by_its_byte_code() -> None:
    from volatilis._compiler.cache import is_source

    outside = {function.__module__ for function in compiled_code_of_volatilis() if not is_source(function.__module__)}
    assert outside <= {"volatilis.paper.published.code"}  # whose functions no source calls


def compiled_code_of_volatilis() -> list[Any]:
    """All functions and methods that are marked, and the loops around them, of all modules."""
    from volatilis._compiler import registry

    for module in pkgutil.walk_packages(vl.__path__, "volatilis."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    classes = [cls for name, cls in registry.classes.items() if name.startswith("volatilis.")]
    methods = [m for cls in classes for _, m in inspect.getmembers(cls, inspect.isfunction) if not registry.is_python_only(m)]
    modules = [importlib.import_module(f"volatilis.{name}") for name in ("running.drivers", "behaviour.drivers")]
    drivers = [f for module in modules for _, f in inspect.getmembers(module, inspect.isfunction)]
    marked = [*registry.functions, *registry.instructions, *methods, *drivers]
    return [f for f in marked if f.__module__.startswith("volatilis.") and not f.__name__.startswith("__")]


def all_code(code: Any) -> list[Any]:
    return [code, *(inner for constant in code.co_consts if inspect.iscode(constant) for inner in all_code(constant))]


def imported_names(module: str) -> dict[str, str]:
    """Where a module's names come from, of those that it takes from volatilis at its top."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("volatilis")]
    names = {}
    for node in imports:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            names[alias.asname or alias.name] = inner if inner in sys.modules else str(node.module)
    return names
