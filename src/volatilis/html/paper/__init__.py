"""The report of `volatilis paper`: one HTML file with the figures, the claims and their verdicts, and the errata.

write("report.html", Report(title, subtitle, meta, summary, figures, claims, errata, new_learner))
"""

from __future__ import annotations

import os
import pathlib

from volatilis._core.files import write_text
from volatilis.html.paper.content import Claim, Erratum, Figure, NewLearner, Report, TextTable, Verdict
from volatilis.html.paper.page import duration, page

__all__ = [
    "Claim",
    "Erratum",
    "Figure",
    "NewLearner",
    "Report",
    "ReportError",
    "TextTable",
    "Verdict",
    "duration",
    "page",
    "write",
]


class ReportError(OSError):
    """The report could not be written. The file that was there before, if any, is unchanged."""


def write(path: str | os.PathLike[str], content: Report) -> pathlib.Path:
    """Write the report in one go: whoever opens the file sees the old one or the new one, never a part."""
    path = pathlib.Path(path)
    text = page(content)
    try:
        write_text(path, text)
    except OSError as error:
        place = f"{path.name!r} in the folder {str(path.parent.absolute())!r}"
        reason = os.strerror(error.errno) if error.errno else error
        raise ReportError(f"report: cannot write {place}: {reason}") from error
    return path
