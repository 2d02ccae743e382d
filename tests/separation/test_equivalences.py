"""What is claimed to be equivalent is so in the numbers, and what is not claimed is not."""

from __future__ import annotations

import itertools
import pathlib
from typing import Any

import numpy as np
import pytest
from scipy import stats

import volatilis as vl
from volatilis.separation.equivalences import AT_FIRST, Flatness, same_belief, within
from volatilis.trials import Column

from .tasks import DIRECT, separated, simulated

GENERAL = ("exact:p_c=0.1", "merge:n=1,p_c=0.1", "mp:n=4,p_c=0.1", "pf:n=1,p_c=0.1", "varsmile:m=0.1", "leaky:omega=0.8")
GAUSSIAN = (*GENERAL, "smile:m=0.3", "nas10*:p_c=0.1", "nas12*:p_c=0.1", "nas12:p_c=0.1", "sor:n=1,p_c=0.1")
FEW = ("mp:n=4,p_c=0.1", "pf:n=1,p_c=0.1", "varsmile:m=0.1")
TASKS = {
    "gaussian:sigma=0.5": GAUSSIAN,
    "gaussian:sigma=1,sigma_0=1": ("smile:m=0.3", "varsmile:m=0.1", "mp:n=1,p_c=0.1"),
    "bernoulli": (*GENERAL, "smile:m=0.3"),
    "bernoulli:a=2,b=1": GENERAL,
    "categorical:k=2": GENERAL,
    "categorical:k=4,s=0.5": GENERAL,
    "poisson:shape=2,rate=0.5": FEW,
    "exponential:shape=2,rate=1": FEW,
    "gaussian-unknown-variance:mu_0=0,kappa_0=1,alpha_0=3,beta_0=1": FEW,
    "multivariate-gaussian:covariance=[[1,0.2],[0.2,1]],mu_0=[0,0],covariance_0=[[2,0],[0,3]]": FEW,
}


def significant(values: np.ndarray) -> np.ndarray:
    """To nine digits, so that rounding makes no ranks."""
    scaled = np.where(np.abs(values) < 1e-9, 0.0, values)
    return np.array([float(f"{v:.8e}") for v in scaled])


def ranks_agree(x: np.ndarray, y: np.ndarray, runs: np.ndarray) -> list[float]:
    """Spearman's correlation in each run."""
    return [float(stats.spearmanr(significant(x[runs == r]), significant(y[runs == r])).statistic) for r in np.unique(runs)]


def check(kind: str, x: np.ndarray, y: np.ndarray, runs: np.ndarray) -> None:
    if kind == "identical":
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-9)
    elif kind == "mirrored":
        moved = x + y
        np.testing.assert_allclose(moved, moved[0], rtol=1e-9, atol=1e-12)
    elif kind == "monotone":
        assert np.abs(ranks_agree(x, y, runs)) == pytest.approx(1.0, abs=1e-9)
    elif kind == "nearly monotone":
        assert min(np.abs(ranks_agree(x, y, runs))) > 0.99
    else:
        assert kind == AT_FIRST


@pytest.mark.parametrize("family", TASKS)
def test_claims_hold_and_nothing_else_does(family: str, tmp_path: pathlib.Path) -> None:
    frame = simulated(family)
    found, result = separated(frame, tmp_path, family, TASKS[family], measures=DIRECT)
    runs = frame["subject"].to_numpy()
    values = {c.name: result.frame[c.name].to_numpy(dtype=float) for c in found.regressors.columns}
    claimed = {frozenset((one.first, one.second)): one for one in found.equivalences}
    assert claimed
    for one, other in itertools.combinations(values, 2):
        claim = claimed.get(frozenset((one, other)))
        if claim is not None:
            check(claim.kind, values[one], values[other], runs)
        else:
            agreement = np.abs(ranks_agree(values[one], values[other], runs))
            assert agreement.min() < 1.0 - 1e-6, f"{one} and {other} have the same ranks and nothing is claimed"


