"""The report: one HTML file that holds everything, figures included, and asks nothing of the network.

    write("report.html", Report(title, subtitle, meta, summary, figures, claims, errata, new_learner))

All content is plain text and is escaped. Three things are set in type: p_c, powers of ten such as 2e-6, and what stands between
backticks, as code. The page's content security policy admits only its own script and style, so nothing else could run even if
it got in.
"""

from __future__ import annotations

import base64
import contextlib
import html
import os
import pathlib
import re
import secrets
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from volatilis.html import document
from volatilis.html.paper.style import SCRIPT, STYLE

Verdict = Literal["holds", "holds with the published code only", "does not hold", "cannot be told at this size"]

# Each verdict has a shape of its own beside its colour: a tick, a half disc, a cross, a question mark.
CLASSES = dict(zip(get_args(Verdict), ("holds", "partly", "fails", "open"), strict=True))
SHAPES = {
    "holds": '<path d="M3 8.5l3.3 3.3L13 4.8" fill="none" stroke="currentColor" stroke-width="2.2"/>',
    "partly": '<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.8"/>'
    '<path d="M8 2.4a5.6 5.6 0 0 0 0 11.2z" fill="currentColor"/>',
    "fails": '<path d="M4 4l8 8M12 4l-8 8" fill="none" stroke="currentColor" stroke-width="2.2"/>',
    "open": '<path d="M5.2 5.8a2.8 2.8 0 1 1 4.4 2.3C8.5 8.9 8 9.4 8 10.4" fill="none" stroke="currentColor" stroke-width="1.9"/>'
    '<circle cx="8" cy="13.2" r="1.2" fill="currentColor"/>',
}
COLUMNS = ("Published", "With their code", "Done right")  # of the claims, the outcomes
HEADLINE = ("version", "size", "seeds", "benchmark")  # of the facts about the run, those under the title
FEW_ROWS = 8  # a comparison up to this long is open from the start
PNG_DENSITY = 2  # pixels of a figure for each pixel of the page
PNG_START = b"\x89PNG\r\n\x1a\n"
TYPESET = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|(?<![\w.])(?P<factor>[-−]?\d+(?:\.\d+)?)e\+?(?P<minus>-?)0*(?P<exponent>\d+)(?!\w)"
    r"|(?<!\w)p_c(?!\w)"
)
NUMBER = re.compile(r"[-−+±<>≤≥≈~]?\s*\d[\d\s.,eE×·%±()−+⁰¹²³⁴⁵⁶⁷⁸⁹⁻-]*")


class ReportError(OSError):
    """The report could not be written; the file that was there before, if any, is untouched."""


class Table(NamedTuple):
    """A table of text; the first cell of a row names the row."""

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


class Figure(NamedTuple):
    """A picture (PNG at twice the size it is shown), what it shows, and where its numbers are.

    comparison: the same numbers against the published ones.
    """

    key: str
    title: str
    caption: str
    png: bytes
    csv_name: str
    seconds: float
    notes: Sequence[str] = ()
    comparison: Table | None = None


class Claim(NamedTuple):
    """A claim of the paper: what was published, what the published code gives, what comes out done right, and the verdict."""

    key: str
    where: str
    statement: str
    published: str
    with_published_code: str
    done_right: str
    verdict: Verdict
    uncertainty: str = ""


class Erratum(NamedTuple):
    """A fault in the paper or its code, and what it changes, in numbers."""

    number: int
    title: str
    text: str
    effect: str = ""


class NewLearner(NamedTuple):
    """The section on the learner that is not in the paper; its figure is one of the report's, and is shown here only."""

    title: str
    paragraphs: Sequence[str]
    figure_key: str
    table: Table


class Report(NamedTuple):
    """Everything the report says; a part that is empty has no section."""

    title: str
    subtitle: str
    meta: Mapping[str, str]
    summary: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()
    errata: Sequence[Erratum] = ()
    new_learner: NewLearner | None = None


class _Section(NamedTuple):
    """A part of the page: its anchor, its name in the menu, its inside, and what the menu lists under it."""

    anchor: str
    label: str
    body: str
    below: Sequence[tuple[str, str]] = ()


