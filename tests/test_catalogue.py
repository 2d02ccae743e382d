"""Families and learners as text."""

from __future__ import annotations

import pytest

import volatilis as vl
from volatilis import catalogue
from volatilis.catalogue import FAMILIES, LEARNERS, FromColumn
from volatilis.families._kinds import RECORDS as FAMILY_RECORDS
from volatilis.learners._kinds import RECORDS as LEARNER_RECORDS

GAUSSIAN = vl.Gaussian(10.0, 150.0, 87.0)


def learner(text: str, family: object = GAUSSIAN, **row: float) -> object:
    return catalogue.make_learner(catalogue.parse_learner(text), family, row)


def test_everything_public_is_there() -> None:
    public = [getattr(vl, name) for name in vl.__all__]
    families = {value for value in public if isinstance(value, type) and value in FAMILY_RECORDS}
    learners = {value for value in public if isinstance(value, type) and value in LEARNER_RECORDS}
    assert families == set(FAMILIES.built_in.values())
    assert learners == set(LEARNERS.built_in.values())
    assert len(families) == 14
    assert len(learners) == 14


@pytest.mark.parametrize("name", [*FAMILIES.built_in, *LEARNERS.built_in])
def test_parameters_are_those_of_the_class(name: str) -> None:
    """Every parameter is described, and the defaults that are listed are those that are taken."""
    listed = catalogue.parameters(name)
    assert all(parameter.accepts for parameter in listed)
    assert catalogue.sentence(name).endswith(".")
    given = {"k": 3, "n": 2, "mu_0": 1.0, "covariance": [[1.0]], "covariance_0": [[1.0]], "psi_0": [[1.0]], "nu_0": 3.0}
    if name.startswith("multivariate"):
        given["mu_0"] = [0.0]
    given |= {"contexts": 2, "p": 2, "order": 1}
    values = {p.name: given.get(p.name, 0.5) for p in listed if p.default is None}
    values |= {"family": vl.Bernoulli()} if name in ("given", "contaminated") else {}
    made = FAMILIES[name](**values) if name in FAMILIES else None
    if name == "per-context":
        made = vl.PerContext(vl.VarSMiLe(GAUSSIAN, 0.1), **values)
    if name == "averaged":
        made = vl.Averaged(vl.VarSMiLe(GAUSSIAN, 0.1), m=[0.1, 0.2])
        listed = [one for one in listed if one.name == "forget"]  # the counts of a prior become weights
    if made is None:
        made = LEARNERS[name](**values) if name in ("nas10", "nas12") else LEARNERS[name](family=GAUSSIAN, **values)
    for parameter in listed:
        owner = made.family if name in ("nas10", "nas12") and parameter.name != "p_c" else made
        if parameter.default is not None:
            assert getattr(owner, parameter.name) == parameter.default


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("merge:n=20,p_c=0.1", vl.Merge(GAUSSIAN, 0.1, 20)),
        ("Merge: p_c = 1e-1 , n = 20", vl.Merge(GAUSSIAN, 0.1, 20)),
        ("pf:n=5,p_c=.01,resample_below=1", vl.ParticleFilter(GAUSSIAN, 0.01, 5, 1.0)),
        ("mp:n=5,p_c=.01", vl.MessagePassing(GAUSSIAN, 0.01, 5)),
        ("sor:n=5,p_c=.01", vl.StratifiedResampling(GAUSSIAN, 0.01, 5)),
        ("StratifiedResampling:n=5,p_c=.01", vl.StratifiedResampling(GAUSSIAN, 0.01, 5)),
        ("exact:p_c=.01,cutoff=0", vl.ExactBayes(GAUSSIAN, 0.01, 0.0)),
        ("exact_bayes:p_c=.01", vl.ExactBayes(GAUSSIAN, 0.01)),
        ("nas12*:p_c=.01", vl.Nas12Star(GAUSSIAN, 0.01)),
        ("nas10-star:p_c=.01", vl.Nas10Star(GAUSSIAN, 0.01)),
        ("nas10:p_c=.01", vl.Nas10(10.0, 0.01, 150.0)),
        ("nas12:p_c=.01,sigma=3,mu_0=0,sigma_0=50", vl.Nas12(3.0, 0.01, 0.0, 50.0)),
        ("varsmile:m=0.1", vl.VarSMiLe(GAUSSIAN, 0.1)),
        ("leaky:omega=0.9", vl.Leaky(GAUSSIAN, 0.9)),
    ],
)
def test_learners(text: str, expected: object) -> None:
    made = learner(text)
    assert type(made) is type(expected)
    assert made == expected


