"""Families, learners and response models of one's own: in Python as soon as they are defined, in every command with --own."""

from __future__ import annotations

import pathlib
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import volatilis as vl
from tests.behaviour.simulated import FAMILY_TEXT, gaussian_person, write_people
from tests.helpers.command_line import Done, refused, succeeded, volatilis
from tests.helpers.paths import HOW_TO
from volatilis import catalogue, own
from volatilis.behaviour import Model, fit
from volatilis.behaviour.fitting.parameters import RANGES
from volatilis.own import LOGIT, Range
from volatilis.own_files import load_own

OWN = str(HOW_TO / "geometric.py")
FORGETFUL = "forgetful:share=0.2"


@own.learner_with_one_belief
class Dwindling(NamedTuple):
    """The learner of the page under another name, with a range of its own."""

    family: own.AnyFamily
    fades: Annotated[own.Probability, Range(LOGIT, 0.01, 0.9, 0.1, 0.5)]

    def update(self, state: Any, y: Any) -> own.Info:
        log_p, log_p_0 = self.family.log_predictive(state.beliefs, state.i, y), self.family.log_prior_predictive(state.pi_0, y)
        self.elapse(state)
        self.family.absorb(state.beliefs, state.i, y)
        state.run_lengths[state.i] += 1.0
        return own.Info(log_p, log_p_0, self.fades)

    def elapse(self, state: Any) -> None:
        own.relax(self.family, state, self.fades)

    @own.python_only
    def change_probability(self) -> float:
        return self.fades


def test_what_is_defined_is_known_in_python() -> None:
    """Without registering: a model of text, its fit, and the range that the class declares."""
    model = Model.parse(FAMILY_TEXT, "dwindling:fades=free", "gaussian:sd=free")
    person = gaussian_person("a", 0.3, 8.0, 1, 80)
    found = fit(model, person, 3)
    assert 0.01 <= found.values["fades"] <= 0.9
    assert RANGES["fades"].high == 0.9
    direct = vl.run(Dwindling(vl.Gaussian(10.0, 150.0, 50.0), 0.2), person.parts[0].values).mean
    by_text = catalogue.make_learner(catalogue.parse_learner("dwindling:fades=0.2"), vl.Gaussian(10.0, 150.0, 50.0), {})
    np.testing.assert_array_equal(vl.run(by_text, person.parts[0].values).mean, direct)


def counts(path: pathlib.Path) -> pathlib.Path:
    rng = np.random.default_rng(1)
    rows = [f"{s},{rng.geometric(0.2 if t < 20 else 0.6) - 1},{rng.uniform(0.2, 0.6)}" for s in "ab" for t in range(40)]
    path.write_text("\n".join(["subject,outcome,prediction", *rows]))
    return path


def test_run_and_watch_with_both(tmp_path: pathlib.Path) -> None:
    """Against the belief written out: Beta(a, b) counts, a share forgotten before each."""
    import pandas as pd

    table, family = counts(tmp_path / "counts.csv"), "geometric:a=2"
    out = tmp_path / "out.csv"
    succeeded(volatilis("run", table, "--own", OWN, "--family", family, "--learner", FORGETFUL, "--out", out))
    frame = pd.read_csv(out)
    expected = []
    for _, own_rows in frame.groupby("subject"):
        successes, failures = 2.0, 1.0
        for y in own_rows.outcome:
            successes, failures = 2.0 + 0.8 * (successes - 2.0) + 1.0, 1.0 + 0.8 * (failures - 1.0) + y
            expected.append(successes / (successes + failures))
    np.testing.assert_allclose(frame.forgetful_mean, expected, rtol=1e-12)
    lines = tmp_path / "lines.csv"
    lines.write_text("value\n" + "\n".join(map(str, frame.outcome[:40])))
    seen = tmp_path / "seen.csv"
    words = ("--family", family, "--learner", FORGETFUL, "--format", "csv", "--measures", "mean", "--out", seen)
    succeeded(volatilis("watch", lines, "--own", OWN, *words))
    np.testing.assert_allclose(pd.read_csv(seen)["mean"], expected[:40], rtol=1e-6)


