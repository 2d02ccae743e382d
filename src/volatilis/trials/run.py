"""`volatilis run`: learners over a table of trials. A request in, the table with what every learner made of each row out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from volatilis._core.terminal import console_of, plain
from volatilis.catalogue import Recipe
from volatilis.learners._base import Learner
from volatilis.tables import counted, empty_as_missing, kind_of, writer
from volatilis.trials.engine import Engine, Onlooker, RunSummary
from volatilis.trials.groups import Key
from volatilis.trials.measures import Column

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Progress = Callable[[float], None]


class RunRequest(NamedTuple):
    """What to compute. Columns are given by their names in the file; subject, session and block also by `named`.

    table       a file: CSV, TSV, Parquet or JSON lines, plain or compressed
    family      what is observed, from `volatilis.catalogue.parse_family`
    learners    from `volatilis.catalogue.parse_learners`
    by          the columns whose values make the groups; None: those of subject, session and block that the table has
    outcome     the outcome's column, or several for a vector
    given       the column of the context, for a family or learner that has contexts; several for regressors
    contexts    the names of the contexts in their order, where they are texts
    trial       the column that numbers the trials, to check their order; None: trial, if the table has it; "none": no check
    reset       a column that is not 0 where a learner starts anew
    measures    None: all but those that take long; or names, or ("all",)
    missing     what a missing outcome means: error, elapse (time passes), skip
    categories  the names of the categories in their order, where outcomes are texts
    seed        for learners that sample
    workers     threads; None: one per core. The numbers are the same
    named       the file's names of subject, session and block, in pairs: (("subject", "subj_num"),)
    """

    table: str | os.PathLike[str]
    family: Recipe
    learners: tuple[Recipe, ...]
    by: tuple[str, ...] | None = None
    outcome: tuple[str, ...] = ("outcome",)
    trial: str | None = None
    reset: str | None = None
    measures: tuple[str, ...] | None = None
    missing: str = "error"
    categories: tuple[str, ...] = ()
    seed: int = 0
    workers: int | None = None
    named: tuple[tuple[str, str], ...] = ()
    given: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()


class Result(NamedTuple):
    """A whole table in memory: the input's columns and the computed ones, and what the latter are.

    frame      as a pandas DataFrame, with texts that are all numbers as numbers
    columns    the computed columns: the name of each, its learner and its measure
    by         the columns whose values make the groups
    learners   the learners that ran, by label and group
    summary    what the run did (`RunSummary`)
    rows       as one pyarrow RecordBatch, with the input's columns as they stand in the file
    starts     the columns that say where learners start anew: by a mark, or by a label that changes
    """

    frame: pd.DataFrame
    columns: list[Column]
    by: tuple[str, ...]
    learners: dict[tuple[str, Key], Learner]
    summary: RunSummary
    rows: pa.RecordBatch
    starts: tuple[str, ...] = ()


def run_table(
    request: RunRequest,
    out: str | os.PathLike[str] | None,
    progress: Progress = lambda share: None,
    watchers: Sequence[Onlooker] = (),
) -> RunSummary:
    """Run the learners over a table and write it with the computed columns: what `volatilis run` does.

    request    the table, the family and the learners
    out        the file to write; its ending says the format. None: nothing is written, and only watchers get the results
    progress   called with the share of the rows that is done
    watchers   they see every batch of rows as it passes (`Onlooker`)

    Returns a `RunSummary`. Memory does not grow with the number of rows. Raises TableError, with file, row, column and value, for
    what cannot be used, ValueError for a request that does not fit the table, and OSError where a file cannot be read or written;
    then nothing is written.

    >>> import pathlib
    >>> from volatilis.catalogue import parse_family, parse_learners
    >>> from volatilis.trials import RunRequest, run_table
    >>> written = pathlib.Path("trials.csv").write_text("outcome\\n0.2\\n-0.1\\n3.0\\n")
    >>> request = RunRequest("trials.csv", parse_family("gaussian:sigma=0.5"), tuple(parse_learners(["varsmile:m=0.1"])))
    >>> run_table(request, "surprise.csv").rows
    3
    """
    typed = out is not None and _keeps_types(out, request)  # refuses at once a name that is not accepted
    engine = Engine(request, watchers)
    schema = engine.schema(typed)
    put = contextlib.nullcontext(_nowhere) if out is None else writer(out, schema)
    with engine, put as write, ThreadPoolExecutor(1) as writing:
        written: Future[None] = writing.submit(lambda: None)
        for batch in engine.batches():  # the next batch is computed while this one is written
            written.result()
            written = writing.submit(write, _cast(batch, schema))
            progress(engine.table.share)
        written.result()
        engine.end()
    progress(1.0)
    return engine.summary()


def compute(
    request: RunRequest,
    progress: Progress = lambda share: None,
    out: str | os.PathLike[str] | None = None,
    check: Callable[[Result], None] = lambda result: None,
    watchers: Sequence[Onlooker] = (),
) -> Result:
    """Run the learners over a table in memory.

    request    the table, the family and the learners
    progress   called with the share of the rows that is done
    out        a file to write too, as `run_table` does
    check      called with the result before the file gets its name; if it raises, there is no file
    watchers   they see every batch of rows as it passes (`Onlooker`)

    Returns a `Result`. Raises what `run_table` raises.

    >>> import pathlib
    >>> from volatilis.catalogue import parse_family, parse_learners
    >>> from volatilis.trials import RunRequest, compute
    >>> written = pathlib.Path("trials.csv").write_text("outcome\\n0.2\\n-0.1\\n3.0\\n")
    >>> request = RunRequest("trials.csv", parse_family("gaussian:sigma=0.5"), tuple(parse_learners(["varsmile:m=0.1"])))
    >>> result = compute(request)
    >>> result.frame["varsmile_mean"].round(3).tolist()
    [0.16, 0.04, 2.385]
    >>> result.summary.rows, len(result.columns), list(result.learners)
    (3, 10, [('varsmile', ())])
    """
    import pyarrow as pa

    typed = out is not None and _keeps_types(out, request)
    engine = Engine(request, watchers)
    batches = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(engine)
        shown = engine.schema(typed)
        write = None if out is None else stack.enter_context(writer(out, shown))
        for batch in engine.batches():
            batches.append(batch)
            if write is not None:
                write(_cast(batch, shown))
            progress(engine.table.share)
        columns = zip(*(batch.columns for batch in batches), strict=True)
        rows = pa.RecordBatch.from_arrays([pa.concat_arrays(parts) for parts in columns], schema=engine.schema(typed=False))
        frame = _cast(rows, engine.schema(typed=True)).to_pandas()
        result = Result(frame, engine.columns, engine.inputs.by, engine.learners(), engine.summary(), rows, engine.inputs.starts)
        progress(1.0)
        check(result)
        engine.end()
    return result


def _nowhere(batch: pa.RecordBatch) -> None:
    """Takes the batches of a table that is not written."""


def _keeps_types(out: str | os.PathLike[str], request: RunRequest) -> bool:
    """Whether this kind of file has types. Refuses what cannot be an output."""
    if os.fspath(out) == "-":
        return False
    if os.path.exists(out) and os.path.exists(request.table) and os.path.samefile(out, request.table):
        raise ValueError(f"{os.fspath(out)} is the input table; give --out another name")
    return kind_of(out)[0] in ("parquet", "jsonl")


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same columns with the types of a schema."""
    import pyarrow as pa

    columns = [_cast_column(batch.column(i), field.type) for i, field in enumerate(schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast_column(values: pa.Array, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if values.type == kind:
        return values
    return empty_as_missing(values).cast(kind) if pa.types.is_string(values.type) else values.cast(kind)


def show_summary(summary: RunSummary, *outputs: str) -> None:
    """On standard error, since the table may go to standard output."""
    console = console_of(stderr=True)

    def say(sentence: str) -> None:
        console.print(sentence, soft_wrap=True)

    where = "".join(f" -> {out}" for out in outputs if out != "-")
    columns = counted(len(summary.not_finite), "column")
    blocks = f" ({counted(summary.blocks, 'block')}: one begins where its label changes)" if summary.blocks else ""
    say(f"{summary.rows:,} rows in {counted(summary.groups, 'group')}{blocks}, {columns} computed{plain(where)}")
    if summary.blocks_again:
        have = "has" if summary.blocks_again == 1 else "have"
        say(f"{counted(summary.blocks_again, 'block')} {have} a label that came before: learners start anew there too")
    slow = {name for names in summary.left_out.values() for name in names}
    if slow:
        labels = ", ".join(label for label, names in summary.left_out.items() if names)
        take = "takes" if sum(map(len, summary.left_out.values())) == 1 else "take"
        say(f"{' and '.join(sorted(slow))} of {labels} {take} long: --measures all includes them")
    if summary.missing_outcomes:
        are = "is" if summary.missing_outcomes == 1 else "are"
        say(f"{counted(summary.missing_outcomes, 'outcome')} {are} missing: surprise is missing there")
    not_finite: dict[int, list[str]] = {}
    for name, count in summary.not_finite.items():
        not_finite.setdefault(count - summary.missing_outcomes, []).append(name)
    why = ": the first ones after a start are the past of the next, and not predicted" if summary.conditioned else ""
    for more, names in not_finite.items():
        if more > 0:
            are, rows = "is not a finite number" if len(names) == 1 else "are not finite numbers", counted(more, "row")
            say(f"[yellow]{', '.join(names)}[/yellow] {are} in {rows} with an outcome{why}")