MERGE = vl.Merge(GAUSSIAN, 0.1, 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("averaged:merge:n=10,p_c=unknown", vl.Averaged(MERGE, p_c="unknown")),
        ("averaged:merge:n=10;p_c=unknown", vl.Averaged(MERGE, p_c="unknown")),
        ("averaged:merge:n=10,p_c=[0.01,0.1]", vl.Averaged(MERGE, p_c=[0.01, 0.1])),
        ("averaged:merge:n=10,p_c=unknown(3,0.01,0.3)", vl.Averaged(MERGE, p_c=vl.Unknown(3, 0.01, 0.3))),
        ("averaged:merge:n=10,p_c=unknown( high = 0.3 )", vl.Averaged(MERGE, p_c=vl.Unknown(high=0.3))),
        (
            "averaged:merge:n=10,p_c=unknown;sigma=[5,10],forget=0.01",
            vl.Averaged(MERGE, p_c="unknown", sigma=[5, 10], forget=0.01),
        ),
        (
            "averaged:merge:n=10,p_c=unknown;prior_changes=1,prior_stays=9",
            vl.Averaged(MERGE, p_c="unknown", prior_changes=1, prior_stays=9),
        ),
        ("averaged:varsmile:m=0.5;m=unknown", vl.Averaged(vl.VarSMiLe(GAUSSIAN, 0.5), m="unknown")),
    ],
)
def test_learners_that_learn_their_parameters(text: str, expected: vl.Averaged) -> None:
    made = learner(text)
    assert isinstance(made, vl.Averaged)
    own = {name: getattr(expected.learner, name) for name in ("p_c", "m") if name in expected.learner._fields}
    assert made._replace(learner=made.learner._replace(**own)) == expected  # its own value of what it weighs counts for nothing


