"""The file that `watch --alarms` uses: a calibrated rule with its learner."""

from __future__ import annotations

import json
import os
import pathlib
from typing import NamedTuple

from volatilis._core.files import whole_file
from volatilis.changepoints.alarms import AlarmRule
from volatilis.learners._base import Learner
from volatilis.running.arguments import checked_learner
from volatilis.running.state_files import StateFileError, from_data, to_data

FORMAT, VERSION = "volatilis-alarms", 1


class AlarmFile(NamedTuple):
    """A calibrated rule with its learner, and in words what was promised."""

    learner: Learner
    rule: AlarmRule
    false_alarms: float
    sentence: str


def save_alarms(path: str | os.PathLike[str], content: AlarmFile) -> None:
    """Whole or not at all, as JSON."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "learner": to_data(content.learner),
        "rule": content.rule.to_data(),
        "false_alarms": content.false_alarms,
        "sentence": content.sentence,
    }
    with whole_file(path) as file:
        file.write(json.dumps(data, indent=1).encode() + b"\n")


def load_alarms(path: str | os.PathLike[str]) -> AlarmFile:
    """What `volatilis calibrate --out` wrote. Raises StateFileError where the file is something else."""
    if os.path.isdir(path):
        raise StateFileError(f"{path} is a folder; a file is accepted, as volatilis calibrate --out writes it")
    try:
        data = json.loads(pathlib.Path(path).read_bytes())
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise StateFileError(f"{path} is not a file of alarms, as volatilis calibrate --out writes it")
        if data["version"] != VERSION:
            raise StateFileError(f"{path} has version {data['version']!r}; this release reads version {VERSION}")
        learner, rule = checked_learner(from_data(data["learner"])), AlarmRule(**data["rule"])
        return AlarmFile(learner, rule, float(data["false_alarms"]), str(data["sentence"]))
    except StateFileError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StateFileError(f"{path} does not hold an alarm rule: {error}") from None
