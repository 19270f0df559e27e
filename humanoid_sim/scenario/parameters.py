# SPDX-License-Identifier: Apache-2.0
"""Parameters of a scenario, set from the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import yaml

from humanoid_model.errors import InputError

_KINDS = (bool, int, float, str, list, tuple)


def parameters_of(scenario: object) -> dict[str, object]:
    """Return attributes of a scenario's class that ``--set`` may change, with their values."""
    found: dict[str, object] = {}
    for kind in reversed(type(scenario).__mro__[:-1]):
        for name, value in vars(kind).items():
            if not name.startswith("_") and (value is None or isinstance(value, _KINDS)):
                found[name] = getattr(scenario, name)
    return found


def set_parameters(scenario: object, assignments: Iterable[str], source: Path | None = None) -> None:
    """Change parameters of a scenario.

    Args:
        scenario: the scenario.
        assignments: ``name=value`` each, the value as YAML writes it (``80``, ``true``, ``[0, 0, 1]``).
        source: file of the scenario, for error messages.

    Raises:
        InputError: no ``=``, an unknown parameter, or a value of another type than the default's.
    """
    known = parameters_of(scenario)
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator:
            raise InputError(f"'{assignment}' sets nothing", element="--set", remedy="Write name=value")
        if name not in known:
            raise InputError(
                f"the scenario has no parameter '{name}'",
                source=source,
                element="--set",
                remedy=f"It has {', '.join(sorted(known))}",
            )
        setattr(scenario, name, _converted(name, text, known[name], source))


def _converted(name: str, text: str, default: object, source: Path | None) -> object:
    """Return a text as a value of the default's type."""
    if isinstance(default, str):
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = float(value)  # YAML takes 1e-3 for a word
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(default, (list, tuple)) and isinstance(value, list):
        return type(default)(value)
    if default is None or type(value) is type(default):
        return value
    raise InputError(
        f"'{name}' is {text!r}",
        source=source,
        element="--set",
        remedy=f"Give a value like the default, {default!r} ({type(default).__name__})",
    )
