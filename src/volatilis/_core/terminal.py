"""A command and its terminal: one console, one style of table, one kind of progress; and signals, which end a command cleanly.

console = console_of()                       # standard output; console_of(stderr=True) where a table goes to standard output
console.print(table("lr", ("model", "BIC"), rows))

Progress goes to standard error: a bar for each piece of work, with the time left; plain lines where there is no terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from volatilis._core.files import remove_unfinished, standard_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table


PLAIN_WIDTH = 118  # columns in a file or a pipe


def console_of(stderr: bool = False) -> Console:
    """A console as wide as the terminal; in a file or a pipe as wide as $COLUMNS says, or 118 columns."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, emoji=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(stderr=stderr, highlight=False, emoji=False, width=PLAIN_WIDTH)


@contextlib.contextmanager
def printed_at_once() -> Iterator[Console]:
    """A console whose text goes to standard output at the end of the context.

    Rich itself would end the program where the reader of a pipe has gone away; here that is an ordinary BrokenPipeError.
    """
    console = console_of()
    with console.capture() as captured:
        yield console
    with standard_output() as stream:
        stream.write(captured.get().encode(sys.stdout.encoding, "replace"))


def table(
    alignment: str,
    headings: Iterable[str],
    rows: Iterable[Sequence[str]] = (),
    *,
    title: str = "",
    lines: bool = False,
    whole: Sequence[str] = (),
) -> Table:
    """A table for the terminal; cells may hold Rich's markup, and `plain` protects texts of users from it.

    alignment   a letter for each column: l for texts, r for numbers
    title       printed in bold above it
    lines       a line between rows, for cells of several lines
    whole       the headings of columns whose cells are never broken, such as names that a user types
    """
    from rich import box
    from rich.table import Table

    result = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_lines=lines)
    for side, heading in zip(alignment, headings, strict=True):
        result.add_column(heading, justify="left" if side == "l" else "right", overflow="fold", no_wrap=heading in whole)
    for row in rows:
        result.add_row(*row)
    return result


def plain(text: str) -> str:
    """The text itself, where Rich would read square brackets as markup."""
    return text.replace("[", "\\[")


def show_warning(text: str) -> None:
    """What speaks against a result, on standard error: also where no summary is wanted."""
    if sys.stderr is not None:
        console_of(stderr=True).print(f"[yellow]warning[/yellow]: {plain(text)}", soft_wrap=True)


# --- progress, on standard error ---------------------------------------------------------------------------------------

SOON = 2.0  # seconds after which people want to know how far it is
EVERY = 20.0  # seconds between plain lines
COMPILING = " (compiling first)"

UpdateOne = Callable[[float], None]  # the share of the one piece of work that is done


class Bars:
    """Bars for several pieces of work: `update(what, share)` moves the bar of one, and makes it when it is new.

    quiet       shows nothing
    transient   the bars disappear at the end
    patience    seconds before the first plain line: what is done by then needs none
    """

    def __init__(self, quiet: bool = False, transient: bool = False, patience: float = SOON) -> None:
        self._quiet, self._transient, self._patience = quiet, transient, patience
        self._progress: Progress | None = None  # on a terminal only
        self._tasks: dict[str, TaskID] = {}
        self._printed: dict[str, float] = {}  # when each piece of work last had a plain line
        self._finished: set[str] = set()
        self._begun = time.monotonic()

    def __enter__(self) -> Bars:
        if not self._quiet and sys.stderr is not None and sys.stderr.isatty():
            self._progress = _rich_progress(self._transient)
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """Draw no more; further updates are harmless."""
        if self._progress is not None:
            self._progress.stop()

    def update(self, what: str, share: float, note: str = "") -> None:
        """Move the bar of `what` to a share between 0 and 1; the note stands behind its name until the next update."""
        share = min(max(share, 0.0), 1.0)
        if self._progress is not None:
            if what not in self._tasks:
                self._tasks[what] = self._progress.add_task(what, total=1.0)
            self._progress.update(self._tasks[what], completed=share, description=what + note)
        elif not self._quiet:
            self._print_line(what, share)

    def _print_line(self, what: str, share: float) -> None:
        now = time.monotonic()
        waited = now - self._printed.get(what, -EVERY) >= EVERY
        if now - self._begun > self._patience and what not in self._finished and (share == 1.0 or waited):
            self._printed[what] = now
            print(f"{what}: {100.0 * share:.1f} %", file=sys.stderr, flush=True)
        if share == 1.0:
            self._finished.add(what)


@contextlib.contextmanager
def one_bar(what: str, quiet: bool = False) -> Iterator[UpdateOne]:
    """The bar of one piece of work, which disappears when it is done; it says so while kernels are compiled first."""
    with Bars(quiet, transient=True, patience=EVERY) as bars:
        bars.update(what, 0.0, note=COMPILING)
        yield lambda share: bars.update(what, share)


def part_of(progress: UpdateOne, number: int, parts: int) -> UpdateOne:
    """The progress of one of several equal parts."""
    return lambda share: progress((number + share) / parts)


def _rich_progress(transient: bool) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:32}"), BarColumn(), TextColumn("{task.percentage:5.1f} %"))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    return Progress(*columns, *times, console=Console(stderr=True, emoji=False), transient=transient, speed_estimate_period=600)


# What ends a command besides Ctrl-C; Windows has no SIGHUP
STOPPING = (signal.SIGTERM,) if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
CLEAN_UP = 10.0  # seconds in which a further signal does not disturb the cleaning up

AGAIN = 0.05  # seconds until a signal whose error was lost comes again


def _let_go(error: BaseException | None) -> None:
    """Close what the frames of an error still hold: a table half read has a thread, which must end before the interpreter."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


class Stopped(KeyboardInterrupt):
    """A signal came. It passes through code as Ctrl-C does: whatever cleans up after Ctrl-C cleans up after it, too."""


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Within this context SIGTERM and SIGHUP raise `Stopped`, and the program's exit code is 128 + the signal's number.

    A signal that was ignored before stays ignored: a command that was started with nohup goes on without its terminal. One that
    came while Python was cleaning up an object, where errors are ignored, is sent again.
    """
    caught: list[int] = []
    last = -CLEAN_UP

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if time.monotonic() - last >= CLEAN_UP:
            last = time.monotonic()
            caught.append(number)
            raise Stopped

    def send_again(lost: sys.UnraisableHookArgs) -> None:
        nonlocal last
        if not isinstance(lost.exc_value, KeyboardInterrupt) or sys.platform == "win32":
            show_lost(lost)
            return
        last = -CLEAN_UP
        number = caught.pop() if isinstance(lost.exc_value, Stopped) else signal.SIGINT
        threading.Timer(AGAIN, os.kill, (os.getpid(), number)).start()

    before = {number: signal.getsignal(number) for number in STOPPING}
    show_lost, sys.unraisablehook = sys.unraisablehook, send_again
    for number in STOPPING:
        if before[number] is signal.SIG_DFL:
            signal.signal(number, stop)
    try:
        yield
    except BaseException as error:
        _let_go(error)
        remove_unfinished()  # where a signal or Ctrl-C came just before a file was taken care of
        if caught:  # also where a closed terminal made a second error of it
            raise SystemExit(128 + caught[0]) from None
        raise
    finally:
        sys.unraisablehook = show_lost
        for number in STOPPING:  # a further signal does not disturb the interpreter's own end either
            signal.signal(number, signal.SIG_IGN if caught else before[number])
