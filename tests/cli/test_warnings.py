"""What Python code warns of reads like the other messages of a command: one line, once, no path and no line of source."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Iterator

import pytest

from tests.helpers.command_line import volatilis
from volatilis._core.jobs import Processes
from volatilis.cli.errors import reported

FAMILY = "contaminated:gaussian:sigma=1,mu_0=50,sigma_0=10;p_o=0.05"
MODEL = ["--family", FAMILY, "--learner", "exact:p_c=0.3,cutoff=0.001"]  # few hypotheses: calibrating simulates 800,000 steps


@pytest.fixture(autouse=True)
def shown_as_by_python() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


@pytest.fixture
def table(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "t.csv"
    path.write_text("outcome,prediction,subject\n" + "".join(f"{50 + i % 3},50,1\n" for i in range(60)))
    return path


@pytest.mark.parametrize("command", ["run", "changes", "calibrate", "separate", "watch", "fit", "compare"])
def test_every_command_says_it_in_its_own_words(command: str, table: pathlib.Path, tmp_path: pathlib.Path) -> None:
    more = {
        "calibrate": ["--false-alarms", "1/20", "--within", "10"],
        "watch": ["--value", "outcome", "--out", tmp_path / "lines"],
        "compare": ["--learner", "varsmile:m=0.1"],
    }
    out = [] if command in ("calibrate", "watch", "separate") else ["--out", tmp_path / "out.csv"]
    said = volatilis(command, table, *MODEL, *more.get(command, []), *out).stderr
    begin = "volatilis watch: warning: " if command == "watch" else "warning: "
    assert said.count(f"{begin}ExactBayes is not exact where observations may be outliers: ") == 1
    assert "UserWarning" not in said
    assert ".py" not in said


def test_a_text_comes_once_and_the_file_of_a_user_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with reported("run"):
        for _ in range(3):
            warnings.warn("two\n  lines [sic]", RuntimeWarning, stacklevel=1)
        warnings.warn_explicit("invalid escape sequence", SyntaxWarning, "mine.py", 7)
    said = capsys.readouterr().err
    assert said == "warning: two lines [sic]\nwarning: mine.py, line 7: invalid escape sequence\n"
    with pytest.warns(RuntimeWarning, match="outside"):
        warnings.warn("outside of a command", RuntimeWarning, stacklevel=1)


def _warns(number: int) -> int:
    warnings.warn("from another process", UserWarning, stacklevel=1)
    return number


def test_other_processes_hand_their_warnings_over(capfd: pytest.CaptureFixture[str]) -> None:
    """Their own standard error would have them raw; here whoever called may catch them."""
    with warnings.catch_warnings(record=True) as caught, Processes(2) as queue:
        assert dict(queue.results(_warns, {i: (i,) for i in range(4)})) == {i: i for i in range(4)}
    assert [str(one.message) for one in caught] == ["from another process"]
    assert capfd.readouterr().err == ""
