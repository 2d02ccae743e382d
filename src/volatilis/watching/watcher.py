"""The loop: lines that are there, through the learner, out at once; the state saved every so often and at the end."""

from __future__ import annotations

import os
import select
import signal
import time
from types import FrameType
from typing import Any

import numpy as np

from volatilis._core.signals import STOPPING
from volatilis.running.arguments import missing_policy
from volatilis.running.drivers import OBSERVE
from volatilis.watching.alarms import Alarms, rules_for
from volatilis.watching.input import Block, Lines
from volatilis.watching.keyed import ROWS, Keyed
from volatilis.watching.output import Format, Output, Report, Written
from volatilis.watching.parsing import Parsed, Parser
from volatilis.watching.request import SAVE_EVERY, Summary, WatchRequest, check_request, fields_of, learner_of
from volatilis.watching.state import Memory, state_locked

BUSY_SAVING = 0.05  # the largest share of time that goes into saving a large state


def watch(request: WatchRequest, report: Report, tell: Report | None = None) -> Summary:
    """Until the input ends or a signal comes; the state is saved.

    Raises KeyboardInterrupt after Ctrl-C, SystemExit(143) after SIGTERM and SystemExit(129) after SIGHUP.

    `report` is for what happens to the input and the state, `tell` for what somebody who waits wants to know.
    """
    check_request(request)
    with state_locked(request.state, report):
        watcher = Watcher(request, report, tell)
        with watcher, Waiting(watcher.output.descriptor) as waiting:
            watcher.run(waiting)
    if waiting.caught == signal.SIGINT:
        raise KeyboardInterrupt
    if waiting.caught is not None:
        raise SystemExit(128 + waiting.caught)
    return watcher.summary


class Waiting:
    """While this context is open, Ctrl-C, SIGTERM and SIGHUP only leave a note in `caught`: no block of lines is cut in two.

    A second signal does what it would have done without this context. A signal that is ignored, as under nohup, stays ignored.
    """

    def __init__(self, output: int | None = None) -> None:
        self.caught: int | None = None
        self._output = output
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Waiting:
        self._bell, self._ring = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._ring, False)
        self._wakeup = signal.set_wakeup_fd(self._ring, warn_on_full_buffer=False)
        for number in (signal.SIGINT, *STOPPING):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._bell)
        os.close(self._ring)

    def wait(self, descriptor: int | None, seconds: float | None) -> bool:
        """Until there is something to read, a signal came or the time is over; says whether there is something to read.

        Without a descriptor just for that time. Raises BrokenPipeError when nobody reads the output any more.
        """
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
        if self._output is not None:
            poll.register(self._output, 0)  # only for what is always reported: that the other end is closed
        ready = dict(poll.poll(None if seconds is None else max(0.0, seconds) * 1000.0))
        if self._output is not None and self._output != descriptor and ready.get(self._output, 0) & select.POLLERR:
            raise BrokenPipeError
        return self.caught is None and descriptor in ready

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.caught = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}