def test_the_flat_prior_is_what_makes_shannon_and_bayes_factor_one(tmp_path: pathlib.Path) -> None:
    def claims(family: str) -> set[str]:
        found, _ = separated(simulated(family), tmp_path, family, ["varsmile:m=0.1"])
        shannon = "varsmile_shannon_surprise"
        return {e.kind for e in found.equivalences if shannon in (e.first, e.second)}

    assert claims("categorical:k=3") == {"monotone"}
    assert claims("bernoulli") == {"monotone"}
    assert claims("bernoulli:a=3,b=3") == {"monotone"}
    assert claims("bernoulli:a=3,b=2") == set()
    assert claims("gaussian:sigma=0.5") == set()


def test_a_prior_as_good_as_flat_is_measured(tmp_path: pathlib.Path) -> None:
    frame = simulated("gaussian:sigma=0.5", trials=400)
    found, result = separated(frame, tmp_path, "gaussian:sigma=0.5,sigma_0=300", ["nas12*:p_c=0.1"])
    kinds = {frozenset((e.first, e.second)): e for e in found.equivalences}
    claim = kinds[frozenset(("nas12_star_log_bayes_factor_surprise", "nas12_star_shannon_surprise"))]
    assert claim.kind == "nearly monotone"
    prior = stats.norm(0.0, np.hypot(0.5, 300.0)).logpdf(frame["outcome"])
    per_run = [prior[frame["subject"] == run] for run in (0, 1)]
    assert found.flatness["nas12_star"].range == pytest.approx(max(np.ptp(own) for own in per_run), rel=1e-6)
    shannon = result.frame["nas12_star_shannon_surprise"].to_numpy()
    spread = [np.concatenate([v - v.mean() for v in parts]) for parts in (per_run, [shannon[:400], shannon[400:]])]
    assert found.flatness["nas12_star"].share == pytest.approx(spread[0].std() / spread[1].std(), rel=1e-6)
    factor = result.frame["nas12_star_log_bayes_factor_surprise"].to_numpy()
    assert min(ranks_agree(factor, shannon, frame["subject"].to_numpy())) > 0.99


def test_outcomes_at_one_distance_from_the_prior_mean_are_flat_for_a_gaussian(tmp_path: pathlib.Path) -> None:
    frame = simulated("gaussian:sigma=0.5")
    frame["outcome"] = np.sign(frame["outcome"])
    found, result = separated(frame, tmp_path, "gaussian:sigma=0.5", ["varsmile:m=0.1"])
    pair = ("varsmile_log_bayes_factor_surprise", "varsmile_shannon_surprise")
    assert {e.kind for e in found.equivalences if {e.first, e.second} == set(pair)} == {"monotone"}
    check("monotone", *(result.frame[name].to_numpy() for name in pair), frame["subject"].to_numpy())


@pytest.mark.parametrize("other", ["merge:n=6,p_c=0.1", "sor:n=6,p_c=0.1", "mp:n=6,p_c=0.1"])
def test_exact_in_the_first_n_trials_of_a_block(other: str, tmp_path: pathlib.Path) -> None:
    frame = simulated("gaussian:sigma=0.5", runs=1)
    frame["new"] = (frame["trial"] % 20 == 0).astype(int)
    learners = ["exact:p_c=0.1", f"other={other}"]
    found, result = separated(frame, tmp_path, "gaussian:sigma=0.5", learners, reset="new", measures=("shannon_surprise", "mean"))
    assert {(e.kind, e.until) for e in found.equivalences} == {(AT_FIRST, 6)}
    early = (frame["trial"] % 20 < 6).to_numpy()
    for measure in ("shannon_surprise", "mean"):
        one, two = (result.frame[f"{label}_{measure}"].to_numpy() for label in ("exact_bayes", "other"))
        np.testing.assert_allclose(one[early], two[early], rtol=1e-9)
        assert np.abs(one - two)[~early].max() > 1e-6


