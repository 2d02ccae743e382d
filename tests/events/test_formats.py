"""Event files, read back by the programs that they are for: pandas for BIDS, nilearn, NumPy for FSL, MNE."""

from __future__ import annotations

import json
import pathlib
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import volatilis as vl
from tests.helpers.command_line import succeeded
from volatilis.trials import MEASURES

from .example import TRIALS, USUAL, expected, run, trials

RUNS = [f"sub-{subject}_task-volatile_run-{run}" for subject in ("01", "02") for run in (1, 2)]
REGRESSORS = [f"{label}_{measure}" for label, measures in USUAL.items() for measure in measures]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("all") / "events"
    said = succeeded(run(trials(), folder, events_format="bids,nilearn,fsl,mne"))
    assert "for 4 runs" in said
    assert "note" not in said
    return folder


def of_run(table: pd.DataFrame, i: int) -> pd.DataFrame:
    return table.iloc[i * TRIALS : (i + 1) * TRIALS].reset_index(drop=True)


# --- BIDS ----------------------------------------------------------------------------------------------------------------


def test_bids_holds_what_the_library_computes(written: pathlib.Path) -> None:
    table, wanted = trials(), expected(trials())
    for i, name in enumerate(RUNS):
        events = pd.read_csv(written / f"{name}_events.tsv", sep="\t", na_values="n/a")
        assert list(events.columns) == ["onset", "duration", "trial_type", "outcome", *of_run(wanted, i).columns]
        given = ["onset", "duration", "trial_type", "outcome"]
        pd.testing.assert_frame_equal(events[given], of_run(table, i)[given])
        pd.testing.assert_frame_equal(events[REGRESSORS], of_run(wanted, i)[REGRESSORS], rtol=1e-12)


def test_sidecar_describes_every_column(written: pathlib.Path) -> None:
    for name in RUNS:
        sidecar = json.loads((written / f"{name}_events.json").read_text())
        columns = (written / f"{name}_events.tsv").read_text().partition("\n")[0].split("\t")
        assert set(sidecar) == {*columns, "GeneratedBy"}
        for column in columns:
            assert sidecar[column]["LongName"]
            assert sidecar[column]["Description"]
            assert column == "trial_type" or sidecar[column]["Units"]
        for column in REGRESSORS:
            label, _, measure = column.partition("_")
            assert MEASURES[measure].description in sidecar[column]["Description"]
            assert sidecar[column]["Units"] == MEASURES[measure].units
            assert sidecar[column]["Learner"] == {"varsmile": "VarSMiLe", "merge": "Merge"}[label]
            assert sidecar[column]["LearnerParameters"] == {"varsmile": {"m": 0.1}, "merge": {"p_c": 0.1, "n": 3}}[label]
            assert sidecar[column]["Family"] == "Gaussian"
            assert sidecar[column]["FamilyParameters"] == {"sigma": 1.0, "mu_0": 0.0, "sigma_0": 5.0}
        made = sidecar["GeneratedBy"]
        assert made["Name"] == "volatilis"
        assert made["Version"] == vl.__version__
        assert "10.1162/neco_a_01352" in made["References"][0]
        assert vl.__version__ in made["References"][1]


def test_missing_outcomes_are_not_available(tmp_path: pathlib.Path) -> None:
    table = trials(missing=(3, 50))
    said = succeeded(run(table, tmp_path / "events", missing="elapse", events_format="bids,nilearn,fsl,mne"))
    assert "2 outcomes are missing in sub-01_task-volatile_run-1, sub-01_task-volatile_run-2" in said
    name = tmp_path / "events" / RUNS[0]
    lines = pathlib.Path(f"{name}_events.tsv").read_text().splitlines()
    assert lines[4].split("\t")[3:] == ["n/a"] * (1 + len(REGRESSORS))
    events = pd.read_csv(f"{name}_events.tsv", sep="\t")
    pd.testing.assert_frame_equal(events[REGRESSORS], of_run(expected(table, "elapse"), 0)[REGRESSORS], rtol=1e-12)
    long = pd.read_csv(f"{name}_nilearn.tsv", sep="\t")
    assert len(long) == (TRIALS - 1) * (1 + len(REGRESSORS))
    assert table.onset[3] not in set(long.onset)
    assert len(np.loadtxt(f"{name}_merge_shannon_surprise.txt")) == TRIALS - 1
    metadata = pd.read_csv(f"{name}_metadata.csv")
    assert len(metadata) == TRIALS
    assert metadata.merge_shannon_surprise.isna().to_numpy().nonzero()[0].tolist() == [3]
    sidecar = json.loads(pathlib.Path(f"{name}_events.json").read_text())
    assert sidecar["merge_shannon_surprise"]["MissingValues"] == 1
    assert sidecar["GeneratedBy"]["MissingOutcomes"] == "elapse"


