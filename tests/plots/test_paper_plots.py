"""The paper's figures on made-up data of the right shape: what is drawn, what is labelled, what may be missing."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from volatilis.paper.figures import AFTER_CHANGE, BY_DISTANCE, HEAT_MAPS, NASSAR, SUMMARY
from volatilis.plots import curves, generative_model, predictions, steady_state, style

COUNTED = [f"{kind}{n}" for kind in ("pf", "MP", "SOR") for n in (1, 10, 20)]
TUNED = ["VarSMiLe", "SMiLe", "Leaky", "Nas10*", "Nas12*", "Nas10", "Nas12"]
LEARNERS = [
    style.EXACT,
    *COUNTED,
    *(f"SOR{n} (published)" for n in (1, 10, 20)),
    *TUNED,
    *(f"{name} (free)" for name in TUNED),
    *(f"Merge{n}" for n in (1, 2, 3, 5, 10, 20)),
]
draw_after_change = partial(curves.draw_after_change, learners=AFTER_CHANGE)
draw_heat_maps = partial(steady_state.draw_heat_maps, groups=HEAT_MAPS, by_distance=BY_DISTANCE)
draw_summary = partial(steady_state.draw_summary, learners=SUMMARY)
ALL_MAPS = [name for group in HEAT_MAPS for name in group]
P_C = [0.1, 0.05, 0.01, 0.005, 0.001, 0.0001]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).lognormal(-4.0, 1.5, shape)


def grid(task: str = "gaussian", seeds: int = 3) -> xr.Dataset:
    gaussian = task == "gaussian"
    noise = [0.1, 0.5, 1.0, 2.0, 5.0] if gaussian else [0.01, 0.1, 0.14, 0.25, 1.0, 2.0, 5.0]
    learners = [name for name in LEARNERS if gaussian or not name.startswith("Nas")]
    error = numbers(len(learners), len(noise), len(P_C), seeds)
    error[1:] += error[0]
    return xr.Dataset(
        {"error": (("learner", "noise", "p_c", "seed"), error)},
        {"learner": learners, "noise": noise, "p_c": P_C},
        {"task": task, "noise_name": "sigma" if gaussian else "s"},
    )


def after_changes(task: str = "gaussian") -> xr.Dataset:
    mean = numbers(2, len(LEARNERS), 100)
    mean[0, :, 10:] = np.nan
    return xr.Dataset(
        {name: (("setting", "learner", "n"), values) for name, values in (("mean", mean), ("standard_error", 0.1 * mean))},
        {
            "learner": LEARNERS,
            "n": np.arange(1, 101),
            "noise": ("setting", [0.1, 5.0]),
            "p_c": ("setting", [0.1, 0.01]),
        },
        {"task": task, "noise_name": "sigma" if task == "gaussian" else "s"},
    )


def regrets(seeds: int = 3) -> xr.Dataset:
    learners = [style.EXACT, "pf20", "MP20", "SOR20", "SOR20 (published)", *TUNED[:5], "Merge1", "Merge20"]
    regret = numbers(4, len(learners), 12, seeds) - 0.01
    return xr.Dataset(
        {"regret": (("panel", "learner", "p_c", "seed"), regret)},
        {
            "learner": learners,
            "p_c": np.logspace(-4, -1, 12),
            "noise": ("panel", [0.1, 0.1, 5.0, 5.0]),
            "assumed": ("panel", [0.0412, 0.00412] * 2),
        },
        {"noise_name": "sigma"},
    )


def surprises(over: str) -> xr.Dataset:
    coordinates: dict[str, Any] = {"variant": ["right", "published"], "learner": ["Nas12*", "pf20"]}
    if over == "delta":
        coordinates |= {"sign": [1, -1], "delta": np.arange(11) / 10}
    else:
        coordinates |= {"p": np.arange(1, 17) * 0.025}
    shape = tuple(len(values) for values in coordinates.values())
    names = ("bayes_factor", "bayes_factor_se", "shannon", "shannon_se", "subjects")
    return xr.Dataset({name: (tuple(coordinates), numbers(*shape)) for name in names}, coordinates)


def distances(seeds: int = 3) -> xr.Dataset:
    cells = [f"Gaussian, sigma {sigma}, p_c 0.01" for sigma in (0.1, 1, 5)] + ["Categorical, s 1, p_c 0.01"]
    kinds, n, singles = ["pf", "MP", "SOR", "Merge"], [1, 2, 3, 5, 10, 20, 50], TUNED[:5]
    one_unit = numbers(4, 5, seeds)
    one_unit[3, 3:] = np.nan
    distance = numbers(4, 4, 7, seeds)
    distance[0, 3, -1] = 0.0
    return xr.Dataset(
        {
            "distance": (("task_cell", "kind", "n", "seed"), distance),
            "one_unit": (("task_cell", "one_learner", "seed"), one_unit),
        },
        {"task_cell": cells, "kind": kinds, "n": n, "one_learner": singles},
    )


def example(task: str = "gaussian", length: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    changed = np.arange(length) % 25 == 0
    if task == "gaussian":
        theta = rng.normal(size=length)[np.cumsum(changed)]
        return {"task": task, "y": rng.normal(theta), "theta": theta, "changed": changed, "sigma": 1.0, "p_c": 0.01}
    theta = rng.dirichlet(np.ones(5), length)[np.cumsum(changed)]
    return {"task": task, "y": rng.integers(0, 5, length), "theta": theta, "changed": changed}


def drawn(draw: Any, *arguments: Any, size: tuple[float, float] = (11.0, 7.0), **options: Any) -> Figure:
    """A figure that was drawn and laid out in full, since many warnings come only then."""
    figure = Figure(figsize=size)
    draw(*arguments, figure, **options)
    figure.savefig(io.BytesIO(), format="png", dpi=50)
    return figure


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def legend_names(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def assert_legend_is_outside(figure: Figure) -> None:
    boxes = [axis.get_window_extent() for axis in figure.axes]
    for legend in figure.legends:
        assert not any(legend.get_window_extent().overlaps(box) for box in boxes)


def test_every_learner_has_a_look_of_its_own() -> None:
    looks = [style.look(name) for name in LEARNERS]
    assert len({(look.colour, look.mark, str(look.line), look.fill) for look in looks}) == len(LEARNERS)
    assert len({look.label for look in looks}) == len(LEARNERS)


def test_variants_are_told_apart_by_line_mark_and_shade() -> None:
    plain, published = style.look("SOR20"), style.look("SOR20 (published)")
    assert plain.colour != published.colour
    assert published.line == style.DASHED != plain.line
    assert published.marking["fillstyle"] == "top"
    assert style.look("Leaky (free)").marking["markerfacecolor"] == "white"
    assert style.look("Leaky (free)").colour == style.look("Leaky").colour
    assert style.look("a new learner").colour == style.UNKNOWN[0]


def test_learners_stand_in_one_order() -> None:
    mixed = ["Leaky", "SOR20 (published)", "pf1", "SOR20", style.EXACT, "another", "pf20"]
    assert style.ordered(mixed) == [style.EXACT, "pf20", "pf1", "SOR20", "SOR20 (published)", "Leaky", "another"]


def test_labels_are_those_of_the_paper() -> None:
    assert [style.label(name) for name in ("pf20", "Nas12*", "Nas12", "SMiLe (free)")] == [
        "pf20",
        "Nas12*",
        "Nas12 Original",
        "SMiLe (free)",
    ]


def test_settings_end_with_the_context() -> None:
    before = dict(mpl.rcParams)
    with style.apply():
        assert mpl.rcParams["legend.frameon"] is False
    assert dict(mpl.rcParams) == before


def test_mean_and_error_leave_out_what_is_missing() -> None:
    values = xr.DataArray([[1.0, 3.0, np.nan], [2.0, np.nan, np.nan], [np.nan] * 3], dims=("cell", "seed"))
    mean, error = style.mean_and_error(values, "seed")
    np.testing.assert_allclose(mean, [2.0, 2.0, np.nan])
    np.testing.assert_allclose(error, [1.0, np.nan, np.nan])


def test_generative_model() -> None:
    figure = drawn(generative_model.draw, example(), size=generative_model.SIZE)
    assert len(figure.axes) == 4
    assert {"$C_{t}$", r"$\Theta_{t-1}$", "$Y_{t+1}$", "office", "day $t$"} <= set(texts(figure))


@pytest.mark.parametrize("task", ["gaussian", "categorical"])
def test_transient(task: str) -> None:
    figure = drawn(draw_after_change, after_changes(task), example(task), size=curves.AFTER_CHANGE_SIZE)
    assert len(figure.axes) == 5  # the example; two settings, with linear and with logarithmic axes
    assert [axis.get_yscale() for axis in figure.axes[1:]] == ["linear", "linear", "log", "log"]
    assert [len(axis.child_axes) for axis in figure.axes[1:]] == [1, 1, 0, 0]  # the later half in an inset
    assert legend_names(figure) == [style.label(name) for name in AFTER_CHANGE]
    assert ("mean $\\mu_t$" in texts(figure)) == (task == "gaussian")
    assert len(figure.axes[1].lines[0].get_xdata()) == 10
    assert_legend_is_outside(figure)


def test_figures_are_written_as_vectors_too() -> None:
    file = io.BytesIO()
    drawn(draw_after_change, after_changes("categorical"), example("categorical")).savefig(file, format="svg")
    assert b"<svg" in file.getvalue()


def test_transient_of_some_learners_without_example() -> None:
    figure = drawn(draw_after_change, after_changes(), None, learners=NASSAR, size=curves.SIZE_WITHOUT_EXAMPLE)
    assert len(figure.axes) == 4
    assert legend_names(figure) == ["Nas12*", "Nas12 Original", "Nas10*", "Nas10 Original"]


def test_transient_without_values_of_a_learner() -> None:
    dataset = after_changes().drop_sel(learner="pf1")
    dataset["mean"].loc[{"learner": "MP1"}] = np.nan
    figure = drawn(draw_after_change, dataset, example())
    assert "pf1" not in legend_names(figure)
    assert "MP1" not in [line.get_label() for line in figure.axes[1].lines]


@pytest.mark.parametrize("task", ["gaussian", "categorical"])
def test_heat_maps(task: str) -> None:
    dataset = grid(task)
    shown = style.present(dataset, ALL_MAPS)
    figure = drawn(
        draw_heat_maps,
        dataset,
        size=steady_state.heat_maps_size(len(shown)),
    )
    assert len(figure.axes) == len(shown) + 2  # Exact Bayes, the learners, the colours
    cells = len(dataset.noise) * len(dataset.p_c)
    assert all(len(axis.texts) == cells for axis in figure.axes[:-1])
    titles = [axis.get_title(loc="left") for axis in figure.axes[:-1]]
    assert titles[0].endswith("MSE of Exact Bayes")
    assert all(title.endswith(style.label(name)) for title, name in zip(titles[1:], shown, strict=True))


def test_heat_maps_are_grouped_and_merge_is_shown_by_its_distance() -> None:
    dataset = grid()
    dataset = dataset.assign(distance=1e-9 * dataset.error)
    figure = drawn(
        draw_heat_maps,
        dataset,
        size=steady_state.heat_maps_size(len(ALL_MAPS)),
    )
    titles = [axis.get_title(loc="left") for axis in figure.axes[:-1]]
    lettered = {title[9]: title for title in titles if title.startswith(r"$\mathbf{")}
    assert "".join(lettered) == "ABCDEFG"
    for letter, learner in zip("ABCDEFG", (style.EXACT, *(group[0] for group in HEAT_MAPS)), strict=True):
        assert lettered[letter].endswith(learner)
    of_merge = figure.axes[len(ALL_MAPS) - 1]
    assert of_merge.get_title(loc="left").endswith("squared distance of Merge20")
    assert all("e−" in text.get_text() and not text.get_text().startswith("−") for text in of_merge.texts)


def test_heat_map_numbers_fit_into_their_cells() -> None:
    dataset = grid()
    dataset.error.loc[{"learner": "pf20"}] = dataset.error.sel(learner=style.EXACT) - 6.4e-10
    figure = drawn(
        draw_heat_maps,
        dataset,
        size=steady_state.heat_maps_size(len(ALL_MAPS)),
    )
    axis = figure.axes[1]
    width = axis.get_window_extent().width / len(dataset.p_c)
    assert all(text.get_window_extent().width < width for text in axis.texts)


def test_heat_map_cells_stand_where_their_axes_say() -> None:
    dataset = grid()
    axis = drawn(draw_heat_maps, dataset, groups=[["pf20"]]).axes[0]
    noise = [label.get_text() for label in axis.get_yticklabels()]
    p_c = [label.get_text() for label in axis.get_xticklabels()]
    assert noise == ["0.1", "0.5", "1", "2", "5"]
    written = {text.get_position(): text.get_text() for text in axis.texts}
    value = float(dataset.error.sel(learner=style.EXACT, noise=2.0, p_c=0.05).mean())
    assert written[p_c.index("0.05"), noise.index("2")] == steady_state.short(value)


def test_heat_map_colours_of_negative_and_missing_cells() -> None:
    dataset = grid()
    exact = dataset.error.sel(learner=style.EXACT)
    dataset.error.loc[{"learner": "pf20"}] = exact + 0.1
    dataset.error.loc[{"learner": "pf20", "noise": 0.1, "p_c": 0.0001}] = 0.0
    dataset.error.loc[{"learner": "pf20", "noise": 0.5, "p_c": 0.0001}] = np.nan
    figure = drawn(draw_heat_maps, dataset, groups=[["pf20"]])
    painted = figure.axes[1].images[0].get_array()
    assert tuple(painted[0, 0, :3]) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(painted[1, 0, :3], 0.85, atol=0.01)
    assert len(figure.axes[1].texts) == 29


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.8431, "0.84"), (0.00618, "0.0062"), (9.1e-5, "9e−5"), (-2e-5, "−2e−5"), (-0.0011, "−1e−3")]
)
def test_short_numbers(value: float, text: str) -> None:
    assert steady_state.short(value) == text


@pytest.mark.parametrize("seeds", [1, 3])
def test_summary(seeds: int) -> None:
    dataset = grid(seeds=seeds)
    figure = drawn(draw_summary, dataset, size=steady_state.SUMMARY_SIZE)
    assert len(figure.axes) in (2, 3)
    labels = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    assert labels == [style.label(name) for name in SUMMARY]


def test_summary_breaks_its_axis_for_what_is_out_of_bounds() -> None:
    dataset = grid().sel(learner=[style.EXACT, "pf20", "MP20", "VarSMiLe"])
    dataset.error[1:] = dataset.error.sel(learner=style.EXACT) + 0.01
    assert len(drawn(draw_summary, dataset).axes) == 2
    dataset.error.loc[{"learner": "MP20", "noise": 5.0}] += 0.5
    above, linear, _ = drawn(draw_summary, dataset).axes
    assert linear.get_ylim()[1] < 0.02
    assert above.get_ylim()[1] > 0.51
    assert above.get_yticks().min() > 0.01


def test_the_axis_breaks_between_values() -> None:
    values = np.array([0.01, 0.02, 0.021, 0.03, 0.031, 0.5])
    assert steady_state._gap(values, 0.02) == pytest.approx(0.0255)
    assert 0.02 < steady_state._gap(np.array([0.02, 0.5]), 0.02) < 0.04


def test_jitter_is_the_same_every_time_and_stays_within() -> None:
    shifts = steady_state.jitter(42)
    assert (shifts == steady_state.jitter(42)).all()
    assert abs(shifts).max() <= steady_state.JITTER
    assert len(set(shifts)) == 42


@pytest.mark.parametrize("seeds", [1, 3])
def test_robustness(seeds: int) -> None:
    figure = drawn(curves.draw_wrong_rate, regrets(seeds), size=curves.WRONG_RATE_SIZE)
    assert len(figure.axes) == 4
    assert len(legend_names(figure)) == 12  # the learners, variants under one name, and the triangle
    for axis, letter in zip(figure.axes, "ABCD", strict=True):
        assert axis.get_title(loc="left").startswith(style.letter(letter))
        assert axis.get_xscale() == "log"
        triangles = [line for line in axis.lines if line.get_marker() == "^" and line.get_color() == style.CHANGE]
        assert len(triangles) == 1
    assert_legend_is_outside(figure)


@pytest.mark.parametrize("variant", ["right", "published"])
def test_first_prediction(variant: str) -> None:
    figure = drawn(predictions.draw_first, surprises("delta"), variant=variant, size=predictions.SIZE)
    assert len(figure.axes) == 5
    assert legend_names(figure) == ["$s = +1$", "$s = -1$"]
    assert any("(nats)" in text for text in texts(figure)) == (variant == "right")
    assert_legend_is_outside(figure)


@pytest.mark.parametrize("variant", ["right", "published"])
def test_second_prediction(variant: str) -> None:
    figure = drawn(predictions.draw_second, surprises("p"), variant=variant, size=predictions.SIZE)
    assert len(figure.axes) == 5
    assert {"Nas12*", "pf20"} <= set(legend_names(figure))
    assert {"belief A", "belief B"} <= set(texts(figure))
    assert_legend_is_outside(figure)


@pytest.mark.parametrize("seeds", [1, 3])
def test_memory(seeds: int) -> None:
    figure = drawn(curves.draw_memory, distances(seeds), size=curves.memory_size(4))
    assert len(figure.axes) == 4
    assert figure.axes[0].get_title(loc="left") == r"Gaussian, $\sigma$ = 0.1, $p_c$ = 0.01"
    assert len(legend_names(figure)) == 9
    assert all((axis.get_xscale(), axis.get_yscale()) == ("log", "log") for axis in figure.axes)
    assert_legend_is_outside(figure)


def test_a_missing_learner_is_left_out() -> None:
    assert len(drawn(draw_heat_maps, grid().drop_sel(learner="MP20"), groups=[["pf20", "MP20"]]).axes) == 3
    labels = drawn(draw_summary, grid().drop_sel(learner="MP20")).axes[-1].get_xticklabels()
    assert "MP20" not in [label.get_text() for label in labels]
    assert "MP20" not in legend_names(drawn(curves.draw_wrong_rate, regrets().drop_sel(learner="MP20")))
    assert len(drawn(predictions.draw_first, surprises("delta").drop_sel(learner="pf20")).axes) == 3
    assert len(drawn(predictions.draw_second, surprises("p").drop_sel(learner="pf20")).axes) == 3
    without = distances().drop_sel(kind="SOR", one_learner="Leaky")
    assert len(legend_names(drawn(curves.draw_memory, without))) == 7
    assert len(legend_names(drawn(curves.draw_memory, distances().drop_vars(["one_unit", "one_learner"])))) == 4


def test_values_that_are_all_missing_still_draw() -> None:
    for draw, dataset in (
        (draw_heat_maps, grid().isel(learner=slice(3))),
        (draw_summary, grid()),
        (curves.draw_wrong_rate, regrets()),
        (predictions.draw_first, surprises("delta")),
        (predictions.draw_second, surprises("p")),
        (curves.draw_memory, distances()),
    ):
        assert drawn(draw, dataset * np.nan).axes


def test_some_missing_seeds_still_draw() -> None:
    for draw, dataset, name in ((draw_summary, grid(), "error"), (curves.draw_wrong_rate, regrets(), "regret")):
        dataset[name][1:3, 1:3, 2:] = np.nan
        assert drawn(draw, dataset).axes


def test_panels_have_letters() -> None:
    assert [style.panel_name(k) for k in (0, 25, 26, 27)] == ["A", "Z", "AA", "AB"]
