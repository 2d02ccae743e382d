"""Many people: the same on any number of processes, failures told, runs resumed; groups shrink what the data do not tell."""

from __future__ import annotations

import json
import pathlib
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import optimize, stats

import volatilis as vl
from tests.behaviour.simulated import FAMILY, FAMILY_TEXT, gaussian_person, trials_of
from volatilis._core.fields import Positive
from volatilis.behaviour.fitting import jobs
from volatilis.behaviour.fitting.fit import Fit, fit
from volatilis.behaviour.fitting.hierarchy import fit_groups
from volatilis.behaviour.fitting.jobs import Failure, fit_all
from volatilis.behaviour.fitting.parameters import weak
from volatilis.behaviour.fitting.results import dataset
from volatilis.behaviour.models import Model
from volatilis.behaviour.people import Person
from volatilis.behaviour.responses import estimate, log_normal, response
from volatilis.behaviour.responses.registry import load_own, register_response

MODELS = [Model.parse(FAMILY_TEXT, learner, "gaussian:sd=free") for learner in ("varsmile:m=free", "pf:n=5,p_c=free")]


def people(count: int, length: int = 60) -> list[Person]:
    return [gaussian_person(f"p{i}", 0.3, 8.0, i, length) for i in range(count)]


def same(one: Fit | Failure, other: Fit | Failure) -> bool:
    """To the last bit."""
    return repr(one) == repr(other) and (isinstance(one, Failure) or one.x.tobytes() == other.x.tobytes())  # type: ignore[union-attr]


def test_one_and_two_processes_give_the_same_bits_and_a_failure_stops_nobody() -> None:
    persons = people(3)
    persons.insert(1, Person("silent", (persons[0].parts[0]._replace(scored=np.zeros(60, dtype=bool)),)))
    alone = fit_all(MODELS, persons, starts=2, workers=1)
    together = fit_all(MODELS, persons, starts=2, workers=2)
    assert [(one.person, one.label) for one in alone] == [(p.name, m.label) for p in persons for m in MODELS]
    assert all(same(one, other) for one, other in zip(alone, together, strict=True))
    failures = [one for one in alone if isinstance(one, Failure)]
    assert failures == [
        Failure("silent", label, "silent: there is no response to fit") for label in ("varsmile", "particle_filter")
    ]


class Stop(Exception):  # noqa: N818
    """In the middle of a run."""


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    persons, whole = people(6), fit_all(MODELS[:1], people(6), workers=1)

    def stop(share: float) -> None:
        if share > 0.6:
            raise Stop

    with pytest.raises(Stop):
        fit_all(MODELS[:1], persons, workers=1, folder=tmp_path, progress=stop)
    kept = tmp_path / "fits.jsonl"
    lines = kept.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    kept.write_bytes(b"".join(lines[:3]) + lines[3][:40])  # killed in the middle of a line
    ran: list[str] = []
    monkeypatch.setattr(jobs, "fit", lambda *job: ran.append(job[1].name) or fit(*job))  # type: ignore[func-returns-value]
    again = fit_all(MODELS[:1], persons, workers=1, folder=tmp_path)
    assert ran == ["p3", "p4", "p5"]
    assert all(same(one, other) for one, other in zip(again, whole, strict=True))
    ran.clear()
    fit_all(MODELS[:1], persons, workers=1, folder=tmp_path)
    assert ran == []
    fit_all(MODELS[:1], persons, workers=1, folder=tmp_path, seed=1)  # other settings are other fits
    changed = [persons[0]._replace(parts=(persons[0].parts[0]._replace(given=persons[0].parts[0].given + 1.0),))]
    fit_all(MODELS[:1], changed, workers=1, folder=tmp_path)
    fit_all(MODELS[:1], persons[:1], workers=1, folder=tmp_path, prior=weak)
    assert ran == [*(p.name for p in persons), "p0", "p0"]
    after = kept.read_bytes().splitlines()
    assert after.pop(3) == lines[3][:40]  # never cut away: another run might have gone on behind it
    assert all(json.loads(line) for line in after)


@response
class Halfway(NamedTuple):
    """A user's own: goes only a part of the way to the belief."""

    sd: Positive
    carefulness: Positive = 1.0

    def log_response(self, learner: Any, state: Any, given: float, before: float) -> float:
        mean = estimate(learner, state, 0)
        return log_normal(given, mean if before != before else before + (mean - before) / (1.0 + self.carefulness), self.sd)


