"""Likelihoods with their conjugate priors, one per file, which this package finds by itself. `_base` says what a family is."""

from typing import Any

from volatilis._core.records import import_all
from volatilis.families._base import Beliefs, empty_beliefs, prior_beliefs
from volatilis.families._kinds import RECORDS, FamilyRecord, UndefinedError, family
from volatilis.families.scalar import scalar_family
from volatilis.families.transitions import transitions

import_all(__name__, __path__)


def records() -> list[FamilyRecord]:
    """Of all families of this package, in their order."""
    built_in = [record for record in RECORDS.values() if record.cls.__module__.startswith(f"{__name__}.")]
    return sorted(built_in, key=lambda record: (record.place, record.name))


FAMILIES: dict[str, type] = {record.cls.__name__: record.cls for record in records()}
__all__ = [*FAMILIES, "Beliefs", "UndefinedError", "empty_beliefs", "family", "prior_beliefs", "scalar_family", "transitions"]


def __getattr__(name: str) -> Any:
    if name not in FAMILIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return FAMILIES[name]
