"""What a command says, and which exit code it has, when something goes wrong."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

WRONG_INPUT, INTERRUPTED, CLOSED_PIPE = 2, 130, 141


@contextlib.contextmanager
def reported(command: str, if_stopped: str = "Nothing was written.") -> Iterator[None]:
    """Errors that a user can mend become one message; anything else is a defect and shows where it happened."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"\nStopped. {if_stopped}", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # the interpreter flushes standard output once more at its end: that must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(CLOSED_PIPE) from None
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"volatilis {command}: {_words(error)}", file=sys.stderr)
        raise SystemExit(WRONG_INPUT) from None


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
