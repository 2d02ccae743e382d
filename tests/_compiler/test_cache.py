"""The disk cache: warm starts, no stale results, nobody harmed.

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
import re
import stat
import sys
import textwrap
from typing import Any

import pytest

import volatilis as vl
from tests.helpers.workshop import SMALL, SMALL_MEAN, OwnCache, Workshop

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


def test_a_stream_compiles_what_it_needs(own_cache: OwnCache) -> None:
    """A step with an observation; one without where missing observations are accepted, or at the first gap or reset."""
    learner = vl.Leaky(vl.Gaussian(1.0), 0.5)
    own_cache.forget()
    stream = vl.Stream(learner)
    assert stream.update(1.0).mean == 1.0
    assert len(own_cache.kernels()) == 1
    stream.reset()
    assert len(own_cache.kernels()) == 2
    assert stream.update(3.0).mean == 3.0
    for kernel in own_cache.kernels():
        kernel.unlink()
    own_cache.forget()
    vl.Stream(learner, missing="elapse")
    assert len(own_cache.kernels()) == 2


# --- a cache that is damaged, not writable, shared ---------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["empty", "truncated", "altered", "foreign", "folder"])
def test_a_damaged_cache_file_is_compiled_anew(damage: str, own_cache: OwnCache, small_kernel: pathlib.Path) -> None:
    kernel = own_cache.put(small_kernel)
    assert not own_cache.compiles_small()
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
        with pytest.warns(RuntimeWarning, match="compiled code cannot be kept"):
            assert own_cache.compiles_small()
    else:
        kernel.write_bytes(changes[damage])
        assert own_cache.compiles_small()
        assert not own_cache.compiles_small()  # repaired


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


# --- a cache that others may write to ----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="no owners and modes")
@pytest.mark.parametrize("place", ["folder", "file"])
@pytest.mark.parametrize("change", ["group", "world", "owner"])
def test_code_that_others_may_have_written_is_refused(
    place: str, change: str, own_cache: OwnCache, small_kernel: pathlib.Path
) -> None:
    """It is compiled anew, and one warning says why."""
    if change == "owner" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    kernel = own_cache.put(small_kernel)
    path = own_cache.folder if place == "folder" else kernel
    before = kernel.read_bytes(), kernel.stat().st_mtime_ns
    if change == "owner":
        os.chown(path, 12345, -1)
    else:
        path.chmod(path.stat().st_mode | (stat.S_IWGRP if change == "group" else stat.S_IWOTH))
    words = f"{path} belongs to another user" if change == "owner" else f"other users may write to {path}"
    with pytest.warns(RuntimeWarning, match=re.escape(words)) as warnings:
        assert own_cache.compiles_small()
    assert len(warnings) == 1
    if place == "folder":
        assert (kernel.read_bytes(), kernel.stat().st_mtime_ns) == before  # left alone
    else:
        assert not own_cache.compiles_small()  # replaced by our own


@pytest.mark.skipif(sys.platform == "win32", reason="no owners and modes")
def test_what_we_write_is_ours_alone(own_cache: OwnCache) -> None:
    assert own_cache.compiles_small()
    (kernel,) = own_cache.kernels()
    assert stat.S_IMODE(own_cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(kernel.stat().st_mode) == 0o600


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
    # whose functions no source calls: their byte code is in the key of what is compiled with them
    assert outside <= {"volatilis.paper.published.code", "volatilis.watching.warm_up"}


def test_keys_are_the_same_in_every_process(workshop: Workshop) -> None:
    """Texts in a set stand in another order in each; what only Python calls is no part of a key."""
    program = """
        import json
        from volatilis._compiler import cache
        from volatilis.watching.warm_up import WarmUp

        def chooses(name):
            return name in {"one", "two", "three", "four", "five"}

        print(json.dumps([cache._fingerprint(value, set()) for value in (chooses, WarmUp)]))
    """
    first, second = (workshop.run(program, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first == second
    assert "two" in first[0]
    assert "check_model" not in first[1]


def compiled_code_of_volatilis() -> list[Any]:
    """All functions and methods that are marked, and the loops around them, of all modules."""
    from volatilis._compiler import registry

    for module in pkgutil.walk_packages(vl.__path__, "volatilis."):
        if not module.name.endswith("__main__"):
            import_unless_an_extra_is_missing(module.name)
    classes = [cls for name, cls in registry.classes.items() if name.startswith("volatilis.")]
    methods = [m for cls in classes for _, m in inspect.getmembers(cls, inspect.isfunction) if not registry.is_python_only(m)]
    modules = [importlib.import_module(f"volatilis.{name}") for name in ("running.drivers", "behaviour.drivers")]
    drivers = [f for module in modules for _, f in inspect.getmembers(module, inspect.isfunction)]
    marked = [*registry.functions, *registry.instructions, *methods, *drivers]
    return [f for f in marked if f.__module__.startswith("volatilis.") and not f.__name__.startswith("__")]


def import_unless_an_extra_is_missing(name: str) -> None:
    """Adapters to other packages need those packages; nothing in them is compiled."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not name.startswith("volatilis.adapters.") or (error.name or "").startswith("volatilis"):
            raise


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


def test_without_numba_one_sentence_says_what_to_do() -> None:
    from volatilis._compiler import cache

    with pytest.raises(
        ImportError, match=r"was not compiled ahead of time, and no-such-package is not installed .*: pip install no-such-package"
    ):
        cache.installed_version("no-such-package")
