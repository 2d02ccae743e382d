"""State files: a stream's learner and state as data, whole or not at all.

JSON with a format name, a version and a checksum. Nothing in a file is ever executed: classes are looked up by name among those
that this process has defined. Numbers are written so that they read back to the same bits.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import tempfile
from typing import Any

import numpy as np

from volatilis import _registry
from volatilis._fields import given_fields

FORMAT, VERSION = "volatilis-stream", 1
MAX_BYTES = 1 << 30


class StateFileError(ValueError):
    """A file that is not a whole state file of this project, or needs something that is not here."""


def write(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write atomically: a crash at any moment leaves the old file whole."""
    path = pathlib.Path(path)
    body = json.dumps({"format": FORMAT, "version": VERSION, **content}, allow_nan=True)
    text = json.dumps({"sha256": _digest(body), "body": body})
    handle, temporary = tempfile.mkstemp(dir=path.parent or ".", prefix=f".{path.name}.", suffix=".partial")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


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
        return np.array(data["values"], dtype=np.dtype(data["dtype"])).reshape(data["shape"])
    cls = _registry.classes.get(data["class"])
    if cls is None:
        module, name = str(data["class"]).split(":", 1)
        raise StateFileError(f"the state needs the class {name} of the module {module}: import that module, then load again")
    fields = {name: from_data(item) for name, item in data["fields"].items()}
    return cls._make([fields[name] for name in cls._fields if name in fields])  # type: ignore[attr-defined]
