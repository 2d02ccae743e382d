"""Names of files to be written, looked at before anything is computed: what kind, and none twice."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping

from volatilis.tables.formats import kind_of

PICTURES = (".png", ".svg", ".pdf")


def picture_kind(path: str | os.PathLike[str]) -> str:
    """png, svg or pdf."""
    ending = pathlib.Path(path).suffix.lower()
    if ending not in PICTURES:
        raise ValueError(f"--plot {path}: the ending says which kind of picture; {', '.join(PICTURES)} are accepted")
    return ending.removeprefix(".")


def check_outputs(
    tables: Mapping[str, str | None], plot: str | None = None, read: str | None = None, other_kinds: tuple[str, ...] = ()
) -> None:
    """By the options that name them; `read` is the table they are made from. `-` is standard output, None what is not wanted."""
    names = {"the table": read, **tables, "--plot": plot}
    places = {what: os.path.realpath(path) for what, path in names.items() if path is not None and path != "-"}
    for what, place in places.items():
        other = next(name for name, own in places.items() if own == place)
        if other != what:
            raise ValueError(f"{what} {names[what]} is also {other}; give it a name of its own")
    for path in tables.values():
        if path is not None and path != "-" and not path.endswith(other_kinds):
            kind_of(path)
    if plot is not None:
        picture_kind(plot)