def behaviour(command: str, table: pathlib.Path, *more: object) -> Done:
    learners = ("--learner", "forgetful:share=free", "--learner", "leaky:omega=free")
    return volatilis(command, table, "--own", OWN, "--family", FAMILY_TEXT, *learners, "--starts", 2, "--workers", 1, *more)


def test_fit_compare_and_recover(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "people.csv"
    write_people(table, count=2, length=60)
    assert "forgetful" in succeeded(behaviour("fit", table, "--out", tmp_path / "fits.csv"))
    assert behaviour("compare", table, "--folds", 0).exit_code == 0
    done = behaviour("recover", table)
    assert done.exit_code == 0, done.output
    assert "share of forgetful" in done.output


def test_separate_predict_and_design(tmp_path: pathlib.Path) -> None:
    import pandas as pd

    table = tmp_path / "people.csv"
    write_people(table, count=3, length=60)
    frame = pd.read_csv(table)
    frame["pupil"] = np.random.default_rng(0).normal(size=len(frame))
    frame.to_csv(table, index=False)
    common = ("--own", OWN, "--family", FAMILY_TEXT)
    assert volatilis("separate", table, *common, "--learner", FORGETFUL).exit_code == 0
    fitted = volatilis("predict", table, *common, "--learner", "forgetful:share=free", "--indicator", "pupil", "--workers", 1)
    assert fitted.exit_code == 0, fitted.output
    assert "share" in fitted.output
    small = ("--subjects", 3, "--trials", 40, "--repeats", 2, "--workers", 1)
    designed = volatilis("design", *common, "--p-c", 0.1, "--learner", FORGETFUL, "--learner", "leaky:omega=0.7", *small)
    assert designed.exit_code == 0, designed.output
    assert "forgetful" in designed.output


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\n", "has no family and no learner"),
        ("import nothing_like_this\n", "line 1: ModuleNotFoundError: No module named 'nothing_like_this'"),
        ("def f(:\n", "line 1: SyntaxError"),
        (
            "from typing import NamedTuple\nfrom volatilis.own import scalar_family\n\n\n"
            "@scalar_family\nclass Half(NamedTuple):\n    a: float\n",
            "Half lacks prior_chi, prior_nu, sufficient_statistic, log_normalizer, log_base_measure, mean, variance",
        ),
    ],
)
def test_a_file_that_will_not_do_is_told(tmp_path: pathlib.Path, text: str, reason: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    done = volatilis("run", counts(tmp_path / "counts.csv"), "--own", path, "--family", "poisson", "--learner", "leaky:omega=0.5")
    assert reason in refused(done)


def test_names_are_not_given_away(tmp_path: pathlib.Path) -> None:
    text = pathlib.Path(OWN).read_text()
    (tmp_path / "one.py").write_text(text.replace("class Geometric", "class Poisson"))
    with pytest.raises(ValueError, match="there is a family 'poisson' already; give Poisson another name"):
        load_own([str(tmp_path / "one.py")])
    load_own([OWN])
    (tmp_path / "two.py").write_text(text)
    with pytest.raises(ValueError, match="there is a family 'geometric' already"):
        load_own([str(tmp_path / "two.py")])


def test_a_file_that_changed_is_run_again(tmp_path: pathlib.Path) -> None:
    text = pathlib.Path(OWN).read_text().replace("Geometric", "Anew").replace("Forgetful", "AnewToo")
    path = tmp_path / "anew.py"
    path.write_text(text)
    load_own([str(path)])
    first = catalogue.FAMILIES["anew"]
    load_own([str(path)])
    assert catalogue.FAMILIES["anew"] is first
    path.write_text(text.replace("a: Positive = 1.0", "a: Positive = 3.0"))
    load_own([str(path)])
    assert catalogue.FAMILIES["anew"]().a == 3.0


def test_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Its classes are those of the file, its Python says what it shows, and they are as short as it says."""
    import re

    page, text = (HOW_TO / "own.md").read_text(), pathlib.Path(OWN).read_text()
    blocks = re.findall(r"```python\n(.*?)```\n(?:```\n(.*?)```)?", page, re.DOTALL)
    for block, _ in blocks[:2]:
        assert block.partition("@")[2].strip() in text
    lines = [sum(bool(line.strip()) for line in ("@" + block.partition("@")[2]).split("\n")) for block, _ in blocks[:2]]
    assert lines[0] <= 20
    assert lines[1] <= 30
    load_own([OWN])
    names = {"Forgetful": catalogue.LEARNERS["forgetful"], "Geometric": catalogue.FAMILIES["geometric"]}
    exec(blocks[2][0], names)
    assert capsys.readouterr().out == blocks[2][1]


HEADING = "from typing import NamedTuple\nfrom volatilis.own import AnyFamily, Positive, learner_with_one_belief, response\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(:", "mine.py, line 1: SyntaxError"),
        ("import sys\nsys.exit(3)", "mine.py, line 2: SystemExit: 3"),
        (
            f"{HEADING}@learner_with_one_belief\nclass Lazy(NamedTuple):\n    family: AnyFamily",
            "mine.py, line 3: TypeError: Lazy lacks update, elapse; such a learner gives update, elapse",
        ),
        (f"{HEADING}@response\nclass Mute(NamedTuple):\n    sd: Positive", "Mute has no method log_response"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: pathlib.Path, text: str, reason: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    table = tmp_path / "people.csv"
    write_people(table, 1)
    said = refused(
        volatilis("fit", table, "--family", FAMILY_TEXT, "--learner", "varsmile:m=free", "--own", tmp_path / "mine.py")
    )
    assert reason in " ".join(said.split())


def test_hyphens_do_not_make_another_name(tmp_path: pathlib.Path) -> None:
    """A class VarSMiLe would be var-smi-le, and take the place of varsmile."""
    (tmp_path / "mine.py").write_text(
        (HOW_TO / "geometric.py").read_text().replace("Forgetful", "VarSMiLe").replace("Geometric", "Geo")
    )
    with pytest.raises(ValueError, match="there is a learner 'varsmile' already; give VarSMiLe another name"):
        load_own([str(tmp_path / "mine.py")])
    assert catalogue.parse_learner("varsmile:m=0.1").name == "varsmile"


def test_a_response_that_cannot_be_simulated_is_told_before_the_work(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "people.csv"
    write_people(table, 1)
    own_response = ("--own", HOW_TO / "careful.py", "--response", "careful:sd=free,care=1")
    said = refused(volatilis("recover", table, "--family", FAMILY_TEXT, "--learner", "varsmile:m=free", *own_response))
    assert "Careful cannot be simulated: give it a method draw(self, moment, rng)" in " ".join(said.split())
    assert "fits" not in said


@pytest.mark.parametrize("learner", ["varsmile:m=free", "forgetful:share=free"])
def test_fit_and_compare_take_a_family_that_has_no_predictive_cdf(learner: str, tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{person},{rng.geometric(0.3) - 1},{rng.uniform():.3f}" for person in ("a", "b") for _ in range(60)]
    table = tmp_path / "people.csv"
    table.write_text("\n".join(["subject,outcome,prediction", *rows]), encoding="utf-8")
    own = ("--own", OWN, "--family", "geometric:a=2", "--starts", "1", "--workers", "1")
    fit = volatilis("fit", table, *own, "--learner", learner, "--out", tmp_path / "fits.csv")
    compare = volatilis(
        "compare", table, *own, "--learner", learner, "--learner", "leaky:omega=free", "--out", tmp_path / "c.csv"
    )
    assert (fit.exit_code, compare.exit_code) == (0, 0), fit.output + compare.output


def test_what_no_learner_can_mean_is_refused() -> None:
    class Twice(NamedTuple):  # forgets half of what it knows, and says that it forgets 1.7
        family: own.AnyFamily
        share: own.Probability

        def update(self, state: Any, y: Any) -> own.Info:
            family, pi, i = self.family, state.beliefs, state.i
            log_p, log_p_0 = family.log_predictive(pi, i, y), family.log_prior_predictive(state.pi_0, y)
            self.elapse(state)
            family.absorb(pi, i, y)
            return own.Info(log_p, log_p_0, 1.7)

        def elapse(self, state: Any) -> None:
            own.relax(self.family, state, 0.5)

        @own.python_only
        def change_probability(self) -> float:
            return 0.5

    learner = own.learner_with_one_belief(Twice)(vl.Gaussian(1.0), 0.5)
    with pytest.raises(ValueError, match=r"Twice gives an adaptation rate of 1.7: it must lie from 0 to 1"):
        vl.run(learner, [0.1, 0.2])
