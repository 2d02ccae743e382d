"""Comparison of models: criteria against integration and hand computation, folds against fits of the blocks themselves."""

from __future__ import annotations

import csv
import pathlib

import numpy as np
import pytest
from scipy.special import logsumexp

import volatilis as vl
from tests.behaviour.simulated import FAMILY, FAMILY_TEXT, trials_of
from tests.helpers.command_line import volatilis
from volatilis.behaviour.comparison.criteria import (
    BLOCKS,
    TRIALS,
    check_models,
    compare,
    dataset,
    folds,
    group,
    group_of,
)
from volatilis.behaviour.comparison.request import sentences
from volatilis.behaviour.fitting.fit import fit, log_evidence
from volatilis.behaviour.fitting.jobs import FitOptions
from volatilis.behaviour.fitting.parameters import searched, weak
from volatilis.behaviour.likelihood import log_likelihood
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.recovery.simulation import simulate
from volatilis.plots import comparison as picture

VARSMILE = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free")
LEAKY = Model.parse(FAMILY_TEXT, "leaky:omega=free", "gaussian:sd=free")
HOW = FitOptions(starts=3, workers=1)


def person(name: str, seed: int, length: int = 150, resets: tuple[int, ...] = (), model: Model = VARSMILE) -> Person:
    y = vl.ChangingEnvironment(FAMILY, 0.1).sample(length, seed=seed).y
    values = {"m": 0.3, "omega": 0.7, "sd": 8.0}
    design = Person(name, (trials_of(FAMILY, y, np.zeros(length), reset=resets or None),))
    return simulate(model, {key: values[key] for key in model.free()}, design, seed)


PEOPLE = [*(person(f"v{i}", i) for i in range(4)), *(person(f"l{i}", 10 + i, model=LEAKY) for i in range(2))]


# --- criteria ------------------------------------------------------------------------------------------------------------


def test_aic_and_bic() -> None:
    found = compare([VARSMILE, LEAKY], PEOPLE[:2], HOW, most_folds=0)
    own = fit(VARSMILE, PEOPLE[0], 3, 0, None, VARSMILE.unit(PEOPLE[:2]))
    assert found.scores["log_likelihood"][0, 0] == own.log_likelihood
    assert found.scores["aic"][0, 0] == pytest.approx(2 * 2 - 2 * own.log_likelihood)
    assert found.scores["bic"][0, 0] == pytest.approx(2 * np.log(150) - 2 * own.log_likelihood)
    assert found.evidence("bic")[0, 0] == pytest.approx(-0.5 * found.scores["bic"][0, 0])
    assert np.isnan(found.scores["cross_validated"]).all()


def test_laplace_evidence_against_integration() -> None:
    """The integral of likelihood times prior over both parameters, on a grid."""
    unit = VARSMILE.unit(PEOPLE)
    free = [searched(name, unit) for name in VARSMILE.free()]
    prior = weak(free)
    best = fit(VARSMILE, PEOPLE[0], 3, 0, weak, unit)
    axes = [x + np.sqrt(best.covariance[i, i]) * np.linspace(-6.0, 6.0, 41) for i, x in enumerate(best.x)]
    logs = [
        log_likelihood(
            lambda columns, v=(u, w): VARSMILE.make({"m": free[0].natural(v[0]), "sd": free[1].natural(v[1])}), PEOPLE[0]
        )
        + prior.log_density(np.array([u, w]))
        for u in axes[0]
        for w in axes[1]
    ]
    exact = logsumexp(logs) + np.log((axes[0][1] - axes[0][0]) * (axes[1][1] - axes[1][0]))
    assert log_evidence(best) == pytest.approx(exact, abs=0.05)


def test_a_whole_number_costs_its_choices() -> None:
    free = Model.parse(FAMILY_TEXT, "merge:n=free,p_c=0.1", "gaussian:sd=free")
    best = fit(free, PEOPLE[0], 2, 0, weak)
    fixed = Model.parse(FAMILY_TEXT, f"merge:n={int(best.values['n'])},p_c=0.1", "gaussian:sd=free")
    own = log_evidence(fit(fixed, PEOPLE[0], 2, 0, weak))
    assert log_evidence(best) == pytest.approx(own - np.log(6), abs=1e-6)


# --- cross-validation ----------------------------------------------------------------------------------------------------


def slices(of: Person, ranges: list[tuple[int, int]]) -> Person:
    """Blocks as sequences of their own."""
    part, y = of.parts[0], np.asarray(of.parts[0].values)
    return Person(of.name, tuple(trials_of(FAMILY, y[a:b], part.given[a:b]) for a, b in ranges))


