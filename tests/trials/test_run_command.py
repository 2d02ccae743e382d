"""`volatilis run`, `learners` and `families` as people type them: output, exit codes, pipes that close, disks that are full."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.helpers.processes import default_signals
from volatilis.cli import app

ASKED = ["--family", "gaussian:sigma=1,sigma_0=3", "--learner", "varsmile:m=0.1"]
COMMAND = [sys.executable, "-c", "from volatilis.cli import main; main()"]


@pytest.fixture
def trials(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "trials.csv"
    y = np.random.default_rng(0).normal(size=400).round(3)
    pd.DataFrame({"subject": np.repeat([1, 2], 200), "trial": np.tile(np.arange(200), 2), "outcome": y}).to_csv(path, index=False)
    return path


def volatilis(*words: str | os.PathLike[str], width: str = "200") -> tuple[int, str, str]:
    done = CliRunner(env={"COLUMNS": width}).invoke(app, [os.fspath(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def test_a_table_on_standard_output(trials: pathlib.Path) -> None:
    code, out, said = volatilis("run", trials, *ASKED)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("subject,trial,outcome,varsmile_mean,")
    assert len(lines) == 401
    assert "400 rows in 2 groups, 10 columns computed" in said
    assert volatilis("run", trials, *ASKED, "--quiet") == (0, out, "")


def test_columns_of_other_names(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    renamed = tmp_path / "r.tsv.gz"
    pd.read_csv(trials).rename(columns={"outcome": "x_t", "subject": "subj_num"}).to_csv(renamed, sep="\t", index=False)
    arguments = ["--outcome", "x_t", "--by", "subj_num", "--measures", "mean, adaptation_rate", "--out", tmp_path / "o.parquet"]
    code, out, said = volatilis("run", renamed, *ASKED, *arguments)
    assert (code, out) == (0, "")
    assert f"-> {tmp_path / 'o.parquet'}" in said
    expected = pd.read_csv(trials)
    found = pd.read_parquet(tmp_path / "o.parquet")
    assert list(found) == ["subj_num", "trial", "x_t", "varsmile_mean", "varsmile_adaptation_rate"]
    np.testing.assert_array_equal(found.x_t, expected.outcome)


def test_the_files_own_name_of_subject(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    renamed = tmp_path / "r.csv"
    pd.read_csv(trials).rename(columns={"outcome": "x_t", "subject": "person"}).to_csv(renamed, index=False)
    mapped = volatilis("run", renamed, *ASKED, "--outcome", "x_t", "--subject", "person", "-q")
    assert mapped[0] == 0
    assert mapped == volatilis("run", renamed, *ASKED, "--outcome", "x_t", "--by", "person", "-q")
    assert mapped == volatilis("run", renamed, *ASKED, "--outcome", "x_t", "--subject", "person", "--by", "subject", "-q")
    code, _, said = volatilis("run", renamed, *ASKED, "--outcome", "x_t", "--subject", "persn")
    assert code == 2
    assert "no column 'persn' (a group)" in said
    renamed.write_text(renamed.read_text().replace("person,trial,x_t", "person,onset,x_t"))
    code, _, _ = volatilis(
        "run", renamed, *ASKED, "--outcome", "x_t", "--subject", "person", "--events", tmp_path / "e", "--duration", "1"
    )
    assert code == 0
    assert "sub-1_task-volatile_events.tsv" in {path.name for path in (tmp_path / "e").rglob("*")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", *ASKED], "none.csv: No such file or directory"),
        (["trials.csv", *ASKED, "--outcome", "outcom"], "did you mean 'outcome'"),
        (["trials.csv", "--family", "gausian:sigma=1", "--learner", "varsmile:m=0.1"], "did you mean gaussian"),
        (["trials.csv", *ASKED, "--out", "there/is/none.csv"], "cannot write there/is/none.csv: No such file or directory"),
        (["trials.csv", *ASKED, "--out", "o.xlsx"], "o.xlsx: the ending of the name does not tell the kind of table"),
        (["trials.csv", *ASKED, "--workers", "0"], "--workers"),
        (["trials.csv", "--family", "bernoulli", "--learner", "varsmile:m=0.1"], "row 1, column 'outcome'"),
    ],
)
def test_mistakes(trials: pathlib.Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(trials.parent)
    code, out, said = volatilis("run", *arguments)
    assert code == 2
    assert out == ""
    assert message in said
    assert "Traceback" not in said
    assert [path.name for path in trials.parent.iterdir()] == ["trials.csv"]


def test_a_reader_that_goes_away(trials: pathlib.Path) -> None:
    """`volatilis run ... | head -2`: two lines, no complaint."""
    long = trials.parent / "long.csv"
    pd.concat([pd.read_csv(trials).assign(subject=i) for i in range(300)]).assign(trial=np.arange(120_000)).to_csv(
        long, index=False
    )
    with subprocess.Popen([*COMMAND, "run", str(long), *ASKED], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"subject,")
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait(60) == 141
    assert said == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_standard_output_on_a_full_disk(trials: pathlib.Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "run", trials, *ASKED], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="needs to mount a small file system")
def test_a_full_disk(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20k", "tmpfs", small], check=False, capture_output=True).returncode:
        pytest.skip("this machine does not let a small file system be mounted")
    try:
        for name in ("o.csv", "o.parquet", "o.jsonl.gz"):
            code, _, said = volatilis("run", trials, *ASKED, "--out", small / name)
            assert code == 2
            assert f"cannot write {small / name}: No space left on device" in said
            assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_ctrl_c_leaves_nothing(trials: pathlib.Path) -> None:
    slow = ["--family", "gaussian:sigma=1,sigma_0=3", "--learner", "exact:p_c=0.0001,cutoff=0", "--measures", "all"]
    long = trials.parent / "long.csv"
    pd.DataFrame({"outcome": np.random.default_rng(0).normal(size=100_000)}).to_csv(long, index=False)
    out = trials.parent / "o.csv"
    command = [*COMMAND, "run", long, *slow, "--out", out]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=default_signals) as process:
        try:
            deadline = time.monotonic() + 60
            while not list(trials.parent.glob(".o.csv.*")):  # it has begun
                assert time.monotonic() < deadline
                time.sleep(0.05)
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Stopped. Nothing was written." in said
    assert not out.exists()
    assert list(trials.parent.glob(".o.csv.*")) == []


def test_standard_output_that_is_closed(trials: pathlib.Path) -> None:
    command = " ".join(map(shlex.quote, [*COMMAND, "run", str(trials), *ASKED])) + " >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["families", "learners", "responses"])
def test_lists_read_whole_at_80_columns(words: str) -> None:
    """No line is longer, and every word that stands in a wide list stands in this one, in the same order."""
    code, narrow, _ = volatilis(words, width="80")
    assert code == 0
    assert max(map(len, narrow.splitlines())) <= 80
    assert "…" not in narrow
    assert narrow.split() == volatilis(words, width="1000")[1].split()


def test_lists_read_whole_on_a_terminal_of_80_columns() -> None:
    import pty

    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen([*COMMAND, "families"], stdout=follower, stdin=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        with contextlib.suppress(OSError):  # where the other end is closed
            while piece := os.read(leader, 4096):
                shown += piece
        assert process.wait(60) == 0
    os.close(leader)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    assert max(map(len, text.splitlines())) <= 80
    assert text.split() == volatilis("families", width="1000")[1].split()


def test_lists() -> None:
    code, out, _ = volatilis("learners")
    assert code == 0
    for word in ("merge", "exact-bayes", "nas12-star", "p_c: a number above 0 and below 1", "cutoff", "1e-16 if not given"):
        assert word in out
    code, out, _ = volatilis("families")
    assert code == 0
    for word in ("gaussian", "categorical", "sigma_0: a finite number above 0; 1.0 if not given", "y ~ N(mu, sigma^2)"):
        assert word in out


def test_a_list_whose_reader_goes_away() -> None:
    with subprocess.Popen([*COMMAND, "learners"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_version_and_help() -> None:
    from importlib.metadata import version

    assert volatilis("--version") == (0, f"volatilis {version('volatilis')}\n", "")
    for words in (["--help"], ["run", "--help"], ["learners", "--help"]):
        code, out, _ = volatilis(*words)
        assert code == 0
        assert "Usage" in out
    assert "volatilis run trials.csv" in volatilis("run", "--help")[1]


def test_options_are_named_as_their_parameters() -> None:
    """A metavar that is a parameter's name in capitals becomes the option's name in Typer up to 0.27: --OUT instead of --out."""
    from typer.main import get_command

    commands = get_command(app).commands
    assert {"run", "watch", "fit", "design", "predict", "paper"} <= set(commands)
    for command in commands.values():
        for parameter in command.params:
            if parameter.opts[0].startswith("--"):
                assert parameter.metavar != parameter.name.upper(), (command.name, parameter.name)


def test_help_imports_next_to_nothing() -> None:
    """So that it answers at once."""
    heavy = ("numpy", "numba", "matplotlib", "pandas", "pyarrow", "scipy", "xarray")
    code = f"import sys, volatilis, volatilis.cli; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
