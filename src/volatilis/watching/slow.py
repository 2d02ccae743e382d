"""A word about what takes longer than a moment."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

MOMENT = 1.0  # seconds


@contextlib.contextmanager
def told_if_slow(tell: Callable[[str], None] | None, message: str, seconds: float = MOMENT) -> Iterator[None]:
    """Tells the message if what is done inside takes longer than that."""
    if tell is None:
        yield
        return
    timer = threading.Timer(seconds, tell, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
