"""Recovery: numbers by hand from made-up results; the whole on small designs, the same on workers and Dask, and resumed."""

from __future__ import annotations

import csv
import pathlib
from typing import Any

import numpy as np
import pytest

import volatilis as vl
from tests.behaviour.simulated import FAMILY, FAMILY_TEXT, trials_of
from tests.helpers.command_line import volatilis
from volatilis._core import jobs as core_jobs
from volatilis.behaviour.fitting import jobs
from volatilis.behaviour.fitting.jobs import FitOptions
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.recovery.conclusions import conclusions, recovered
from volatilis.behaviour.recovery.recover import RecoveredValue, Recovery, Truth, dataset, recover
from volatilis.behaviour.recovery.simulation import simulate
from volatilis.plots import recovery as picture

VARSMILE = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free")
LEAKY = Model.parse(FAMILY_TEXT, "leaky:omega=free", "gaussian:sd=free")
MODELS = [VARSMILE, LEAKY]
HOW = FitOptions(starts=2, workers=1)


def people(count: int = 6, length: int = 120) -> list[Person]:
    rng, found = np.random.default_rng(0), []
    for i in range(count):
        y = vl.ChangingEnvironment(FAMILY, 0.1).sample(length, seed=i).y
        design = Person(f"p{i}", (trials_of(FAMILY, y, np.zeros(length)),))
        found.append(simulate(VARSMILE, {"m": rng.lognormal(-1.5, 0.7), "sd": rng.lognormal(2.0, 0.4)}, design, i))
    return found


def same(a: Recovery, b: Recovery) -> bool:
    return np.array_equal(a.evidence, b.evidence) and repr(a.parameters) == repr(b.parameters)


# --- made-up results -----------------------------------------------------------------------------------------------------


def made_up(
    best: dict[tuple[int, int], int], entries: list[RecoveredValue] | None = None, models: tuple[str, ...] = ("a", "b")
) -> Recovery:
    """So many people of which true model with which best one."""
    truths, logs = [], []
    for (true, chosen), count in best.items():
        truths += [Truth(true, "p", {}, np.zeros(0))] * count
        logs += [np.where(np.arange(len(models)) == chosen, 0.0, -100.0)] * count
    return Recovery("bic", models, 10, truths, np.array(logs), entries or [], [])


def test_confusion_by_hand() -> None:
    found = made_up({(0, 0): 6, (0, 1): 4, (1, 1): 30})
    assert found.counts().tolist() == [[6, 4], [0, 30]]
    assert found.confusion() == pytest.approx(np.array([[0.6, 0.4], [0.0, 1.0]]))
    # if both are equally likely: P(a | best a) = 1, P(b | best b) = 1 / (1 + 0.4)
    assert found.inverse() == pytest.approx(np.array([[1.0, 0.4 / 1.4], [0.0, 1.0 / 1.4]]))


def test_a_failed_fit_does_not_count() -> None:
    found = made_up({(0, 0): 3, (1, 1): 3})
    found.evidence[0, 1] = np.nan
    assert found.counts().tolist() == [[2, 0], [0, 3]]


def test_a_model_that_is_never_the_best() -> None:
    found = made_up({(0, 1): 30, (1, 1): 30})
    assert np.isnan(found.inverse()[:, 0]).all()
    assert "a is never the best, whichever model is true." in conclusions(found)


def test_groups_have_the_size_of_the_table() -> None:
    """Ten of one model: alpha = (11, 1), by hand."""
    protected, size, groups = made_up({(0, 0): 30, (1, 1): 30}).group_choice()
    assert (size, groups) == (10, 3)
    assert protected[0, 0] == pytest.approx(protected[1, 1])
    assert protected[0, 0] == pytest.approx(0.995, abs=0.01)


def test_confused_models_are_named() -> None:
    words = "\n".join(conclusions(made_up({(0, 0): 12, (0, 1): 18, (1, 1): 29, (1, 0): 1})))
    assert (
        "a cannot be identified in a single person: it is the best for 40 % of its own people (95 % interval: 25 % to 58 %)"
        in words
    )
    assert "it is confused with b (60 %)" in words
    assert "b can be identified in a single person: it is the best for 97 %" in words
    assert "If b is the best for a person, it is the true model with a probability of 62 % only, and a is with 38 %" in words
    assert "In a group of 10 people who all follow a, it may not be identified" in words
    assert "rough" not in words
    assert "fewer than 20 simulated people" in conclusions(made_up({(0, 0): 5, (1, 1): 30}))[0]


def entries(true: np.ndarray, found: np.ndarray, half: float = 1.0, flagged: int = 0, doubtful: int = 0) -> list[RecoveredValue]:
    return [
        RecoveredValue(
            "a", "m", str(i), t, f, f - half, f + half, t, f, ("m is at its bound",) if i < flagged else (), i < doubtful
        )
        for i, (t, f) in enumerate(zip(true.tolist(), found.tolist(), strict=True))
    ]


