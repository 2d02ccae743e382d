"""Kernels compiled ahead of time: found by level, never stale, the same bits, and without Numba and LLVM."""

from __future__ import annotations

import json
import pathlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from volatilis._compiler import ahead, cache, step_call
from volatilis._compiler.calls import noting_calls
from volatilis.running import drivers

if platform.machine() != "x86_64" or sys.platform != "linux":
    pytest.skip("archives are for Linux; those of x86-64 are tried on x86-64", allow_module_level=True)

WITHOUT = """
import importlib.metadata, pathlib, sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # nobody can import them
version = importlib.metadata.version
def of_what_is_there(name):
    if name in ("numba", "llvmlite"):
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = of_what_is_there
from volatilis._compiler import ahead
ahead.FOLDER = pathlib.Path(sys.argv[1])
sys.argv = ["volatilis", *sys.argv[2:]]
from volatilis.cli import main
main()
"""
LEVELS = tuple(one.name for one in ahead.LEVELS)
SCRIPT = """
import json, pathlib, sys
from volatilis._compiler import ahead
ahead.FOLDER = pathlib.Path(sys.argv[1])
levels = ahead.usable_levels
ahead.usable_levels = lambda machine, features: [one for one in levels(machine, features) if one.name == sys.argv[2]]
import volatilis as vl
learner = vl.VarSMiLe(vl.Gaussian(0.5), m=0.1)
trace = vl.run(learner, [0.2, -0.1, 3.0, 2.8])
gap = vl.run(learner, [0.2, float("nan"), 3.0], missing="elapse")
stream = vl.Stream(learner)
out = [trace.mean.tolist(), trace.bayesian_surprise.tolist(), gap.mean.tolist(), list(stream.update(1.5))]
print(json.dumps([out, "llvmlite" in sys.modules or "numba" in sys.modules]))
"""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    if shutil.which("ld.lld") is None:
        pytest.skip("ld.lld is not there (apt-get install lld)")
    from release import kernels

    folder = tmp_path_factory.mktemp("ahead")
    step = kernels.fast_step(LEVELS)
    for level, objects in kernels.kernels_of("gaussian", ("varsmile",), LEVELS).items():
        kernels.link({kernels.ahead.symbol_of_text(step_call.TEXT): step[level]} | objects, folder / f"{level}.so")
    return folder


def answer(folder: pathlib.Path, level: str, tmp_path: pathlib.Path) -> tuple[list[object], bool, bool]:
    """What a new process with an empty cache computes, whether it imported Numba or LLVM, and whether it compiled anything."""
    environment = {"VOLATILIS_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), level], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    numbers, imported = json.loads(done.stdout)
    return numbers, imported, (tmp_path / "cache").exists()


def test_every_level_gives_the_same_bits_without_numba(archives: pathlib.Path, tmp_path: pathlib.Path) -> None:
    mine = {one.name for one in ahead.usable_levels(platform.machine(), ahead._features())}
    answers = [answer(archives, level, tmp_path) for level in sorted(mine)]
    assert answers
    assert all(one == answers[0] for one in answers)
    assert answers[0][1:] == (False, False)
    compiled = answer(archives / "nowhere", "x86-64-v3", tmp_path)
    assert compiled[0] == answers[0][0]
    assert compiled[1:] == (True, True)


def test_commands_run_where_numba_is_not_installed(archives: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "trials.csv").write_text("outcome\n0.2\n-0.1\n3.0\n")
    environment = {"VOLATILIS_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path), "PATH": ""}

    def run(learner: str) -> subprocess.CompletedProcess[str]:
        words = ["run", "trials.csv", "--family", "gaussian:sigma=0.5", "--learner", learner, "--out", f"{learner[:3]}.csv"]
        command = [sys.executable, "-c", WITHOUT, str(archives), *words]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)

    assert run("varsmile:m=0.1").returncode == 0
    table = pd.read_csv(tmp_path / "var.csv")
    expected = vl.run(vl.VarSMiLe(vl.Gaussian(0.5), m=0.1), [0.2, -0.1, 3.0])
    np.testing.assert_allclose(table["varsmile_mean"], expected.mean, rtol=1e-12)
    not_ahead = run("merge:n=5,p_c=0.1")
    assert not_ahead.returncode == 2
    assert not_ahead.stderr == (
        "volatilis run: what this needs was not compiled ahead of time, and numba is not installed to compile it now: "
        "pip install numba\n"
    )
    assert not (tmp_path / "mer.csv").exists()


@pytest.fixture
def carried(archives: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """As if this package had come with a wheel."""
    monkeypatch.setattr(ahead, "FOLDER", archives)
    ahead._library.cache_clear()
    yield archives
    ahead._library.cache_clear()


def call() -> tuple[Callable[..., None], tuple[object, ...]]:
    learner = vl.VarSMiLe(vl.Gaussian(0.5), m=0.1)
    with noting_calls() as noted, vl.plain_python():
        vl.run(learner, [0.2, -0.1])
    return noted[0]


def test_kernels_of_other_sources_are_not_used(carried: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver, args = call()
    assert ahead.load(driver, args) is not None
    monkeypatch.setattr(cache, "sources_digest", lambda: "other")
    assert ahead.load(driver, args) is None


def test_a_broken_library_gives_nothing(carried: pathlib.Path, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    driver, args = call()
    for keep in (0, 1000, -200):
        for path in carried.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes()[:keep])
        monkeypatch.setattr(ahead, "FOLDER", tmp_path)
        ahead._library.cache_clear()
        assert ahead.load(driver, args) is None


def test_levels() -> None:
    assert [one.name for one in ahead.usable_levels("x86_64", ahead._V4)] == ["x86-64-v4", "x86-64-v3", "x86-64-v2"]
    assert [one.name for one in ahead.usable_levels("x86_64", ahead._V3 - {"fma"})] == ["x86-64-v2"]
    assert ahead.usable_levels("x86_64", []) == []
    assert [one.name for one in ahead.usable_levels("aarch64", [])] == ["aarch64"]


def test_libraries_are_for_their_machine(archives: pathlib.Path) -> None:
    """ELF's number of the machine: 62 is x86-64, 183 is aarch64 (which cannot be run here)."""
    for level in ahead.LEVELS:
        library = (archives / f"{level.name}.so").read_bytes()
        assert library[:4] == b"\x7fELF"
        assert int.from_bytes(library[18:20], "little") == {"x86_64": 62, "aarch64": 183}[level.machine]


def test_what_is_the_users_has_no_portable_key() -> None:
    def own_driver() -> None:
        """Not of this package."""

    assert cache.portable_key(own_driver, ()) is None
    assert cache.portable_key(drivers.step, (1.0,)) is not None
