"""`volatilis fit`: from a table of trials to fits of every person with every learner, written as a table or as netCDF."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from volatilis.behaviour.fitting.cluster import How
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.hierarchy import Group, fit_groups
from volatilis.behaviour.fitting.jobs import Failure
from volatilis.behaviour.fitting.many import fit_all
from volatilis.behaviour.fitting.outputs import save_picture
from volatilis.behaviour.fitting.parameters import WHOLE, searched, unit_of
from volatilis.behaviour.fitting.priors import CENTRAL, AnyPrior, parse_priors
from volatilis.behaviour.fitting.results import dataset, save, tidy
from volatilis.behaviour.models import Model, models_of
from volatilis.behaviour.people import People, Source, people_of
from volatilis.tables import check_outputs, writer

METHODS = ("ml", "map", "hierarchical")
NETCDF = ".nc"


class Order(NamedTuple):
    """What was asked for.

    method    ml (maximum likelihood), map (maximum a posteriori, weak priors but for those stated) or hierarchical
    priors    such as p_c=0.01:0.5, the range that holds 95 % of the prior
    how       starts, seed, where it is computed, and a folder that keeps finished fits: the same order goes on from there
    own       Python files with response models of one's own
    """

    source: Source
    family: str
    learners: tuple[str, ...]
    response: str
    method: str = "ml"
    priors: tuple[str, ...] = ()
    how: How = How()
    profile: bool = False
    own: tuple[str, ...] = ()


class Results(NamedTuple):
    """What came out: fits (and failures), people in order and models within; the groups of a hierarchical fit; what to say."""

    order: Order
    models: tuple[Model, ...]
    people: People
    fits: list[Fit | Failure]
    groups: list[Group]

    def table(self) -> Any:
        """A tidy pandas DataFrame, people who were refused last."""
        return tidy(self._all(), self.groups)

    def dataset(self) -> Any:
        table = self.order.source.table
        settings = {
            "command": command_of(self.order),
            "table_sha256": hashlib.sha256(pathlib.Path(table).read_bytes()).hexdigest(),
            "order": {**self.order._asdict(), "source": self.order.source._asdict(), "how": self.order.how._asdict()},
            "priors": prior_texts(self.order, self.models, self.people),
        }
        return dataset(self._all(), self.groups, settings)

    def _all(self) -> list[Fit | Failure]:
        refused = [Failure(name, model.label, why) for name, why in self.people.refused.items() for model in self.models]
        return [*self.fits, *refused]


def run_fits(order: Order, progress: Callable[[float], None] = lambda share: None) -> Results:
    """Read, check and fit. A person who cannot be fitted is told; if there is nobody else, that is an error."""
    if order.method not in METHODS:
        raise ValueError(f"method = {order.method!r} is not accepted; one of {', '.join(METHODS)} is")
    models = models_of(order.family, order.learners, order.response, order.own)
    if not any(model.free() for model in models):
        raise ValueError("no parameter is free; write one as varsmile:m=free")
    prior = _prior(order, models)
    people = people_of(order.source, models)
    (starts, seed, workers, folder, scheduler), groups = order.how, list[Group]()
    if order.method == "hierarchical":
        groups = fit_groups(models, people.persons, starts, seed, workers, None, progress, folder, scheduler)
        fits = [group.fits[i] for i in range(len(people.persons)) for group in groups]
    else:
        unit = None if prior is None else unit_of(np.concatenate([person.outcomes() for person in people.persons]))
        fits = fit_all(*(models, people.persons, starts, seed, workers, prior, unit, progress, folder, order.profile, scheduler))
    if not any(isinstance(one, Fit) for one in fits):
        raise ValueError(f"nobody could be fitted: {next(one.message for one in fits if isinstance(one, Failure))}")
    return Results(order, models, people, fits, groups)


def _prior(order: Order, models: Sequence[Model]) -> AnyPrior:
    if order.priors and order.method != "map":
        raise ValueError("--prior is for --method map")
    if order.profile and order.method == "hierarchical":
        raise ValueError("--profile is for --method ml and --method map")
    stated = parse_priors(order.priors)
    free = {name for model in models for name in model.free() if name not in WHOLE}
    unknown = sorted(set(stated.ranges) - free)
    if unknown:
        raise ValueError(f"--prior {unknown[0]}: no such parameter is free; {', '.join(sorted(free))} are")
    return stated if order.method == "map" else None


def prior_texts(order: Order, models: Sequence[Model], people: People) -> dict[str, str]:
    """Each prior in words: on which scale it is normal, and the range that holds 95 % of it."""
    if order.method != "map":
        return {}
    unit = unit_of(np.concatenate([person.outcomes() for person in people.persons]))
    names = dict.fromkeys(name for model in models for name in model.free() if name not in WHOLE)
    free = [searched(name, unit) for name in names]
    mean, sd = parse_priors(order.priors)(free)
    told = {}
    for one, centre, spread in zip(free, mean, sd, strict=True):
        low, high = sorted(one.natural(float(centre + side * CENTRAL * spread)) for side in (-1, 1))
        told[one.name] = f"normal on the {one.scale.name} scale, 95 % from {low:.4g} to {high:.4g}"
    return told


def check_names(table: str, out: str, plot: str | None) -> None:
    """Before anything is computed."""
    check_outputs({"--out": out}, plot, table, (NETCDF,))


def write(results: Results, out: str, plot: str | None = None) -> None:
    """The results where they were asked for; each file is whole or not there."""
    if out.endswith(NETCDF):
        save(out, results.dataset())
    else:
        write_table(out, results.table())
    if plot is not None:
        from volatilis.plots import fits as picture

        save_picture(picture, results.dataset(), plot)


def write_table(out: str | os.PathLike[str], frame: Any) -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    with writer(out, table.schema) as put:
        for batch in table.to_batches():
            put(batch)


def command_of(order: Order) -> str:
    """The command line that makes these fits again."""
    source = order.source
    given: list[tuple[str, Any, Any]] = [
        ("--by", ",".join(source.by), "subject"),
        ("--outcome", source.outcome, "outcome"),
        ("--response-column", source.response, "prediction"),
        ("--when", source.when, "before"),
        *((f"--{name}", getattr(source, name), None) for name in ("block", "reset", "catch", "trial")),
        ("--missing", source.missing, "error"),
        ("--bounds", None if source.bounds is None else f"{source.bounds[0]!r},{source.bounds[1]!r}", None),
        ("--categories", ",".join(source.categories), ""),
        ("--method", order.method, "ml"),
        *(("--prior", prior, None) for prior in order.priors),
        *(("--own", path, None) for path in order.own),
    ]
    words = ["volatilis", "fit", os.fspath(source.table), "--family", order.family]
    words += [word for learner in order.learners for word in ("--learner", learner)]
    words += ["--response", order.response]
    words += [word for option, value, usual in given if value != usual for word in (option, str(value))]
    words += ["--starts", str(order.how.starts), "--seed", str(order.how.seed), *(["--profile"] if order.profile else [])]
    return shlex.join(words)
