"""Finished experiments in a folder, one line of JSON each, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import pathlib
from typing import Any

import numpy as np

from volatilis.behaviour.design.setting import Setting

FORMAT = 1


class Store:
    """The experiments of one setting; another setting has another file. A last line that was cut off is not there."""

    def __init__(self, setting: Setting, folder: str | os.PathLike[str]) -> None:
        hashed = f"{FORMAT} {importlib.metadata.version('volatilis')} {setting!r}"
        self.path = pathlib.Path(folder) / f"power-{hashlib.sha256(hashed.encode()).hexdigest()[:16]}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.found: dict[int, np.ndarray] = {}
        whole = 0
        for line in self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else ():
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            number, found = json.loads(line)
            self.found[number] = np.array(found, dtype=float)
        self._file = self.path.open("ab")
        self._file.truncate(whole)

    def add(self, number: int, found: np.ndarray) -> None:
        self.found[number] = found
        self._file.write(json.dumps([number, found.astype(int).tolist()]).encode() + b"\n")
        self._file.flush()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: Any) -> None:
        self._file.close()
