"""The page of the paper's report, made of its content: claims that can be filtered, figures, errata and the facts of the run.

All content is plain text and is escaped. Three things are set in type: p_c, powers of ten such as 2e-6, and what stands between
backticks, as code.
"""

from __future__ import annotations

import base64
import re
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from volatilis.html import document, escape, facts, filled, resource
from volatilis.html.paper.content import VERDICTS, Claim, Erratum, Figure, NewLearner, Report, TextTable, anchor, check

# Each verdict has a shape of its own beside its colour: a tick, a half disc, a cross, a question mark.
CLASSES = dict(zip(VERDICTS, ("holds", "partly", "fails", "open"), strict=True))
SHAPES = {name: resource(__package__, f"icons/{name}.svg").strip() for name in CLASSES.values()}
COLUMNS = ("Published", "With their code", "Done right")  # of the claims, the outcomes
HEADLINE = ("version", "size", "seeds", "benchmark")  # of the facts about the run, those under the title
FEW_ROWS = 8  # a comparison up to this long is open from the start
PNG_DENSITY = 2  # pixels of a figure for each pixel of the page
TYPESET = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|(?<![\w.])(?P<factor>[-−]?\d+(?:\.\d+)?)e\+?(?P<minus>-?)0*(?P<exponent>\d+)(?!\w)"
    r"|(?<!\w)p_c(?!\w)"
)
NUMBER = re.compile(r"[-−+±<>≤≥≈~]?\s*\d[\d\s.,eE×·%±()−+⁰¹²³⁴⁵⁶⁷⁸⁹⁻-]*")


class _Section(NamedTuple):
    """A part of the page: its anchor, its name in the menu, its inside, and what the menu lists under it."""

    anchor: str
    label: str
    body: str
    below: Sequence[tuple[str, str]] = ()


def page(content: Report) -> str:
    """The whole page."""
    check(content)
    sections = [part for part in _sections(content) if part is not None]
    body = filled(
        __package__,
        "page.html",
        menu="".join(map(_menu_entry, sections)),
        title=_text(content.title),
        subtitle=_text(content.subtitle),
        headline=facts([(name, content.meta[name]) for name in HEADLINE if name in content.meta], "chips", _text),
        sections="\n".join(f'<section id="{part.anchor}">\n{part.body}\n</section>' for part in sections),
    )
    return document(content.title, resource(__package__, "report.css"), [resource(__package__, "report.js")], body)


def _sections(content: Report) -> Iterable[_Section | None]:
    new = content.new_learner
    figures = [figure for figure in content.figures if new is None or figure.key != new.figure_key]
    yield _summary(content) if content.summary or content.claims else None
    yield _figures(figures, content.claims) if figures else None
    yield _new_learner(new, content.figures) if new else None
    yield _claims(content.claims) if content.claims else None
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

    return TYPESET.sub(typeset, escape(text))


def _items(texts: Iterable[str], name: str) -> str:
    inside = "".join(f"<li>{_text(text)}</li>" for text in texts)
    return f'<ul class="{name}">{inside}</ul>' if inside else ""


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


def _menu_entry(part: _Section) -> str:
    below = "".join(f'<li><a href="#{place}">{_text(label)}</a></li>' for place, label in part.below)
    return f'<li><a href="#{part.anchor}">{_text(part.label)}</a>' + (f"<ul>{below}</ul>" if below else "") + "</li>"


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
    """The table, and controls over it, which are hidden until the script shows them: without it they would do nothing."""
    head = "".join(f'<th scope="col" role="columnheader">{header}</th>' for header in ("Claim", *COLUMNS, "Verdict"))
    rows = "\n".join(_claim(claim) for claim in claims)
    return _Section("claims", "Claims", filled(__package__, "claims.html", buttons=_filter_buttons(claims), head=head, rows=rows))


def _filter_buttons(claims: Sequence[Claim]) -> str:
    counts = Counter(claim.verdict for claim in claims)
    choices = [("", "all", len(claims))]
    choices += [(verdict, _icon(name) + verdict, counts[verdict]) for verdict, name in CLASSES.items() if counts[verdict]]
    return "".join(
        f'<button type="button" data-verdict="{value}" aria-pressed="{"false" if value else "true"}">'
        f"{label} <span>{count}</span></button>"
        for value, label, count in choices
    )


