"""The explorer: one page that runs the compiled learners in the browser. `python -m volatilis.html.explorer --out DIR` writes it.

The page is one file: text, style, script, and the learners as WebAssembly, compressed. It needs no network and no server.
"""

from __future__ import annotations

import base64
import gzip
import math
from collections.abc import Callable
from typing import Any

from volatilis._core.records import Choices, Parameter, Range
from volatilis.catalogue import FAMILY_RECORDS
from volatilis.html import Json, data_element, document, escape, filled, resource
from volatilis.html.explorer import kernels, offers
from volatilis.html.explorer.offers import Offer
from volatilis.learners._kinds import LearnerRecord
from volatilis.running.drivers import Outputs

SCRIPTS = (
    *("machine.js", "measures.js", "seeds.js", "worlds.js", "presets.js", "tables.js", "texts.js"),
    *("panels.js", "controls.js", "tour.js", "placing.js", "explorer.js"),
)
WASM = "'wasm-unsafe-eval'"  # in the page's policy: it may compile WebAssembly, and still runs no text as code


def page(progress: Callable[[str], None] = lambda name: None, home: str | None = None) -> str:
    """The whole page; compiles what is not in the cache. `home` is where a link to the documentation leads."""
    chosen = offers.pairs()
    data = content(chosen, kernels.module(chosen, progress))
    link = "" if home is None else f'<a href="{escape(home)}">Documentation</a>'
    body = filled(__name__, "page.html", home=link, data=data_element("explorer-data", data))
    scripts = [resource(__name__, name) for name in SCRIPTS]
    return document("volatilis explorer", resource(__name__, "explorer.css"), scripts, body, WASM)


def content(chosen: list[offers.Pair], module: bytes) -> Json:
    """What the scripts need to know: families, learners, how arguments lie in memory, and the module itself."""
    layouts: list[Json] = []
    places: dict[str, int] = {}
    for pair in chosen:
        layout = kernels.layout(pair)
        if layout not in layouts:
            layouts.append(layout)
        places[pair.symbol] = layouts.index(layout)
    return {
        "families": {name: _family(name) for name in dict.fromkeys(pair.family for pair in chosen)},
        "learners": {name: _learner(offers.offers()[name]) for name in dict.fromkeys(pair.learner for pair in chosen)},
        "pairs": places,
        "layouts": layouts,
        "outputs": list(Outputs._fields),
        "kernels": base64.b64encode(gzip.compress(module, 9, mtime=0)).decode(),
    }


def _family(name: str) -> Json:
    record, example = FAMILY_RECORDS[name], offers.example_family(name)
    accepted, inner = example.accepted_numbers(), FAMILY_RECORDS.get(offers.INNER.get(name, ""))
    assert accepted is not None  # a world of single numbers
    return {
        "class": record.cls.__name__,
        "title": f"{offers.TITLES[name]} ({record.cls.__name__})",
        "sentence": record.sentence if inner is None else f"{inner.sentence} {record.sentence}",
        "observes": record.observes if inner is None else f"{inner.observes}, with outliers",
        "inner": None
        if inner is None
        else {"name": inner.name, "class": inner.cls.__name__, "fields": [*offers.WORLDS[inner.name]]},
        "splits": example.splits(),
        "sliders": {one: slider._asdict() for one, slider in offers.WORLDS[name].items()},
        "words": {one.name: one.accepts for one in (*(inner.parameters if inner else ()), *record.parameters)},
        "whole": accepted.whole,
        "fixed": dict(offers.FIXED.get(name, {})),
        "least": accepted.low if math.isfinite(accepted.low) and name != "vonmises" else None,
        "most": accepted.high if accepted.whole and name != "categorical" and math.isfinite(accepted.high) else None,
        "names": list(example.parameter_names()),
        "size": None if name == "categorical" else example.size(),
        "rows": example.rows(),
        "derived": kernels.derived_fields(example),
        "observation": example.observations([1])[0].dtype.str[1:],
    }


def _learner(offer: Offer) -> Json:
    record = offer.record
    title = _title(record) + (" (original)" if record.original else "")
    return {
        "class": record.cls.__name__,
        "title": f"{title}, p_c unknown" if offer.averaged else title,
        "sentence": record.sentence,
        "keeps": record.keeps,
        "inner": record.name if offer.averaged else None,
        "parameters": [_parameter(offer, one) for one in record.parameters if not (offer.averaged and one.name == "p_c")],
        "readouts": list(record.readouts),
        "samples": record.samples,
        "made_for": record.made_for is not None,
        "change": "learned" if offer.averaged else change_rule(offer),
    }


def _title(record: LearnerRecord) -> str:
    """As in figures; the paper's abbreviations, such as pf, in words."""
    return record.title if len(record.title) > 3 else record.name.replace("-", " ").capitalize()


def _parameter(offer: Offer, one: Parameter) -> Json:
    low = high = scale = None
    if isinstance(one.search, Range):
        low, high, scale = one.search.low, one.search.high, one.search.scale.name
    elif isinstance(one.search, Choices):
        low, high, scale = 1, 50, "whole"
    default: Any = one.default
    return {
        "name": one.name,
        "default": default,
        "from_family": one.from_family,
        "accepts": one.accepts,
        "shown": one in offer.shown(),
        "value": offers.middle(one, 3),
        "low": low,
        "high": high,
        "scale": scale,
    }


def change_rule(offer: Offer) -> str | None:
    """How the Shannon surprise gets its p_c from the parameters: p_c itself, or m / (1 + m); None where there is none."""
    learner = next(one for name in offers.WORLDS if (one := offers.example_learner(offer, offers.example_family(name))))
    values, p = {one.name: offers.middle(one, 3) for one in offer.shown()}, learner.change_probability()
    if math.isnan(p):
        return None
    rules = {"p_c": values.get("p_c"), "m": values["m"] / (1.0 + values["m"]) if "m" in values else None}
    return next(name for name, value in rules.items() if value == p)