def write(path: str | os.PathLike[str], content: Report) -> pathlib.Path:
    """Write the report in one go: whoever opens the file sees the old one or the new one, never a part."""
    path = pathlib.Path(path)
    data = page(content).encode()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        where = f"{path.name!r} in the folder {str(path.parent.absolute())!r}"
        raise ReportError(f"report: cannot write {where}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
    return path


def page(content: Report) -> str:
    """The whole page."""
    _check(content)
    sections = [part for part in _sections(content) if part is not None]
    body = (
        '<a class="skip" href="#main">To the content</a>\n'
        f'<div class="page">\n{_menu(sections)}\n<main id="main">\n{_header(content)}\n'
        + "\n".join(f'<section id="{part.anchor}">\n{part.body}\n</section>' for part in sections)
        + "\n</main>\n</div>"
    )
    return document(content.title, STYLE, SCRIPT, body)


def _check(content: Report) -> None:
    """Refuse what would give a page with wrong anchors, unknown verdicts or ragged tables."""
    anchors = [_anchor("figure", figure.key) for figure in content.figures]
    anchors += [_anchor("claim", claim.key) for claim in content.claims]
    anchors += [_anchor("erratum", str(erratum.number)) for erratum in content.errata]
    for anchor, times in Counter(anchors).items():
        if times > 1:
            raise ValueError(f"report: {times} entries have keys that give the anchor {anchor!r}; keys must differ")
    for claim in content.claims:
        if claim.verdict not in CLASSES:
            raise ValueError(f"report: claim {claim.key!r} has the verdict {claim.verdict!r}; it must be one of {list(CLASSES)}")
    for figure in content.figures:
        if not figure.png.startswith(PNG_START) or len(figure.png) < 24:
            raise ValueError(f"report: figure {figure.key!r} is not a PNG file")
    new = content.new_learner
    if new is not None and new.figure_key not in [figure.key for figure in content.figures]:
        raise ValueError(f"report: the new learner's figure {new.figure_key!r} is not among the figures")
    for table in [f.comparison for f in content.figures if f.comparison] + ([new.table] if new else []):
        if not table.headers:
            raise ValueError(f"report: table {table.caption!r} has no columns")
        for row in table.rows:
            if len(row) != len(table.headers):
                raise ValueError(f"report: table {table.caption!r} has {len(table.headers)} columns, but a row is {list(row)!r}")


def _sections(content: Report) -> Iterable[_Section | None]:
    new = content.new_learner
    figures = [figure for figure in content.figures if new is None or figure.key != new.figure_key]
    yield _summary(content) if content.summary or content.claims else None
    yield _claims(content.claims) if content.claims else None
    yield _figures(figures) if figures else None
    yield _new_learner(new, content.figures) if new else None
    yield _errata(content.errata) if content.errata else None
    yield _run(content)


def _text(text: str) -> str:
    """Escaped text, with code, powers of ten and the paper's p_c set in type."""

    def typeset(match: re.Match[str]) -> str:
        if match["code"]:
            # Words in boxes: a line then breaks between them, not after the hyphens of an option.
            return "<code>" + re.sub(r"\S+", r"<span>\g<0></span>", match["code"]) + "</code>"
        if match["factor"]:
            factor = "" if match["factor"] == "1" else match["factor"] + "×"
            sign = "−" if match["minus"] else ""
            return f'<span class="power">{factor}10<sup>{sign}{match["exponent"]}</sup></span>'
        return "<i>p</i><sub>c</sub>"

    return TYPESET.sub(typeset, html.escape(text))


def _anchor(kind: str, key: str) -> str:
    return f"{kind}-" + re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-").lower()


def _items(texts: Iterable[str], name: str) -> str:
    inside = "".join(f"<li>{_text(text)}</li>" for text in texts)
    return f'<ul class="{name}">{inside}</ul>' if inside else ""


def _facts(facts: Iterable[tuple[str, str]], name: str) -> str:
    return f'<dl class="{name}">' + "".join(f"<div><dt>{_text(k)}</dt><dd>{_text(v)}</dd></div>" for k, v in facts) + "</dl>"


def _icon(name: str) -> str:
    return f'<svg viewBox="0 0 16 16" aria-hidden="true">{SHAPES[name]}</svg>'


def duration(seconds: float) -> str:
    """In words."""
    if seconds < 0.05:
        return "under 0.1 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _menu(sections: Iterable[_Section]) -> str:
    def entry(part: _Section) -> str:
        below = "".join(f'<li><a href="#{anchor}">{_text(label)}</a></li>' for anchor, label in part.below)
        return f'<li><a href="#{part.anchor}">{_text(part.label)}</a>' + (f"<ul>{below}</ul>" if below else "") + "</li>"

    return '<nav aria-label="Contents"><p class="contents">Contents</p><ul>' + "".join(map(entry, sections)) + "</ul></nav>"


def _header(content: Report) -> str:
    headline = _facts([(name, content.meta[name]) for name in HEADLINE if name in content.meta], "chips")
    return f'<header>\n<h1>{_text(content.title)}</h1>\n<p class="subtitle">{_text(content.subtitle)}</p>\n{headline}\n</header>'


def _summary(content: Report) -> _Section:
    return _Section("summary", "Summary", f"<h2>Summary</h2>\n{_tally(content.claims)}\n{_items(content.summary, 'lead')}")


def _tally(claims: Sequence[Claim]) -> str:
    """How many claims have which verdict: four tiles, and one bar in their proportions."""
    if not claims:
        return ""
    counts = Counter(claim.verdict for claim in claims)
    tiles, bars, start = "", "", 0
    for verdict, name in CLASSES.items():
        tiles += f'<li><a class="{name}" href="#claims" data-verdict="{verdict}"><b>{counts[verdict]}</b>{_icon(name)}'
        tiles += f"<span>{verdict}</span></a></li>"
        bars += f'<rect class="{name}" x="{start}" y="0" width="{counts[verdict]}" height="1"/>'
        start += counts[verdict]
    bar = f'<svg class="share" viewBox="0 0 {start} 1" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'
    return f'<p>The verdicts on {len(claims)} claims of the paper:</p>\n<ul class="tally">{tiles}</ul>\n{bar}'


def _claims(claims: Sequence[Claim]) -> _Section:
    headers = ("Claim", *COLUMNS, "Verdict")
    head = "".join(f'<th scope="col" role="columnheader">{header}</th>' for header in headers)
    # The roles keep it a table for screen readers where the style turns its rows into cards.
    body = (
        f"<h2>Claims</h2>\n{_filter(claims)}\n"
        '<table class="claims" role="table">'
        "<caption>Each claim as published, as the published code gives it, and done right.</caption>"
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>\n<tbody role="rowgroup">\n'
        + "\n".join(_claim(claim) for claim in claims)
        + '\n</tbody></table>\n<p class="nothing" hidden>No claim fits this choice.</p>'
    )
    return _Section("claims", "Claims", body)


def _filter(claims: Sequence[Claim]) -> str:
    """The controls over the table; hidden until the script, without which they would do nothing, shows them."""
    counts = Counter(claim.verdict for claim in claims)
    choices = [("", "all", len(claims))]
    choices += [(verdict, _icon(name) + verdict, counts[verdict]) for verdict, name in CLASSES.items() if counts[verdict]]
    buttons = "".join(
        f'<button type="button" data-verdict="{value}" aria-pressed="{"false" if value else "true"}">'
        f"{label} <span>{count}</span></button>"
        for value, label, count in choices
    )
    search = '<label><input type="search" placeholder="Search the claims" aria-label="Search the claims"></label>'
    return f'<div class="filter" role="group" aria-label="Filter the claims" hidden>{buttons}{search}<output></output></div>'


def _claim(claim: Claim) -> str:
    anchor, name = _anchor("claim", claim.key), CLASSES[claim.verdict]
    uncertainty = f'<span class="uncertainty">{_text(claim.uncertainty)}</span>' if claim.uncertainty else ""
    cells = zip(COLUMNS, (claim.published, claim.with_published_code, claim.done_right), strict=True)
    return (
        f'<tr role="row" id="{anchor}" data-verdict="{claim.verdict}"><th scope="row" role="rowheader">'
        f'<span class="statement">{_text(claim.statement)}</span>'
        f'<span class="where">{_text(claim.where)} · <a href="#{anchor}">{html.escape(claim.key)}</a></span></th>'
        + "".join(f'<td role="cell" data-label="{label}">{_text(value)}</td>' for label, value in cells)
        + f'<td role="cell" class="verdict"><span class="badge {name}">{_icon(name)}{claim.verdict}</span>{uncertainty}</td></tr>'
    )


def _figures(figures: Sequence[Figure]) -> _Section:
    below = [(_anchor("figure", figure.key), figure.title) for figure in figures]
    jump = "".join(f'<li><a href="#{anchor}">{_text(title)}</a></li>' for anchor, title in below)
    index = f'<details class="jump"><summary>The {len(figures)} figures</summary><ul>{jump}</ul></details>'
    return _Section("figures", "Figures", "\n".join(["<h2>Figures</h2>", index, *map(_figure, figures)]), below)


def _figure(figure: Figure) -> str:
    width, height = (side // PNG_DENSITY for side in struct.unpack(">II", figure.png[16:24]))
    source = "data:image/png;base64," + base64.b64encode(figure.png).decode()
    return (
        f'<article id="{_anchor("figure", figure.key)}">\n<h3>{_text(figure.title)}</h3>\n<figure><div class="canvas">'
        f'<img src="{source}" alt="Plot: {html.escape(figure.title)}" width="{width}" height="{height}"></div>\n'
        f"<figcaption>{_text(figure.caption)}</figcaption></figure>\n"
        f"{_items(figure.notes, 'notes')}\n{_comparison(figure.comparison)}\n"
        f'<p class="origin">Numbers in <code>{html.escape(figure.csv_name)}</code>'
        f" · computed in {duration(figure.seconds)}</p>\n</article>"
    )


def _comparison(table: Table | None) -> str:
    if table is None:
        return ""
    unfolded = " open" if len(table.rows) <= FEW_ROWS else ""
    return f"<details{unfolded}><summary>Beside the published numbers ({len(table.rows)} rows)</summary>{_table(table)}</details>"


def _table(table: Table) -> str:
    """A table in a box of its own, which scrolls sideways where the page is too narrow; columns of numbers stand to the right."""
    shown = [[cell for cell in column if cell.strip()] for column in zip(*table.rows, strict=True)] or [[]] * len(table.headers)
    mark = [' class="number"' if column and all(map(NUMBER.fullmatch, column)) else "" for column in shown]
    head = "".join(f'<th scope="col"{m}>{_text(header)}</th>' for m, header in zip(mark, table.headers, strict=True))
    rows = "\n".join(
        f'<tr><th scope="row">{_text(row[0])}</th>'
        + "".join(f"<td{m}>{_text(cell)}</td>" for m, cell in zip(mark[1:], row[1:], strict=True))
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(table.caption)}"><table>'
        f"<caption>{_text(table.caption)}</caption><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _new_learner(new: NewLearner, figures: Iterable[Figure]) -> _Section:
    paragraphs = "\n".join(f"<p>{_text(paragraph)}</p>" for paragraph in new.paragraphs)
    figure = next(figure for figure in figures if figure.key == new.figure_key)
    body = f"<h2>{_text(new.title)}</h2>\n{paragraphs}\n{_figure(figure)}\n{_table(new.table)}"
    return _Section("new-learner", "The new learner", body)


def _errata(errata: Iterable[Erratum]) -> _Section:
    def entry(erratum: Erratum) -> str:
        effect = f'<p class="effect"><b>Effect:</b> {_text(erratum.effect)}</p>' if erratum.effect else ""
        return (
            f'<li id="{_anchor("erratum", str(erratum.number))}"><span class="ordinal">{erratum.number}</span>'
            f"<div><h3>{_text(erratum.title)}</h3>\n<p>{_text(erratum.text)}</p>{effect}</div></li>"
        )

    return _Section("errata", "Errata", '<h2>Errata</h2>\n<ol class="errata">\n' + "\n".join(map(entry, errata)) + "\n</ol>")


def _run(content: Report) -> _Section:
    facts = [(name, f"`{value}`" if name == "command" else value) for name, value in content.meta.items()]
    return _Section("run", "This run", "<h2>This run</h2>\n" + _facts(facts, "facts"))
