"""What `volatilis run --events` says at its end, on standard error. What is wrong with a regressor is said even if --quiet."""

from __future__ import annotations

from volatilis._core.terminal import console_of, plain
from volatilis.events.command import Written


def show_written(written: Written, folder: str, quiet: bool) -> None:
    console = console_of(stderr=True)
    if not quiet:
        runs = "1 run" if written.runs == 1 else f"{written.runs:,} runs"
        console.print(f"{len(written.files):,} event files for {runs} -> {folder}", soft_wrap=True)
    for note in written.notes:
        console.print(f"[yellow]note:[/yellow] {plain(note)}", soft_wrap=True)
