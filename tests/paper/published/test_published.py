"""Our numbers beside the authors': with their real files where these are found, with imitated and with broken ones.

The published files are read where they are found (VOLATILIS_REFERENCE, or a folder `shared/release` beside the checkout).
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from tests.helpers.paths import REFERENCE, needs_reference
from volatilis.paper import claims
from volatilis.paper import published as comparison
from volatilis.paper.published import Compared, ReferenceDataError, files
from volatilis.paper.published.code import search_grid
from volatilis.paper.published.files import learner_name, read_file

SEEDS = 10


def seeds_with(mean: float, standard_error: float) -> np.ndarray:
    """Ten values of exactly this mean and standard error."""
    pattern = np.linspace(-1.0, 1.0, SEEDS)
    return mean + standard_error * math.sqrt(SEEDS) * pattern / pattern.std(ddof=1)


def grid_like(table: Any, shift: Callable[[Any], float] = lambda row: 0.0) -> Any:
    """A grid whose Delta MSE are the published ones, shifted by so many published standard errors."""
    names, noises, rates = (list(dict.fromkeys(table[key])) for key in ("learner", "noise", "p_c"))
    names.sort(key=lambda name: name != "Exact Bayes")
    error = np.zeros((len(names), len(noises), len(rates), SEEDS))
    for row in sorted(table.itertuples(), key=lambda row: row.learner != "Exact Bayes"):
        place = names.index(row.learner), noises.index(row.noise), rates.index(row.p_c)
        size = row.theirs_se if math.isfinite(row.theirs_se) else 0.01 * abs(row.theirs)
        error[place] = seeds_with(row.theirs + shift(row) * size, size) + (error[0, *place[1:]] if place[0] else 0.0)
    dims = ("learner", "noise", "p_c", "seed")
    variables = {"error": (dims, error), "distance": (dims, error - error[:1])}
    coordinates = {"learner": names, "noise": noises, "p_c": rates, "seed": range(SEEDS)}
    return xr.Dataset(variables, coordinates, {"task": table.task.iloc[0], "noise_name": "sigma"})


# --- the real files ----------------------------------------------------------------------------------------------------


@needs_reference
def test_the_published_folder_is_understood() -> None:
    reference = comparison.read(REFERENCE)
    assert any(line.startswith("errors after a change: ") and "none" not in line for line in reference.found)
    gaussian = reference.grid[reference.grid.task == "gaussian"]
    assert set(gaussian.groupby("learner").size()) == {30}
    assert {"Exact Bayes", "MP20", "SOR20 (published)", "VarSMiLe", "SMiLe", "Nas10*", "Nas12*", "Nas10", "Nas12"} <= set(
        gaussian.learner
    )
    assert reference.transient.theirs_se.notna().all()
    assert set(reference.first.sign) == {1, -1}


@needs_reference
def test_every_published_number_is_read() -> None:
    """Counted by hand from the files of the release: learners x cells, settings, panels."""
    for folder in (REFERENCE, REFERENCE / "NonstationaryModelLearning" / "doc" / "data_final"):
        reference = comparison.read(folder)
        assert len(reference.grid) == 17 * 30 + 13 * 42
        assert len(reference.transient) == 17 * (10 + 100 + 10 + 100) + 13 * (100 + 200 + 100 + 200)
        assert len(reference.robustness) == 4 * 40 * 12 + 4 * 40 * 10
        assert (len(reference.first), len(reference.second)) == (2 * 2 * 2 * 11, 2 * 2 * 16)
        assert len(files.tuned_values(folder)) == 7 * 30 + 3 * 42


@needs_reference
def test_every_tuned_value_is_on_the_grid_that_is_said_to_be_theirs() -> None:
    from volatilis.paper.tuned import TUNED

    for (task, learner, noise, p_c), value in files.tuned_values(REFERENCE).items():
        grid = search_grid(TUNED[task][learner], task == "categorical", p_c)
        assert np.min(np.abs(grid / value - 1.0)) < 1e-12, (task, learner, noise, p_c, value)


@needs_reference
def test_tuned_values_of_both_tasks() -> None:
    values = files.tuned_values(REFERENCE)
    assert values["gaussian", "SMiLe", 5.0, 0.1] == 2.0**-52
    assert sum(name == "Nas10*" and value > 0.1 for (_, name, _, _), value in values.items()) == 6
    assert values["categorical", "SMiLe", 0.25, 0.0001] == pytest.approx(2.8)
    assert {values["categorical", "Leaky", 5.0, p_c] for p_c in (0.1, 0.01, 0.0001)} == {0.99 + 2.0**-52}


@needs_reference
def test_numbers_written_without_a_point_are_read() -> None:
    table = comparison.read(REFERENCE).transient
    start = table[(table.learner == "Exact Bayes") & (table.noise == 0.1) & (table.p_c == 0.1) & (table.n == 1)]
    assert start.theirs_se.iloc[0] == pytest.approx(9.956579439556813e-05)


@needs_reference
def test_the_published_worst_cases_and_p_value_are_in_the_files() -> None:
    """Errata 13: Welch's test over ten seeds gives both published p-values, 2.79e-6 and 1.148e-12."""
    table = comparison.read(REFERENCE).grid
    for task, pf, sor, p in (("gaussian", 0.033, 0.061, 2.79e-6), ("categorical", 0.0048, 8.16e-5, 1.148e-12)):
        worst = {}
        for name in ("pf20", "SOR20 (published)"):
            rows = table[(table.task == task) & (table.learner == name)]
            row = rows.loc[rows.theirs.idxmax()]
            worst[name] = seeds_with(row.theirs, row.theirs_se)
        assert worst["pf20"].mean() == pytest.approx(pf, rel=0.015)
        assert worst["SOR20 (published)"].mean() == pytest.approx(sor, rel=0.005)
        assert stats.ttest_ind(*worst.values(), equal_var=False).pvalue == pytest.approx(p, rel=0.003)


