"""A Dask scheduler here, and workers as real processes, for tests."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest


def scheduler() -> Any:
    """`with scheduler() as cluster`: without any workers; skips where Dask is not installed."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'volatilis[cluster]'")
    local = {"n_workers": 0, "host": "127.0.0.1", "protocol": "tcp://"}
    return distributed.LocalCluster(**local, dashboard_address=":0", silence_logs=50)  # any port: tests run side by side


@contextlib.contextmanager
def workers(address: str, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes that have answered; killed at the end."""
    import distributed

    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen([*command, "--name", f"{i}"], env=dict(os.environ), **silent) for i in range(count)]
    try:
        with distributed.Client(address) as client:
            client.wait_for_workers(count, timeout=60)
        yield started
    finally:
        for worker in started:
            worker.kill()
            worker.wait()
