"""Collects what the pictures need while a table is run over; its memory is bounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from volatilis import families
from volatilis.families._base import Family
from volatilis.html import escape
from volatilis.html.trials.groups import GroupPicture, looks_back
from volatilis.tables import TableError, column_named, numbers
from volatilis.trials.engine import BatchResult, Engine
from volatilis.trials.groups import GroupRows, Key
from volatilis.trials.measures import Column

MOST_STRIPS = 12  # a family with more categories or parameters shows the first
GROUPS = 500  # groups that are drawn, unless more are asked for
MOST_GROUPS = 10_000  # that can be asked for: a browser has to hold them all
NUMBERS_PER_GROUP = 4_000  # all groups share the room: 2 million numbers for 500
SURPRISES = ("log_bayes_factor_surprise", "shannon_surprise", "bayesian_surprise", "confidence_corrected_surprise", "run_length")
DRAWN = ("mean", "variance", *SURPRISES, "adaptation_rate")
PREDICTION = "prediction"
BYTES_PER_NUMBER = 16 / 3  # single precision, as text
BYTES_PER_GROUP, BYTES_PER_COLUMN = 300, 60  # what stands around them


class Strip(NamedTuple):
    """One pair of axes, over the trials.

    outcome   which of the outcomes is dots in it; None: none
    category  dots only where the outcome is this category, at 1, and the estimate is its probability; None: dots at the outcome
    element   which element of the parameter is the line in it; None: none
    low, high the range, where the family fixes it
    names     what 0, 1, ... mean, where they have names
    around    once around, where the axis is a circle; what lies at one end of it continues at the other
    """

    title: str
    outcome: int | None
    category: int | None
    element: int | None
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()
    around: float | None = None


def strips_for(family: Family, outcomes: Sequence[str], categories: Sequence[str]) -> list[Strip]:
    """All strips of a family; those whose parameter is the outcome's mean show both."""
    parameters = family.parameter_names()
    if isinstance(family, families.Categorical):
        names = categories or [str(k) for k in range(family.k)]
        return [Strip(f"{outcomes[0]}: {name}", 0, k, k, 0.0, 1.0) for k, name in enumerate(names)]
    if isinstance(family, families.Bernoulli):
        return [Strip(outcomes[0], 0, None, 0, 0.0, 1.0, tuple(categories))]
    around = family.circumference()
    if around < np.inf:
        return [Strip(name, i, None, i, 0.0, around, around=around) for i, name in enumerate(outcomes)]
    shared = 0 if isinstance(family, families.Exponential) else len(outcomes)
    both = [Strip(name, i, None, i if shared else None) for i, name in enumerate(outcomes)]
    return both + [Strip(f"parameter {parameters[i]}", None, None, i) for i in range(shared, len(parameters))]


def expects_outcome(strips: Sequence[Strip]) -> bool:
    """Whether the estimate can be held against the outcome."""
    return all(strip.element is not None for strip in strips if strip.outcome is not None)


