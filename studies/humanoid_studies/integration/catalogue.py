# SPDX-License-Identifier: Apache-2.0
"""Integrators made by their names."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from humanoid_model.errors import InputError
from humanoid_studies.registration import INTEGRATORS

if TYPE_CHECKING:
    from humanoid_studies.integration.integrator import Integrator

def find_integrator(name: str, **options: object) -> Integrator:
    """Make an integrator by name.

    Args:
        name: one of :data:`INTEGRATORS`.
        options: what its class takes, for example ``theta=0.75``.

    Raises:
        InputError: there is none of that name, it has no such option, or an option is out of range.
    """
    if name not in INTEGRATORS:
        raise InputError(
            f"there is no integrator '{name}'",
            element="integrator",
            remedy=f"Choose one of {', '.join(sorted(INTEGRATORS))}",
        )
    chosen: Callable[..., Integrator] = resolve_name(INTEGRATORS[name])
    try:
        return chosen(**options)
    except TypeError as error:
        raise InputError(
            f"the integrator '{name}' can't be made with {options}: {error}",
            element="integrator",
            remedy="Give the options that its class takes",
        ) from error
