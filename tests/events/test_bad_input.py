"""What bad input gets: a message that says where and what would be accepted, exit code 2, and nothing written."""

from __future__ import annotations

import errno
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers.command_line import refused, succeeded, volatilis
from volatilis.tables import writing

from .example import TRIALS, run, trials


def changed(column: str, row: int, value: object) -> pd.DataFrame:
    """The trials with one value replaced; rows are counted from 1, as in messages."""
    table = trials().astype({column: object})
    table.loc[row - 1, column] = value
    return table


CASES: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, Any], list[str]]] = {
    "wrong onset column": (trials, {"onset": "onsets"}, ["no column 'onsets'", "did you mean 'onset'?"]),
    "wrong duration column": (trials, {"duration": "durations"}, ["no column 'durations'", "did you mean 'duration'?"]),
    "no duration": (lambda: trials().drop(columns="duration"), {}, ["no column 'duration'", "--duration"]),
    "wrong run column": (trials, {"run_by": "subject,runs"}, ["no column 'runs'", "did you mean 'run'?"]),
    "text in onset": (lambda: changed("onset", 7, "late"), {}, ["row 7, column 'onset'", "'late' is not a time in seconds"]),
    "decimal comma": (lambda: changed("onset", 7, "1,5"), {}, ["row 7", "a decimal point, not a comma"]),
    "missing onset": (lambda: changed("onset", 9, None), {}, ["row 9, column 'onset' is missing"]),
    "infinite onset": (lambda: changed("onset", 9, "inf"), {}, ["row 9, column 'onset' is inf"]),
    "negative duration": (lambda: changed("duration", 4, -1), {}, ["row 4, column 'duration' is -1", "0 or more"]),
    "missing duration": (lambda: changed("duration", 4, None), {}, ["row 4, column 'duration' is missing"]),
    "negative seconds": (trials, {"duration": "-2"}, ["--duration -2", "0 or more"]),
    "not a number of seconds": (trials, {"duration": "nan"}, ["--duration nan"]),
    "onsets go down": (lambda: changed("onset", 12, 0.5), {}, ["row 12, column 'onset': 0.5 comes after", "in row 11"]),
    "onsets twice": (
        lambda: changed("onset", TRIALS + 5, trials().onset[TRIALS + 3]),
        {},
        [f"rows {TRIALS + 4} and {TRIALS + 5}", "sub-01_task-volatile_run-2"],
    ),
    "runs mixed up": (trials, {"run_by": "subject"}, [f"row {TRIALS + 1}", "--run-by"]),
    "a format that is none": (trials, {"events_format": "bids,fls"}, ["'fls'", "did you mean fsl?"]),
    "no format": (trials, {"events_format": ","}, ["names no format"]),
    "a scope that is none": (trials, {"zscore": "runs"}, ["--zscore 'runs'", "did you mean run?"]),
    "a task with marks": (trials, {"task": "my-task"}, ["--task 'my-task'", "letters and digits"]),
    "a tab in a trial type": (
        lambda: changed("trial_type", 3, "left\tright"),
        {},
        ["row 3, column 'trial_type': 'left\\tright' contains a tab, a line break or a double quote", "rename it"],
    ),
    "a line break in a trial type": (
        lambda: changed("trial_type", 6, "left\nright"),
        {"events_format": "nilearn"},
        ["row 6, column 'trial_type': 'left\\nright' contains a tab, a line break"],
    ),
    "quotes in a trial type": (lambda: changed("trial_type", 5, '"left"'), {}, ["row 5, column 'trial_type'", "double quote"]),
    "a tab in the name of the outcome": (
        lambda: trials().rename(columns={"outcome": "out\tcome"}),
        {"outcome": "out\tcome"},
        ["the column name 'out\\tcome' contains a tab"],
    ),
    "a missing trial type": (
        lambda: changed("trial_type", 3, None),
        {"events_format": "nilearn"},
        ["row 3, column 'trial_type' is missing"],
    ),
    "a trial type called as a regressor": (
        lambda: changed("trial_type", 3, "merge_adaptation_rate"),
        {"events_format": "fsl"},
        ["'merge_adaptation_rate' is both a trial_type and a regressor"],
    ),
    "trial types with one file name": (
        lambda: trials().assign(trial_type=np.where(np.arange(4 * TRIALS) % 2, "go!", "go")),
        {"events_format": "fsl"},
        ["'go!'", "written to the same file"],
    ),
    "two runs with one file name": (
        lambda: trials().replace({"subject": {"01": "a-b", "02": "ab"}}),
        {},
        ["two runs would be written as sub-ab_task-volatile_run-1", "subject=a-b, run=1", "subject=ab, run=1"],
    ),
    "names that differ in capitals": (lambda: trials().replace({"subject": {"01": "X", "02": "x"}}), {}, ["subject=X"]),
    "a name without letters": (lambda: trials().replace({"subject": {"01": "--"}}), {}, ["subject = '--'"]),
    "the same entity twice": (
        lambda: trials().assign(sub=1),
        {"run_by": "sub=subject,sub=sub,run"},
        ["cannot be 'sub'"],
    ),
    "an entity that BIDS keeps": (trials, {"run_by": "task=subject,run"}, ["cannot be 'task'"]),
    "an outcome called duration": (
        trials,
        {"outcome": "duration", "duration": "1.0"},
        ["'duration'"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_and_nothing_is_written(tmp_path: pathlib.Path, case: str) -> None:
    table, options, words = CASES[case]
    before = table()
    said = refused(run(before, tmp_path / "events", out=str(tmp_path / "out.csv"), **options))
    for word in words:
        assert word in said
    assert [path.name for path in tmp_path.iterdir()] == ["trials.csv"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("onset", "onset"), ("events_format", "bids"), ("zscore", "run"), ("task", "x"), ("run_by", "subject"), ("centre", "run")],
)
def test_options_of_event_files_need_a_folder(tmp_path: pathlib.Path, option: str, value: str) -> None:
    said = refused(run(trials(), tmp_path / "events", **{"events": None, option: value}))
    assert f"--{option.replace('_', '-')} is for event files" in said
    assert "--overwrite is for event files" in refused(run(trials(), tmp_path / "events", "--overwrite", events=None))


def test_a_file_is_no_folder(tmp_path: pathlib.Path) -> None:
    (tmp_path / "events").write_text("mine")
    assert "is a file; a folder is accepted" in refused(run(trials(), tmp_path / "events"))
    assert (tmp_path / "events").read_text() == "mine"


def test_a_folder_below_a_file_cannot_be_made(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("mine")
    table = tmp_path / "trials.csv"
    trials().to_csv(table, index=False)
    assert "cannot write into" in refused(run(table, tmp_path / "file" / "events"))


def test_files_that_are_there_are_replaced_only_if_asked(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "events"
    succeeded(run(trials(), folder))
    (folder / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    said = refused(run(trials(), folder, zscore="run", out=str(tmp_path / "out.csv")))
    assert "sub-01_task-volatile_run-1_events.tsv and 7 more of these files; --overwrite" in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not (tmp_path / "out.csv").exists()
    succeeded(run(trials(), folder, "--overwrite", zscore="run"))
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.keys() == before.keys()
    assert after["notes.txt"] == b"mine"
    assert after["sub-01_task-volatile_run-1_events.tsv"] != before["sub-01_task-volatile_run-1_events.tsv"]


@pytest.mark.parametrize("there", [True, False])
def test_a_full_disk_changes_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    folder = tmp_path / "events"
    if there:
        succeeded(run(trials(), folder))
    before = {path.name: path.read_bytes() for path in folder.iterdir()} if there else {}
    calls, sync = [], os.fsync

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(writing.os, "fsync", full)
    said = refused(run(trials(), folder, "--overwrite", zscore="run", out=str(tmp_path / "out.csv")))
    assert f"cannot write {folder}" in said
    assert "No space left on device; nothing was written" in said
    assert ({path.name: path.read_bytes() for path in folder.iterdir()} if there else {}) == before
    assert folder.exists() == there
    assert not (tmp_path / "out.csv").exists()


# --- what is right though unusual ----------------------------------------------------------------------------------------


def test_the_table_is_written_beside_event_files_only_if_asked(tmp_path: pathlib.Path) -> None:
    result = run(trials(), tmp_path / "events")
    succeeded(result)
    assert result.stdout == ""
    alone = tmp_path / "alone.csv"
    arguments = ["run", str(tmp_path / "trials.csv"), "--family", "bernoulli", "--outcome", "win", "--learner", "exact:p_c=0.1"]
    table = trials().assign(win=lambda t: (t.outcome > 0).astype(int))
    table.to_csv(tmp_path / "trials.csv", index=False)
    succeeded(volatilis(*arguments, "--by", "subject,run", "--out", alone))
    for ending in ("csv", "parquet"):
        both = tmp_path / f"both.{ending}"
        more = ["--by", "subject,run", "--out", str(both), "--events", str(tmp_path / ending)]
        succeeded(volatilis(*arguments, *more))
    assert (tmp_path / "both.csv").read_bytes() == alone.read_bytes()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "both.parquet"), pd.read_csv(alone, dtype={"subject": "str"}), check_dtype=False
    )


def test_negative_onsets_and_milliseconds_are_said(tmp_path: pathlib.Path) -> None:
    early = trials().assign(onset=lambda t: t.onset - 10.0)
    assert "onsets are negative: before the start of the run" in succeeded(run(early, tmp_path / "early"))
    late = trials().assign(onset=lambda t: 1000.0 * t.onset)
    assert "are they in seconds?" in succeeded(run(late, tmp_path / "late"))


def test_durations_in_milliseconds_are_said(tmp_path: pathlib.Path) -> None:
    late = trials().assign(duration=lambda t: 1000.0 * t.duration)
    assert "is the duration in seconds?" in succeeded(run(late, tmp_path / "late"))
    assert "is the duration in seconds?" not in succeeded(run(trials(), tmp_path / "right"))


def test_rows_of_runs_may_be_interleaved(tmp_path: pathlib.Path) -> None:
    succeeded(run(trials(), tmp_path / "sorted"))
    mixed = trials().sort_values(["trial", "subject", "run"], kind="stable")
    succeeded(run(mixed, tmp_path / "mixed"))
    for file in (tmp_path / "sorted").iterdir():
        assert (tmp_path / "mixed" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("columns", "options", "name"),
    [
        ({"subject": "participant_id"}, {"by": "participant_id,run"}, "sub-01_task-volatile_run-1"),
        ({"run": "block"}, {"by": "subject,block", "task": "helicopter"}, "sub-01_task-helicopter_run-1"),
        ({"run": "session"}, {"by": "session,subject"}, "sub-01_ses-1_task-volatile"),
        ({"run": "day"}, {"by": "subject,day"}, "sub-01_task-volatile_day-1"),
        ({"run": "day"}, {"by": "subject,day", "run_by": "subject, ses=day"}, "sub-01_ses-1_task-volatile"),
    ],
)
def test_file_names_follow_bids(tmp_path: pathlib.Path, columns: dict[str, str], options: dict[str, str], name: str) -> None:
    table = trials().replace({"subject": {"01": "sub-01", "02": "sub-02"}}).rename(columns=columns)
    succeeded(run(table, tmp_path / "events", **options))
    assert (tmp_path / "events" / f"{name}_events.tsv").exists()
    assert len(list((tmp_path / "events").iterdir())) == 8


def test_both_a_run_and_a_block(tmp_path: pathlib.Path) -> None:
    table = trials().assign(block=lambda t: t.trial // 20)
    succeeded(run(table, tmp_path / "events", by="subject,run,block", events_format="mne"))
    assert (tmp_path / "events" / "sub-01_task-volatile_run-1_block-0_metadata.csv").exists()


def test_a_letter_with_a_mark_is_a_letter() -> None:
    from volatilis.events.runs import Entity, run_names

    names = run_names([Entity("sub", "subject")], [("é",), ("Ångström",), ("x-ß1",)], "t")
    assert names == ["sub-e_task-t", "sub-Angstrom_task-t", "sub-x1_task-t"]
    with pytest.raises(ValueError, match="has no letter from a to z and no digit"):
        run_names([Entity("sub", "subject")], [("日",)], "t")
