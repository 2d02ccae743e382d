"""`volatilis learners`, `volatilis families` and `volatilis responses`: what there is, with parameters, defaults and ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from volatilis.catalogue import Parameter


def learners() -> None:
    """List the learners."""
    from volatilis.catalogue import LEARNERS, parameters, sentence

    _show("learner", LEARNERS, parameters, sentence)


def families() -> None:
    """List the families: what can be observed."""
    from volatilis.catalogue import FAMILIES, parameters, sentence

    _show("family", FAMILIES, parameters, sentence)


def responses() -> None:
    """List the response models: how a person's responses come from what a learner believes."""
    from volatilis.behaviour.models import RESPONSES, response_parameters, response_sentence

    _show("response model", RESPONSES, response_parameters, response_sentence)


def _show(kind: str, names: Iterable[str], parameters: Callable[[str], list[Parameter]], sentence: Callable[[str], str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(kind, "parameters", "what it does", box=box.SIMPLE_HEAD, show_lines=True)
    for name in names:
        lines = (
            f"[bold]{p.name}[/bold]: {p.accepts}" + ("" if p.default is None else f"; {p.default} if not given")
            for p in parameters(name)
        )
        table.add_row(name, "\n".join(lines), sentence(name).replace("[", "\\["))
    Console().print(table)
