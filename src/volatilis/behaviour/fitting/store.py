"""Finished fits in a folder, so that a run that was stopped goes on where it was.

A fit is known by a digest of all that decides it: model, data, settings, version. Whatever differs is fitted anew.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import pathlib
from typing import Any

import numpy as np

from volatilis._core.kept_lines import KeptLines
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person

FORMAT = 2


class Store:
    """Reads what is there, adds what is new."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._found: dict[str, Fit] = {}
        self._lines = KeptLines(pathlib.Path(folder) / "fits.jsonl", self._take)

    def _take(self, entry: dict[str, Any]) -> None:
        key = entry.pop("key")
        self._found[key] = from_json(entry)

    def get(self, key: str) -> Fit | None:
        return self._found.get(key)

    def add(self, key: str, fit: Fit) -> None:
        self._found[key] = fit
        self._lines.add({"key": key} | to_json(fit))

    def close(self) -> None:
        self._lines.close()


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
