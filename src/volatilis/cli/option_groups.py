"""Options that several commands share, each group written once as a NamedTuple: a command takes the group as one argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The fields of a parameter whose type is a NamedTuple become options of the command, in the place of the parameter."""
    parameters: dict[str, inspect.Parameter] = {}
    groups: dict[str, type] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        group = parameter.annotation
        if not _is_group(group):
            parameters[name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        groups[name] = group
        for field, hint in get_type_hints(group, include_extras=True).items():
            default = group._field_defaults[field]
            parameters[field] = inspect.Parameter(field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)

    @functools.wraps(command)
    def taking_options(**given: Any) -> None:
        made = {name: group(**{field: given.pop(field) for field in group._fields}) for name, group in groups.items()}  # type: ignore[attr-defined]
        command(**given, **made)

    # functools.wraps points back at the command, whose parameters are not those of the options
    del taking_options.__wrapped__
    taking_options.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    taking_options.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return taking_options


def _is_group(annotation: object) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, tuple)
