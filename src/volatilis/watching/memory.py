"""What a watcher keeps in its state file, and whether a file belongs to what is asked for now."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from volatilis.learners._many import kept_arrays
from volatilis.running.state_files import StateFileError, check_many_states
from volatilis.watching import state
from volatilis.watching.alarms import Alarms
from volatilis.watching.keyed import Keyed, Pool
from volatilis.watching.order import Order, Summary
from volatilis.watching.output import Output
from volatilis.watching.parsing import Parser
from volatilis.watching.places import Place, SavedPlace


class Saved(NamedTuple):
    """What the watcher itself goes on with; states, alarms and the parser are set already."""

    place: SavedPlace
    summary: Summary
    out: str
    output: int | None


class Memory:
    """Saves and loads for one order."""

    def __init__(self, order: Order, keyed: Keyed, alarms: Alarms, parser: Parser) -> None:
        self._order, self._keyed, self._alarms, self._parser = order, keyed, alarms, parser
        self._file: tuple[int, ...] | None = None  # as it was when it was last read or written here

    def save(self, place: Place, summary: Summary, output: Output) -> None:
        keyed, arrays = self._keyed, {"place_of": self._keyed.place_of[: len(self._keyed.numbers)]}
        for index, pool in enumerate(keyed.pools):
            arrays |= {f"{index}.{name}": array for name, array in pool.arrays().items()}
        arrays["longest"] = np.array(self._alarms.longest)
        header = self._identity() | {
            "place": place.to_data(),
            "lines": self._parser.to_data(),
            "summary": summary._asdict(),
            "out": self._order.out,
            "output": output.length(),
            "pools": len(keyed.pools),
            "keys": list(keyed.numbers),
        }
        if _file_at(self._path) not in (self._file, None):
            raise StateFileError(f"{self._path} was written by another process meanwhile; it is left as it is")
        state.save(self._path, header, arrays)
        self._file = _file_at(self._path)

    def load(self) -> Saved | None:
        """None where there is no file yet. A file of another learner, damaged, or something else is an error."""
        if self._order.state is None or not os.path.lexists(self._order.state):
            return None
        self._file = _file_at(self._path)
        header, arrays = state.load(self._path)
        self._check_identity(header)
        try:
            return self._set(header, arrays)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise StateFileError(f"{self._path} does not hold the state of a watcher: {error}") from None

    @property
    def _path(self) -> str:
        return self._order.state or ""

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a state to be used again."""
        order = self._order
        return {
            "learner": repr(self._keyed.learner),
            "key": list(order.key),
            "value": list(order.value),
            "categories": list(order.categories),
            "seed": order.seed,
        }

    def _check_identity(self, header: dict[str, Any]) -> None:
        for name, now in self._identity().items():
            if header.get(name) != now:
                raise StateFileError(
                    f"{self._path} was made with another {name}: {_shown(header.get(name))}, and now it is {_shown(now)}; it is "
                    "left as it is: use the same options, or give --state another name"
                )

    def _set(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Saved:
        keys = [tuple(key) if isinstance(key, list) else key for key in header["keys"]]
        places = arrays["place_of"]
        if places.shape != (len(keys), 2) or places.dtype != np.int64 or len(set(keys)) != len(keys):
            raise ValueError("keys without a state, or states without a key")
        pools = [self._pool(index, arrays, places) for index in range(header["pools"])]
        if ((places[:, 0] < 0) | (places[:, 0] >= len(pools))).any():
            raise ValueError("a key in a pool that is not there")
        place, summary = SavedPlace.from_data(header["place"]), Summary(**header["summary"])
        if not all(type(count) is int and count >= 0 for count in summary):
            raise ValueError("counts that are not numbers")
        if not isinstance(header["out"], str) or not isinstance(header["output"], int | None):
            raise ValueError("its output is not one")
        self._parser.set_from(header["lines"])
        self._keyed.restore(keys, places, pools)
        self._alarms.longest = [float(longest) for longest in arrays["longest"]]
        return Saved(place, summary, header["out"], header["output"])

    def _pool(self, index: int, arrays: dict[str, np.ndarray], places: np.ndarray) -> Pool:
        learner = self._keyed.learner
        example = learner.init(0)
        for _ in range(index):
            example = learner.grow(example)
        found = {name: arrays[f"{index}.{name}"] for name in kept_arrays(example)}
        check_many_states(learner, kept_arrays(example), found)
        rows, used = places[places[:, 0] == index, 1], len(found["nu"])
        taken = np.zeros(used, dtype=bool)
        if ((rows < 0) | (rows >= used)).any() or len(np.unique(rows)) != len(rows):
            raise ValueError("two keys with one state, or a key without one")
        taken[rows] = True
        pool = Pool(example)
        pool.set_arrays(found, np.flatnonzero(~taken).tolist())
        return pool


def _file_at(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _shown(value: Any) -> str:
    return (",".join(value) or "none") if isinstance(value, list) else str(value)
