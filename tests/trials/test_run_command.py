"""`volatilis run` as people type it: output, exit codes, pipes that close, disks that are full."""

from __future__ import annotations

import functools
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest

from tests.helpers.command_line import volatilis
from tests.helpers.processes import COMMAND, default_signals, wait_for

wide = functools.partial(volatilis, width=200)
ASKED = ["--family", "gaussian:sigma=1,sigma_0=3", "--learner", "varsmile:m=0.1"]


@pytest.fixture
def trials(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "trials.csv"
    y = np.random.default_rng(0).normal(size=400).round(3)
    pd.DataFrame({"subject": np.repeat([1, 2], 200), "trial": np.tile(np.arange(200), 2), "outcome": y}).to_csv(path, index=False)
    return path


def test_a_table_on_standard_output(trials: pathlib.Path) -> None:
    code, out, said = wide("run", trials, *ASKED)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("subject,trial,outcome,varsmile_mean,")
    assert len(lines) == 401
    assert "400 rows in 2 groups, 10 columns computed" in said
    assert wide("run", trials, *ASKED, "--quiet") == (0, out, "")


def test_columns_of_other_names(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    renamed = tmp_path / "r.tsv.gz"
    pd.read_csv(trials).rename(columns={"outcome": "x_t", "subject": "subj_num"}).to_csv(renamed, sep="\t", index=False)
    arguments = ["--outcome", "x_t", "--by", "subj_num", "--measures", "mean, adaptation_rate", "--out", tmp_path / "o.parquet"]
    code, out, said = wide("run", renamed, *ASKED, *arguments)
    assert (code, out) == (0, "")
    assert f"-> {tmp_path / 'o.parquet'}" in said
    expected = pd.read_csv(trials)
    found = pd.read_parquet(tmp_path / "o.parquet")
    assert list(found) == ["subj_num", "trial", "x_t", "varsmile_mean", "varsmile_adaptation_rate"]
    np.testing.assert_array_equal(found.x_t, expected.outcome)


def test_the_files_own_name_of_subject(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    renamed = tmp_path / "r.csv"
    pd.read_csv(trials).rename(columns={"outcome": "x_t", "subject": "person"}).to_csv(renamed, index=False)
    mapped = wide("run", renamed, *ASKED, "--outcome", "x_t", "--subject", "person", "-q")
    assert mapped[0] == 0
    assert mapped == wide("run", renamed, *ASKED, "--outcome", "x_t", "--by", "person", "-q")
    assert mapped == wide("run", renamed, *ASKED, "--outcome", "x_t", "--subject", "person", "--by", "subject", "-q")
    code, _, said = wide("run", renamed, *ASKED, "--outcome", "x_t", "--subject", "persn")
    assert code == 2
    assert "no column 'persn' (a group)" in said
    renamed.write_text(renamed.read_text().replace("person,trial,x_t", "person,onset,x_t"))
    code, _, _ = wide(
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
    code, out, said = wide("run", *arguments)
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
            code, _, said = wide("run", trials, *ASKED, "--out", small / name)
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
            wait_for(lambda: list(trials.parent.glob(".o.csv.*")), process)
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


@pytest.mark.filterwarnings("default")  # the command shows it
def test_people_whom_nothing_separates_are_said(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    frame = pd.read_csv(trials).drop(columns="trial")
    for name in ("participant", "Participant_ID", "subj"):
        frame.rename(columns={"subject": name}).to_csv(tmp_path / "r.csv", index=False)
        code, _, said = wide("run", tmp_path / "r.csv", *ASKED)
        assert code == 0
        assert said.count(f"the column '{name}' looks like people, and nothing separates them") == 1
        assert "looks like people" not in wide("run", tmp_path / "r.csv", *ASKED, "--subject", name)[2]
    frame.assign(participant=1).drop(columns="subject").to_csv(tmp_path / "r.csv", index=False)
    assert "looks like people" not in wide("run", tmp_path / "r.csv", *ASKED)[2]


def test_no_category_is_called_missing(trials: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Its cells would be read as missing, without a word."""
    pd.read_csv(trials).assign(outcome="none").to_csv(tmp_path / "r.csv", index=False)
    words = ["--family", "bernoulli", "--learner", "varsmile:m=0.1", "--categories", "None,left"]
    code, _, said = wide("run", tmp_path / "r.csv", *words)
    assert code == 2
    assert "'None' means in a table that a value is missing" in said
