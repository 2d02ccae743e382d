"""The loop: lines that are there, through the learner, out at once; the state saved every so often and at the end."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

import numpy as np

from volatilis.estimation.streams import StreamCheck
from volatilis.running.arguments import missing_policy
from volatilis.running.drivers import OBSERVE, PASSED, SKIP
from volatilis.tables import counted
from volatilis.watching.clock import Clock, duration
from volatilis.watching.format import Format, KeyTexts, Written
from volatilis.watching.input import LineBlock, Lines
from volatilis.watching.keyed import ROWS, Keyed
from volatilis.watching.learned import Learned
from volatilis.watching.output import Lag, Metrics, Output, Report, state_locked
from volatilis.watching.parsing import Parsed, Parser
from volatilis.watching.per_key import Alarms, CalibratedAlarms, PerKey, Rules, rules_for
from volatilis.watching.request import (
    SAVE_EVERY,
    Summary,
    WatchRequest,
    calibrated_by,
    check_request,
    fields_of,
    keys_of,
    learner_of,
    row_shape,
)
from volatilis.watching.state import Memory
from volatilis.watching.waiting import Waiting, rare_collections
from volatilis.watching.warm_up import WarmUp

BUSY_SAVING = 0.05  # the largest share of time that goes into saving a large state
NOTHING = np.zeros(0, dtype=np.int64)


class NoGoodLineError(Exception):
    """Lines came, and none of them could be used."""


def watch(request: WatchRequest, report: Report, tell: Report | None = None) -> Summary:
    """Until the input ends or a signal comes; the state is saved.

    Raises KeyboardInterrupt after Ctrl-C, SystemExit(143) after SIGTERM and SystemExit(129) after SIGHUP; NoGoodLineError, with
    the summary, where the input ended and none of its lines could be used.

    `report` is for what happens to the input and the state, `tell` for what somebody who waits wants to know.
    """
    check_request(request)
    with state_locked(request.state, report):
        watcher = Watcher(request, report, tell)
        before = watcher.summary
        with watcher, Waiting(watcher.output.descriptor) as waiting, rare_collections():
            watcher.run(waiting)
    if waiting.caught == signal.SIGINT:
        raise KeyboardInterrupt
    if waiting.caught is not None:
        raise SystemExit(128 + waiting.caught)
    bad = watcher.summary.bad_lines - before.bad_lines
    if bad and bad == watcher.summary.lines - before.lines:
        raise NoGoodLineError(watcher.summary)
    return watcher.summary


class Watcher:
    """One input, one output, the states of all keys."""

    def __init__(self, request: WatchRequest, report: Report, tell: Report | None = None) -> None:
        self.request, self._report, self._missing = request, report, missing_policy(request.missing)
        calibrated = calibrated_by(request)
        learner = learner_of(request, calibrated)
        rules = Rules(None, None) if calibrated else rules_for(learner, request.alarm, request.alarm_run_length)
        self._alarms: Alarms | CalibratedAlarms = (
            CalibratedAlarms(calibrated.rule, learner.change_probability()) if calibrated else Alarms(rules)
        )
        within = calibrated.rule.within if calibrated else None
        has_alarm = calibrated is not None or rules != (None, None)
        if request.only_alarms and not has_alarm:
            raise ValueError(f"--only-alarms: {type(learner).__name__} gives no alarms unless --alarm-run-length is set")
        fields = fields_of(request, learner)
        self._format = Format(learner, fields, request.output_format, request.measures, has_alarm, within is not None)
        self._parser = Parser(fields, request.input_format, learner, self._missing != OBSERVE)
        keys, self._ages_in_lines = keys_of(request)
        self._keyed = Keyed(learner, request.seed, tell, keys, within, row_shape(fields, learner.family))
        self._clock = None if request.interval is None else Clock(duration("--interval", request.interval)[0], report)
        self._per_key: list[PerKey] = [self._alarms, *([] if self._clock is None else [self._clock])]
        warms_up = isinstance(learner, WarmUp)
        self._learned = Learned(self._keyed, report, bool(request.key)) if warms_up else None
        self._check = None if warms_up else StreamCheck(learner)
        self._key_texts, self._said_too_many, self.summary = KeyTexts(self._format), False, Summary()
        rule = None if calibrated is None else repr(calibrated.rule)
        self._memory = Memory(request, self._keyed, self._per_key, self._parser, rule)
        saved = self._memory.load()
        if saved is not None:
            self.summary = saved.summary
        self._saved, self._unsaved, self._next_save, self._output_begun = saved, False, 0.0, False
        self._save_every = SAVE_EVERY if request.save_every is None else request.save_every
        self._lines = Lines(request.input, request.follow, report)
        self._metrics = Metrics(request.metrics)
        self.output = Output(request.out, saved.output if saved is not None and saved.out == request.out else None, report)

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._lines.close()
        self.output.close(failed=kind is not None)

    def run(self, waiting: Waiting) -> None:
        try:
            if self._saved is not None:
                self._lines.go_on(self._saved.place, self.request.replay, waiting)
            else:  # now, so that a place where nothing can be written is refused at once
                self._unsaved = self.request.state is not None
                self._save()
            self._metrics.write(self.summary, self._lag())
            if self._saved is None and isinstance(self._keyed.learner, WarmUp):
                self._report(self._keyed.learner.announcement(bool(self.request.key)))
            self._begin_output()
            while waiting.caught is None and not self._lines.ended:
                if self._lines.begins_anew:  # saved at once: no line of the earlier file comes again
                    self._lines.begins_anew, self._unsaved, self._next_save = False, True, 0.0
                self._keep_up()
                block = self._lines.next_block(waiting, self._seconds_left())
                self._begin_output()
                if block is not None:
                    self._take(block)
        except BrokenPipeError:  # nobody reads: what was learned is kept
            self._save()
            raise
        except _StoppedAtLineError as stopped:
            self._save()
            raise ValueError(str(stopped)) from None
        self._doubt([] if self._check is None else self._check.at_the_end())
        if self._learned is not None:
            by_default = self.request.alarm is None and self.request.alarm_run_length is None
            self._learned.ended(by_default, self.request.state)
        self._save()
        self._metrics.write(self.summary, self._lag())

    def _begin_output(self) -> None:
        """Once, as soon as it is known whether lines come again that were written before."""
        if self._output_begun or (self._saved is not None and self._lines.reads_again is None):
            return
        self._output_begun = True
        self.output.settle(bool(self._lines.reads_again))
        if self.output.is_empty:
            self.output.write(self._format.header())

    def _doubt(self, misfits: Sequence[str]) -> None:
        for text in misfits:
            self._report(f"warning: {text}")

    # --- lines -----------------------------------------------------------------------------------------------------------

    def _take(self, block: LineBlock) -> None:
        try:
            parsed = self._parser.parse(block.data, block.lines_before, block.begins, self._lines.goes_on, block.ended)
        except ValueError as error:
            raise ValueError(f"{self._lines.name}: {error}") from None
        count, stopped, bad_lines = block.lines - parsed.held, None, parsed.bad
        if bad_lines and self.request.bad_lines == "stop":
            bad = bad_lines[0]
            parsed, count, bad_lines = parsed.before(bad.line), bad.line - block.lines_before - 1, ()
            stopped = f"{self._lines.name}: line {bad.line}: {bad.reason}; --bad-lines report leaves such lines out"
        for bad in bad_lines:
            self._report(f"{self._lines.name}: line {bad.line} is left out: {bad.reason}")
        texts = [self._advance(parsed.part(slice(start, start + ROWS))) for start in range(0, len(parsed.lines), ROWS)]
        data = block.data if count == block.lines else block.first(count)
        self._lines.take(data, count)
        if stopped is None:
            self._lines.give_back(block.data[len(data) :])
        self._unsaved = self._unsaved or bool(data)
        self.summary = self.summary._replace(
            bad_lines=self.summary.bad_lines + len(bad_lines), keys=len(self._keyed.keys.numbers) if self.request.key else 0
        )
        self.output.write(b"".join(texts))  # once all of the block is learned: a reader may go away at any time
        self._doubt([] if self._check is None else self._check.misfits())  # may take a moment: after what is known is out
        if self._learned is not None:
            self._learned.look()
        if stopped is not None:
            raise _StoppedAtLineError(stopped)

    def _advance(self, parsed: Parsed) -> bytes:
        """Some lines through the learner; returns what is to be written."""
        numbers, elapsed = self._numbers_of(parsed)
        late = elapsed < 0 if len(elapsed) else np.zeros(len(numbers), dtype=bool)
        events = np.where(parsed.absent, self._missing, OBSERVE)
        if len(elapsed):
            events = np.where(late, SKIP, events + PASSED * elapsed)
        if self._check is not None:
            self._check.see(numbers, parsed.values, events)
        out = self._keyed.advance(numbers, parsed.values, events)
        gaps = elapsed if len(elapsed) else np.zeros(len(numbers), dtype=np.int64)
        alarms = self._alarms.of(out, numbers, ~(parsed.absent | late), gaps)
        strange = 0
        if self._learned is not None:
            self._learned.tell()
            strange = self._learned.see(numbers, parsed.values, events, out, alarms)
        self._keyed.moved.clear()
        self._count(parsed, late, alarms, strange)
        texts = self._key_texts.of(numbers, parsed.keys)
        written = Written(parsed.lines, texts, parsed.kept, parsed.observed, parsed.absent, elapsed, out, alarms)
        text = self._format.text(written.only(alarms) if self.request.only_alarms else written)
        self._forget()
        return text

    def _numbers_of(self, parsed: Parsed) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the lines' keys, and the steps that passed before each (empty where lines have no times)."""
        count, ticks, before = len(parsed.lines), None, self.summary
        if self._clock is not None:
            ticks = self._clock.ticks(parsed.times)
        if self._ages_in_lines:
            ticks = np.arange(1.0, count + 1.0) + before.observations + before.missing + before.late
        numbers, new = self._keyed.numbers_of(parsed.keys, count, ticks)
        if new:
            for memory in self._per_key:
                memory.renew(new, self._keyed.keys.count)
            self._key_texts.renew(new)
            if self._learned is not None:
                self._learned.renew(new, self._keyed.keys.count)
        return numbers, NOTHING if self._clock is None else self._clock.elapsed(numbers, parsed.times, parsed.lines)

    def _count(self, parsed: Parsed, late: np.ndarray, alarms: np.ndarray, strange: int) -> None:
        s, missing, behind = self.summary, int(np.count_nonzero(parsed.absent & ~late)) + strange, int(np.count_nonzero(late))
        self.summary = s._replace(
            observations=s.observations + len(late) - missing - behind,
            missing=s.missing + missing,
            late=s.late + behind,
            alarms=s.alarms + int(np.count_nonzero(alarms)),
        )

    def _forget(self) -> None:
        """Let go of keys that were forgotten."""
        gone = self._keyed.forget()
        if not gone:
            return
        self.summary = self.summary._replace(forgotten=self.summary.forgotten + gone)
        if self._keyed.keys.are_too_many() and not self._said_too_many:
            self._said_too_many, soonest = True, counted(self._keyed.keys.soonest or 0, "line")
            self._report(
                f"--max-keys {self.request.max_keys} is too few: a key was forgotten {soonest} after its last line, and learns "
                "anew when it comes again (said once)"
            )
        numbers = self._keyed.compact()
        if numbers is not None:
            if self._check is not None:
                self._check.start_anew()
            if self._learned is not None:
                self._learned.start_anew()
            for memory in self._per_key:
                memory.set_arrays(memory.arrays(numbers), len(numbers))
            self._key_texts.renumber(numbers)

    # --- saving ----------------------------------------------------------------------------------------------------------

    def _seconds_left(self) -> float | None:
        """Until something is to be written; None where nothing is."""
        times = [seconds for seconds in (self._seconds_to_save(), self._metrics.seconds_left()) if seconds is not None]
        return min(times, default=None)

    def _seconds_to_save(self) -> float | None:
        if self.request.state is None or not self._unsaved:
            return None
        return max(0.0, self._next_save - time.monotonic())

    def _save(self) -> None:
        if self.request.state is None or not self._unsaved:
            return
        start = time.monotonic()
        self._memory.save(self._lines.saved(), self.summary, self.output)
        self._unsaved = False
        self._next_save = time.monotonic() + max(self._save_every, (time.monotonic() - start) / BUSY_SAVING)

    def _keep_up(self) -> None:
        """Write what is due. That something cannot be written now is no reason to stop: the disk may have room again later."""
        if self._unsaved and self._seconds_to_save() == 0.0:
            try:
                self._save()
            except OSError as error:
                self._report(f"{error.strerror or error}; the state is not saved, and will be tried again")
                self._next_save = time.monotonic() + max(self._save_every, 1.0)
        if self._metrics.seconds_left() == 0.0:
            try:
                self._metrics.write(self.summary, self._lag())
            except OSError as error:
                self._report(f"{error.strerror or error}; the metrics are not written, and will be tried again")

    def _lag(self) -> Lag:
        newest = None if self._clock is None or not np.isfinite(self._clock.now) else time.time() - self._clock.now
        return Lag(self._lines.waits(), newest)


class _StoppedAtLineError(Exception):
    """A bad line; those before it were dealt with."""
