"""Looking on while a table is run over, so that whatever else is made of it comes from the same pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from volatilis.trials.groups import Group
from volatilis.trials.inputs import Rows

if TYPE_CHECKING:
    from volatilis.trials.engine import Engine


class Seen(NamedTuple):
    """A batch once the learners went over it: its rows as the file has them and as learners got them, and what they made of it.

    computed: by the column's name, one number per row of the batch
    """

    batch: Any
    rows: Rows
    groups: list[Group]
    computed: dict[str, np.ndarray]


class Watcher(Protocol):
    """Told once when a run begins, then of every batch, and when all went well; must not alter what it is shown.

    When `end` is called no output has its name yet: if it fails, none gets one.
    """

    def begin(self, engine: Engine) -> None: ...

    def see(self, seen: Seen) -> None: ...

    def end(self) -> None: ...
