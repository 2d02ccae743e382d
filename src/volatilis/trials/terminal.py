"""What `volatilis run` shows: progress and what it did, on standard error, since the table may go to standard output."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from volatilis.trials.engine import Summary


@contextlib.contextmanager
def progress_of(what: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """A bar with the time left; nothing where nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("left"))
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=quiet or not console.is_terminal
    ) as bar:
        task = bar.add_task(f"{what} (what is new is compiled first)", total=1.0)
        yield lambda share: bar.update(task, completed=share, description=what)


def show_summary(summary: Summary, *outputs: str) -> None:
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    where = "".join(f" -> {out}" for out in outputs if out != "-")
    groups = "1 group" if summary.groups == 1 else f"{summary.groups:,} groups"
    columns = "1 column" if len(summary.not_finite) == 1 else f"{len(summary.not_finite)} columns"
    console.print(f"{summary.rows:,} rows in {groups}, {columns} computed{where}", soft_wrap=True)
    slow = {name for names in summary.left_out.values() for name in names}
    if slow:
        whose = ", ".join(label for label, names in summary.left_out.items() if names)
        console.print(f"{' and '.join(sorted(slow))} of {whose} take long: --measures all includes them", soft_wrap=True)
    if summary.missing_outcomes:
        outcomes = "1 outcome is" if summary.missing_outcomes == 1 else f"{summary.missing_outcomes:,} outcomes are"
        console.print(f"{outcomes} missing: surprise is missing there", soft_wrap=True)
    for name, count in summary.not_finite.items():
        more = count - summary.missing_outcomes
        if more > 0:
            console.print(f"[yellow]{name}[/yellow] is not a finite number in {more:,} rows with an outcome", soft_wrap=True)
