"""Many environments x learners x seeds: mean squared errors, computed once, stored as they come, resumed where they stopped.

    plan = Plan("gaussian", cells, seeds=range(10))
    dataset = sweep(plan, folder)          # xarray, dimensions learner, cell, seed (and n)

A *cell* is an environment with a benchmark and the learners to compare. Its observations are generated once per seed, piece by
piece, and shared by the benchmark and all learners, each of which runs in one compiled loop that keeps only sums.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._core import sources
from volatilis._core.files import hidden_folder
from volatilis._core.jobs import threads_or_dask
from volatilis._core.seeds import generator_key
from volatilis._core.store import tell_of_others
from volatilis.environments import ChangingEnvironment
from volatilis.experiments.tuning import Runner, TuningStopped
from volatilis.learners import ExactBayes
from volatilis.learners._base import Learner
from volatilis.running import drivers

if TYPE_CHECKING:
    import xarray as xr

PIECE = 20_000  # steps at a time
FORMAT = 2


class Cell(NamedTuple):
    """One environment, how long it is watched, what the learners are compared with, and the learners by name.

    lasting   of the changes after which errors are counted, take those only that are followed by so many steps without another
    """

    environment: ChangingEnvironment
    steps: int
    benchmark: Learner
    learners: dict[str, Learner]
    lasting: int = 0


class Plan(NamedTuple):
    """What to compute. All cells have learners of the same names.

    seeds   how many sequences: those with the numbers first, first + 1, ...
    after   count errors up to that many steps after a change; the start of a sequence is none
    """

    name: str
    cells: tuple[Cell, ...]
    seeds: int = 10
    after: int = 0
    first: int = 0

    def digest(self) -> str:
        """Two plans share results only if they agree in everything that a result depends on."""
        content = [FORMAT, sources.digest(__name__), sources.user_digest(self.cells), PIECE, self.seeds, self.after, self.first]
        return hashlib.sha256(json.dumps([*content, *(repr(cell) for cell in self.cells)]).encode()).hexdigest()[:16]


class CellResult(NamedTuple):
    """Of one cell and one seed: mean squared error and distance to the benchmark, per learner; sums n steps after a change."""

    error: np.ndarray
    distance: np.ndarray
    after_sum: np.ndarray
    after_squares: np.ndarray
    after_count: np.ndarray


# --- one cell, one seed --------------------------------------------------------------------------------------------------


def compute(cell: Cell, seed: int, after: int = 0, stop: Callable[[], bool] = lambda: False) -> CellResult:
    """The benchmark and all learners on one sequence."""
    size, steps = cell.environment.family.size(), cell.steps
    ys_type = cell.environment.family.observations([])[0]
    room = min(PIECE, steps)
    ys = np.zeros((room, *ys_type.shape[1:]), dtype=ys_type.dtype)
    theta, reference, since = np.zeros((room, size)), np.zeros((room, size)), np.zeros(room, dtype=np.int64)
    different = {repr(learner): learner for learner in cell.learners.values()}  # equal ones under two names run once
    world, *keys = sequence_seeds(cell, seed, [repr(cell.benchmark), *different])
    benchmark = Runner(drivers.estimate_all, cell.benchmark, generator_key(keys[0]))
    benchmark.bind(ys, benchmark.progress, reference)
    runners = {}
    for (name, learner), key in zip(different.items(), keys[1:], strict=True):
        runner = Runner(drivers.accumulate_errors, learner, generator_key(key))
        runner.bind(ys, theta, reference, since, runner.progress, np.zeros(2), np.zeros((2, after)))
        runners[name] = runner
    error, afters, count, done = 0.0, np.zeros((2, after)), np.zeros(after), 0
    ages = ages_after_change(cell, seed, after) if after else None
    for piece in cell.environment.pieces(steps, PIECE, world):
        if stop():
            raise TuningStopped
        n = len(piece.y)
        if ages is not None:
            since[:n] = ages[done : done + n]
        done += n
        ys[:n], theta[:n] = cell.environment.family.observations(piece.y)[0], piece.theta.reshape(n, size)
        benchmark.advance(n)
        errors = ((reference[:n] - theta[:n]) ** 2).sum(axis=1)
        error += errors.sum()
        count += np.bincount(since[:n], minlength=after)[:after]
        afters += [np.bincount(since[:n], weights=errors**power, minlength=after)[:after] for power in (1, 2)]
        for runner in runners.values():
            runner.advance(n)
    results = [runners[repr(learner)].arguments[-2:] for learner in cell.learners.values()]
    sums = np.array([[error, 0.0], *(total for total, _ in results)]) / steps
    all_afters = np.array([afters, *(after_change for _, after_change in results)])
    return CellResult(sums[:, 0], sums[:, 1], all_afters[:, 0], all_afters[:, 1], count)


def sequence_seeds(cell: Cell, seed: int, learners: list[str]) -> list[np.random.SeedSequence]:
    """For the world and each learner, from the environment, the seed and the learner alone: the same in every plan."""
    environment = f"{cell.environment!r} {cell.steps}"
    return [np.random.SeedSequence([seed, *_words_of(environment), *_words_of(who)]) for who in ("world", *learners)]


def _words_of(text: str) -> list[int]:
    return list(np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], dtype=np.uint32).tolist())


def ages_after_change(cell: Cell, seed: int, after: int) -> np.ndarray:
    """Steps since the last change, 0 at the change itself; `after` or more where a step is not counted.

    That is the time before the first change, which follows a start and no other belief, and the time after a change that did not
    last long enough.
    """
    world = sequence_seeds(cell, seed, [])[0]
    changed = np.concatenate([piece.changed for piece in cell.environment.pieces(cell.steps, PIECE, world)])
    changed[0] = False
    changes = np.flatnonzero(changed)
    lengths = np.diff(changes, append=cell.steps)
    ages = np.full(cell.steps, max(after, 1), dtype=np.int64)
    for start, length in zip(changes.tolist(), lengths.tolist(), strict=True):
        if length >= cell.lasting:
            ages[start : start + length] = np.arange(length)
    return ages


# --- the store -----------------------------------------------------------------------------------------------------------


class CellStore:
    """Results in a Zarr group, one chunk per cell and seed; `done` is set after the numbers are there."""

    def __init__(self, plan: Plan, folder: str | os.PathLike[str]) -> None:
        self.plan, self.path = plan, pathlib.Path(folder) / f"{plan.name}-{plan.digest()}.zarr"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            tell_of_others(self._with_other_sources(), self.path.parent)
            self._create()
        with self._readable():
            import zarr

            self._group = zarr.open_group(self.path, mode="r+")

    def _create(self) -> None:
        """Under another name first: a store is there whole, or not at all, whatever happens meanwhile."""
        import zarr

        plan, names = self.plan, learner_names(self.plan)
        shape, chunk = (len(names), len(plan.cells), plan.seeds), (len(names), 1, 1)
        with hidden_folder(self.path.parent, f".{self.path.name}.") as partial:
            group = zarr.open_group(partial, mode="a")
            for name in ("error", "distance"):
                group.create_array(name, shape=shape, chunks=chunk, dtype="f8", fill_value=np.nan)
            if plan.after:
                for name in ("after_sum", "after_squares"):
                    arrays = {"shape": (*shape, plan.after), "chunks": (*chunk, plan.after)}
                    group.create_array(name, dtype="f8", fill_value=np.nan, **arrays)
                counts = {"shape": (*shape[1:], plan.after), "chunks": (1, 1, plan.after)}
                group.create_array("after_count", dtype="f8", fill_value=np.nan, **counts)
            group.attrs["plan"] = [repr(cell) for cell in plan.cells]
            group.create_array("done", shape=shape[1:], chunks=(1, 1), dtype="i1", fill_value=0)
            with contextlib.suppress(OSError):  # another run has made it meanwhile
                partial.rename(self.path)

    def _with_other_sources(self) -> int:
        """How many results of this plan are in the same folder, but were made with other sources."""
        import zarr

        count, plan = 0, [repr(cell) for cell in self.plan.cells]
        for path in self.path.parent.glob(f"{self.plan.name}-*.zarr"):
            with contextlib.suppress(Exception):  # it is not used: whatever is wrong with it does no harm
                group = zarr.open_group(path, mode="r")
                count += int(np.sum(group["done"][:])) if group.attrs["plan"] == plan else 0
        return count

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        """Whatever is wrong with the files of a store, with its name and what to do."""
        try:
            yield
        except (ValueError, RuntimeError, KeyError, TypeError, FileNotFoundError) as error:
            raise ValueError(f"{self.path} is damaged ({error}); delete it: what it holds is computed anew") from None

    def missing(self) -> list[tuple[int, int]]:
        """The (cell, seed) still to compute, the longest first."""
        with self._readable():
            left = [(int(c), int(s)) for c, s in np.argwhere(self._group["done"][:] == 0)]
        return sorted(left, key=lambda job: (-self.plan.cells[job[0]].steps, self.plan.cells[job[0]].environment.p_c, job))

    def write(self, cell: int, seed: int, result: CellResult) -> None:
        for name, values in result._asdict().items():
            if name == "after_count" and self.plan.after:
                self._group[name][cell, seed] = values
            elif name in self._group:
                self._group[name][:, cell, seed] = values
        self._group["done"][cell, seed] = 1

    def dataset(self) -> xr.Dataset:
        """What is there: NaN where nothing is yet."""
        import xarray

        plan = self.plan
        with self._readable():
            data: dict[str, Any] = {name: (("learner", "cell", "seed"), self._group[name][:]) for name in ("error", "distance")}
            if plan.after:
                for name in ("after_sum", "after_squares"):
                    data[name] = (("learner", "cell", "seed", "n"), self._group[name][:])
                data["after_count"] = (("cell", "seed", "n"), self._group["after_count"][:])
            done = self._group["done"][:] == 1
            for name, (dimensions, values) in data.items():
                finished = values[:, done] if dimensions[0] == "learner" else values[done]
                if np.isnan(finished).any():  # numbers that were there are gone
                    raise ValueError(f"numbers of {name} are missing")
        coordinates = {
            "learner": learner_names(plan),
            "seed": plan.first + np.arange(plan.seeds),
            "p_c": ("cell", [cell.environment.p_c for cell in plan.cells]),
            "steps": ("cell", [cell.steps for cell in plan.cells]),
        }
        return xarray.Dataset(data, coordinates, {"name": plan.name, "digest": plan.digest()})


def learner_names(plan: Plan) -> list[str]:
    """The benchmark first."""
    return ["Exact Bayes" if isinstance(plan.cells[0].benchmark, ExactBayes) else "benchmark", *plan.cells[0].learners]


# --- all of them ---------------------------------------------------------------------------------------------------------


def sweep(
    plan: Plan,
    folder: str | os.PathLike[str],
    workers: int | None = None,
    scheduler: str | None = None,
    fresh: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> xr.Dataset:
    """Compute what is missing and return all as an xarray Dataset.

    folder      where results are stored; a second call goes on where the first stopped
    workers     threads; None takes one per core
    scheduler   the address of a Dask scheduler, to compute there instead
    fresh       forget stored results of this plan first
    progress    called with the share of the work done so far
    """
    store = CellStore(plan, folder)
    if fresh:
        shutil.rmtree(store.path)
        store = CellStore(plan, folder)
    jobs = store.missing()
    work = {(c, s): _cost(plan.cells[c]) for c in range(len(plan.cells)) for s in range(plan.seeds)}
    total, left = sum(work.values()), sum(work[job] for job in jobs)
    progress(1.0 - left / total)
    calls = {(c, s): (plan.cells[c], plan.first + s, plan.after) for c, s in jobs}
    with threads_or_dask(workers, scheduler) as queue:
        for job, result in queue.results(compute, calls):
            store.write(*job, result)
            left -= work[job]
            progress(1.0 - left / total)
    progress(1.0)
    return store.dataset()


def _cost(cell: Cell) -> float:
    """About how long a sequence takes: exact inference carries the more hypotheses the rarer changes are."""
    exact = 2e-9 * 6.0 / cell.environment.p_c if isinstance(cell.benchmark, ExactBayes) else 0.0
    return cell.steps * (exact + 2e-7 * len(cell.learners))
