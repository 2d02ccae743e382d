"""Names of files to be written, looked at before anything is computed: the ending says which kind is wanted."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable

from volatilis.tables.formats import kind_of

PICTURES = (".png", ".svg", ".pdf")


def picture_kind(path: str | os.PathLike[str]) -> str:
    """png, svg or pdf."""
    ending = pathlib.Path(path).suffix.lower()
    if ending not in PICTURES:
        raise ValueError(f"--plot {path}: the ending says which kind of picture; {', '.join(PICTURES)} are accepted")
    return ending.removeprefix(".")


def check_outputs(tables: Iterable[str | None], plot: str | None) -> None:
    """`-` is standard output, None what is not wanted."""
    for path in tables:
        if path is not None and path != "-":
            kind_of(path)
    if plot is not None:
        picture_kind(plot)
