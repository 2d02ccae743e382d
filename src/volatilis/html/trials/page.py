"""The page: what was run, a table that sums up every group, and the picture of one, drawn from numbers that lie in the page."""

from __future__ import annotations

import html
import os
import pathlib
from collections.abc import Iterable
from importlib.metadata import version
from urllib.parse import quote, urlencode

from volatilis.html import document, resource
from volatilis.html.trials.collecting import Collector, GroupPicture, left_out
from volatilis.html.trials.embedding import embedded, title_of
from volatilis.html.trials.looks import colours
from volatilis.html.trials.summaries import CHANGE
from volatilis.trials.measures import MEASURES

SCRIPTS = ("numbers.js", "axes.js", "picture.js", "trials.js", "reading.js", "groups.js")
SUMS = ("changes", "Shannon", "error")
HINT = (
    "Point at a trial to read it; drag to zoom, double-click for the whole. Keys: ← and → change the group, "
    "or the trial once the picture has the focus; + and − zoom, 0 shows the whole."
)
MANY = 12  # groups from which on there is a search box


def page(collector: Collector) -> str:
    """The whole page of a run that is through."""
    script = "(function () {\n" + "".join(resource(__package__, name) for name in SCRIPTS) + "})();\n"
    body = (
        '<a class="skip" href="#picture">To the picture</a>\n'
        f'<div class="page">\n{_header(collector)}\n<main class="desk">\n{_picture(collector)}\n{_table(collector)}\n</main>\n'
        f"{_words(collector)}\n</div>\n"
        f'<script type="application/json" id="data">{embedded(collector)}</script>'
    )
    return document(f"{_name(collector)}: trials and surprise", _style(collector), script, body)


def _style(collector: Collector) -> str:
    """Every learner has a class with its colour: one on white, one in the dark."""
    pairs = colours(collector.engine.order.learners, collector.engine.examples)
    light, dark = (
        "\n".join(f".learner-{i} {{ --hue: {pair[k]}; }}" for i, pair in enumerate(pairs))
        for k in (0, 1)
    )  # fmt: skip
    return resource(__package__, "report.css") + f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def _name(collector: Collector) -> str:
    return pathlib.Path(os.fspath(collector.engine.order.table)).name


# --- what was run ---------------------------------------------------------------------------------------------------------


def _header(collector: Collector) -> str:
    order, summary = collector.engine.order, collector.engine.summary()
    facts = [("rows", f"{summary.rows:,}"), ("groups", f"{summary.groups:,}")]
    facts += [("missing outcomes", f"{summary.missing_outcomes:,} ({order.missing})")] if summary.missing_outcomes else []
    facts += [("family", order.family.text)]
    chips = "".join(f"<div><dt>{name}</dt><dd>{_breakable(value)}</dd></div>" for name, value in facts)
    said = " ".join(html.escape(text) for text in left_out(collector))
    notices = f'<p class="notice" role="note">{said}</p>' if said else ""
    return f'<header>\n<h1>{html.escape(_name(collector))}</h1>\n<dl class="chips">{chips}</dl>\n{notices}</header>'


# --- one group ------------------------------------------------------------------------------------------------------------


