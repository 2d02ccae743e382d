"""Processes of tests that get signals: the same whether the tests run at a terminal, in the background or under nohup."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

PROGRAM = "import sys; from volatilis.cli import main; sys.argv[0] = 'volatilis'; main()"


def default_signals() -> None:
    """For `preexec_fn`: a parent that ignores Ctrl-C, as a background job does, would hand that on."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(*words: str, folder: pathlib.Path, ignoring: Sequence[int] = ()) -> subprocess.Popen[str]:
    """A command of volatilis in a folder and in a session of its own, which ignores some signals from its start."""

    def prepare() -> None:
        default_signals()
        for number in ignoring:
            signal.signal(number, signal.SIG_IGN)

    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=folder,
        env=os.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120.0) -> None:
    """Until it is so, while the process runs."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.02)
