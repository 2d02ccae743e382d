"""Chromium without a window, driven over a pipe: opens pages, runs scripts in them, presses keys, notes errors and requests."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run")
ON_PIPE = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
LIMIT = 60.0  # seconds for any one answer


class Browser:
    """`with Browser(folder) as browser: browser.open(page)`; `problems`: errors and warnings; `requests`: what was asked for."""

    def __init__(self, profile: pathlib.Path) -> None:
        self._profile, self._count, self._buffer = profile, 0, b""
        self.problems: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> Browser:
        (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (their_in, their_out)]  # above 3 and 4, where they go
        command = [sys.executable, "-c", ON_PIPE, *map(str, theirs), str(BROWSER), *OPTIONS, f"--user-data-dir={self._profile}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([*command, "about:blank"], pass_fds=theirs, **quiet)
        for fd in (their_in, their_out, *theirs):
            os.close(fd)
        self._out, self._in, self._session = our_out, our_in, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._wait(lambda got: got.get("id") == self._count)
        assert "error" not in answer, answer
        return dict(answer["result"])

    def look(self, width: int, height: int, dark: bool = False, phone: bool = False) -> None:
        """The window's size, and whether the page is asked to be dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def open(self, page: pathlib.Path, fragment: str = "") -> None:
        self.call("Page.navigate", url="about:blank")
        self.problems.clear()
        self.requests.clear()
        self.call("Page.navigate", url=page.as_uri() + fragment)
        deadline = time.monotonic() + LIMIT
        while self.run("document.readyState") != "complete" or self.run("location.href") == "about:blank":
            assert time.monotonic() < deadline, "the page was not loaded"
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=key if len(key) == 1 else "")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def picture(self, path: pathlib.Path, whole: bool = False) -> None:
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def _wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + LIMIT
        while True:
            while b"\0" in self._buffer:
                line, self._buffer = self._buffer.split(b"\0", 1)
                got = json.loads(line)
                if wanted(got):
                    return dict(got)
                self._note(got)
            left = deadline - time.monotonic()
            assert left > 0, "the browser did not answer"
            assert select.select([self._in], [], [], left)[0], "the browser did not answer"
            self._buffer += os.read(self._in, 1 << 20)

    def _note(self, got: dict[str, Any]) -> None:
        parameters = got.get("params", {})
        if got.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif got.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"])
        elif got.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(str(parameters["args"]))
        elif got.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
