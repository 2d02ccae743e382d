"""Finished fits in a folder, one line of JSON each, so that a run that was stopped goes on where it was.

A fit is known by a digest of all that decides it: model, data, settings, version. Whatever differs is fitted anew.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import pathlib
from typing import Any

import numpy as np

from volatilis.behaviour.fitting import Fit
from volatilis.behaviour.models import Model
from volatilis.behaviour.scoring import Person

FORMAT = 1


class Store:
    """Reads what is there, adds what is new. A line that was cut off is not there. Several runs may share a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._path = pathlib.Path(folder) / "fits.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._found: dict[str, Fit] = {}
        content = self._path.read_bytes() if self._path.exists() else b""
        for line in content.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # cut off
            key = entry.pop("key")
            self._found[key] = from_json(entry)
        self._file = self._path.open("ab")
        if content and not content.endswith(b"\n"):
            self._file.write(b"\n")  # only ever added to: another run may have gone on meanwhile
            self._file.flush()

    def get(self, key: str) -> Fit | None:
        return self._found.get(key)

    def add(self, key: str, fit: Fit) -> None:
        self._found[key] = fit
        self._file.write(json.dumps({"key": key} | to_json(fit)).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def to_json(fit: Fit) -> dict[str, Any]:
    """Numbers come back as the same bits; what is not a number is null."""
    entry = fit._asdict()
    entry |= {"x": _listed(fit.x), "covariance": _listed(fit.covariance), "shape": fit.covariance.shape[0]}
    return entry


def from_json(entry: dict[str, Any]) -> Fit:
    n = entry.pop("shape")
    for name, shape in (("x", (n,)), ("covariance", (n, n))):
        entry[name] = np.array([np.nan if value is None else value for value in entry[name]], dtype=float).reshape(shape)
    entry["profile"] = {name: tuple(ends) for name, ends in entry["profile"].items()}
    return Fit(**entry | {name: tuple(entry[name]) for name in ("names", "warnings")})


def _listed(values: np.ndarray) -> list[float | None]:
    return [value if value == value else None for value in np.ravel(values).tolist()]


def digest(model: Model, person: Person, *settings: Any) -> str:
    """Of all that decides a fit."""
    hashed = hashlib.sha256(f"{FORMAT} {importlib.metadata.version('volatilis')}".encode())
    _take(hashed, (model, person, settings))
    return hashed.hexdigest()


def _take(hashed: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        hashed.update(f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple | list):
        hashed.update(f"{type(value).__name__}{len(value)}".encode())
        for item in value:
            _take(hashed, item)
    elif isinstance(value, dict):
        _take(hashed, sorted(value.items()))
    else:
        hashed.update(f"{value!r}\0".encode())
