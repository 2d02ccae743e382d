"""A log that was rotated while nobody watched: the file in which a place stands is found under its new name.

A file is known by its number on the disk, and a copy of it by what stands before the place. Those that were rotated away after it
come next, the file that has the name now comes last.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from volatilis.watching.places import SavedPlace, place_in_file

ROTATED = re.compile(r"[.-]\d[\d.:T_-]*").fullmatch  # what follows the name: log.1, log-20260131; not log.1.gz
Found = tuple[str, os.stat_result]


def files_from(path: str, saved: SavedPlace) -> list[str] | None:
    """The files that hold what follows a place, in their order, the last of them `path`; None where its file is gone."""
    here, others = _status(path), list(_beside(path))
    if here is not None and saved.file == (here.st_dev, here.st_ino):
        if _fits(path, saved):
            return [path]
    elif moved := [(name, status) for name, status in others if saved.file == (status.st_dev, status.st_ino)]:
        name, status = moved[0]
        if _fits(name, saved) and not (here is not None and _is_continued(name, status.st_size, path)):
            return _from(name, status, others, path)
    if here is not None and (saved.position or saved.file is None) and _fits(path, saved):
        return [path]
    prefix = os.path.basename(path)
    copies = [one for one in others if saved.position and _is_of(os.path.basename(one[0]), prefix) and _fits(one[0], saved)]
    return _from(*copies[0], others, path) if copies else None


def _from(name: str, status: os.stat_result, others: list[Found], path: str) -> list[str]:
    prefix = os.path.basename(path)
    rotated = [one for one in others if _is_of(os.path.basename(one[0]), prefix)]
    later = sorted((one[1].st_mtime_ns, one[0]) for one in rotated if one[1].st_mtime_ns > status.st_mtime_ns)
    return [name, *(other for _, other in later), path]


def _beside(path: str) -> Iterator[Found]:
    """All files of its folder but itself."""
    folder, name = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            for entry in entries:
                if entry.name != name and entry.is_file(follow_symlinks=False):
                    yield os.path.join(folder, entry.name), entry.stat(follow_symlinks=False)
    except OSError:  # a folder that cannot be listed, or a file that is gone already
        return


def _is_of(name: str, log: str) -> bool:
    return name.startswith(log) and ROTATED(name.removeprefix(log)) is not None


def _status(path: str) -> os.stat_result | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _fits(path: str, saved: SavedPlace) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return saved.found_in(descriptor) is not None
    finally:
        os.close(descriptor)


def _is_continued(name: str, size: int, path: str) -> bool:
    """Whether a file begins with all of another, as a copy that an editor leaves: then nothing was rotated."""
    places = []
    for one in (name, path):
        descriptor = os.open(one, os.O_RDONLY | os.O_NONBLOCK)
        try:
            places.append(place_in_file(descriptor, size))
        finally:
            os.close(descriptor)
    return size > 0 and places[0] == places[1]
