"""Build what is published: python -m release.wheels --out dist. `make dist` does it.

A source archive; a wheel for every platform, which compiles at first use; and wheels for Linux on x86-64 and aarch64 that carry
kernels compiled ahead. All are checked by twine. The wheel of this machine is installed in an empty environment, where the first
`volatilis run` must answer within two seconds, and with the same numbers after Numba and LLVM were uninstalled there.
(Libraries for aarch64 are built on any machine, and tried on none but that.)
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLATFORMS = {  # the tag of a wheel, and the levels of processor whose kernels it carries
    "x86_64": ("manylinux_2_17_x86_64.manylinux2014_x86_64", ("x86-64-v2", "x86-64-v3", "x86-64-v4")),
    "aarch64": ("manylinux_2_17_aarch64.manylinux2014_aarch64", ("aarch64",)),
}
LIMIT = 2.0  # seconds by the clock for the first `volatilis run`; its processor time tells whether the machine was busy
TABLE = "outcome\n" + "".join(f"{value}\n" for value in (0.2, -0.1, 0.4, 3.1, 2.9, 3.3))


def run(*words: str | os.PathLike[str], **options: object) -> None:
    subprocess.run(list(map(str, words)), check=True, **options)  # type: ignore[call-overload]


def build_plain(out: pathlib.Path) -> pathlib.Path:
    """The source archive and the wheel without kernels."""
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    (wheel,) = out.glob("*-py3-none-any.whl")
    return wheel


def add_kernels(wheel: pathlib.Path, machine: str, kernels: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """The wheel of one kind of machine: the plain one with its libraries."""
    tag, levels = PLATFORMS[machine]
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel)
        (unpacked,) = pathlib.Path(folder).iterdir()
        place = unpacked / "volatilis" / "_compiler" / "kernels"
        place.mkdir()
        for level in levels:
            shutil.copy(kernels / f"{level}.so", place)
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, unpacked)
        (packed,) = pathlib.Path(folder).glob("*.whl")
        run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, packed)
        (tagged,) = pathlib.Path(folder).glob("*.whl")
        return pathlib.Path(shutil.copy(tagged, out))


def try_it(wheel: pathlib.Path, learner: str, family: str) -> tuple[float, float]:
    """Install the wheel in an empty environment: the time of the first `volatilis run` there, by clock and of the processor."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # nothing of this checkout
        environment["VOLATILIS_CACHE_DIR"] = str(place / "cache")
        run(sys.executable, "-m", "venv", place / "env")
        pip = [place / "env" / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(*pip, wheel, cwd=place, env=environment)
        (place / "table.csv").write_text(TABLE)
        command = [place / "env" / "bin" / "volatilis", "run", "table.csv", "--family", family, "--learner", learner]
        start, used = time.perf_counter(), _processor_time()
        run(*command, "--out", "surprise.csv", cwd=place, env=environment)
        taken = time.perf_counter() - start, _processor_time() - used
        if (place / "cache").exists() and any((place / "cache").iterdir()):
            sys.exit("the wheel compiled what it should carry")
        run(place / "env" / "bin" / "python", "-m", "pip", "uninstall", "--quiet", "--yes", "numba", "llvmlite", env=environment)
        run(*command, "--out", "without.csv", cwd=place, env=environment)
        if (place / "without.csv").read_bytes() != (place / "surprise.csv").read_bytes():
            sys.exit("the numbers are others without Numba")
        return taken


def _processor_time() -> float:
    """Of all processes that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="dist")
    parser.add_argument("--families", default="", help="kernels of these only, to try it")
    parser.add_argument("--learners", default="", help="kernels of these only, to try it")
    parser.add_argument("--workers", default="", help="processes that compile at once (as many as there are processors)")
    options = parser.parse_args()
    out = pathlib.Path(options.out).resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    plain = build_plain(out)
    with tempfile.TemporaryDirectory() as folder:
        chosen = ["--families", options.families, "--learners", options.learners]
        chosen += ["--workers", options.workers] if options.workers else []
        run(sys.executable, "-m", "release.kernels", "--out", folder, *chosen, cwd=ROOT)
        wheels = {machine: add_kernels(plain, machine, pathlib.Path(folder), out) for machine in PLATFORMS}
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(out.iterdir()))
    here = wheels.get(platform.machine())
    if here is not None and sys.platform == "linux":
        clock, processor = try_it(here, "varsmile:m=0.1", "gaussian:sigma=0.5")
        print(
            f"the first volatilis run of {here.name} in an empty environment: {clock:.2f} s, {processor:.2f} s of the processor"
        )
        if clock > LIMIT:
            sys.exit(f"that is more than {LIMIT} s")
    for path in sorted(out.iterdir()):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
