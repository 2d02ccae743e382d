"""What a command says, and which exit code it has, when something goes wrong."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from volatilis._core.files import NO_ROOM

WRONG_INPUT, INTERRUPTED, CLOSED_PIPE = 2, 130, 141


@contextlib.contextmanager
def reported(command: str, if_stopped: str = "Nothing was written.") -> Iterator[None]:
    """Errors that a user can mend become one message; anything else is a defect and shows where it happened."""
    try:
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
