"""The numbers behind each figure as plain tables, one row per point."""

from __future__ import annotations

from typing import Any


def table_of(dataset: Any) -> Any:
    """A pandas table: every variable a column, every coordinate a column; points without a number are left out."""
    variables = [dataset[name] for name in dataset.data_vars]
    frames = [variable.to_dataframe().reset_index() for variable in variables]
    table = frames[0]
    for frame, variable in zip(frames[1:], variables[1:], strict=True):
        if variable.dims == variables[0].dims:
            table[variable.name] = frame[variable.name]
    return table.dropna(subset=[v.name for v in variables if v.dims == variables[0].dims], how="all")


def over_seeds(dataset: Any) -> Any:
    """Mean and standard error over seeds of every variable that has seeds."""
    import numpy as np
    import xarray

    data = {}
    for name, variable in dataset.data_vars.items():
        if "seed" in variable.dims:
            count = variable.sizes["seed"]
            spread = variable.std("seed", ddof=1) if count > 1 else variable.mean("seed") * np.nan
            data[name] = variable.mean("seed")
            data[f"{name}_se"] = spread / np.sqrt(count)
        else:
            data[name] = variable
    return xarray.Dataset(data, attrs=dataset.attrs)


def with_excess(dataset: Any) -> Any:
    """A grid with `excess`, the error above that of Exact Bayes on the same observations."""
    return dataset.assign(excess=dataset.error - dataset.error.sel(learner="Exact Bayes", drop=True))


def csv_name(name: str) -> str:
    return f"{name.replace(' ', '_')}.csv"
