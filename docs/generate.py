"""Write what follows from the records of families and learners: tables of docs/reference, and the names for type checkers.

python docs/generate.py            # after a family, a learner or a parameter was added or changed
python docs/generate.py --check    # changes nothing; exits with 1 if a file is out of date

A table stands in its page between <!-- generated: NAME --> and <!-- end -->.
"""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence

import volatilis
from volatilis import families, learners
from volatilis._core.records import Choices, Parameter, Range, parameters_of
from volatilis.behaviour.responses.registry import RESPONSES, Habits

ROOT = pathlib.Path(__file__).resolve().parents[1]
STUB = ROOT / "src" / "volatilis" / "__init__.pyi"
REFERENCE = ROOT / "docs" / "reference"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("| --- |", "|---|").replace(" --- |", "---|")


def call(cls: type) -> str:
    """`Merge(family, p_c, n)`: what a user gives."""
    given = inspect.signature(cls).parameters.values()
    shown = (one.name if one.default is one.empty else f"{one.name}={one.default!r}" for one in given)
    return f"`{cls.__name__}({', '.join(shown)})`"


def accepted(parameters: Iterable[Parameter]) -> str:
    return "<br>".join(f"`{one.name}`: {one.accepts}" for one in parameters)


# --- the tables ------------------------------------------------------------------------------------------------------------


def family_table() -> str:
    rows = ((call(one.cls), f"`{one.name}`", one.likelihood, one.theta, one.prior) for one in families.records())
    return table(("family", "command line", "observation", "theta (`parameter_names()`)", "prior"), rows)


def family_parameters() -> str:
    rows = ((f"`{one.cls.__name__}`", accepted(one.parameters)) for one in families.records())
    return table(("family", "accepts"), rows)


def family_observations() -> str:
    by_words: dict[str, list[str]] = {}
    for one in families.records():
        by_words.setdefault(one.observes, []).append(f"`{one.cls.__name__}`")
    rows = ((", ".join(names), words, "(T, p)" if words.startswith("p ") else "(T,)") for words, names in by_words.items())
    return table(("family", "one observation", "shape of a sequence"), rows)


def learner_table() -> str:
    rows = (
        (
            call(one.cls),
            ", ".join(f"`{name}`" for name in (one.name, *one.aliases)),
            one.sentence.replace("|", "\\|"),
            accepted(one.parameters),
            one.keeps,
            "yes" if one.samples else "no",
        )
        for one in learners.records()
    )
    return table(("learner", "command line", "what it does", "parameters", "keeps", "samples"), rows)


def search_ranges() -> str:
    """Of every parameter that can be fitted or tuned, once."""
    known: dict[str, Parameter] = {}
    for parameters in (
        *(one.parameters for one in learners.records()),
        *(one.parameters for one in families.records()),
        *map(parameters_of, (*RESPONSES.values(), Habits)),
    ):
        known |= {one.name: one for one in parameters if one.search is not None}
    return table(("parameter", "scale", "from", "to", "searches start from", "to", "unit"), map(_range_row, known.values()))


def _range_row(parameter: Parameter) -> tuple[str, ...]:
    name = f"`{parameter.name}`"
    if isinstance(parameter.search, Choices):
        return name, "one by one", ", ".join(map(str, parameter.search.values)), "", "", "", ""
    assert isinstance(parameter.search, Range)
    scale, *ends, unit = parameter.search
    around = "median of the outcomes, and their spread" if parameter.name == "mu_0" else "spread of the outcomes"
    return name, scale.name, *map(_number, ends), around if unit else ""


def _number(value: float) -> str:
    if 0.99 < value < 1.0:
        return f"1 − {1.0 - value:.0e}".replace("e-0", "e-")
    text = f"{value:g}".replace("e-0", "e-")
    return text.replace("-", "−", 1) if value < 0 else text


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "families.md": {"families": family_table, "parameters": family_parameters, "observations": family_observations},
    "learners.md": {"learners": learner_table},
    "responses.md": {"ranges": search_ranges},
}


# --- the names for type checkers --------------------------------------------------------------------------------------------


def stub() -> str:
    places = {name: module for module, names in volatilis._MODULES.items() for name in names}
    for record in (*families.records(), *learners.records()):
        places[record.cls.__name__] = record.cls.__module__.removeprefix("volatilis.")
    lines = ["# Written by docs/generate.py", ""]
    for module in sorted(set(places.values())):
        names = sorted(name for name in places if places[name] == module)
        lines.append(f"from volatilis.{module} import {', '.join(names)}")
    lines += ["", "__version__: str", "", "__all__ = [", *(f'    "{name}",' for name in sorted(places)), "]", ""]
    return "\n".join(lines)


# --- writing ----------------------------------------------------------------------------------------------------------------


def filled(page: str, tables: dict[str, Callable[[], str]]) -> str:
    for name, make in tables.items():
        between = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not between.search(page):
            raise ValueError(f"no <!-- generated: {name} --> in the page")
        content = make()
        page = between.sub(lambda found, content=content: f"{found[1]}\n{content}\n\n{found[2]}", page)
    return page


def generated() -> dict[pathlib.Path, str]:
    """What each file should hold."""
    pages = {REFERENCE / name: filled((REFERENCE / name).read_text(encoding="utf-8"), tables) for name, tables in PAGES.items()}
    return {**pages, **with_version(), STUB: stub()}


def with_version() -> dict[pathlib.Path, str]:
    """The places that tell the version, which stands in pyproject.toml."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation, columns = ROOT / "CITATION.cff", REFERENCE / "columns.md"
    texts = {path: path.read_text(encoding="utf-8") for path in (citation, columns)}
    texts[citation] = re.sub(r"^version: \S+", f"version: {version}", texts[citation], flags=re.MULTILINE)
    texts[columns] = re.sub(r"(volatilis \(version |with volatilis )\d[\w.]*", rf"\g<1>{version}", texts[columns])
    return texts


def main() -> int:
    stale = [path for path, text in generated().items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} {'is out of date' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            path.write_text(generated()[path], encoding="utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
