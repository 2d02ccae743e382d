"""The documentation site: Sphinx reads these Markdown pages as they stand, and the reference that docs/apidoc.py writes.

`make docs` builds it into out/docs. Nothing is fetched when it is read: formulas are MathML, search is part of the pages.
"""

from __future__ import annotations

import pathlib
import re
import sys
from importlib.metadata import version as installed_version
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

project, author, copyright = "volatilis", "The volatilis developers", "The volatilis developers"
release = version = installed_version("volatilis")
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "fieldlist", "colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["results/data", "**/__pycache__"]
suppress_warnings = ["myst.header"]
html_theme = "pydata_sphinx_theme"
html_title = "volatilis"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_show_search_summary = False  # it would be fetched page by page, which browsers refuse where pages are files
toc_object_entries_show_parents = "hide"  # "update()", not "volatilis.Stream.update()", beside a page
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,  # down to the reference; what is about the project stands under "More"
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}  # light or dark as the reader's system has it
# Pages without others beside them need no list of them
html_sidebars = {name: [] for name in ("index", "explorer", "contributing", "changelog", "release-notes/*", "search", "genindex")}

# Pages of the repository that lie outside docs/, and where the site has them
INCLUDED = {"CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog", "README.md": "index"}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def _within_the_site(app: Any, name: str, source: list[str]) -> None:
    """Links that leave docs/ go to the page that includes the file, or stay as the file's name."""
    folder = (HERE / name).parent if name not in ("contributing", "changelog") else HERE.parent

    def replace(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return match.group()
        path, _, anchor = target.partition("#")
        where = (folder / path).resolve()
        if where.is_relative_to(HERE) and where.is_dir():
            return f"{text} (`docs/{where.relative_to(HERE)}`)"
        if where.is_relative_to(HERE):
            relative = "/" + str(where.relative_to(HERE)) + (f"#{anchor}" if anchor else "")
            return f"{mark}[{text}]({relative})"
        place = INCLUDED.get(where.name) if where.parent == HERE.parent else None
        return f"[{text}](/{place}.md)" if place else f"{text} (`{where.relative_to(HERE.parent)}`)"

    if name in ("contributing", "changelog"):
        file = HERE.parent / f"{name.upper()}.md"
        source[0] = file.read_text(encoding="utf-8")
    parts = re.split(r"(^```.*?^```[ \t]*$)", source[0], flags=re.MULTILINE | re.DOTALL)
    source[0] = "".join(part if part.startswith("```") else _LINK.sub(replace, part) for part in parts)


def _as_mathml(writer: Any, node: Any) -> None:
    """A formula as MathML, which browsers draw themselves."""
    from docutils import nodes
    from latex2mathml.converter import convert

    display = "block" if isinstance(node, nodes.math_block) else "inline"
    writer.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app: Any) -> None:
    import apidoc

    apidoc.write(HERE / "reference")
    app.connect("source-read", _within_the_site)
    app.add_html_math_renderer("mathml", (_as_mathml, None), (_as_mathml, None))


html_math_renderer = "mathml"
