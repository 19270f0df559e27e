# SPDX-License-Identifier: Apache-2.0
"""Oblique constraints on the controls: friction, and contacts that aren't cut (specification 003, 2.13 and 2.17).

Each is a row that is affine in the controls u and in the momentum rate of the whole mechanism,

    alpha . (P' + m g Y) + beta . u + kappa . v' + constant >= 0,

with P' + m g Y the force that the ground exerts in all, and kappa only where a motor's rotor stands between a foot and
its leg. The contact at the root, which isn't cut, carries what the cut
forces leave of it, so that unilaterality and friction of every foot have this form: equations (II.39) to (II.41).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel


@dataclass(frozen=True)
class ControlRow:
    """One affine function of controls and total ground force; as a constraint it must not become negative.

    Attributes:
        name: for reports.
        ground: alpha, along X and Y.
        controls: (N,) beta.
        constant: [N].
        accelerations: (n,) kappa; empty for none [kg m].
    """

    name: str
    ground: tuple[float, float]
    controls: tuple[float, ...]
    constant: float = 0.0
    accelerations: tuple[float, ...] = ()

    @property
    def accelerated(self) -> bool:
        """Whether the row depends on accelerations, and so on the state."""
        return self.ground != (0.0, 0.0) or any(self.accelerations)

    def on_accelerations(self, n: int) -> tuple[float, ...]:
        """(n,) kappa."""
        return self.accelerations or (0.0,) * n

    def combined(self, name: str, factor: float, other: ControlRow, other_factor: float) -> ControlRow:
        """Factor * self + other_factor * other."""
        beta = factor * np.array(self.controls) + other_factor * np.array(other.controls)
        alpha = factor * np.array(self.ground) + other_factor * np.array(other.ground)
        n = max(len(self.accelerations), len(other.accelerations))
        kappa = [np.array(row.on_accelerations(n)) for row in (self, other)]
        return ControlRow(
            name,
            (float(alpha[0]), float(alpha[1])),
            tuple(float(value) for value in beta),
            factor * self.constant + other_factor * other.constant,
            _floats(factor * kappa[0] + other_factor * kappa[1]),
        )

    def above(self, least: float) -> ControlRow:
        """Return the row less ``least``: not negative where the function is at least that."""
        return dataclasses.replace(self, constant=self.constant - least)


@dataclass(frozen=True)
class FlatFoot:
    """A foot that stands flat and still, its ankle the root of the tree (section 2.13.4).

    Attributes:
        length: heel to toe, l [m].
        ankle_height: a [m].
        ankle_to_toe: along X, b [m].
        heel_to_centre: along X, c [m].
        mass: m_0 [kg].
        ankle_torque: control that turns the shank and leans on the foot, C_01.
        ankle_rotor: inertia of that motor's rotor as seen at the joint: what speeds it up doesn't reach the foot
            [kg m²].
    """

    length: float
    ankle_height: float
    ankle_to_toe: float
    heel_to_centre: float
    mass: float
    ankle_torque: str
    ankle_rotor: float = 0.0


@dataclass(frozen=True)
class FootForces:
    """The forces under one foot as rows: normal forces, each of one place, and the tangential one.

    Attributes:
        name: of the foot.
        normal: rows that are normal forces [N].
        tangential: row that is the force along X [N].
        places: of the normal forces: points of the model by name, or constant places along X [m].
    """

    name: str
    normal: tuple[ControlRow, ...]
    tangential: ControlRow
    places: tuple[str | float, ...]

    def total_normal(self) -> ControlRow:
        """Return the sum of the normal forces."""
        total = self.normal[0]
        for row in self.normal[1:]:
            total = total.combined(f"{self.name} normal", 1.0, row, 1.0)
        return total

    def unilateral(self, least: float = 0.0) -> tuple[ControlRow, ...]:
        """Return rows of normal forces that are at least ``least`` [N].

        Raises:
            InputError: the force isn't finite.
        """
        if not math.isfinite(least):
            raise InputError(f"is {least} N", element=f"{self.name}: least force", remedy="Give a finite force")
        return tuple(row.above(least) for row in self.normal)

    def friction(self, coefficient: float) -> tuple[ControlRow, ControlRow]:
        """Return rows of |tangential| <= coefficient * sum of normal forces, equation (II.35).

        Raises:
            InputError: a coefficient that isn't positive and finite.
        """
        if not (math.isfinite(coefficient) and coefficient > 0.0):
            raise InputError(f"is {coefficient}", element=f"{self.name}.friction", remedy="Give a number above 0")
        total = self.total_normal()
        return (
            total.combined(f"{self.name} friction forward", coefficient, self.tangential, -1.0),
            total.combined(f"{self.name} friction backward", coefficient, self.tangential, 1.0),
        )


def cut_foot(model: PhaseModel, contact: str) -> FootForces:
    """Return forces of a cut contact: the controls themselves.

    Raises:
        InputError: the model has no such contact.
    """
    known = {item.name: item for item in model.contacts}
    if contact not in known:
        raise InputError(f"unknown contact '{contact}'", element=model.name, remedy=f"Use one of {', '.join(known)}")
    item = known[contact]
    normal = tuple(_selected(model, name) for name in item.normal)
    points = {force.name: force.point for force in model.cut_forces}
    return FootForces(contact, normal, _selected(model, item.tangential), tuple(points[name] for name in item.normal))


def root_point(model: PhaseModel, name: str = "root") -> FootForces:
    """Return forces of a point contact at the root: what the cut forces leave of the total, (III.17) and (III.23)."""
    along, up = _rest(model)
    normal = ControlRow(f"{name} normal", (0.0, 1.0), up)
    return FootForces(name, (normal,), ControlRow(f"{name} tangential", (1.0, 0.0), along), (_root(model),))


def root_foot(model: PhaseModel, foot: FlatFoot, name: str = "root") -> FootForces:
    """Return forces at heel and toe of a flat foot whose ankle is the root, equation (III.22).

    The force of the foot on the shank is R = P' + m g Y less the cut forces; the moments about the heel give

        l N_toe = C_01 - I_r q_shank'' + (l - b) R_y - a R_x + c m_0 g,     N_heel = m_0 g + R_y - N_toe.

    Raises:
        InputError: a length that isn't positive, or no such torque.
    """
    if not (math.isfinite(foot.length) and foot.length > 0.0):
        raise InputError(f"is {foot.length}", element=f"{name}.length", remedy="Give a length above 0")
    torque = np.array(_selected(model, foot.ankle_torque).controls)
    shank = model.torque_matrix[:, model.control_names.index(foot.ankle_torque)]
    along, up = (np.array(row) for row in _rest(model))
    weight = foot.mass * model.tree.gravity
    length, a = foot.length, foot.ankle_height
    behind = length - foot.ankle_to_toe
    toe = ControlRow(
        f"{name} toe",
        (-a / length, behind / length),
        _floats((torque + behind * up - a * along) / length),
        foot.heel_to_centre * weight / length,
        _floats(-foot.ankle_rotor / length * shank) if foot.ankle_rotor else (),
    )
    whole = ControlRow(f"{name} normal", (0.0, 1.0), _floats(up), weight)
    heel = whole.combined(f"{name} heel", 1.0, toe, -1.0)
    front = _root(model) + foot.ankle_to_toe
    return FootForces(
        name, (heel, toe), ControlRow(f"{name} tangential", (1.0, 0.0), _floats(along)), (front - length, front)
    )


def evaluate_rows(model: PhaseModel, rows: tuple[ControlRow, ...], q: Reals, v: Reals, u: Reals) -> Reals:
    """(K, rows) values of rows along samples q (K, n), v (K, n), u (K, N)."""
    if not rows:
        return np.zeros((len(q), 0))
    tree = model.tree
    acceleration = model.acceleration(q, v, u)
    centre = (tree.centre.jacobian(q) @ acceleration[..., None])[..., 0] + tree.centre.bias(q, v)
    ground = tree.mass * (centre + np.array([0.0, tree.gravity]))
    alpha = np.array([row.ground for row in rows])
    beta = np.array([row.controls for row in rows])
    kappa = np.array([row.on_accelerations(model.n) for row in rows])
    constant = np.array([row.constant for row in rows])
    return np.asarray(ground @ alpha.T + u @ beta.T + acceleration @ kappa.T + constant)


def _selected(model: PhaseModel, control: str) -> ControlRow:
    if control not in model.control_names:
        raise InputError(
            f"unknown control '{control}'", element=model.name, remedy=f"Use one of {', '.join(model.control_names)}"
        )
    beta = [0.0] * model.control_count
    beta[model.control_names.index(control)] = 1.0
    return ControlRow(control, (0.0, 0.0), tuple(beta))


def _root(model: PhaseModel) -> float:
    """Return the place of the root's axis along X [m]."""
    return float(next(complex(body.origin).real for body in model.tree.bodies if body.parent is None))


def _rest(model: PhaseModel) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the beta of -(sum of the cut forces) along X and along Y."""
    along, up = np.zeros(model.control_count), np.zeros(model.control_count)
    for column, force in enumerate(model.cut_forces, start=model.torque_count):
        along[column] -= complex(force.direction).real
        up[column] -= complex(force.direction).imag
    return _floats(along), _floats(up)


def _floats(values: Reals) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
