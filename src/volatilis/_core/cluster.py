"""Work on a Dask cluster: connect, send calls, take results as they come, and say so while nobody works there."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, TypeVar

ANSWER_WITHIN = 15  # seconds that a scheduler has to answer
LOOK_EVERY = 2.0  # seconds between looks at the workers
SAY_EVERY = 60.0  # seconds between two words about their absence

Job = TypeVar("Job", bound=Hashable)
Say = Callable[[str], None]


def check(address: str) -> None:
    """Whether a Dask scheduler answers, asked before any work."""
    with connected(address):
        pass


def connected(address: str) -> Any:
    """A client of the scheduler, to be closed: `with connected(address) as client`."""
    try:
        from dask import distributed
    except ImportError:
        raise ModuleNotFoundError("--scheduler needs Dask: pip install 'volatilis[cluster]'") from None
    try:
        return distributed.Client(address, timeout=ANSWER_WITHIN)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address!r}: {error}") from None


def results(function: Callable[..., Any], calls: Mapping[Job, tuple[Any, ...]], address: str) -> Iterator[tuple[Job, Any]]:
    """function(*arguments) of every call, there; the results as they come. What waits there is cancelled on any way out.

    A call whose worker dies is made again on another, up to three times. Without workers it waits for some, and says so.
    """
    if not calls:
        return
    with connected(address) as client:
        from dask import distributed

        futures = {client.submit(function, *arguments, pure=False, retries=3): job for job, arguments in calls.items()}
        try:
            with watched(client, address):
                for future in distributed.as_completed(futures):
                    yield futures[future], future.result()
        finally:
            client.cancel(list(futures))


@contextlib.contextmanager
def watched(client: Any, address: str, say: Say = lambda words: print(words, file=sys.stderr, flush=True)) -> Iterator[None]:
    """Meanwhile, whenever the scheduler has no worker, that is said: within a few seconds, and once a minute."""
    over = threading.Event()

    def watch() -> None:
        said: float | None = None
        while not over.wait(LOOK_EVERY):
            if client.scheduler_info().get("workers"):
                if said is not None:
                    say(f"the Dask scheduler at {address} has workers: going on")
                said = None
            elif said is None or time.monotonic() - said >= SAY_EVERY:
                said = time.monotonic()
                start_one = f"start one with: dask worker {address}"
                say(f"the Dask scheduler at {address} has no workers; waiting for one ({start_one}; Ctrl-C stops)")

    thread = threading.Thread(target=watch, daemon=True, name="watching for workers")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
