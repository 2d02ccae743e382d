"""Lines and files that were made to do harm, or that just happen."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
from typing import Any

import numpy as np
import pytest

from tests.helpers.processes import wait_for
from volatilis.watching.input import LONGEST
from volatilis.watching.parsing import Parsed

from .command import rows, sensor_values, started, watch, watched
from .test_parsing import parsed, parser

OBJECT = '{"value": 20.5}'


# --- the first line ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["null", "[1,2]", '["x"]', "true", "[1,", '"text"', "9" * 100_000, "nan", "NA", "."])
@pytest.mark.parametrize("kind", ["auto", "jsonl"])
def test_a_first_line_that_tells_nothing_locks_nothing(first: str, kind: str) -> None:
    if (first, kind) == ('"text"', "auto"):
        pytest.skip("a text in quotes is the header of a CSV")
    for later, value in ((OBJECT, 20.5), ("20.5", 20.5)):
        found = parsed(f"{first}\n{later}\n{later}\n", kind=kind)
        assert found.values.tolist() == [value, value]
        assert [bad.line for bad in found.bad] == [1]


def test_it_is_decided_in_a_later_block() -> None:
    reader = parser(missing=True)
    first = reader.parse(b"null\n[1,2]\n", 0, True, False)
    assert (first.absent.tolist(), [bad.line for bad in first.bad]) == ([True], [2])  # a bare observation that is missing
    assert reader.to_data() is None
    assert reader.parse(OBJECT.encode(), 2, False, False).values.tolist() == [20.5]
    assert reader.parse(b"null", 3, False, False).bad[0].reason.startswith('the first lines are like {"value": 1.25}')


def test_null_first_and_then_objects_in_the_command() -> None:
    done = watch("--bad-lines", "report", text=f"null\n[1,2]\n{OBJECT}\n{OBJECT}\n")
    assert (done.returncode, len(rows(done.stdout))) == (0, 2)
    assert "2 observations, 0 missing, 2 bad lines" in done.stderr


def test_no_good_line_has_an_exit_code_of_its_own() -> None:
    for text, code in (("x\n", 2), ('{"value": "x"}\n{"valu": 3}\n', 3), ("", 0), ("\n\n", 0), (f"null\n{OBJECT}\n", 0)):
        done = watch("--bad-lines", "report", text=text)
        assert done.returncode == code, text
        assert ("none of the lines could be used" in done.stderr) == (code == 3)


def test_bare_texts() -> None:
    found = parsed("20\nnan\nNA\n+21\n.5\nabc\n1_000\n1,5\n", missing=True)
    assert found.absent.tolist() == [False, True, True, False, False]
    np.testing.assert_array_equal(found.observed, [20.0, np.nan, np.nan, 21.0, 0.5])
    assert [bad.reason.split(":")[0] for bad in found.bad] == [
        "it is 'abc', not a number",
        "it is '1_000', not a number",
        "it is '1,5', not a number (a decimal point, not a comma)",
    ]


@pytest.mark.parametrize("options", [{"key": ("sensor",)}, {"time": "t", "interval": "1s"}, {"keep": ("host",)}])
def test_bare_numbers_have_no_fields(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the lines are bare observations, such as '20', without such a field"):
        parsed("null\n20\n", **options)


# --- sizes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [LONGEST + 1, 1_100_000, 3_000_000])
@pytest.mark.parametrize("end", ["\n", ""])
def test_more_than_a_mebibyte_always_stops(tmp_path: pathlib.Path, size: int, end: str) -> None:
    log = tmp_path / "log"
    log.write_text(f'{OBJECT}\n{{"value": 20, "x": "{"a" * (size - 22)}"}}{end}')
    assert len(log.read_text().splitlines()[1]) == size
    done = watch(log)
    assert done.returncode == 2
    assert f"{log}: line 2 has more than 1,048,576 bytes" in done.stderr


def test_a_packed_file_is_said_to_be_one(tmp_path: pathlib.Path) -> None:
    (tmp_path / "log.gz").write_bytes(b"\x1f\x8b\x00" + b"ab" * LONGEST)
    assert "(it is binary: unpack it first if it is compressed, as zcat does)" in watch(tmp_path / "log.gz").stderr


def test_a_line_of_exactly_a_mebibyte_is_read(tmp_path: pathlib.Path) -> None:
    line = f'{{"value": 20, "x": "{"a" * (LONGEST - 22)}"}}'
    assert len(line) == LONGEST
    assert len(watched(tmp_path, [OBJECT, line, OBJECT]).rows) == 3


def test_integers_with_very_many_digits() -> None:
    found = parsed(f'{OBJECT}\n{{"value": {"9" * 100_000}}}\n{{"value": {"9" * 400}}}\n{{"value": {"[" * 100_000}}}\n{OBJECT}\n')
    assert found.values.tolist() == [20.5, 20.5]
    reasons = [bad.reason for bad in found.bad]
    assert reasons[0].startswith("a number in it has too many digits: ")
    assert reasons[1].startswith("'value' has too many digits for a number: ")
    assert reasons[2].startswith("it is nested too deeply: ")


# --- records over several lines --------------------------------------------------------------------------------------------


def csv_with_breaks(count: int) -> tuple[str, list[str]]:
    rng, notes, text = np.random.default_rng(1), [], io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["note", "value"])
    for value in sensor_values(count):
        notes.append("".join(rng.choice(list('ab,"\n\r ;'), rng.integers(0, 8))).rstrip("\r"))
        writer.writerow([notes[-1], value])
    return text.getvalue(), notes


@pytest.mark.parametrize("block", [1, 7, 64, 10**6])
def test_a_quoted_field_may_go_over_lines_wherever_blocks_end(block: int) -> None:
    text, notes = csv_with_breaks(200)
    reader, rest, place, parts, begins = parser(keep=("note",)), b"", 0, [], True
    data = text.encode()
    while place < len(data) or rest:
        rest += data[place : place + block]
        place += block
        ended = place >= len(data)
        whole, newline, tail = rest.rpartition(b"\n")
        found = reader.parse(whole + newline, sum(part[1] for part in parts), begins, False, ended) if newline else None
        if found is not None:
            lines = (whole + newline).split(b"\n")[:-1]
            used = len(lines) - found.held
            parts.append((found, used))
            rest = b"".join(line + b"\n" for line in lines[used:]) + tail
            begins = begins and used == 0
        if ended:
            break
    everything: list[Parsed] = [part for part, _ in parts]
    assert not any(part.bad for part in everything)
    assert [value for part in everything for value in part.values] == sensor_values(200)
    assert [note for part in everything for note in part.kept[0]] == notes
    starts = np.cumsum([2, *(note.count("\n") + 1 for note in notes)])[:-1]
    assert [int(number) for part in everything for number in part.lines] == starts.tolist()


def test_the_whole_command_and_a_line_break_that_comes_late(tmp_path: pathlib.Path) -> None:
    done = watched(tmp_path, ["value,note", '20,"one', 'two"', "21,x"], keep=("note",))
    assert [(row["line"], row["note"]) for row in done.rows] == [(2, "one\ntwo"), (4, "x")]
    process = started("--keep", "note", "--format", "csv")
    assert process.stdin is not None
    assert process.stdout is not None
    for part in ('value,note\n20,"one\n', 'two"\n'):
        process.stdin.write(part.encode())
        process.stdin.flush()
    assert process.stdout.readline().startswith(b"line,note,value")
    assert process.stdout.readline() == b'2,"one\n'
    process.communicate(timeout=60)


def test_a_quote_that_is_never_closed_is_one_bad_line() -> None:
    text = 'value,note\n20,"open\n' + "".join(f"{20 + i},x\n" for i in range(150))
    found = parsed(text)
    assert [bad.line for bad in found.bad] == [2]
    assert "a quote is not closed within 100 lines" in found.bad[0].reason
    assert len(found.values) == 150
    held = parser().parse(b'value,note\n20,"open\n21,x\n', 0, True, False, False)
    assert (held.held, len(held.values)) == (2, 0)
    inch = parsed('value,note\n20,5" pipe\n21,x\n')
    assert inch.values.tolist() == [20.0, 21.0]


# --- nested fields -----------------------------------------------------------------------------------------------------------


def test_nested_fields(tmp_path: pathlib.Path) -> None:
    lines = [
        json.dumps({"m": {"value": 20.0, "tags": ["x", {"host": "h1"}]}, "id": {"sensor": "a"}}),
        json.dumps({"m.value": 21.0, "m": {"tags": ["x"]}, "id.sensor": "a"}),
        json.dumps({"m": {"value": 22.0}, "id": {"sensor": 7}}),
    ]
    done = watched(tmp_path, lines, value=("m.value",), key=("id.sensor",), keep=("m.tags.1.host", "m.tags"))
    assert [row["m.value"] for row in done.rows] == [20.0, 21.0, 22.0]
    assert [row["id.sensor"] for row in done.rows] == ["a", "a", "7"]
    assert [row["m.tags.1.host"] for row in done.rows] == ["h1", None, None]
    assert done.rows[0]["m.tags"] == ["x", {"host": "h1"}]


@pytest.mark.parametrize(
    "line", ['{"m": 3}', '{"m": {"valu": 3}}', '{"m": [1]}', '{"m": null}', '{"m": {"value": {"x": 1}}}', "{}"]
)
def test_nested_fields_that_are_not_there(line: str) -> None:
    found = parsed(f'{{"m": {{"value": 20.0}}}}\n{line}\n', value=("m.value",))
    assert (len(found.values), len(found.bad)) == (1, 1)
    assert "m.value" in found.bad[0].reason


def test_what_is_passed_on_is_valid_json_and_csv(tmp_path: pathlib.Path) -> None:
    odd = ["a,b", 'say "x"', "ü€", 1.5, None, True, {"a": [1, None]}, "", " x", "\ud800", "\n"]
    lines = [json.dumps({"value": 20.0, "x": value}) for value in odd] + ['{"value": 20.0, "x": [NaN, 1e999]}', '{"value": 20.0}']
    done = watched(tmp_path, lines, keep=("x",))
    assert [row["x"] for row in done.rows] == [*odd, [None, None], None]
    assert "NaN" not in (tmp_path / "out").read_text()
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines * 10))  # many: by Arrow
    text = watch(tmp_path / "in", "--keep", "x", "--format", "csv", "--measures", "mean").stdout
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    expected = ["a,b", 'say "x"', "ü€", "1.5", "", "true", '{"a": [1, null]}', "", " x", "?", "\n", "[null, null]", ""]
    assert [row["x"] for row in found] == expected * 10


# --- files -------------------------------------------------------------------------------------------------------------------


def test_the_lock_does_not_follow_a_link(tmp_path: pathlib.Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("")
    (tmp_path / "state.lock").symlink_to(precious)
    done = watch("--state", tmp_path / "state", text="20\n")
    assert done.returncode == 2
    assert "state.lock, the lock of --state, is a link, and is not followed" in done.stderr
    assert precious.exists()
    (tmp_path / "state.lock").unlink()
    os.mkfifo(tmp_path / "state.lock")
    done = watch("--state", tmp_path / "state", text="20\n")
    assert done.returncode == 2
    assert "is not a file" in done.stderr


@pytest.mark.parametrize("option", ["--out", "--state", "--metrics"])
def test_a_folder_is_no_file(tmp_path: pathlib.Path, option: str) -> None:
    done = watch(option, tmp_path, text="20\n")
    assert done.returncode == 2
    assert f"{option} {tmp_path} is a folder; the name of a file is accepted" in done.stderr


def test_a_header_that_is_refused_leaves_no_file(tmp_path: pathlib.Path) -> None:
    done = watch("--out", tmp_path / "out", text="sensor,temperature\na,20\n")
    assert done.returncode == 2
    assert "there is no field 'value'" in done.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").write_text("")
    assert watch("--out", tmp_path / "out", text="sensor,temperature\na,20\n").returncode == 2
    assert (tmp_path / "out").exists()  # it was there before


def test_follow_waits_for_a_file_that_is_not_there_yet(tmp_path: pathlib.Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    process = started(log, "--follow", "--out", out, "--state", tmp_path / "state", "--save-every", "0")
    assert process.stderr is not None
    assert process.stderr.readline() == f"volatilis watch: waiting for {log}, which is not there yet\n".encode()
    log.write_text("20\n21\n")
    wait_for(lambda: out.exists() and len(rows(out.read_text())) == 2, what="both lines")
    process.terminate()
    process.communicate(timeout=60)
    log.rename(tmp_path / "log.1")
    process = started(log, "--follow", "--out", out, "--state", tmp_path / "state")
    assert process.stderr is not None
    assert b"waiting for" in process.stderr.readline()
    (tmp_path / "log.1").rename(log)
    with log.open("a") as file:
        file.write("22\n")
    wait_for(lambda: len(rows(out.read_text())) == 3, what="the third line")
    process.terminate()
    process.communicate(timeout=60)
    assert [row["value"] for row in rows(out.read_text())] == [20.0, 21.0, 22.0]
    assert watch(tmp_path / "nowhere").returncode == 2