@needs_reference
def test_the_published_numbers_themselves_bear_out_what_the_paper_says_of_them() -> None:
    table = comparison.read(REFERENCE).grid
    theirs = grid_like(table[table.task == "gaussian"])
    as_if_right = [theirs.sel(learner=[f"SOR{n} (published)"]).assign_coords(learner=[f"SOR{n}"]) for n in (1, 10, 20)]
    told = {claim.key: claim for claim in claims.evaluate({"gaussian": xr.concat([theirs, *as_if_right], "learner")})}
    for key in (
        "worst-pf20",
        "worst-sor20",
        "worst-test",
        "one-unit",
        "mp20-pf20",
        "varsmile-worst",
        "lowest-worst",
        "pf1-mp1-cells",
    ):
        assert told[f"gaussian-{key}"].verdict == claims.HOLDS
    assert "p = 2.8e-06" in told["gaussian-worst-test"].uncertainty
    assert told["gaussian-one-unit-summary"].verdict == claims.FAILS  # Nas12* is ahead of VarSMiLe


@needs_reference
def test_numbers_equal_to_the_published_agree_and_shifted_ones_do_not() -> None:
    reference = comparison.read(REFERENCE)
    table = reference.grid[reference.grid.task == "gaussian"]
    same = comparison.compare_grid(grid_like(table), reference)
    assert (same.agreeing, len(same.frame), same.published, same.left_out) == (510, 510, 510, ())
    assert str(same) == "510 of 510 published values lie within their 99.73 % interval"

    def off(row: Any) -> float:
        return 6.0 if row.learner == "pf20" and row.noise == 2.0 else 0.0

    shifted = comparison.compare_grid(grid_like(table, off), reference)
    assert shifted.agreeing == 504
    assert set(shifted.beyond.learner) == {"pf20"}
    assert shifted.beyond.z.to_numpy() == pytest.approx(6.0 / math.sqrt(2.0), rel=1e-6)
    assert shifted.beyond.limit.to_numpy() == pytest.approx(stats.t.ppf(1.0 - 0.0027 / 2.0, SEEDS - 1))


# --- imitated files ----------------------------------------------------------------------------------------------------


