"""The reference of every public class, function and command, as Markdown, from the source: docstrings, signatures, options.

python docs/apidoc.py        # writes docs/reference/api and docs/reference/commands; `make docs` does it by itself

A docstring is paragraphs; lines "name   what it is" describe parameters; an indented block is a formula; >>> is an example.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pathlib
import re
import shutil
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

MODULES = (
    "volatilis",
    "volatilis.behaviour",
    "volatilis.surprise",
    "volatilis.trials",
    "volatilis.separation",
    "volatilis.adapters",
)
HERE = pathlib.Path(__file__).resolve().parent
MEASURES = ("bayes_factor_surprise", "log_bayes_factor_surprise", "log_predictive", "shannon_surprise")  # of volatilis.surprise
# Classes that functions return and nobody calls: shown without what they are made of
RESULTS = ("Belief", "Changes", "Step", "Trace", "Traces")
PARAMETER = re.compile(r"^( *)([*\w][\w*, .]*?) {2,}(\S.*)$")


class Described(NamedTuple):
    """A docstring in parts, in their order: ("text" | "formula" | "example", its lines) and ("parameters", name to words)."""

    parts: list[tuple[str, Any]]

    def parameters(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for kind, content in self.parts:
            if kind == "parameters":
                found |= content
        return found

    def has(self, kind: str) -> bool:
        return any(part == kind for part, _ in self.parts)

    def text(self) -> str:
        return "\n\n".join(" ".join(content) for kind, content in self.parts if kind == "text")


def described(doc: str) -> Described:
    """The parts of a docstring."""
    parts: list[tuple[str, Any]] = []
    for block in filter(str.strip, re.split(r"\n\s*\n", inspect.cleandoc(doc))):
        lines = block.splitlines()
        if lines[0].lstrip().startswith(">>>"):
            parts.append(("example", textwrap.dedent(block).splitlines()))
        elif _is_list(lines):
            parts.append(("parameters", _listed(lines)))
        elif all(line.startswith("    ") for line in lines):
            parts.append(("formula", textwrap.dedent(block).splitlines()))
        else:
            parts.append(("text", [line.strip() for line in lines]))
    return Described(parts)


def _is_list(lines: list[str]) -> bool:
    """Whether every line is "name   words" or goes on with the words of the one before."""
    first = PARAMETER.match(lines[0])
    if first is None:
        return False
    indent = len(first.group(1))
    return all(PARAMETER.match(line) or len(line) - len(line.lstrip()) > indent + 2 for line in lines)


def _listed(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    names: list[str] = []
    for line in textwrap.dedent("\n".join(lines)).splitlines():
        match = PARAMETER.match(line)
        if match and not match.group(1):
            names = [name.strip() for name in match.group(2).split(",")]
            found |= dict.fromkeys(names, match.group(3))
        else:
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return found


# --- what is public --------------------------------------------------------------------------------------------------------


class Public(NamedTuple):
    """A public thing: where it is imported from, its name, itself."""

    module: str
    name: str
    value: Any


@functools.cache
def public() -> list[Public]:
    """All that users import, once each."""
    found: dict[str, Public] = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", MEASURES):
            value = getattr(module, name)
            if callable(value):
                found.setdefault(name, Public(module_name, name, value))
    return sorted(found.values(), key=lambda one: (MODULES.index(one.module), one.name.lower()))


def page_of(name: str) -> str:
    """The name of its page. A class that differs from a function by a capital only has one that no file system mixes up."""
    alike = [one.name for one in public() if one.name.lower() == name.lower()]
    return f"{name}-class" if len(alike) > 1 and name[0].isupper() else name


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, its bases' included."""
    for name, value in inspect.getmembers(cls):
        if name.startswith("_") and name != "_asdict":
            continue
        given = isinstance(value, property) or inspect.isfunction(value) or inspect.ismethod(value)
        if given and not hasattr(tuple, name) and (_is_ours(value) or name == "_asdict"):
            yield name, value


def _is_ours(member: Any) -> bool:
    """Not what a class takes over from another package."""
    function = member.fget if isinstance(member, property) else member
    return str(getattr(function, "__module__", "")).partition(".")[0] == "volatilis"


def _is_for_learners(cls: type) -> bool:
    """Families and learners: their methods are the algorithm, which learners call and users do not."""
    from volatilis import families, learners

    return cls in {record.cls for record in (*families.records(), *learners.records())} or issubclass(cls, Exception)


# --- as Markdown -----------------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """A sentence of a docstring as Markdown: `code`, links to docs/PAGE.md, and nothing else that means anything."""
    pieces = re.split(r"(`[^`]+`|\bdocs/[\w/-]+\.md\b)", text)
    return "".join(_marked(one) for one in pieces)


