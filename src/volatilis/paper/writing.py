"""What a run writes into its folder: tables and pictures, each whole or not there, and the ledger of what its parts cost.

Every number behind a figure is in a plain table, one row per point.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis._core.files import NO_ROOM, whole_file, write_text

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

DIGITS = "%.6g"  # of numbers in tables


def output_folder(folder: pathlib.Path) -> pathlib.Path:
    """The folder with its parts, made and tried before anything is computed."""
    try:
        for name in ("store", "data", "figures"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        with whole_file(folder / ".trial") as trial:
            trial.write(bytes(4096))  # an empty file would not tell a full disk
        (folder / ".trial").unlink()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise OSError(f"cannot write to the folder {str(folder)!r}: {why}; choose another with --out") from None
    return folder


@contextlib.contextmanager
def room_in(folder: pathlib.Path) -> Iterator[None]:
    """Where the disk is full, the error names the folder, what is kept, and what to do."""
    try:
        yield
    except OSError as error:
        why = error if error.errno is not None else error.__cause__
        if not isinstance(why, OSError) or why.errno not in NO_ROOM:
            raise
        raise OSError(
            why.errno,
            f"no room left in the folder {str(folder)!r} ({error.strerror or error}). Free some and give the same command again: "
            f"what was computed is kept in {str(folder / 'store')!r}, and it goes on from there",
        ) from None


def save_table(frame: pd.DataFrame, path: pathlib.Path) -> None:
    """A pandas table as CSV."""
    write_text(path, frame.to_csv(index=False, float_format=DIGITS))


def save_picture(canvas: Figure, path: pathlib.Path, dpi: int = 100, metadata: dict[str, None] | None = None) -> None:
    """A matplotlib figure, in the format of the file's ending."""
    with whole_file(path) as file:
        canvas.savefig(file, format=path.suffix[1:], dpi=dpi, metadata=metadata)


def save_dataset(dataset: xr.Dataset, name: str, folder: pathlib.Path) -> None:
    """One table with a row per point, averaged over seeds with standard errors, and one per seed where there are seeds."""
    dataset = dataset.drop_vars("mean_by_seed", errors="ignore").drop_dims("subject", errors="ignore")
    if "seed" in dataset.sizes and "error" in dataset:
        dataset = with_excess(dataset)
    if "seed" in dataset.sizes:
        save_table(table_of(dataset), folder / "data" / csv_name(f"{name} per seed"))
    save_table(table_of(over_seeds(dataset)), folder / "data" / csv_name(name))


def csv_name(name: str) -> str:
    """The file of a dataset."""
    return f"{name.replace(' ', '_')}.csv"


def table_of(dataset: xr.Dataset) -> pd.DataFrame:
    """A pandas table: every variable a column, every coordinate a column; points without a number are left out."""
    variables = [dataset[name] for name in dataset.data_vars]
    frames = [variable.to_dataframe().reset_index() for variable in variables]
    table = frames[0]
    for frame, variable in zip(frames[1:], variables[1:], strict=True):
        if variable.dims == variables[0].dims:
            table[variable.name] = frame[variable.name]
    return table.dropna(subset=[v.name for v in variables if v.dims == variables[0].dims], how="all")


def over_seeds(dataset: xr.Dataset) -> xr.Dataset:
    """Mean and standard error over seeds of every variable that has seeds."""
    import xarray as xr

    data = {}
    for name, variable in dataset.data_vars.items():
        if "seed" in variable.dims:
            count = variable.sizes["seed"]
            spread = variable.std("seed", ddof=1) if count > 1 else variable.mean("seed") * np.nan
            data[name] = variable.mean("seed")
            data[f"{name}_se"] = spread / np.sqrt(count)
        else:
            data[name] = variable
    return xr.Dataset(data, attrs=dataset.attrs)


def with_excess(dataset: xr.Dataset) -> xr.Dataset:
    """A grid with `excess`, the error above that of Exact Bayes on the same observations."""
    return dataset.assign(excess=dataset.error - dataset.error.sel(learner="Exact Bayes", drop=True))


# --- what it cost: time, processor time and memory, summed over all runs that went on in one folder ----------------------

EVERY = 5.0  # seconds between writes: no more than this is lost when a run is killed


class Cost(NamedTuple):
    """Seconds on the clock, and seconds of all processor cores together in this process."""

    seconds: float = 0.0
    processor_seconds: float = 0.0

    def plus(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.processor_seconds + other.processor_seconds)


class CostLedger:
    """`with ledger.part(name)` charges what happens inside to a name; a part within a part is charged to the inner one only."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self.costs, self.memory = self._read()
        self._parts: list[str] = []
        self._charged_until = self._written = Cost()

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        self.charge()
        self._parts.append(name)
        try:
            yield
        finally:
            self.charge()
            self._parts.pop()
            self._write()

    def charge(self) -> None:
        """What was spent since the last charge goes to the part that is open."""
        now = Cost(time.perf_counter(), time.process_time())
        if self._parts:
            spent = Cost(*(new - old for new, old in zip(now, self._charged_until, strict=True)))
            self.costs[self._parts[-1]] = self.costs.get(self._parts[-1], Cost()).plus(spent)
            self.memory = max(self.memory, most_memory())
            if now.seconds - self._written.seconds > EVERY:
                self._write()
                self._written = now
        self._charged_until = now

    def total(self) -> Cost:
        total = Cost()
        for cost in self.costs.values():
            total = total.plus(cost)
        return total

    def _read(self) -> tuple[dict[str, Cost], float]:
        try:
            content = json.loads(self._path.read_text())
            costs = {str(name): Cost(float(cost[0]), float(cost[1])) for name, cost in content["costs"].items()}
            return costs, float(content["memory"])
        except FileNotFoundError:
            return {}, 0.0
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            print(f"{self._path} is damaged: times are counted anew, those of earlier runs are lost", file=sys.stderr)
            return {}, 0.0

    def _write(self) -> None:
        write_text(self._path, json.dumps({"costs": self.costs, "memory": self.memory}, indent=1))


def most_memory() -> float:
    """The largest resident memory of this program so far, in bytes."""
    status = pathlib.Path("/proc/self/status")
    if status.is_file():  # Linux, where the other number begins with what the maker of the process had
        return 1024.0 * next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)


def save_run(facts: Mapping[str, str], ledger: CostLedger, folder: pathlib.Path) -> None:
    """The facts of the run, and what its parts cost: seconds on the clock, of all cores, and the most memory."""
    import pandas as pd

    save_table(pd.DataFrame(list(facts.items()), columns=["fact", "value"]), folder / "data" / "run.csv")
    rows = [(part, f"{cost.seconds:.1f}", f"{cost.processor_seconds:.1f}", "") for part, cost in ledger.costs.items()]
    total = ledger.total()
    rows.append(("all", f"{total.seconds:.1f}", f"{total.processor_seconds:.1f}", f"{ledger.memory / 2**20:.0f}"))
    columns = ["part", "seconds", "processor_seconds", "peak_memory_mib"]
    save_table(pd.DataFrame(rows, columns=columns), folder / "data" / "costs.csv")
