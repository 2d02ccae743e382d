"""What to watch, and how; and what came of it, in numbers."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from volatilis.catalogue import Recipe, make_family, make_learner
from volatilis.changepoints import AlarmFile, load_alarms
from volatilis.families import Bernoulli
from volatilis.families._base import Family
from volatilis.learners._base import Learner
from volatilis.tables import counted
from volatilis.watching.choosing import CHOICES
from volatilis.watching.clock import duration
from volatilis.watching.fields import Fields
from volatilis.watching.keys import Keys
from volatilis.watching.warm_up import WarmUp

BAD_LINES = ("stop", "report")
FEWEST = 20  # lines of a warm-up
SAVE_EVERY = 10.0  # seconds, if not given
LOCK_SUFFIX = ".lock"  # of the file beside a state that is in use


class WatchRequest(NamedTuple):
    """What to watch, and how.

    input         a file, or - for standard input; `follow`: it grows, and may be rotated
    key, value    the fields that make the key, and the observation (several for a vector)
    missing       what a missing observation means: error, elapse (time passes), skip
    alarms        a file of `volatilis calibrate`, with the learner and the rule; family and learner are None then
    alarm         an adaptation rate above this; alarm_run_length: a run length below this share of the longest
    time          the field with the time of an observation; interval: how long one step of the learner is, such as 60s
    keep          fields that are passed on to the output
    forget_after  keys that were silent for so long start anew, such as 24h or 10000lines; max_keys: so many at most
    metrics       a file with counts for Prometheus
    learn         the first so many observations of a key are kept, and its parameters are estimated from them; None: known
    choose        whether the first observations also choose the family
    given         the field of the context, for a family or a learner that has contexts; several for regressors
    contexts      the names of the contexts in their order, where they are texts
    bad_lines     stop, or report and go on
    state         a file that keeps everything; saved every so many seconds (None: 10)
    replay        a pipe that starts again from its beginning: skip what was read before
    """

    input: str
    family: Recipe | None
    learner: Recipe | None
    key: tuple[str, ...] = ()
    value: tuple[str, ...] = ("value",)
    input_format: str = "auto"
    output_format: str = "jsonl"
    out: str = "-"
    measures: tuple[str, ...] | None = None
    missing: str = "error"
    categories: tuple[str, ...] = ()
    alarm: float | None = None
    alarm_run_length: float | None = None
    only_alarms: bool = False
    bad_lines: str = "stop"
    follow: bool = False
    state: str | None = None
    save_every: float | None = None
    replay: bool = False
    seed: int = 0
    time: str | None = None
    interval: str | None = None
    keep: tuple[str, ...] = ()
    forget_after: str | None = None
    max_keys: int | None = None
    metrics: str | None = None
    alarms: str | None = None
    learn: int | None = None
    choose: bool = False
    given: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()


class Summary(NamedTuple):
    """What was seen since the state began, earlier runs included."""

    observations: int = 0
    missing: int = 0
    bad_lines: int = 0
    alarms: int = 0
    keys: int = 0  # that are remembered now; 0 where lines have none
    late: int = 0  # lines
    forgotten: int = 0  # keys

    def sentence(self) -> str:
        """1,200 observations of 3 keys, 4 missing, 0 bad lines, 2 alarms"""
        of_keys = f" of {counted(self.keys, 'key')}" if self.keys else ""
        parts = [
            f"{self.missing:,} missing",
            *([f"{self.late:,} late"] if self.late else []),
            counted(self.bad_lines, "bad line"),
        ]
        parts += [counted(self.alarms, "alarm"), *([f"{counted(self.forgotten, 'key')} forgotten"] if self.forgotten else [])]
        return f"{counted(self.observations, 'observation')}{of_keys}, {', '.join(parts)}"

    @property
    def lines(self) -> int:
        """That could be used or not; empty ones do not count."""
        return self.observations + self.missing + self.late + self.bad_lines


def check_request(request: WatchRequest) -> None:
    """Refuse what cannot be done, before anything is read."""
    if request.bad_lines not in BAD_LINES:
        raise ValueError(f"--bad-lines {request.bad_lines}: {', '.join(BAD_LINES)} are accepted")
    for option, given in (("--replay", request.replay), ("--save-every", request.save_every is not None)):
        if given and request.state is None:
            raise ValueError(f"{option} has no effect without --state FILE: add that, or leave {option} out")
    if request.learn is not None and request.learn < FEWEST:
        raise ValueError(f"--learn {request.learn}: {FEWEST} lines or more are accepted; with fewer nothing can be estimated")
    if request.save_every is not None and not request.save_every >= 0.0:
        raise ValueError(f"--save-every {request.save_every}: seconds, 0 or more, are accepted")
    _check_time(request)
    for option, path in (("--state", request.state), ("--metrics", request.metrics)):
        if path is not None and os.path.isdir(path):
            raise ValueError(f"{option} {path} is a folder; the name of a file is accepted")
    _check_names(request)


def _check_time(request: WatchRequest) -> None:
    if request.time is not None and request.interval is None:
        raise ValueError(f"--time {request.time} needs --interval, the time from one observation to the next, such as 60s")
    if request.interval is not None:
        if request.time is None:
            raise ValueError("--interval has no effect without --time FIELD: add that, or leave --interval out")
        duration("--interval", request.interval)
    for option, given in (("--forget-after", request.forget_after), ("--max-keys", request.max_keys)):
        if given is not None and not request.key:
            raise ValueError(f"{option} is about keys: name their fields with --key, or leave {option} out")
    if request.max_keys is not None and request.max_keys < 1:
        raise ValueError(f"--max-keys {request.max_keys}: a whole number from 1 up is accepted")
    if request.forget_after is not None:
        _, in_lines = duration("--forget-after", request.forget_after, with_lines=True)
        if not in_lines and request.time is None:
            raise ValueError(
                f"--forget-after {request.forget_after} needs the time of a line: name its field with --time, or give a "
                "number of lines, such as 100000lines"
            )


def _check_names(request: WatchRequest) -> None:
    """No file has two roles."""
    used: dict[str, str] = {}
    locked = None if request.state is None else request.state + LOCK_SUFFIX
    files = {"the input": request.input, "--out": request.out, "--state": request.state, "the lock of --state": locked}
    for what, path in (files | {"--metrics": request.metrics, "--alarms": request.alarms}).items():
        if path not in ("-", None):
            other = used.setdefault(os.path.realpath(path), what)
            if other != what:
                raise ValueError(f"{path} is both {other} and {what}; give one of them another name")


def learner_of(request: WatchRequest, calibrated: AlarmFile | None) -> Learner:
    if calibrated is not None:
        return calibrated.learner
    if request.family is None or request.learner is None:
        raise ValueError("--family and --learner are needed, or --alarms FILE, which holds both")
    for recipe in (request.family, request.learner):
        if recipe.columns():
            raise ValueError(f"{recipe.text!r}: volatilis watch cannot take a parameter from a column; volatilis run can")
    learner = make_learner(request.learner, make_family(request.family, {}), {})
    return learner if request.learn is None else WarmUp(learner, request.learn, len(CHOICES) if request.choose else 1)


def calibrated_by(request: WatchRequest) -> AlarmFile | None:
    """What the file of --alarms holds; None without one."""
    if request.alarms is None:
        return None
    given = {"--family": request.family, "--learner": request.learner, "--alarm": request.alarm}
    for option, value in (given | {"--alarm-run-length": request.alarm_run_length}).items():
        if value is not None:
            raise ValueError(f"{option} is in {request.alarms} already, which holds the learner and the rule; leave {option} out")
    return load_alarms(request.alarms)


def fields_of(request: WatchRequest, learner: Learner) -> Fields:
    """What stands where in a line, checked against the family."""
    family = learner.family
    width = _width_of(request, family)
    if request.categories and len(request.categories) != family.categories():
        raise ValueError(
            f"--categories names {len(request.categories)} categories, but the family {type(family).__name__} has "
            f"{family.categories() or 'none'}"
        )
    if request.contexts and not request.given:
        raise ValueError("--contexts names the contexts in a field; say with --given which one it is")
    codes, contexts = ({n: float(i) for i, n in enumerate(names)} for names in (request.categories, request.contexts))
    taken = {*request.key, *request.value}
    # key and value are written anyway; a context is passed on as it came
    keep = tuple(name for name in dict.fromkeys((*request.given, *request.keep)) if name not in taken)
    return Fields(
        request.key, request.value, width, codes, _observes_booleans(family), request.time, keep, request.given, contexts
    )


def _width_of(request: WatchRequest, family: Family) -> int | None:
    """The length of the vector that is observed; None for one number. Refuses fields that the family cannot take."""
    named, width = len(request.value), family.context_width()
    if request.given and len(request.given) != width:
        if not width:
            raise ValueError(
                "--given has no effect: neither the family nor the learner has contexts; the family given:FAMILY;contexts=K "
                "has, and the learner per-context:LEARNER;contexts=K"
            )
        raise ValueError(f"the context has {counted(width, 'number')}; --given names {counted(len(request.given), 'field')}")
    if width and not request.given:
        return _width_of_all(named, family)
    shape = family.as_observed(family.observations([])[0]).shape[1:]
    if named == 0 or named not in (1, *shape):
        numbers = counted(shape[0] if shape else 1, "number")
        raise ValueError(f"an observation of this family has {numbers}; --value names {counted(named, 'field')}")
    return shape[0] if shape else None


def _width_of_all(named: int, family: Family) -> int:
    """Of observations of all contexts in one line, a field each."""
    try:
        family.observations(np.full((1, named), np.nan))
    except (ValueError, TypeError):
        raise ValueError(
            f"this model has contexts; name their field with --given ({counted(family.context_width(), 'number')}), or with "
            "--value the observations of all contexts, one field each"
        ) from None
    return named


def _observes_booleans(family: Family) -> bool:
    while "family" in family._fields:  # type: ignore[attr-defined]
        family = family.family  # type: ignore[attr-defined]
    return isinstance(family, Bernoulli)


def row_shape(fields: Fields, family: Family) -> tuple[int, ...]:
    """Of an observation as the family encodes it, its context included."""
    missing = np.full(1 if fields.width is None else (1, fields.width), np.nan)
    given = np.zeros((1, len(fields.given))) if len(fields.given) > 1 else np.zeros(1) if fields.given else None
    return family.observations(missing, given=given)[0].shape[1:]


def keys_of(request: WatchRequest) -> tuple[Keys, bool]:
    """Which keys are forgotten, and whether that is counted in lines."""
    if request.forget_after is None:
        return Keys(request.max_keys), True
    after, in_lines = duration("--forget-after", request.forget_after, with_lines=True)
    return Keys(request.max_keys, after), in_lines
