"""Whether the model fits the outcomes of a table: the first ones of every group, looked at when all rows are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from volatilis.estimation import Check, check_model
from volatilis.estimation.checks import change_probabilities, changes_apart
from volatilis.estimation.models import MOST, described
from volatilis.families._base import Family
from volatilis.learners._base import Learner
from volatilis.trials.groups import GroupRows, Key, Rows, shown
from volatilis.trials.inputs import Inputs

NAMED = 5  # groups that are named one by one


class FitOfModel:
    """Keeps outcomes until there are enough: 20,000 say as much as more would, and memory does not grow."""

    def __init__(self, inputs: Inputs, learners: Callable[[], Mapping[Key, Sequence[Learner]]]) -> None:
        self._inputs, self._learners, self._kept = inputs, learners, 0
        self._found: tuple[int, tuple[str, ...]] | None = None
        self._pieces: dict[Key, list[tuple[np.ndarray, np.ndarray]]] = {}

    def see(self, rows: Rows, groups: Sequence[GroupRows]) -> None:
        learners = self._learners() if self._kept < MOST else {}
        for group in groups:
            if self._kept >= MOST:
                return
            values, events, _ = self._inputs.steps(rows, group, learners[group.key][0])
            self._pieces.setdefault(group.key, []).append((values[:MOST], events[:MOST]))
            self._kept += len(values)

    def misfits(self) -> tuple[str, ...]:
        """A sentence for each way in which the model does not fit; with parameters in columns groups have models apart."""
        if self._found is None or self._found[0] != self._kept:  # a report asks as well
            self._found = self._kept, self._all_misfits()
        return self._found[1]

    def _all_misfits(self) -> tuple[str, ...]:
        learners = self._learners()
        models: dict[tuple[object, ...], list[Key]] = {}
        for key in self._pieces:
            models.setdefault(tuple(map(id, learners[key])), []).append(key)
        texts: dict[str, str] = {}
        for keys in models.values():
            check = self._check(keys, learners[keys[0]])
            if check is not None:
                for misfit in check.misfits:
                    names = [shown(self._inputs.by, keys[i]) for i in misfit.sequences]
                    texts.setdefault(misfit.kind, in_words(check.family, str(misfit), names, len(keys)))
        return tuple(texts.values())

    def _check(self, keys: list[Key], learners: Sequence[Learner]) -> Check | None:
        family: Family = learners[0].family
        if family.lacks("predictive_cdf") or any(map(changes_apart, learners)):
            return None
        values, events = zip(*(map(np.concatenate, zip(*self._pieces[key], strict=True)) for key in keys), strict=True)
        rates = [p_c for learner in learners for p_c in change_probabilities(learner, None) or ()]
        return check_model(family, values, tuple(dict.fromkeys(rates)) or None, events)


def in_words(family: Family, sentence: str, names: Sequence[str], count: int) -> str:
    """A misfit with the model's name and, where it is not of all, whom it concerns."""
    listed = "; ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    whom = f" in {len(names)} of {count} ({listed})" if names else ""
    return f"{described(family)} does not fit the outcomes{whom}: {sentence}"
