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
from typing import Any

import numpy as np

from volatilis._compiler import registry
from volatilis._core.fields import DERIVED, given_fields
from volatilis._core.files import write_text

FORMAT, VERSION = "volatilis-stream", 1
MAX_BYTES = 1 << 30
DTYPES = ("<f8", "<i8", "<u8")


class StateFileError(ValueError):
    """A file that is not a whole state file of this project, or needs something that is not here."""


def write(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write atomically: a crash at any moment leaves the old file whole."""
    body = json.dumps({"format": FORMAT, "version": VERSION, **content}, allow_nan=True)
    write_text(path, json.dumps({"sha256": _digest(body), "body": body}))


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a state file, checked."""
    path = pathlib.Path(path)
    if path.stat().st_size > MAX_BYTES:
        raise StateFileError(f"{path} is larger than 1 GiB, so it is no state file of volatilis")
    try:
        outer = json.loads(path.read_text(encoding="utf-8"))
        body, digest = outer["body"], outer["sha256"]
        intact = isinstance(body, str) and _digest(body) == digest
        content = json.loads(body) if intact else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StateFileError(f"{path} is not a whole state file of volatilis: truncated, or something else") from None
    if not intact:
        raise StateFileError(f"{path} was altered or damaged: its checksum does not fit its content")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StateFileError(f"{path} is not a state file of volatilis")
    if content.get("version") != VERSION:
        raise StateFileError(f"{path} has version {content.get('version')!r}; this release reads version {VERSION}")
    return content


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def to_data(value: Any) -> Any:
    """Numbers, arrays and registered NamedTuples as JSON values."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": list(value.shape), "values": value.ravel().tolist()}
    if isinstance(value, tuple):
        fields = given_fields(value) if hasattr(value, "_fields") else {}
        name = f"{type(value).__module__}:{type(value).__qualname__}"
        return {"class": name, "fields": {field: to_data(item) for field, item in fields.items()}}
    return value


def from_data(data: Any) -> Any:
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
    if set(data["fields"]) != set(given):
        raise StateFileError(f"the fields of {cls.__name__} are {', '.join(given)}, not {', '.join(data['fields']) or 'none'}")
    return cls._make([from_data(data["fields"][name]) for name in given])  # type: ignore[attr-defined]


def _array(data: dict[str, Any]) -> np.ndarray:
    dtype, shape, values = data["dtype"], data["shape"], data["values"]
    if dtype not in DTYPES or not isinstance(shape, list) or not isinstance(values, list):
        raise StateFileError(f"an array of dtype {dtype!r} is not accepted; {', '.join(DTYPES)} are")
    if not all(type(extent) is int and extent >= 0 for extent in shape) or math.prod(shape) != len(values):
        raise StateFileError(f"an array of shape {shape!r} with {len(values)} values")
    if not all(type(value) is (float if dtype == "<f8" else int) for value in values):
        raise StateFileError(f"an array of dtype {dtype} with other values")
    return np.array(values, dtype=np.dtype(dtype)).reshape(shape)
