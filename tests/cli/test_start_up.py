"""What a short command imports: a first answer should not wait for libraries that it does not use."""

from __future__ import annotations

import pathlib
import subprocess
import sys

RUN = """
import sys
from volatilis.cli import main
sys.argv = ["volatilis", *sys.argv[1:]]
try:
    main()
finally:
    print(*sorted({"numba", "pandas", "scipy", "matplotlib", "xarray"} & set(sys.modules)), sep=",")
"""


def test_a_short_run_imports_nothing_that_it_does_not_use(tmp_path: pathlib.Path) -> None:
    """Once its kernel is at hand, as it is from the start in a wheel."""
    (tmp_path / "trials.csv").write_text("subject,outcome,note\na,0.2,x\na,,y\nb,3.1,\n")
    words = ["run", "trials.csv", "--family", "gaussian:sigma=0.5", "--learner", "varsmile:m=0.1", "--missing", "elapse"]
    for _ in range(2):  # the first may compile
        command = [sys.executable, "-c", RUN, *words, "--out", "surprise.csv"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr


def test_the_package_is_the_command() -> None:
    words = [[sys.executable, "-m", "volatilis"], [sys.executable, "-c", "from volatilis.cli import main; main()"]]
    done = [subprocess.run([*one, "--version"], capture_output=True, text=True, check=False) for one in words]
    assert done[0].returncode == 0
    assert done[0].stdout == done[1].stdout
    assert done[0].stdout.startswith("volatilis 0.")
    wrong = subprocess.run([*words[0], "run", "no-such.csv"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr
