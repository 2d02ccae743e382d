"""What a command says, and which exit code it has, when something goes wrong."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TextIO

from volatilis._core.files import NO_ROOM
from volatilis._core.terminal import show_warning

WRONG_INPUT, INTERRUPTED, CLOSED_PIPE = 2, 130, 141


@contextlib.contextmanager
def reported(
    command: str, if_stopped: str = "Nothing was written.", warn: Callable[[str], None] = show_warning
) -> Iterator[None]:
    """Errors that a user can mend become one message; anything else is a defect and shows where it happened.

    What Python code warns of is said by `warn`, each text once.
    """
    try:
        with _warnings_in_words(warn):
            yield
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # the terminal may be closed
            print(f"\nStopped. {if_stopped}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        _forget_standard_output()
        raise SystemExit(CLOSED_PIPE) from None
    except (ValueError, OSError, ImportError) as error:
        print(f"volatilis {command}: {_words(error)}", file=sys.stderr)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            _forget_standard_output()
        raise SystemExit(WRONG_INPUT) from None


@contextlib.contextmanager
def _warnings_in_words(warn: Callable[[str], None]) -> Iterator[None]:
    """Which warnings are shown stays as Python's option -W says; how, is decided here: no path, no line of source."""
    shown: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = " ".join(str(message).split())
        if issubclass(category, SyntaxWarning):  # in a file of the user's own
            text = f"{filename}, line {lineno}: {text}"
        if text not in shown:
            shown.add(text)
            warn(text)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def reported_anywhere() -> Iterator[None]:
    """Help and version, too, may have nowhere to go."""
    try:
        yield
    except OSError as error:
        print(f"volatilis: {_words(error)}", file=sys.stderr)
        _forget_standard_output()
        raise SystemExit(WRONG_INPUT) from None


def _forget_standard_output() -> None:
    """The interpreter flushes it once more at its end: that must not complain."""
    if sys.stdout is not None:
        with contextlib.suppress(OSError):  # it may be no file at all
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
