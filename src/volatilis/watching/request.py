"""What to watch, and how; and what came of it, in numbers."""

from __future__ import annotations

import os
from typing import NamedTuple

from volatilis.catalogue import Recipe, make_family, make_learner
from volatilis.families import Bernoulli
from volatilis.learners._base import Learner
from volatilis.tables import counted
from volatilis.watching.fields import Fields

BAD_LINES = ("stop", "report")
SAVE_EVERY = 10.0  # seconds, if not given
LOCK_SUFFIX = ".lock"  # of the file beside a state that is in use


class WatchRequest(NamedTuple):
    """What to watch, and how.

    input         a file, or - for standard input; `follow`: it grows, and may be rotated
    key, value    the fields that make the key, and the observation (several for a vector)
    missing       what a missing observation means: error, elapse (time passes), skip
    alarm         an adaptation rate above this; alarm_run_length: a run length below this share of the longest
    bad_lines     stop, or report and go on
    state         a file that keeps everything; saved every so many seconds (None: 10)
    replay        a pipe that starts again from its beginning: skip what was read before
    """

    input: str
    family: Recipe
    learner: Recipe
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


class Summary(NamedTuple):
    """What was seen since the state began, earlier runs included."""

    observations: int = 0
    missing: int = 0
    bad_lines: int = 0
    alarms: int = 0
    keys: int = 0  # 0 where lines have none

    def sentence(self) -> str:
        """1,200 observations of 3 keys, 4 missing, 0 bad lines, 2 alarms"""
        of_keys = f" of {counted(self.keys, 'key')}" if self.keys else ""
        rest = f"{self.missing:,} missing, {counted(self.bad_lines, 'bad line')}, {counted(self.alarms, 'alarm')}"
        return f"{counted(self.observations, 'observation')}{of_keys}, {rest}"


def check_request(request: WatchRequest) -> None:
    """Refuse what cannot be done, before anything is read."""
    if request.bad_lines not in BAD_LINES:
        raise ValueError(f"--bad-lines {request.bad_lines}: {', '.join(BAD_LINES)} are accepted")
    for option, given in (("--replay", request.replay), ("--save-every", request.save_every is not None)):
        if given and request.state is None:
            raise ValueError(f"{option} has no effect without --state FILE: add that, or leave {option} out")
    if request.save_every is not None and not request.save_every >= 0.0:
        raise ValueError(f"--save-every {request.save_every}: seconds, 0 or more, are accepted")
    used: dict[str, str] = {}
    locked = None if request.state is None else request.state + LOCK_SUFFIX
    files = ("the input", request.input), ("--out", request.out), ("--state", request.state), ("the lock of --state", locked)
    for what, path in files:
        if path not in ("-", None):
            other = used.setdefault(os.path.realpath(path), what)
            if other != what:
                raise ValueError(f"{path} is both {other} and {what}; give one of them another name")


def learner_of(request: WatchRequest) -> Learner:
    for recipe in (request.family, request.learner):
        if recipe.columns():
            raise ValueError(f"{recipe.text!r}: volatilis watch cannot take a parameter from a column; volatilis run can")
    return make_learner(request.learner, make_family(request.family, {}), {})


def fields_of(request: WatchRequest, learner: Learner) -> Fields:
    """What stands where in a line, checked against the family."""
    family = learner.family
    shape, named = family.observations([])[0].shape[1:], len(request.value)
    width = shape[0] if shape else None
    if named == 0 or named not in (1, width):
        raise ValueError(
            f"an observation of this family has {counted(width or 1, 'number')}; --value names {counted(named, 'field')}"
        )
    if request.categories and len(request.categories) != family.categories():
        raise ValueError(
            f"--categories names {len(request.categories)} categories, but the family {request.family.name} has "
            f"{family.categories() or 'none'}"
        )
    codes = {name: float(code) for code, name in enumerate(request.categories)}
    return Fields(request.key, request.value, width, codes, isinstance(family, Bernoulli))
