"""State files: a stream's learner and state as data, whole or not at all.

JSON with a format name, a version and a checksum. Nothing in a file is ever executed: classes are looked up by name among those
that this process has defined. Numbers are written so that they read back to the same bits.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from volatilis._compiler import registry
from volatilis._core.fields import DERIVED, given_fields
from volatilis._core.files import whole_file
from volatilis.families._base import in_eights
from volatilis.learners._base import Learner, LearnerOf, S, State
from volatilis.learners._exact_step import room_after_step
from volatilis.learners._hypotheses import Hypotheses, with_room
from volatilis.learners._recent import check_recent

FORMAT, VERSION = "volatilis-stream", 1
MAX_BYTES = 1 << 30
DTYPES = ("<f8", "<i8", "<u8")
ROOM_TO_WORK = ("scratch",)  # what is in there means nothing between two steps


class StateFileError(ValueError):
    """A file that is not a whole state file of this project, or needs something that is not here."""


def to_bytes(content: Mapping[str, object]) -> bytes:
    """The content as the bytes of a state file."""
    body = json.dumps({"format": FORMAT, "version": VERSION, **content}, allow_nan=True)
    return json.dumps({"sha256": _digest(body), "body": body}).encode()


def from_bytes(data: bytes, name: str) -> dict[str, Any]:
    """The content of the bytes of a state file, checked; errors call them by the name."""
    try:
        outer = json.loads(data.decode("utf-8"))
        body, digest = outer["body"], outer["sha256"]
        intact = isinstance(body, str) and _digest(body) == digest
        content = json.loads(body) if intact else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StateFileError(f"{name} is not a whole state file of volatilis: truncated, or something else") from None
    if not intact:
        raise StateFileError(f"{name} was altered or damaged: its checksum does not fit its content")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StateFileError(f"{name} is not a state file of volatilis")
    if content.get("version") != VERSION:
        raise StateFileError(f"{name} has version {content.get('version')!r}; this release reads version {VERSION}")
    return content


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write atomically: a crash at any moment leaves the old file whole."""
    with whole_file(path) as file:
        file.write(data)


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file that may be a state file."""
    path = pathlib.Path(path)
    if path.stat().st_size > MAX_BYTES:
        raise StateFileError(f"{path} is larger than 1 GiB, so it is no state file of volatilis")
    return path.read_bytes()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def to_data(value: object) -> object:
    """Numbers, arrays and registered NamedTuples as JSON values."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": list(value.shape), "values": value.ravel().tolist()}
    if isinstance(value, tuple):
        name = f"{type(value).__module__}:{type(value).__qualname__}"
        fields = given_fields(value) if name in registry.classes else {}
        kept = {field: item for field, item in fields.items() if not _is_unused(value, field, item)}
        return {"class": name, "fields": {field: to_data(item) for field, item in kept.items()}}
    return value


def _is_unused(owner: tuple[Any, ...], field: str, value: object) -> bool:
    """Empty by default, and here: room for what this state does not keep. So files stay as they were before there was room."""
    default = type(owner)._field_defaults.get(field)  # type: ignore[attr-defined]
    return _is_room(default) and type(value) is type(default) and _is_room(value)


def _is_room(value: object) -> bool:
    """An empty array, or a tuple of such."""
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_room, value))
    return isinstance(value, np.ndarray) and value.shape == (0,)


def from_data(data: object) -> Any:
    """The inverse of `to_data`."""
    if not isinstance(data, dict):
        return data
    if "dtype" in data:
        return _array(data)
    cls = registry.classes.get(data["class"])
    if cls is None:
        module, name = str(data["class"]).split(":", 1)
        raise StateFileError(f"the state needs the class {name} of the module {module}: import that module, then load again")
    defaults, names = cls._field_defaults, list(cls._fields)  # type: ignore[attr-defined]
    given = [name for name in names if defaults.get(name) is not DERIVED]
    later = {name for name in given if _is_room(defaults.get(name))}  # what older files do not have
    if not set(given) - later <= set(data["fields"]) <= set(given):
        raise StateFileError(f"the fields of {cls.__name__} are {', '.join(given)}, not {', '.join(data['fields']) or 'none'}")
    fields = data["fields"]
    return cls._make([from_data(fields[name]) if name in fields else defaults[name] for name in given])  # type: ignore[attr-defined]


def _array(data: dict[str, Any]) -> np.ndarray:
    dtype, shape, values = data["dtype"], data["shape"], data["values"]
    if dtype not in DTYPES or not isinstance(shape, list) or not isinstance(values, list):
        raise StateFileError(f"an array of dtype {dtype!r} is not accepted; {', '.join(DTYPES)} are")
    if not all(type(extent) is int and extent >= 0 for extent in shape) or math.prod(shape) != len(values):
        raise StateFileError(f"an array of shape {shape!r} has {len(values)} values, which do not fill it")
    if not all(type(value) is (float if dtype == "<f8" else int) for value in values):
        raise StateFileError(f"an array of dtype {dtype} has values of another type")
    return np.array(values, dtype=np.dtype(dtype)).reshape(shape)