def _marked(piece: str) -> str:
    if piece.startswith("`"):
        return piece
    if re.fullmatch(r"docs/[\w/-]+\.md", piece):
        return f"[{title(piece)}](../../{piece.removeprefix('docs/')})"
    return re.sub(r"([\\*<>\[\]$#_])", r"\\\1", piece)


def title(page: str) -> str:
    """What a page is called: its first heading."""
    text = (HERE.parent / page).read_text(encoding="utf-8")
    return next(line for line in text.splitlines() if line.startswith("# ")).removeprefix("# ").strip()


def body(doc: str, depth: int = 0) -> str:
    """A docstring as Markdown."""
    out = []
    for kind, content in described(doc).parts:
        if kind == "text":
            out.append(plain(" ".join(content)))
        elif kind == "parameters":
            out.append("\n".join(f":param {name}: {plain(words)}" for name, words in content.items()))
        else:
            out.append("\n".join(["```python" if kind == "example" else "```text", *content, "```"]))
    return "\n\n".join(out)


def signature(value: Any) -> str:
    """How it is called; names and defaults, without types."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ""
    shown = [one.replace(annotation=inspect.Parameter.empty) for one in parameters if one.name not in ("self", "cls")]
    return re.sub(r"<[^>]*>", "...", str(inspect.Signature(shown)))


def entry(one: Public) -> str:
    """The page of a public thing."""
    kind = "class" if inspect.isclass(one.value) else "function"
    lines = [
        f"# {one.name}",
        "",
        f"````{{py:{kind}}} {one.module}.{one.name}{'' if one.name in RESULTS else signature(one.value)}",
        "",
        body(inspect.getdoc(one.value) or ""),
        "",
    ]
    if inspect.isclass(one.value) and not _is_for_learners(one.value):
        for name, value in members(one.value):
            is_property = isinstance(value, property)
            role = "property" if is_property else "method"
            call = "" if is_property else signature(value)
            lines += [f":::{{py:{role}}} {name}{call}", body(inspect.getdoc(value) or ""), ":::", ""]
    return "\n".join([*lines, "````", ""])


def command_page(name: str, command: Any) -> str:
    """The page of a command: what it does, its arguments and options."""
    help_text = inspect.cleandoc(command.help or "")
    lines = [f"# volatilis {name}", ""]
    for block in re.split(r"\n\s*\n", help_text):
        text = block.replace("\b", "").strip()
        if re.match(r"(volatilis|sensor|tail|cat|zcat)\b", text):
            lines += ["```text", text, "```", ""]
        elif text:
            lines += [plain(" ".join(text.split())), ""]
    lines += ["| option | what it is | if not given |", "|---|---|---|"]
    for one in command.params:
        if getattr(one, "hidden", False):
            continue
        is_option = one.param_type_name == "option"
        names = (
            ", ".join(f"`{text}`" for text in (*one.opts, *one.secondary_opts)) if is_option else f"`{one.metavar or one.name}`"
        )
        words = plain(" ".join((getattr(one, "help", "") or "").split())).replace("|", "\\|")
        default = one.default if one.default not in (None, (), [], False) and not callable(one.default) else ""
        lines.append(f"| {names} | {words} | {'required' if one.required else f'`{default}`' if default != '' else ''} |")
    return "\n".join([*lines, ""])


def commands() -> dict[str, Any]:
    """All commands by name."""
    import typer

    from volatilis import cli

    app = typer.main.get_command(cli.app)
    return dict(sorted(app.commands.items()))  # type: ignore[attr-defined]


def write(folder: pathlib.Path) -> None:
    """Write the pages, and none that stood there before stays."""
    for name in ("api", "commands"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    listed: dict[str, list[str]] = {module: [] for module in MODULES}
    for one in public():
        (folder / "api" / f"{page_of(one.name)}.md").write_text(entry(one), encoding="utf-8")
        first = described(inspect.getdoc(one.value) or "").text().split("\n\n")[0]
        listed[one.module].append(f"- [`{one.name}`]({page_of(one.name)}.md): {plain(first)}")
    lines = ["# Python", "", "Every public class and function. `import volatilis as vl` has the first list.", ""]
    for module, entries in listed.items():
        lines += [f"## `{module}`", "", *entries, ""]
    tree = ["```{toctree}", ":hidden:", ":glob:", "", "*", "```", ""]
    (folder / "api" / "index.md").write_text("\n".join([*lines, *tree]), encoding="utf-8")
    lines = ["# Commands", "", "What stands after `volatilis`. `volatilis COMMAND --help` says the same.", ""]
    for name, command in commands().items():
        (folder / "commands" / f"{name}.md").write_text(command_page(name, command), encoding="utf-8")
        first = " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())
        lines.append(f"- [`volatilis {name}`]({name}.md): {plain(first)}")
    (folder / "commands" / "index.md").write_text("\n".join([*lines, "", *tree]), encoding="utf-8")


if __name__ == "__main__":
    write(HERE / "reference")
