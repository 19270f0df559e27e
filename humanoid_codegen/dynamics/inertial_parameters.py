# SPDX-License-Identifier: Apache-2.0
r"""Inertial parameters as unknowns or arguments: :math:`\tau = Y(q, v, a)\, \pi`, and as few as determine every effort.

The regressor Y is that of C.G. Atkeson, C.H. An, J.M. Hollerbach, Estimation of inertial parameters of manipulator
loads and links, 1986. Its columns are Pinocchio's: m, m c, and the inertia tensor about the link frame's origin (xx,
xy, yy, xz, yz, zz), in the link frame.

Parameters that a joint can't tell from its parent's are moved to the parent: W. Khalil, F. Bennis, Symbolic
calculation of the base inertial parameters of closed-loop robots, 1995. In second moments the rule for a revolute joint
is short: a mass distribution along the axis moves alike with both bodies, so mass, first moment and second moment along
the axis go to the parent. Of a prismatic joint all second moments go, of a ball joint the mass. Masses are moved, none
is dropped: the efforts, the mass matrix and the total energies stay exactly what they were.

The base set is found by numbers: M. Gautier, Numerical calculation of the base inertial parameters of robots, 1991: a
rank-revealing factorisation of the regressor at random states tells which columns are independent and how the others
combine from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from humanoid_codegen.dynamics.joint_transform import joint_transform
from humanoid_codegen.dynamics.mechanism import Body, BodyInertia, JointKind, LinkFrame, Mechanism
from humanoid_codegen.dynamics.newton_euler_body import (
    BodyMotion,
    add_child_wrench,
    body_motions,
    inertial_wrench,
    joint_efforts,
)
from humanoid_codegen.dynamics.vector import ZERO, Scalar, Vector, add, apply, cross, transpose

#: Parameters of one link, in order.
PARAMETER_NAMES = ("m", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")


def regressor(
    mechanism: Mechanism, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[list[Scalar]]:
    """Return the regressor of the links' inertial parameters. Rotor inertias (armature) are not among them.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m], nq of them.
        v: velocities [rad/s, m/s], nv of them.
        a: accelerations [rad/s^2, m/s^2], nv of them.

    Returns:
        nv rows of 10 entries per link with inertia, links in the URDF's order.
    """
    transforms = [joint_transform(body, q) for body in mechanism.bodies]
    motions = body_motions(mechanism, transforms, v, a)
    columns: list[list[Scalar]] = []
    for link in mechanism.links:
        if link.inertia is None:
            continue
        for wrench in _unit_wrenches(link, motions[link.body]) if link.body >= 0 else [(ZERO, ZERO)] * 10:
            column: list[Scalar] = [0.0] * mechanism.nv
            i = link.body
            while i >= 0:
                body = mechanism.bodies[i]
                for k, effort in enumerate(joint_efforts(body, *wrench)):
                    column[body.first_v + k] = column[body.first_v + k] + body.factor * effort
                wrench = add_child_wrench((ZERO, ZERO), wrench, transforms[i])
                i = body.parent
            columns.append(column)
    return [[column[row] for column in columns] for row in range(mechanism.nv)]


def link_parameters(inertia: BodyInertia) -> tuple[Scalar, ...]:
    """Return the ten parameters of a link in its own frame, in the regressor's order."""
    xx, xy, xz, yy, yz, zz = inertia.tensor
    return (inertia.mass, *inertia.first, xx, xy, yy, xz, yz, zz)


def _unit_wrenches(link: LinkFrame, motion: BodyMotion) -> list[tuple[Vector, Vector]]:
    """Force and moment about the body's origin, in its axes, that each parameter of a link takes when it is 1."""
    R, p = link.rotation, link.position
    to_link = transpose(R)
    acceleration = apply(to_link, add(motion.acceleration, apply(motion.spread, p)))
    local = BodyMotion(apply(to_link, motion.rate), apply(to_link, motion.rate_change), acceleration)
    wrenches = []
    for index in range(10):
        unit = [0.0] * 10
        unit[index] = 1.0
        inertia = BodyInertia.from_parameters(tuple(unit))
        force, moment = inertial_wrench(inertia, local)
        force, moment = apply(R, force), apply(R, moment)
        wrenches.append((force, add(moment, cross(p, force))))
    return wrenches