def _picture(collector: Collector) -> str:
    options = "".join(
        f'<option value="{i}">{html.escape(name_of(collector, picture))}</option>'
        for i, picture in enumerate(collector.pictures.values())
    )
    groups = (
        '<div class="step"><button type="button" id="previous" aria-label="Previous group">←</button>'
        f'<select id="group" aria-label="Group">{options}</select>'
        '<button type="button" id="next" aria-label="Next group">→</button></div>'
    )
    zoom = (
        '<div class="step" role="group" aria-label="Zoom"><button type="button" id="closer" aria-label="Zoom in">+</button>'
        '<button type="button" id="wider" aria-label="Zoom out">−</button>'
        '<button type="button" id="whole">whole</button></div>'
    )
    return (
        '<section id="picture" class="picture" aria-label="Picture of a group">\n'
        '<h2 id="name" class="unseen"></h2>\n'
        f'<div class="tools" hidden>{groups}<select id="measure" aria-label="Measure of surprise"></select>{zoom}</div>\n'
        '<p class="sums" id="sums" aria-live="polite"></p>\n'
        '<noscript><p class="notice">A script draws the pictures, and scripts are off. The table has the sums.</p></noscript>\n'
        f"{_legend(collector)}\n"
        '<div class="frame" id="frame" tabindex="0" role="application" aria-roledescription="picture" aria-describedby="hint">'
        "</div>\n"
        f'<p class="hint" id="hint">{HINT}</p>\n'
        '<p class="unseen" id="said" aria-live="polite"></p>\n'
        '<details id="trials"><summary>The trials in the picture as a table</summary><div class="scroll" tabindex="0"></div>'
        "</details>\n"
        "</section>"
    )