def write(path: pathlib.Path, *lines: str) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def release(tmp_path: pathlib.Path) -> pathlib.Path:
    """The names and forms of the authors' full release, a row or two of each."""
    folder = tmp_path / "data_final"
    write(
        folder / "heatmaps/multi_heatmap_bayesfilter.csv", "stochasticity changeprobability bayesfilter_meanerror", "5 0.1 0.02"
    )
    heading = "stochasticity changeprobability tsorOriginal20_meanerror"
    write(folder / "heatmaps/multi_heatmap_diff_tsorOriginal20.csv", heading, "5 0.1 9.9")
    errors = f"{heading} tsorOriginal20_diff_std tsorOriginal20_diff_se"
    std = folder / "heatmaps_std_NONINDEPENDENT_final/multi_heatmap_diff_std_tsorOriginal20.csv"
    write(std, errors, "5 0.1 3118670583253727e-21 35217783960389503e-22 111368411458576e-20")
    write(folder / "heatmaps/multi_heatmap_diff_tsor20.csv", "stochasticity changeprobability tsor20_meanerror", "5 1e-4 0.003")
    write(
        folder / "afterswitch/multi_s5.0_Pc0.005.csv",
        "x bayesfilter_mean bayesfilter_std bayesfilter_se tsor1_mean tsor1_std tsor1_se",
        "1 0.5 0.3 0.01 0.6 0.3 0.02",
        "2 0.4 0.3 0.01 NaN NaN NaN",
    )
    write(
        folder / "robustness/multi_robustnessfrombayes_s5_Pc0.0041.csv",
        "x TBayesFilter TSOR20 TParticleFilter20",
        "1e-4 0 0.1 0.2",
    )
    second = "experiment_second_20subj_500steps/exp_second_GParticleFiltersigma0.5_pc0.1_steps500_Dp0.0125.csv"
    names = " ".join(f"GParticleFilter_{measure}_{kind}" for measure in ("Sgm", "Ssh") for kind in ("mean", "std", "se"))
    write(folder / second, f"x {names}", "0.025 1.01 0.2 0.05 1.6 0.07 0.03", "0.4 NaN NaN NaN NaN NaN NaN")
    write(folder / "taskexamples/task_multi_s5.0_Pc0.005.csv", "not a curve")
    write(folder / "jitter_gauss.csv", "nothing of interest")
    return folder


def test_a_full_release_is_discovered_by_its_names(release: pathlib.Path) -> None:
    reference = comparison.read(release)
    assert "prediction 2: 1 file" in reference.found
    assert "prediction 1: none" in reference.found
    assert "steady-state differences: 2 files" in reference.found
    assert reference.first is None
    grid = reference.grid.set_index("learner")
    assert set(reference.grid.task) == {"categorical"}
    assert grid.theirs["SOR20 (published)"] == pytest.approx(3.118670583253727e-06)  # the file with errors, not the other
    assert grid.theirs_se["SOR20 (published)"] == pytest.approx(1.11368411458576e-06)
    assert math.isnan(grid.theirs_se["MP20"])
    assert set(reference.robustness.learner) == {"Exact Bayes", "MP20", "pf20"}
    assert list(reference.transient.n) == [1, 1, 2, 2]
    assert comparison.read(release.parent).found == reference.found


def categorical_grid(values: dict[str, float], spread: float = 0.001) -> Any:
    exact = seeds_with(0.02, 0.0005)[::-1]
    error = [exact, *(exact + seeds_with(value, spread) for value in values.values())]
    coordinates = {"learner": ["Exact Bayes", *values], "noise": [5.0], "p_c": [0.1, 0.0001], "seed": range(SEEDS)}
    cells = np.broadcast_to(np.array(error)[:, None, None, :], (len(error), 1, 2, SEEDS))
    return xr.Dataset({"error": (("learner", "noise", "p_c", "seed"), cells)}, coordinates, {"task": "categorical"})


