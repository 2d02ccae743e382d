"""`volatilis design` from what was asked for to tables, picture and text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple

from volatilis.behaviour.design.outputs import write_power, write_sequence
from volatilis.behaviour.design.power import Power, power
from volatilis.behaviour.design.sequences import Chosen, choose
from volatilis.behaviour.design.setting import Setting, check
from volatilis.behaviour.design.terminal import show
from volatilis.behaviour.predictions.command import check_outputs, save_figure

Watch = Callable[[str, bool], contextlib.AbstractContextManager[Callable[[float], None]]]


class Order(NamedTuple):
    """What to compute, and where it goes. `sequence`: choose one, write it there, and compute the power with it too."""

    setting: Setting
    repeats: int = 200
    workers: int | None = None
    store: str | None = None
    out: str | None = None
    plot: str | None = None
    sequence: str | None = None
    candidates: int = 200
    tries: int = 1000
    quiet: bool = False


def design(order: Order, watch: Watch) -> dict[str, Power]:
    """Everything; `watch(what, quiet)` shows the progress of each part."""
    setting = order.setting
    check(setting)
    check_outputs((order.out, order.sequence), order.plot)
    chosen: Chosen | None = None
    settings = {"random": setting}
    if order.sequence is not None:
        with watch("choosing a sequence", order.quiet) as progress:
            chosen = choose(setting, order.candidates, order.tries, progress)
        settings["chosen"] = setting._replace(sequence=tuple(float(y) for y in chosen.sample.y))
    powers = {}
    for kind, own in settings.items():
        with watch(f"experiments with {kind} sequences", order.quiet) as progress:
            powers[kind] = power(own, order.repeats, order.workers, order.store, progress)
    if chosen is not None and order.sequence is not None:
        write_sequence(order.sequence, chosen)
    if order.out is not None:
        write_power(order.out, powers)
    if order.plot is not None:
        from volatilis.plots.design import draw

        save_figure(draw(powers, chosen), order.plot)
    if not order.quiet:
        from rich.console import Console

        show(powers, chosen, Console(stderr="-" in (order.out, order.sequence), highlight=False))
    return powers
