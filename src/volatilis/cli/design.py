"""`volatilis design`: the power of an experiment before it is done, and outcome sequences for it."""

from __future__ import annotations

from typing import Annotated

import typer

from volatilis.cli import behaviour_options, options
from volatilis.cli.errors import reported
from volatilis.cli.help import with_examples
from volatilis.cli.options import Windows, with_groups

EXAMPLES = """
Examples:

  volatilis design --family gaussian:sigma=10,mu_0=150,sigma_0=20 --p-c 0.1 --learner 'nas12*:p_c=0.1' --learner varsmile:m=0.1

  volatilis design --family gaussian:sigma=0.5 --p-c 0.1 --learner pf:n=20,p_c=0.1 --noise 2 --sequence outcomes.csv

  volatilis design --family gaussian:sigma=10,mu_0=150,sigma_0=20 --p-c 0.1 --learner 'nas12*:p_c=0.1' --learner varsmile:m=0.1
      --fit --subjects 10,20 --trials 250 --store experiments --out power.csv --plot power.png
"""


@with_groups
def design(
    world: options.World,
    learner: Annotated[
        list[str],
        typer.Option(
            help="A learner that people may be, with its parameters; several are compared, the first makes the predictions."
        ),
    ],
    windows: Windows,
    p_c: Annotated[
        float | None, typer.Option(help="The environment's probability of a change; not needed with --environment.")
    ] = None,
    noise: Annotated[
        float,
        typer.Option(help="Noise of the indicator, in SDs of the measure it reflects (over trials that prediction 1 selects)."),
    ] = 1.0,
    response_noise: Annotated[float, typer.Option(help="Noise of people's predictions, in SDs of the prior.")] = 0.2,
    subjects: Annotated[str, typer.Option(metavar="N,...", help="Numbers of people.")] = "6,10,20,40",
    trials: Annotated[str, typer.Option(metavar="N,...", help="Numbers of trials each.")] = "100,250,500",
    repeats: Annotated[int, typer.Option(min=1, help="Simulated experiments.")] = 200,
    given: Annotated[
        str | None,
        typer.Option(metavar="random|turns", help="With contexts: their order, random or in turns; random if not given."),
    ] = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit every learner to every simulated person: much slower, less optimistic.")
    ] = False,
    sequence: Annotated[
        str | None,
        typer.Option(metavar="OUT.csv", help="Choose outcomes that tell the measures apart; the power is shown with them too."),
    ] = None,
    candidates: Annotated[int, typer.Option(min=2, help="Random sequences to choose from.")] = 200,
    tries: Annotated[int, typer.Option(min=0, help="Attempts to improve the best sequence.")] = 1000,
    out: Annotated[str | None, typer.Option(metavar="OUT.csv", help="A table of powers with their intervals.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="OUT.png", help="A picture of the powers.")] = None,
    store: behaviour_options.Store = None,
    own: options.Own = None,
    level: Annotated[float, typer.Option(help="Level of the confidence intervals that decide.")] = 0.95,
    seed: behaviour_options.Seed = 0,
    workers: behaviour_options.Workers = None,
    quiet: behaviour_options.Quiet = False,
) -> None:
    """How many people and trials does it take? The power of both predictions and of the comparison of learners, by simulation."""
    with reported("design", behaviour_options.kept(store)):
        from volatilis.behaviour.design import Setting
        from volatilis.behaviour.design import request as command
        from volatilis.tables import check_outputs

        check_outputs({"--out": out, "--sequence": sequence}, plot)
        first_window, second_window = windows.both()
        texts, changes = world.settled(learner, None), world.change_probability(p_c)
        setting = Setting(
            family=texts.family,
            p_c=changes,
            learners=texts.learners,
            noise=noise,
            response_noise=response_noise,
            subjects=options.whole_numbers("subjects", subjects),
            trials=options.whole_numbers("trials", trials),
            fit=fit,
            level=level,
            seed=seed,
            first_window=first_window,
            second_window=second_window,
            own=tuple(own or ()),
            given=given or "",
        )
        request = command.DesignRequest(
            setting=setting,
            repeats=repeats,
            workers=workers,
            store=store,
            choose=sequence is not None,
            candidates=candidates,
            tries=tries,
        )
        with behaviour_options.progress(quiet) as progress:
            result = command.design(request, progress)
        command.write(result, out, sequence, plot)
        if not quiet:
            command.show(result, stderr="-" in (out, sequence))


design.__doc__ = with_examples(design.__doc__, EXAMPLES)
