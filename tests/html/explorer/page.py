"""The explorer in a browser: built once, opened once, shared by all its tests."""

from __future__ import annotations

import pathlib
import time
from typing import Any

from tests.helpers.browser import Browser


class Explorer:
    """The page, and what a person does with it."""

    def __init__(self, browser: Browser, page: pathlib.Path) -> None:
        self.browser, self.page = browser, page

    def open(self, width: int = 1280, height: int = 900, dark: bool = False, phone: bool = False) -> None:
        self.browser.look(width, height, dark, phone)
        self.browser.open(self.page)
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def run(self, script: str) -> Any:
        return self.browser.run(script)

    def wait(self, condition: str, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < deadline, f"never: {condition}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Until the page has drawn what was asked of it."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def preset(self, name: str) -> None:
        self.choose("#preset", name)

    def choose(self, selector: str, value: str) -> None:
        """Choose from a list."""
        self.run(
            f"""(() => {{ const one = document.querySelector('{selector}'); one.value = '{value}';
            one.dispatchEvent(new Event('change')); }})()"""
        )
        self.settle()

    def press(self, button: str) -> None:
        self.run(f"document.getElementById('{button}').click()")
        self.settle()

    def slide(self, label: str, value: float) -> None:
        """Write a number into the field beside a slider, as a person would."""
        self.run(
            f"""(() => {{ const rows = [...document.querySelectorAll('.slider')];
            const row = rows.find((one) => one.querySelector('label').textContent === {label!r});
            const field = row.querySelector('input[type=number]'); field.value = '{value}';
            field.dispatchEvent(new Event('change')); }})()"""
        )
        self.settle()

    def drop(self, name: str, text: str) -> None:
        """Drop a file onto the page."""
        self.drop_made(name, f"new Blob([{text!r}])" if text else "new Blob([])")

    def drop_made(self, name: str, blob: str) -> None:
        self.run(
            f"""(async () => {{ const data = new DataTransfer(); data.items.add(new File([{blob}], {name!r}));
            document.dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }})); }})()"""
        )
        self.run("new Promise((done) => setTimeout(done, 60))")
        self.settle()

    def message(self) -> str:
        return str(self.run("document.getElementById('message').hidden ? '' : document.getElementById('message').textContent"))

    def copied(self, button: str) -> str:
        self.press(button)
        return str(self.run("document.getElementById('copied-text').value"))
