"""Fits of one person: known parameters come back at the stated rate, whatever the unit, and what is found is the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

import volatilis as vl
from tests.behaviour.simulated import FAMILY, FAMILY_TEXT, believed, gaussian_person, trials_of
from volatilis.behaviour.fitting.baseline import NO_BETTER
from volatilis.behaviour.fitting.fit import Fit, fit, intervals, log_evidence
from volatilis.behaviour.fitting.parameters import RANGES, Prior, Stated, Unit, parse_priors, searched, weak
from volatilis.behaviour.likelihood import log_likelihood
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person

VARSMILE = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free")


def test_known_parameters_lie_in_their_intervals_at_the_nominal_rate() -> None:
    """Of 200 simulated people about 95 % have the truth in the interval: within three binomial standard errors (4.6 %)."""
    people, truth = 200, {"m": 0.3, "sd": 8.0}
    inside = dict.fromkeys(truth, 0)
    for seed in range(people):
        found = intervals(fit(VARSMILE, gaussian_person("a", truth["m"], truth["sd"], seed), starts=3))
        for name, value in truth.items():
            inside[name] += found[name][1] < value < found[name][2]
    error = np.sqrt(0.95 * 0.05 / people)
    for name, count in inside.items():
        assert abs(count / people - 0.95) < 3.0 * error, name


@pytest.mark.parametrize("learner", ["varsmile:m=free", "merge:n=5,p_c=free"])
def test_intervals_cover_where_the_surface_is_uneven(learner: str) -> None:
    """Absolute errors have edges, and merged hypotheses jump: a second derivative at the optimum gave intervals that held the
    truth for 65 to 86 % of people. Within three binomial standard errors (4.6 %)."""
    people, name = 200, learner.partition(":")[2].partition("=free")[0].rpartition(",")[2]
    model, true = Model.parse(FAMILY_TEXT, learner, "laplace:sd=free"), {"m": 0.3, "p_c": 0.1}[name]
    teacher = vl.VarSMiLe(FAMILY, true) if name == "m" else vl.Merge(FAMILY, true, 5)
    inside = {name: 0, "sd": 0}
    for seed in range(people):
        y = vl.ChangingEnvironment(FAMILY, 0.1).sample(300, seed=seed).y
        given = believed(teacher, y)[0] + np.random.default_rng(seed).laplace(0.0, 8.0 / np.sqrt(2.0), 300)
        found = intervals(fit(model, Person("a", (trials_of(FAMILY, y, given),)), starts=3))
        for which, value in ((name, true), ("sd", 8.0)):
            inside[which] += found[which][1] < value < found[which][2]
    error = np.sqrt(0.95 * 0.05 / people)
    for which, count in inside.items():
        assert abs(count / people - 0.95) < 3.0 * error, which


def test_intervals_of_a_learner_that_samples_cover_too() -> None:
    """People who are particle filters, with random numbers of their own: within three binomial standard errors."""
    people = 30
    model, inside = Model.parse(FAMILY_TEXT, "pf:n=20,p_c=free", "gaussian:sd=free"), {"p_c": 0, "sd": 0}
    for seed in range(people):
        y = vl.ChangingEnvironment(FAMILY, 0.1).sample(100, seed=seed).y
        after = np.asarray(vl.run(vl.ParticleFilter(FAMILY, 0.1, 20), y, seed=5000 + seed).mean)
        given = np.concatenate([[FAMILY.mu_0], after[:-1]]) + np.random.default_rng(seed).normal(0.0, 8.0, 100)
        found = intervals(fit(model, Person("a", (trials_of(FAMILY, y, given),)), starts=2, seed=1 + seed))
        for which, value in (("p_c", 0.1), ("sd", 8.0)):
            inside[which] += found[which][1] < value < found[which][2]
    error = np.sqrt(0.95 * 0.05 / people)
    assert all(abs(count / people - 0.95) < 3.0 * error for count in inside.values()), inside


def test_intervals_from_the_profile_cover_too() -> None:
    people = 40
    inside = {"m": 0, "sd": 0}
    for seed in range(people):
        found = fit(VARSMILE, gaussian_person("a", 0.3, 8.0, 1000 + seed, 100), starts=3, profile=True).profile
        inside["m"] += found["m"][0] < 0.3 < found["m"][1]
        inside["sd"] += found["sd"][0] < 8.0 < found["sd"][1]
    error = np.sqrt(0.95 * 0.05 / people)
    assert all(abs(count / people - 0.95) < 3.0 * error for count in inside.values()), inside


def test_the_profile_ends_where_the_likelihood_has_fallen_by_half_a_chi_squared_point() -> None:
    person = gaussian_person("a", 0.3, 8.0, 3)
    found = fit(VARSMILE, person, profile=True)
    for end in found.profile["m"]:
        best = optimize.minimize_scalar(
            lambda sd, m=end: -log_likelihood(lambda values: VARSMILE.make({"m": m, "sd": sd}), person),
            bounds=(4.0, 16.0),
            method="bounded",
        )
        assert -best.fun == pytest.approx(found.log_likelihood - 0.5 * stats.chi2(1).ppf(0.95), abs=2e-3)


@pytest.mark.parametrize(("scale", "shift"), [(0.01, 0.0), (100.0, -3000.0)])
def test_other_units_give_the_same_fit_in_other_units(scale: float, shift: float) -> None:
    plain = fit(VARSMILE, gaussian_person("a", 0.3, 8.0, 5))
    family = f"gaussian:sigma={10 * scale},mu_0={150 * scale + shift},sigma_0={50 * scale}"
    other = fit(Model.parse(family, "varsmile:m=free", "gaussian:sd=free"), gaussian_person("a", 0.3, 8.0, 5, 300, scale, shift))
    assert other.values["m"] == pytest.approx(plain.values["m"], rel=1e-4)
    assert other.values["sd"] == pytest.approx(scale * plain.values["sd"], rel=1e-5)
    assert other.log_likelihood == pytest.approx(plain.log_likelihood - 300 * np.log(scale), abs=1e-6)


def test_free_family_parameters_move_with_the_unit() -> None:
    free = Model.parse("gaussian:sigma=free,mu_0=free,sigma_0=50", "varsmile:m=0.3", "gaussian:sd=free")
    scaled = Model.parse("gaussian:sigma=free,mu_0=free,sigma_0=500", "varsmile:m=0.3", "gaussian:sd=free")
    plain = fit(free, gaussian_person("a", 0.3, 4.0, 5), starts=3)
    other = fit(scaled, gaussian_person("a", 0.3, 4.0, 5, 300, 10.0, 7.0), starts=3)
    assert other.values["sigma"] == pytest.approx(10.0 * plain.values["sigma"], rel=1e-2)
    assert other.values["mu_0"] == pytest.approx(10.0 * plain.values["mu_0"] + 7.0, rel=1e-2)
    assert other.log_likelihood == pytest.approx(plain.log_likelihood - 300 * np.log(10.0), abs=1e-2)
    low, high = intervals(plain)["sigma"][1:]
    assert low < 10.0 < high


@pytest.mark.parametrize("response", ["gaussian:sd=free", "laplace:sd=free"])
@pytest.mark.parametrize("prior", [None, weak], ids=["ml", "map"])
@pytest.mark.parametrize("learner", ["varsmile:m=free", "leaky:omega=free", "merge:n=5,p_c=free"])
def test_the_noise_without_a_search_is_the_optimum_of_a_search(learner: str, prior: object, response: str) -> None:
    """Against SciPy's own simplex over all parameters, from the point found and from another."""
    model, person = Model.parse(FAMILY_TEXT, learner, response), gaussian_person("a", 0.3, 8.0, 11, 150)
    found = fit(model, person, prior=prior)  # type: ignore[arg-type]
    name = model.free()[0]
    scale = RANGES[name].scale

    def worth(x: np.ndarray) -> float:
        values = {name: scale.back(x[0]), "sd": float(np.exp(x[1]))}
        total = log_likelihood(lambda columns: model.make(values), person)
        if prior is not None:
            total += found_prior.log_density(x)
        return -total

    found_prior = weak([searched(one, model.unit([person])) for one in found.names])
    assert worth(found.x) == pytest.approx(-found.log_likelihood - found.log_prior, abs=1e-8)
    close = 5e-3 if learner.startswith("merge") else 1e-5  # which pair is merged jumps with p_c, and the likelihood with it
    for start in (found.x, found.x + np.array([0.5, -0.2])):
        best = optimize.minimize(worth, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10, "maxiter": 600})
        assert worth(found.x) < best.fun + close