@pytest.mark.parametrize(("length", "kind"), [(6, "identical"), (7, AT_FIRST)])
def test_exact_throughout_where_blocks_are_short(length: int, kind: str, tmp_path: pathlib.Path) -> None:
    frame = simulated("gaussian:sigma=0.5", runs=1, trials=42)
    frame["new"] = (frame["trial"] % length == 0).astype(int)
    learners, measures = ["exact:p_c=0.1", "merge:n=6,p_c=0.1"], ("shannon_surprise", "log_bayes_factor_surprise")
    found, _ = separated(frame, tmp_path, "gaussian:sigma=0.5", learners, reset="new", measures=measures)
    assert {e.kind for e in found.equivalences} == {kind}


def test_parameters_by_group_must_agree_in_every_group(tmp_path: pathlib.Path) -> None:
    """Merge with n = 1 is Nas12* where p_c is the same: here it is in one group only."""
    frame = simulated("gaussian:sigma=0.5")
    frame["hazard"] = np.where(frame["subject"] == 0, 0.1, 0.2)
    learners, measures = ["merge:n=1,p_c=column:hazard", "nas12*:p_c=0.1"], ("shannon_surprise", "mean")
    assert separated(frame, tmp_path, "gaussian:sigma=0.5", learners, measures=measures)[0].equivalences == []
    one = separated(frame[frame["subject"] == 0], tmp_path, "gaussian:sigma=0.5", learners, measures=measures)[0]
    assert {e.kind for e in one.equivalences} == {"identical"}


FAMILY = vl.Gaussian(0.5)
BLUNT = vl.ExactBayes(FAMILY, 0.1, cutoff=1e-3)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (vl.Merge(FAMILY, 0.1, 1), vl.Nas12Star(FAMILY, 0.1), "identical"),
        (vl.Merge(FAMILY, 0.1, 1), vl.Nas12Star(FAMILY, 0.2), None),
        (vl.Merge(FAMILY, 0.1, 2), vl.Nas12Star(FAMILY, 0.1), None),
        (vl.Merge(FAMILY, 0.1, 1), vl.Nas10Star(FAMILY, 0.1), None),
        (vl.Nas12(0.5, 0.1, sigma_0=1.0), vl.Nas12Star(FAMILY, 0.1), "identical"),
        (vl.Nas12(0.5, 0.1), vl.Nas12Star(FAMILY, 0.1), None),
        (vl.ParticleFilter(FAMILY, 0.1, 5), vl.ParticleFilter(FAMILY, 0.1, 5), "identical"),
        (vl.ParticleFilter(FAMILY, 0.1, 5), vl.ExactBayes(FAMILY, 0.1), None),
        (vl.ExactBayes(FAMILY, 0.1), vl.ExactBayes(FAMILY, 0.1, cutoff=0.0), "identical"),
        (BLUNT, vl.ExactBayes(FAMILY, 0.1), None),
        (vl.MessagePassing(FAMILY, 0.1, 5), vl.Merge(FAMILY, 0.1, 9), AT_FIRST),
        (vl.MessagePassing(FAMILY, 0.1, 1), vl.Merge(FAMILY, 0.1, 9), None),
        (vl.VarSMiLe(FAMILY, 0.1), vl.VarSMiLe(FAMILY, 0.1), "identical"),
        (vl.VarSMiLe(FAMILY, 0.1), vl.VarSMiLe(FAMILY, 0.2), None),
        (vl.VarSMiLe(FAMILY, 0.1), vl.SMiLe(FAMILY, 0.1), None),
        (vl.Leaky(FAMILY, 0.9), vl.Leaky(FAMILY, 0.9), "identical"),
    ],
)
def test_learners_with_the_same_belief(one: Any, other: Any, kind: str | None) -> None:
    for pair in ((one, other), (other, one)):
        found = same_belief(*pair, longest=100)
        assert (None if found is None else found.kind) == kind


def test_smile_has_an_adaptation_rate_of_its_own() -> None:
    def relation(learner: Any) -> Any:
        columns = [Column(name, "x", name, None) for name in ("bayes_factor_surprise", "adaptation_rate")]
        return within(learner, *columns, Flatness(1.0, 1.0))

    assert relation(vl.SMiLe(FAMILY, 0.1)) is None
    assert relation(vl.VarSMiLe(FAMILY, 0.1)).kind == "monotone"
