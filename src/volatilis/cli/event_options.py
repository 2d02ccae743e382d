"""Options of `volatilis run` for event files: regressors for a GLM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from volatilis.cli.options import names

if TYPE_CHECKING:
    from volatilis.events import Plan

PANEL = "Regressors for a GLM"
Events = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Write event files there, one set per run.", rich_help_panel=PANEL)
]
Format = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Of bids, nilearn, fsl, mne; bids if not given.", rich_help_panel=PANEL),
]
Onset = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="When the outcome came, in seconds; onset if not given.", rich_help_panel=PANEL),
]
Duration = Annotated[
    str | None,
    typer.Option(metavar="COLUMN|SECONDS", help="How long it lasted; the column duration if not given.", rich_help_panel=PANEL),
]
Regressors = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...", help="Measures or computed columns; the surprise measures if not given.", rich_help_panel=PANEL
    ),
]
Centre = Annotated[
    str | None, typer.Option(metavar="SCOPE", help="Take the mean away within: none, run, subject, all.", rich_help_panel=PANEL)
]
ZScore = Annotated[
    str | None,
    typer.Option(
        "--zscore", metavar="SCOPE", help="Mean 0 and variance 1 within: none, run, subject, all.", rich_help_panel=PANEL
    ),
]
RunBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,...",
        help="Columns that make a run, also as sub=COLUMN; those of --by if not given.",
        rich_help_panel=PANEL,
    ),
]
Task = Annotated[
    str | None, typer.Option(metavar="NAME", help="The task in file names; volatile if not given.", rich_help_panel=PANEL)
]
AllowConstant = Annotated[
    bool,
    typer.Option("--allow-constant", help="Write a regressor that is constant in a run, too.", rich_help_panel=PANEL),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace event files that are there already.", rich_help_panel=PANEL)
]


def plan_from(
    events: str | None,
    events_format: str | None,
    onset: str | None,
    duration: str | None,
    regressors: str | None,
    centre: str | None,
    zscore: str | None,
    run_by: str | None,
    task: str | None,
    allow_constant: bool,
    overwrite: bool,
) -> Plan | None:
    """What was asked for, with lists split at commas; None where no event files were."""
    given = {
        "formats": None if events_format is None else names(events_format),
        "onset": onset,
        "duration": duration,
        "regressors": None if regressors is None else names(regressors),
        "centre": centre,
        "zscore": zscore,
        "run_by": None if run_by is None else names(run_by),
        "task": task,
        "allow_constant": allow_constant or None,
        "overwrite": overwrite or None,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if events is None:
        if asked:
            option = {"formats": "events-format"}.get(next(iter(asked)), next(iter(asked)).replace("_", "-"))
            raise ValueError(f"--{option} is for event files; name a folder for them with --events")
        return None
    from volatilis.events import Plan

    return Plan(events, **asked)  # type: ignore[arg-type]