def test_estimates_at_missing_outcomes_are_no_regressors(tmp_path: pathlib.Path) -> None:
    """A learner has an estimate there, but there is no event that it could belong to."""
    succeeded(run(trials(missing=(3,)), tmp_path / "events", missing="elapse", regressors="mean", zscore="run"))
    events = pd.read_csv(tmp_path / "events" / f"{RUNS[0]}_events.tsv", sep="\t")
    assert events.merge_mean.isna().to_numpy().nonzero()[0].tolist() == [3]
    assert events.merge_mean.mean() == pytest.approx(0.0, abs=1e-12)


def test_parameters_that_differ_between_groups_of_a_run(tmp_path: pathlib.Path) -> None:
    table = trials()
    table["noise"] = np.where(table.trial < TRIALS // 2, 1.0, 2.0)
    family, by = "gaussian:sigma=column:noise,sigma_0=5", "subject,run,noise"
    succeeded(run(table, tmp_path / "events", family=family, by=by, run_by="subject,run"))
    sidecar = json.loads((tmp_path / "events" / f"{RUNS[2]}_events.json").read_text())
    entries = sidecar["merge_shannon_surprise"]["ParametersByGroup"]
    assert [entry["FamilyParameters"]["sigma"] for entry in entries] == [1.0, 2.0]
    assert [entry["Group"]["noise"] for entry in entries] == ["1.0", "2.0"]
    assert entries[0]["Group"]["subject"] == "02"


def test_elements_of_the_parameter_are_named(tmp_path: pathlib.Path) -> None:
    table = trials()
    table["outcome"] = (table.outcome > 0).astype(int)
    succeeded(run(table, tmp_path / "events", family="categorical:k=2", regressors="varsmile_mean_1"))
    sidecar = json.loads((tmp_path / "events" / f"{RUNS[0]}_events.json").read_text())
    assert "p[1]" in sidecar["varsmile_mean_1"]["Description"]
    assert "varsmile_mean_0" not in sidecar


# --- nilearn -------------------------------------------------------------------------------------------------------------


def convolved(onset: np.ndarray, duration: np.ndarray, weight: np.ndarray, frame_times: np.ndarray) -> np.ndarray:
    """Boxes of the events' heights with SPM's difference of two gamma densities, on a fine grid, without nilearn."""
    step = 0.01
    grid = np.arange(0.0, frame_times[-1] + step, step)
    height = np.zeros(len(grid))
    for start, length, value in zip(onset, duration, weight, strict=True):
        height[(grid >= start) & (grid < start + length)] += value
    t = np.arange(0.0, 32.0, step)
    response = stats.gamma.pdf(t, 6.0) - stats.gamma.pdf(t, 16.0) / 6.0
    signal = np.convolve(height, response / response.sum())[: len(grid)]
    return np.interp(frame_times, grid, signal)


def test_nilearn_makes_the_design_matrix(written: pathlib.Path) -> None:
    from nilearn.glm.first_level import make_first_level_design_matrix

    table, wanted = trials(), expected(trials())
    for i, name in enumerate(RUNS):
        own = of_run(table, i)
        frame_times = np.arange(0.0, own.onset.max() + 20.0, 2.0)
        events = pd.read_csv(written / f"{name}_nilearn.tsv", sep="\t")
        assert list(events.columns) == ["onset", "duration", "trial_type", "modulation"]
        design = make_first_level_design_matrix(frame_times, events, "spm", None, oversampling=400)  # a grid as fine as ours
        assert set(design.columns) == {"main", "catch", *REGRESSORS, "constant"}
        weights = {kind: (own.trial_type == kind).to_numpy(float) for kind in ("main", "catch")}
        weights |= {column: of_run(wanted, i)[column].to_numpy() for column in REGRESSORS}
        for column, weight in weights.items():
            by_hand = convolved(own.onset.to_numpy(), own.duration.to_numpy(), weight, frame_times)
            assert np.corrcoef(design[column], by_hand)[0, 1] > 0.9999, column
            assert np.polyfit(by_hand, design[column], 1)[0] == pytest.approx(1.0, rel=0.02), column


def test_nilearn_adds_up_single_events(written: pathlib.Path) -> None:
    """To the last digits: the modulated column is the sum over events of the response to one, times its measure."""
    from nilearn.glm.first_level import compute_regressor, make_first_level_design_matrix

    own, weight = of_run(trials(), 1), of_run(expected(trials()), 1).merge_shannon_surprise
    frame_times = np.arange(0.0, own.onset.max() + 20.0, 1.5)
    singles = [
        compute_regressor(([o], [d], [w]), "glover", frame_times)[0][:, 0]
        for o, d, w in zip(own.onset, own.duration, weight, strict=True)
    ]
    design = make_first_level_design_matrix(
        frame_times, pd.read_csv(written / f"{RUNS[1]}_nilearn.tsv", sep="\t"), hrf_model="glover", drift_model=None
    )
    np.testing.assert_allclose(design.merge_shannon_surprise, np.sum(singles, axis=0), atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*Generation of a mask has been requested:RuntimeWarning")  # about nilearn's own masker
def test_nilearn_fits_an_image_from_the_file_itself(written: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A signal of known strength is found again by FirstLevelModel, given the path of the file."""
    import nibabel
    from nilearn.glm.first_level import FirstLevelModel, make_first_level_design_matrix

    succeeded(run(trials(), tmp_path / "events", events_format="nilearn", regressors="merge_shannon_surprise", zscore="run"))
    path = tmp_path / "events" / f"{RUNS[0]}_nilearn.tsv"
    scans = 120
    design = make_first_level_design_matrix(2.0 * np.arange(scans), path, hrf_model="spm", drift_model=None)
    noise = np.random.default_rng(2).normal(0.0, 1e-3, (2, 2, 2, scans))
    signal = 100.0 + 3.0 * design.main + 2.0 * design.catch - 1.5 * design.merge_shannon_surprise
    image = nibabel.Nifti1Image(noise + signal.to_numpy(), np.eye(4))
    mask = nibabel.Nifti1Image(np.ones((2, 2, 2), dtype=np.uint8), np.eye(4))
    model = FirstLevelModel(
        t_r=2.0, slice_time_ref=0.0, hrf_model="spm", drift_model=None, noise_model="ols", mask_img=mask, signal_scaling=False
    )
    model.fit(image, events=path)
    for name, strength in (("main", 3.0), ("catch", 2.0), ("merge_shannon_surprise", -1.5)):
        found = model.compute_contrast(name, output_type="effect_size").get_fdata()
        np.testing.assert_allclose(found, strength, atol=0.02)


def test_an_event_without_trial_type_is_called_outcome(tmp_path: pathlib.Path) -> None:
    succeeded(
        run(trials().drop(columns="trial_type"), tmp_path / "events", events_format="nilearn", regressors="shannon_surprise")
    )
    long = pd.read_csv(tmp_path / "events" / f"{RUNS[0]}_nilearn.tsv", sep="\t")
    assert set(long.trial_type) == {"outcome", "varsmile_shannon_surprise", "merge_shannon_surprise"}
    assert (long.modulation[long.trial_type == "outcome"] == 1.0).all()


# --- FSL -----------------------------------------------------------------------------------------------------------------


def test_fsl_files_hold_onset_duration_and_weight(written: pathlib.Path) -> None:
    table, wanted = trials(), expected(trials())
    for i, name in enumerate(RUNS):
        own = of_run(table, i)
        for column in REGRESSORS:
            found = np.loadtxt(written / f"{name}_{column}.txt")
            np.testing.assert_array_equal(found[:, :2], own[["onset", "duration"]])
            np.testing.assert_allclose(found[:, 2], of_run(wanted, i)[column], rtol=1e-12)
        for kind in ("main", "catch"):
            found = np.loadtxt(written / f"{name}_{kind}.txt")
            np.testing.assert_array_equal(found[:, 0], own.onset[own.trial_type == kind])
            assert (found[:, 2] == 1.0).all()
    assert len(list(written.glob("*.txt"))) == 4 * (2 + len(REGRESSORS))


# --- MNE -----------------------------------------------------------------------------------------------------------------


def test_mne_selects_epochs_by_metadata(written: pathlib.Path) -> None:
    import mne

    rng = np.random.default_rng(1)
    for i, name in enumerate(RUNS):
        metadata = pd.read_csv(written / f"{name}_metadata.csv")
        events = np.column_stack([np.arange(TRIALS), np.zeros(TRIALS, int), np.ones(TRIALS, int)])
        info = mne.create_info(["Cz", "Pz"], 100.0, "eeg")
        epochs = mne.EpochsArray(rng.normal(size=(TRIALS, 2, 10)), info, events, metadata=metadata, verbose="error")
        rate = of_run(expected(trials()), i).merge_adaptation_rate
        surprised = epochs["merge_adaptation_rate > 0.5"]
        assert len(surprised) == int((rate > 0.5).sum()) > 0
        np.testing.assert_array_equal(surprised.events[:, 0], np.flatnonzero(rate > 0.5))
        kind = of_run(trials(), i).trial_type
        assert len(epochs["trial_type == 'catch' and merge_shannon_surprise > 2"]) == int(
            ((kind == "catch") & (of_run(expected(trials()), i).merge_shannon_surprise > 2)).sum()
        )


def test_mne_gets_names_that_a_query_can_use(tmp_path: pathlib.Path) -> None:
    table = trials().rename(columns={"outcome": "x (cm)"})
    succeeded(run(table, tmp_path / "events", outcome="x (cm)", events_format="mne"))
    metadata = pd.read_csv(tmp_path / "events" / f"{RUNS[0]}_metadata.csv")
    assert all(name.isidentifier() for name in metadata.columns)
    assert metadata.query("x__cm_ > 0").onset.tolist() == of_run(table, 0).onset[of_run(table, 0)["x (cm)"] > 0].tolist()


# --- texts ---------------------------------------------------------------------------------------------------------------


def test_every_reader_has_the_same_texts(tmp_path: pathlib.Path) -> None:
    """Commas, spaces and marks need no quotes in TSV: split at tabs, by pandas, by nilearn and by MNE a name is the same."""
    from mne import EpochsArray, create_info
    from nilearn.glm.first_level import make_first_level_design_matrix

    name = "left, or right; it's #1 (é) 5'' \\ |"
    table = trials().iloc[:TRIALS].reset_index(drop=True)
    table.loc[table.trial_type == "catch", "trial_type"] = name
    folder = tmp_path / "events"
    succeeded(run(table, folder, events_format="bids,nilearn,mne", regressors="merge_shannon_surprise"))
    lines = (folder / f"{RUNS[0]}_events.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[2] for line in lines[1:]] == table.trial_type.tolist()
    assert pd.read_csv(folder / f"{RUNS[0]}_events.tsv", sep="\t").trial_type.tolist() == table.trial_type.tolist()
    events = pd.read_csv(folder / f"{RUNS[0]}_nilearn.tsv", sep="\t")
    assert set(events.trial_type) == {name, "main", "merge_shannon_surprise"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that modulation is used, and that this name cannot stand in a formula
        design = make_first_level_design_matrix(2.0 * np.arange(150), events, hrf_model="spm")
    assert {name, "main"} <= set(design.columns)
    metadata = pd.read_csv(folder / f"{RUNS[0]}_metadata.csv")
    samples = np.arange(len(metadata))
    info = create_info(["Cz"], 100.0, "eeg", verbose=False)
    marks = np.column_stack([samples, 0 * samples, 0 * samples + 1])
    epochs = EpochsArray(np.zeros((len(metadata), 1, 4)), info, marks, metadata=metadata, verbose=False)
    assert epochs.metadata.trial_type.tolist() == table.trial_type.tolist()


def test_texts_that_a_tsv_cannot_hold_are_for_mne_alone(tmp_path: pathlib.Path) -> None:
    table = trials().iloc[:TRIALS].reset_index(drop=True)
    table.loc[2, "trial_type"] = 'a "tab"\tand more'
    succeeded(run(table, tmp_path / "events", events_format="mne"))
    metadata = pd.read_csv(tmp_path / "events" / f"{RUNS[0]}_metadata.csv")
    assert metadata.trial_type[2] == 'a "tab"\tand more'


def test_the_sidecar_says_where_learners_start_anew(tmp_path: pathlib.Path) -> None:
    """By a mark, or by a label that changes within a person."""
    table = trials().assign(block=lambda t: t.trial // 20, new=lambda t: (t.trial == 0).astype(int))
    for words, said in (({}, "block changes"), ({"block": "none", "reset": "new"}, "new is not 0"), ({"block": "none"}, "n/a")):
        folder = tmp_path / said.replace("/", "")
        succeeded(run(table, folder, run_by="sub=subject,run", by="subject,run", **words))
        described = [json.loads(path.read_text()) for path in folder.rglob("*_events.json")]
        assert {one["GeneratedBy"]["LearnersStartAnewWhere"] for one in described} == {said}
