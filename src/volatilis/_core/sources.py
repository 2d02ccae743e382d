"""The sources that make numbers, as a digest: stores of finished work are keyed on it, so that an edit makes numbers anew.

    digest("volatilis.experiments.sweep")    of that module and of every module of volatilis that it imports, directly or not

Modules that only move, keep or show numbers are left out: an edit of a progress bar costs nobody a day of simulations.
"""

from __future__ import annotations

import functools
import hashlib
import pathlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType

PACKAGE = pathlib.Path(__file__).parents[1]
NAME = PACKAGE.name
CORE = ("files", "jobs", "sources", "store", "terminal")
NO_NUMBERS = tuple(f"{NAME}.{room}" for room in (*(f"_core.{name}" for name in CORE), "cli", "html", "plots", "tables"))
IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+({NAME}[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+({NAME}[\w.]*))", re.MULTILINE
)
ALL = re.compile(r"^import_all\(", re.MULTILINE)  # of a package that imports all its modules
LIBRARIES = ("site-packages", "dist-packages")


@functools.cache
def digest(*modules: str) -> str:
    """16 hexadecimal digits for the sources of these modules and of all that they import from this package."""
    hashed = hashlib.sha256()
    for name in sorted(reached(*modules)):
        hashed.update(f"{name}\0".encode() + _path_of(name).read_bytes() + b"\0")
    return hashed.hexdigest()[:16]


def reached(*modules: str) -> set[str]:
    """The modules of this package that these import, themselves included, without those that make no numbers."""
    modules_reached: set[str] = set()
    waiting = [name for module in modules for name in _with_parents(module)]
    while waiting:
        name = waiting.pop()
        if name not in modules_reached and not any(f"{name}.".startswith(f"{room}.") for room in NO_NUMBERS):
            modules_reached.add(name)
            waiting += _imported(_path_of(name))
    return modules_reached


def _imported(path: pathlib.Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if ALL.search(text):
        yield from (_name_of(module) for module in path.parent.glob("*.py") if module != path)
    for source, names, module in IMPORT.findall(text):
        yield from _with_parents(source or module)
        for name in re.findall(r"\w+", names):
            if _path_of(f"{source}.{name}").is_file():  # a module of a package, not a name of a module
                yield f"{source}.{name}"


def _with_parents(module: str) -> list[str]:
    """Importing a module runs the packages that it is in, too."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _name_of(path: pathlib.Path) -> str:
    return ".".join([NAME, *path.relative_to(PACKAGE).with_suffix("").parts])


def _path_of(module: str) -> pathlib.Path:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


# --- what users wrote ----------------------------------------------------------------------------------------------------


def user_digest(*values: object) -> str:
    """The same for the classes of users among these values (learners, families and responses, at any depth)."""
    modules: dict[str, ModuleType] = {}
    for cls in sorted({cls for value in values for cls in _classes(value)}, key=repr):
        _collect(sys.modules.get(cls.__module__), modules)
    hashed = hashlib.sha256()
    for name, module in sorted(modules.items()):
        hashed.update(f"{name}\0".encode() + pathlib.Path(str(module.__file__)).read_bytes())
    return hashed.hexdigest()[:16] if modules else ""


def _classes(value: object) -> Iterator[type]:
    """The classes of the tuples in a value, and the classes in it."""
    if isinstance(value, type):
        yield value
    elif isinstance(value, dict):
        yield from _classes((*value.keys(), *value.values()))
    elif isinstance(value, tuple | list):
        yield type(value)
        for item in value:
            yield from _classes(item)


def _collect(module: ModuleType | None, modules: dict[str, ModuleType]) -> None:
    """A user's module, and those of the user's modules that its names come from."""
    if module is None or module.__name__ in modules or not _is_users(module):
        return
    modules[module.__name__] = module
    for value in list(vars(module).values()):
        _collect(value if isinstance(value, ModuleType) else sys.modules.get(_module_name(value)), modules)


def _module_name(value: object) -> str:
    name = getattr(value, "__module__", "")  # any Python object may stand in a user's module
    return name if isinstance(name, str) else ""


def _is_users(module: ModuleType) -> bool:
    """Neither ours nor a library's nor built in; its text is in a file."""
    path = module.__dict__.get("__file__")
    if not isinstance(path, str) or module.__name__.partition(".")[0] in (NAME, *sys.stdlib_module_names):
        return False
    return not any(library in path for library in LIBRARIES) and path.endswith(".py") and pathlib.Path(path).is_file()