def test_z_takes_our_spread_for_both_sides(release: pathlib.Path) -> None:
    """The difference of two means of ten seeds each, of the same spread: s sqrt(1/10 + 1/10)."""
    compared = comparison.compare_grid(categorical_grid({"MP20": 0.01, "SOR20 (published)": 0.01}), comparison.read(release))
    rows = compared.frame.set_index("learner")
    assert len(compared.frame) == 3
    assert rows.z["Exact Bayes"] == pytest.approx(0.0, abs=1e-9)
    assert rows.agrees["Exact Bayes"]
    assert rows.z["MP20"] == pytest.approx(0.007 / (math.sqrt(2.0) * 0.001))
    assert not rows.agrees["MP20"]
    assert rows.z["SOR20 (published)"] == pytest.approx((0.01 - 3.118670583253727e-06) / (math.sqrt(2.0) * 0.001))
    assert rows.theirs_se["SOR20 (published)"] == pytest.approx(1.11368411458576e-06)  # shown, not used


def test_three_seeds_are_not_taken_for_many(release: pathlib.Path) -> None:
    """With two degrees of freedom four standard errors are no surprise, with 29 they are."""
    for count, expected in ((3, True), (30, False)):
        regret = np.linspace(-1.0, 1.0, count) / np.linspace(-1.0, 1.0, count).std(ddof=1) * 0.01
        regret = regret + 0.1 + 4.0 * 0.01 * math.sqrt(1.0 / count + 1.0 / 3.0)
        panel = {"learner": ["MP20 (published)"], "p_c": [1e-4], "seed": range(count), "noise": ("panel", [5.0])}
        panel["assumed"] = ("panel", [0.00412])
        values = (("panel", "learner", "p_c", "seed"), regret[None, None, None])
        data = xr.Dataset({"regret": values}, panel, {"task": "categorical"})
        (row,) = comparison.compare_robustness(data, comparison.read(release)).frame.itertuples()
        assert row.z == pytest.approx(4.0)
        assert bool(row.agrees) is expected


def test_curves_regrets_and_predictions_are_matched(release: pathlib.Path) -> None:
    reference = comparison.read(release)
    names = ["Exact Bayes", "MP1", "pf20"]
    values = 0.5 + np.broadcast_to(seeds_with(0.0, 0.01), (2, 3, 3, SEEDS))
    setting = {"noise": ("setting", [0.14, 5.0]), "p_c": ("setting", [0.01, 0.005]), "learner": names, "n": [1, 2, 3]}
    after = xr.Dataset({"mean_by_seed": (("setting", "learner", "n", "seed"), values)}, setting, {"task": "categorical"})
    compared = comparison.compare_transient(after, reference)
    frame = compared.frame
    assert sorted(zip(frame.learner, frame.n, strict=True)) == [("Exact Bayes", 1), ("Exact Bayes", 2), ("MP1", 1)]
    assert compared.left_out == ((1, "the authors had no such trial"),)
    assert dict(zip(frame.n[frame.learner == "Exact Bayes"], frame.agrees[frame.learner == "Exact Bayes"], strict=True)) == {
        1: True,
        2: False,
    }

    regret = np.array([0.0 * seeds_with(0.0, 1.0), seeds_with(0.1, 0.01)])[:, None]
    panel = {"learner": [f"{name} (published)" for name in ("Exact Bayes", "MP20")], "p_c": [1e-4], "seed": range(SEEDS)}
    panel |= {"noise": ("panel", [5.0]), "assumed": ("panel", [0.00412])}
    data = xr.Dataset({"regret": (("panel", "learner", "p_c", "seed"), regret[None])}, panel, {"task": "categorical"})
    robust = comparison.compare_robustness(data, reference)
    assert sorted(robust.frame.learner) == ["Exact Bayes", "MP20"]
    assert robust.frame.agrees.all()
    assert robust.left_out == ((1, "not simulated at this size"),)  # pf20
    groups = comparison.compare_robustness(data.rename(seed="group"), reference)
    assert set(groups.frame.theirs_n) == {1}  # the authors had one group of three seeds

    dims, of_subjects = ("variant", "learner", "p", "subject"), np.broadcast_to(seeds_with(1.0, 0.05), (2, 1, 2, SEEDS))
    variables = {f"{name}_by_subject": (dims, of_subjects) for name in ("bayes_factor", "shannon")}
    second = xr.Dataset(variables, {"variant": ["right", "published"], "learner": ["pf20"], "p": [0.025, 0.4]})
    predicted = comparison.compare_predictions(second, reference)
    assert list(predicted.frame.measure) == ["bayes_factor", "shannon"]
    assert list(predicted.frame.agrees) == [True, False]
    assert list(predicted.frame.theirs_n) == [16, 5]  # (standard deviation / standard error)^2

    frames = comparison.compare_all(
        {"categorical transient": after, "categorical robustness": data, "prediction2": second, "memory": None}, reference
    )
    assert set(frames) == {"5", "9", "11"}


