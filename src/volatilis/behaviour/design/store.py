"""Finished experiments in a folder, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import pathlib
from typing import Any

import numpy as np

from volatilis._core.kept_lines import KeptLines
from volatilis.behaviour.design.experiment import findings
from volatilis.behaviour.design.setting import Setting

FORMAT = 2


class Store:
    """The experiments of one setting; another setting has another file."""

    def __init__(self, setting: Setting, folder: str | os.PathLike[str]) -> None:
        hashed = f"{FORMAT} {importlib.metadata.version('volatilis')} {setting!r}"
        self.path = pathlib.Path(folder) / f"power-{hashlib.sha256(hashed.encode()).hexdigest()[:16]}.jsonl"
        self.found: dict[int, np.ndarray] = {}
        shape = (len(findings(setting)), len(setting.trials), len(setting.subjects))
        self._lines = KeptLines(self.path, lambda entry: self._take(entry, shape))

    def _take(self, entry: list[Any], shape: tuple[int, ...]) -> None:
        number, found = entry
        self.found[int(number)] = np.array(found, dtype=float).reshape(shape)

    def add(self, number: int, found: np.ndarray) -> None:
        self.found[number] = found
        self._lines.add([number, found.astype(int).tolist()])

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: Any) -> None:
        self._lines.close()
