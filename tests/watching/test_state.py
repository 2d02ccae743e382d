"""The state file: going on from it, and never using or overwriting one that does not belong."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from typing import Any

import numpy as np
import pytest

from volatilis.catalogue import parse_family, parse_learner
from volatilis.running.state_files import StateFileError
from volatilis.watching import WatchRequest
from volatilis.watching import state as state_file
from volatilis.watching.output import Output
from volatilis.watching.places import Place
from volatilis.watching.state import keys_from
from volatilis.watching.watcher import Watcher

from .command import FAMILY, LEARNER, keyed_lines, rows, sensor_values, watch

VALUES = sensor_values(400)
KEYS = np.random.default_rng(2).choice(["a", "b", "c"], 400).tolist()
LINES = keyed_lines(VALUES, KEYS)


def parts(text: str, cut: int) -> tuple[str, str]:
    lines = text.splitlines(keepends=True)
    return "".join(lines[:cut]), "".join(lines[cut:])


@pytest.mark.parametrize("learner", ["varsmile:m=0.01", "merge:n=5,p_c=0.01", "pf:n=6,p_c=0.01", "exact:p_c=0.0001"])
def test_going_on_gives_the_same_bits(tmp_path: pathlib.Path, learner: str) -> None:
    log, kept = tmp_path / "log", tmp_path / "state"
    options = [log, "--key", "sensor", "--family", FAMILY, "--learner", learner, "--alarm-run-length", "0.5"]
    log.write_text(LINES)
    whole = watch(*options, both=False)
    first, rest = parts(LINES, 250)
    log.write_text(first)
    one = watch(*options, "--state", kept, both=False)
    log.write_text(first + rest)
    two = watch(*options, "--state", kept, both=False)
    assert whole.returncode == one.returncode == two.returncode == 0
    assert one.stdout + two.stdout == whole.stdout
    assert two.stderr.splitlines()[-1] == whole.stderr.splitlines()[-1]  # the counts too
    again = watch(*options, "--state", kept, both=False)
    assert (again.stdout, again.stderr.splitlines()[-1]) == ("", whole.stderr.splitlines()[-1])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (["--learner", "varsmile:m=0.002"], "another learner: VarSMiLe"),
        (["--family", "gaussian:sigma=2"], "another learner: VarSMiLe"),
        (["--key", "none"], "another key: sensor, now none"),
        (["--value", "x"], "another value: value, now x"),
        (["--seed", "1"], "another seed: 0, now 1"),
    ],
)
def test_a_state_of_something_else_is_refused(tmp_path: pathlib.Path, changed: list[str], said: str) -> None:
    kept = tmp_path / "state"
    options = {"--learner": LEARNER, "--family": FAMILY, "--key": "sensor", "--state": str(kept)}
    assert watch(*[x for pair in options.items() for x in pair], text=LINES, both=False).returncode == 0
    before = kept.read_bytes()
    options |= {changed[0]: changed[1]}
    done = watch(*[x for pair in options.items() for x in pair], text=LINES, both=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "not changed" in done.stderr
    assert done.stdout == ""
    assert kept.read_bytes() == before


def test_the_same_learner_written_otherwise_is_the_same(tmp_path: pathlib.Path) -> None:
    kept = tmp_path / "state"
    for learner in ("merge:n=5,p_c=0.01", "Merge:p_c=1e-2,n=5"):
        done = watch("--family", FAMILY, "--learner", learner, "--state", kept, text="20\n", both=False)
        assert done.returncode == 0, done.stderr
    assert "2 observations" in done.stderr


def damaged(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    return {
        "one byte changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "cut": data[:-10],
        "half": data[:middle],
        "only the beginning": data[:40],
        "longer": data + b"x",
    }


def test_a_damaged_state_is_refused_and_left(tmp_path: pathlib.Path) -> None:
    kept = tmp_path / "state"
    assert watch("--state", kept, text="20\n21\n").returncode == 0
    for name, data in damaged(kept.read_bytes()).items():
        kept.write_bytes(data)
        done = watch("--state", kept, text="20\n")
        assert done.returncode == 2, name
        assert "damaged or cut short" in done.stderr, name
        assert kept.read_bytes() == data, name


@pytest.mark.parametrize("data", [b"", b"my notes\n", b'{"format": "volatilis-stream"}', b"\x00" * 100])
def test_a_file_that_is_no_state_is_refused_and_left(tmp_path: pathlib.Path, data: bytes) -> None:
    kept = tmp_path / "notes"
    kept.write_bytes(data)
    done = watch("--state", kept, text="20\n")
    assert done.returncode == 2
    assert "is not a state file of volatilis watch" in done.stderr
    assert kept.read_bytes() == data


def forged(path: pathlib.Path, change: Any) -> None:
    """A whole file with another content."""
    header, arrays = state_file.load(path)
    for name in ("format", "version", "arrays"):
        header.pop(name)
    change(header, arrays)
    state_file.save(path, header, arrays)


def _set(where: str, name: str, value: Any) -> Any:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        if where == "header":
            header[name] = value
        else:
            arrays[name] = value(arrays[name])

    return change


FORGERIES = {
    "count": _set("arrays", "0.count", lambda a: a + 100),
    "no hypothesis": _set("arrays", "0.count", lambda a: a * 0),
    "weights": _set("arrays", "0.weights", lambda a: a * 2),
    "not finite": _set("arrays", "0.chi", lambda a: a * np.nan),
    "another shape": _set("arrays", "0.nu", lambda a: a[:, :4]),
    "another kind": _set("arrays", "0.nu", lambda a: a.astype(np.float32)),
    "nothing at all": _set("arrays", "0.nu", lambda a: a * 0),
    "more states": _set("arrays", "pool", lambda a: a[:-1]),
    "pool beyond": _set("arrays", "pool", lambda a: a + 3),
    "negative pool": _set("arrays", "pool", lambda a: a - 1),
    "pool of another kind": _set("arrays", "pool", lambda a: a.astype(float)),
    "more keys": _set("arrays", "lengths", lambda a: np.array([1, 1, 1, 1])),
    "fewer keys": _set("arrays", "count", lambda a: a - 1),
    "a count that is no number": _set("arrays", "count", lambda a: np.array(["3"])),
    "keys that are numbers": _set("arrays", "keys", lambda a: np.array([1, 2, 3])),
    "keys that are no text": _set("arrays", "keys", lambda a: np.array([255, 254, 253], dtype=np.uint8)),
    "a key twice": _set("arrays", "keys", lambda a: a * 0 + 97),
    "a key of negative length": _set("arrays", "lengths", lambda a: np.array([3, 1, -1])),
    "an empty key": _set("arrays", "lengths", lambda a: np.array([0, 1, 2])),
    "times of last lines": _set("arrays", "last", lambda a: np.zeros(3)),
    "alarms": _set("arrays", "alarms.longest", lambda a: a[:1]),
    "an array less": lambda header, arrays: arrays.pop("pool"),
    "no key at all": _set("arrays", "keys", lambda a: np.array(5)),
    "place": _set("header", "place", {"position": 3}),
    "summary": _set("header", "summary", {"observations": "many"}),
    "pools": _set("header", "pools", 5),
    "no pools": _set("header", "pools", 0),
    "pools that are no number": _set("header", "pools", "one"),
    "very many pools": _set("header", "pools", 10**9),
    "a summary that is no table": _set("header", "summary", [1, 2]),
    "an output that is true": _set("header", "output", True),
    "out": _set("header", "output", "there"),
}


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A state file that a watcher wrote."""
    path = tmp_path_factory.mktemp("genuine") / "state"
    options = ["--family", FAMILY, "--learner", "merge:n=5,p_c=0.01", "--key", "sensor", "--state", path]
    assert watch(*options, text=LINES, both=False).returncode == 0
    return path.read_bytes()


