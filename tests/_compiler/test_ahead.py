"""Kernels compiled ahead of time: found by level, never stale, the same bits, and without Numba."""

from __future__ import annotations

import json
import pathlib
import platform
import shutil
import subprocess
import sys

import pytest

from volatilis._compiler import ahead, cache
from volatilis.running import drivers

if platform.machine() != "x86_64" or sys.platform != "linux":
    pytest.skip("archives are for Linux; those of x86-64 are tried on x86-64", allow_module_level=True)

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
print(json.dumps([out, "numba" in sys.modules, "numba.core" in sys.modules]))
"""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    from release.kernels import kernels_of

    folder = tmp_path_factory.mktemp("ahead")
    for level, kernels in kernels_of("gaussian", ("varsmile",), tuple(one.name for one in ahead.LEVELS)).items():
        with (folder / f"{level}.kernels").open("wb") as file:
            ahead.write_archive(file, kernels)
    return folder


def answer(folder: pathlib.Path, level: str, tmp_path: pathlib.Path) -> tuple[list[object], bool, bool]:
    """What a new process with an empty cache computes, whether it imported Numba, and whether it compiled anything."""
    environment = {"VOLATILIS_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), level], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    numbers, numba, _ = json.loads(done.stdout)
    return numbers, numba, (tmp_path / "cache").exists()


def test_every_level_gives_the_same_bits_without_numba(archives: pathlib.Path, tmp_path: pathlib.Path) -> None:
    mine = {one.name for one in ahead.usable_levels(platform.machine(), ahead._features())}
    answers = [answer(archives, level, tmp_path) for level in sorted(mine)]
    assert answers
    assert all(one == answers[0] for one in answers)
    assert answers[0][1:] == (False, False)
    compiled = answer(archives / "nowhere", "x86-64-v3", tmp_path)
    assert compiled[0] == answers[0][0]
    assert compiled[1:] == (True, True)


def test_an_archive_for_other_sources_is_not_used(archives: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "FOLDER", archives)
    ahead._archive.cache_clear()
    try:
        assert ahead._archive() is not None
        monkeypatch.setattr(cache, "sources_digest", lambda: "other")
        ahead._archive.cache_clear()
        assert ahead._archive() is None
    finally:
        ahead._archive.cache_clear()


def test_a_broken_archive_gives_nothing(archives: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = pathlib.Path(shutil.copy(archives / "x86-64-v3.kernels", tmp_path))
    whole = path.read_bytes()
    keys = ahead.Archive(path)._index
    assert all(ahead.Archive(path).load(key) is not None for key in keys)
    assert ahead.Archive(path).load("nothing") is None
    path.write_bytes(whole[:-200])
    assert any(ahead.Archive(path).load(key) is None for key in keys)


def test_levels() -> None:
    assert [one.name for one in ahead.usable_levels("x86_64", ahead._V4)] == ["x86-64-v4", "x86-64-v3", "x86-64-v2"]
    assert [one.name for one in ahead.usable_levels("x86_64", ahead._V3 - {"fma"})] == ["x86-64-v2"]
    assert ahead.usable_levels("x86_64", []) == []
    assert [one.name for one in ahead.usable_levels("aarch64", [])] == ["aarch64"]


def test_object_files_are_for_their_machine(archives: pathlib.Path) -> None:
    """ELF's number of the machine: 62 is x86-64, 183 is aarch64 (which cannot be run here)."""
    for level in ahead.LEVELS:
        archive = ahead.Archive(archives / f"{level.name}.kernels")
        for key in archive._index:
            code = archive.load(key)
            assert code is not None
            assert code.object_file[:4] == b"\x7fELF"
            assert int.from_bytes(code.object_file[18:20], "little") == {"x86_64": 62, "aarch64": 183}[level.machine]


def test_what_is_the_users_has_no_portable_key() -> None:
    def own_driver() -> None:
        """Not of this package."""

    assert cache.portable_key(own_driver, ()) is None
    assert cache.portable_key(drivers.step, (1.0,)) is not None
