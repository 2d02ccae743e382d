"""State files: going on bit for bit, whole or not at all, and never a state that native code could not survive.

Compiled code checks no bounds, so `Stream.load` is the only guard between a file and the memory of the process. A test that finds
an inconsistent state loaded fails before it runs native code on it.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import volatilis as vl
from tests.helpers.settings import every_learner, name_of
from volatilis.learners._hypotheses import Hypotheses
from volatilis.running import state_files
from volatilis.running.drivers import STEP_TAIL

GAUSSIAN = vl.Gaussian(0.7, mu_0=0.2, sigma_0=2.0)
CATEGORICAL = vl.Categorical(3, s=0.5)
PLANE = vl.MultivariateGaussian([[1.0, 0.3], [0.3, 0.5]], [0.1, -0.2], [[2.0, 0.0], [0.0, 1.0]])
WISHART = vl.MultivariateGaussianUnknownCovariance([0.0, 1.0], 0.5, 3.5, [[1.0, 0.2], [0.2, 2.0]])
RNG = np.random.default_rng(20210)
GAUSSIAN_YS = np.concatenate([RNG.normal(m, 0.7, 60) for m in (-2.0, 3.0, 0.5)])
CATEGORICAL_YS = RNG.integers(0, 3, 180)
PLANE_YS = RNG.normal(size=(60, 2))


CASES = [(learner, GAUSSIAN_YS) for learner in every_learner(GAUSSIAN)]
CASES += [(learner, CATEGORICAL_YS) for learner in every_learner(CATEGORICAL)]
CASES += [(vl.Nas12(0.7, 0.05, mu_0=0.5, sigma_0=30.0), GAUSSIAN_YS)]
CASES += [(vl.ParticleFilter(PLANE, 0.05, 5), PLANE_YS), (vl.ExactBayes(WISHART, 0.05), PLANE_YS)]


def fed(learner: Any, ys: Any, count: int, **kwargs: Any) -> vl.Stream:
    stream = vl.Stream(learner, **kwargs)
    for y in ys[:count]:
        stream.update(y)
    return stream


def numbers(step: Any) -> np.ndarray:
    return np.concatenate([np.ravel(item) for item in step])


# --- going on ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("learner", "ys"), CASES, ids=name_of)
def test_a_restored_stream_goes_on_bit_for_bit(learner: Any, ys: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state.json"
    never_stopped = fed(learner, ys, len(ys) // 2, seed=7)
    never_stopped.save(path)
    restored = vl.Stream.load(path)
    assert restored.learner == learner
    assert type(restored.learner) is type(learner)
    assert restored.seen == len(ys) // 2
    assert np.array_equal(restored.belief.weights, never_stopped.belief.weights)
    for y in ys[len(ys) // 2 :]:
        assert np.array_equal(numbers(restored.update(y)), numbers(never_stopped.update(y)), equal_nan=True)
    assert restored.seen == len(ys)


def test_saving_at_every_observation_changes_nothing(tmp_path: pathlib.Path) -> None:
    path, ys = tmp_path / "state.json", GAUSSIAN_YS[:25]
    for learner in (vl.ParticleFilter(GAUSSIAN, 0.1, 5), vl.ExactBayes(GAUSSIAN, 0.1)):
        stream, straight = vl.Stream(learner, seed=3), vl.Stream(learner, seed=3)
        for y in ys:
            stream.save(path)
            stream = vl.Stream.load(path)
            assert np.array_equal(numbers(stream.update(y)), numbers(straight.update(y)))


def test_exact_bayes_that_has_grown(tmp_path: pathlib.Path) -> None:
    learner, path = vl.ExactBayes(vl.Gaussian(5.0), 0.001, cutoff=0.0), tmp_path / "state.json"
    ys = np.random.default_rng(3).normal(0.0, 5.0, 300)
    stream = fed(learner, ys, 200)
    assert stream.belief.weights.size > 128  # beyond its first room
    stream.save(path)
    restored = vl.Stream.load(path)
    for y in ys[200:]:
        assert np.array_equal(numbers(restored.update(y)), numbers(stream.update(y)))


@pytest.mark.parametrize("family", [GAUSSIAN, CATEGORICAL, PLANE])
def test_a_merge_that_was_saved_with_less_room(family: Any) -> None:
    """As 0.1 made it: room for n + 1 hypotheses, in eights."""
    ys = vl.ChangingEnvironment(family, 0.1).sample(40, seed=1).y
    stream = fed(vl.Merge(family, 0.05, 5), ys, 30)
    body = state_files.from_bytes(stream.to_bytes(), "it")
    fields = body["state"]["fields"]
    arrays = [fields["weights"], fields["run_lengths"], fields["scratch"], *fields["beliefs"]["fields"].values()]
    for array in arrays:
        rows = np.reshape(array["values"], array["shape"])[..., :8]
        array["values"], array["shape"] = rows.ravel().tolist(), list(rows.shape)
    restored = vl.Stream.from_bytes(state_files.to_bytes(body))
    for y in ys[30:]:
        assert np.array_equal(numbers(restored.update(y)), numbers(stream.update(y)))


def test_a_prior_that_is_not_the_learners_is_not_taken_over() -> None:
    learner = vl.StratifiedResampling(vl.Contaminated(GAUSSIAN, 0.05), 0.1, 3)
    stream = fed(learner, GAUSSIAN_YS, 10)
    forged = state_files.from_bytes(stream.to_bytes(), "it")
    forged["state"]["fields"]["pi_0"]["fields"]["nu"]["values"] = [-1.0]
    restored = vl.Stream.from_bytes(state_files.to_bytes(forged))
    for y in GAUSSIAN_YS[10:20]:
        assert np.array_equal(numbers(restored.update(y)), numbers(stream.update(y)))


def test_the_policy_for_missing_observations_and_the_number_seen_are_kept(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state.json"
    stream = fed(vl.VarSMiLe(GAUSSIAN, 0.1), GAUSSIAN_YS, 5, missing="elapse")
    stream.update(None)
    stream.save(path)
    restored = vl.Stream.load(path)
    assert restored.seen == 5
    assert np.array_equal(numbers(restored.update(np.nan)), numbers(stream.update(np.nan)), equal_nan=True)
    fed(vl.VarSMiLe(GAUSSIAN, 0.1), GAUSSIAN_YS, 5).save(path)
    with pytest.raises(ValueError, match="missing"):
        vl.Stream.load(path).update(None)


def test_a_stream_that_has_seen_nothing(tmp_path: pathlib.Path) -> None:
    for learner in (vl.Leaky(GAUSSIAN, 0.9), vl.Merge(GAUSSIAN, 0.1, 3), vl.ParticleFilter(CATEGORICAL, 0.1, 3)):
        vl.Stream(learner, seed=5).save(tmp_path / "state.json")
        restored = vl.Stream.load(tmp_path / "state.json")
        assert restored.seen == 0
        assert np.array_equal(numbers(restored.update(1)), numbers(vl.Stream(learner, seed=5).update(1)), equal_nan=True)


def test_extreme_numbers_survive(tmp_path: pathlib.Path) -> None:
    """Subnormal and huge hyper-parameters, observations and seeds read back to the same bits."""
    for family, y in ((vl.Gaussian(1e-6, 1 / 3, 1e6), 1e144), (vl.Gaussian(1e6, -0.1, 1e-6), -1e-300)):
        learner = vl.ParticleFilter(family, 1e-12, 3)
        for seed in (0, 2**63, 2**64 - 1):
            stream = fed(learner, [y, 0.1, -y], 3, seed=seed)
            stream.save(tmp_path / "state.json")
            restored = vl.Stream.load(tmp_path / "state.json")
            assert restored.learner == learner
            for z in (y, 0.3):
                assert np.array_equal(numbers(restored.update(z)), numbers(stream.update(z)), equal_nan=True)


def test_what_extreme_observations_leave_in_the_room_to_work_is_no_obstacle(tmp_path: pathlib.Path) -> None:
    """A state that the learner itself made can always be loaded."""
    for learner in (vl.ExactBayes(WISHART, 0.05), vl.ExactBayes(GAUSSIAN, 0.5), vl.Merge(CATEGORICAL, 0.05, 4)):
        vector, whole = learner.family is WISHART, learner.family is CATEGORICAL
        for y in (1e150, 1e-300, 1e100, 0.0):
            stream = vl.Stream(learner)
            for sign in (1.0, -1.0, 0.3, 1e-9, 1.0):
                stream.update([sign * y, -y] if vector else int(sign) % 3 if whole else sign * y)
            stream.save(tmp_path / "state.json")
            restored = vl.Stream.load(tmp_path / "state.json")
            again = [1.0, 2.0] if vector else 1.0
            assert np.array_equal(numbers(restored.update(again)), numbers(stream.update(again)), equal_nan=True)


def test_the_file_is_data(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state.json"
    fed(vl.ParticleFilter(GAUSSIAN, 0.1, 3), GAUSSIAN_YS, 10).save(path)
    outer = json.loads(path.read_text(encoding="utf-8"))
    body = json.loads(outer["body"])
    assert outer["sha256"] == hashlib.sha256(outer["body"].encode()).hexdigest()
    assert (body["format"], body["version"]) == ("volatilis-stream", 1)
    assert body["learner"]["class"].endswith(":ParticleFilter")
    assert body["learner"]["fields"]["p_c"] == 0.1


# --- atomicity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_failure_while_saving_leaves_the_old_file_and_no_litter(
    broken: str, failure: BaseException, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.json"
    stream = fed(vl.VarSMiLe(GAUSSIAN, 0.1), GAUSSIAN_YS, 5)
    stream.save(path)
    before = path.read_bytes()
    stream.update(0.5)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(os, broken, fail)
        with pytest.raises(type(failure)):
            stream.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]
    assert vl.Stream.load(path).seen == 5
    stream.save(path)
    assert vl.Stream.load(path).seen == 6


def test_a_stream_that_cannot_be_written_leaves_the_old_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    stream = fed(vl.VarSMiLe(GAUSSIAN, 0.1), GAUSSIAN_YS, 5)
    stream.save(path)
    monkeypatch.setattr(state_files, "to_data", lambda value: object())
    with pytest.raises(TypeError):
        stream.save(path)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]
    assert vl.Stream.load(path).seen == 5


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state.json"
    program = textwrap.dedent(
        """
        import sys
        import volatilis as vl
        stream = vl.Stream(vl.ParticleFilter(vl.Gaussian(0.7), 0.05, 200))
        while True:
            stream.update(0.3)
            stream.save(sys.argv[1])
        """
    )
    vl.Stream(vl.ParticleFilter(vl.Gaussian(0.7), 0.05, 200)).update(0.3)  # compiled before the clock starts
    rng, seen = np.random.default_rng(1), 0
    for _ in range(6):
        path.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-c", program, str(path)])
        try:
            deadline = time.monotonic() + 60.0
            while not path.exists() and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(0.05 * rng.random())
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        stream = vl.Stream.load(path)
        seen = max(seen, stream.seen)
        assert stream.seen >= 1
        assert np.isfinite(stream.update(0.1).mean)
    assert seen > 1  # it was killed in the middle of many saves


# --- files that are not whole, or not ours -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    """The bytes of the state file of each kind of learner."""
    path, cache = tmp_path_factory.mktemp("saved") / "state.json", {}
    streams = {
        "exact": lambda: fed(vl.ExactBayes(GAUSSIAN, 0.05), GAUSSIAN_YS, 30),
        "passing": lambda: fed(vl.MessagePassing(GAUSSIAN, 0.05, 6), GAUSSIAN_YS, 30),
        "particles": lambda: fed(vl.ParticleFilter(GAUSSIAN, 0.05, 6), GAUSSIAN_YS, 30),
        "stratified": lambda: fed(vl.StratifiedResampling(GAUSSIAN, 0.05, 6), GAUSSIAN_YS, 30),
        "merge": lambda: fed(vl.Merge(CATEGORICAL, 0.05, 5), CATEGORICAL_YS, 30),
        "varsmile": lambda: fed(vl.VarSMiLe(GAUSSIAN, 0.1), GAUSSIAN_YS, 30),
        "smile": lambda: fed(vl.SMiLe(CATEGORICAL, 0.1), CATEGORICAL_YS, 30),
        "poisson": lambda: fed(vl.VarSMiLe(vl.Poisson(2.0, 1.0), 0.1), CATEGORICAL_YS, 30),
        "leaky": lambda: fed(vl.Leaky(CATEGORICAL, 0.9), CATEGORICAL_YS, 30),
        "nas": lambda: fed(vl.Nas12(0.7, 0.05), GAUSSIAN_YS, 30),
    }

    def content(name: str) -> bytes:
        if name not in cache:
            streams[name]().save(path)
            cache[name] = path.read_bytes()
        return cache[name]

    content.names = list(streams)  # type: ignore[attr-defined]
    return content


def refused(path: pathlib.Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(vl.StateFileError) as caught:
        vl.Stream.load(path)
    assert str(path) in str(caught.value), "the error names the file"
    return str(caught.value)


def is_accepted(path: pathlib.Path) -> bool:
    try:
        vl.Stream.load(path)
    except vl.StateFileError:
        return False
    return True


def sealed(body: Any) -> bytes:
    """A file with this content and the checksum that fits it."""
    text = body if isinstance(body, str) else json.dumps(body)
    return json.dumps({"sha256": hashlib.sha256(text.encode()).hexdigest(), "body": text}).encode()


def body_of(content: bytes) -> dict[str, Any]:
    return json.loads(json.loads(content)["body"])


def test_every_truncation_is_refused(saved: Any, tmp_path: pathlib.Path) -> None:
    content = saved("particles")
    for length in [*range(0, len(content), 37), len(content) - 1]:
        refused(tmp_path / "state.json", content[:length])


def test_every_altered_byte_is_refused(saved: Any, tmp_path: pathlib.Path) -> None:
    content = saved("particles")
    for position in range(0, len(content), 23):
        for flip in (1, 0x80):
            altered = bytearray(content)
            altered[position] ^= flip
            refused(tmp_path / "state.json", bytes(altered))


FOREIGN = {
    "empty": b"",
    "text": b"hello",
    "binary": bytes(range(256)) * 10,
    "zeros": b"\0" * 1000,
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.",
    "npz": b"PK\x03\x04\x14\x00\x00\x00\x00\x00",
    "null": b"null",
    "number": b"3",
    "list": b"[1, 2]",
    "string": b'"body"',
    "object": b'{"a": 1}',
    "deep": b"[" * 100_000,
    "deep object": b'{"body":' * 50_000,
    "no checksum": b'{"body": "{}"}',
    "body no text": b'{"body": {}, "sha256": ""}',
    "checksum no text": b'{"body": "{}", "sha256": 5}',
    "lone surrogate": b'{"body": "\\ud800", "sha256": ""}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "utf-16": '{"body": "{}"}'.encode("utf-16"),
    "huge number": b'{"body": 1' + b"0" * 5000 + b', "sha256": ""}',
    "sealed null": sealed(None),
    "sealed list": sealed([]),
    "sealed number": sealed(5),
    "sealed text": sealed("no json"),
    "sealed other": sealed({"format": "something", "version": 1}),
    "sealed without version": sealed({"format": "volatilis-stream"}),
    "sealed empty": sealed({"format": "volatilis-stream", "version": 1}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_refused(name: str, tmp_path: pathlib.Path) -> None:
    refused(tmp_path / "state.json", FOREIGN[name])


@pytest.mark.parametrize("version", [0, 2, "1", None, 1.5, [1], 10**400])
def test_other_versions_are_refused(version: Any, saved: Any, tmp_path: pathlib.Path) -> None:
    message = refused(tmp_path / "state.json", sealed(body_of(saved("varsmile")) | {"version": version}))
    assert "version" in message


def test_a_file_that_is_not_there_or_is_a_folder_is_an_ordinary_error(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError):
        vl.Stream.load(tmp_path / "none.json")
    with pytest.raises(OSError):
        vl.Stream.load(tmp_path)


def test_a_class_that_is_not_defined_here_is_named(saved: Any, tmp_path: pathlib.Path) -> None:
    body = body_of(saved("varsmile"))
    body["learner"]["fields"]["family"]["class"] = "my_models:Rayleigh"
    path = tmp_path / "state.json"
    path.write_bytes(sealed(body))
    with pytest.raises(vl.StateFileError, match=r"Rayleigh.*my_models"):
        vl.Stream.load(path)


# --- bytes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("learner", "ys"), CASES, ids=name_of)
def test_bytes_are_the_content_of_a_file_and_go_on_bit_for_bit(learner: Any, ys: Any, tmp_path: pathlib.Path) -> None:
    stream = fed(learner, ys, 20, seed=7)
    stream.save(tmp_path / "state.json")
    data = stream.to_bytes()
    assert data == (tmp_path / "state.json").read_bytes()
    again = [vl.Stream.from_bytes(form) for form in (data, bytearray(data), memoryview(data))]
    expected = numbers(stream.update(ys[20]))
    assert all(np.array_equal(numbers(other.update(ys[20])), expected, equal_nan=True) for other in again)


def test_bytes_that_are_not_a_state_are_refused(saved: Any) -> None:
    data = saved("particles")
    for bad in (b"", data[:-1], data[: len(data) // 2], data + b"x", *FOREIGN.values()):
        with pytest.raises(vl.StateFileError, match="the data"):
            vl.Stream.from_bytes(bad)
    body = body_of(data)
    body["state"]["fields"]["count"]["values"] = [10**6]
    with pytest.raises(vl.StateFileError, match="the data does not hold the state of a learner"):
        vl.Stream.from_bytes(sealed(body))
    for wrong in ("text", None, 3):
        with pytest.raises(TypeError, match="bytes"):
            vl.Stream.from_bytes(wrong)  # type: ignore[arg-type]


# --- states that do not fit their learner ------------------------------------------------------------------------------

Path = tuple[str | int, ...]


def put(body: Any, path: Path, value: Any) -> None:
    for key in path[:-1]:
        body = body[key]
    body[path[-1]] = value


def get(body: Any, path: Path) -> Any:
    for key in path:
        body = body[key]
    return body


def array(values: Any, dtype: str = "<f8", shape: Any = None) -> dict[str, Any]:
    values = np.asarray(values)
    return {"dtype": dtype, "shape": list(values.shape) if shape is None else shape, "values": values.ravel().tolist()}


def field(*names: str) -> Path:
    """The place of a field of the state."""
    return ("state", *(part for name in names for part in ("fields", name)))


def show(value: Any) -> str | None:
    if isinstance(value, dict):
        value = {k: (v if len(str(v)) < 20 else f"{str(v)[:17]}...") for k, v in value.items()}
    return f"{value}"[:60] if not isinstance(value, tuple) else ".".join(str(v) for v in value if v != "fields")


HYPOTHESES = [
    (field("count"), lambda room, rows: array([room + 1], "<i8")),  # beyond every array
    (field("count"), lambda room, rows: array([10**15], "<i8")),
    (field("count"), lambda room, rows: array([0], "<i8")),
    (field("count"), lambda room, rows: array([-1], "<i8")),
    (field("count"), lambda room, rows: array([-(2**63)], "<i8")),
    (field("count"), lambda room, rows: array(np.zeros(0, dtype=int), "<i8")),
    (field("count"), lambda room, rows: array([2, 2], "<i8")),
    (field("count"), lambda room, rows: array(2, "<i8")),
    (field("count"), lambda room, rows: array([2.0])),
    (field("count"), lambda room, rows: 2),
    (field("weights"), lambda room, rows: array(np.full(room - 1, 1.0 / (room - 1)))),
    (field("weights"), lambda room, rows: array(np.full(room * 128, 1.0 / 128 / room))),
    (field("weights"), lambda room, rows: array(np.zeros(0))),
    (field("weights"), lambda room, rows: array(np.full((1, room), 1.0 / room))),
    (field("weights"), lambda room, rows: array(np.full(room, 1), "<i8")),
    (field("weights"), lambda room, rows: array(np.full(room, 1), "|O")),
    (field("weights"), lambda room, rows: array(np.full(room, np.nan))),
    (field("weights"), lambda room, rows: array(np.full(room, np.inf))),
    (field("weights"), lambda room, rows: array(np.full(room, -1.0))),
    (field("weights"), lambda room, rows: array(np.zeros(room))),
    (field("weights"), lambda room, rows: array(np.full(room, 1.9))),
    (field("weights"), lambda room, rows: array(np.full(room, 1e300))),
    (field("run_lengths"), lambda room, rows: array(np.ones(room - 1))),
    (field("run_lengths"), lambda room, rows: array(np.ones(room + 1))),
    (field("run_lengths"), lambda room, rows: array(np.full(room, np.nan))),
    (field("run_lengths"), lambda room, rows: array(np.ones((room, 1)))),
    (field("scratch"), lambda room, rows: array(np.ones(room - 1))),
    (field("scratch"), lambda room, rows: array(np.ones(0))),
    (field("scratch"), lambda room, rows: array(np.ones(room), "<f4")),
    (field("scratch"), lambda room, rows: array(np.ones((room, 1)))),
    (field("scratch"), lambda room, rows: array(np.ones(room + 8))),
    (field("random"), lambda room, rows: array(np.zeros(0, dtype=int), "<u8")),
    (field("random"), lambda room, rows: array([1], "<i8")),
    (field("beliefs", "chi"), lambda room, rows: array(np.ones((rows, room - 1)))),
    (field("beliefs", "chi"), lambda room, rows: array(np.ones((rows + 1, room)))),
    (field("beliefs", "chi"), lambda room, rows: array(np.ones((0, room)))),
    (field("beliefs", "chi"), lambda room, rows: array(np.ones(rows * room))),
    (field("beliefs", "chi"), lambda room, rows: array(np.full((rows, room), np.nan))),
    (field("beliefs", "nu"), lambda room, rows: array(np.ones(room - 1))),
    (field("beliefs", "nu"), lambda room, rows: array(np.ones(room + 1))),
    (field("beliefs", "nu"), lambda room, rows: array(np.full(room, np.nan))),
    (field("beliefs"), lambda room, rows: [1, 2]),
    (field("pi_0", "chi"), lambda room, rows: array(np.ones((rows, 0)))),
    (field("pi_0", "chi"), lambda room, rows: array(np.ones((0, 1)))),
    (field("pi_0", "nu"), lambda room, rows: array(np.ones(0))),
]


@pytest.mark.parametrize("kind", ["exact", "passing", "particles", "stratified", "merge"])
def test_hypotheses_that_do_not_fit_are_refused(kind: str, saved: Any, tmp_path: pathlib.Path) -> None:
    """Counts beyond the arrays, arrays of other lengths, weights that hang or poison what comes after."""
    content, accepted = saved(kind), []
    rows, room = get(body_of(content), (*field("beliefs", "chi"), "shape"))
    for place, value in HYPOTHESES:
        body = body_of(content)
        put(body, place, value(room, rows))
        (tmp_path / "state.json").write_bytes(sealed(body))
        if is_accepted(tmp_path / "state.json"):
            accepted.append(f"{show(place)} = {show(value(room, rows))}")
    assert not accepted, f"{len(accepted)} accepted:\n" + "\n".join(accepted)


INCONSISTENT: list[tuple[str, Path, Any]] = []
INCONSISTENT += [
    (kind, place, value)
    for kind, rows in (("varsmile", 1), ("smile", 3), ("leaky", 3), ("nas", 1))
    for place, value in [
        (field("i"), 1),
        (field("i"), -1),
        (field("i"), 10**12),
        (field("i"), 10**30),
        (field("i"), 0.0),
        (field("i"), False),
        (field("i"), None),
        (field("i"), "0"),
        (field("run_lengths"), array(np.ones(0))),
        (field("run_lengths"), array(np.ones((1, 1)))),
        (field("run_lengths"), array([np.nan])),
        (field("beliefs", "chi"), array(np.ones((rows, 0)))),
        (field("beliefs", "chi"), array(np.ones((rows + 1, 1)))),
        (field("beliefs", "chi"), array(np.ones((0, 1)))),
        (field("beliefs", "nu"), array(np.ones(0))),
        (field("work", "chi"), array(np.ones((rows, 2)))),
        (field("work", "chi"), array(np.ones((0, 3)))),
        (field("work", "nu"), array(np.ones(2))),
        (field("pi_0", "chi"), array(np.ones((rows, 0)))),
        (field("pi_0", "nu"), array(np.ones(0))),
    ]
]
INCONSISTENT += [
    ("passing", field("count"), array([7], "<i8")),  # more than it keeps
    ("stratified", field("count"), array([7], "<i8")),
    ("merge", field("count"), array([6], "<i8")),
    ("particles", field("count"), array([5], "<i8")),  # always as many as particles
    ("passing", ("learner", "fields", "n"), 8),  # the learner itself grew, its arrays, of eight columns, did not
    ("passing", ("learner", "fields", "n"), 5),
    ("particles", ("learner", "fields", "n"), 10**5),
    ("merge", ("learner", "fields", "family", "fields", "k"), 4),
    ("merge", ("learner", "fields", "family", "fields", "k"), 2),
    ("merge", ("learner", "fields", "family", "fields", "k"), 10**6),
    ("leaky", ("learner", "fields", "family", "fields", "k"), 4),
    ("varsmile", ("learner", "fields", "m"), "0.1"),
    ("varsmile", ("learner", "fields", "m"), float("nan")),
    ("varsmile", ("learner", "fields", "m"), 10**400),
    ("varsmile", ("learner", "fields", "family"), 3),
    ("varsmile", ("learner", "fields"), []),
    ("varsmile", ("learner",), 3),
    ("varsmile", ("learner",), None),
    ("varsmile", ("learner", "class"), "volatilis.learners.leaky:Leaky"),
    ("varsmile", ("learner", "class"), "volatilis.learners._base:Info"),
    ("varsmile", ("learner", "class"), "volatilis.families.gaussian:Gaussian"),
    ("varsmile", ("learner", "class"), "os:system"),
    ("varsmile", ("learner", "class"), "nothing"),
    ("varsmile", ("learner", "class"), ["a"]),
    ("varsmile", ("learner", "class"), None),
    ("varsmile", ("state",), None),
    ("varsmile", ("state",), []),
    ("varsmile", ("state", "class"), "volatilis.learners._base:Hypotheses"),
    ("varsmile", ("state", "fields", "beliefs", "class"), "volatilis.learners._base:Info"),
    ("varsmile", ("missing",), "never"),
    ("varsmile", ("missing",), ["error"]),
    ("varsmile", ("missing",), None),
    ("varsmile", ("out",), None),
    ("varsmile", ("out",), 0.0),
    ("varsmile", ("out",), array([0.0])),
    ("varsmile", ("out",), array(np.zeros(6))),
    ("varsmile", ("out",), array(np.zeros((1, 7)))),
    ("varsmile", ("out",), array(np.zeros(8))),
    ("varsmile", ("out",), array([0.0, 0.0, 0.0, 0.0, np.nan, 0.0, 0.0])),  # the number of observations seen
    ("varsmile", ("out",), array([0.0, 0.0, 0.0, 0.0, -3.0, 0.0, 0.0])),
    ("varsmile", ("out",), array([0.0, 0.0, 0.0, 0.0, np.inf, 0.0, 0.0])),
    ("varsmile", (*field("beliefs", "nu"), "dtype"), "|V1000000000000"),
    ("varsmile", (*field("beliefs", "nu"), "dtype"), "|O"),
    ("varsmile", (*field("beliefs", "nu"), "dtype"), "M8[ns]"),
    ("varsmile", (*field("beliefs", "nu"), "dtype"), ">f8"),
    ("varsmile", (*field("beliefs", "nu"), "dtype"), {"names": ["a"], "formats": ["f8"]}),
    ("varsmile", (*field("beliefs", "nu"), "dtype"), [["a", "f8"]]),
    ("varsmile", (*field("beliefs", "nu"), "dtype"), None),
    ("varsmile", (*field("beliefs", "nu"), "shape"), [2]),
    ("varsmile", (*field("beliefs", "nu"), "shape"), [10**30]),
    ("varsmile", (*field("beliefs", "nu"), "shape"), [1.0]),
    ("varsmile", (*field("beliefs", "nu"), "shape"), "1"),
    ("varsmile", (*field("beliefs", "nu"), "shape"), None),
    ("varsmile", (*field("beliefs", "nu"), "values"), ["one"]),
    ("varsmile", (*field("beliefs", "nu"), "values"), [10**400]),
    ("varsmile", (*field("beliefs", "nu"), "values"), [[1.0], [1.0, 2.0]]),
    ("varsmile", (*field("beliefs", "nu"), "values"), [None]),
    ("varsmile", (*field("beliefs", "nu"), "values"), {"a": 1}),
    ("varsmile", (*field("beliefs", "nu"), "values"), [float("nan")]),
    ("varsmile", (*field("beliefs", "nu"), "values"), [-1.0]),
    ("varsmile", (*field("beliefs", "chi"), "values"), [float("inf")]),
]


@pytest.mark.parametrize(("kind", "place", "value"), INCONSISTENT, ids=show)
def test_a_state_that_does_not_fit_is_refused(kind: str, place: Path, value: Any, saved: Any, tmp_path: pathlib.Path) -> None:
    body = body_of(saved(kind))
    put(body, place, value)
    refused(tmp_path / "state.json", sealed(body))


@pytest.mark.parametrize("kind", ["passing", "stratified", "merge"])
def test_hypotheses_that_leave_no_room_for_the_next_are_refused(kind: str, saved: Any, tmp_path: pathlib.Path) -> None:
    """All columns live, weights that sum to one, nothing else wrong: the next observation would be written past the end."""
    body = body_of(saved(kind))
    rows, room = get(body, (*field("beliefs", "chi"), "shape"))
    put(body, field("count"), array([room], "<i8"))
    put(body, field("weights"), array(np.full(room, 1.0 / room)))
    put(body, field("run_lengths"), array(np.arange(room, 0.0, -1.0)))
    put(body, field("beliefs", "nu"), array(np.ones(room)))
    put(body, field("beliefs", "chi"), array(np.full((rows, room), 1.0 / rows)))
    refused(tmp_path / "state.json", sealed(body))


@pytest.mark.parametrize("weight", [1e-9, 5e-324, 0.5, -0.5, np.nan])
@pytest.mark.parametrize("kind", ["exact", "passing", "particles", "stratified", "merge"])
def test_weight_beyond_the_hypotheses_that_live_is_refused(kind: str, weight: float, saved: Any, tmp_path: pathlib.Path) -> None:
    """Loops go eight columns at a time, beyond the last that lives, and count on finding no weight there."""
    content = saved(kind)
    live, room = get(body_of(content), (*field("count"), "values"))[0], get(body_of(content), (*field("weights"), "shape"))[0]
    assert live < room
    for place in {live, room - 1}:
        body = body_of(content)
        put(body, (*field("weights"), "values", place), weight)
        message = refused(tmp_path / "state.json", sealed(body))
        assert "weights" in message


def keys_of(body: Any, path: Path = ()) -> list[Path]:
    """Every place in a JSON value."""
    found: list[Path] = []
    items = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in items:
        found.append((*path, key))
        found += keys_of(value, (*path, key))
    return found


def test_every_missing_key_is_refused(saved: Any, tmp_path: pathlib.Path) -> None:
    for kind in saved.names:
        body = body_of(saved(kind))
        for path in keys_of(body):
            if isinstance(path[-1], str) and "values" not in path:
                changed = json.loads(json.dumps(body))
                del get(changed, path[:-1])[path[-1]]
                (tmp_path / "state.json").write_bytes(sealed(changed))
                assert not is_accepted(tmp_path / "state.json"), f"{kind}: loaded without {'.'.join(map(str, path))}"


def test_a_state_of_another_learner_is_refused(saved: Any, tmp_path: pathlib.Path) -> None:
    pairs = [("varsmile", "exact"), ("exact", "varsmile"), ("smile", "varsmile"), ("nas", "leaky")]
    pairs += [("exact", "passing"), ("passing", "exact"), ("passing", "merge"), ("merge", "stratified"), ("particles", "merge")]
    for kind, other in pairs:
        body = body_of(saved(kind)) | {"state": body_of(saved(other))["state"]}
        refused(tmp_path / "state.json", sealed(body))


def test_a_state_of_another_learner_that_fits_is_survived(saved: Any, tmp_path: pathlib.Path) -> None:
    """As many hypotheses of the same family in the same room: nothing in the numbers tells the two learners apart."""
    path = tmp_path / "state.json"
    for kind, other in (("passing", "particles"), ("stratified", "passing"), ("particles", "passing")):
        path.write_bytes(sealed(body_of(saved(kind)) | {"state": body_of(saved(other))["state"]}))
        stream = vl.Stream.load(path)
        assert_native_code_survives(stream)
        for y in GAUSSIAN_YS[30:60]:
            assert np.isfinite(stream.update(y).mean)
        assert_native_code_survives(stream)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")
def test_a_state_too_large_for_the_memory_is_refused(saved: Any, tmp_path: pathlib.Path) -> None:
    """Ten million particles of a million categories: 80 TB, asked for by a file of some kilobytes."""
    body = body_of(saved("particles"))
    body["learner"]["fields"]["n"] = 10**7
    body["learner"]["fields"]["family"] = {
        "class": "volatilis.families.categorical:Categorical",
        "fields": {"k": 10**6, "s": 1.0},
    }
    path = tmp_path / "state.json"
    path.write_bytes(sealed(body))
    program = textwrap.dedent(
        """
        import resource, sys
        import volatilis as vl
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        try:
            vl.Stream.load(sys.argv[1])
        except vl.StateFileError as error:
            print("refused")
        """
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "refused\n", done.stderr[-500:]


def test_nesting_too_deep_to_follow_is_refused(saved: Any, tmp_path: pathlib.Path) -> None:
    for depth in (50, 150, 300, 450, 480, 900, 5000):
        for before, after in (('{"class": "x:y", "fields": {"a": ', "}}"), ("[", "]")):
            body = body_of(saved("varsmile")) | {"state": "HERE"}
            text = json.dumps(body).replace('"HERE"', before * depth + "1" + after * depth)
            refused(tmp_path / "state.json", sealed(text))
            known = before.replace("x:y", "volatilis.families._base:Beliefs")
            text = json.dumps(body).replace('"HERE"', known * depth + "1" + after * depth)
            refused(tmp_path / "state.json", sealed(text))


# --- fuzzing -----------------------------------------------------------------------------------------------------------

FUZZ = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def assert_native_code_survives(stream: vl.Stream) -> None:
    """The state has the shapes and the ranges that compiled code relies on."""
    learner, state = stream.learner, stream._state
    rows = learner.family.rows()
    assert stream._out.shape == (STEP_TAIL + 2 * learner.family.size(),)
    assert stream.seen >= 0
    assert state.pi_0.chi.shape == (rows, 1)
    assert state.pi_0.nu.shape == (1,)
    if isinstance(state, Hypotheses):
        room, n = state.weights.size, int(state.count[0])
        particles = isinstance(learner, vl.ParticleFilter)
        needed = learner.n + (not particles) if hasattr(learner, "n") else n
        if isinstance(learner, vl.Merge):  # the costs of pairs are computed eight at a time
            needed = -(-learner.n // 8) * 8 + 1
        assert room % 8 == 0
        assert needed <= room
        assert room < needed + 8 or isinstance(learner, vl.ExactBayes)
        assert (learner.n if particles else 1) <= n <= getattr(learner, "n", room)
        assert state.count.shape == (1,)
        assert state.beliefs.chi.shape == (rows, room)
        assert state.beliefs.nu.shape == state.run_lengths.shape == state.weights.shape == (room,)
        assert state.scratch.shape == (room,)
        assert state.random.shape == (1,)
        assert state.random.dtype == np.uint64
        assert state.count.dtype == np.int64
        assert np.all(state.weights[:n] >= 0.0)
        assert abs(state.weights[:n].sum() - 1.0) < 1e-6
        assert not state.weights[n:].any()
        assert np.all(np.isfinite(state.run_lengths[:n]))
    else:
        assert state.i == 0
        assert state.beliefs.chi.shape == (rows, 1)
        assert state.beliefs.nu.shape == state.run_lengths.shape == (1,)
        assert state.work.chi.shape == (rows, 3)
        assert state.work.nu.shape == (3,)
    for values in (state.weights if isinstance(state, Hypotheses) else state.run_lengths, state.beliefs.chi, state.beliefs.nu):
        assert values.dtype == np.float64
        assert values.flags.c_contiguous
        assert values.flags.writeable


KINDS = ["exact", "passing", "particles", "stratified", "merge", "varsmile", "poisson", "smile", "leaky", "nas"]


@settings(FUZZ, max_examples=150)
@given(
    kind=st.sampled_from(KINDS),
    edits=st.lists(
        st.tuples(st.sampled_from(["set", "cut", "add"]), st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4
    ),
)
def test_fuzz_bytes(kind: str, edits: list[tuple[str, float, int]], saved: Any, tmp_path: pathlib.Path) -> None:
    content = bytearray(saved(kind))
    for how, where, byte in edits:
        position = int(where * (len(content) - 1))
        if how == "set":
            content[position] = byte
        elif how == "cut":
            del content[position : position + 1 + byte % 5]
        else:
            content.insert(position, byte)
    path = tmp_path / "state.json"
    path.write_bytes(bytes(content))
    try:
        stream = vl.Stream.load(path)
    except vl.StateFileError:
        return
    assert json.loads(content)["body"] == json.loads(saved(kind))["body"]  # nothing but white space was altered
    assert_native_code_survives(stream)


ODD_VALUES = st.one_of(
    st.sampled_from([None, True, False, "", "x", "<f8", "|O", "<i8", "<u8", "volatilis.families._base:Beliefs", [], {}, [[]]]),
    st.sampled_from([0, 1, 2, 3, -1, 7, 64, 65, 10**4, 10**15, 2**63, 2**64, 10**400, -(10**400)]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-3, 70),
    st.lists(st.integers(-2, 70), max_size=3),
    st.lists(st.floats(), max_size=8),
    st.builds(
        lambda dtype, shape: {"dtype": dtype, "shape": shape, "values": [1.0] * max(int(np.prod(shape)), 0)},
        st.sampled_from(["<f8", "<i8", "<u8", "<f4", "|O", "|b1"]),
        st.lists(st.integers(0, 9), max_size=2),
    ),
)


@settings(FUZZ, max_examples=400)
@given(
    kind=st.sampled_from(KINDS),
    edits=st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(["set", "delete"]), ODD_VALUES), min_size=1, max_size=3),
)
def test_fuzz_structure(kind: str, edits: list[tuple[int, str, Any]], saved: Any, tmp_path: pathlib.Path) -> None:
    """Files whose checksum fits but whose content was made up: refused, or a state that learns on."""
    body = body_of(saved(kind))
    for where, how, value in edits:
        places = [p for p in keys_of(body) if not (isinstance(p[-1], int) and p[-1] > 8)]
        if not places:
            break
        place = places[where % len(places)]
        if how == "set":
            put(body, place, value)
        else:
            del get(body, place[:-1])[place[-1]]
    path = tmp_path / "state.json"
    path.write_bytes(sealed(body))
    try:
        stream = vl.Stream.load(path)
    except vl.StateFileError:
        return
    assert_native_code_survives(stream)
    for y in (0, 1, 1):
        stream.update(y)
    stream.belief.weights.sum()
    stream.save(path)
    vl.Stream.load(path)
