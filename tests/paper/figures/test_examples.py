"""The example sequences of the figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from volatilis.paper.figures.simulations import bridge_example, categorical_example, gaussian_example

EXAMPLES = [gaussian_example, categorical_example, bridge_example]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_seed_gives_the_same_example_and_another_gives_another(example: Any) -> None:
    once, again, other = example(3), example(3), example(4)
    assert once.keys() == again.keys()
    for name in once:
        np.testing.assert_array_equal(once[name], again[name])
    assert not np.array_equal(once["y"], other["y"])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("example", EXAMPLES)
def test_theta_changes_where_it_says_and_a_few_times(example: Any, seed: int) -> None:
    sequence = example(seed)
    theta = sequence["theta"].reshape(len(sequence["y"]), -1)
    steps = np.any(np.diff(theta, axis=0) != 0.0, axis=1)
    np.testing.assert_array_equal(steps, sequence["changed"][1:])
    assert sequence["changed"][0]
    assert steps.sum() == 1 if sequence["task"] == "bridge" else 3 <= steps.sum() <= 5


def test_the_settings_are_those_of_the_paper() -> None:
    gaussian, categorical = gaussian_example(), categorical_example()
    assert (gaussian["task"], gaussian["sigma"], gaussian["p_c"]) == ("gaussian", 1.0, 0.01)
    assert (categorical["task"], categorical["s"], categorical["p_c"]) == ("categorical", 1.0, 0.01)
    assert gaussian["y"].shape == gaussian["theta"].shape == gaussian["changed"].shape == (400,)
    assert categorical["theta"].shape == (400, 5)
    np.testing.assert_allclose(categorical["theta"].sum(axis=1), 1.0)
    assert set(np.unique(categorical["y"])) <= set(range(5))


def test_the_friend_arrives_earlier_once_the_bridge_is_open() -> None:
    bridge = bridge_example()
    assert bridge["y"].shape == (60,)
    opening = int(np.flatnonzero(bridge["changed"])[1])
    assert 20 <= opening < 40
    assert bridge["y"][:opening].mean() - bridge["y"][opening:].mean() == pytest.approx(12.0, abs=4.0)
    assert bridge_example(days=3)["changed"].tolist() == [True, True, False]


@pytest.mark.parametrize("days", [2, 10.5, True])
def test_days_are_validated(days: Any) -> None:
    with pytest.raises(ValueError, match="days = "):
        bridge_example(days=days)
