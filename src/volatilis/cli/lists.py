"""`volatilis learners`, `volatilis families` and `volatilis responses`: what there is, with parameters, defaults and ranges."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from volatilis.cli.errors import reported

if TYPE_CHECKING:
    from volatilis.catalogue import Parameter


def learners() -> None:
    """List the learners."""
    from volatilis.catalogue import LEARNERS, parameters, sentence

    _show("learners", "learner", LEARNERS, parameters, sentence)


def families() -> None:
    """List the families: what can be observed."""
    from volatilis.catalogue import FAMILIES, parameters, sentence

    _show("families", "family", FAMILIES, parameters, sentence)


def responses() -> None:
    """List the response models: how a person's responses come from what a learner believes.

    Examples, as --response of fit, compare and recover:

      gaussian:sd=free                                predictions with noise that is fitted

      laplace:sd=free,per_uncertainty=free            noise that grows with the belief's uncertainty

      censored:sd=free,low=0,high=300,lapse=0.01      a slider with ends, and one response in a hundred at random

      softmax:beta=free,stay=free,lapse=0.01          a choice, with a habit to repeat the last one

    A parameter is a number, free (fitted) or column:NAME (it stands in a column of the table).
    """
    from volatilis.behaviour.responses.registry import RESPONSES, response_parameters, response_sentence

    _show("responses", "response model", RESPONSES, response_parameters, response_sentence)


def _show(
    command: str,
    kind: str,
    names: Collection[str],
    parameters: Callable[[str], list[Parameter]],
    sentence: Callable[[str], str],
) -> None:
    from volatilis._core.terminal import plain, printed_at_once, table

    rows = []
    for name in names:
        lines = (
            f"[bold]{p.name}[/bold]: {p.accepts}" + ("" if p.default is None else f"; {p.default} if not given")
            for p in parameters(name)
        )
        rows.append((name, "\n".join(lines), plain(sentence(name))))
    # a name is typed as it stands here: it is never broken
    shown = table("lll", (kind, "parameters", "what it does"), rows, lines=True, whole=(kind,))
    with reported(command), printed_at_once() as console:
        console.print(shown)
