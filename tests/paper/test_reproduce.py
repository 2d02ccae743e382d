"""`volatilis paper` from order to report, at a tiny size; what bad orders get."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pandas
import pytest

import volatilis as vl
from tests.helpers.command_line import volatilis
from volatilis.cli.paper import EXAMPLES
from volatilis.paper import settings
from volatilis.paper.claims import Claim, lines, tally
from volatilis.paper.context import PaperRequest
from volatilis.paper.figures import FIGURES
from volatilis.paper.published.code import PublishedStratifiedResampling, heavier, published_threshold
from volatilis.paper.report import promises
from volatilis.paper.reproduce import chosen, reproduce
from volatilis.paper.settings import TaskSetting
from volatilis.paper.tuned import TUNED, Best, use_published

from .sizes import TINY

CSV = ("gaussian", "categorical", "gaussian_transient", "categorical_robustness", "memory", "prediction1", "prediction2")

TABLES = ("table_1", "table_2", "tuned", "costs", "run", "merge")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(settings.SIZES, "tiny", TINY)
        reproduce(PaperRequest(("all",), "tiny", folder))
    return folder


@pytest.mark.timeout(900)
def test_everything_is_there(results: pathlib.Path) -> None:
    page = (results / "report.html").read_text()
    for figure in FIGURES:
        for ending in ("svg", "png"):
            assert (results / "figures" / f"figure_{figure.key}.{ending}").stat().st_size > 5000
        assert figure.title in page
    for name in CSV:
        assert (results / "data" / f"{name}.csv").read_text().count("\n") > 10
    assert (results / "data" / "claims.csv").read_text().count("\n") > 45
    assert "Merge-N" in page


@pytest.mark.timeout(900)
def test_what_else_is_found_lies_beside_it(results: pathlib.Path) -> None:
    data = {name: pandas.read_csv(results / "data" / f"{name}.csv", keep_default_na=False) for name in TABLES}
    assert len(data["table_1"]) == 2 * 2 * 4
    assert len(data["table_2"]) == 2 * 2 * 2
    gaussian = data["tuned"][data["tuned"].task == "gaussian"]
    assert set(gaussian.learner) == set(TUNED["gaussian"])
    assert set(gaussian.source) == {"ours"}
    beyond = data["tuned"].beyond != ""
    assert np.all((data["tuned"].free == data["tuned"].within_bounds) == ~beyond)
    assert float(data["costs"].set_index("part").peak_memory_mib["all"]) > 50.0
    assert dict(data["run"].to_numpy())["command"].startswith("volatilis paper all --size tiny")


@pytest.mark.timeout(900)
def test_the_claims_are_a_whole_page(results: pathlib.Path) -> None:
    """Every claim with everything that the table has, nothing cut off, one cell per column."""
    page = (results / "claims.md").read_text()
    table = pandas.read_csv(results / "data" / "claims.csv", keep_default_na=False)
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| ---", "| claim |"))]
    assert len(rows) == len(table)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}
    plain = page.replace("\\", "").replace("&lt;", "<")
    for column in ("statement", "where", "published", "with_published_code", "done_right", "verdict", "uncertainty"):
        assert all(text in plain for text in table[column])
    assert f"{len(table)} claims: {tally(table.verdict)}." in page


@pytest.mark.timeout(900)
def test_the_claims_can_be_read_in_a_pipe_and_are_counted(results: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns, no colours, every claim whole, and at the end how many have which verdict."""
    monkeypatch.setitem(settings.SIZES, "tiny", TINY)
    monkeypatch.delenv("COLUMNS", raising=False)
    done = volatilis("paper", "claims", "--size", "tiny", "--out", results)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "\033" not in done.stdout
    told = " ".join(done.stdout.split())
    table = pandas.read_csv(results / "data" / "claims.csv", keep_default_na=False)
    for column in ("statement", "where", "published", "done_right", "uncertainty"):
        assert all(" ".join(text.split()) in told for text in table[column])
    counted = {line[7:]: int(line[:5]) for line in lines[-5:]}
    assert counted.pop("claims in all") == len(table) == sum(counted.values())
    for verdict, count in counted.items():
        assert count == (table.verdict == verdict).sum()


