"""What learners are given: outcomes, blocks, gaps and parameters, read from the rows of a table and checked."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from volatilis.catalogue import make_family, make_learner, number
from volatilis.families._base import Family
from volatilis.learners._base import Learner
from volatilis.running.arguments import step_events
from volatilis.tables import TableError, codes_of, counted, marks, numbers, texts
from volatilis.trials.groups import Blocks, GroupRows, Key, Rows, TrialOrder, shown

if TYPE_CHECKING:
    import pyarrow as pa

    from volatilis.trials.run import RunRequest


class Roles(NamedTuple):
    """Which of a file's columns are what."""

    outcome: tuple[str, ...]
    by: tuple[str, ...]
    trial: str | None
    reset: str | None
    parameters: tuple[str, ...]
    blocks: tuple[str, ...] = ()  # where one of them changes a block begins; of `by`, or besides
    given: tuple[str, ...] = ()
    people: str | None = None  # a column that looks like people, whom nothing separates


class Inputs:
    """Reads and checks the rows of batches."""

    def __init__(self, path: str, roles: Roles, request: RunRequest) -> None:
        self._path, self._roles, self._request = path, roles, request
        self._constants: dict[Key, dict[str, tuple[str, int]]] = {}
        self._people: set[str | None] = set()
        self._made: dict[tuple[float, ...], list[Learner]] = {}
        self.trials = TrialOrder(path, roles.trial, roles.by)
        others = tuple(name for name in roles.by if name not in roles.blocks)
        self.blocks = Blocks(path, others, roles.blocks) if roles.blocks else None

    @property
    def by(self) -> tuple[str, ...]:
        return self._roles.by

    @property
    def outcome(self) -> tuple[str, ...]:
        return self._roles.outcome

    @property
    def starts(self) -> tuple[str, ...]:
        """The columns that say where learners start anew: by a mark, or by a label that changes."""
        return (*((self._roles.reset,) if self._roles.reset else ()), *self._roles.blocks)

    def read(self, batch: pa.RecordBatch, first: int) -> Rows:
        """What learners need of a batch."""
        roles, path = self._roles, self._path
        self._check_people(batch)
        trials = None if roles.trial is None else numbers(batch.column(roles.trial), path, first, roles.trial)
        resets = None
        if roles.reset is not None:
            resets = marks(batch.column(roles.reset), path, first, roles.reset)
        if self.blocks is not None:
            begins = self.blocks.begins(batch, first)
            resets = begins if resets is None else resets | begins
        parameters = {name: np.array(texts(batch.column(name)), dtype=object) for name in roles.parameters}
        given = self._contexts(batch, first) if roles.given else None
        return Rows(first, self.values(batch, roles.outcome, first), trials, resets, parameters, given)

    def _check_people(self, batch: pa.RecordBatch) -> None:
        name = self._roles.people
        if name is not None:
            import pyarrow.compute as pc

            self._people |= set(texts(pc.unique(batch.column(name))))
            if len(self._people) > 1:
                self._roles = self._roles._replace(people=None)  # said once
                warnings.warn(
                    f"{self._path}: the column {name!r} looks like people, and nothing separates them: a learner goes on from "
                    f"one to the next; --subject {name} separates them",
                    stacklevel=2,
                )

    def _contexts(self, batch: pa.RecordBatch, first: int) -> np.ndarray:
        """The first column says which context it is, by number or by name; others are regressors."""
        names, declared = self._roles.given, self._request.contexts
        try:
            columns = [numbers(batch.column(name), self._path, first, name) for name in names[1 if declared else 0 :]]
        except TableError as error:
            raise TableError(f"{error}; name the contexts with --contexts where they are texts") from None
        if declared:
            columns.insert(0, self._codes(batch.column(names[0]), names[0], first, declared, "contexts"))
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def values(self, batch: pa.RecordBatch, names: Sequence[str], first: int) -> np.ndarray:
        """Columns of outcomes, or of what people predict: one number per row, or a row of numbers."""
        read = self._categories if self._request.categories else self._numbers
        columns = [read(batch.column(name), name, first) for name in names]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def _numbers(self, values: pa.Array, column: str, first: int) -> np.ndarray:
        try:
            return numbers(values, self._path, first, column)
        except TableError as error:
            if self._request.family.chain()[-1].name in ("bernoulli", "categorical", "transitions"):
                raise TableError(f"{error}; name the categories with --categories where they are texts") from None
            raise

    def _categories(self, values: pa.Array, column: str, first: int) -> np.ndarray:
        return self._codes(values, column, first, self._request.categories, "categories")

    def _codes(self, values: pa.Array, column: str, first: int, names: tuple[str, ...], what: str) -> np.ndarray:
        numbers = codes_of(texts(values), names)
        if (numbers < 0.0).any():
            i = int(np.argmax(numbers < 0.0))
            declared, value = ", ".join(map(repr, names)), texts(values)[i]
            raise TableError(f"{self._path}: row {first + i}, column {column!r}: {value!r} is not one of the {what}: {declared}")
        return numbers

    # --- observations ----------------------------------------------------------------------------------------------------

    def steps(self, rows: Rows, group: GroupRows, learner: Learner) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A group's observations as its family has them, what happens at each step, and which are missing."""
        outcomes, family = rows.outcomes[group.rows], learner.family
        given = rows.given[group.rows] if rows.given is not None and family.context_width() else None
        try:
            values, absent = family.observations(outcomes, given)
        except (ValueError, TypeError):

            def observe(part: slice) -> object:
                return family.observations(outcomes[part], None if given is None else given[part])

            raise self._refused(rows, group, len(outcomes), observe) from None
        try:
            learner.check_observations(values)
        except (ValueError, TypeError):
            raise self._refused(rows, group, len(values), lambda part: learner.check_observations(values[part])) from None
        if absent.any() and self._request.missing == "error":
            raise TableError(
                f"{self._where(rows, group, int(np.argmax(absent)))}: the outcome is missing; "
                "--missing elapse (time passes) or --missing skip accepts that"
            )
        reset = None if rows.resets is None else rows.resets[group.rows]
        return values, step_events(absent, reset, self._request.missing), absent

    def _refused(self, rows: Rows, group: GroupRows, count: int, accept: Callable[[slice], object]) -> TableError:
        """Names the first outcome that is not accepted, located by halving."""

        def refusal(low: int, high: int) -> str | None:
            try:
                accept(slice(low, high))
            except (ValueError, TypeError) as error:
                return str(error)
            return None

        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if refusal(low, middle) is not None else (middle, high)
        reason = re.sub(r"observation 0 ", "the outcome ", refusal(low, high) or "it is not accepted")
        return TableError(f"{self._where(rows, group, low)}: {reason}")

    def _where(self, rows: Rows, group: GroupRows, i: int) -> str:
        return f"{self._path}: row {rows.number_of(group, i)}, column {', '.join(map(repr, self._roles.outcome))}"

    # --- learners --------------------------------------------------------------------------------------------------------

    def learners(self, rows: Rows, group: GroupRows) -> list[Learner]:
        """The learners for a group; parameters that stand in columns come from its first row.

        Groups with the same parameters have the same learners.
        """
        parameters: dict[str, float] = {}
        for column, texts_ in rows.parameters.items():
            row, text = rows.number_of(group, 0), texts_[group.rows][0]
            try:
                parameters[column] = number(text or "")
            except ValueError:
                problem = "it is missing" if text is None else f"{text!r} is not a number"
                raise TableError(
                    f"{self._path}: row {row}, column {column!r}: {problem}; this column holds a learner's parameter"
                ) from None
            self._constants.setdefault(group.key, {})[column] = (text, row)
        values = tuple(parameters.values())
        if values not in self._made:
            self._made[values] = self._make(parameters)
        return self._made[values]

    def _make(self, parameters: dict[str, float]) -> list[Learner]:
        family = make_family(self._request.family, parameters)
        named, categories = len(self._request.categories), family.categories() or 2  # numbers may be named 0 and 1
        if named and named != categories:
            raise ValueError(f"--categories names {named} categories, but the family has {categories}")
        learners = [make_learner(recipe, family, parameters) for recipe in self._request.learners]
        self._check_columns(family, learners)
        return learners

    def _check_columns(self, family: Family, learners: Sequence[Learner]) -> None:
        """As many columns as an observation and its context have numbers."""
        outcome, given = len(self._roles.outcome), len(self._roles.given)
        if self._request.contexts and not given:
            raise ValueError("--contexts names the contexts in a column; say with --given which one it is")
        widths = {learner.family.context_width() for learner in learners}
        if given and not any(widths):
            raise ValueError(
                "--given has no effect: neither the family nor a learner has contexts; the family given:FAMILY;contexts=K "
                "has, and the learner per-context:LEARNER;contexts=K"
            )
        for width in widths - {0}:
            if given not in (0, width):
                raise ValueError(f"the context has {counted(width, 'number')}; --given names {counted(given, 'column')}")
            if not given and outcome == 1:
                raise ValueError(f"this model has contexts; name their column with --given ({counted(width, 'column')})")
        width_of_one = family.observations([])[0].shape[1:]
        if not family.context_width() and not (any(widths) and not given):
            if width_of_one != (outcome,) and (width_of_one or outcome > 1):
                raise ValueError(
                    f"an observation of this family has {counted(width_of_one[0] if width_of_one else 1, 'number')}; "
                    f"--outcome names {counted(outcome, 'column')}"
                )

    def check_constant(self, rows: Rows, group: GroupRows) -> None:
        """A parameter that stands in a column must be the same in all rows of a group."""
        for column, texts_ in rows.parameters.items():
            expected, where = self._constants[group.key][column]
            other = texts_[group.rows] != expected
            if other.any():
                i = int(np.argmax(other))
                raise TableError(
                    f"{self._path}: row {rows.number_of(group, i)}, column {column!r} is {texts_[group.rows][i]}, but {expected} "
                    f"in row {where} of the same group ({shown(self.by, group.key)}); a parameter must be constant in a group: "
                    f"split it with --by {','.join((*self.by, column))}"
                )
