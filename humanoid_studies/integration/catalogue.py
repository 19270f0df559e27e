# SPDX-License-Identifier: Apache-2.0
"""All integrators by name."""

from __future__ import annotations

from collections.abc import Callable

from humanoid_model.errors import InputError
from humanoid_studies.baselines.impulse_method import ImpulseMethod
from humanoid_studies.baselines.penalty import Penalty
from humanoid_studies.integration.anitescu_hart import AnitescuHart
from humanoid_studies.integration.anitescu_potra_1997 import AnitescuPotra1997
from humanoid_studies.integration.anitescu_potra_2002 import AnitescuPotra2002
from humanoid_studies.integration.event_driven import EventDriven
from humanoid_studies.integration.explicit_euler import ExplicitEuler
from humanoid_studies.integration.extrapolated import Extrapolated
from humanoid_studies.integration.foerg import Foerg
from humanoid_studies.integration.gavrea import Gavrea
from humanoid_studies.integration.integrator import Integrator
from humanoid_studies.integration.jean import Jean
from humanoid_studies.integration.moreau import Moreau
from humanoid_studies.integration.potra_trapezoid import PotraTrapezoid
from humanoid_studies.integration.runge_kutta import RungeKutta2, RungeKutta4
from humanoid_studies.integration.stewart_trinkle import StewartTrinkle
from humanoid_studies.integration.studer import StuderGgl, StuderPreconditioned
from humanoid_studies.integration.theta_method import ImplicitEuler, ThetaMethod
from humanoid_studies.integration.verlet import Verlet

INTEGRATORS: dict[str, Callable[..., Integrator]] = {
    "explicit_euler": ExplicitEuler,
    "verlet": Verlet,
    "rk2": RungeKutta2,
    "rk4": RungeKutta4,
    "implicit_euler": ImplicitEuler,
    "theta": ThetaMethod,
    "moreau": Moreau,
    "jean": Jean,
    "foerg": Foerg,
    "stewart_trinkle": StewartTrinkle,
    "anitescu_potra_1997": AnitescuPotra1997,
    "anitescu_potra_2002": AnitescuPotra2002,
    "anitescu_hart": AnitescuHart,
    "potra_trapezoid": PotraTrapezoid,
    "gavrea": Gavrea,
    "studer_ggl": StuderGgl,
    "studer_preconditioned": StuderPreconditioned,
    "event_driven": EventDriven,
    "extrapolated": Extrapolated,
    "penalty": Penalty,
    "impulse": ImpulseMethod,
}
"""Integrators by name; one of one's own is added here."""


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
    try:
        return INTEGRATORS[name](**options)
    except TypeError as error:
        raise InputError(
            f"the integrator '{name}' can't be made with {options}: {error}",
            element="integrator",
            remedy="Give the options that its class takes",
        ) from error
