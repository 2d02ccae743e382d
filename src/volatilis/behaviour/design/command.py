"""`volatilis design` from what was asked for to tables, picture and text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from volatilis.behaviour.design.outputs import write_power, write_sequence
from volatilis.behaviour.design.power import Power, power
from volatilis.behaviour.design.sequences import Chosen, choose
from volatilis.behaviour.design.setting import Setting, check
from volatilis.behaviour.design.terminal import show
from volatilis.behaviour.fitting.outputs import save_figure
from volatilis.tables import check_outputs

DPI = 110


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


class Planned(NamedTuple):
    """Powers by kind of sequence, and the sequence that was chosen, if one was asked for."""

    powers: dict[str, Power]
    chosen: Chosen | None


def design(order: Order, progress: Callable[[str, float], None] = lambda what, share: None) -> Planned:
    """Everything that is computed; `progress(what, share)` hears of each part."""
    setting = order.setting
    check(setting)
    check_outputs({"--out": order.out, "--sequence": order.sequence}, order.plot)
    chosen: Chosen | None = None
    settings = {"random": setting}
    if order.sequence is not None:
        chosen = choose(setting, order.candidates, order.tries, lambda share: progress("choosing a sequence", share))
        settings["chosen"] = setting._replace(sequence=tuple(float(y) for y in chosen.sample.y))
    powers = {}
    for kind, own in settings.items():
        powers[kind] = power(own, order.repeats, order.workers, order.store, partial(progress, f"experiments, {kind} sequences"))
    return Planned(powers, chosen)


def deliver(order: Order, found: Planned) -> None:
    """Tables, picture, and what is shown."""
    if found.chosen is not None and order.sequence is not None:
        write_sequence(order.sequence, found.chosen)
    if order.out is not None:
        write_power(order.out, found.powers)
    if order.plot is not None:
        from volatilis.plots.design import draw

        save_figure(draw(found.powers, found.chosen), order.plot, DPI)
    if not order.quiet:
        from volatilis._core.terminal import console_of

        show(*found, console_of(stderr="-" in (order.out, order.sequence)))