def test_a_learner_that_learns_has_free_parameters_and_is_made_for_each_context() -> None:
    recipe = catalogue.parse_learner("averaged:merge:n=free,p_c=unknown;forget=free,prior_changes=1,prior_stays=9")
    assert recipe.free() == ("n", "forget")
    made = catalogue.make_learner(recipe, GAUSSIAN, {"n": 3, "forget": 0.2})
    assert (made.learner.n, made.forget) == (3, 0.2)
    nested = learner("per-context:averaged:merge:n=10,p_c=unknown;contexts=3,unseen=wait")
    assert nested == vl.PerContext(nested.learner, 3, "wait")
    assert isinstance(nested.learner, vl.Averaged)
    texts = ["averaged:merge:n=10,p_c=unknown", "averaged:merge:n=10,p_c=[0.1,0.2]"]
    assert [one.label for one in catalogue.parse_learners(texts)] == ["averaged_merge_p_cunknown", "averaged_merge_p_c0_1_0_2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("averaged", "made of another learner"),
        ("averaged:merge:n=10", "p_c is missing"),
        ("averaged:merge:n=10,p_c=0.1", "nothing is unknown"),
        ("averaged:merge:n=10,p_c=free;p_c=unknown", "cannot be free"),
        ("averaged:merge:n=10;p_c=free", "write p_c=unknown"),
        ("averaged:merge:n=10,p_c=unknown;p_c=[0.1]", "given twice"),
        ("averaged:merge:n=10,p_c=unknown(a)", r"unknown\(count,low,high\) is"),
        ("averaged:merge:n=10,p_c=unknown;forgets=0.1", "did you mean forget"),
        ("averaged:merge:n=10,p_c=unknown;a=[1,2]", "Merge has no parameter 'a'"),
        ("averaged:leaky:omega=unknown", "does not predict"),
        ("averaged:per-context:merge:n=10,p_c=0.1;contexts=2", "PerContext"),
        ("averaged:merge:n=10,p_c=unknown;prior_changes=1", "needs both"),
        ("averaged:merge:n=10,p_c=[0.1];prior_changes=1,prior_stays=2", "must be"),
        ("averaged:merge:n=unknown,p_c=0.1", "n cannot be learned; give its value"),
        ("merge:n=10,p_c=unknown", "averaged:LEARNER:p_c=unknown"),
    ],
)
def test_what_cannot_be_learned_is_said(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(text)


def test_what_time_is_for_contexts_that_are_not_seen() -> None:
    for given in ("ignore", ""):
        with pytest.raises(ValueError, match=r"PerContext: unseen = .* is not accepted; it must be 'elapse' or 'wait'"):
            vl.PerContext(vl.VarSMiLe(vl.Bernoulli(), 0.1), 2, unseen=given)


def test_families() -> None:
    text = "multivariate-gaussian:covariance=[[1,0.5],[0.5,2]],mu_0=[0,1],covariance_0=[[4,0],[0,4]]"
    made = catalogue.make_family(catalogue.parse_family(text), {})
    assert made == vl.MultivariateGaussian([[1, 0.5], [0.5, 2]], [0, 1], [[4, 0], [0, 4]])
    assert catalogue.make_family(catalogue.parse_family("bernoulli"), {}) == vl.Bernoulli()
    assert catalogue.make_family(catalogue.parse_family("categorical:k=3"), {}) == vl.Categorical(3)


def test_a_parameter_may_stand_in_a_column() -> None:
    recipe = catalogue.parse_family("gaussian:sigma=column:noise level,mu_0=150")
    assert recipe.columns() == ("noise level",)
    assert dict(recipe.fields)["sigma"] == FromColumn("noise level")
    assert catalogue.make_family(recipe, {"noise level": 25}) == vl.Gaussian(25.0, 150.0)


def test_labels() -> None:
    def labels(*texts: str) -> list[str]:
        return [recipe.label for recipe in catalogue.parse_learners(texts)]

    assert labels("merge:n=20,p_c=0.1", "pf:n=20,p_c=0.1") == ["merge", "particle_filter"]
    assert labels("merge:n=20,p_c=0.1", "merge:n=5,p_c=0.1") == ["merge_n20", "merge_n5"]
    assert labels("merge:n=20,p_c=0.1", "merge:n=20,p_c=1e-3") == ["merge_p_c0_1", "merge_p_c0_001"]
    assert labels("slow=merge:n=20,p_c=0.01", "merge:n=20,p_c=0.1") == ["slow", "merge"]
    with pytest.raises(ValueError, match="two learners are called 'merge'"):
        labels("merge:n=20,p_c=0.1", "merge:n=20,p_c=0.1")
    with pytest.raises(ValueError, match="the label '1st' is not accepted"):
        labels("1st=merge:n=20,p_c=0.1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mrge:n=20,p_c=0.1", "there is no learner 'mrge'.*did you mean merge"),
        ("merge", "p_c is missing; it must be a number above 0 and below 1"),
        ("merge:p_c=0.1", "n is missing"),
        ("merge:n=20,p_c=0.1,nn=3", "merge has no parameter 'nn'; it has p_c, n; did you mean n"),
        ("merge:n=20,n=20,p_c=0.1", "n is given twice"),
        ("merge:n=20,p_c", "'p_c' is not accepted; parameters are written name=value"),
        ("merge:n=20,p_c=often", "p_c = often is not a number"),
        ("merge:n=20.5,p_c=0.1", "n = 20.5.*whole number"),
        ("merge:n=20,p_c=1.5", "p_c = 1.5 is not accepted; it must be a number above 0 and below 1"),
        ("merge:n=20,p_c=__import__('os')", "is not a number"),
        ("merge:n=20;p_c=0.1", "write commas between the parameters of merge"),
        ("per-context:merge:n=2,p_c=0.1,contexts=2", r"contexts is missing.*the form is per-context:LEARNER:\.\.\.;contexts="),
        ("per-context:merge:n=2,p_c=0.1;contexts=2,unseen=stay", "unseen = stay is not accepted; it must be 'elapse' or 'wait'"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        learner(text)
    assert text in str(error.value)


def test_original_nassar_needs_a_gaussian() -> None:
    with pytest.raises(ValueError, match="gaussian only"):
        learner("nas10:p_c=0.1", vl.Bernoulli())
    with pytest.raises(ValueError, match="Nas10Star"):
        learner("nas10*:p_c=0.1", vl.Bernoulli())
