"""What `volatilis run` shows: what it did, on standard error, since the table may go to standard output."""

from __future__ import annotations

from volatilis._core.terminal import console_of
from volatilis.trials.engine import Summary


def show_summary(summary: Summary, *outputs: str) -> None:
    console = console_of(stderr=True)
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
