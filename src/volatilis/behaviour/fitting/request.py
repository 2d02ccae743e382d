"""`volatilis fit`: from a table of trials to fits of every person with every learner, written as a table or as netCDF."""

from __future__ import annotations

import hashlib
import os
import pathlib
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._core.terminal import console_of, plain, table
from volatilis.behaviour.doubts import blocks_of, people_of
from volatilis.behaviour.fitting.fit import Fit
from volatilis.behaviour.fitting.hierarchy import FittedGroup, fit_groups
from volatilis.behaviour.fitting.jobs import Failure, FitOptions, fit_all
from volatilis.behaviour.fitting.parameters import CENTRAL, WHOLE, AnyPrior, parse_priors, searched
from volatilis.behaviour.fitting.results import dataset, save, tidy
from volatilis.behaviour.models import Model, models_of
from volatilis.behaviour.people import People, Source
from volatilis.tables import save_picture, writer

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from rich.console import Console
    from rich.table import Table

METHODS = ("ml", "map", "hierarchical")
NETCDF = ".nc"
SHOWN = 8  # people who are listed one by one


class FitRequest(NamedTuple):
    """What is fitted, and how: the request of `fit_table`, as `volatilis fit` makes it.

    source           the table of people's trials
    family           what is observed, such as gaussian:sigma=10
    learners         such as ("varsmile:m=free",): one model each
    response         how responses arise, such as gaussian:sd=free
    method           ml (maximum likelihood), map (maximum a posteriori, weak priors except those stated) or hierarchical
    priors           such as p_c=0.01:0.5, the range that holds 95 % of the prior
    options          starts, seed, where fits are made, and a folder that keeps finished ones
    profile          intervals from the profile of the likelihood
    own              Python files with families, learners and response models of the user's own
    """

    source: Source
    family: str
    learners: tuple[str, ...]
    response: str = "gaussian:sd=free"
    method: str = "ml"
    priors: tuple[str, ...] = ()
    options: FitOptions = FitOptions()
    profile: bool = False
    own: tuple[str, ...] = ()


class FitResult(NamedTuple):
    """Fits (and failures), people in order and models within them; the groups of a hierarchical fit."""

    request: FitRequest
    models: tuple[Model, ...]
    people: People
    fits: list[Fit | Failure]
    groups: list[FittedGroup]

    def table(self) -> pd.DataFrame:
        """A tidy table, people who were left out last."""
        return tidy(self._all(), self.groups)

    def dataset(self) -> xr.Dataset:
        """Over person, model and parameter, with all that is needed to make the fits again."""
        request = self.request
        settings = {
            "command": command_of(request),
            "table_sha256": hashlib.sha256(pathlib.Path(request.source.table).read_bytes()).hexdigest(),
            "request": {**request._asdict(), "source": request.source._asdict(), "options": request.options._asdict()},
            "priors": prior_texts(request, self.models, self.people),
        }
        return dataset(self._all(), self.groups, settings)

    def _all(self) -> list[Fit | Failure]:
        refused = [Failure(name, model.label, why) for name, why in self.people.refused.items() for model in self.models]
        return [*self.fits, *refused]


def fit_table(request: FitRequest, progress: Callable[[float], None] = lambda share: None) -> FitResult:
    """Read, check and fit, as `volatilis fit` does. People who cannot be fitted are reported in the result.

    request    what is fitted, and how
    progress   called with the share that is done

    Returns a FitResult with `fits`, `groups` and `people`. Raises TableError for a table that cannot be used, ValueError if
    nobody can be fitted.

    >>> from volatilis.behaviour import FitOptions, FitRequest, Source, fit_table
    >>> options = FitOptions(starts=2, workers=1)
    >>> family = "gaussian:sigma=10,mu_0=150,sigma_0=50"
    >>> result = fit_table(FitRequest(Source("people.csv"), family, ("varsmile:m=free",), options=options))
    >>> len(result.fits), result.fits[0].names
    (20, ('m', 'sd'))
    """
    if request.method not in METHODS:
        raise ValueError(f"method = {request.method!r} is not accepted; one of {', '.join(METHODS)} is")
    models = models_of(request.family, request.learners, request.response, request.own)
    if not any(model.free() for model in models):
        raise ValueError("no parameter is free; write one as varsmile:m=free")
    prior = _prior(request, models)
    people = people_of(request.source, models)
    options, groups = request.options._asdict(), list[FittedGroup]()
    if request.method == "hierarchical":
        groups = fit_groups(models, people.persons, progress=progress, **options)
        fits = [group.fits[i] for i in range(len(people.persons)) for group in groups]
    else:
        unit = None if prior is None else models[0].unit(people.persons)
        fits = fit_all(models, people.persons, prior=prior, unit=unit, profile=request.profile, progress=progress, **options)
    fits = [_doubted(one, people) for one in fits]
    if not any(isinstance(one, Fit) for one in fits):
        raise ValueError(f"nobody could be fitted: {next(one.message for one in fits if isinstance(one, Failure))}")
    return FitResult(request, models, people, fits, groups)


