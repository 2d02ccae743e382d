"""`volatilis learners`, `volatilis families` and `volatilis responses`: what there is, with parameters, defaults and ranges."""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from volatilis.cli.errors import reported

if TYPE_CHECKING:
    from volatilis._core.records import Parameter

HABITS = (
    "Every response model also takes the habits of a person:",
    "lapse: the probability of a response at random; from 0 up to, not including, 1; 0.0 if not given",
    "stay: the probability that the last response is repeated; from 0 up to, not including, 1; 0.0 if not given",
    "span: among how many choices, or on how long a slider, a response at random lies; if not given, as many as there are, or "
    "from low to high",
)


def learners() -> None:
    """List the learners."""
    from volatilis.catalogue import LEARNERS, parameters, sentence

    _show("learners", LEARNERS.built_in, parameters, sentence, _written)


def families() -> None:
    """List the families: what can be observed."""
    from volatilis.catalogue import FAMILIES, parameters, sentence

    _show("families", FAMILIES.built_in, parameters, sentence, _written)


def responses() -> None:
    """List the response models: how a person's responses come from what a learner believes.

    Examples, as --response of fit, compare and recover:

    \b
      gaussian:sd=free
          predictions with noise that is fitted
      laplace:sd=free,per_uncertainty=free
          noise that grows with the belief's uncertainty
      censored:sd=free,low=0,high=300,lapse=0.01
          a slider with ends, and one response in a hundred at random
      softmax:beta=free,stay=free,lapse=0.01
          a choice, with a habit to repeat the last one

    A parameter is a number, free (fitted) or column:NAME (it stands in a column of the table).
    """
    from volatilis._core.records import parameters_of
    from volatilis.behaviour.responses.registry import RESPONSES, response_sentence

    _show("responses", RESPONSES, lambda name: parameters_of(RESPONSES[name]), response_sentence, closing=HABITS)


def _show(
    command: str,
    names: Collection[str],
    parameters: Callable[[str], Sequence[Parameter]],
    sentence: Callable[[str], str],
    written: Callable[[str], Sequence[str]] = lambda name: (),
    closing: Sequence[str] = (),
) -> None:
    """Each name on a line of its own, what it is below it, and its parameters one below the other: whole at any width.

    closing   what holds for all of them, at the end: a line, and what is set in below it
    """
    from volatilis._core.terminal import printed_at_once

    with reported(command), printed_at_once() as console:
        for name in names:
            console.print(f"[bold]{name}[/bold]")
            lines = _wrapped(sentence(name), console.width, "  ", "  ")
            for line in written(name):
                lines += _wrapped(line, console.width, "  ", " " * 6)
            for parameter in parameters(name):
                lines += _wrapped(
                    f"{parameter.name}: {parameter.accepts}{_if_absent(parameter)}", console.width, " " * 4, " " * 8
                )
            console.print("\n".join([*lines, ""]), markup=False, soft_wrap=True)
        for i, line in enumerate(closing):
            indents = ("    ", " " * 8) if i else ("", "")
            console.print("\n".join(_wrapped(line, console.width, *indents)), markup=False, soft_wrap=True)


def _written(name: str) -> list[str]:
    """Its other names, and how to write it where it is made of another one."""
    from volatilis.catalogue import form, other_names

    names, shape = other_names(name), form(name)
    return [*([f"Also called {' or '.join(names)}."] if names else []), *([f"Written {shape}"] if shape else [])]


def _wrapped(text: str, width: int, first: str, others: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others)


def _if_absent(parameter: Parameter) -> str:
    if parameter.from_family:
        return "; the family's if not given"
    default = parameter.default.name if isinstance(parameter.default, enum.Enum) else parameter.default
    return "" if default is None else f"; {default} if not given"
