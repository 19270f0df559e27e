# SPDX-License-Identifier: Apache-2.0
"""Names of the functions of a dynamic model, and the short ones that people type."""

from __future__ import annotations

from collections.abc import Iterable

from humanoid_model import InputError

#: Other names of each function, the acronyms of the field among them.
FUNCTION_ALIASES: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("idm", "rnea"),
    "direct_dynamics": ("ddm", "forward_dynamics", "aba"),
    "mass_matrix": ("mass", "crba"),
    "bias": ("nonlinear_effects", "nle"),
    "gravity": (),
    "kinematics": ("fk",),
    "jacobians": ("jacobian",),
    "energies": ("energy",),
    "regressor": (),
    "inverse_dynamics_derivatives": ("idm_derivatives",),
    "direct_dynamics_derivatives": ("ddm_derivatives",),
    "loop_closure": ("loops",),
    "constrained_dynamics": (),
}

_FULL_NAMES = {alias: name for name, aliases in FUNCTION_ALIASES.items() for alias in (name, *aliases)}


def function_names(names: Iterable[str]) -> tuple[str, ...]:
    """Full names of functions, each once, in the order given.

    Args:
        names: full names or aliases, in any case, with hyphens or underscores.

    Raises:
        InputError: there is no such function.
    """
    found: dict[str, None] = {}
    for name in names:
        full = _FULL_NAMES.get(name.strip().lower().replace("-", "_"))
        if full is None:
            raise InputError(
                f"unknown function '{name}'", element="functions", remedy=f"Choose from {', '.join(FUNCTION_ALIASES)}"
            )
        found[full] = None
    return tuple(found)
