"""Comparison and recovery as tables for files: one row per thing that has a name, one column per number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from volatilis.behaviour.comparison.criteria import Comparison, Group
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.recovery.recover import Recovery


def people_columns(comparison: Comparison, criterion: str, refused: Mapping[str, str]) -> dict[str, list[Any]]:
    """One row per person and model: criteria, parameters, and what must be known before they are used.

    refused    people of the table who could not be read, and why: rows without numbers, at the end
    """
    columns = _fitted_columns(comparison, criterion)
    for name, why in refused.items():
        for k, label in enumerate(comparison.models):
            nothing = {
                column: float("nan") if isinstance(values[0], float) else type(values[0])() for column, values in columns.items()
            }
            own = {"person": name, "model": label, "parameters": int(comparison.parameters[k]), "warnings": f"left out: {why}"}
            for column, values in columns.items():
                values.append((nothing | own)[column])
    return columns


def _fitted_columns(comparison: Comparison, criterion: str) -> dict[str, list[Any]]:
    labels, pairs = comparison.models, [(i, k) for i in range(len(comparison.persons)) for k in range(len(comparison.models))]
    fits = [comparison.fits[i][k] for i, k in pairs]
    evidence = comparison.evidence(criterion)
    best = np.where(np.isfinite(evidence).all(axis=1), np.where(np.isnan(evidence), -np.inf, evidence).argmax(axis=1), -1)
    columns: dict[str, list[Any]] = {
        "person": [comparison.persons[i] for i, _ in pairs],
        "model": [labels[k] for _, k in pairs],
        "parameters": [int(comparison.parameters[k]) for _, k in pairs],
        "responses": [int(comparison.responses[i]) for i, _ in pairs],
    }
    columns |= {name: [float(values[i, k]) for i, k in pairs] for name, values in comparison.scores.items()}
    columns["folds"] = [comparison.folds[i][0] for i, _ in pairs]
    columns["folds_of"] = [comparison.folds[i][1] if comparison.folds[i][0] else "" for i, _ in pairs]
    columns["best"] = [bool(best[i] == k) for i, k in pairs]
    names = dict.fromkeys(name for one in fits if isinstance(one, Fit) for name in one.values)
    columns |= {name: [float(one.values.get(name, np.nan)) if isinstance(one, Fit) else np.nan for one in fits] for name in names}
    columns["warnings"] = ["; ".join(one.warnings) if isinstance(one, Fit) else one.message for one in fits]
    return columns


def group_columns(comparison: Comparison, group: Group) -> dict[str, list[Any]]:
    """One row per model: the group by one criterion."""
    columns: dict[str, list[Any]] = {
        "model": list(comparison.models),
        "criterion": [group.criterion] * len(comparison.models),
        "people": [len(group.persons)] * len(comparison.models),
    }
    columns |= {name: getattr(group, name).tolist() for name in ("total", "behind", "low", "high", "best_for")}
    columns |= {name: getattr(group.selection, name).tolist() for name in ("alpha", "frequency", "exceedance", "protected")}
    columns["omnibus_risk"] = [group.selection.omnibus_risk] * len(comparison.models)
    return columns


def parameter_columns(recovery: Recovery) -> dict[str, list[Any]]:
    """One row per simulated person and parameter of the model that is true."""
    rows = recovery.parameters
    columns = {
        name: [getattr(one, name) for one in rows] for name in ("model", "person", "parameter", "true", "found", "low", "high")
    }
    return columns | {"warnings": ["; ".join(one.warnings) for one in rows]}


def confusion_columns(recovery: Recovery) -> dict[str, list[Any]]:
    """One row per pair of models."""
    counts, confusion, inverse = recovery.counts(), recovery.confusion(), recovery.inverse()
    pairs = [(k, j) for k in range(len(recovery.models)) for j in range(len(recovery.models))]
    return {
        "true": [recovery.models[k] for k, _ in pairs],
        "best": [recovery.models[j] for _, j in pairs],
        "people": [int(counts[pair]) for pair in pairs],
        "share": [float(confusion[pair]) for pair in pairs],
        "true_given_best": [float(inverse[pair]) for pair in pairs],
    }