class Collector:
    """A watcher: give it to `run_table`, and its content to `page`, or to `put`, which is called with it at the end."""

    def __init__(
        self,
        groups: int = GROUPS,
        prediction: tuple[str, ...] | None = None,
        put: Callable[[Collector], None] = lambda collector: None,
    ) -> None:
        if not 1 <= groups <= MOST_GROUPS:
            raise ValueError(
                f"a report of {groups:,} groups is not accepted; 1 to {MOST_GROUPS:,} are: run over a part of the table"
            )
        self.limit, self._wanted, self._put = groups, prediction, put
        self.room = groups * NUMBERS_PER_GROUP
        self.pictures: dict[Key, GroupPicture] = {}
        self.notes: list[str] = []

    def begin(self, engine: Engine) -> None:
        """Which columns are kept follows from the learners and the family."""
        self.engine = engine
        family = engine.examples[0].family
        self.all_strips = strips_for(family, engine.inputs.outcome, engine.request.categories)
        self.strips: list[Strip] = self.all_strips[:MOST_STRIPS]
        self.family, self.categorical = family, isinstance(family, families.Categorical)
        self.labels = [recipe.label for recipe in engine.request.learners]
        elements = {strip.element for strip in self.strips}
        self.columns: list[Column] = [c for c in engine.columns if c.measure in DRAWN and (c.element or 0) in elements]
        self.prediction = self._prediction_columns()
        self._looking = len({repr(looks_back(learner)) for learner in engine.examples} - {repr(None)})
        self._means = {label: self._location(label) for label in self.labels}
        self._left = self.room

    @property
    def width(self) -> int:
        """Numbers per trial: its own number, outcomes, predictions, what was computed, and probabilities of a change."""
        return 1 + len(self.engine.inputs.outcome) + len(self.prediction) + len(self.columns) + self._looking

    @property
    def cut(self) -> list[GroupPicture]:
        """The groups of which the last trials are not drawn."""
        return [picture for picture in self.pictures.values() if picture.drawn < picture.rows]

    def see(self, seen: BatchResult) -> None:
        predictions = self._predictions(seen)
        outcomes = seen.rows.outcomes.reshape(len(seen.rows.outcomes), -1)
        for group in seen.groups:
            if group.key not in self.pictures:
                if len(self.pictures) == self.limit or self._left < self.width:
                    continue
                learners = self.engine.inputs.learners(seen.rows, group)
                self.pictures[group.key] = GroupPicture(group.key, dict(zip(self.labels, learners, strict=True)))
            picture = self.pictures[group.key]
            resets = None if seen.rows.resets is None else seen.rows.resets[group.rows]
            picture.person.add(predictions[group.rows], outcomes[group.rows], self.family)
            self._sum_up(picture, group, outcomes[group.rows], resets, seen.computed)
            self._draw(picture, group, seen, outcomes, predictions, resets)
            picture.rows += len(outcomes[group.rows])

    def end(self) -> None:
        for picture in self.pictures.values():
            picture.look_back()
        self._put(self)

    # --- what is drawn ---------------------------------------------------------------------------------------------------

    def _draw(
        self,
        picture: GroupPicture,
        group: GroupRows,
        seen: BatchResult,
        outcomes: np.ndarray,
        predictions: np.ndarray,
        resets: np.ndarray | None,
    ) -> None:
        these = outcomes[group.rows]
        take = min(len(these), self._left // self.width)
        if take == 0 or picture.drawn < picture.rows:  # nothing after a gap
            return
        trials = seen.rows.trials
        numbered = np.arange(picture.rows + 1.0, picture.rows + len(these) + 1.0) if trials is None else trials[group.rows]
        around = self.family.circumference()
        drawn = [np.mod(v, around) if around < np.inf else v for v in (these, predictions[group.rows])]
        computed = [seen.computed[column.name][group.rows][:, None] for column in self.columns]
        every = np.hstack([numbered[:, None], *drawn, *computed])
        steps = None if picture.looker is None else self.engine.inputs.steps(seen.rows, group, picture.looker)
        kept = None if steps is None else (steps[0][:take].copy(), steps[1][:take].copy(), steps[2][:take].copy())
        picture.add(every[:take].copy(), None if resets is None else resets[:take].copy(), kept)
        self._left -= take * self.width

    def _prediction_columns(self) -> tuple[str, ...]:
        table, outcomes = self.engine.table, self.engine.inputs.outcome
        if self._wanted is None:
            return (PREDICTION,) if PREDICTION in table.columns and len(outcomes) == 1 and PREDICTION not in outcomes else ()
        if len(self._wanted) != len(outcomes):
            raise ValueError(f"--prediction names {len(self._wanted)} columns, --outcome {len(outcomes)}; one for each is needed")
        return tuple(column_named(table.columns, name, table.path, "people's prediction") for name in self._wanted)

    def _predictions(self, seen: BatchResult) -> np.ndarray:
        """One column per outcome, or none. Where nobody named the column, what cannot be read in it is left out."""
        rows = len(seen.rows.outcomes)
        if not self.prediction:
            return np.empty((rows, 0))
        inputs, rows_before = self.engine.inputs, seen.rows.first
        try:
            if self.categorical:
                return inputs.values(seen.batch, self.prediction, rows_before).reshape(rows, -1)
            columns = [numbers(seen.batch.column(name), self.engine.table.path, rows_before, name) for name in self.prediction]
            return np.stack(columns, axis=1)
        except TableError as error:
            if self._wanted is not None:
                raise
            self.notes = self.notes or [f"The column {PREDICTION!r} is drawn only as far as it can be read. {error}."]
            return np.full((rows, 1), np.nan)

    # --- what is summed up -----------------------------------------------------------------------------------------------

    def _sum_up(
        self,
        picture: GroupPicture,
        group: GroupRows,
        outcomes: np.ndarray,
        resets: np.ndarray | None,
        computed: dict[str, np.ndarray],
    ) -> None:
        picture.missing += int(np.isnan(outcomes).any(axis=1).sum())
        for label, tally in picture.tallies.items():
            if f"{label}_shannon_surprise" in computed:
                tally.add_surprise(computed[f"{label}_shannon_surprise"][group.rows])
            if self._means[label]:
                means = np.stack([computed[name][group.rows] for name in self._means[label]], axis=1)
                tally.add_estimates(means, outcomes, resets, self.family)

    def _location(self, label: str) -> list[str]:
        """The columns that estimate the outcome's mean; none where no parameter is that mean, or none was computed."""
        if not expects_outcome(self.all_strips):
            return []
        elements = {strip.element for strip in self.all_strips if strip.outcome is not None}
        mine = [c for c in self.engine.columns if c.label == label and c.measure == "mean"]
        return [column.name for column in mine if (column.element or 0) in elements]


def left_out(collector: Collector) -> list[str]:
    """What is not in the pictures, and how to get it."""
    summary, drawn, cut = collector.engine.summary(), len(collector.pictures), len(collector.cut)
    sentences = []
    if drawn < summary.groups or cut:
        numbers = summary.rows * collector.width
        enough = max(summary.groups, -(-numbers // NUMBERS_PER_GROUP))
        cuts = (
            f", of {cut:,} of them only the first trials (changes are found among these; other sums are of all trials)"
            if cut
            else ""
        )
        around = summary.groups * (BYTES_PER_GROUP + BYTES_PER_COLUMN * collector.width)
        size = f"a page of up to {(numbers * BYTES_PER_NUMBER + around) / 1e6:,.0f} MB"
        more = f"--report-groups {enough} draws all, in {size}; a part of the table needs less."
        if enough > MOST_GROUPS:
            more = (
                f"All would be {size}; --report-groups {MOST_GROUPS} draws as many as can be, and a part of the table the others."
            )
        sentences.append(f"Drawn: the first {drawn:,} of {summary.groups:,} groups{cuts}. {more}")
    if len(collector.all_strips) > len(collector.strips):
        sentences.append(f"{len(collector.strips)} of {len(collector.all_strips)} categories or parameters are drawn: the first.")
    return sentences + collector.notes


def warning_of(collector: Collector) -> str:
    """What speaks against the model: one line that opens."""
    misfits = collector.engine.summary().misfits
    head, texts = "Warning: the model does not fit the outcomes", "".join(f"<p>{escape(text)}.</p>" for text in misfits)
    return f'<details class="notice"><summary>{head}</summary>{texts}</details>' if misfits else ""
