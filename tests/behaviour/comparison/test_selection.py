"""Random-effects model selection: against exact enumeration, integration, a Gibbs sampler, and another implementation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, gammaln, logsumexp, psi, softmax

from volatilis.behaviour.comparison.selection import exceedance, select

LOGS = np.array(
    [
        [-10.0, -12.5, -11.0],
        [-20.0, -20.5, -23.0],
        [-15.5, -15.0, -19.0],
        [-8.0, -12.0, -9.0],
        [-30.0, -29.0, -27.0],
        [-11.0, -13.0, -12.0],
        [-9.5, -10.0, -14.0],
    ]
)


# --- exceedance probabilities --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [(11.8, 2.2), (1.0, 1.0), (0.3, 0.2), (150.0, 140.0), (2000.0, 1.0)])
def test_of_two_models_it_is_that_of_a_beta(alpha: tuple[float, float]) -> None:
    assert exceedance(np.array(alpha)) == pytest.approx([stats.beta.sf(0.5, *alpha), stats.beta.cdf(0.5, *alpha)], abs=1e-8)


def test_a_published_one() -> None:
    """Stephan et al. (2009): alpha = (11.8, 2.2), exceedance 99.7 %, expected frequency 84.3 %."""
    assert round(float(exceedance(np.array([11.8, 2.2]))[0]), 3) == 0.997


def test_of_four_models_against_draws() -> None:
    alpha = np.array([5.0, 4.0, 2.5, 0.7])
    draws = np.random.default_rng(0).dirichlet(alpha, 200_000).argmax(axis=1)
    assert exceedance(alpha) == pytest.approx(np.bincount(draws) / draws.size, abs=0.005)


def test_equal_models_exceed_equally() -> None:
    assert exceedance(np.full(5, 3.0)) == pytest.approx(0.2)


# --- the posterior -------------------------------------------------------------------------------------------------------


def test_certain_people_are_counted() -> None:
    """Where everybody's model is known the posterior is Dirichlet, the bound is tight, and all is known by hand."""
    logs = np.array([[0.0, -800.0]] * 7 + [[-800.0, 0.0]] * 2)
    found = select(logs)
    assert found.alpha == pytest.approx([8.0, 3.0])
    assert found.frequency == pytest.approx([8 / 11, 3 / 11])
    assert found.evidence == pytest.approx((betaln(8.0, 3.0), -9.0 * np.log(2.0)))
    risk = 1.0 / (1.0 + np.exp(betaln(8.0, 3.0) + 9.0 * np.log(2.0)))
    assert found.omnibus_risk == pytest.approx(risk)
    assert found.protected[0] == pytest.approx(stats.beta.sf(0.5, 8.0, 3.0) * (1.0 - risk) + 0.5 * risk)


def exact_evidence(logs: np.ndarray, alpha_0: float) -> float:
    """log P(data): the sum over every assignment of people to models."""
    people, models = logs.shape
    terms = []
    for assignment in np.ndindex(*(models,) * people):
        counts = np.bincount(assignment, minlength=models)
        prior = (
            gammaln(models * alpha_0) - gammaln(models * alpha_0 + people) + np.sum(gammaln(alpha_0 + counts) - gammaln(alpha_0))
        )
        terms.append(prior + logs[np.arange(people), assignment].sum())
    return float(logsumexp(terms))


@pytest.mark.parametrize("alpha_0", [0.5, 1.0, 3.0])
def test_the_bound_lies_below_the_evidence(alpha_0: float) -> None:
    """Closer the clearer it is which model each person follows."""
    for logs, room in ((LOGS, 1.0), (20.0 * LOGS, 0.05)):
        exact, bound = exact_evidence(logs, alpha_0), select(logs, alpha_0).evidence[0]
        assert exact - room < bound < exact


def test_equal_frequencies_against_enumeration() -> None:
    """With a huge alpha_0 frequencies are equal, and the exact evidence is that of equal frequencies."""
    assert select(LOGS).evidence[1] == pytest.approx(exact_evidence(LOGS, 1e7), abs=1e-4)


