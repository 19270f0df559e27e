# SPDX-License-Identifier: Apache-2.0
"""All integrators by name."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from humanoid_studies.integration.integrator import Integrator

INTEGRATORS = {
    "explicit_euler": "humanoid_studies.integration.explicit_euler:ExplicitEuler",
    "verlet": "humanoid_studies.integration.verlet:Verlet",
    "rk2": "humanoid_studies.integration.runge_kutta:RungeKutta2",
    "rk4": "humanoid_studies.integration.runge_kutta:RungeKutta4",
    "implicit_euler": "humanoid_studies.integration.theta_method:ImplicitEuler",
    "theta": "humanoid_studies.integration.theta_method:ThetaMethod",
    "moreau": "humanoid_studies.integration.moreau:Moreau",
    "jean": "humanoid_studies.integration.jean:Jean",
    "foerg": "humanoid_studies.integration.foerg:Foerg",
    "stewart_trinkle": "humanoid_studies.integration.stewart_trinkle:StewartTrinkle",
    "anitescu_potra_1997": "humanoid_studies.integration.anitescu_potra_1997:AnitescuPotra1997",
    "anitescu_potra_2002": "humanoid_studies.integration.anitescu_potra_2002:AnitescuPotra2002",
    "anitescu_hart": "humanoid_studies.integration.anitescu_hart:AnitescuHart",
    "potra_trapezoid": "humanoid_studies.integration.potra_trapezoid:PotraTrapezoid",
    "gavrea": "humanoid_studies.integration.gavrea:Gavrea",
    "studer_ggl": "humanoid_studies.integration.studer:StuderGgl",
    "studer_preconditioned": "humanoid_studies.integration.studer:StuderPreconditioned",
    "event_driven": "humanoid_studies.integration.event_driven:EventDriven",
    "extrapolated": "humanoid_studies.integration.extrapolated:Extrapolated",
    "penalty": "humanoid_studies.baselines.penalty:Penalty",
    "impulse": "humanoid_studies.baselines.impulse_method:ImpulseMethod",
}
"""Integrators by name, each with the module and the class; they are loaded when they are asked for."""


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
