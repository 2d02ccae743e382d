"""`run --given`: contexts as numbers and as texts, missing ones, blocks whose labels repeat; against `vl.run`."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import volatilis
from volatilis.catalogue import parse_family, parse_learners
from volatilis.tables import TableError
from volatilis.trials import RunRequest, compute

FAMILY = "given:gaussian:sigma=1,mu_0=0,sigma_0=5;contexts=2"
LEARNER = "it=merge:n=5,p_c=0.02"


def table() -> pd.DataFrame:
    """Two people, three blocks each of which the first and the last are called 1; at some trials nothing is known."""
    rng = np.random.default_rng(3)
    cue = rng.integers(0, 2, 120).astype(float)
    outcome = np.round(5.0 * cue + rng.normal(size=120), 3)
    outcome[7::20], cue[7::40] = np.nan, np.nan
    labels = np.tile(np.repeat([1, 2, 1], 20), 2)
    return pd.DataFrame({"subject": np.repeat([0, 1], 60), "block": labels, "cue": cue, "outcome": outcome})


def request_for(path: pathlib.Path, frame: pd.DataFrame, **options: object) -> RunRequest:
    frame.to_csv(path, index=False)
    asked = {"given": ("cue",), "missing": "elapse", "measures": ("mean", "shannon_surprise"), "workers": 1} | options
    return RunRequest(str(path), parse_family(FAMILY), parse_learners([LEARNER]), **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("by", [None, ("subject",)])
@pytest.mark.parametrize("texts", [False, True])
def test_as_run_in_python(by: tuple[str, ...] | None, texts: bool, tmp_path: pathlib.Path) -> None:
    """A block begins where its label changes, whether it is one of --by or named with --block alone."""
    frame = table()
    given = frame.assign(cue=frame.cue.map({0.0: "left", 1.0: "right"})) if texts else frame
    contexts = ("left", "right") if texts else ()
    named = () if by is None else (("block", "block"),)
    result = compute(request_for(tmp_path / "trials.csv", given, by=by, contexts=contexts, named=named))
    learner = vl.Merge(vl.Given(vl.Gaussian(1.0, 0.0, 5.0), 2), p_c=0.02, n=5)
    for subject, own in frame.groupby("subject"):
        reset = np.arange(60) % 20 == 0
        trace = vl.run(learner, own.outcome, given=own.cue, reset=reset, missing="elapse")
        found = result.frame[result.frame.subject == subject]
        np.testing.assert_array_equal(found[["it_mean_0", "it_mean_1"]], trace.mean)
        np.testing.assert_array_equal(found["it_shannon_surprise"], trace.shannon_surprise)
    assert (result.summary.blocks, result.summary.blocks_again) == (6, 2)


def test_a_chain_of_named_symbols_and_what_is_said_of_it(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "chain.csv"
    labels, symbols = np.repeat([1, 2, 1], 10), np.array(list("ABBABAABBB" * 3))
    pd.DataFrame({"subject": "p", "block": labels, "symbol": symbols}).to_csv(path, index=False)
    words = ["--family", "transitions:k=2,s=1", "--learner", "merge:n=3,p_c=0.1", "--outcome", "symbol", "--categories", "A,B"]
    words += ["--measures", "mean,shannon_surprise,adaptation_rate", "--out", str(tmp_path / "o.csv")]
    code, _, said = volatilis("run", path, *words)
    assert code == 0, said
    assert "1 block has a label that came before: learners start anew there too" in said
    names = "merge_shannon_surprise, merge_adaptation_rate are not finite numbers in 3 rows with an outcome"
    assert f"{names}: the first ones after a start are the past of the next, and not predicted" in said
    trace = vl.run(vl.Merge(vl.transitions(2), 0.1, 3), (symbols == "B").astype(int), reset=[10, 20])
    found = pd.read_csv(tmp_path / "o.csv")
    np.testing.assert_allclose(found["merge_shannon_surprise"], trace.shannon_surprise, rtol=1e-12)


def test_what_is_refused(tmp_path: pathlib.Path) -> None:
    path, frame = tmp_path / "trials.csv", table()
    texts = frame.assign(cue=frame.cue.map({0.0: "left", 1.0: "right"}))
    with pytest.raises(ValueError, match="'left' is named twice"):
        compute(request_for(path, texts, contexts=("left", "right", "left")))
    with pytest.raises(TableError, match=r"row 3, column 'outcome'.*context.*missing"):
        compute(request_for(path, frame.assign(cue=frame.cue.where(frame.index != 2))))
    with pytest.raises(TableError, match="row 1, column 'cue': 'x' is not a number; name the contexts with --contexts"):
        compute(request_for(path, frame.assign(cue="x")))
    with pytest.raises(TableError, match="row 1, column 'cue': 'x' is not one of the contexts: 'a', 'b'"):
        compute(request_for(path, frame.assign(cue="x"), contexts=("a", "b")))
    with pytest.raises(ValueError, match="this model has contexts; name their column with --given"):
        compute(request_for(path, frame, given=()))


def test_a_column_of_subjects_that_would_group_nothing_is_refused(tmp_path: pathlib.Path) -> None:
    """Two people in one condition would otherwise be one sequence, without a word."""
    frame = table().rename(columns={"subject": "who"}).assign(condition="x")
    wrong = request_for(tmp_path / "trials.csv", frame, by=("condition",), named=(("subject", "who"),))
    with pytest.raises(ValueError, match=r"--subject who has no effect beside --by condition.* write --by subject,condition"):
        compute(wrong)
    right = request_for(tmp_path / "trials.csv", frame, by=("subject", "condition"), named=(("subject", "who"),))
    assert compute(right).summary.groups == 2
