"""Tables as people have them, dropped onto the explorer: read as `volatilis run` reads them, or refused with the same reason."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests.html.explorer.page import Explorer
from tests.html.explorer.test_page import assert_same_table, run_command

ROWS = "subject,outcome\na,1.5\nb,2\na,1.2\n"
GOOD = {
    "bom.csv": b"\xef\xbb\xbf" + ROWS.encode(),
    "semicolons.csv": ROWS.replace(",", ";").encode(),
    "tabs.tsv": ROWS.replace(",", "\t").encode(),
    "semicolons-and-a-comma.csv": b"a;b;c,outcome\n1;2;3,4\n1;2;3,5\n",
    "old-mac.csv": ROWS.replace("\n", "\r").encode(),
    "windows.csv": ROWS.replace("\n", "\r\n").encode(),
    "quoted.csv": b'subject,note,outcome\na,"x\ny",1.5\nb,"p ""q""",2\na,,1.2\n',
    "empty-lines.csv": b"subject,outcome\na,1.5\n\nb,2\na,1.2\n\n",
    "empty-line-is-missing.csv": b"outcome\n1.5\n\n2\n1.2\n",
    "missing-words.csv": b"outcome\n1.5\n.\nNone\nna\n NA \n2\n",
    "numbers.csv": b"outcome\n+1.5\n1e1\n.5\n5.\n",
    "large.csv": b"outcome\n1e150\n-1e150\n3\n",
    "names.csv": b"subject,outcome\n007,1.5\n7,2\n 007,1.2\n",
    "it's mine.csv": ROWS.encode(),
    "-dash.csv": ROWS.encode(),
    "<b>.csv": b"__proto__,constructor,outcome\n<img src=x onerror=alert(1)>,y,1.5\nx,y,2\n",
}
BAD = {
    "decimal-commas.csv": (b"subject;outcome\na;1,5\n", "a decimal point, not a comma"),
    "decimal-commas-alone.csv": (b"outcome\n1,5\n", "needs quotes"),
    "hexadecimal.csv": (b"outcome\n1\n0x10\n", "'0x10' is not a number"),
    "latin.csv": ("subject,outcome\n\xe9,1.5\n".encode("latin-1"), "is not text in UTF-8; save it as UTF-8"),
    "utf-16.csv": ("outcome\n1\n".encode("utf-16"), "is text in UTF-16; save it as UTF-8"),
    "nothing.csv": (b"", "is empty"),
}


@pytest.fixture(autouse=True)
def _fresh(explorer: Explorer) -> None:
    explorer.preset("gaussian")
    explorer.browser.problems.clear()


def dropped(explorer: Explorer, name: str, content: bytes) -> None:
    explorer.drop_made(name, f"new Uint8Array({list(content)})")


@pytest.mark.parametrize("name", GOOD)
def test_read_as_the_command_reads_it(explorer: Explorer, name: str, tmp_path: pathlib.Path) -> None:
    """The download is the table of the copied command, and the copied Python ends with the same means."""
    dropped(explorer, name, GOOD[name])
    explorer.run(
        """explorer.update((s) => { s.table.missing = 'elapse'; s.learners = [
        { learner: 'varsmile', values: { m: 0.1 } }, { learner: 'particle-filter', values: { p_c: 0.1, n: 5 } }]; }, true)"""
    )
    explorer.settle()
    assert explorer.message() == ""
    (tmp_path / name).write_bytes(GOOD[name])
    assert run_command(explorer.copied("copy-command"), tmp_path) == 0
    text = explorer.run("explorer.resultTable()")
    assert_same_table(text, (tmp_path / "surprise.csv").read_text())
    script = explorer.copied("copy-python")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = [float(line.split()[-2]) for line in done.stdout.splitlines()]
    shown = explorer.run(
        """explorer.view().whole.flatMap((one) => explorer.view().table.groups.map(
        (group) => one.columns.mean[group.rows[group.rows.length - 1] * one.size]))"""
    )
    assert said == pytest.approx(shown, rel=1e-12, abs=1e-12)
    assert explorer.browser.problems == []
    explorer.run("explorer.update((s) => { s.table = null; }, true)")


@pytest.mark.parametrize("name", BAD)
def test_refused_with_the_reason_of_the_command(explorer: Explorer, name: str, tmp_path: pathlib.Path) -> None:
    content, words = BAD[name]
    dropped(explorer, name, content)
    assert words in explorer.message().replace('"', "'")
    (tmp_path / name).write_bytes(content)
    program = [sys.executable, "-c", "from volatilis.cli import main; main()"]
    command = [*program, "run", name, "--family", "gaussian:sigma=1", "--learner", "varsmile:m=0.1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    explorer.run("explorer.update((s) => { s.table = null; }, true)")


def test_a_column_that_no_command_can_name_is_told(explorer: Explorer) -> None:
    dropped(explorer, "spaces.csv", b"subject, outcome\na,1.5\na,2\n")
    assert 'the column " outcome" has spaces around its name' in explorer.message()
    explorer.run("explorer.update((s) => { s.table = null; }, true)")