def test_parameter_recovery_by_hand() -> None:
    true = np.array([0.0, 1.0, 2.0, 3.0])
    found = true + np.array([0.5, 0.5, 2.5, 0.5])
    (one,) = recovered(made_up({(0, 0): 4, (1, 1): 4}, entries(true, found)))
    assert one.correlation == pytest.approx(np.corrcoef(true, found)[0, 1])
    assert one.rank_correlation == pytest.approx(0.8)
    assert one.bias == pytest.approx(1.0 / true.std(ddof=1))
    assert one.coverage == 0.75
    assert (one.people, one.intervals, one.flagged) == (4, 4, 0)


def test_people_without_an_interval_and_doubtful_truths_are_counted_apart() -> None:
    true = np.arange(6.0)
    listed = entries(true, true, flagged=3, doubtful=1)
    listed[5] = listed[5]._replace(low=np.nan, high=np.nan)
    (one,) = recovered(made_up({(0, 0): 6, (1, 1): 6}, listed))
    assert (one.people, one.intervals, one.flagged, one.doubtful, one.coverage) == (5, 4, 2, 1, 1.0)


def test_one_true_value_tells_nothing_about_people() -> None:
    true = np.full(8, 0.3) + 1e-14 * np.arange(8.0)
    (one,) = recovered(made_up({(0, 0): 8, (1, 1): 8}, entries(true, true + 0.1)))
    assert one.spread == 0.0
    assert one.bias == pytest.approx(0.1)
    assert "m of a has only one true value" in conclusions(made_up({(0, 0): 8, (1, 1): 8}, entries(true, true + 0.1)))[-1]


def test_parameters_in_words() -> None:
    true, rng = np.arange(40.0), np.random.default_rng(0)

    def words(found: np.ndarray, half: float = 50.0) -> str:
        return conclusions(made_up({(0, 0): 40, (1, 1): 40}, entries(true, found, half)))[-1]

    assert words(true) == "m of a is recovered (rank correlation 1.00)."
    assert "is not recovered" in words(rng.permutation(true))
    assert "is overestimated by 0.86 of its spread" in words(true + 10.0)
    assert "its 95 % intervals are too narrow: they contain the true value in 0 % of people" in words(true + 10.0, half=1.0)
    assert "recovered weakly" in words(true + rng.normal(0.0, 14.0, 40))
    few = conclusions(made_up({(0, 0): 4, (1, 1): 4}, entries(true[:4], true[:4])))[-1]
    assert few == "m of a is recovered (rank correlation 1.00 of only 4 people, imprecise)."


# --- the whole -----------------------------------------------------------------------------------------------------------


def test_models_and_parameters_come_back() -> None:
    found = recover(MODELS, people(8), HOW)
    assert np.diag(found.counts()).tolist() == [8, 7]
    by = {(one.model, one.parameter): one for one in recovered(found)}
    assert set(by) == {("varsmile", "m"), ("varsmile", "sd"), ("leaky", "omega"), ("leaky", "sd")}
    assert by["varsmile", "sd"].correlation > 0.9
    assert by["varsmile", "m"].rank_correlation > 0.7
    assert {truth.person for truth in found.truths} == {f"p{i}" for i in range(8)}


def test_intervals_hold_the_truth_at_their_rate() -> None:
    found = recover(MODELS, people(10, 200), HOW, people=60)
    for one in recovered(found):
        assert one.coverage == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 60)), one


def test_equal_models_are_confused() -> None:
    """Merge with one hypothesis is Nas12* on a Gaussian: nothing can tell them apart."""
    alike = [Model.parse(FAMILY_TEXT, text, "gaussian:sd=free") for text in ("nas12*:p_c=free", "merge:n=1,p_c=free")]
    found = recover(alike, people(4), HOW, people=8)
    assert np.abs(found.evidence[:, 0] - found.evidence[:, 1]).max() < 1e-3
    assert any("may not be identified" in text for text in conclusions(found))


def test_draws_from_the_distribution() -> None:
    seen = people(12)
    fitted, drawn = (recover(MODELS, seen, HOW, people=40, draw=draw) for draw in ("fitted", "distribution"))
    one, other = (np.array([truth.x for truth in found.truths if truth.model == 0]) for found in (fitted, drawn))
    own = np.unique(one, axis=0)
    assert len(np.unique(other, axis=0)) == 40
    assert other.mean(axis=0) == pytest.approx(own.mean(axis=0), abs=0.5 * own.std(axis=0).max())
    assert other.std(axis=0) == pytest.approx(own.std(axis=0), rel=0.4)


def test_one_worker_and_two_give_the_same() -> None:
    assert same(recover(MODELS, people(3), HOW), recover(MODELS, people(3), HOW._replace(workers=2)))


