"""Whether the model fits the outcomes of a table: the first ones of every group, looked at when all rows are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from volatilis.estimation import Check, check_model
from volatilis.estimation.checks import change_probabilities, changes_apart
from volatilis.estimation.models import MOST, described
from volatilis.estimation.proper import improper
from volatilis.estimation.weighed import check_weighed
from volatilis.families._base import Family
from volatilis.learners._base import Learner
from volatilis.running.grid_ends import weighed
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
            family, values = learners[keys[0]][0].family, [values for key in keys for values, _ in self._pieces[key]]
            wrong = improper(family, np.concatenate(values))
            if wrong is not None:
                texts.setdefault(wrong, wrong)
            for check in self._checks(keys, learners[keys[0]]):
                for misfit in check.misfits:
                    names = [shown(self._inputs.by, keys[i]) for i in misfit.sequences]
                    texts.setdefault(misfit.kind, in_words(check.family, str(misfit), names, len(keys)))
        return tuple(texts.values())

    def _checks(self, keys: list[Key], learners: Sequence[Learner]) -> list[Check]:
        """Of the family as it is given, and of what each learner made of it that weighs parameters."""
        family: Family = learners[0].family
        weighing = [one for one in learners if weighed(one) is not None]
        others = [one for one in learners if weighed(one) is None]
        if family.lacks("predictive_cdf") or any(map(changes_apart, learners)):
            others = []
        if not weighing and not others:
            return []
        values, events = zip(*(map(np.concatenate, zip(*self._pieces[key], strict=True)) for key in keys), strict=True)
        rates = tuple(dict.fromkeys(p_c for one in others for p_c in change_probabilities(one, None) or ()))
        checks = [check_model(family, values, rates or None, events)] if others else []
        return [*checks, *(check_weighed(one, values, events) for one in weighing)]


def in_words(family: Family, sentence: str, names: Sequence[str], count: int) -> str:
    """A misfit with the model's name and, where it is not of all, whom it concerns."""
    listed = "; ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    whom = f" in {len(names)} of {count} ({listed})" if names else ""
    return f"{described(family)} does not fit the outcomes{whom}: {sentence}"
