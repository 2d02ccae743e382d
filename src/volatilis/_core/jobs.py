"""One queue of jobs for threads, processes and Dask clusters: results come as they are done, and are the same everywhere.

    with Processes(4) as queue:
        for key, result in queue.results(function, {key: arguments, ...}):
            ...

On any way out, Ctrl-C and SIGTERM included, jobs that wait never start.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import operator
import os
import signal
import sys
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

from volatilis._core.store import Store

if TYPE_CHECKING:
    from distributed import Client

ANSWER_WITHIN = 15  # seconds that a scheduler has to answer
LOOK_EVERY = 2.0  # seconds between looks at the workers
WARN_EVERY = 60.0  # seconds between two warnings that there are none
RETRIES = 3  # of a job whose worker died

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
Arguments = tuple[object, ...]
Warn = Callable[[str], None]
Warned = tuple[str, type[Warning], str, int]  # text, category, file and line


def worker_count(workers: int | None) -> int:
    """How many threads or processes: one per core for None; ValueError for anything but a whole number, 1 or more."""
    if workers is None:
        return os.cpu_count() or 1
    try:
        count = 0 if isinstance(workers, bool) else operator.index(workers)
    except TypeError:
        count = 0
    if count < 1:
        raise ValueError(f"workers = {workers!r} is not accepted; it must be a whole number, 1 or more, or None")
    return count


class Queue(ABC):
    """What runs jobs; to be closed, or used as `with Threads() as queue`."""

    @abstractmethod
    def results(self, function: Callable[..., Result], calls: Mapping[Key, Arguments]) -> Iterator[tuple[Key, Result]]:
        """function(*arguments) of every call, with the call's key, each as soon as it is done."""

    @abstractmethod
    def close(self) -> None:
        """Let go of threads, processes or connections."""

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Threads(Queue):
    """Threads of this process, one per core if not given: for functions that release the GIL.

    The function also gets `stop`, a function that is true as soon as nobody wants the result any more.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)

    def results(self, function: Callable[..., Result], calls: Mapping[Key, Arguments]) -> Iterator[tuple[Key, Result]]:
        stop, pool = threading.Event(), ThreadPoolExecutor(self._workers)
        # a copy of the context for each: context variables (`plain_python`) hold in the threads too
        futures = {
            pool.submit(copy_context().run, function, *arguments, stop=stop.is_set): key for key, arguments in calls.items()
        }
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        pass  # each call of `results` ends its own threads


class Processes(Queue):
    """Processes of this machine; with one, the jobs run here. They leave Ctrl-C to their parent and end when it is gone."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._pool: ProcessPoolExecutor | None = None
        self._warned: dict[str | tuple[str, type[Warning], int], int] = {}  # as Python does: each once

    def results(self, function: Callable[..., Result], calls: Mapping[Key, Arguments]) -> Iterator[tuple[Key, Result]]:
        if self._workers == 1:
            yield from ((key, function(*arguments)) for key, arguments in calls.items())
            return
        with _hang_up_blocked():
            if self._pool is None:  # fresh interpreters: a process that is copied while threads run may hang
                self._pool = ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"), initializer=_begin)
            futures = {self._pool.submit(_with_warnings, function, arguments): key for key, arguments in calls.items()}
        try:
            for future in as_completed(futures):
                result, warned = future.result()
                for warning in warned:  # here, where whoever called may catch them
                    warnings.warn_explicit(*warning, registry=self._warned)
                yield futures[future], result
        except BrokenProcessPool:
            raise ChildProcessError(
                "a worker process ended unexpectedly: it may have run out of memory, or it could not start; a script needs "
                'if __name__ == "__main__": around what it does, or workers=1'
            ) from None
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


def _with_warnings(function: Callable[..., Result], arguments: Arguments) -> tuple[Result, list[Warned]]:
    """In another process: the result, and what was warned of on the way."""
    with warnings.catch_warnings(record=True) as caught:
        result = function(*arguments)
    return result, [(str(one.message), one.category, one.filename, one.lineno) for one in caught]


@contextlib.contextmanager
def _hang_up_blocked() -> Iterator[None]:
    """Processes that begin here, those of multiprocessing's own among them, are not ended by a terminal that is closed."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """In a new process: Ctrl-C goes to all processes of a terminal, but the parent decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed closes nothing: its processes would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Dask(Queue):
    """A Dask cluster. A job whose worker dies is run again on another, up to three times.

    It connects when there is something to do. While no workers are connected it waits for some and warns.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Client | None = None

    def results(self, function: Callable[..., Result], calls: Mapping[Key, Arguments]) -> Iterator[tuple[Key, Result]]:
        if not calls:
            return
        if self._client is None:
            self._client = _connected(self._address)
        from dask import distributed

        client = self._client
        futures = {client.submit(function, *arguments, pure=False, retries=RETRIES): key for key, arguments in calls.items()}
        try:
            with _watched(client, self._address):
                for future in distributed.as_completed(futures):
                    yield futures[future], future.result()
        finally:
            client.cancel(list(futures))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()


def check_scheduler(address: str) -> None:
    """ConnectionError where no Dask scheduler answers; for before any work."""
    _connected(address).close()


def _connected(address: str) -> Client:
    try:
        from dask import distributed
    except ImportError:
        raise ModuleNotFoundError("--scheduler needs Dask: pip install 'volatilis[cluster]'") from None
    try:
        return distributed.Client(address, timeout=ANSWER_WITHIN)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {address!r}: {error}") from None


@contextlib.contextmanager
def _watched(client: Client, address: str, warn: Warn = lambda text: print(text, file=sys.stderr, flush=True)) -> Iterator[None]:
    """Meanwhile, warn while no workers are connected: within a few seconds, and then once a minute."""
    over = threading.Event()

    def watch() -> None:
        warned: float | None = None
        while not over.wait(LOOK_EVERY):
            if client.scheduler_info().get("workers"):
                if warned is not None:
                    warn(f"the Dask scheduler at {address} has workers now; continuing")
                warned = None
            elif warned is None or time.monotonic() - warned >= WARN_EVERY:
                warned = time.monotonic()
                start_one = f"start one with: dask worker {address}"
                warn(f"the Dask scheduler at {address} has no workers; waiting for one ({start_one}; Ctrl-C stops)")

    thread = threading.Thread(target=watch, daemon=True, name="watching for workers")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def threads_or_dask(workers: int | None, scheduler: str | None) -> Queue:
    """Threads here, or the Dask cluster of a scheduler where its address is given."""
    return Threads(workers) if scheduler is None else Dask(scheduler)


def run_kept(
    queue: Queue,
    function: Callable[..., Result],
    calls: Mapping[str, Arguments],
    store: Store[Result] | None = None,
    progress: Callable[[float], None] = lambda share: None,
    keep: Callable[[Result], bool] = lambda result: True,
) -> dict[str, Result]:
    """Every result by its key: those in the store are taken from it, the others computed, and added where `keep` says so."""
    results: dict[str, Result] = {}
    if store is not None:
        results = {key: result for key in calls if (result := store.get(key)) is not None}
    left = {key: arguments for key, arguments in calls.items() if key not in results}
    if store is not None:
        store.warn_of_others(left)
    progress(1.0 - len(left) / max(len(calls), 1))
    for key, result in queue.results(function, left):
        results[key] = result
        if store is not None and keep(result):
            store.add(key, result)
        progress(len(results) / len(calls))
    return results
