"""How a command shows its options: groups of them as one argument; help that reads whole at 80 columns, as plain text."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, get_type_hints

from typer.core import TyperCommand

WIDTH = 68  # of a line of an example, before it is set in
KINDS = {" <bool>": "", " BOOLEAN": ""}  # of a flag, which takes no value
KINDS |= {"<str>": "TEXT", "<int range>": "NUMBER", "<float range>": "NUMBER", "<int>": "NUMBER", "<float>": "NUMBER"}
KINDS |= {
    "<list[str]>": "TEXT",
    "<path>": "PATH",
    "INTEGER RANGE": "NUMBER",
    "FLOAT RANGE": "NUMBER",
    "INTEGER": "NUMBER",
    "FLOAT": "NUMBER",
}
ARGUMENTS, OPTIONS = "Arguments", "Options"


class Command(TyperCommand):
    """A command with the help of this module."""

    def get_short_help_str(self, limit: int = 45) -> str:
        """The line in the list of commands: the whole first paragraph of its help, which Click would cut."""
        return " ".join((self.help or "").partition("\n\n")[0].split())

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """An argument that is needed stands there as it is; newer releases of Typer put it in braces."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, the options, and then those that have a heading of their own, in the order in which they come."""
        groups: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = getattr(parameter, "rich_help_panel", None)
                is_argument = parameter.param_type_name == "argument"
                name = parameter.metavar if is_argument and parameter.metavar else _named(record[0])
                groups.setdefault(heading or (ARGUMENTS if is_argument else OPTIONS), []).append((name, record[1]))
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _named(usage: str) -> str:
    """Types in the words that older releases of Typer had."""
    for kind, word in KINDS.items():
        usage = usage.replace(kind, word)
    return usage


def with_examples(words: str | None, examples: str) -> str:
    """A docstring with examples after it. Paragraphs that are set in are commands: broken as in a shell, not filled as text."""
    paragraphs = examples.strip("\n").split("\n\n")
    return "\n\n".join([words or "", *(_command(text) if text.startswith("  ") else text for text in paragraphs)])


def _command(text: str) -> str:
    together = re.sub(r"(--[\w-]+) (?!-)", "\\1\0", " ".join(text.split()))  # an option and its value
    lines = textwrap.wrap(together, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\b\n  " + " \\\n      ".join(lines).replace("\0", " ")  # \b: these lines are not filled again


# --- groups of options -------------------------------------------------------------------------------------------------------


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The fields of a parameter whose type is a NamedTuple become options of the command, in the place of the parameter."""
    parameters: dict[str, inspect.Parameter] = {}
    groups: dict[str, type] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        group = parameter.annotation
        if not _is_group(group):
            parameters[name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        groups[name] = group
        for field, hint in get_type_hints(group, include_extras=True).items():
            default = group._field_defaults[field]
            parameters[field] = inspect.Parameter(field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)

    @functools.wraps(command)
    def taking_options(**given: object) -> None:
        made = {name: group(**{field: given.pop(field) for field in group._fields}) for name, group in groups.items()}  # type: ignore[attr-defined]
        command(**given, **made)

    # functools.wraps points back at the command, whose parameters are not those of the options
    del taking_options.__wrapped__
    taking_options.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    taking_options.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return taking_options


def _is_group(annotation: object) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, tuple)