def group_inertias(mechanism: Mechanism) -> Mechanism:
    """Return the same mechanism with every inertial parameter at the body nearest the root that it can belong to."""
    bodies = list(mechanism.bodies)
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        if body.parent < 0:
            continue
        moved = _shared_with_parent(body)
        if moved.is_zero:
            continue
        parent = bodies[body.parent]
        # Where the joint stands makes no difference, so the joint frame at rest will do.
        arrived = moved.expressed(body.rotation, body.position)
        bodies[body.parent] = replace(parent, inertia=parent.inertia.plus(arrived))
        bodies[i] = replace(body, inertia=_without(body.inertia, moved))
    return replace(mechanism, bodies=tuple(bodies))


def _shared_with_parent(body: Body) -> BodyInertia:
    """Return the part of a body's inertia that acts the same when it is the parent's."""
    inertia = body.inertia
    second: list[Scalar] = [0.0] * 6
    if body.kind is JointKind.REVOLUTE:
        first: list[Scalar] = [0.0] * 3
        first[body.axis] = inertia.first[body.axis]
        diagonal = (0, 3, 5)[body.axis]
        second[diagonal] = inertia.second[diagonal]
        return BodyInertia(inertia.mass, tuple(first), tuple(second))
    if body.kind is JointKind.PRISMATIC:
        # Only while the body has neither mass nor first moment do its second moments not depend on the position; the
        # rest of a sliding body's inertia stays, and the moments about its own origin are what is left over.
        return BodyInertia(0.0, (0.0, 0.0, 0.0), inertia.second)
    if body.kind is JointKind.SPHERICAL:
        return BodyInertia(inertia.mass, (0.0, 0.0, 0.0), tuple(second))
    if body.kind is JointKind.PLANAR:
        second[5] = inertia.second[5]
        return BodyInertia(0.0, (0.0, 0.0, 0.0), tuple(second))
    return BodyInertia.zero()


def _without(inertia: BodyInertia, moved: BodyInertia) -> BodyInertia:
    """Return what is left of an inertia."""
    return BodyInertia(
        _left(inertia.mass, moved.mass),
        tuple(_left(a, b) for a, b in zip(inertia.first, moved.first, strict=True)),
        tuple(_left(a, b) for a, b in zip(inertia.second, moved.second, strict=True)),
    )


def _left(a: Scalar, b: Scalar) -> Scalar:
    # Exactly zero where all of it has moved; elsewhere nothing has.
    return 0.0 if a is b or (isinstance(a, float) and a == b) else a


#: A column is dependent when less than this part of it is new.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class BaseSet:
    """Independent parameters and how the others add to them.

    Attributes:
        columns: indices of the independent parameters among all, P of them.
        combination: matrix that takes all parameters to the base ones, shape (P, all).
    """

    columns: tuple[int, ...]
    combination: np.ndarray


def find_base_set(regressor: np.ndarray) -> BaseSet:
    """Return the base set of a regressor stacked at enough random states.

    Parameters are kept from the first one on, so that those of the links nearest the root take the others in.

    Args:
        regressor: rows of efforts, columns of parameters, shape (m, all), m well above the number of parameters.
    """
    scale = np.linalg.norm(regressor, axis=0)
    largest = float(scale.max(initial=0.0))
    basis: list[np.ndarray] = []
    columns: list[int] = []
    for k in range(regressor.shape[1]):
        if scale[k] <= _TOLERANCE * largest:
            continue
        rest = regressor[:, k] / scale[k]
        if basis:
            Q = np.array(basis)
            for _ in range(2):  # twice is enough to be orthogonal to rounding
                rest = rest - Q.T @ (Q @ rest)
        length = float(np.linalg.norm(rest))
        if length > _TOLERANCE:
            basis.append(rest / length)
            columns.append(k)
    combination = np.zeros((len(columns), regressor.shape[1]))
    if columns:
        kept = regressor[:, columns]
        combination = np.linalg.lstsq(kept, regressor, rcond=None)[0]
        combination[np.abs(combination) < 1e-9] = 0.0
    return BaseSet(tuple(columns), combination)


def random_states(
    nq: int, nv: int, quaternions: Sequence[int], circles: Sequence[int], count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random coordinates, velocities and accelerations, the same every time.

    Args:
        nq: number of coordinates.
        nv: number of velocity coordinates.
        quaternions: first coordinates of unit quaternions.
        circles: first coordinates of pairs of cosine and sine.
        count: number of states.

    Returns:
        q (nq, count), v (nv, count), a (nv, count).
    """
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, size=(nq, count))
    for start, size in [(start, 4) for start in quaternions] + [(start, 2) for start in circles]:
        part = rng.normal(size=(size, count))
        q[start : start + size] = part / np.linalg.norm(part, axis=0)
    return q, 3.0 * rng.normal(size=(nv, count)), 10.0 * rng.normal(size=(nv, count))


@dataclass(frozen=True)
class InertialParameters:
    """The entries of the argument ``parameters``.

    Attributes:
        names: of the entries, e.g. ``KNEE_mx``.
        values: in the URDF, in SI units.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]