def test_blocks_left_out_against_fits_of_the_others() -> None:
    one = person("b", 5, resets=(50, 100))
    found = compare([VARSMILE, LEAKY], [one], HOW)
    unit, blocks, total = VARSMILE.unit([one]), [(0, 50), (50, 100), (100, 150)], 0.0
    for out in blocks:
        values = fit(VARSMILE, slices(one, [block for block in blocks if block != out]), 3, 0, None, unit).values
        total += log_likelihood(lambda columns, v=values: VARSMILE.make(v), slices(one, [out]))
    assert found.scores["cross_validated"][0, 0] == pytest.approx(total, abs=1e-3)
    assert found.folds == [(3, BLOCKS)]


@pytest.mark.parametrize(
    ("resets", "most", "count", "kind"),
    [((), 10, 5, TRIALS), ((), 3, 3, TRIALS), ((50,), 10, 2, BLOCKS), (tuple(range(10, 150, 10)), 4, 4, BLOCKS)],
)
def test_every_response_is_left_out_once(resets: tuple[int, ...], most: int, count: int, kind: str) -> None:
    one = person("p", 3, resets=resets)
    scored = one.parts[0].scored.copy()
    scored[[0, 7, 60]] = False
    one = Person("p", (one.parts[0]._replace(scored=scored),))
    made, of = folds(one, most)
    assert (len(made), of) == (count, kind)
    held = np.array([fold.predicted.parts[0].scored for fold in made])
    assert np.array_equal(held.sum(axis=0), scored)
    for fold in made:
        assert np.array_equal(fold.fitted.parts[0].scored, scored & ~fold.predicted.parts[0].scored)
        assert min(fold.fitted.responses, fold.predicted.responses) > 0
    sizes = held.sum(axis=1)
    assert kind == BLOCKS or sizes.max() - sizes.min() <= 1


def test_one_response_has_no_folds() -> None:
    one = person("p", 3)
    only = one.parts[0]._replace(scored=np.arange(150) == 40)
    assert folds(Person("p", (only,)))[0] == []


# --- the group -----------------------------------------------------------------------------------------------------------


def test_sums_by_hand() -> None:
    logs = np.array([[-1.0, -2.0, -4.0], [-3.0, -1.0, -5.0], [-1.0, -1.5, -9.0], [np.nan, 0.0, 0.0]])
    found = group_of("bic", ["a", "b", "c", "d"], logs)
    assert found.persons == ("a", "b", "c")
    assert found.left_out == ("d",)
    assert found.total == pytest.approx([-5.0, -4.5, -18.0])
    assert found.behind == pytest.approx([0.5, 0.0, 13.5])
    assert found.best_for.tolist() == [2, 1, 0]
    assert (found.low[1], found.high[1]) == (0.0, 0.0)


def test_intervals_are_those_of_a_mean() -> None:
    """For many people the bootstrap agrees with the normal approximation."""
    apart = np.random.default_rng(0).normal(0.3, 1.0, 400)
    found = group_of("bic", [str(i) for i in range(400)], np.column_stack([np.zeros(400), -apart]))
    half = 1.96 * apart.std() * 20.0
    assert found.low[1] == pytest.approx(apart.sum() - half, abs=0.1 * half)
    assert found.high[1] == pytest.approx(apart.sum() + half, abs=0.1 * half)


def test_people_are_told_apart() -> None:
    found = compare([VARSMILE, LEAKY], PEOPLE, HOW)
    for criterion in found.scores:
        assert found.evidence(criterion).argmax(axis=1).tolist() == [0, 0, 0, 0, 1, 1]
    best = group(found)
    assert best.best_for.tolist() == [4, 2]
    assert best.selection.alpha == pytest.approx([5.0, 3.0], abs=1e-3)
    text = "\n".join(sentences(found, best))
    assert "Cross-validation of everybody: 5 folds made of runs of trials, since there is one block." in text


def test_models_that_are_one_are_said_to_be() -> None:
    """Merge with one hypothesis is Nas12* on a Gaussian."""
    alike = [Model.parse(FAMILY_TEXT, text, "gaussian:sd=free") for text in ("nas12*:p_c=free", "merge:n=1,p_c=free")]
    found = compare(alike, PEOPLE[:3], HOW, most_folds=0)
    text = "\n".join(sentences(found, group(found)))
    assert "nas12_star and merge describe everybody equally well: which of them is the best for a person means nothing." in text
    assert "but not clearly" in text


def test_one_worker_and_two_give_the_same() -> None:
    one, two = (compare([VARSMILE, LEAKY], PEOPLE[:2], HOW._replace(workers=n)) for n in (1, 2))
    for name in one.scores:
        assert np.array_equal(one.scores[name], two.scores[name])


