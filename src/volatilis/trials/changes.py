"""Change points of the groups of a table (`volatilis changes`), and a log's own threshold for alarms (`volatilis calibrate`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.changepoints import Calibration, Changes, calibrate
from volatilis.changepoints.looking_back import check_defined, look_back_over
from volatilis.families._kinds import UndefinedError
from volatilis.learners._base import Learner
from volatilis.running.drivers import RESET
from volatilis.tables import counted
from volatilis.trials.engine import Engine
from volatilis.trials.fit_of_model import FitOfModel
from volatilis.trials.groups import Key, split
from volatilis.trials.run import RunRequest

if TYPE_CHECKING:
    import pandas as pd


class GroupChanges(NamedTuple):
    """What was found in each group of a table, in the order of the file; `rows` numbers its rows from 1.

    misfits    what speaks against the model, in words, as `volatilis run` says it
    """

    by: tuple[str, ...]
    found: dict[Key, Changes]
    rows: dict[Key, np.ndarray]
    misfits: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """One row per change: the group, the row of the file, and what `Changes.to_pandas` says; positions are rows."""
        tables = {key: changes.to_pandas() for key, changes in self.found.items()}
        return self._joined(tables, ("time", "earliest", "low", "high"))

    def segments(self) -> pd.DataFrame:
        """One row per segment."""
        return self._joined({key: changes.segments() for key, changes in self.found.items()}, ("first", "last"))

    def _joined(self, tables: dict[Key, pd.DataFrame], places: tuple[str, ...]) -> pd.DataFrame:
        import pandas as pd

        parts = []
        for key, table in tables.items():
            for name in places:
                table[name] = self.rows[key][table[name].to_numpy(dtype=int)]
            table = table.drop(columns=["position", "start", "stop"], errors="ignore").rename(columns={"time": "row"})
            for name, value in reversed(list(zip(self.by, key, strict=True))):
                table.insert(0, name, value)
            parts.append(table)
        return pd.concat(parts, ignore_index=True)

    def sentence(self) -> str:
        """12 changes in 3 groups; 12.8 expected"""
        count = sum(len(changes.points) for changes in self.found.values())
        expected = sum(changes.expected_number for changes in self.found.values())
        return f"{counted(count, 'change')} found in {counted(len(self.found), 'group')}; the expected number is {expected:.1f}"


def find_changes(request: RunRequest) -> GroupChanges:
    """Look back over every group of a table. Raises TableError, with file, row, column and value, for what cannot be used."""
    engine, sequences, fit = _sequences(request)
    changes, rows = {}, {}
    for key, (learner, parts) in sequences.items():
        values, events, absent, numbers = (np.concatenate([part[k] for part in parts]) for k in range(4))
        try:
            check_defined(learner)
        except UndefinedError as error:
            raise ValueError(str(error)) from None
        changes[key], rows[key] = look_back_over(learner, values, absent, events), numbers
    return GroupChanges(engine.inputs.by, changes, rows, fit.misfits())


def calibrate_log(request: RunRequest, false_alarms: float, within: int | None, seed: int) -> Calibration:
    """A threshold for the one log that a table is, without a restart."""
    if request.missing == "skip":
        raise ValueError("--missing skip is not accepted here: in a log time passes where a number is missing, --missing elapse")
    engine, sequences, _ = _sequences(request._replace(missing="elapse"))
    if len(sequences) != 1:
        by = ",".join(engine.inputs.by)
        raise ValueError(
            f"the table has {len(sequences)} groups (of {by}), and a threshold is for one log: give a table of one, or "
            "--by with no column and --block none, which take it all as one log"
        )
    ((learner, parts),) = sequences.values()
    values = np.concatenate([part[0] for part in parts])
    absent = np.concatenate([part[2] for part in parts])
    if absent.any() and request.missing == "error":
        raise ValueError(f"{counted(int(absent.sum()), 'outcome')} missing; --missing elapse accepts that: time passes")
    starts = np.flatnonzero(np.concatenate([part[1] for part in parts])[1:] >= RESET) + 1
    if len(starts):
        rows = np.concatenate([part[3] for part in parts])[starts]
        raise ValueError(
            f"learners would start anew at {counted(len(rows), 'row')} of the table, the first is row {rows[0]}: a threshold is "
            "for one log that goes on; give a table of one block, or --block none and no --reset to take it as one"
        )
    observed = np.array(learner.family.as_observed(values), dtype=float)
    observed[absent] = np.nan
    try:
        return calibrate(learner, observed, false_alarms=false_alarms, within=within, seed=seed)
    except UndefinedError as error:
        raise ValueError(str(error)) from None


Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _sequences(request: RunRequest) -> tuple[Engine, dict[Key, tuple[Learner, list[Part]]], FitOfModel]:
    """The observations of every group, as its family has them: values, events, which are missing, and rows of the file.

    And whether the model fits them. Trials and parameters in columns are checked as `volatilis run` checks them.
    """
    if len(request.learners) != 1:
        raise ValueError(f"--learner is given {len(request.learners)} times; one is accepted here")
    engine = Engine(request)
    sequences: dict[Key, tuple[Learner, list[Part]]] = {}
    learners: dict[Key, list[Learner]] = {}
    numbers: dict[Key, int] = {}
    fit = FitOfModel(engine.inputs, lambda: learners)
    first = 1
    for batch in engine.table.batches():
        rows = engine.inputs.read(batch, first)
        groups = split(batch, engine.inputs.by, engine.table.path, first)
        places = np.array([numbers.setdefault(group.key, len(numbers)) for group in groups], dtype=np.int64)
        engine.inputs.trials.check(rows, groups, places)
        for group in groups:
            if group.key not in learners:
                learners[group.key] = engine.inputs.learners(rows, group)
            engine.inputs.check_constant(rows, group)
            learner = learners[group.key][0]
            values, events, absent = engine.inputs.steps(rows, group, learner)
            part = (values, events, absent, first + group.positions())
            sequences.setdefault(group.key, (learner, []))[1].append(part)
        fit.see(rows, groups)
        first += batch.num_rows
    return engine, sequences, fit