def _doubted(fit: Fit | Failure, people: People) -> Fit | Failure:
    """With a warning for each doubt about the model that concerns this person."""
    kinds = [doubt.kind for doubt in people.doubts if not doubt.persons or fit.person in doubt.persons]
    if isinstance(fit, Failure) or not kinds:
        return fit
    return fit._replace(warnings=(*fit.warnings, *(f"the table contradicts the model ({kind})" for kind in kinds)))


def _prior(request: FitRequest, models: Sequence[Model]) -> AnyPrior:
    if request.priors and request.method != "map":
        raise ValueError("--prior is for --method map")
    if request.profile and request.method == "hierarchical":
        raise ValueError("--profile is for --method ml and --method map")
    stated = parse_priors(request.priors)
    free = {name for model in models for name in model.free() if name not in WHOLE}
    unknown = sorted(set(stated.ranges) - free)
    if unknown:
        raise ValueError(f"--prior {unknown[0]}: no such parameter is free; {', '.join(sorted(free))} are")
    return stated if request.method == "map" else None


def prior_texts(request: FitRequest, models: Sequence[Model], people: People) -> dict[str, str]:
    """Each prior in words: on which scale it is normal, and the range that holds 95 % of it."""
    if request.method != "map":
        return {}
    unit = models[0].unit(people.persons)
    names = dict.fromkeys(name for model in models for name in model.free() if name not in WHOLE)
    free = [searched(name, unit) for name in names]
    mean, sd = parse_priors(request.priors)(free)
    texts = {}
    for one, centre, spread in zip(free, mean, sd, strict=True):
        low, high = sorted(one.natural(float(centre + side * CENTRAL * spread)) for side in (-1, 1))
        texts[one.name] = f"normal on the {one.scale.name} scale, 95 % from {low:.4g} to {high:.4g}"
    return texts


def write(result: FitResult, out: str, plot: str | None = None) -> None:
    """A table or a netCDF file in `out`, a picture in `plot`; each file is whole or not there."""
    if out.endswith(NETCDF):
        save(out, result.dataset())
    else:
        _write_table(out, result.table())
    if plot is not None:
        from volatilis.plots import fits as picture

        save_picture(picture, result.dataset(), plot)


def _write_table(out: str | os.PathLike[str], frame: pd.DataFrame) -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    with writer(out, table.schema) as put:
        for batch in table.to_batches():
            put(batch)


def command_of(request: FitRequest) -> str:
    """The command line that makes these fits again."""
    source = request.source
    given: list[tuple[str, Any, Any]] = [
        ("--by", ",".join(source.by), "subject"),
        ("--outcome", source.outcome, "outcome"),
        ("--response-column", source.response, "prediction"),
        ("--when", source.when, "before"),
        *((f"--{name}", getattr(source, name), None) for name in ("block", "reset", "catch", "trial", "given")),
        ("--missing", source.missing, "error"),
        ("--bounds", None if source.bounds is None else f"{source.bounds[0]!r},{source.bounds[1]!r}", None),
        ("--categories", ",".join(source.categories), ""),
        ("--contexts", ",".join(source.contexts), ""),
        ("--magnitudes", ",".join(source.magnitudes), ""),
        ("--learn", source.learn, "chosen"),
        ("--method", request.method, "ml"),
        *(("--prior", prior, None) for prior in request.priors),
        *(("--own", path, None) for path in request.own),
    ]
    words = ["volatilis", "fit", os.fspath(source.table), "--family", request.family]
    words += [word for learner in request.learners for word in ("--learner", learner)]
    words += ["--response", request.response]
    words += [word for option, value, usual in given if value != usual for word in (option, str(value))]
    words += [
        "--starts",
        str(request.options.starts),
        "--seed",
        str(request.options.seed),
        *(["--profile"] if request.profile else []),
    ]
    return shlex.join(words)