def test_wide_terminals_and_narrow_ones() -> None:
    claim = Claim("key", "2", "here", "word " * 40, "much", "as " * 50, "right " * 50, "does not hold", "sure")
    for width in (50, 80, 100):
        shown = list(lines([claim], width, colours=True))
        assert max(len(re.sub("\033[^m]*m", "", line)) for line in shown) <= width
        assert "  \033[1;31mDOES NOT HOLD\033[0m" in shown


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["holds", "holds", "does not hold"], "2 hold, 1 does not hold"),
        (["holds", "does not hold", "does not hold"], "1 holds, 2 do not hold"),
        (
            ["cannot be told at this size", "holds with the published code only"],
            "1 holds with the published code only, 1 cannot be told at this size",
        ),
    ],
)
def test_counts_are_in_words(verdicts: list[str], words: str) -> None:
    assert tally(verdicts) == words


@pytest.mark.timeout(900)
def test_a_second_run_computes_nothing_and_agrees(results: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.SIZES, "tiny", TINY)
    changing = {
        "claims.csv",
        "errata.csv",
        "readings.csv",
        "costs.csv",
        "merge.csv",
        "run.csv",
    }  # of all claims, errata, costs and environments, those of the order
    before = {path.name: path.read_bytes() for path in (results / "data").iterdir() if path.name not in changing}
    monkeypatch.setattr("volatilis.experiments.sweep.compute", lambda *_: pytest.fail("computed again"))
    reproduce(PaperRequest(("3", "memory"), "tiny", results))
    after = {path.name: path.read_bytes() for path in (results / "data").iterdir() if path.name not in changing}
    assert after == before


