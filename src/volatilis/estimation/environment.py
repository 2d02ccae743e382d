"""What was found of an environment: values, errors and intervals; as text, and as a small file."""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from volatilis._core.fields import given_fields
from volatilis._core.files import whole_file
from volatilis.catalogue import FAMILY_RECORDS, make_family, parse_family
from volatilis.families._base import Family

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from volatilis.estimation.checks import Check

FORMAT, VERSION = "volatilis-environment", 1
MAX_BYTES = 1 << 24
METHODS = {"map": "maximum a posteriori", "ml": "maximum evidence"}


class Estimate(NamedTuple):
    """One parameter: its value, its standard error (NaN where the evidence is flat) and the ends of its 95 % interval."""

    name: str
    value: float
    error: float
    low: float
    high: float


class Profile(NamedTuple):
    """How the evidence falls on both sides of a parameter's best value, the others at their best: 0 at the highest."""

    values: np.ndarray
    log_evidence: np.ndarray


@dataclass(frozen=True)
class Environment:
    """A family and a change probability, as the observations suggest them.

    family, p_c        to build learners with
    estimates          of each parameter that was unknown: value, error, 95 % interval
    log_evidence       log P(observations) at these values
    log_marginal       the same averaged over the priors (Laplace's approximation): what families are compared by
    observations, sequences    how many there were
    method             "map": maximum a posteriori, with weak priors; "ml": maximum evidence
    priors             those of "map", in words
    notes              what the data cannot tell, in words
    check              of the one-step errors; None where it was not asked for or the family has none
    warnings           what somebody who uses it must know, such as a family that does not fit
    profile_of         computes `profile`; an environment from a file has none

    >>> import pathlib, tempfile, volatilis as vl
    >>> found = vl.Environment(vl.Gaussian(sigma=10.0, mu_0=150.0, sigma_0=50.0), 0.1, (), -3422.9, -3430.1, 800, 1, "map")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found.save(pathlib.Path(folder) / "environment.json")
    ...     vl.Environment.load(pathlib.Path(folder) / "environment.json").family
    Gaussian(sigma=10.0, mu_0=150.0, sigma_0=50.0)
    """

    family: Family
    p_c: float
    estimates: tuple[Estimate, ...]
    log_evidence: float
    log_marginal: float
    observations: int
    sequences: int
    method: str
    priors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    check: Check | None = None
    warnings: tuple[str, ...] = ()
    profile_of: Callable[[str, int], Profile] | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, name: str) -> Estimate:
        estimate = next((one for one in self.estimates if one.name == name), None)
        if estimate is None:
            raise KeyError(f"{name} was not estimated; {', '.join(one.name for one in self.estimates)} were")
        return estimate

    @property
    def text(self) -> str:
        """The family as the command line has it."""
        return family_text(self.family)

    def profile(self, name: str = "p_c", points: int = 25) -> Profile:
        """The evidence at `points` values of the parameter `name` around its best one, the others at their best."""
        self[name]
        if self.profile_of is None:
            raise ValueError("an environment that was read from a file has no observations to compute a profile from")
        return self.profile_of(name, points)

    def plot(self, name: str = "p_c") -> Figure:
        """Draw the profile of the parameter `name`; returns the figure."""
        from volatilis.plots.estimates import draw_profile

        profile, one = self.profile(name), self[name]
        return draw_profile(profile.values, profile.log_evidence, (one.value, one.low, one.high), name, self.title())

    def title(self) -> str:
        """One line: which family, how many observations."""
        several = "" if self.sequences == 1 else f" in {self.sequences:,} sequences"
        return f"{kind_of(self.family)}, {self.observations:,} observations{several}, {METHODS[self.method]}"

    def __str__(self) -> str:
        rows = [("", "value", "error", "95 % interval"), *map(_row, self.estimates)]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [self.title()]
        lines += ["  " + "  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines.append(f"  log evidence {self.log_evidence:.2f}")
        lines += [f"  prior of {prior}" for prior in self.priors]
        lines += [f"- {note}" for note in self.notes]
        lines += [f"- WARNING: {warning}" for warning in self.warnings]
        if self.check is not None and self.check.enough and self.check.fits:
            lines.append("- the one-step errors are as the model says: nothing speaks against it")
        elif self.check is not None and not self.check.enough:
            lines.append(f"- whether the family fits was not checked: {self.check}")
        return "\n".join(lines)

    # --- files -----------------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The content of the file that `save` writes."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "family": self.text,
            "p_c": self.p_c,
            "estimates": {one.name: {k: _or_null(v) for k, v in one._asdict().items() if k != "name"} for one in self.estimates},
            "log_evidence": _or_null(self.log_evidence),
            "log_marginal": _or_null(self.log_marginal),
            "observations": self.observations,
            "sequences": self.sequences,
            "method": self.method,
            "priors": list(self.priors),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }
        return json.dumps(content, indent=2, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the small JSON file `path`, whole or not at all; `--environment` takes it, and `Environment.load`."""
        with whole_file(path) as file:
            file.write((self.to_json() + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Environment:
        """What `save` wrote into the file `path`. Raises ValueError for anything else."""
        file = pathlib.Path(path)
        if file.stat().st_size > MAX_BYTES:
            raise ValueError(f"{path} is larger than 16 MiB, so it is no environment")
        try:
            content = json.loads(file.read_bytes().decode("utf-8"))
        except (ValueError, RecursionError):
            raise ValueError(
                f"{path} is not JSON, so it is no environment; volatilis environment TABLE --out writes one"
            ) from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"{path} is not an environment; volatilis environment TABLE --out writes one")
        if content.get("version") != VERSION:
            raise ValueError(f"{path} has version {content.get('version')!r}; this release reads version {VERSION}")
        try:
            return cls._from(content)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path} does not hold an environment: {error}") from None

    @classmethod
    def _from(cls, content: Mapping[str, Any]) -> Environment:
        recipe = parse_family(content["family"])
        if recipe.free() or recipe.columns():
            raise ValueError("its family is not complete")
        estimates = tuple(
            Estimate(name, *(_number(one[k]) for k in ("value", "error", "low", "high")))
            for name, one in content["estimates"].items()
        )
        p_c, method = float(content["p_c"]), content["method"]
        if not 0.0 < p_c < 1.0 or method not in METHODS:
            raise ValueError(f"p_c = {p_c!r} with the method {method!r}")
        texts = {key: tuple(str(one) for one in content[key]) for key in ("priors", "notes", "warnings")}
        counts = {key: int(content[key]) for key in ("observations", "sequences")}
        evidence = {key: _number(content[key]) for key in ("log_evidence", "log_marginal")}
        return cls(make_family(recipe, {}), p_c, estimates, method=method, **evidence, **counts, **texts)  # type: ignore[arg-type]


def _row(one: Estimate) -> tuple[str, str, str, str]:
    error = "" if math.isnan(one.error) else f"{one.error:.2g}"
    return one.name, f"{one.value:.5g}", error, f"{one.low:.5g} to {one.high:.5g}"


def _or_null(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


@dataclass(frozen=True)
class Environments(Sequence[Environment]):
    """Several families for the same observations, the best first. Only the best is checked, and has intervals by search.

    environments    all of them
    behind          by how many nats each is behind the best: log evidence, averaged over the priors
    """

    environments: tuple[Environment, ...]
    behind: tuple[float, ...]

    def __getitem__(self, index: Any) -> Any:
        return self.environments[index]

    def __len__(self) -> int:
        return len(self.environments)

    @property
    def best(self) -> Environment:
        """The one of the highest evidence, which is checked."""
        return self.environments[0]

    @property
    def family(self) -> Family:
        """The best one's, to build learners with."""
        return self.best.family

    @property
    def p_c(self) -> float:
        """The best one's."""
        return self.best.p_c

    def __str__(self) -> str:
        width = max(len(_name(one)) for one in self.environments)
        lines = ["compared by log evidence, averaged over the priors; the best is 0"]
        lines += [
            f"  {_name(one).ljust(width)}  {0.0 - nats:10.2f}" for one, nats in zip(self.environments, self.behind, strict=True)
        ]
        return "\n".join([*lines, "", str(self.best)])


def _name(one: Environment) -> str:
    return kind_of(one.family)


def kind_of(family: Family) -> str:
    """Which family it is, without its numbers: contaminated:gaussian, autoregression:1."""
    name, inner, fields = _parts(family)
    of = kind_of(inner) if inner is not None else str(fields["order"]) if fields.get("order", 0) and "k" not in fields else ""
    return f"{name}:{of}" if of else name


def family_text(family: Family) -> str:
    """A family as it is written: reads back to the same numbers."""
    name, inner, fields = _parts(family)
    items = ",".join(f"{key}={json.dumps(v.tolist()) if isinstance(v, np.ndarray) else repr(v)}" for key, v in fields.items())
    text = ";".join(filter(None, (family_text(inner) if inner is not None else "", items)))
    return f"{name}:{text}".replace(" ", "") if text else name


def _parts(family: Family) -> tuple[str, Family | None, dict[str, Any]]:
    """Its name, the family that it is made of, and its own parameters."""
    record = next(record for record in FAMILY_RECORDS.values() if record.cls is type(family))
    fields = given_fields(family)
    return record.name, fields.pop("family", None), fields
