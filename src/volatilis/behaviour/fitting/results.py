"""Fits as a tidy table, as an xarray Dataset, and as a netCDF file with all that is needed to run them again."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from volatilis.behaviour.fitting.fit import Fit, intervals, log_evidence
from volatilis.behaviour.fitting.hierarchy import FittedGroup
from volatilis.behaviour.fitting.jobs import Failure

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

PER_FIT = ("log_likelihood", "log_prior", "aic", "bic", "log_evidence", "responses", "evaluations")
PER_PARAMETER = ("value", "se", "low", "high")
SHRUNK = ("alone", "shrinkage")


def criteria(fit: Fit) -> dict[str, float]:
    """What models are compared by. The evidence needs a prior; AIC and BIC are for the largest likelihood, without one."""
    k, cost = len(fit.values), math.nan if fit.has_prior else -2.0 * fit.log_likelihood
    return {
        "log_likelihood": fit.log_likelihood,
        "log_prior": fit.log_prior,
        "aic": 2.0 * k + cost,
        "bic": k * math.log(fit.responses) + cost,
        "log_evidence": log_evidence(fit),
        "responses": fit.responses,
        "evaluations": fit.evaluations,
    }


def tidy(fits: Sequence[Fit | Failure], groups: Sequence[FittedGroup] = ()) -> pd.DataFrame:
    """A pandas DataFrame: one row per person, model and parameter; one with a message for a person who could not be fitted.

    se, low and high are of 95 % intervals: from the profile where there is one, else from the curvature. With groups, `alone` is
    the value that the person has without the group, and `shrinkage` how much of the value is the group's.

    fits     what `fit_all` returned
    groups   what `fit_groups` returned, for the same people

    Returns the table. Raises nothing.

    >>> from volatilis.behaviour import Model, Source, fit_all, read_people, tidy
    >>> model = Model.parse("gaussian:sigma=10,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    >>> fits = fit_all([model], read_people(Source("people.csv"), model).persons[:2], starts=2, workers=1)
    >>> tidy(fits)[["person", "parameter", "value"]].round(2).values.tolist()
    [['1', 'm', 0.28], ['1', 'sd', 9.27], ['2', 'm', 0.3], ['2', 'sd', 8.35]]
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for one in fits:
        head = {"person": one.person, "model": one.label}
        if isinstance(one, Failure):
            rows.append({**head, "warnings": f"not fitted: {one.message}"})
            continue
        tail = {**criteria(one), "warnings": "; ".join(one.warnings)}
        shrunk = _shrunk(one, groups)
        ends = intervals(one)
        for name, value in one.values.items():
            se, low, high = ends.get(name, (math.nan, math.nan, math.nan))
            low, high = one.profile.get(name, (low, high))
            numbers = dict(zip(PER_PARAMETER, (value, se, low, high), strict=True))
            rows.append({**head, "parameter": name, **numbers, **shrunk.get(name, {}), **tail})
        if not one.values:
            rows.append({**head, **tail})
    columns = ["person", "model", "parameter", *PER_PARAMETER, *(SHRUNK if groups else ()), *PER_FIT, "warnings"]
    return pd.DataFrame(rows, columns=columns)


def _shrunk(fit: Fit, groups: Sequence[FittedGroup]) -> dict[str, dict[str, float]]:
    for group in groups:
        if group.label == fit.label:
            row = [one.person for one in group.fits].index(fit.person)
            alone = group.alone[row]
            values = alone.values if isinstance(alone, Fit) else {}
            return {
                name: {"alone": values.get(name, math.nan), "shrinkage": float(group.shrinkage[row, i])}
                for i, name in enumerate(group.names)
            }
    return {}


def dataset(
    fits: Sequence[Fit | Failure], groups: Sequence[FittedGroup] = (), settings: Mapping[str, object] | None = None
) -> xr.Dataset:
    """An xarray Dataset over person, model and parameter; NaN where a model has no such parameter or a person no fit.

    settings    what the fits were made with, kept as the attribute `settings` (JSON)
    """
    import xarray

    pairs = [(one.person, one.label) for one in fits]
    if len(set(pairs)) < len(pairs):
        person, label = next(pair for pair in pairs if pairs.count(pair) > 1)
        raise ValueError(f"{person} has two fits called {label!r}; label a learner as in other={label}:...")
    persons = list(dict.fromkeys(one.person for one in fits))
    models = list(dict.fromkeys(one.label for one in fits))
    places = {name: i for one in fits if isinstance(one, Fit) for i, name in enumerate(one.values)}
    names = sorted(places, key=lambda name: places[name])  # a learner's before those of the response
    frame = tidy(fits, groups)
    shape = (len(persons), len(models))
    per_fit = {name: np.full(shape, np.nan) for name in PER_FIT}
    warnings = np.full(shape, "", dtype=object)
    numbers = [*PER_PARAMETER, *(SHRUNK if groups else ())]
    per_parameter = {name: np.full((*shape, len(names)), np.nan) for name in numbers}
    for row in frame.to_dict("records"):
        at = persons.index(row["person"]), models.index(row["model"])
        warnings[at] = row["warnings"]
        for name in PER_FIT:
            per_fit[name][at] = row[name]
        if isinstance(row["parameter"], str):
            for name in numbers:
                per_parameter[name][(*at, names.index(row["parameter"]))] = row[name]
    data: dict[str, Any] = {name: (("person", "model"), values) for name, values in per_fit.items()}
    data |= {name: (("person", "model", "parameter"), values) for name, values in per_parameter.items()}
    data |= {"warnings": (("person", "model"), warnings.astype(str)), "covariance": _covariances(fits, persons, models, names)}
    data |= _group_variables(groups, models, names)
    coordinates = {"person": persons, "model": models, "parameter": names, "other_parameter": names}
    return xarray.Dataset(data, coordinates, _attributes(settings or {}))


def _covariances(
    fits: Sequence[Fit | Failure], persons: list[str], models: list[str], names: list[str]
) -> tuple[tuple[str, ...], np.ndarray]:
    """On the real line, where posteriors are taken as normal."""
    covariances = np.full((len(persons), len(models), len(names), len(names)), np.nan)
    for one in fits:
        if isinstance(one, Fit):
            at = [names.index(name) for name in one.names]
            covariances[persons.index(one.person), models.index(one.label)][np.ix_(at, at)] = one.covariance
    return (("person", "model", "parameter", "other_parameter"), covariances)


def _group_variables(groups: Sequence[FittedGroup], models: list[str], names: list[str]) -> dict[str, Any]:
    if not groups:
        return {}
    columns = ("group_middle", "group_mean", "group_sd", "group_error")
    variables = {name: np.full((len(models), len(names)), np.nan) for name in columns}
    for group in groups:
        for i, name in enumerate(group.names):
            at = models.index(group.label), names.index(name)
            numbers = (group.middle[name], group.prior.mean[i], group.prior.sd[i], group.error[i])
            for key, value in zip(variables, numbers, strict=True):
                variables[key][at] = value
    by_label = {group.label: group for group in groups}
    return {name: (("model", "parameter"), values) for name, values in variables.items()} | {
        f"group_{name}": (("model",), [float(getattr(by_label[label], name)) for label in models])
        for name in ("log_evidence", "without_evidence", "rounds", "converged")
    }


def _attributes(settings: Mapping[str, object]) -> dict[str, str]:
    from importlib.metadata import version

    kept = {name: str(settings[name]) for name in ("command", "table_sha256") if name in settings}
    return {"made_by": f"volatilis {version('volatilis')}", **kept, "settings": json.dumps(settings, default=str)}


def save(path: str | os.PathLike[str], data: xr.Dataset) -> None:
    """Write a Dataset as a netCDF file, which any version of netCDF reads; whole or not at all.

    path    the file
    data    such as `fit_table(...).dataset()`

    Returns nothing. Raises OSError where the file cannot be written.

    >>> import xarray as xr
    >>> from volatilis.behaviour import load, save
    >>> save("fits.nc", xr.Dataset({"m": ("person", [0.1, 0.2])}))
    >>> load("fits.nc")["m"].values
    array([0.1, 0.2])
    """
    from volatilis._core.files import whole_file

    content = bytes(data.to_netcdf(engine="scipy"))
    with whole_file(path) as file:
        file.write(content)


def load(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read what `save` wrote.

    path    the netCDF file

    Returns the Dataset. Raises OSError for a file that cannot be read. Example: `save`.
    """
    import xarray

    return xarray.load_dataset(path, engine="scipy")