def test_the_scan_finds_what_many_quasi_newton_searches_find() -> None:
    """The same likelihood with a second parameter that hardly matters is searched in another way."""
    for seed in range(5):
        person = gaussian_person("a", 0.05 * (1 + seed), 8.0, seed, 150)
        for learner in ("varsmile:m=free", "nas12*:p_c=free"):
            scan = fit(Model.parse(FAMILY_TEXT, learner, "gaussian:sd=free"), person)
            both = fit(Model.parse(FAMILY_TEXT, learner, "gaussian:sd=free,motor=1e-6"), person)
            assert scan.log_likelihood == pytest.approx(both.log_likelihood, abs=1e-4)
            assert scan.log_likelihood > both.log_likelihood - 1e-5


def test_the_curvature_against_a_known_one() -> None:
    """log sd of n Gaussian residuals has variance 1 / 2n; of Laplace ones 1 / n.

    Four standard errors away the surface is no parabola any more: its fourth derivative adds up to 10 / (3 n).
    """
    n = 1000
    person = gaussian_person("a", 0.3, 8.0, 2, n)
    for response, variance in (("gaussian:sd=free", 0.5 / n), ("laplace:sd=free", 1.0 / n)):
        found = fit(Model.parse(FAMILY_TEXT, "varsmile:m=0.3", response), person)
        assert found.covariance[0, 0] == pytest.approx(variance, rel=2.0 * 10.0 / (3.0 * n))


