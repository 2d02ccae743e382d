"""A learner that weighs parameters says so when the truth lies beyond its grid, and is silent when it lies within."""

import pathlib
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import volatilis as vl
from tests.helpers.command_line import succeeded, volatilis
from volatilis._core.fields import given_fields
from volatilis.running.grid_ends import ended, piles, run_over

WORLD = vl.Gaussian(1.0, 0.0, 5.0)
TRUE_SIGMA_4 = vl.ChangingEnvironment(vl.Gaussian(4.0, 0.0, 20.0), 0.05).sample(300, seed=1).y


def averaged(**grids: Any) -> Any:
    return vl.Averaged(vl.Merge(WORLD, p_c=0.1, n=5), **grids)


def drawn(p_c: float, length: int, seed: int, family: Any = WORLD) -> np.ndarray:
    return vl.ChangingEnvironment(family, p_c).sample(length, seed=seed).y


@pytest.mark.parametrize(
    ("learner", "y", "words"),
    [
        (averaged(sigma=[0.25, 0.5, 2.0]), TRUE_SIGMA_4, r"grid of sigma .* all of the weight lies at 2, the highest of its 3"),
        (averaged(sigma=[8.0, 16.0]), drawn(0.05, 100, 1), r"grid of sigma .* at 8, the lowest of its 2 values.*lower"),
        (averaged(p_c=[0.001, 0.01, 0.05]), drawn(0.2, 300, 2), r"grid of p_c .* at 0.05, the highest"),
        (averaged(p_c=[0.001, 0.01, 0.05], forget=0.01), drawn(0.2, 300, 2), r"grid of p_c .* at 0.05, the highest"),
        (averaged(p_c=[0.05, 0.1, 0.2]), drawn(0.002, 500, 4), r"grid of p_c .* at 0.05, the lowest"),
        (averaged(sigma_0=[1.0, 2.0], p_c="unknown"), drawn(0.1, 300, 5), r"grid of sigma_0 .* at 2, the highest"),
        (averaged(mu_0=[20.0, 40.0]), drawn(0.1, 300, 5), r"grid of mu_0 .* at 20, the lowest"),
    ],
)  # fmt: skip
def test_a_truth_beyond_the_grid(learner: Any, y: np.ndarray, words: str) -> None:
    with pytest.warns(vl.ModelMismatchWarning, match=words):
        vl.run(learner, y)


def test_the_better_value_is_as_much_better_as_it_is_told() -> None:
    """By runs of the learner itself, with each value alone."""
    learner, y = averaged(sigma=[0.5, 1.0, 2.0]), TRUE_SIGMA_4
    (pile,) = piles(learner, run_over(learner, [y], [np.zeros(len(y), dtype=np.uint8)]))
    at = {sigma: vl.run(learner.learner._replace(family=WORLD._replace(sigma=sigma)), y) for sigma in (2.0, pile.better)}
    gain = float(at[pile.better].log_predictive.sum() - at[2.0].log_predictive.sum())
    assert pile.gain == pytest.approx(gain, rel=1e-9)
    assert pile.gain > 100.0
    assert 2.0 < pile.better < 8.0


@pytest.mark.parametrize(
    ("grids", "truths"),
    [
        ({"p_c": "unknown"}, [{"p_c": p} for p in (2e-5, 0.003, 0.05, 0.2, 0.45)]),
        ({"p_c": [0.01, 0.1, 0.3]}, [{"p_c": p} for p in (0.01, 0.012, 0.05, 0.25, 0.3)]),
        ({"p_c": [0.01, 0.1, 0.3], "forget": 0.01}, [{"p_c": p} for p in (0.01, 0.1, 0.3)]),
        ({"p_c": "unknown", "sigma": [0.5, 1.0, 2.0]}, [{"p_c": 0.03, "sigma": s} for s in (0.5, 0.6, 1.0, 1.8, 2.0)]),
        ({"sigma_0": [5.0, 20.0]}, [{"p_c": 0.1}]),
    ],
)
def test_a_truth_within_the_grid_is_not_warned_of(grids: dict[str, Any], truths: list[dict[str, float]]) -> None:
    """The bound is 1 in 200 for each end, and the rate of a likelihood ratio far below: none of these 60 for each truth."""
    learner = averaged(**grids)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for truth in truths:
            family = WORLD._replace(sigma=truth.get("sigma", 1.0))
            for seed in range(60):
                vl.run(learner, drawn(truth["p_c"], (40, 150, 400)[seed % 3], seed, family))


