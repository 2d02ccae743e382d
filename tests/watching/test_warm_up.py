"""`watch` without numbers: first lines of each key tell its parameters, later lines use them, a restart goes on bit for bit."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

import volatilis as vl
from tests.watching.command import watch


def lines(count: int) -> list[str]:
    """Two sensors of very different units; both jump by eight standard deviations of their noise at line 60 of theirs."""
    rng, texts = np.random.default_rng(1), []
    for t in range(count):
        for key, middle, noise in (("a", 20.0, 0.5), ("b", 1000.0, 30.0)):
            value = middle + (8 * noise if t >= 60 else 0.0) + noise * rng.normal()
            texts.append(json.dumps({"sensor": key, "temperature": round(value, 4)}) + "\n")
    return texts


OPTIONS = ["--value", "temperature", "--key", "sensor", "--learn", "40"]


def test_each_key_has_parameters_of_its_own_and_a_restart_goes_on(tmp_path: pathlib.Path) -> None:
    source, texts = tmp_path / "in.jsonl", lines(80)
    source.write_text("".join(texts))
    whole = watch(*[str(source), *OPTIONS, "--out", str(tmp_path / "whole.jsonl")], both=False)
    assert whole.stderr.startswith("volatilis watch: parameters are estimated from the first 40 observations of each key")
    assert "a: learned from the first 40 observations" in whole.stderr
    assert "b: learned from the first 40 observations" in whole.stderr
    rows = [json.loads(line) for line in (tmp_path / "whole.jsonl").read_text().splitlines()]
    assert rows[79]["mean"] is None
    alarms = {key: [r["line"] for r in rows if r["alarm"] and r["sensor"] == key] for key in "ab"}
    assert all(any(120 < line <= 126 for line in found) for found in alarms.values())
    state = ["--state", str(tmp_path / "state"), "--out", str(tmp_path / "parts.jsonl")]
    for stop in (50, 100, 160):
        source.write_text("".join(texts[:stop]))
        watch(*[str(source), *OPTIONS, *state], both=False)
    assert (tmp_path / "parts.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_too_few_lines_are_said(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "in.jsonl"
    few, more = lines(10), lines(42)
    source.write_text("".join([*more, *few[1::2]]).replace('"b"', '"c"', 1))
    done = watch(source, *OPTIONS, both=False)
    assert done.returncode == 0
    assert "before the warm-up of 1 key among 3 was complete" in done.stderr
    source.write_text("".join(few))
    assert "before the warm-up of 2 keys among 2 was complete, which takes 40" in watch(source, *OPTIONS, both=False).stderr
    assert watch(source, *OPTIONS[:-1], "3", both=False).returncode == 2


def written(path: pathlib.Path, columns: dict[str, np.ndarray]) -> pathlib.Path:
    """Keys in turn, a value of each at a time."""
    length = len(next(iter(columns.values())))
    rows = [json.dumps({"k": key, "v": float(values[t])}) for t in range(length) for key, values in columns.items()]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_later_lines_that_contradict_what_was_learned_are_told_once(tmp_path: pathlib.Path) -> None:
    """Heavy tails look like changes in a warm-up; noise that grows later makes every other line ring."""
    rng = np.random.default_rng(3)
    grown = np.concatenate([rng.normal(50.0, 2.0, 300), rng.normal(50.0, 40.0, 900)])
    source = written(tmp_path / "in.jsonl", {"tails": 50.0 + 2.0 * rng.standard_t(2, 1200), "grown": grown})
    options = ["--value", "v", "--key", "k", "--family", "gaussian:auto"]
    said = watch(source, *options, both=False).stderr.splitlines()
    tails = [line for line in said if "tails: warning: gaussian:" in line and "outliers or heavy tails" in line]
    assert len(tails) == 1
    assert "contaminated" in tails[0]
    rings = [line for line in said if "grown: warning: " in line and " lines since the warm-up raised an alarm (" in line]
    assert len(rings) == 1
    assert "where p_c = 0.005: " in rings[0]
    assert "--learn N" in rings[0]
    assert "volatilis calibrate" in rings[0]


def test_a_sensor_that_sticks_is_named(tmp_path: pathlib.Path) -> None:
    held = np.concatenate([np.random.default_rng(3).normal(50.0, 2.0, 300), np.full(900, 51.25)])
    source = written(tmp_path / "in.jsonl", {"held": held})
    said = watch(source, "--value", "v", "--key", "k", "--family", "gaussian:auto", both=False).stderr
    assert said.count("observations in a row are exactly 51.25, where 0 % of the others equal the one before") == 1
    assert "outliers" not in said


def test_data_of_the_model_are_not_warned_of(tmp_path: pathlib.Path) -> None:
    """At most 1 of 100 streams may be: none of these 20, with a fixed seed."""
    world = vl.ChangingEnvironment(vl.Gaussian(1.0, 20.0, 6.0), p_c=0.02)
    columns = {f"s{seed}": np.asarray(world.sample(700, seed=seed)[0]) for seed in range(20)}
    said = watch(written(tmp_path / "in.jsonl", columns), "--value", "v", "--key", "k", both=False).stderr
    assert said.count("learned from the first 200 observations") == 20
    assert "warning" not in said
    assert "since the warm-up raised" not in said


def test_white_noise_leaves_p_c_open_and_the_default_alarm_says_what_it_misses(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(8)
    source = written(tmp_path / "in.jsonl", {f"w{i}": rng.normal(50.0, 2.0, 210) for i in range(8)})
    said = watch(source, "--value", "v", "--key", "k", both=False).stderr
    assert said.count("so p_c and sigma_0 are not identified: sigma_0 is taken to be 10 sigma") == 8
    assert said.count("lasting small shifts need a rule of volatilis calibrate") == 1
    assert "lasting small" not in watch(source, "--value", "v", "--key", "k", "--alarm", "0.9", both=False).stderr


def of_all_kinds(length: int) -> dict[str, np.ndarray]:
    def sampled(family: Any, p_c: float, seed: int) -> np.ndarray:
        return np.asarray(vl.ChangingEnvironment(family, p_c).sample(length, seed=seed).y, dtype=float)

    return {
        "level": sampled(vl.Gaussian(1.0, 20.0, 6.0), 0.02, 1),
        "count": sampled(vl.Poisson(3.0, 0.5), 0.02, 2),
        "coin": sampled(vl.Bernoulli(), 0.02, 3),
        "wait": sampled(vl.Exponential(3.0, 3.0), 0.02, 4),
        "tails": sampled(vl.Contaminated(vl.Gaussian(1.0, 20.0, 6.0), 0.1, 3.0), 0.02, 5),
    }


def test_the_first_lines_choose_the_family_and_a_restart_goes_on(tmp_path: pathlib.Path) -> None:
    source = written(tmp_path / "in.jsonl", of_all_kinds(260))
    whole = watch(source, "--value", "v", "--key", "k", "--out", str(tmp_path / "whole.jsonl"), both=False).stderr
    families = ("level: gaussian", "count: poisson", "coin: bernoulli", "wait: exponential", "tails: contaminated:gaussian")
    for key, family in (one.split(": ") for one in families):
        assert f"{key}: learned from the first 200 observations: {family}" in whole
    assert (
        "level: learned from the first 200 observations: gaussian (log evidence of others, less its own: contaminated:gaussian -"
        in whole
    )
    assert "warning" not in whole
    texts = source.read_text().splitlines(keepends=True)
    state = ["--state", str(tmp_path / "state"), "--out", str(tmp_path / "parts.jsonl")]
    for stop in (700, 1100, 1300):
        source.write_text("".join(texts[:stop]))
        watch(source, "--value", "v", "--key", "k", *state, both=False)
    assert (tmp_path / "parts.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    refused = watch(source, "--value", "v", "--key", "k", "--family", "gaussian:auto", *state, both=False)
    assert refused.returncode != 0
    assert "was made with another learner" in refused.stderr


def test_a_key_with_a_chosen_family_is_as_a_watch_that_was_given_it(tmp_path: pathlib.Path) -> None:
    counts = of_all_kinds(260)["count"]
    source = written(tmp_path / "in.jsonl", {"count": counts})
    watch(source, "--value", "v", "--key", "k", "--out", str(tmp_path / "out.jsonl"), both=False)
    found = vl.estimate(counts[:200].astype(int), "poisson", check=False, workers=1)
    trace = vl.run(vl.Merge(found.family, found.p_c, n=20), counts.astype(int))
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    np.testing.assert_allclose([row["mean"] for row in rows[200:]], trace.mean[200:], rtol=1e-6)


def test_numbers_that_the_chosen_family_does_not_take_are_told_and_are_missing(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(4)
    values = np.concatenate([rng.poisson(4.0, 230).astype(float), [4.5, -1.0], rng.poisson(4.0, 20).astype(float)])
    source = written(tmp_path / "in.jsonl", {"odd": values})
    said = watch(source, "--value", "v", "--key", "k", "--out", str(tmp_path / "out.jsonl"), both=False).stderr
    assert said.count("odd: warning: poisson, which the first 200 observations suggested, cannot give 4.5") == 1
    assert "-1.0" not in said
    assert "250 observations of 1 key, 2 missing, 0 bad lines" in said
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [rows[i]["shannon_surprise"] is None for i in (229, 230, 231, 232)] == [False, True, True, False]


def test_first_lines_that_do_not_vary_choose_nothing(tmp_path: pathlib.Path) -> None:
    source = written(tmp_path / "in.jsonl", {"still": np.array([0.0] * 230 + [0.5] * 20)})
    said = watch(source, "--value", "v", "--key", "k", both=False).stderr
    assert "all of the first 200 observations are 0.0, so their noise is a guess" in said
    assert "; --family bernoulli:auto is made for 0 and 1, poisson:auto for counts\n" in said
    assert "cannot give" not in said


def test_lines_that_nothing_can_be_learned_from_are_said(tmp_path: pathlib.Path) -> None:
    huge = 1e130 * np.random.default_rng(3).normal(2.0, 0.1, 250)
    said = watch(written(tmp_path / "in.jsonl", {"huge": huge}), "--value", "v", "--key", "k", both=False).stderr
    assert "cannot be learned from, so all of this is a guess: p_c = 0.01" in said


def test_an_autoregression_with_all_its_parameters_is_not_learned(tmp_path: pathlib.Path) -> None:
    """Its name begins with auto."""
    source = written(tmp_path / "in.jsonl", {"a": np.random.default_rng(3).normal(0.0, 1.0, 40)})
    family = "autoregression:order=1,kappa_0=1,alpha_0=2,beta_0=1"
    done = watch(source, "--value", "v", "--family", family, "--learner", "merge:n=5,p_c=0.01", both=False)
    assert done.returncode == 0, done.stderr
    assert "estimated from the first" not in done.stderr


def test_rare_ones_are_no_volatile_environment(tmp_path: pathlib.Path) -> None:
    """A constant probability of 1 % is also the law of a and b next to 0 with many changes; then every line would ring."""
    for seed in (0, 1, 3, 4):
        rare = (np.random.default_rng(seed).random(3000) < 0.01).astype(float)
        said = watch(written(tmp_path / "in.jsonl", {"rare": rare}), "--value", "v", "--key", "k", both=False).stderr
        assert "p_c = 0.005, a = 1, b = 1" in said
        assert "3,000 observations of 1 key, 0 missing, 0 bad lines, 0 alarms" in said
        assert "outliers" not in said