# --- in the terminal -----------------------------------------------------------------------------------------------------


def show(result: FitResult, *outputs: str) -> None:
    """Print medians, sums and, for single people, what a reader must know; `outputs` are the files that were written.

    On standard error, since the table may go to standard output.
    """
    console = console_of(stderr=True)
    count = len(result.people.persons)
    people = "1 person" if count == 1 else f"{count:,} people"
    where = "".join(f" -> {out}" for out in outputs if out != "-")
    models = "1 model" if len(result.models) == 1 else f"{len(result.models)} models"
    console.print(plain(f"{people}, {models}{where}"), soft_wrap=True)
    console.print(blocks_of(result.people), soft_wrap=True)
    for doubt in result.people.doubts:
        console.print(f"[yellow]warning[/yellow]: {plain(doubt.message)}", soft_wrap=True)
    console.print(_table(result))
    for line in _totals(result):
        console.print(line, soft_wrap=True)
    for name, text in prior_texts(result.request, result.models, result.people).items():
        console.print(f"prior of {name}: {text}", soft_wrap=True)
    for group in result.groups:
        if not group.converged:
            text = f"{group.label}: the group's mean or spread still changed after {group.rounds} rounds"
            console.print(f"[yellow]{text}[/yellow]", soft_wrap=True)
        alike = ", ".join(group.alike)
        if alike:
            text = f"{group.label}: no difference between people was found in {alike}; the intervals assume that there is none"
            console.print(f"[yellow]{text}[/yellow]", soft_wrap=True)
    _show_people(console, result)


def _table(result: FitResult) -> Table:
    of_group = ("group", "shrinkage") if result.groups else ()
    rows: list[tuple[str, ...]] = []
    frame = result.table()
    for k, model in enumerate(result.models):
        fits = frame[frame.model == model.label]
        if fits.log_likelihood.isna().all():
            rows.append((model.label, "", "", "nobody was fitted", *("" for _ in of_group)))
            continue
        for i, name in enumerate(model.free()):
            low, middle, high = np.nanquantile(fits[fits.parameter == name]["value"], (0.25, 0.5, 0.75))
            shared = _of_group(result.groups[k], name) if result.groups else ()
            rows.append(("" if i else model.label, name, f"{middle:.4g}", f"{low:.4g} to {high:.4g}", *shared))
    return table("llll" + "l" * len(of_group), ("model", "parameter", "median", "quartiles", *of_group), rows)


def _totals(result: FitResult) -> list[str]:
    frame = result.table().drop_duplicates(["person", "model"]).dropna(subset=["log_likelihood"])
    lines = []
    for model in result.models:
        fits = frame[frame.model == model.label]
        if fits.empty:
            continue
        warned = int((fits.warnings != "").sum())
        sums = f"log likelihood {fits.log_likelihood.sum():,.1f}, {_criterion(fits)}"
        lines.append(f"{model.label}: {sums}; {warned} of {len(fits)} people with a warning")
    return lines


def _criterion(fits: pd.DataFrame) -> str:
    if fits.bic.notna().any():
        return f"BIC {fits.bic.sum():,.1f}"
    missing = int(fits.log_evidence.isna().sum())
    return f"log evidence {fits.log_evidence.sum():,.1f}" + (f" without {missing} who have none" if missing else "")


def _of_group(group: FittedGroup, name: str) -> tuple[str, str]:
    if name not in group.names:  # a whole number
        return "", ""
    return f"{group.middle[name]:.4g}", f"{np.nanmean(group.shrinkage[:, group.names.index(name)]):.2f}"


def _show_people(console: Console, result: FitResult) -> None:
    lines = [(name, f"not fitted: {why}", "red") for name, why in result.people.refused.items()]
    lines += [(one.person, f"{one.label}: not fitted: {one.message}", "red") for one in result.fits if isinstance(one, Failure)]
    lines += [(name, note, "yellow") for name, note in result.people.notes.items()]
    warned = [one for one in result.fits if isinstance(one, Fit) and one.warnings]
    lines += [(one.person, f"{one.label}: {'; '.join(one.warnings)}", "yellow") for one in warned]
    for name, text, colour in lines[:SHOWN]:
        console.print(f"[{colour}]{plain(name)}[/{colour}]: {plain(text)}", soft_wrap=True)
    if len(lines) > SHOWN:
        console.print(f"and {len(lines) - SHOWN:,} more, in the column warnings of the results", soft_wrap=True)