def _claim(claim: Claim) -> str:
    place, name = anchor("claim", claim.key), CLASSES[claim.verdict]
    uncertainty = f'<span class="uncertainty">{_text(claim.uncertainty)}</span>' if claim.uncertainty else ""
    cells = zip(COLUMNS, (claim.published, claim.with_published_code, claim.done_right), strict=True)
    return (
        f'<tr role="row" id="{place}" data-verdict="{claim.verdict}"><th scope="row" role="rowheader">'
        f'<span class="statement">{_text(claim.statement)}</span>'
        f'<span class="where">{_text(claim.where)} · <a href="#{place}">{escape(claim.key)}</a></span></th>'
        + "".join(f'<td role="cell" data-label="{label}">{_text(value)}</td>' for label, value in cells)
        + f'<td role="cell" class="verdict"><span class="badge {name}">{_icon(name)}{claim.verdict}</span>{uncertainty}</td></tr>'
    )


def _figures(figures: Sequence[Figure], claims: Sequence[Claim]) -> _Section:
    below = [(anchor("figure", figure.key), figure.title) for figure in figures]
    jump = "".join(f'<li><a href="#{place}">{_text(title)}</a></li>' for place, title in below)
    index = f'<details class="jump"><summary>The {len(figures)} figures</summary><ul>{jump}</ul></details>'
    return _Section("figures", "Figures", "\n".join(["<h2>Figures</h2>", index, *(_figure(f, claims) for f in figures)]), below)


def _figure(figure: Figure, claims: Sequence[Claim] = ()) -> str:
    width, height = (side // PNG_DENSITY for side in struct.unpack(">II", figure.png[16:24]))
    source = "data:image/png;base64," + base64.b64encode(figure.png).decode()
    return (
        f'<article id="{anchor("figure", figure.key)}">\n<h3>{_text(figure.title)}</h3>\n<figure><div class="canvas">'
        f'<img src="{source}" alt="Plot: {escape(figure.title)}" width="{width}" height="{height}"></div>\n'
        f"<figcaption>{_text(figure.caption)}</figcaption></figure>\n"
        f"{_items(figure.notes, 'notes')}\n{_claims_below(figure, claims)}\n{_comparison(figure.comparison)}\n"
        f"{_origin(figure)}</article>"
    )


def _origin(figure: Figure) -> str:
    """Where the numbers are; a drawing without any has none."""
    if not figure.csv_name:
        return ""
    return f'<p class="origin">Numbers in <code>{escape(figure.csv_name)}</code> · computed in {duration(figure.seconds)}</p>\n'


def _claims_below(figure: Figure, claims: Sequence[Claim]) -> str:
    """The claims on a figure, each with its verdict; what decides it stands in the table of claims."""
    of_figure = [claim for claim in claims if claim.figure == figure.key]
    if not of_figure:
        return ""
    rows = "".join(
        f'<li><span class="badge {CLASSES[claim.verdict]}">{_icon(CLASSES[claim.verdict])}{claim.verdict}</span> '
        f'<a href="#{anchor("claim", claim.key)}">{_text(claim.statement)}</a></li>'
        for claim in of_figure
    )
    counted = f"{len(of_figure)} claim{'' if len(of_figure) == 1 else 's'}"
    return f'<details open><summary>{counted} of the paper on this figure</summary><ul class="notes">{rows}</ul></details>'


def _comparison(table: TextTable | None) -> str:
    if table is None:
        return ""
    unfolded = " open" if len(table.rows) <= FEW_ROWS else ""
    return f"<details{unfolded}><summary>Beside the published numbers ({len(table.rows)} rows)</summary>{_table(table)}</details>"


def _table(table: TextTable) -> str:
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
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(table.caption)}"><table>'
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
            f'<li id="{anchor("erratum", str(erratum.number))}"><span class="ordinal">{erratum.number}</span>'
            f"<div><h3>{_text(erratum.title)}</h3>\n<p>{_text(erratum.text)}</p>{effect}</div></li>"
        )

    return _Section("errata", "Errata", '<h2>Errata</h2>\n<ol class="errata">\n' + "\n".join(map(entry, errata)) + "\n</ol>")


def _run(content: Report) -> _Section:
    pairs = [(name, f"`{value}`" if name == "command" else value) for name, value in content.meta.items()]
    return _Section("run", "This run", "<h2>This run</h2>\n" + facts(pairs, "facts", _text))