def test_what_the_folder_lacks_is_said(release: pathlib.Path) -> None:
    reference = comparison.read(release)
    with pytest.raises(ReferenceDataError, match="no files of steady-state errors in the gaussian task"):
        comparison.compare_grid(categorical_grid({}).assign_attrs(task="gaussian"), reference)
    with pytest.raises(ReferenceDataError, match="prediction 1"):
        comparison.compare_predictions(xr.Dataset(coords={"delta": [0.0]}), reference)


def test_what_is_not_compared_is_counted_with_the_reason() -> None:
    import pandas

    nothing = pandas.DataFrame({"agrees": np.array([], dtype=bool), "z": []})
    told = Compared(nothing, 3, ((3, "not simulated at this size"),))
    assert str(told) == "0 of 0 published values lie within their 99.73 % interval; 3 not compared: not simulated at this size"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gsor20", "MP20"),
        ("tsorOriginal1", "SOR1 (published)"),
        ("GSOROriginal20", "SOR20 (published)"),
        ("gnassarNatN", "Nas12*"),
        ("gnassarJNOriginal", "Nas10"),
        ("TLeakyIntegrator", "Leaky"),
        ("GParticleFilter", "pf20"),
        ("smileextended", "VarSMiLe"),
        ("x", None),
        ("unheardof3", None),
    ],
)
def test_names(name: str, expected: str | None) -> None:
    assert learner_name(name) == expected


# --- broken files ------------------------------------------------------------------------------------------------------

HEADING = "sigma changeprobability pf20_meanerror"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((), "is empty"),
        ((HEADING,), "is empty"),
        (("sigma pf20_meanerror", "5 0.1"), "lacks the column changeprobability; it has sigma, pf20_meanerror"),
        ((HEADING, "5 0.1 0.02", "5 0.05 oops"), "line 3, column pf20_meanerror: 'oops' is not a number"),
        ((HEADING, "5 0.1"), "line 2: 2 values under 3 names"),
        ((HEADING, "5 0.1 inf"), "column pf20_meanerror: 'inf' is not accepted"),
        ((HEADING, "5 0.1 0.02", "5 0.1 0.03"), "twice"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: pathlib.Path, lines: tuple[str, ...], message: str) -> None:
    write(tmp_path / "gaussian_heatmap_diff_pf20.csv", *lines)
    with pytest.raises(ReferenceDataError, match=message):
        comparison.read(tmp_path)


def test_a_negative_or_absent_standard_error_is_not_accepted(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "gaussian_s5.0_Pc0.01.csv", "x pf20_mean pf20_se", "1 0.5 -0.1")
    with pytest.raises(ReferenceDataError, match=r"pf20_se: '-0\.1' is not accepted"):
        comparison.read(tmp_path)
    write(path, "x pf20_mean", "1 0.5")
    with pytest.raises(ReferenceDataError, match="lacks the column pf20_se beside pf20_mean"):
        comparison.read(tmp_path)


def test_a_byte_order_mark_and_double_spaces_do_no_harm(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "any.csv"
    path.write_text("\ufeffx  a_mean a_se \n1  0.5 0.1 \n\n", encoding="utf-8")
    assert read_file(path, "x", "a_mean") == [{"x": 1.0, "a_mean": 0.5, "a_se": 0.1}]


def test_a_file_that_is_no_text_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "gaussian_heatmap_diff_pf20.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ReferenceDataError, match="is not a text file"):
        comparison.read(tmp_path)


def test_a_folder_without_any_of_the_files_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ReferenceDataError, match="is not a folder"):
        comparison.read(tmp_path / "nowhere")
    write(tmp_path / "notes.csv", "a b")
    with pytest.raises(ReferenceDataError, match="holds none of the authors' data files"):
        comparison.read(tmp_path)
