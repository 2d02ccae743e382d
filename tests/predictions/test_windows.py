"""The windows: which trials count, and one set of options for all commands."""

from __future__ import annotations

import numpy as np
import pytest
import typer

import volatilis as vl
from volatilis.cli import app
from volatilis.cli.options import Windows
from volatilis.predictions import FirstWindow, SecondWindow, SubjectTrials
from volatilis.predictions.windows import ERRORS, believe, check_windows

from .people import person


def test_the_options_make_the_windows_of_the_layer() -> None:
    assert Windows().both() == (FirstWindow(), SecondWindow())
    assert Windows().both("2,4")[0] == FirstWindow(confidence=(2.0, 4.0))
    given = Windows("0.8,0.4", "0.3,0.2", "after", "0.2,0.8,0.2", 0.05, "0.05,0.4,0.05", 0.04, 3)
    first = FirstWindow(0.8, 0.4, 0.3, 0.2, None, "after", (0.2, 0.4, 0.6, 0.8), 0.05, 3)
    assert given.both() == (first, SecondWindow(tuple(k / 20 for k in range(1, 9)), 0.04, 3))
    assert Windows(first_trials="published").both()[1] == SecondWindow(first_trials=False)
    with pytest.raises(ValueError, match="--first-trials none: not accepted; text and published are"):
        Windows(first_trials="none").both()


def test_all_commands_have_the_same_options_for_windows() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for field in Windows._fields:
        options = [next(o for o in commands[name].params if o.name == field) for name in ("predict", "separate", "design")]
        assert len({(tuple(option.opts), option.default, option.help) for option in options}) == 1, field
        assert options[0].default == Windows._field_defaults[field]
    shared = [next(o for o in commands[name].params if o.name == "confidence_window") for name in ("predict", "separate")]
    assert shared[0].help == shared[1].help


def test_the_first_trial_of_a_block_counts_in_prediction_2_only() -> None:
    """All trials are alike but for where blocks begin."""
    alike = {"prediction": 1.0, "error": 0.5, "before": 0.5, "after": 0.5, "p": 0.2, "p_0": 0.2}
    trials = SubjectTrials("", np.zeros(6), **{name: np.full(6, value) for name, value in alike.items()})
    blocks = trials._replace(begins=np.array([True, False, False, True, True, False]))
    assert FirstWindow().masks(trials)[0, ERRORS.index(0.5)].tolist() == [False, *[True] * 5]
    assert FirstWindow().masks(blocks)[0, ERRORS.index(0.5)].tolist() == [False, True, True, False, False, True]
    at = SecondWindow().p.index(0.2)
    assert SecondWindow().masks(blocks)[at].all()
    assert SecondWindow(first_trials=False).masks(trials)[at].tolist() == [False, *[True] * 5]
    assert SecondWindow(first_trials=False).masks(blocks)[at].tolist() == [False, True, True, False, False, True]


def test_on_first_trials_the_bayes_factor_surprise_is_one_by_definition() -> None:
    family = vl.Gaussian(10.0, 150.0, 20.0)
    y = vl.ChangingEnvironment(family, 0.1).sample(60, seed=3).y
    begins = np.arange(60) % 20 == 0
    beliefs = believe(vl.Nas12Star(family, 0.1), y, begins)
    trials = beliefs.trials(y, family, beliefs.bayes_factor, begins=begins)
    assert trials.indicator[begins] == pytest.approx(1.0)
    assert np.all(trials.prediction[begins] == 0.0)
    assert trials.p[begins] == pytest.approx(trials.p_0[begins])
    np.testing.assert_array_equal(trials.later(), ~begins)


def test_other_units_give_the_same_trials() -> None:
    y = vl.ChangingEnvironment(vl.Gaussian(0.5), 0.1).sample(200, seed=3).y
    one, other = vl.Gaussian(0.5), vl.Gaussian(10.0, 150.0, 20.0)
    trials = [
        (beliefs := believe(vl.Nas12Star(family, 0.1), outcomes)).trials(outcomes, family, beliefs.shannon * 0.0)
        for family, outcomes in ((one, y), (other, 150.0 + 20.0 * y))
    ]
    for field in ("prediction", "error", "before", "after", "p", "p_0"):
        np.testing.assert_allclose(*(getattr(own, field) for own in trials), rtol=1e-9, atol=1e-9)


def test_a_learner_without_a_belief_and_another_family_are_refused() -> None:
    with pytest.raises(ValueError, match="Leaky has no belief"):
        believe(vl.Leaky(vl.Gaussian(1.0), 0.5), np.zeros(3))
    with pytest.raises(ValueError, match="the family 'bernoulli' is not accepted"):
        believe(vl.VarSMiLe(vl.Bernoulli(), 0.1), np.zeros(3))


def test_windows_that_select_but_give_no_slope_are_refused_where_slopes_are_computed() -> None:
    with pytest.raises(ValueError, match="two or more absolute errors, all above 0"):
        check_windows(FirstWindow(errors=(0.0, *ERRORS)), SecondWindow())
    assert FirstWindow(errors=(0.0, *ERRORS)).masks(person(1)).shape == (2, 11, 500)
