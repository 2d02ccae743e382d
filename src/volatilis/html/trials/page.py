"""The page: what was run, a table that sums up every group, and the picture of one, drawn from numbers that lie in the page."""

from __future__ import annotations

import colorsys
import os
import pathlib
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from urllib.parse import quote, urlencode

from volatilis.html import Json, data_element, document, escape, facts, filled, resource
from volatilis.html.trials.collecting import SURPRISES, Collector, left_out, warning_of
from volatilis.html.trials.groups import GroupPicture, group_data, looks_back
from volatilis.learners._base import Learner
from volatilis.plots import style
from volatilis.trials.measures import MEASURES

SCRIPTS = ("numbers.js", "axes.js", "picture.js", "trials.js", "reading.js", "groups.js")
SUMS = ("changes", "Shannon", "error")
MANY = 12  # groups from which on there is a search box


def page(collector: Collector) -> str:
    """The whole page of a run that is through."""
    pictures, labels, request = list(collector.pictures.values()), collector.labels, collector.engine.request
    notice = " ".join(escape(text) for text in left_out(collector))
    choices = "".join(f'<option value="{escape(label)}">{escape(label)}</option>' for label in labels)
    search = '<input type="search" id="search" placeholder="Search the groups" aria-label="Search the groups">'
    body = filled(
        __package__,
        "page.html",
        name=escape(_name(collector)),
        chips=facts(_chips(collector), "chips", _breakable),
        notice=warning_of(collector) + (f'<p class="notice" role="note">{notice}</p>' if notice else ""),
        options="".join(f'<option value="{i}">{escape(name_of(collector, one))}</option>' for i, one in enumerate(pictures)),
        legend="".join(f'<tr><th scope="row">{row}</th>{"<td></td>" * 3}</tr>' for row in _legend(collector)),
        search=search if len(pictures) >= MANY else "",
        choice=f'<label>sums of <select id="learner">{choices}</select></label>' if len(labels) > 1 else "",
        heads=_heads(collector),
        rows="".join(_row(collector, i, one) for i, one in enumerate(pictures)),
        words=facts([*_marks(collector), *_measures(collector)], "facts"),
        version=version("volatilis"),
        seed=str(request.seed),
        data=data_element("data", drawn_numbers(collector)),
    )
    scripts = [resource(__package__, name) for name in SCRIPTS]
    return document(f"{_name(collector)}: trials and surprise", _style(collector), scripts, body)


def _style(collector: Collector) -> str:
    """Every learner has a class with its colour: one on white, one in the dark."""
    pairs = colours(collector.engine.examples)
    rules = [filled(__package__, "learner.css", number=str(i), light=light, dark=dark) for i, (light, dark) in enumerate(pairs)]
    return resource(__package__, "report.css") + "".join(rules)


def _name(collector: Collector) -> str:
    return pathlib.Path(os.fspath(collector.engine.request.table)).name


def _chips(collector: Collector) -> Iterable[tuple[str, str]]:
    """What was run, under the title."""
    request, summary = collector.engine.request, collector.engine.summary()
    yield "rows", f"{summary.rows:,}"
    yield "groups", f"{summary.groups:,}"
    if summary.missing_outcomes:
        yield "missing outcomes", f"{summary.missing_outcomes:,} ({request.missing})"
    yield "family", request.family.text


def _legend(collector: Collector) -> Iterable[str]:
    """What is drawn, one row each; the script fills in the sums of the group, or the numbers of the trial that is pointed at."""
    swatch, press = '<span class="swatch"></span>', 'type="button" aria-pressed="true" disabled'
    yield f'<span class="key dots">{swatch}{_breakable(", ".join(collector.engine.inputs.outcome))}</span>'
    if collector.prediction:
        kind = "key person marks" if collector.categorical else "key person"
        yield f'<button class="{kind}" {press}>{swatch}{_breakable(", ".join(collector.prediction))}</button>'
    for i, recipe in enumerate(collector.engine.request.learners):
        plain = recipe.label == recipe.name.replace("-", "_")
        text = recipe.text.partition(":")[2] if plain else recipe.text.removeprefix(f"{recipe.label}=")
        shown_as = f"<span>{escape(recipe.label)} <small>{_breakable(text)}</small></span>"
        yield f'<button class="key learner-{i}" data-label="{escape(recipe.label)}" {press}>{swatch}{shown_as}</button>'


def _breakable(text: str) -> str:
    """Escaped, with places to break a line after commas."""
    return escape(text).replace(",", ",<wbr>")


def name_of(collector: Collector, picture: GroupPicture) -> str:
    """subject 3, block 1."""
    pairs = zip(collector.engine.inputs.by, picture.key, strict=True)
    return ", ".join(f"{column} {value}" for column, value in pairs) or "the whole table"


# --- all groups -----------------------------------------------------------------------------------------------------------


def _heads(collector: Collector) -> str:
    by = collector.engine.inputs.by or ("",)
    heads = [(name or "table", "") for name in by] + [("trials", ""), ("missing", "")]
    heads += [(name, label) for label in collector.labels for name in SUMS]
    return "".join(_head(text, label, i >= len(by)) for i, (text, label) in enumerate(heads))


def _head(text: str, label: str, number: bool) -> str:
    owner = f'<span class="owner">{escape(label)}</span>' if label else ""
    kind = ' class="number"' if number else ""
    return f'<th scope="col"{_owner(label)}{kind}><button type="button">{escape(text)}{owner}</button></th>'


