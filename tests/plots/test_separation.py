"""The picture of what can be told apart: what is drawn and labelled, and odd shapes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from volatilis.plots.separation import Picture, Scatter, draw, size


def picture(n: int, learners: int = 2, trials: int = 300) -> Picture:
    rng = np.random.default_rng(n)
    values = rng.normal(size=(trials, n)) + rng.normal(size=(trials, 1))
    correlations = np.corrcoef(values.T)
    equivalent = np.zeros((n, n), dtype=bool)
    equivalent[0, 1] = equivalent[1, 0] = True
    factors = np.linspace(1.0, 30.0, n)
    factors[0], factors[-1] = np.inf, 1e7
    carriers = np.arange(trials) < 40
    scatter = Scatter("The closest pair", "one", "other", values[:, 0], values[:, 1], carriers, "90 % of it is in 40 trials")
    own = factors / 2.0 + 0.5 if learners > 1 else None
    names = [f"merge measure {i}" for i in range(n)]
    return Picture(names, correlations, correlations**3, equivalent, factors, own, scatter, trials, 3)


def drawn(shown: Picture) -> Figure:
    figure = Figure(figsize=size(shown))
    draw(shown, figure)
    figure.savefig(io.BytesIO(), format="png")
    return figure


def texts(figure: Figure) -> set[str]:
    return {text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))}


@pytest.mark.parametrize("n", [2, 5, 12])
@pytest.mark.parametrize("learners", [1, 2])
def test_numbers_and_names_are_there(n: int, learners: int) -> None:
    shown = picture(n, learners)
    said = texts(drawn(shown))
    assert set(shown.names) <= said
    assert f"{shown.pearson[1, 0]:.2f}".replace("-", "−") in said
    assert f"{shown.spearman[0, 1]:.2f}".replace("-", "−") in said
    assert "infinite" in said
    assert "90 % of it is in 40 trials" in said
    assert ("given its learner's others" in said) == (learners > 1)
    assert any("300 trials in 3 runs" in text for text in said)


def test_pearson_is_below_the_diagonal_and_spearman_above() -> None:
    shown = picture(4)
    (image,) = next(axis for axis in drawn(shown).findobj(lambda a: hasattr(a, "images")) if axis.images).images
    painted = np.asarray(image.get_array())
    assert painted[2, 1] == pytest.approx(shown.pearson[2, 1])
    assert painted[1, 2] == pytest.approx(shown.spearman[1, 2])


def test_many_regressors_have_no_numbers_in_their_cells() -> None:
    shown = picture(24)
    assert f"{shown.pearson[2, 1]:.2f}" not in texts(drawn(shown))


def test_names_do_not_leave_the_picture() -> None:
    shown = picture(12)
    figure = drawn(shown)
    width, height = figure.canvas.get_width_height()
    for text in figure.findobj(lambda artist: hasattr(artist, "get_text")):
        if text.get_text() in shown.names or "standard deviations" in text.get_text() or "beside" in text.get_text():
            box = text.get_window_extent()
            assert -1.0 <= box.x0 <= box.x1 <= width + 1.0, text.get_text()
            assert -1.0 <= box.y0 <= box.y1 <= height + 1.0, text.get_text()


def test_almost_one_does_not_read_one() -> None:
    shown = picture(3)
    shown.pearson[1, 0] = 0.99999
    assert ">.999" in texts(drawn(shown))
