# SPDX-License-Identifier: Apache-2.0
"""Inertial parameters as arguments of the generated functions instead of numbers in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from humanoid_codegen.algorithms.regressor import PARAMETER_NAMES, link_parameters
from humanoid_codegen.inertia import BodyInertia
from humanoid_codegen.mechanism import JointKind, Mechanism
from humanoid_codegen.vector import Scalar


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
        grouped: output of :func:`humanoid_codegen.base_parameters.group_inertias`.
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
