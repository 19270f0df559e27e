# SPDX-License-Identifier: Apache-2.0
"""Other schemes than the simulator's own step, by name: whoever has one registers it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from humanoid_model.errors import InputError
from humanoid_model.extensions import load_extensions, others


class Scheme(Protocol):
    """A scheme that a simulation can take instead of its own step, see :mod:`humanoid_sim.stepping.choice`.

    Attributes:
        solves_contacts: whether it poses contact problems, so that the contact solver matters.
    """

    solves_contacts: bool


_SCHEMES: dict[str, Callable[[], Scheme]] = {}


def register_scheme(name: str, make: Callable[[], Scheme]) -> None:
    """Make a scheme known by a name, for ``Simulation(integrator=...)``.

    Args:
        name: the name.
        make: makes it, and imports what it needs only then.

    Raises:
        InputError: the name is taken.
    """
    if name in _SCHEMES:
        raise InputError(f"there is an integrator '{name}' already", element="name", remedy="Choose another name")
    _SCHEMES[name] = make


def scheme_names() -> list[str]:
    """All names that are registered, those of other installed packages too."""
    load_extensions("integrators")
    return sorted(_SCHEMES)


def find_scheme(name: str) -> Scheme:
    """Make a scheme by its name.

    Raises:
        InputError: none of that name is registered.
    """
    if name not in _SCHEMES and name not in scheme_names():
        raise InputError(
            f"there is no integrator '{name}'",
            element="integrator",
            remedy=f"Choose one of {', '.join(scheme_names()) or 'none'}{others('integrators')}",
        )
    return _SCHEMES[name]()
