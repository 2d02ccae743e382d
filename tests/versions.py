"""`make test-all`: the core tests with each Python on this machine, and with the lowest and newest versions of what is needed.

Python's own library only, so that any interpreter can run it. Environments are kept in .venv-versions and used again.
What came out is kept beside each environment, folder by folder of the tests: after an interruption only what is missing is run,
and after an edit of the sources or another version of a dependency everything. With `--write` the table goes into
docs/reference/versions.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
import tomllib
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv-versions"
PAGE = ROOT / "docs" / "reference" / "versions.md"
START, END = "<!-- versions: start -->", "<!-- versions: end -->"
OLDEST = (3, 11)
# What computes, reads tables or shows help: folders of tests with the marker "core" (conftest.py), those that take long last
CORE = ("tables", "cli", "special", "oracles", "families", "learners", "fuzz", "running", "contracts", "_compiler")
SHOWN = ("numpy", "scipy", "numba", "llvmlite", "pandas", "pyarrow", "xarray", "zarr", "matplotlib", "rich", "typer")
TOOLS = ("pytest", "hypothesis", "mpmath", "pytest-timeout", "pytest-xdist")


class Setting(NamedTuple):
    """One row: an interpreter, and which versions of the dependencies it gets."""

    python: pathlib.Path
    version: tuple[int, int]
    dependencies: str  # "lowest" or "newest"

    @property
    def name(self) -> str:
        return f"{self.version[0]}.{self.version[1]}-{self.dependencies}"


class Outcome(NamedTuple):
    """A column of the table."""

    setting: Setting
    versions: dict[str, str]
    summary: str
    passed: bool
    failed: tuple[str, ...] = ()  # the tests


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some settings alone, such as 3.11-lowest 3.13-newest")
    parser.add_argument("--build", action="store_true", help="make the environments, and run no tests")
    parser.add_argument("--again", action="store_true", help="run all tests, also those whose results are kept")
    parser.add_argument("--workers", default="auto", help="test processes at a time (default: one for each core)")
    options = parser.parse_args()
    settings = settings_on_this_machine()
    if options.only:
        unknown = set(options.only) - {setting.name for setting in settings}
        if unknown:
            parser.error(f"no such setting here: {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in settings)}")
        settings = [setting for setting in settings if setting.name in options.only]
    built = {setting: build(setting) for setting in settings}
    if options.build:
        return 0 if all(built.values()) else 1
    outcomes = [
        run(setting, options.workers, options.again) if built[setting] else Outcome(setting, {}, "could not be installed", False)
        for setting in settings
    ]
    table = markdown(outcomes)
    print(table)
    if options.write:
        before, rest = PAGE.read_text(encoding="utf-8").split(START)
        PAGE.write_text(f"{before}{START}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def settings_on_this_machine() -> list[Setting]:
    """Every Python from 3.11 up with the newest versions, and the oldest of them with the lowest versions too."""
    pythons = interpreters()
    oldest = min(pythons)
    lowest = [Setting(pythons[oldest], oldest, "lowest")]
    return lowest + [Setting(path, version, "newest") for version, path in sorted(pythons.items())]


def interpreters() -> dict[tuple[int, int], pathlib.Path]:
    """On the PATH and under pyenv; one for each minor version."""
    candidates = [pathlib.Path(sys.executable)]
    candidates += [pathlib.Path(path) for minor in range(OLDEST[1], 30) if (path := shutil.which(f"python3.{minor}"))]
    candidates += sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python"))
    found: dict[tuple[int, int], pathlib.Path] = {}
    for path in candidates:
        command = [path, "-c", "import sys, venv; print(*sys.version_info[:2])"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            major, minor = map(int, answer.stdout.split())
            if (major, minor) >= OLDEST:
                found.setdefault((major, minor), path)
    return found


def build(setting: Setting) -> bool:
    """Make the environment, or bring it up to date; whether that worked."""
    folder = ENVIRONMENTS / setting.name
    print(f"--- {setting.name}: install ---", flush=True)
    if not environment_python(setting).exists():
        subprocess.run([setting.python, "-m", "venv", folder], check=True)
    install = [environment_python(setting), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    install += ["--editable", ROOT, *TOOLS]
    if setting.dependencies == "lowest":
        constraints = ENVIRONMENTS / "lowest.txt"
        constraints.write_text("\n".join(lowest_versions()) + "\n")
        install += ["--constraint", constraints]
    return subprocess.run(install, check=False).returncode == 0


def run(setting: Setting, workers: str, again: bool) -> Outcome:
    """The tests of each folder that have no result yet; each result is written at once."""
    installed = versions(environment_python(setting))
    path = ENVIRONMENTS / f"{setting.name}.json"
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() and not again else {}
    for folder in CORE:
        key = {"sources": digest(folder), "versions": installed}
        if {name: results.get(folder, {}).get(name) for name in key} != key:
            print(f"--- {setting.name}: tests/{folder} ---", flush=True)
            results[folder] = run_folder(environment_python(setting), folder, workers) | key
            path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    return outcome(setting, installed, [results[folder] for folder in CORE])


def run_folder(python: pathlib.Path, folder: str, workers: str) -> dict[str, Any]:
    command = [python, "-m", "pytest", f"tests/{folder}", "--numprocesses", workers, "--dist", "worksteal", "-q"]
    begin = time.monotonic()
    tests = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(tests.stdout[-2000:], flush=True)
    lines = tests.stdout.strip().splitlines() or ["no output"]
    counts = {kind: int(number) for number, kind in re.findall(r"(\d+) (passed|failed|skipped|error)s?", lines[-1])}
    failed = [match[1] for line in lines if (match := re.match(r"(?:FAILED|ERROR) (\S+)", line))]
    passed = tests.returncode == 0
    return {"passed": passed, "counts": counts, "failed": failed, "seconds": round(time.monotonic() - begin), "last": lines[-1]}


def outcome(setting: Setting, installed: dict[str, str], folders: list[dict[str, Any]]) -> Outcome:
    """All folders of one environment together."""
    counts = {kind: sum(one["counts"].get(kind, 0) for one in folders) for kind in ("passed", "failed", "error", "skipped")}
    words = [f"{number} {'errors' if kind == 'error' else kind}" for kind, number in counts.items() if number]
    words += [one["last"] for one in folders if not one["passed"] and not one["failed"]]  # it did not even begin
    minutes = sum(one["seconds"] for one in folders) / 60.0
    passed = all(one["passed"] for one in folders)
    failed = tuple(name for one in folders for name in one["failed"])
    return Outcome(setting, installed, f"{', '.join(words)} in {minutes:.1f} minutes", passed, failed)


def environment_python(setting: Setting) -> pathlib.Path:
    return ENVIRONMENTS / setting.name / "bin" / "python"


def digest(folder: str) -> str:
    """Of the sources, of the tests in a folder, and of what they share."""
    folders = [ROOT / "src", *(ROOT / "tests" / name for name in (folder, "helpers", "oracles"))]
    files = sorted({path for one in folders for path in one.rglob("*.py")})
    text = hashlib.sha256()
    for path in (*files, ROOT / "tests" / "conftest.py", ROOT / "pyproject.toml"):
        text.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return text.hexdigest()


def lowest_versions() -> list[str]:
    """The lower end of every range in pyproject.toml, as pip's constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    matches = [re.match(r"([\w-]+)>=([\w.]+)", requirement) for requirement in project["dependencies"]]
    return [f"{match[1]}=={match[2]}" for match in matches if match is not None]


def versions(python: pathlib.Path) -> dict[str, str]:
    code = "import importlib.metadata as m, platform\nprint('python', platform.python_version())\n"
    code += f"for name in {SHOWN!r}: print(name, m.version(name))"
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return dict(line.split() for line in answer.stdout.splitlines())


def markdown(outcomes: list[Outcome]) -> str:
    names = ("python", *SHOWN)
    lines = [f"| | {' | '.join(outcome.setting.name for outcome in outcomes)} |", f"|---|{'---|' * len(outcomes)}"]
    lines += [f"| {name} | {' | '.join(outcome.versions.get(name, '') for outcome in outcomes)} |" for name in names]
    lines.append(f"| core tests | {' | '.join(outcome.summary for outcome in outcomes)} |")
    lines += ["", f"Measured on {platform.system()} {platform.machine()}."]
    lines += [f"\nFailed with {outcome.setting.name}: `{'`, `'.join(outcome.failed)}`." for outcome in outcomes if outcome.failed]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