# --- states that were read -----------------------------------------------------------------------------------------------


def checked_state(learner: Learner, fresh: State, read: State) -> State:
    """A state that was read must be one that the learner could have made: compiled code trusts its shapes and its count.

    Merge had less room in 0.1: its state is given more.
    """
    if type(read) is not type(fresh):
        raise ValueError(f"its state is a {type(read).__name__}, not a {type(fresh).__name__}")
    fresh = _with_room(learner, fresh, np.size(read.run_lengths))
    most = learner.most_hypotheses()
    if isinstance(fresh, Hypotheses) and isinstance(read, Hypotheses) and most is not None:
        if np.size(read.weights) == in_eights(room_after_step(learner.family, most)) < fresh.weights.size:
            read = with_room(learner.family, read, fresh.weights.size)
    _check_layout(fresh, read)
    check_many_states(learner, fresh.kept_arrays(), {name: array[None] for name, array in read.kept_arrays().items()})
    return _with_priors(fresh, read)


def check_many_states(learner: Learner, example: dict[str, np.ndarray], read: dict[str, np.ndarray]) -> None:
    """The same for the arrays of many states side by side; the first axis goes over states, `example` is one of them."""
    count = len(next(iter(read.values())))
    for name, array in example.items():
        if read[name].shape != (count, *array.shape) or read[name].dtype != array.dtype:
            raise ValueError(f"{name} has shape {read[name].shape}, but {(count, *array.shape)} is needed")
        if array.dtype == np.float64 and not np.isfinite(read[name]).all():
            raise ValueError(f"{name} has numbers that are not finite")
    if "shares" in example and ((read["shares"] < 0.0).any() or (np.abs(read["shares"].sum(axis=-1) - 1.0) > 1e-6).any()):
        raise ValueError("its weights are not probabilities")
    counts = "nu" in example and example["nu"].ravel()[0] > 0.0  # a prior counts for something, so every belief does
    for inner, arrays in learner.states_within(read):
        _check_beliefs(inner, arrays, counts)
    if "recent" in example:
        check_recent(example["recent"], read["recent"], read["count"][:, 0], example["weights"].size)


def _check_beliefs(learner: Learner, read: dict[str, np.ndarray], counts: bool) -> None:
    family = learner.family
    reason = family.invalid_state(read["chi"], read["nu"]) if "nu" in read else None
    reason = reason or (family.invalid_memory(read["memory"]) if "memory" in read else None)
    if reason is not None:
        raise ValueError(reason)
    if "weights" in read:
        _check_weights(learner, read["weights"], read["count"][:, 0])
    if counts:
        live = np.arange(read["nu"].shape[1]) < read["count"][:, :1] if "weights" in read else np.ones_like(read["nu"], bool)
        if (read["nu"][live] <= 0.0).any():
            raise ValueError("a belief rests on nothing, not even on the prior")


def _check_weights(learner: Learner, weights: np.ndarray, live: np.ndarray) -> None:
    room = weights.shape[1]
    bad = (live < learner.fewest_hypotheses()) | (live > (learner.most_hypotheses() or room))
    if bad.any():
        raise ValueError(f"it has {live[bad][0]} hypotheses in room for {room}")
    dead = np.arange(room) >= live[:, None]
    if (weights < 0.0).any() or weights[dead].any() or (np.abs(weights.sum(axis=1) - 1.0) > 1e-6).any():
        raise ValueError("its weights are not probabilities")


def _with_room(learner: LearnerOf[S], state: S, room: int) -> S:
    """The state with at least this much room, if the learner's states grow."""
    while learner.grows() and state.run_lengths.size < min(room, 2**30):
        state = learner.grow(state)
    return state


def _with_priors(fresh: S, read: S) -> S:
    """The prior is the learner's, whatever the file says; layouts are alike."""
    if not isinstance(fresh, tuple) or not isinstance(read, tuple):
        return read
    fields = zip(type(fresh)._fields, fresh, read, strict=True)
    return cast(S, type(read)(*(a if field == "pi_0" else _with_priors(a, b) for field, a, b in fields)))


def _check_layout(expected: object, read: object, name: str = "") -> None:
    """The same classes, shapes and kinds of numbers all the way down, and finite ones where they mean something."""
    if isinstance(expected, np.ndarray):
        if not isinstance(read, np.ndarray) or expected.dtype != read.dtype or expected.shape != read.shape:
            raise ValueError(f"{name} is not an array of shape {expected.shape} and dtype {expected.dtype}")
        if read.dtype == np.float64 and name not in ROOM_TO_WORK and not np.all(np.isfinite(read)):
            raise ValueError(f"{name} has numbers that are not finite")
    elif type(expected) is not type(read):
        raise ValueError(f"{name} is a {type(read).__name__}, not a {type(expected).__name__}")
    elif isinstance(expected, tuple) and isinstance(read, tuple):
        for field, a, b in zip(type(expected)._fields, expected, read, strict=True):  # type: ignore[attr-defined]
            _check_layout(a, b, field)
    elif expected != read:
        raise ValueError(f"{name} is {read!r}, not {expected!r}")
