"""Runs the blocks of pages: one process has imported everything, and forks for each page and for each command of a shell.

Started as `python -m tests.docs.workshop SOCKET`, it serves; as `python workshop.py SOCKET volatilis ...` it is a command in a
shell that hands its words, its folder and its three files over, and ends as the command ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
import types
from typing import Any

SIZE = 1 << 20
# What a reader has done already: git and pip need a network. head reads to the end, so that no writer is ended by a closed pipe.
HEADING = 'git() { :; }\npip() { :; }\nhead() { command head "$@" && cat > /dev/null; }\nset -e -o pipefail\n'


def ask(place: str, words: list[str]) -> int:
    """The exit code of a command that the server runs with this process's folder, variables and files."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(place)
        request = json.dumps({"words": words, "folder": os.getcwd(), "variables": dict(os.environ)}).encode()
        socket.send_fds(line, [len(request).to_bytes(8, "big")], [0, 1, 2])
        line.sendall(request)
        answer = line.recv(16)
    return int(answer) if answer else 70


def serve(place: str) -> None:
    """Fork for each request, until standard input ends."""
    import select

    warm_up()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen()
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while sys.stdin not in (ready := select.select([door, sys.stdin], [], [])[0]):
            assert ready
            line, _ = door.accept()
            if os.fork() == 0:
                door.close()
                answer(line)
            line.close()


def warm_up() -> None:
    """Import what commands and pages import."""
    import matplotlib.pyplot
    import numba
    import pandas
    import pyarrow.csv
    import rich.progress
    import scipy.optimize
    import scipy.stats
    import typer
    import xarray

    import volatilis.behaviour
    import volatilis.cli
    import volatilis.running
    import volatilis.trials

    assert all((matplotlib, numba, pandas, pyarrow, rich, scipy, typer, xarray, volatilis))
    translate_once()


def translate_once() -> None:
    """One kernel in LLVM's language: every process forked from here knows Numba's tables, and the functions that kernels share.

    About forty of them compile something where the cache is empty.
    """
    import volatilis as vl
    from volatilis._compiler.calls import import_numba, noting_calls
    from volatilis._compiler.instructions import INSTRUCTIONS, OPTIONS
    from volatilis._compiler.translation import register_functions, translate

    with noting_calls() as noted, vl.plain_python():
        vl.run(vl.Merge(vl.Gaussian(1.0), 0.1, 3), [0.0])
    import_numba()
    register_functions(INSTRUCTIONS, OPTIONS)
    for driver, arguments in noted:
        translate(driver, arguments)


def answer(line: socket.socket) -> None:
    """In a process of its own: be the command, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, files, _, _ = socket.recv_fds(line, 8, 3)
    size, request = int.from_bytes(head, "big"), b""
    while len(request) < size:
        request += line.recv(SIZE)
    asked = json.loads(request)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    code = 1
    try:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["variables"])
        code = be(asked["words"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else _said(end.code)
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    line.sendall(str(code).encode())
    os._exit(0)


def _said(words: object) -> int:
    print(words, file=sys.stderr)
    return 1


def be(words: list[str]) -> int:
    """Run one command: volatilis, python, or the blocks of a page."""
    os.cpu_count = lambda: 1  # no pools of processes: two pages run side by side
    sys.stdin, sys.stdout, sys.stderr = (open(i, mode, closefd=False) for i, mode in enumerate("rww"))  # noqa: SIM115
    name, *rest = words
    if name == "volatilis":
        from volatilis.cli import main

        sys.argv = words
        main()
        return 0
    if name == "python":
        return _python(rest)
    return _page(json.load(sys.stdin))


def _python(rest: list[str]) -> int:
    import runpy

    if rest[0] == "-c":
        sys.argv = ["-c", *rest[2:]]
        exec(compile(rest[1], "-c", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = rest
        runpy.run_path(rest[0], run_name="__main__")
    return 0


def _page(parts: list[list[Any]]) -> int:
    """The blocks of a page, one after the other, in one folder and one namespace."""
    main, arrays = types.ModuleType("__main__"), ""
    sys.modules["__main__"] = main  # where annotations of what a page defines are looked up
    for place, language, text in parts:
        print(place, file=sys.stderr, flush=True)
        if language == "sh":
            done = subprocess.run(["bash", "-c", HEADING + arrays + text], stdin=subprocess.DEVNULL, check=False)
            if done.returncode:
                return done.returncode
            arrays += _variables(text)
        else:
            exec(compile(text, place, "exec"), main.__dict__ if language == "python" else {"__name__": "data"})
            sys.stdout.flush()
    return 0


def _variables(text: str) -> str:
    """What a block sets for the blocks below it: NAME=(words) and NAME=words, as a shell would go on knowing them."""
    import re

    return "".join(re.findall(r"^[A-Z]+=(?:\(.*?\)|\S+|\"[^\"]*\")\n", text, flags=re.MULTILINE | re.DOTALL))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
