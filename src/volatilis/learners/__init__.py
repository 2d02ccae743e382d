"""Algorithms, one per file, each written once for all families; this package finds the files by itself."""

from typing import Any

from volatilis._core.records import import_all
from volatilis.learners._grids import Unknown, unknown
from volatilis.learners._kinds import RECORDS, LearnerRecord, record_of

import_all(__name__, __path__)


def records() -> list[LearnerRecord]:
    """Of all learners of this package, in their order."""
    built_in = [record for record in RECORDS.values() if record.cls.__module__.startswith(f"{__name__}.")]
    return sorted(built_in, key=lambda record: (record.place, record.name))


LEARNERS: dict[str, type] = {record.cls.__name__: record.cls for record in records()}
__all__ = [*LEARNERS, "Unknown", "record_of", "records", "unknown"]


def __getattr__(name: str) -> Any:
    if name not in LEARNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return LEARNERS[name]