def test_least_squares_is_the_gaussian_fit() -> None:
    """The paper's first criterion."""
    person = gaussian_person("a", 0.3, 8.0, 4)
    part = person.parts[0]

    def squares(log_m: float) -> float:
        return float(np.sum((part.given - believed(vl.VarSMiLe(FAMILY, np.exp(log_m)), part.values)[0]) ** 2))

    best = optimize.minimize_scalar(squares, bounds=(-4.0, 1.0), method="bounded", options={"xatol": 1e-8})
    found = fit(VARSMILE, person)
    assert np.log(found.values["m"]) == pytest.approx(best.x, abs=1e-4)
    assert found.values["sd"] == pytest.approx(np.sqrt(best.fun / 300), rel=1e-6)


def test_a_strong_prior_decides_and_a_flat_one_does_not() -> None:
    person = gaussian_person("a", 0.3, 8.0, 6)
    plain = fit(VARSMILE, person)
    flat = fit(VARSMILE, person, prior=Prior(np.zeros(2), np.full(2, 1e4)))
    strong = fit(VARSMILE, person, prior=Stated({"m": (0.0999, 0.1001)}))
    assert flat.values["m"] == pytest.approx(plain.values["m"], rel=1e-4)
    assert strong.values["m"] == pytest.approx(0.1, rel=1e-2)
    assert strong.log_likelihood < plain.log_likelihood


def test_the_evidence_of_a_model_that_is_a_normal() -> None:
    """One parameter, a level of confidence, makes the likelihood a Gaussian of it: Laplace's approximation is exact."""
    rng = np.random.default_rng(1)
    y = vl.ChangingEnvironment(FAMILY, 0.1).sample(40, seed=1).y
    said = rng.normal(1.0, 0.5, 40)
    person = Person("a", (trials_of(FAMILY, y, said),))
    found = fit(
        Model.parse(FAMILY_TEXT, "varsmile:m=0.3", "confidence:sd=0.5,level=free,slope=0"),
        person,
        prior=Prior(np.zeros(1), np.ones(1)),
    )
    exact = stats.multivariate_normal(np.zeros(40), 0.25 * np.eye(40) + np.ones((40, 40))).logpdf(said)
    assert log_evidence(found) == pytest.approx(exact, abs=1e-3)
    assert np.isnan(log_evidence(fit(VARSMILE, gaussian_person("a", 0.3, 8.0, 6))))


def test_priors_by_their_95_percent() -> None:
    free = [searched("p_c", Unit(0.0, 1.0))]
    mean, sd = parse_priors(["p_c=0.01:0.5"])(free)
    back = stats.norm(mean[0], sd[0]).ppf([0.025, 0.975])
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-back)), [0.01, 0.5], rtol=1e-9)
    for wrong in ("p_c", "p_c=0.1", "p_c=0.5:0.1", "p_c=a:b"):
        with pytest.raises(ValueError, match="write NAME=LOW:HIGH"):
            parse_priors([wrong])


@pytest.mark.parametrize("prior", ["p_c=0:0.5", "p_c=0.5:1", "p_c=0.01:2", "sd=0:10", "m=-1:1"])
def test_priors_beyond_what_a_parameter_can_be(prior: str) -> None:
    with pytest.raises(ValueError, match=r"is not accepted; (p_c lies between 0 and 1|sd lies above 0|m lies above 0)"):
        parse_priors([prior])


def test_a_particle_filter_is_fitted_with_common_random_numbers() -> None:
    """The same seed gives the same fit; the likelihood is the mean over runs, so at least as large as the worst run's."""
    person = gaussian_person("a", 0.3, 8.0, 7, 80)
    model = Model.parse(FAMILY_TEXT, "pf:n=20,p_c=free", "gaussian:sd=free")
    first, second, other = (fit(model, person, starts=2, seed=seed) for seed in (1, 1, 2))
    assert str(first) == str(second)
    assert first.x.tolist() != other.x.tolist()
    exact = fit(Model.parse(FAMILY_TEXT, "exact:p_c=free", "gaussian:sd=free"), person)
    assert abs(first.x[0] - exact.x[0]) < 4.0 * np.sqrt(exact.covariance[0, 0])
    assert first.values["sd"] == pytest.approx(exact.values["sd"], rel=0.2)


