"""Python files of the user's own, with families, learners and response models: run, checked, remembered for other processes."""

from __future__ import annotations

import importlib.util
import inspect
import pathlib
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from volatilis.catalogue import FAMILIES, LEARNERS
from volatilis.families._kinds import RECORDS as FAMILY_CLASSES
from volatilis.learners._kinds import RECORDS as LEARNER_CLASSES

LOADED = "volatilis_own_"  # how modules that were read from a file are called
_texts: dict[str, str] = {}  # what stood in the files that were read, by their paths
_owners: dict[tuple[str, str], str] = {}  # which file a kind's name is from


class Kind(NamedTuple):
    """What a class of the user's own may be, in words; its name there, None where it is no such thing; and all that are known."""

    word: str
    name_of: Callable[[type], str | None]
    known: Mapping[str, type]


KINDS = (
    Kind("family", lambda cls: FAMILY_CLASSES[cls].name if cls in FAMILY_CLASSES else None, FAMILIES),
    Kind("learner", lambda cls: LEARNER_CLASSES[cls].name if cls in LEARNER_CLASSES else None, LEARNERS),
)


def load_own(paths: Iterable[str], kinds: Sequence[Kind] = KINDS) -> None:
    """Run Python files. Their families and learners are then known by the names of their classes in small letters (NearTheEdge:
    near-the-edge) or of their records. A file with nothing of these kinds is an error; one that was read is not run again unless
    it has changed.
    """
    for path in paths:
        where = pathlib.Path(path).resolve()
        if not where.exists():
            raise ValueError(f"{path} is not a Python file: there is no such file")
        if where.suffix != ".py" or not where.is_file():
            raise ValueError(f"{path} is not a Python file, from which classes of your own are read")
        text = where.read_text(encoding="utf-8")
        if _texts.get(str(where)) != text:
            _check_own(path, str(where), _run_own(path, where), kinds)
            _texts[str(where)] = text


def own_files() -> Mapping[str, str]:
    """What stood in the files of the user's own that were read, by their paths: other processes must read them too."""
    return _texts


def _run_own(path: str, where: pathlib.Path) -> list[type]:
    """The classes that a file defines."""
    name = f"{LOADED}{re.sub(r'[^A-Za-z0-9_]', '_', where.stem)}"
    specification = importlib.util.spec_from_file_location(name, where)
    if specification is None or specification.loader is None:
        raise ValueError(f"{path} cannot be read as Python")
    sys.modules[name] = module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the user's code does wrong
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(where)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        place = path if line is None else f"{path}, line {line}"
        raise ValueError(f"{place}: {type(error).__name__}: {error}") from error
    return [cls for _, cls in inspect.getmembers(module, inspect.isclass) if cls.__module__ == name]


def _check_own(path: str, where: str, classes: Sequence[type], kinds: Sequence[Kind]) -> None:
    """A file gives something, and no name that is taken: hyphens do not make another one, since nobody needs to write them."""
    recognised = [(kind, cls, name) for kind in kinds for cls in classes if (name := kind.name_of(cls)) is not None]
    if not recognised:
        words = " and no ".join(kind.word for kind in kinds)
        raise ValueError(f"{path} has no {words}: a class with a decorator of volatilis.own above it")
    for kind, cls, name in recognised:
        plain = name.replace("-", "")
        taken = [other for other, its in kind.known.items() if other.replace("-", "") == plain and its is not cls]
        if taken or kind.known[name] is not cls or _owners.setdefault((kind.word, plain), where) != where:
            raise ValueError(f"{path}: there is a {kind.word} {(taken or [name])[0]!r} already; give {cls.__name__} another name")