def test_who_cannot_be_fitted_is_named_and_left_out() -> None:
    """A response that is impossible under a slider."""
    models = [
        Model.parse(FAMILY_TEXT, text, "truncated:sd=free,low=-1000,high=1000")
        for text in ("varsmile:m=free", "leaky:omega=free")
    ]
    given = PEOPLE[0].parts[0].given.copy()
    given[3] = 2000.0
    broken = Person("broken", (PEOPLE[0].parts[0]._replace(given=given),))
    found = compare(models, [PEOPLE[1], broken], HOW, most_folds=2)
    assert np.isnan(found.scores["bic"][1]).all()
    assert np.isfinite(found.scores["bic"][0]).all()
    best = group(found)
    assert best.left_out == ("broken",)
    text = "\n".join(sentences(found, best))
    assert "Left out: 1 person without a value under every model: broken." in text
    assert "beyond the slider, -1000 to 1000, is 1 response, the first 2000" in text


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="two learners or more"):
        check_models([VARSMILE], PEOPLE)
    with pytest.raises(ValueError, match="two models have the label 'varsmile'"):
        check_models([VARSMILE, VARSMILE], PEOPLE)
    uncertain = Model.parse(FAMILY_TEXT, "leaky:omega=free", "gaussian:sd=free,per_uncertainty=0.5")
    with pytest.raises(ValueError, match="leaky: GaussianNoise needs the uncertainty of the belief, and Leaky has none"):
        check_models([VARSMILE, uncertain], PEOPLE)
    with pytest.raises(ValueError, match="criterion 'waic' is not known"):
        group(compare([VARSMILE, LEAKY], PEOPLE[:1], HOW, most_folds=0), "waic")
    with pytest.raises(ValueError, match="nobody has a finite cross_validated"):
        group(compare([VARSMILE, LEAKY], PEOPLE[:1], HOW, most_folds=0), "cross_validated")


# --- the command ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "trials.csv"
    with path.open("w") as file:
        write = csv.writer(file)
        write.writerow(["subject", "block", "outcome", "prediction"])
        for one in PEOPLE:
            for t, (y, given) in enumerate(zip(one.parts[0].values, one.parts[0].given, strict=True)):
                write.writerow([one.name, t // 75, float(y), float(given)])
    return path


ASKED = (
    "--family",
    FAMILY_TEXT,
    "--response",
    "gaussian:sd=free",
    "--learner",
    "varsmile:m=free",
    "--learner",
    "leaky:omega=free",
)


def test_the_command(table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out, summary, plot, store = (str(tmp_path / name) for name in ("people.csv", "group.tsv", "picture.png", "fits"))
    words = ["compare", str(table), *ASKED, "--starts", "2", "--workers", "1", "--block", "block", "--store", store]
    done = volatilis(*words, "--out", out, "--summary", summary, "--plot", plot)
    assert done.exit_code == 0, done.output
    assert "6 people, 2 models, by -BIC / 2" in done.output
    assert "Cross-validation of everybody: 2 folds made of blocks." in done.output
    rows = list(csv.DictReader(pathlib.Path(out).read_text().splitlines()))
    assert len(rows) == 12
    assert [row["model"] for row in rows if row["best"] == "true"] == ["varsmile"] * 4 + ["leaky"] * 2
    assert {row["folds"] for row in rows} == {"2"}
    assert all(float(row["bic"]) == pytest.approx(2 * np.log(150) - 2 * float(row["log_likelihood"])) for row in rows)
    models = list(csv.DictReader(pathlib.Path(summary).read_text().splitlines(), delimiter="\t"))
    assert sum(float(row["protected"]) for row in models) == pytest.approx(1.0)
    assert pathlib.Path(plot).read_bytes()[:4] == b"\x89PNG"
    assert pathlib.Path(store, "fits.jsonl").read_text().count("\n") == 12 * 4


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--plot", "a.bmp"), "the ending tells the kind of picture; .png, .svg, .pdf"),
        (("--quiet",), "--quiet without an output gives nothing"),
        (("--criterion", "waic"), "criterion 'waic' is not known"),
        (("--criterion", "cross_validated", "--folds", "0"), "needs --folds 2 or more"),
        (("--bounds", "300,0"), "--bounds 300,0: not accepted"),
        (("--response-column", "said"), "said"),
        (("--scheduler", "nonsense"), "nonsense"),
    ],
)
def test_what_the_command_refuses(table: pathlib.Path, more: tuple[str, ...], words: str) -> None:
    done = volatilis("compare", table, *ASKED, *more)
    assert done.exit_code == 2
    assert words in done.output
    assert "Traceback" not in done.output


def test_the_picture_shows_every_model() -> None:
    from matplotlib.figure import Figure

    found = compare([VARSMILE, LEAKY], PEOPLE, HOW, most_folds=0)
    shown = dataset(found, group(found))
    figure = Figure(picture.size(shown))
    picture.draw(shown, figure)
    figure.canvas.draw()
    left, middle, right = figure.axes[:3]
    for axis in (left, middle, right):
        assert sorted(text.get_text() for text in axis.get_yticklabels()) == ["leaky", "varsmile"]
    assert middle.images[0].get_array().shape == (2, 6)
