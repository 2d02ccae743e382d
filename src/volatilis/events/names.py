"""File names as BIDS has them: sub-01_ses-1_task-helicopter_run-2, from the columns that make a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from volatilis.tables import column_named
from volatilis.trials.groups import Key, shown

KNOWN = {  # what columns are called, without marks and capitals, and the entity that each stands for
    **dict.fromkeys(("sub", "subj", "subject", "subjectid", "subjnum", "participant", "participantid"), "sub"),
    **dict.fromkeys(("ses", "session", "sessionid"), "ses"),
    **dict.fromkeys(("run", "block"), "run"),
}
TASK = "task"
ORDER = ("sub", "ses", TASK, "acq", "ce", "rec", "dir", "run")  # what BIDS has in the names of event files, in its order


class Entity(NamedTuple):
    """A part of a file's name, and the column that its value comes from."""

    name: str
    column: str


def entities(texts: Sequence[str], columns: Sequence[str], path: str) -> list[Entity]:
    """From COLUMN or ENTITY=COLUMN, in the order of BIDS; columns that BIDS has no name for come last."""
    parts: list[Entity] = []
    for text in texts:
        given, equals, column = text.partition("=")
        if not equals or text in columns:
            given, column = "", text
        column = column_named(columns, column.strip(), path, "a run")
        taken = {entity.name for entity in parts}
        plain = _plain(column).lower()
        name = given.strip() or KNOWN.get(plain, plain)
        if name in taken and not given:
            name = plain  # both run and block: run-1_block-2
        if name in taken or not re.fullmatch("[a-z][a-z0-9]*", name) or name == TASK:
            raise ValueError(
                f"the column {column!r} cannot be {name!r} in a file's name; name it with --run-by, such as sub={column}"
            )
        parts.append(Entity(name, column))
    return sorted(parts, key=lambda entity: _place(entity.name))


def run_names(parts: Sequence[Entity], keys: Sequence[Key], task: str) -> list[str]:
    """One name per run; an error where two would share one."""
    names = [_run_name(parts, key, task) for key in keys]
    seen: dict[str, Key] = {}
    for name, key in zip(names, keys, strict=True):
        folded = name.casefold()  # some file systems know no capitals
        if folded in seen:
            columns = [part.column for part in parts]
            raise ValueError(
                f"two runs would be written as {name}: {shown(columns, seen[folded])} and {shown(columns, key)}; names hold "
                "letters and digits only, and capitals do not count: rename one in the table"
            )
        seen[folded] = key
    return names


def _run_name(parts: Sequence[Entity], key: Key, task: str) -> str:
    labels = []
    for part, value in zip(parts, key, strict=True):
        label = _plain(value.removeprefix(f"{part.name}-"))  # participant_id holds sub-01
        if not label:
            raise ValueError(f"{part.column} = {value!r} has no letter or digit, so no file can be named after it")
        labels.append((part.name, f"{part.name}-{label}"))
    labels.append((TASK, f"{TASK}-{task}"))
    return "_".join(label for _, label in sorted(labels, key=lambda part: _place(part[0])))


def _place(entity: str) -> int:
    """Entities that BIDS does not have come last, as they were given."""
    return ORDER.index(entity) if entity in ORDER else len(ORDER)


def name_notes(parts: Sequence[Entity], labels: Sequence[Mapping[str, str]]) -> list[str]:
    """Where names are not valid in BIDS, so that its validator would refuse the files."""
    notes = []
    if all(part.name != "sub" for part in parts):
        notes.append("no column holds the subject, which BIDS needs in a file's name: name it with --run-by, such as sub=COLUMN")
    for part in parts:
        values = (label[part.column] for label in labels)
        if part.name not in ORDER:
            notes.append(
                f"BIDS has no entity {part.name!r} in the names of event files; --run-by acq={part.column} makes the names valid"
            )
        elif part.name == "run" and not all(re.fullmatch("[0-9]+", _plain(value.removeprefix("run-"))) for value in values):
            notes.append(
                f"BIDS needs whole numbers as runs, and {part.column!r} has other values; --run-by acq={part.column} accepts them"
            )
    return notes


def _plain(text: str) -> str:
    return re.sub("[^A-Za-z0-9]+", "", text)
