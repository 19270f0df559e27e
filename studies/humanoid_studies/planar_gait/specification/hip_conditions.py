# SPDX-License-Identifier: Apache-2.0
"""Ends that are specified in part: conditions psi on hip and feet alone (specification 003 section 2.14.6, II.3).

Each returns a function of a model's casadi expressions, angles and rates: a column that has to vanish. What the
conditions leave open is chosen by the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import casadi

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase

Conditions = Callable[[CasadiPhase, casadi.SX, casadi.SX], casadi.SX]


def hip_height_and_speed(height: float, speed: float, hip: str = "hip") -> Conditions:
    """Height and forward speed of the hip: all that the thesis would prescribe at a transition (II.3).

    Args:
        height: above the ground [m].
        speed: along X [m/s].
        hip: name of the point.

    Raises:
        InputError: a value isn't finite.
    """
    for name, value in (("height", height), ("speed", speed)):
        if not math.isfinite(value):
            raise InputError(f"is {value}", element=f"hip.{name}", remedy="Give a finite value")

    def psi(phase: CasadiPhase, q: casadi.SX, v: casadi.SX) -> casadi.SX:
        J = phase.tree.jacobian(phase.model.points[hip], q)
        return casadi.vertcat(phase.point(hip, q)[1] - height, casadi.mtimes(J[0, :], v) - speed)

    return psi


def closed_and_still() -> Conditions:
    """Return the point closures hold, and so do their rates: g(q) = 0, G_r v = 0."""

    def psi(phase: CasadiPhase, q: casadi.SX, v: casadi.SX) -> casadi.SX:
        gap = phase.closure(q)
        return casadi.vertcat(gap, casadi.mtimes(casadi.jacobian(gap, q), v))

    return psi


def all_of(conditions: Sequence[Conditions]) -> Conditions:
    """Several conditions together."""

    def psi(phase: CasadiPhase, q: casadi.SX, v: casadi.SX) -> casadi.SX:
        return casadi.vertcat(*(condition(phase, q, v) for condition in conditions))

    return psi