def watcher_of(path: pathlib.Path) -> Watcher:
    learner = parse_learner("merge:n=5,p_c=0.01")
    return Watcher(WatchRequest("-", parse_family(FAMILY), learner, ("sensor",), state=str(path), out="-"), print)


def test_a_state_that_a_learner_made_is_taken(tmp_path: pathlib.Path, genuine: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_bytes(genuine)
    with pathlib.Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        watcher_of(tmp_path / "state")


@pytest.mark.parametrize("name", FORGERIES)
def test_native_code_never_sees_a_state_that_no_learner_made(tmp_path: pathlib.Path, name: str, genuine: bytes) -> None:
    (tmp_path / "state").write_bytes(genuine)
    forged(tmp_path / "state", FORGERIES[name])
    with pytest.raises(StateFileError, match="does not hold the state of a watcher"):
        watcher_of(tmp_path / "state")


def test_a_version_that_is_not_known(tmp_path: pathlib.Path) -> None:
    kept = tmp_path / "state"
    assert watch("--state", kept, text="20\n").returncode == 0
    data = kept.read_bytes()[:-32].replace(b'"version": 2', b'"version": 9')
    kept.write_bytes(data + hashlib.sha256(data).digest())
    done = watch("--state", kept, text="20\n")
    assert done.returncode == 2
    assert "has version 9; this release reads version 2" in done.stderr


def test_a_state_that_another_process_wrote_meanwhile_is_left(tmp_path: pathlib.Path) -> None:
    recipes, kept = (parse_family(FAMILY), parse_learner(LEARNER)), str(tmp_path / "state")
    first, second = (WatchRequest("/dev/null", *recipes, state=kept, out=str(tmp_path / name)) for name in "ab")
    output = Output(str(tmp_path / "o"), None, print)
    with Watcher(first, print) as one, Watcher(second, print) as other:  # before there is a state
        one._memory.save(Place().to_data(), one.summary, output)
        with pytest.raises(StateFileError, match="written by another process meanwhile"):
            other._memory.save(Place().to_data(), other.summary, output)
    with Watcher(first, print) as one, Watcher(second, print) as other:  # from the same state
        one._memory.save(Place().to_data(), one.summary, output)
        one._memory.save(Place().to_data(), one.summary, output)
        with pytest.raises(StateFileError, match="written by another process meanwhile"):
            other._memory.save(Place().to_data(), other.summary, output)
    output.close()


def test_a_place_for_the_state_that_cannot_be_written_is_told_at_once(tmp_path: pathlib.Path) -> None:
    done = watch("--state", tmp_path / "nowhere" / "state", text="20\n")
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert done.stdout == ""


def test_a_state_holds_no_line_of_the_input_and_no_object(tmp_path: pathlib.Path) -> None:
    kept = tmp_path / "state"
    assert watch("--state", kept, "--key", "sensor", text=LINES).returncode == 0
    data = kept.read_bytes()
    header = json.loads(data.partition(b"\n")[0])
    assert sorted(keys_from(state_file.load(kept)[1], 1)) == ["a", "b", "c"]
    assert header["summary"]["observations"] == 400
    assert b"pickle" not in data
    assert LINES.splitlines()[0].encode() not in data


def test_a_bad_line_stops_before_it_and_the_state_stands_there(tmp_path: pathlib.Path) -> None:
    log, kept = tmp_path / "log", tmp_path / "state"
    log.write_text("20\n21\nx\n22\n")
    for _ in range(2):  # it stands there until the line is mended
        done = watch(log, "--state", kept)
        assert done.returncode == 2
        assert f"{log}: line 3: it is 'x', not a number" in done.stderr
        assert "'x'" in done.stderr
    log.write_text("20\n21\n23\n22\n")
    done = watch(log, "--state", kept)
    assert [row["value"] for row in rows(done.stdout)] == [23.0, 22.0]
    assert "4 observations" in done.stderr
