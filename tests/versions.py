"""`make test-all`: the core tests with each Python on this machine, and with the lowest and newest versions of what is needed.

Python's own library only, so that any interpreter can run it. Environments are kept in .venv-versions and used again.
With `--write` the table goes into docs/reference/versions.md.
"""

from __future__ import annotations

import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time
import tomllib
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv-versions"
PAGE = ROOT / "docs" / "reference" / "versions.md"
START, END = "<!-- versions: start -->", "<!-- versions: end -->"
OLDEST = (3, 11)
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
    setting: Setting
    versions: dict[str, str]
    summary: str
    passed: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some settings alone, such as 3.11-lowest 3.13-newest")
    options = parser.parse_args()
    settings = settings_on_this_machine()
    if options.only:
        unknown = set(options.only) - {setting.name for setting in settings}
        if unknown:
            parser.error(f"no such setting here: {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in settings)}")
        settings = [setting for setting in settings if setting.name in options.only]
    outcomes = [run(setting) for setting in settings]
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


def run(setting: Setting) -> Outcome:
    folder = ENVIRONMENTS / setting.name
    python = folder / "bin" / "python"
    print(f"--- {setting.name} ---", flush=True)
    if not python.exists():
        subprocess.run([setting.python, "-m", "venv", folder], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--editable", ROOT, *TOOLS]
    if setting.dependencies == "lowest":
        constraints = ENVIRONMENTS / "lowest.txt"
        constraints.write_text("\n".join(lowest_versions()) + "\n")
        install += ["--constraint", constraints]
    if subprocess.run(install, check=False).returncode:
        return Outcome(setting, {}, "could not be installed", False)
    begin = time.monotonic()
    tests = subprocess.run(
        [python, "-m", "pytest", "-m", "core", "--numprocesses", "auto", "--dist", "worksteal", "-q"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    print(tests.stdout[-2000:], flush=True)
    last = tests.stdout.strip().splitlines()[-1] if tests.stdout.strip() else "no output"
    counts = ", ".join(re.findall(r"\d+ (?:passed|failed|skipped|errors?)", last)) or last
    minutes = (time.monotonic() - begin) / 60.0
    return Outcome(setting, versions(python), f"{counts} in {minutes:.1f} minutes", tests.returncode == 0)


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
    return "\n".join([*lines, "", f"Measured on {platform.system()} {platform.machine()}."])


if __name__ == "__main__":
    sys.exit(main())