def test_two_runs_share_a_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one run keeps while another reads is not lost."""
    one, other = (fit(MODELS[0], person) for person in people(2))
    first = jobs._store(tmp_path)
    first.add("one", one)
    whole = jobs.from_json

    def meanwhile(entry: dict[str, Any]) -> Fit:
        first.add("other", other)
        return whole(entry)

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "from_json", meanwhile)
        second = jobs._store(tmp_path)
    second.add("third", one)
    last = jobs._store(tmp_path)
    for key, wanted in (("one", one), ("other", other), ("third", one)):
        found = last.get(key)
        assert found is not None
        assert same(found, wanted)
    for each in (first, second, last):
        each.close()


def test_a_response_model_of_ones_own_is_fitted_on_other_processes_too(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from typing import NamedTuple\n"
        "from volatilis.behaviour.responses import estimate, log_normal, response\n"
        "from volatilis._core.fields import Positive\n"
        "@response\n"
        "class MyOwn(NamedTuple):\n"
        "    sd: Positive\n"
        "    def log_response(self, learner, state, given, before):\n"
        "        return log_normal(given, estimate(learner, state, 0), self.sd)\n"
    )
    load_own([str(file)])
    texts = ("halfway:sd=free,carefulness=free", "my-own:sd=free", "gaussian:sd=free")
    models = [Model.parse(FAMILY_TEXT, "varsmile:m=free", text) for text in texts]
    found = fit_all(models, people(2), starts=2, workers=2)
    fits = [one for one in found if isinstance(one, Fit)]
    assert len(fits) == 6
    assert fits[1].log_likelihood == pytest.approx(fits[2].log_likelihood, abs=1e-5)
    assert fits[0].log_likelihood >= fits[1].log_likelihood - 1e-2  # carefulness 0 is no carefulness
    with pytest.raises(ValueError, match="is not a Python file: there is no such file"):
        load_own([str(tmp_path / "nothing.py")])
    with pytest.raises(ValueError, match="already; choose another name"):
        register_response("gaussian", Halfway)


def test_bad_people_are_told_and_the_others_fitted() -> None:
    good = people(1)[0]
    one_trial = Person("short", (trials_of(FAMILY, [150.0], [151.0]),))
    slider = Model.parse(FAMILY_TEXT, "varsmile:m=free", "truncated:sd=free,low=-50,high=350")
    beyond = Person("beyond", (good.parts[0]._replace(given=good.parts[0].given + 1000.0),))
    impossible = Person("far", (good.parts[0]._replace(given=np.full(60, 1e200)),))
    found = fit_all([slider], [one_trial, beyond, good], workers=1)
    assert isinstance(found[2], Fit)
    assert found[0] == Failure("short", "varsmile", "short: 2 parameters cannot be estimated from 1 response(s)")
    assert isinstance(found[1], Failure)
    assert "beyond: beyond the slider, -50 to 350, are 60 responses" in found[1].message
    failed = fit_all(MODELS[:1], [impossible], workers=1)[0]
    assert isinstance(failed, Failure)
    assert failed.message == "far: no start has a finite likelihood; are all responses possible under 'gaussian:sd=free'?"
    leaky = Model.parse(FAMILY_TEXT, "leaky:omega=free", "confidence:sd=free")
    failed = fit_all([leaky], [good], workers=1)[0]
    assert isinstance(failed, Failure)
    assert "needs the uncertainty of the belief, and Leaky has none" in failed.message


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("varsmile:p_c=free", "varsmile has no parameter 'p_c'; it has m"),
        ("nobody:m=free", "there is no learner 'nobody'"),
        ("nas12*:p_c=2", None),
    ],
)
def test_models_that_cannot_be(learner: str, message: str | None) -> None:
    if message is not None:
        with pytest.raises(ValueError, match=message):
            Model.parse(FAMILY_TEXT, learner, "gaussian:sd=free")
        return
    found = fit_all([Model.parse(FAMILY_TEXT, learner, "gaussian:sd=free")], people(1), workers=1)[0]
    assert isinstance(found, Failure)
    assert "p_c = 2" in found.message


def test_a_group_shrinks_what_the_data_do_not_tell_and_is_found() -> None:
    """Forty people of 60 trials: m is nearer to the truth than alone, and the group's middle within three standard errors."""
    rng = np.random.default_rng(7)
    m, sd = np.exp(rng.normal(np.log(0.3), 0.4, 40)), np.exp(rng.normal(np.log(8.0), 0.25, 40))
    persons = [gaussian_person(f"p{i}", m[i], sd[i], 500 + i, 60) for i in range(40)]
    group = fit_groups(MODELS[:1], persons, starts=3, workers=1)[0]
    assert group.converged
    log_m = np.array([one.x[0] for one in group.fits if isinstance(one, Fit)])
    alone = np.array([one.x[0] for one in group.alone if isinstance(one, Fit)])
    free = np.array([np.log(fit(MODELS[0], person, 3).values["m"]) for person in persons])
    truth = np.log(m)
    assert np.mean((log_m - truth) ** 2) < 0.7 * np.mean((alone - truth) ** 2)
    assert np.mean((log_m - truth) ** 2) < 0.5 * np.mean((free - truth) ** 2)
    assert np.std(log_m) < np.std(alone)
    assert np.all(np.abs(group.prior.mean - np.log([0.3, 8.0])) < 3.0 * group.error)
    assert np.all(group.error < [0.15, 0.06])
    assert group.prior.sd[1] == pytest.approx(0.25, rel=0.35)
    assert np.all((group.shrinkage >= 0.0) & (group.shrinkage <= 1.0))
    assert group.shrinkage[:, 0].mean() > 3.0 * group.shrinkage[:, 1].mean()  # 60 trials tell the noise well, and m badly
    again = fit_groups(MODELS[:1], persons, starts=3, workers=2)[0]
    assert again.prior.mean.tobytes() == group.prior.mean.tobytes()