@pytest.mark.timeout(900)
def test_the_near_benchmark_says_how_near_it_is(results: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tiny", "quick"):  # its distance is measured at quick size
        monkeypatch.setitem(settings.SIZES, name, TINY)
    reproduce(PaperRequest(("6",), "tiny", results, benchmark="near"))
    lines = (results / "data" / "nearness_categorical.csv").read_text().splitlines()
    assert lines[0] == "s,p_c,distance,closest_learner"
    assert len(lines) == 1 + 7 * 6
    assert all(0.0 <= float(line.split(",")[2]) < 1e-6 for line in lines[1:])
    assert "Merge80" in (results / "report.html").read_text()


def test_figures_are_found_in_any_case() -> None:
    assert [figure.key for figure in chosen(("s2", "3"))] == ["3", "S2"]
    assert len(chosen(("all",))) == len(FIGURES)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["12"], "there is no figure '12'; there are 1, 2"),
        (["all", "3"], "stand alone"),
        (["1", "--size", "huge"], "there are quick, full"),
        (["1", "--benchmark", "best"], "exact and near"),
        (["1", "--reference", "nowhere"], "nowhere"),
    ],
)
def test_bad_orders_say_what_there_is(arguments: list[str], words: str, tmp_path: pathlib.Path) -> None:
    done = volatilis("paper", *arguments, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert words in done.output
    assert not (tmp_path / "out" / "report.html").exists()


def test_a_folder_that_cannot_be_written(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    done = volatilis("paper", "1", "--out", tmp_path / "file" / "out")
    assert done.exit_code == 2
    assert "cannot write to the folder" in done.output


def test_help_is_quick_to_import() -> None:
    code = "import sys, volatilis.cli; print(any(n in sys.modules for n in ('numba', 'matplotlib', 'pandas', 'xarray', 'zarr')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.strip() == "False"


def test_help_has_examples_that_fit() -> None:
    done = volatilis("paper", "--help", width=80)
    assert "Examples:" in done.output
    shown = " ".join(done.output.replace("\\\n", " ").split())  # long commands are broken as in a shell
    for line in EXAMPLES.splitlines():
        assert " ".join(line.split()) in shown


def test_one_figure_without_data(tmp_path: pathlib.Path) -> None:
    assert reproduce(PaperRequest(("1",), "quick", tmp_path)).report == tmp_path / "report.html"
    assert [path.name for path in (tmp_path / "figures").iterdir() if path.suffix == ".png"] == ["figure_1.png"]


# --- the published resampling --------------------------------------------------------------------------------------------


def test_published_threshold_is_the_right_one_without_zeros() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        weights = rng.dirichlet(np.full(11, 0.3))
        c = published_threshold(weights, np.argsort(-weights), 11, 10)
        if c < 0.1:
            assert np.minimum(weights / c, 1.0).sum() == pytest.approx(10.0, rel=1e-9)


def test_weights_are_counted_in_falling_order() -> None:
    rng = np.random.default_rng(1)
    for weights in (rng.random(21), rng.integers(0, 4, 21) / 4.0, np.zeros(3)):
        places = [heavier(weights, i, len(weights)) for i in range(len(weights))]
        assert np.array_equal(np.argsort(places), np.argsort(-weights, kind="stable"))
        assert sorted(places) == list(range(len(weights)))


def test_published_resampling_lets_hypotheses_without_weight_survive() -> None:
    """Errata 1, in one cell of the paper: far from Exact Bayes, where done right it is next to it."""
    family = vl.Gaussian(0.1)
    y, theta, _ = vl.ChangingEnvironment(family, 0.1).sample(20_000, seed=1)
    exact = vl.run(vl.ExactBayes(family, 0.1), y).mean
    wrong = vl.run(PublishedStratifiedResampling(family, 0.1, 20), y).mean
    right = vl.run(vl.StratifiedResampling(family, 0.1, 20), y).mean
    assert 0.04 < np.mean((wrong - theta) ** 2 - (exact - theta) ** 2) < 0.08  # paper: 0.061
    assert np.mean((right - exact) ** 2) < 1e-6


@pytest.mark.timeout(900)
def test_promises_are_counted_over_cells() -> None:
    import xarray

    learners = ["Exact Bayes", "pf20", "MP20", "SOR20", "Merge3", "Merge10", "Merge20"]
    distance = np.array([0.0, 8.0, 4.0, 2.0, 1.0, 3.0, 0.05])[:, None, None, None] * np.ones((7, 2, 3, 2))
    grid = xarray.Dataset({"distance": (("learner", "noise", "p_c", "seed"), distance)}, {"learner": learners})
    kept = promises({"gaussian": grid})
    assert [(p.cells, p.of) for p in kept] == [(6, 6), (0, 6), (6, 6), (0, 6)]
    assert [p.least for p in kept] == pytest.approx([8.0, 2.0 / 3.0, 40.0, 40.0])


@pytest.mark.timeout(900)
def test_fresh_forgets_only_after_all_was_checked(
    results: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong reference with --fresh loses nothing, and --fresh of one size leaves what is stored of another."""
    monkeypatch.setitem(settings.SIZES, "tiny", TINY)
    monkeypatch.setitem(settings.SIZES, "other", TINY._replace(name="other"))
    reproduce(PaperRequest(("2",), "tiny", tmp_path))
    before = {path.name for path in (tmp_path / "store").iterdir()}
    with pytest.raises((ValueError, OSError)):
        reproduce(PaperRequest(("2",), "tiny", tmp_path, reference=tmp_path / "none", resume=False))
    assert {path.name for path in (tmp_path / "store").iterdir()} == before
    reproduce(PaperRequest(("1",), "other", tmp_path, resume=False))
    assert {path.name for path in (tmp_path / "store").iterdir()} >= before
    reproduce(PaperRequest(("1",), "tiny", tmp_path, resume=False))
    assert not {path.name for path in (tmp_path / "store").iterdir() if path.suffix == ".zarr"}


def test_a_reference_with_and_without_tuned_values(tmp_path: pathlib.Path) -> None:
    """In the form of the authors' dictionaries: a reference to an array of pairs; where there is none ours stand in."""
    h5py = pytest.importorskip("h5py", reason="the authors' dictionaries are HDF5 files")
    where = TaskSetting("categorical", 0.1, 0.1)
    ours = {("Leaky", where): Best(0.9, 0.9, None)}
    assert use_published(ours, tmp_path) == ours
    path = tmp_path / "src" / "parameterDicts" / "parameterDict_multi_leaky.jld2"
    path.parent.mkdir(parents=True)

    def write(value: float) -> None:
        pair = np.dtype([("first", [("1", "f8"), ("2", "f8")]), ("second", "f8")])
        with h5py.File(path, "w") as file:
            pairs = file.create_dataset("pairs", data=np.array([((0.1, 0.1), value)], dtype=pair))
            file.create_dataset("parameterDict", data=pairs.ref, dtype=h5py.ref_dtype)

    write(0.7)
    for folder in (tmp_path, tmp_path / "doc" / "data_final"):
        assert use_published(ours, folder) == {("Leaky", where): Best(0.9, 0.7, None)}
    write(1.7)
    with pytest.raises(ValueError, match=r"parameterDict_multi_leaky.jld2: 1.7 at 0.1, p_c 0.1 is no tuned value of Leaky"):
        use_published(ours, tmp_path)
    path.write_bytes(b"no HDF5")
    with pytest.raises(ValueError, match=r"is not a dictionary of tuned values"):
        use_published(ours, tmp_path)
