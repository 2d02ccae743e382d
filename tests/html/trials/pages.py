"""Tables to report on, and what a report holds: its elements and its numbers, taken out with the standard library alone."""

from __future__ import annotations

import base64
import json
import pathlib
from html.parser import HTMLParser
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from volatilis.catalogue import parse_family, parse_learners
from volatilis.html.trials import Collector, page
from volatilis.trials import Result, RunRequest, compute

GAUSSIAN, MERGE, VARSMILE, LEAKY = "gaussian:sigma=1,sigma_0=4", "merge:n=5,p_c=0.1", "varsmile:m=0.1", "leaky:omega=0.9"


class Report(NamedTuple):
    """A page, its data, the same run in memory, and the collector."""

    html: str
    data: dict[str, Any]
    result: Result
    collector: Collector


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.tags[-1][1].get("id") or self.tags[-1][0] if self.tags else "", data))


def elements(html: str) -> _Elements:
    parser = _Elements()
    parser.feed(html)
    parser.close()
    return parser


def data_of(html: str) -> dict[str, Any]:
    """The page's numbers, as a browser would find them."""
    found = [text for name, text in elements(html).texts if name == "data"]
    return dict(json.loads("".join(found)))


def decoded(array: dict[str, Any]) -> np.ndarray:
    if "count" in array:
        return array["first"] + np.arange(array["count"], dtype=float)
    return np.frombuffer(base64.b64decode(array["data"]), dtype="<" + array["type"]).astype(float)


def trials(groups: int = 3, length: int = 40, seed: int = 0) -> pd.DataFrame:
    """Levels that change now and then, in blocks, with a few gaps and people's predictions."""
    rng, frames = np.random.default_rng(seed), []
    for subject in range(groups):
        level = np.repeat(rng.normal(0, 8, size=length // 10 + 1), 10)[:length]
        outcome = level + rng.normal(size=length)
        outcome[rng.random(length) < 0.08] = np.nan
        start = (np.arange(length) % 20 == 0).astype(int)
        own = {"subject": f"s{subject}", "trial": np.arange(length) + 1, "start": start, "outcome": outcome}
        frames.append(pd.DataFrame({**own, "prediction": level + rng.normal(size=length)}))
    return pd.concat(frames, ignore_index=True)


def order(folder: pathlib.Path, frame: pd.DataFrame, family: str, learners: list[str], **more: Any) -> RunRequest:
    path = folder / "trials.csv"
    frame.to_csv(path, index=False)
    return RunRequest(path, parse_family(family), tuple(parse_learners(learners)), missing="elapse", **more)


def report(asked: RunRequest, groups: int = 500, prediction: tuple[str, ...] | None = None) -> Report:
    collector = Collector(groups, prediction)
    result = compute(asked, watchers=[collector])
    html = page(collector)
    return Report(html, data_of(html), result, collector)
