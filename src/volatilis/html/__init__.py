"""HTML pages. A page is one file that holds everything it needs, and its policy lets nothing else in.

This module has what the pages share: escaping, lists of facts, numbers as JSON, styles, scripts and templates from files, and the
whole document. `paper` is the report of `volatilis paper`, `trials` that of `volatilis run --report`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]


def escape(text: str) -> str:
    """Text as HTML, in an element or in a quoted attribute."""
    return html.escape(text)


def resource(package: str, name: str) -> str:
    """A style, script or template that lies in a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def filled(package: str, name: str, /, **parts: str) -> str:
    """A template from a package. The parts replace its $names as they are, so they must be escaped."""
    return Template(resource(package, name)).substitute(parts)


def facts(pairs: Iterable[tuple[str, str]], kind: str, written: Callable[[str], str] = escape) -> str:
    """A list of names and values; `written` turns a text into HTML."""
    return f'<dl class="{kind}">' + "".join(f"<div><dt>{written(k)}</dt><dd>{written(v)}</dd></div>" for k, v in pairs) + "</dl>"


def data_element(name: str, content: Json) -> str:
    """JSON for the page's script: data, never code. Nothing in it can end its element or begin another."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def document(title: str, style: str, scripts: Sequence[str], body: str, permitted: str = "") -> str:
    """A whole page. Its content security policy admits its own style and script and data: images, and no network at all.

    The scripts run as one, in strict mode, and leave no globals. `permitted` is what the policy lets scripts do beside.
    """
    style = resource(__name__, "base.css") + style
    script = filled(__name__, "script.js", parts="".join(scripts))
    allowed = " ".join(filter(None, (_fingerprint(script), permitted)))
    policy = f"default-src 'none'; img-src data:; style-src {_fingerprint(style)}; script-src {allowed}"
    return filled(__name__, "document.html", policy=policy, title=escape(title), style=style, body=body, script=script)


def _fingerprint(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