def test_no_change_at_all_is_within_a_grid_that_begins_at_nearly_none() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vl.run(averaged(p_c="unknown"), np.random.default_rng(0).normal(size=5000))


def test_many_sequences_each_alone_and_all_together() -> None:
    learner = averaged(p_c=[0.001, 0.01, 0.05])
    with pytest.warns(vl.ModelMismatchWarning, match=r"grid of p_c .*in 1 of 5 sequences looked at\)"):
        vl.run_many(learner, [drawn(0.2 if seed == 3 else 0.02, 300, seed) for seed in range(5)])
    short = [drawn(0.25, 30, seed) for seed in range(8)]
    singly = [piles(learner, run_over(learner, [y], [np.zeros(30, dtype=np.uint8)])) for y in short]
    assert sum(map(bool, singly)) < 4  # too short to tell, alone
    with pytest.warns(vl.ModelMismatchWarning, match=r"grid of p_c .* of the weight lies at 0.05, the highest"):
        vl.run_many(learner, short)


@pytest.mark.parametrize("unseen", ["elapse", "wait"])
def test_each_context_has_weights_of_its_own(unseen: str) -> None:
    y = np.where(np.arange(600) % 2, np.repeat(TRUE_SIGMA_4, 2), np.repeat(drawn(0.05, 300, 3), 2))
    learner = vl.PerContext(averaged(sigma=[0.5, 1.0, 2.0]), 2, unseen)  # type: ignore[arg-type]
    with pytest.warns(vl.ModelMismatchWarning, match=r"grid of sigma .* at 2, the highest.*in 1 of 2 contexts\)"):
        vl.run(learner, y, given=np.arange(600) % 2)


def test_what_a_context_saw_is_a_run_of_its_own() -> None:
    learner = vl.PerContext(averaged(p_c=[0.01, 0.1]), 2, "wait")  # type: ignore[arg-type]
    values, _ = learner.family.observations([0.5, 1.5, 2.5, 3.5], given=[0, 1, 1, 0])
    first, second = ended(learner, values, np.array([4, 0, 0, 0], dtype=np.uint8), np.ones((2, 2)))
    np.testing.assert_array_equal(first.values[first.events % 4 == 0], [0.5, 3.5])
    np.testing.assert_array_equal(second.values[second.events % 4 == 0], [1.5, 2.5])
    np.testing.assert_array_equal(first.events // 4, [1, 0, 0, 0])
    np.testing.assert_array_equal(second.events // 4, [1, 0, 0, 0])


def test_the_check_is_of_what_was_learned() -> None:
    """The family's own sigma is only where the grid came from: it does not count where sigma is learned."""
    wide, narrow = averaged(sigma="unknown", sigma_0=[20.0], p_c="unknown"), averaged(sigma=[0.5, 1.0, 2.0], sigma_0=[20.0])
    found = vl.check(wide, TRUE_SIGMA_4)
    assert found.fits
    assert 3.0 < given_fields(found.family)["sigma"] < 5.0
    assert next(one.kind for one in vl.check(narrow, TRUE_SIGMA_4).misfits) == "grid"


def test_the_commands_say_it(tmp_path: pathlib.Path) -> None:
    rows = {"subject": np.repeat([1, 2], 300), "outcome": np.tile(TRUE_SIGMA_4, 2).round(3), "prediction": 0.0}
    rows["outcome"][300:] = drawn(0.05, 300, 9, vl.Gaussian(4.0, 0.0, 20.0)).round(3)
    rows["prediction"] = np.concatenate([[0.0], rows["outcome"][:-1]])
    pd.DataFrame(rows).to_csv(tmp_path / "trials.csv", index=False)
    world = ("--family", "gaussian:sigma=1,mu_0=0,sigma_0=20")
    learner, path = "averaged:merge:n=3;p_c=unknown,sigma=", tmp_path / "trials.csv"
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"{y}\n" for y in rows["outcome"]))
    fitted = ("--response", "gaussian:sd=free", "--starts", 1, "--out", tmp_path / "fits.csv")
    for words in (
        ("run", path, *world, "--out", tmp_path / "out.csv", "--learner"),
        ("watch", lines, *world, "--out", tmp_path / "watched.txt", "--learner"),
        ("fit", path, *world, *fitted, "--learner"),
    ):
        says = succeeded(volatilis(*words, f"{learner}[0.5,1,2]"))
        assert "the grid of sigma ends too soon: all of the weight lies at 2" in says
        assert "warning:" not in succeeded(volatilis(*words, f"{learner}unknown"))
