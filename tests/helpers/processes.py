"""`volatilis` as a process of its own: the same whether the tests run at a terminal, in the background or under nohup."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

PROGRAM = "import sys; from volatilis.cli import main; sys.argv[0] = 'volatilis'; main()"
COMMAND = (sys.executable, "-c", PROGRAM)


def default_signals() -> None:
    """For `preexec_fn`: a parent that ignores Ctrl-C, as a background job does, would hand that on."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def started(*words: object, folder: pathlib.Path, ignoring: Sequence[int] = (), program: str = PROGRAM) -> subprocess.Popen[str]:
    """A command of volatilis in a folder and in a session of its own, which ignores some signals from its start."""

    def prepare() -> None:
        default_signals()
        for number in ignoring:
            signal.signal(number, signal.SIG_IGN)

    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)],
        cwd=folder,
        env=os.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )


def finished(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command of volatilis, run to its end; `options` are those of `subprocess.run`."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 250} | options
    return subprocess.run([*COMMAND, *map(str, words)], check=False, **options)


def wait_for(
    condition: Callable[[], Any], process: subprocess.Popen[Any] | None = None, seconds: float = 120.0, what: str = "it"
) -> None:
    """Until it is so; the process, where one is given, must not end before."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, "the process ended too early"
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} seconds"
        time.sleep(0.02)