def parameters_of_links(mechanism: Mechanism) -> InertialParameters:
    """Ten parameters of each link with inertia, in the regressor's order."""
    names: list[str] = []
    values: list[float] = []
    for link in mechanism.links:
        if link.inertia is not None:
            names += [f"{link.name}_{name}" for name in PARAMETER_NAMES]
            values += [float(value) for value in link_parameters(link.inertia)]
    return InertialParameters(tuple(names), tuple(values))


def with_link_parameters(mechanism: Mechanism, symbols: list[Scalar]) -> Mechanism:
    """Return the mechanism with the parameters of its links as given.

    Args:
        mechanism: with numbers.
        symbols: as many as :func:`parameters_of_links` has names.
    """
    remaining = iter(symbols)
    links = []
    inertias = [BodyInertia.zero() for _ in mechanism.bodies]
    for link in mechanism.links:
        if link.inertia is not None:
            inertia = BodyInertia.from_parameters(tuple(next(remaining) for _ in PARAMETER_NAMES))
            link = replace(link, inertia=inertia)
            if link.body >= 0:
                inertias[link.body] = inertias[link.body].plus(inertia.expressed(link.rotation, link.position))
        links.append(link)
    bodies = tuple(replace(body, inertia=inertia) for body, inertia in zip(mechanism.bodies, inertias, strict=True))
    return replace(mechanism, bodies=bodies, links=tuple(links))


#: First and second moments, where :class:`BodyInertia` keeps them.
_FIRST_NAMES = ("mx", "my", "mz")
_SECOND_NAMES = ("jxx", "jxy", "jxz", "jyy", "jyz", "jzz")


def parameters_of_bodies(grouped: Mechanism) -> InertialParameters:
    """Mass, first and second moments of each body that are left after grouping, by the names of the joints.

    Which are left depends on the joints alone: what is zero in this URDF is a parameter all the same.

    Args:
        grouped: output of :func:`humanoid_codegen.dynamics.inertial_parameters.group_inertias`.
    """
    names: list[str] = []
    values: list[float] = []

    def note(name: str, value: Scalar) -> Scalar:
        names.append(name)
        values.append(float(value))
        return value

    _visit(grouped, note)
    return InertialParameters(tuple(names), tuple(values))


def with_body_parameters(grouped: Mechanism, symbols: list[Scalar]) -> Mechanism:
    """Return the grouped mechanism with the parameters that are left as given.

    Args:
        grouped: with numbers.
        symbols: as many as :func:`parameters_of_bodies` has names.
    """
    remaining = iter(symbols)
    return _visit(grouped, lambda name, value: next(remaining))


def _visit(grouped: Mechanism, change: Callable[[str, Scalar], Scalar]) -> Mechanism:
    bodies = []
    for body in grouped.bodies:
        inertia = body.inertia
        keeps_mass, keeps_first, keeps_second = _kept(body.kind if body.parent >= 0 else None, body.axis)
        mass = change(f"{body.name}_m", inertia.mass) if keeps_mass else 0.0
        first = [
            change(f"{body.name}_{name}", value) if keeps else 0.0
            for name, value, keeps in zip(_FIRST_NAMES, inertia.first, keeps_first, strict=True)
        ]
        second = [
            change(f"{body.name}_{name}", value) if keeps else 0.0
            for name, value, keeps in zip(_SECOND_NAMES, inertia.second, keeps_second, strict=True)
        ]
        bodies.append(replace(body, inertia=BodyInertia(mass, tuple(first), tuple(second))))  # type: ignore[arg-type]
    return replace(grouped, bodies=tuple(bodies))


def _kept(kind: JointKind | None, axis: int) -> tuple[bool, list[bool], list[bool]]:
    """Return what grouping leaves with a body: mass, first moments, second moments; a body on the world keeps all."""
    first, second = [True] * 3, [True] * 6
    if kind is JointKind.REVOLUTE:
        first[axis] = False
        second[(0, 3, 5)[axis]] = False
        return False, first, second
    if kind is JointKind.PRISMATIC:
        return True, first, [False] * 6
    if kind is JointKind.SPHERICAL:
        return False, first, second
    if kind is JointKind.PLANAR:
        second[5] = False
    return True, first, second
