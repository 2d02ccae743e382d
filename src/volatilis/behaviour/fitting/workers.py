"""Fits on processes of this machine; the numbers are the same on any number of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from volatilis._core.processes import pool_of
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.jobs import Failure, Job, Pool
from volatilis.behaviour.responses import registry
from volatilis.behaviour.responses.registry import RESPONSES
from volatilis.running.arguments import thread_count

FEW = 8  # fits for which a further process is not worth its start


class Workers(Pool):
    """Processes that fit. On any way out, Ctrl-C included, fits that wait never start and those that run end."""

    def __init__(self, workers: int | None, jobs: int, folder: str | os.PathLike[str] | None = None) -> None:
        count = thread_count(workers)
        self._processes = min(count, jobs if workers is not None else -(-jobs // FEW))
        self._pool: ProcessPoolExecutor | None = None
        super().__init__(folder)

    def __enter__(self) -> Workers:
        if self._processes > 1:
            importable = {
                name: cls for name, cls in RESPONSES.items() if not cls.__module__.startswith(("volatilis.", registry.LOADED))
            }
            self._pool = pool_of(self._processes, _prepare, importable, tuple(registry.files))
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self.close()

    def _results(self, jobs: Sequence[Job], left: Sequence[int]) -> Iterator[tuple[int, Fit | Failure]]:
        if self._pool is None:
            yield from ((i, jobs[i].run()) for i in left)
            return
        futures = {self._pool.submit(jobs[i].run): i for i in left}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise ChildProcessError(
                "a process that fits was ended, maybe for want of memory, or could not begin: a script needs "
                'if __name__ == "__main__": around what it does, or workers=1'
            ) from None


def _prepare(responses: Mapping[str, type], files: Sequence[str]) -> None:
    """A user's own response models are known in other processes too."""
    for path in files:
        registry.load_responses(path)
    for name, cls in responses.items():
        registry.register_response(name, cls)