def test_a_group_of_normals_is_that_of_the_largest_marginal_likelihood() -> None:
    """A level of confidence with known noise makes each likelihood normal: m_i ~ N(mu, tau^2 + 4 / n_i), known in closed form."""
    rng, persons, means, variances, logs = np.random.default_rng(3), [], [], [], 0.0
    for i in range(25):
        n = int(rng.integers(5, 60))
        given = rng.normal(1.0, 0.6) + rng.normal(0.0, 2.0, n)
        persons.append(Person(f"p{i}", (trials_of(FAMILY, vl.ChangingEnvironment(FAMILY, 0.1).sample(n, seed=i).y, given),)))
        means.append(given.mean())
        variances.append(4.0 / n)
        logs += stats.norm(given.mean(), 2.0).logpdf(given).sum() + 0.5 * np.log(2.0 * np.pi * 4.0 / n)
    means, variances = np.array(means), np.array(variances)
    model = Model.parse(FAMILY_TEXT, "varsmile:m=0.3", "confidence:sd=2,level=free,slope=0")
    group = fit_groups([model], persons, starts=2, workers=1)[0]

    def minus_log(q: np.ndarray) -> float:
        return -float(stats.norm(q[0], np.sqrt(np.exp(2.0 * q[1]) + variances)).logpdf(means).sum())

    best = optimize.minimize(minus_log, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    assert group.converged
    assert group.prior.mean[0] == pytest.approx(best.x[0], abs=1e-3)
    assert group.prior.sd[0] == pytest.approx(np.exp(best.x[1]), rel=5e-3)
    assert group.error[0] == pytest.approx(np.sum(1.0 / (np.exp(2.0 * best.x[1]) + variances)) ** -0.5, rel=5e-3)
    assert group.log_evidence == pytest.approx(logs - best.fun, abs=1e-3)
    assert group.without_evidence == 0


def test_a_group_of_people_who_tell_nothing_stays_within_the_range() -> None:
    """Responses that have nothing to do with the outcomes: some posteriors are at a bound or have no curvature."""
    rng = np.random.default_rng(5)
    outcomes = [vl.ChangingEnvironment(FAMILY, 0.1).sample(40, seed=i).y for i in range(6)]
    persons = [Person(f"p{i}", (trials_of(FAMILY, y, rng.uniform(0.0, 300.0, 40)),)) for i, y in enumerate(outcomes)]
    model = Model.parse(FAMILY_TEXT, "nas12*:p_c=free", "gaussian:sd=free")
    group = fit_groups([model], persons, starts=3, workers=1)[0]
    assert np.all(np.isfinite(group.prior.mean))
    assert np.all(np.isfinite(group.prior.sd))
    assert 0.99e-5 < group.middle["p_c"] < 1.0
    assert all(isinstance(one, Fit) for one in group.fits)


def test_two_models_of_one_name_are_not_mixed_up() -> None:
    one = fit(MODELS[0], people(1)[0], starts=1)
    assert dataset([one, one._replace(label="other")]).sizes["model"] == 2
    with pytest.raises(ValueError, match="p0 has two fits called 'varsmile'"):
        dataset([one, one])