@pytest.mark.parametrize(("times", "room"), [(1.0, 0.04), (20.0, 0.01)], ids=["unclear", "clear"])
def test_two_models_against_integration(times: float, room: float) -> None:
    logs = times * LOGS[:, :2]

    def density(r: float, power: int) -> float:
        return r**power * np.exp(np.sum(np.log(r * np.exp(logs[:, 0] - logs[:, 1]) + 1.0 - r)))

    mean = integrate.quad(density, 0.0, 1.0, args=(1,))[0] / integrate.quad(density, 0.0, 1.0, args=(0,))[0]
    assert select(logs).frequency[0] == pytest.approx(mean, abs=room)


def gibbs(logs: np.ndarray, rounds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Slow and exact in the long run: frequencies given assignments, assignments given frequencies."""
    rng, r = np.random.default_rng(seed), np.full(logs.shape[1], 1.0 / logs.shape[1])
    kept = np.empty((rounds, r.size))
    for i in range(rounds):
        shares = np.exp(logs - logs.max(axis=1, keepdims=True)) * r
        chosen = (rng.random(len(logs))[:, np.newaxis] > np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)).sum(
            axis=1
        )
        r = rng.dirichlet(1.0 + np.bincount(chosen, minlength=r.size))
        kept[i] = r
    return kept.mean(axis=0), np.bincount(kept.argmax(axis=1), minlength=r.size) / rounds


@pytest.mark.parametrize(("times", "room"), [(1.0, 0.12), (20.0, 0.02)], ids=["unclear", "clear"])
def test_three_models_against_a_gibbs_sampler(times: float, room: float) -> None:
    """The approximation is too sure where people's evidence is unclear, as its authors say; its size is stated in `selection`."""
    logs = times * np.vstack([LOGS, LOGS + np.random.default_rng(1).normal(0.0, 1.0, LOGS.shape)])
    frequency, exceeding = gibbs(logs, 20_000, 0)
    found = select(logs)
    assert found.frequency == pytest.approx(frequency, abs=min(room, 0.04))
    assert found.exceedance == pytest.approx(exceeding, abs=room)


def test_the_numbers_of_another_implementation() -> None:
    """groupBMC.py of cpilab/group-bayesian-model-comparison (a port of VBA_groupBMC), run on the same table until it settled."""
    found = select(LOGS, alpha_0=1.0 / 3.0)
    assert found.alpha == pytest.approx([6.44802133902, 0.373779857605, 1.178198803375], abs=1e-8)
    assert found.omnibus_risk == pytest.approx(0.5737308485243885, abs=1e-10)
    assert found.exceedance == pytest.approx([0.982284087818, 0.00197260188, 0.015743310303], abs=1e-9)
    assert found.protected == pytest.approx([0.609961020797, 0.192084475504, 0.197954503699], abs=1e-9)


def test_many_people_who_say_next_to_nothing() -> None:
    """Rounds gain little there, and yet come to an end: a point that another round does not move."""
    logs = np.random.default_rng(0).normal(0.0, 1e-3, (1000, 3))
    found = select(logs)
    again = 1.0 + softmax(logs + psi(found.alpha), axis=1).sum(axis=0)
    np.testing.assert_allclose(found.alpha, again, atol=1e-8)
    assert found.omnibus_risk > 0.5


def test_only_differences_within_a_person_count() -> None:
    moved = select(LOGS + np.arange(7.0)[:, np.newaxis] * 1e4)
    assert moved.alpha == pytest.approx(select(LOGS).alpha, abs=1e-6)
    assert moved.omnibus_risk == pytest.approx(select(LOGS).omnibus_risk, abs=1e-6)


def test_the_order_of_models_does_not_matter() -> None:
    order = [2, 0, 1]
    assert select(LOGS[:, order]).protected == pytest.approx(select(LOGS).protected[order], abs=1e-8)


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        (np.zeros((0, 2)), "one row per person"),
        (np.zeros(3), "one row per person"),
        (np.array([[0.0, 1.0], [0.0, np.nan]]), "person 2 under model 2 is nan"),
    ],
)
def test_what_is_refused(logs: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        select(logs)