def _legend(collector: Collector) -> str:
    """What is drawn, one row each; a script fills in the sums of the group, or the numbers of the trial that is pointed at."""
    order, empty = collector.engine.order, "<td></td>" * 3
    swatch, press = '<span class="swatch"></span>', 'type="button" aria-pressed="true" disabled'
    rows = [f'<span class="key dots">{swatch}{_breakable(", ".join(collector.engine.inputs.outcome))}</span>']
    if collector.prediction:
        kind = "key person marks" if collector.categorical else "key person"
        rows.append(f'<button class="{kind}" {press}>{swatch}{_breakable(", ".join(collector.prediction))}</button>')
    for i, recipe in enumerate(order.learners):
        plain = recipe.label == recipe.name.replace("-", "_")
        text = recipe.text.partition(":")[2] if plain else recipe.text.removeprefix(f"{recipe.label}=")
        shown_as = f"<span>{html.escape(recipe.label)} <small>{_breakable(text)}</small></span>"
        rows.append(
            f'<button class="key learner-{i}" data-label="{html.escape(recipe.label)}" {press}>{swatch}{shown_as}</button>'
        )
    body = "".join(f'<tr><th scope="row">{row}</th>{empty}</tr>' for row in rows)
    head = '<th scope="col"></th>' * 4
    return (
        '<div class="readout"><table id="readout"><caption class="unseen">What is drawn, and its numbers</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _breakable(text: str) -> str:
    """Escaped, with places to break a line after commas."""
    return html.escape(text).replace(",", ",<wbr>")


def name_of(collector: Collector, picture: GroupPicture) -> str:
    """subject 3, block 1."""
    pairs = zip(collector.engine.inputs.by, picture.key, strict=True)
    return ", ".join(f"{column} {value}" for column, value in pairs) or "the whole table"


# --- all groups -----------------------------------------------------------------------------------------------------------


def _table(collector: Collector) -> str:
    by, labels = collector.engine.inputs.by or ("",), collector.labels
    heads = [(name or "table", "") for name in by] + [("trials", ""), ("missing", "")]
    heads += [(sum_, label) for label in labels for sum_ in SUMS]
    cells = "".join(_head(text, label, i >= len(by)) for i, (text, label) in enumerate(heads))
    options = "".join(f'<option value="{html.escape(label)}">{html.escape(label)}</option>' for label in labels)
    choice = f'<label>sums of <select id="learner">{options}</select></label>' if len(labels) > 1 else ""
    rows = "".join(_row(collector, i, picture) for i, picture in enumerate(collector.pictures.values()))
    many = len(collector.pictures) >= MANY
    search = '<input type="search" id="search" placeholder="Search the groups" aria-label="Search the groups">' if many else ""
    return (
        '<section class="groups" aria-label="All groups">\n'
        f'<div class="tools" hidden>{search}{choice}</div>\n<div class="scroll" tabindex="0">'
        '<table id="groups"><caption class="unseen">Every group that is drawn, summed up</caption>'
        f"<thead><tr>{cells}</tr></thead>\n<tbody>{rows}</tbody></table>"
        '</div>\n<p class="hint" id="found" aria-live="polite"></p></section>'
    )


def _head(text: str, label: str, number: bool) -> str:
    owner = f'<span class="owner">{html.escape(label)}</span>' if label else ""
    kind = ' class="number"' if number else ""
    return f'<th scope="col"{_owner(label)}{kind}><button type="button">{html.escape(text)}{owner}</button></th>'


def _owner(label: str) -> str:
    return f' data-learner="{html.escape(label)}"' if label else ""


def _row(collector: Collector, i: int, picture: GroupPicture) -> str:
    key = picture.key or (_name(collector),)
    link = urlencode(list(zip(collector.engine.inputs.by, picture.key, strict=True)), quote_via=quote) or "picture"
    first = f'<th scope="row"><a href="#{html.escape(link)}">{html.escape(key[0])}</a></th>'
    names = "".join(f"<td>{html.escape(value)}</td>" for value in key[1:])
    counts: list[tuple[float | None, str]] = [(picture.rows, ""), (picture.missing, "")]
    sums = [(value, label) for label, t in picture.tallies.items() for value in (t.changes, t.shannon, t.error)]
    return f'<tr data-group="{i}">{first}{names}{"".join(_cell(value, label) for value, label in (*counts, *sums))}</tr>\n'


def _cell(value: float | None, label: str) -> str:
    sorted_by = "" if value is None else repr(value)
    return f'<td class="number"{_owner(label)} data-value="{sorted_by}">{shown(value)}</td>'


def shown(value: float | None) -> str:
    """A count in full, a mean to three digits, nothing as a dash."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")  # 4.20, so that numbers stand below each other


# --- what it means --------------------------------------------------------------------------------------------------------


def _words(collector: Collector) -> str:
    by_measure = {column.measure for column in collector.columns}
    measures = [name for name in MEASURES if name in by_measure]
    terms = [(title_of(name), f"{MEASURES[name].description} Unit: {MEASURES[name].units}.") for name in measures]
    facts = "".join(f"<div><dt>{name}</dt><dd>{html.escape(text)}</dd></div>" for name, text in [*_reading(collector), *terms])
    made = f"Made by volatilis {version('volatilis')}; seed {collector.engine.order.seed}."
    return f'<section class="words"><h2>How to read this</h2><dl class="facts">{facts}</dl><p class="hint">{made}</p></section>'


def _reading(collector: Collector) -> Iterable[tuple[str, str]]:
    """What each mark in the picture is, for those that can be there."""
    measures = {column.measure for column in collector.columns}
    error = "1 minus the estimated probability, before the outcome, of the category that came"
    if not collector.categorical:
        error = "The distance of an outcome from the estimate before it"
    yield "dots", "Outcomes. A grey bar stands where one is missing; a dashed upright line where learners start anew."
    if collector.prediction:
        yield (
            "squares" if collector.categorical else "dashed line",
            f"The person's own prediction, from the column {', '.join(collector.prediction)}.",
        )
    if "mean" in measures:
        yield "line", "The estimate of a learner after the outcome of the trial."
        band = "The estimate plus and minus 2 standard deviations of the belief; a learner without a belief has none."
        yield from [("band", band)] if "variance" in measures else []
    else:
        yield "no estimate", "The mean was not among the measures that were computed (--measures)."
    if "adaptation_rate" in measures:
        yield "triangles", f"Changes as found: trials with an adaptation rate above {CHANGE:g}. Not the true changes."
        yield "changes", "How many of these there are in the group."
    else:
        yield "no changes", "The adaptation rate was not computed: not among --measures, or no learner defines it."
    if any(name.endswith("surprise") for name in measures):
        yield "asinh scale", "Even around 0 and logarithmic far from it, so that small and large surprises can both be seen."
    yield "Shannon", "The mean Shannon surprise of the group's outcomes, in nats."
    yield (
        "error",
        f"{error}, on average; a dash where the estimate is not of the outcome's mean. Trials at a start are not counted.",
    )