def _owner(label: str) -> str:
    return f' data-learner="{escape(label)}"' if label else ""


def _row(collector: Collector, i: int, picture: GroupPicture) -> str:
    key = picture.key or (_name(collector),)
    link = urlencode(list(zip(collector.engine.inputs.by, picture.key, strict=True)), quote_via=quote) or "picture"
    first = f'<th scope="row"><a href="#{escape(link)}">{escape(key[0])}</a></th>'
    names = "".join(f"<td>{escape(value)}</td>" for value in key[1:])
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


def _measures(collector: Collector) -> Iterable[tuple[str, str]]:
    computed = {column.measure for column in collector.columns}
    for name in (name for name in MEASURES if name in computed):
        yield title_of(name), f"{MEASURES[name].description} Unit: {MEASURES[name].units}."


def _marks(collector: Collector) -> Iterable[tuple[str, str]]:
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
    yield from _about_changes(collector)
    if any(name.endswith("surprise") for name in measures):
        yield "asinh scale", "Even around 0 and logarithmic far from it, so that small and large surprises can both be seen."
    yield "Shannon", "The mean Shannon surprise of the group's outcomes, in nats."
    yield (
        "error",
        f"{error}, on average; a dash where the estimate is not of the outcome's mean. Trials at a start are not counted.",
    )


def _about_changes(collector: Collector) -> Iterable[tuple[str, str]]:
    if any(looks_back(learner) for learner in collector.engine.examples):
        about = (
            "Changes, found by looking back over all trials of the group that are drawn: the most probable segmentation under "
            "exact inference with the family and the learner's p_c. A start is no change."
        )
        if collector.family.splits():
            about += " With outliers it is approximate: one belief for each time of the last change."
        yield "triangles", about
        yield "bars at them", "Where the change may be: its 95 % credible set, all times in a gap included. Faint: less probable."
        yield "probability of a change", "At each trial, given all trials, those after it included; low where the time is unsure."
        yield "changes", "How many were found in the group."
    else:
        yield "no changes", "None of the learners has one probability of a change p_c, with which to look back."
    if not any(column.measure == "adaptation_rate" for column in collector.columns):
        yield "no adaptation rate", "The adaptation rate was not computed: not among --measures, or no learner defines it."
        return
    yield (
        "adaptation rate γ",
        "The probability, given the trials up to this one, that it is the first after a change: how much a learner forgets. "
        "It is not a change.",
    )


# --- what the script draws with: the numbers, and a colour for each learner --------------------------------------------

OTHERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito: told apart by all
ALIKE = 70.0  # a distance in RGB below which two lines are hard to tell apart
ON_LIGHT = ("#ffffff", 2.5, 0.0)  # paper, contrast that a line needs, and where to look for it: towards black
ON_DARK = ("#1c2227", 4.5, 1.0)  # towards white


def drawn_numbers(collector: Collector) -> dict[str, Json]:
    """Everything the script needs, as JSON."""
    request = collector.engine.request
    measures = [name for name in SURPRISES if any(column.measure == name for column in collector.columns)]
    pictures = collector.pictures.values()
    return {
        "by": list(collector.engine.inputs.by),
        "labels": collector.labels,
        "strips": [strip._asdict() for strip in collector.strips],
        "outcomes": list(collector.engine.inputs.outcome),
        "categories": list(request.categories),
        "categorical": collector.categorical,
        "predictions": list(collector.prediction),
        "computed": [[c.label, c.measure, c.element or 0] for c in collector.columns],
        "measures": [{"name": name, "title": title_of(name), "units": MEASURES[name].units} for name in measures],
        "groups": [group_data(picture, collector.engine.inputs.outcome, collector.prediction) for picture in pictures],
    }


def title_of(measure: str) -> str:
    """bayes_factor_surprise -> Bayes Factor surprise."""
    names = {"bayes": "Bayes", "factor": "Factor", "shannon": "Shannon", "bayesian": "Bayesian"}
    return " ".join(names.get(word, word) for word in measure.split("_"))


# --- colours -----------------------------------------------------------------------------------------------------------------


def colours(learners: Sequence[Learner]) -> list[tuple[str, str]]:
    """For each learner its colour on white and on a dark page."""
    chosen: list[str] = []
    for learner in learners:
        wanted = style.look(style.name_of(learner)).colour
        if any(_distance(wanted, other) < ALIKE for other in chosen):
            wanted = max(OTHERS, key=lambda colour: min(_distance(colour, other) for other in chosen))
        chosen.append(wanted)
    return [(_readable(colour, *ON_LIGHT), _readable(colour, *ON_DARK)) for colour in chosen]


def _readable(colour: str, paper: str, contrast: float, limit: float) -> str:
    """The same hue, as much lighter or darker as it takes to be seen on the paper."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(v / 255 for v in _channels(colour)))
    steps = (lightness + (limit - lightness) * step / 40 for step in range(41))
    nearer = ("#" + "".join(f"{round(255 * v):02x}" for v in colorsys.hls_to_rgb(hue, step, saturation)) for step in steps)
    return next(c for c in nearer if _contrast(c, paper) >= contrast)


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def _distance(one: str, other: str) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(_channels(one), _channels(other), strict=True)) ** 0.5)


def _contrast(one: str, other: str) -> float:
    """As WCAG has it: from 1, the same, to 21, black and white."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """The share of white's light."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in _channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
