"""What a run writes: every file whole or not at all, and a word on what to do when there is no room for it."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Any

from volatilis._core.files import NO_ROOM, whole_file, write_text

DIGITS = "%.6g"  # of numbers in tables


def save_table(frame: Any, path: pathlib.Path) -> None:
    """A pandas table as CSV."""
    write_text(path, frame.to_csv(index=False, float_format=DIGITS))


def save_picture(canvas: Any, path: pathlib.Path, **options: Any) -> None:
    """A matplotlib figure, in the format of the file's ending."""
    with whole_file(path) as file:
        canvas.savefig(file, format=path.suffix[1:], **options)


@contextlib.contextmanager
def room_in(folder: pathlib.Path) -> Iterator[None]:
    """A full disk, wherever it is met: the folder, what is kept, and what to do."""
    try:
        yield
    except OSError as error:
        why = error if error.errno is not None else error.__cause__
        if not isinstance(why, OSError) or why.errno not in NO_ROOM:
            raise
        words = (
            f"no room left in the folder {str(folder)!r} ({error.strerror or error}). Free some and give the same command again: "
        )
        raise OSError(
            why.errno, f"{words}what was computed is kept in {str(folder / 'store')!r}, and it goes on from there"
        ) from None
