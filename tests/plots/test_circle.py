"""Lines on an axis that is a circle."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import volatilis as vl
from volatilis.plots.trace import laps

mpl.use("Agg")


@pytest.mark.parametrize("seed", range(5))
def test_a_line_goes_the_short_way_and_never_leaves_the_circle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, t = rng.uniform(0.0, 24.0, 40), np.arange(40.0)
    values[[7, 8]] = np.nan
    at, drawn, _ = laps(t, values, np.zeros(40), 24.0)
    known = np.isfinite(at)
    np.testing.assert_allclose(np.mod(drawn[known], 24.0), values[at[known].astype(int)], atol=1e-9)
    steps = np.diff(drawn)
    assert np.nanmax(np.abs(steps)) <= 12.0 + 1e-9
    # within the axis, each step between two known neighbours is there once: its part below and its part above the end
    for i in range(39):
        if np.isfinite(values[i : i + 2]).all():
            here = np.flatnonzero(at[:-1] == i)
            pieces = [(drawn[k], drawn[k + 1]) for k in here if at[k + 1] == i + 1]
            inside = sum(abs(np.clip(b, 0.0, 24.0) - np.clip(a, 0.0, 24.0)) for a, b in pieces)
            short = abs((values[i + 1] - values[i] + 12.0) % 24.0 - 12.0)
            assert inside == pytest.approx(short)


def test_a_line_that_is_none_stays_as_it_is() -> None:
    t, values, wide = np.arange(3.0), np.array([1.0, 5.0, -7.0]), np.ones(3)
    assert all(a is b for a, b in zip(laps(t, values, wide, np.inf), (t, values, wide), strict=True))


def test_a_trace_of_angles() -> None:
    family = vl.VonMises(kappa=8.0, period=360.0)
    y, theta, _ = vl.ChangingEnvironment(family, 0.1).sample(30, seed=1)
    axis = vl.run(vl.VarSMiLe(family, 0.1), y + 720.0).plot(theta=theta).axes[0]
    assert axis.get_ylim() == (0.0, 360.0)
    dots = axis.lines[0].get_ydata()
    np.testing.assert_allclose(np.asarray(dots), np.mod(y, 360.0), atol=1e-9)


def test_a_trace_on_the_circle() -> None:
    family = vl.VonMises(kappa=8.0, period=360.0)
    y, theta, _ = vl.ChangingEnvironment(family, 0.1).sample(30, seed=1)
    trace = vl.run(vl.VarSMiLe(family, 0.1), y)
    axis = trace.plot_circle(theta=theta, responses=np.roll(y, 1)).axes[0]
    assert [line.get_label() for line in axis.lines] == ["observations $y_t$", r"estimate of $\mu$", "truth", "responses"]
    turns = np.abs(np.diff(np.asarray(axis.lines[1].get_xdata())))
    assert turns.max() <= np.pi / 12.0 + 1e-9  # from one estimate to the next the short way, in twelve steps
    with pytest.raises(ValueError, match="Gaussian is none"):
        vl.run(vl.VarSMiLe(vl.Gaussian(1.0), 0.1), y).plot_circle()