def test_what_is_done_is_not_done_again(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped in the middle, it goes on; when all is done, nothing is fitted."""
    how, calls, run = HOW._replace(folder=tmp_path), [0], jobs.Job.run

    def failing(self: Any) -> Any:
        calls[0] += 1
        if calls[0] > 11:
            raise KeyboardInterrupt
        return run(self)

    monkeypatch.setattr(jobs.Job, "run", failing)
    with pytest.raises(KeyboardInterrupt):
        recover(MODELS, people(3), how)
    calls[0] = -1000
    found = recover(MODELS, people(3), how)
    assert calls[0] == -1000 + 3 * 2 + 6 * 2 - 11
    monkeypatch.setattr(jobs.Job, "run", lambda self: pytest.fail("fitted again"))
    assert same(found, recover(MODELS, people(3), how))
    monkeypatch.setattr(jobs.Job, "run", run)
    assert same(found, recover(MODELS, people(3), HOW))


def test_dask_gives_the_same_and_keeps_it(tmp_path: pathlib.Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'volatilis[cluster]'")
    here = recover(MODELS, people(3), HOW)
    local = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "protocol": "tcp://", "host": "127.0.0.1"}
    with distributed.LocalCluster(**local, dashboard_address=":0", silence_logs=50) as there:
        how = HOW._replace(scheduler=there.scheduler_address, folder=tmp_path)
        assert same(here, recover(MODELS, people(3), how))
    assert same(here, recover(MODELS, people(3), how)), "all is in the folder: no scheduler is needed"


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'volatilis[cluster]'")
    monkeypatch.setattr(core_jobs, "ANSWER_WITHIN", 2)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at .tcp://127\.0\.0\.1:9."):
        recover(MODELS, people(2), HOW._replace(scheduler="tcp://127.0.0.1:9"))


def test_who_cannot_be_fitted_is_left_out() -> None:
    seen = people(3)
    silent = seen[1].parts[0]._replace(scored=np.zeros(120, dtype=bool))
    found = recover(MODELS, [seen[0], Person("silent", (silent,)), seen[2]], HOW, people=4)
    assert {truth.person for truth in found.truths} == {"p0", "p2"}
    assert [one.person for one in found.failures] == ["silent", "silent"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"criterion": "cross_validated"}, "recovery by 'cross_validated' is not known; bic, aic, laplace, log_likelihood are"),
        ({"draw": "prior"}, "draw = 'prior' is not accepted; fitted or distribution is"),
    ],
)
def test_what_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        recover(MODELS, people(2), HOW, **more)


def test_too_few_people_to_draw_from() -> None:
    with pytest.raises(ValueError, match="varsmile: 2 people have a fit without warnings, too few to draw from; --draw fitted"):
        recover(MODELS, people(2), HOW, draw="distribution")


@pytest.mark.parametrize("criterion", ["aic", "laplace", "log_likelihood"])
def test_other_criteria(criterion: str) -> None:
    found = recover(MODELS, people(3), HOW, criterion=criterion)
    assert found.counts().tolist() == [[3, 0], [0, 3]]


# --- the command and the picture -----------------------------------------------------------------------------------------


def test_the_command(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "trials.csv"
    rows = [[one.name, y, g] for one in people(3) for y, g in zip(one.parts[0].values, one.parts[0].given, strict=True)]
    with table.open("w") as file:
        csv.writer(file).writerows([["subject", "outcome", "prediction"], *rows])
    out, confusion, plot = (str(tmp_path / name) for name in ("parameters.csv", "confusion.csv", "picture.svg"))
    words = ["--family", FAMILY_TEXT, "--response", "gaussian:sd=free", "--learner", "varsmile:m=free", "--learner"]
    asked = [*words, "leaky:omega=free", "--people", "4", "--starts", "2", "--workers", "1"]
    outputs = ["--out", out, "--confusion", confusion, "--plot", plot, "--store", str(tmp_path / "fits")]
    done = volatilis("recover", table, *asked, *outputs)
    assert done.exit_code == 0, done.output
    assert "Simulated people on the designs of 3 people, the best model by -BIC / 2" in done.output
    assert "There are fewer than 20 simulated people of some model" in done.output
    assert "A model can be identified if it is the best for at least 80 %" in done.output
    pairs = list(csv.DictReader(pathlib.Path(confusion).read_text().splitlines()))
    assert sum(int(row["people"]) for row in pairs) == 8
    assert len(pathlib.Path(out).read_text().splitlines()) == 1 + 8 * 2
    assert "<svg" in pathlib.Path(plot).read_text()
    assert volatilis("recover", table, *asked, "--draw", "prior").exit_code == 2


def test_the_picture_has_a_panel_per_parameter() -> None:
    from matplotlib.figure import Figure

    shown = dataset(recover(MODELS, people(3), HOW))
    figure = Figure(picture.size(shown))
    picture.draw(shown, figure)
    figure.canvas.draw()
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert len(titles) == 6
    for text in ("P(best | true)", "P(true | best)", "m of varsmile", "sd of varsmile", "omega of leaky", "sd of leaky"):
        assert sum(text in title for title in titles) == 1