class Watcher:
    """One input, one output, the states of all keys."""

    def __init__(self, request: WatchRequest, report: Report, tell: Report | None = None) -> None:
        self.request, self._report, self._missing = request, report, missing_policy(request.missing)
        learner = learner_of(request)
        rules = rules_for(learner, request.alarm, request.alarm_run_length)
        has_alarm = rules != (None, None)
        if request.only_alarms and not has_alarm:
            raise ValueError(f"--only-alarms: {type(learner).__name__} gives no alarms unless --alarm-run-length is set")
        fields = fields_of(request, learner)
        self._format = Format(learner, fields, request.output_format, request.measures, has_alarm)
        self._parser = Parser(fields, request.input_format, learner, self._missing != OBSERVE)
        self._keyed, self._alarms = Keyed(learner, request.seed, tell), Alarms(rules)
        self._key_texts: list[str] = []
        self.summary = Summary()
        self._memory = Memory(request, self._keyed, self._alarms, self._parser)
        saved = self._memory.load()
        if saved is not None:
            self.summary = saved.summary
        self._saved, self._unsaved, self._next_save = saved, False, 0.0
        self._save_every = SAVE_EVERY if request.save_every is None else request.save_every
        self._lines = Lines(request.input, request.follow, report)
        self.output = Output(request.out, saved.output if saved is not None and saved.out == request.out else None, report)

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()
        self.output.close()

    def run(self, waiting: Waiting) -> None:
        try:
            if self._saved is not None:
                self._lines.go_on(self._saved.place, self.request.replay, waiting)
            elif self.request.state is not None:  # now, so that a place where nothing can be written is refused at once
                self._unsaved = True
                self._save()
            if self.output.is_empty:
                self.output.write(self._format.header())
            while waiting.caught is None and not self._lines.ended:
                block = self._lines.next_block(waiting, self._seconds_to_save())
                if block is not None:
                    self._take(block)
                if self._unsaved and self._seconds_to_save() == 0.0:
                    self._save_or_say()
        except BrokenPipeError:  # nobody reads: what was learned is kept
            self._save()
            raise
        except _StoppedAtLineError as stopped:
            self._save()
            raise ValueError(str(stopped)) from None
        self._save()

    # --- lines -----------------------------------------------------------------------------------------------------------

    def _take(self, block: Block) -> None:
        try:
            parsed = self._parser.parse(block.data, block.lines_before, block.begins, self._lines.goes_on)
        except ValueError as error:
            raise ValueError(f"{self._lines.name}: {error}") from None
        data, count = block.data, block.data.count(b"\n") + (not block.data.endswith(b"\n"))
        stopped = None
        if parsed.bad and self.request.bad_lines == "stop":
            bad = parsed.bad[0]
            parsed, count = _before(parsed, bad.line), bad.line - block.lines_before - 1
            data = _first_lines(data, count)
            stopped = f"{self._lines.name}: line {bad.line}: {bad.reason}; --bad-lines report leaves such lines out"
        for bad in parsed.bad:
            self._report(f"{self._lines.name}: line {bad.line} is left out: {bad.reason}")
        texts = [self._advance(parsed, slice(start, start + ROWS)) for start in range(0, len(parsed.lines), ROWS)]
        self._lines.take(data, count)
        self._unsaved = self._unsaved or bool(data)
        keys = len(self._keyed.numbers) if self.request.key else 0
        self.summary = self.summary._replace(bad_lines=self.summary.bad_lines + len(parsed.bad), keys=keys)
        self.output.write(b"".join(texts))  # once all of the block is learned: a reader may go away at any time
        if stopped is not None:
            raise _StoppedAtLineError(stopped)

    def _advance(self, parsed: Parsed, part: slice) -> bytes:
        """Some lines through the learner; returns what is to be written."""
        lines, values, absent = parsed.lines[part], parsed.values[part], parsed.absent[part]
        numbers = self._keyed.numbers_of(parsed.keys[part], len(lines))
        out = self._keyed.advance(numbers, values, np.where(absent, self._missing, OBSERVE))
        alarms, s = self._alarms.of(out, numbers, ~absent), self.summary
        missing = int(np.count_nonzero(absent))
        self.summary = s._replace(
            observations=s.observations + len(lines) - missing,
            missing=s.missing + missing,
            alarms=s.alarms + int(np.count_nonzero(alarms)),
        )
        written = Written(lines, self._texts_of(numbers), parsed.observed[part], absent, out, alarms)
        return self._format.text(written.only(alarms) if self.request.only_alarms else written)

    def _texts_of(self, numbers: np.ndarray) -> list[str]:
        if not self.request.key:
            return []
        texts, keys = self._key_texts, self._keyed.numbers
        if len(texts) < len(keys):
            texts += [self._format.key_text(key) for key in list(keys)[len(texts) :]]
        return [texts[number] for number in numbers.tolist()]

    # --- saving ----------------------------------------------------------------------------------------------------------

    def _seconds_to_save(self) -> float | None:
        """None where there is nothing to save."""
        if self.request.state is None or not self._unsaved:
            return None
        return max(0.0, self._next_save - time.monotonic())

    def _save(self) -> None:
        if self.request.state is None or not self._unsaved:
            return
        start = time.monotonic()
        self._memory.save(self._lines.place, self.summary, self.output)
        self._unsaved = False
        self._next_save = time.monotonic() + max(self._save_every, (time.monotonic() - start) / BUSY_SAVING)

    def _save_or_say(self) -> None:
        """While the watcher runs a state that cannot be saved is no reason to stop: the disk may have room again later."""
        try:
            self._save()
        except OSError as error:
            self._report(f"{error.strerror or error}; the state is not saved, and will be tried again")
            self._next_save = time.monotonic() + max(self._save_every, 1.0)


class _StoppedAtLineError(Exception):
    """A bad line; those before it were dealt with."""


def _before(parsed: Parsed, line: int) -> Parsed:
    count = int(np.searchsorted(parsed.lines, line))
    first = slice(count)
    return Parsed(parsed.lines[first], parsed.keys[first], parsed.observed[first], parsed.values[first], parsed.absent[first], [])


def _first_lines(data: bytes, count: int) -> bytes:
    end = 0
    for _ in range(count):
        end = data.index(b"\n", end) + 1
    return data[:end]
