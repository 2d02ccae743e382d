"""The report of a run over a table: one HTML file with a picture for each group, made in the same pass as the table.

with report_to("surprise.html") as report:
    run_table(request, "surprise.csv", watchers=[report])
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator

from volatilis._core.files import whole_file
from volatilis.html.trials.collecting import GROUPS, Collector
from volatilis.html.trials.page import page

__all__ = ["GROUPS", "Collector", "page", "report_to"]


@contextlib.contextmanager
def report_to(
    path: str | os.PathLike[str],
    groups: int = GROUPS,
    prediction: tuple[str, ...] | None = None,
    others: tuple[str | os.PathLike[str], ...] = (),
) -> Iterator[Collector]:
    """A watcher for the run; the page gets its name when the run is through, and not at all if it fails.

    It is written out before the table gets its name, so that a disk without room for the page leaves neither.

    groups      how many groups are drawn at most, the first in the table, 10,000 or fewer; 4,000 numbers each, all together
    prediction  the columns with people's own predictions; None: `prediction`, if it is there
    others      the files that the run reads and writes: the report must be none of them
    """
    path = pathlib.Path(path)
    _check(path, others)
    with whole_file(path) as file:

        def put(finished: Collector) -> None:
            file.write(page(finished).encode())
            file.flush()
            os.fsync(file.fileno())

        yield Collector(groups, prediction, put)


def _check(path: pathlib.Path, others: tuple[str | os.PathLike[str], ...]) -> None:
    """Refuse what cannot become a report before the work begins."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; the name of a file is accepted")
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path}: a report is a page; its name must end in .html")
    for other in others:
        if os.path.realpath(path) == os.path.realpath(other):
            raise ValueError(f"{path} is also the name of a table; the report needs one of its own")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        reason = "no permission" if path.parent.is_dir() else "there is no such folder"
        raise ValueError(f"cannot write {path}: {reason}")
