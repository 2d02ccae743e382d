"""A bound likelihood: whatever was evaluated before, the value is that of a fresh learner."""

from __future__ import annotations

import numpy as np
import pytest

from volatilis._compiler import plain_python
from volatilis.behaviour.fitting.fit import fit
from volatilis.behaviour.likelihood import Likelihood, log_likelihoods
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.running.drivers import RESET

from .simulated import FAMILY_TEXT, gaussian_person

CASES = [
    ("gaussian:sigma=free,mu_0=free,sigma_0=free", "varsmile:m=free"),
    ("gaussian:sigma=free,mu_0=150,sigma_0=free", "nas12:p_c=free"),
    ("gaussian:sigma=free,mu_0=free,sigma_0=50", "leaky:omega=free"),
    (FAMILY_TEXT, "exact:p_c=free,cutoff=0"),  # more than 128 hypotheses: the state grows on the way
    (FAMILY_TEXT, "merge:n=5,p_c=free"),
    (FAMILY_TEXT, "sor:n=5,p_c=free"),
]
ENDS = {
    **{"sigma": (1.0, 100.0), "mu_0": (-100.0, 300.0), "sigma_0": (5.0, 500.0), "m": (1e-3, 10.0), "p_c": (1e-3, 0.9)},
    **{"omega": (0.1, 0.99), "sd": (1.0, 50.0)},
}


@pytest.mark.parametrize(("family", "learner"), CASES, ids=[learner for _, learner in CASES])
def test_values_do_not_depend_on_what_came_before(family: str, learner: str) -> None:
    model, person = Model.parse(family, learner, "gaussian:sd=free"), gaussian_person("a", 0.3, 8.0, 1, 200)
    ends = {name: ENDS[name] for name in model.free()}
    bound, rng = Likelihood(model.make, person, ends, keys=(7,)), np.random.default_rng(0)
    for _ in range(4):
        values = [float(rng.uniform(*end)) for end in ends.values()]
        made = model.make(dict(zip(ends, values, strict=True)))
        fresh = float(np.add.reduce(log_likelihoods(*made, person.parts[0], keys=(7,))))
        assert bound(values) == fresh
        assert bound(values) == fresh


@pytest.mark.parametrize("learner", ["pf:n=5,p_c=0.1", "sor:n=4,p_c=0.1"])
@pytest.mark.parametrize("after", [False, True])
def test_a_likelihood_with_copies_has_the_mean_over_runs_as_its_expectation(learner: str, after: bool) -> None:
    """Against many runs of one learner each, in four standard errors; four copies choose among themselves all the time."""
    model, person = Model.parse(FAMILY_TEXT, learner, "gaussian:sd=6"), gaussian_person("a", 0.3, 8.0, 1, 12)
    part = person.parts[0]
    part.events[7] += RESET
    person = (
        Person("a", (part._replace(after=True, given=np.append(part.given[1:], 0.0), scored=np.arange(12) < 11),))
        if after
        else person
    )
    runs = [log_likelihoods(*model.make({}), person.parts[0], (key,)).sum() for key in range(2000)]
    top = max(runs)
    each = np.exp(np.array(runs) - top)
    few = np.exp([Likelihood(model.make, person, {}, range(10**6 + 4 * i, 10**6 + 4 * i + 4))(()) - top for i in range(500)])
    error = np.sqrt(each.var() / each.size + few.var() / few.size)
    assert abs(few.mean() - each.mean()) < 4.0 * error
    assert error < 0.05 * each.mean()
    assert few.std() < 0.75 * each.std()  # at least as good as the mean over four runs would be, but for a quarter


def test_copies_in_plain_python_are_the_same_copies() -> None:
    model, person = Model.parse(FAMILY_TEXT, "pf:n=5,p_c=0.1", "gaussian:sd=8"), gaussian_person("a", 0.3, 8.0, 1, 15)
    compiled = Likelihood(model.make, person, {}, (1, 2, 3, 4))(())
    with plain_python():
        assert Likelihood(model.make, person, {}, (1, 2, 3, 4))(()) == compiled


def test_a_fit_in_plain_python_is_the_same_fit() -> None:
    model, person = Model.parse(FAMILY_TEXT, "varsmile:m=free", "gaussian:sd=free"), gaussian_person("a", 0.3, 8.0, 1, 20)
    compiled = fit(model, person)
    with plain_python():
        plain = fit(model, person)
    assert repr(plain) == repr(compiled)


def test_a_range_that_a_model_does_not_accept_is_known_at_the_beginning() -> None:
    model, person = Model.parse(FAMILY_TEXT, "nas12*:p_c=free", "gaussian:sd=8"), gaussian_person("a", 0.3, 8.0, 1, 20)
    with pytest.raises(ValueError, match=r"p_c = 1\.5 is not accepted"):
        Likelihood(model.make, person, {"p_c": (0.1, 1.5)})


def test_each_response_with_copies_adds_up_to_the_likelihood_with_copies() -> None:
    model, person = Model.parse(FAMILY_TEXT, "pf:n=5,p_c=0.1", "gaussian:sd=8"), gaussian_person("a", 0.3, 8.0, 1, 60)
    each = log_likelihoods(*model.make({}), person.parts[0], keys=(1, 2, 3, 4))
    assert each.shape == (60,)
    assert each.sum() == pytest.approx(Likelihood(model.make, person, {}, (1, 2, 3, 4))(()))
    part = person.parts[0]
    first = part._replace(**{name: getattr(part, name)[:25] for name in ("values", "events", "given", "scored")})
    np.testing.assert_array_equal(log_likelihoods(*model.make({}), first, keys=(1, 2, 3, 4)), each[:25])