def test_the_likelihood_is_that_of_the_parameters_also_where_it_jumps() -> None:
    """Message passing drops hypotheses, and with p_c it changes which: the search ends next to a jump."""
    family = vl.Bernoulli(1.84, 1.84)
    model = Model.parse("bernoulli:a=1.84,b=1.84", "message-passing:n=5,p_c=free", "gaussian:sd=free,per_update=free")
    for seed in range(6):
        y = vl.ChangingEnvironment(family, 0.05).sample(200, seed=seed).y
        given = believed(vl.MessagePassing(family, 0.05, 5), y)[0] + np.random.default_rng(seed).normal(0.0, 0.05, 200)
        person = Person("a", (trials_of(family, y, given),))
        found = fit(model, person, starts=3)
        again = log_likelihood(lambda columns, values=found.values: model.make(values), person)
        assert found.log_likelihood == pytest.approx(again, abs=1e-9)


def test_whole_numbers_are_tried_one_by_one() -> None:
    person = gaussian_person("a", 0.3, 8.0, 8, 80)
    found = fit(Model.parse(FAMILY_TEXT, "merge:n=free,p_c=free", "gaussian:sd=free"), person, starts=2)
    each = [
        fit(Model.parse(FAMILY_TEXT, f"merge:n={n},p_c=free", "gaussian:sd=free"), person, starts=2) for n in (1, 2, 3, 5, 10, 20)
    ]
    assert found.log_likelihood == max(one.log_likelihood for one in each)
    assert found.values["n"] in (1, 2, 3, 5, 10, 20)


def test_several_parts_with_parameters_of_their_own() -> None:
    """The likelihood of a person is the product over parts, each with its column's value."""
    one, two = gaussian_person("a", 0.3, 8.0, 1).parts[0], gaussian_person("a", 0.3, 8.0, 2).parts[0]
    model = Model.parse("gaussian:sigma=column:s,mu_0=150,sigma_0=50", "varsmile:m=free", "gaussian:sd=free")
    parts = (one._replace(columns={"s": 10.0}), two._replace(columns={"s": 14.0}))
    found = fit(model, Person("a", parts))
    alone = [log_likelihood(lambda columns: model.make({**columns, **found.values}), Person("a", (part,))) for part in parts]
    assert found.log_likelihood == pytest.approx(sum(alone), abs=1e-9)
    assert alone[0] != pytest.approx(
        log_likelihood(lambda columns: model.make({"s": 14.0, **found.values}), Person("a", parts[:1]))
    )


def warned(found: Fit) -> str:
    return "; ".join(found.warnings)


def test_what_a_fit_warns_of() -> None:
    exact_follower = gaussian_person("a", 0.3, 8.0, 9)
    part = exact_follower.parts[0]
    never_moves = Person("a", (part._replace(given=np.full(300, 150.0)),))
    found = fit(VARSMILE, never_moves)
    assert "all responses are alike" in warned(found)
    both = fit(Model.parse(FAMILY_TEXT, "varsmile:m=0.3", "gaussian:sd=free,motor=free"), exact_follower)
    assert "sd and motor cannot be told apart" in both.warnings
    assert not fit(VARSMILE, exact_follower).warnings


def test_what_the_data_do_not_tell_is_said() -> None:
    """Six responses to six outcomes without a change, in much noise: any m goes; the noise itself is told."""
    y = 150.0 + np.random.default_rng(0).normal(0.0, 10.0, 8)
    said = 150.0 + np.random.default_rng(2).normal(0.0, 40.0, 8)
    found = fit(VARSMILE, Person("a", (trials_of(FAMILY, y, said),)))
    assert found.warnings[0] == NO_BETTER  # these responses follow nothing
    assert found.warnings[1:] == ("m is not identified",) or found.warnings[1:] == ("m is at its bound",)
    low, high = intervals(found)["sd"][1:]
    assert low < 40.0 < high


def test_a_whole_number_at_the_end_of_those_tried_is_said() -> None:
    person = gaussian_person("a", 0.3, 8.0, 8, 80)
    found = fit(Model.parse(FAMILY_TEXT, "merge:n=free,p_c=free", "gaussian:sd=free"), person, starts=2)
    assert ("n is at its bound" in found.warnings) == (found.values["n"] in (1, 20))
    fixed = fit(Model.parse(FAMILY_TEXT, "merge:n=20,p_c=free", "gaussian:sd=free"), person, starts=2)
    assert "n is at its bound" not in fixed.warnings
