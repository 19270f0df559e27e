# SPDX-License-Identifier: Apache-2.0
"""A bar of a planar mechanism as the thesis' tables give it, and how it is read from a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from humanoid_model.errors import InputError
from humanoid_model.yaml_node import YamlNode
from humanoid_studies.planar_gait.mechanism.planar_mechanism import Link


@dataclass(frozen=True)
class Segment:
    """A body on its axis O_i: Tables III-1 to III-3 (specification 003 sections 3.2 to 3.4).

    Attributes:
        length: from O_i to the next joint [m]; 0 where there is none.
        mass: [kg].
        centre: a + i b of the centre of mass, from O_i in the body's frame [m].
        inertia: about O_i [kg m²], equivalent rotor inertias included.
    """

    length: float
    mass: float
    centre: complex
    inertia: float

    @property
    def central_inertia(self) -> float:
        """About the centre of mass [kg m²]: I_i - m_i (a_i² + b_i²)."""
        return self.inertia - self.mass * abs(self.centre) ** 2

    def link(self, name: str) -> Link:
        """Return the link of that name, its frame on O_i along X_i."""
        return Link(name, self.mass, self.centre, self.central_inertia)

    def with_mass(self, mass: float) -> Segment:
        """Return the segment with another mass, its inertia in proportion: the same shape of another density.

        Raises:
            InputError: the mass isn't positive.
        """
        if not (math.isfinite(mass) and mass > 0.0):
            raise InputError(f"is {mass}", element="mass", remedy="Give more than 0")
        return Segment(self.length, mass, self.centre, self.inertia * mass / self.mass)

    def reversed(self) -> Segment:
        """Return the same body seen from its other end, its axis turned by pi and its inertia about that end."""
        centre = self.length - self.centre.real - 1j * self.centre.imag
        return Segment(self.length, self.mass, centre, self.central_inertia + self.mass * abs(centre) ** 2)


def require_keys(node: YamlNode, values: Mapping[str, YamlNode], names: Sequence[str]) -> None:
    """Check that a mapping has keys.

    Raises:
        InputError: one is missing.
    """
    for name in names:
        if name not in values:
            raise node.fail(f"'{name}' is missing", f"Give {', '.join(names)}")


def read_segment(node: YamlNode, with_length: bool = False) -> Segment:
    """Read ``{length, mass, centre, inertia}``; ``centre`` is a number a or a pair [a, b].

    Args:
        node: of the segment.
        with_length: whether the length has to be given.

    Raises:
        InputError: a field is missing, isn't a finite number or is out of range, or the inertia about the axis is less
            than that of the mass in its centre.
    """
    values = node.mapping(("length", "mass", "centre", "inertia"))
    require_keys(node, values, (*(("length",) if with_length else ()), "mass", "centre", "inertia"))
    if values["centre"].is_list:
        a, b = values["centre"].numbers(2)
    else:
        a, b = values["centre"].number(), 0.0
    length = values["length"].number(above=0.0) if "length" in values else 0.0
    segment = Segment(length, values["mass"].number(lowest=0.0), complex(a, b), values["inertia"].number(lowest=0.0))
    if segment.central_inertia < 0.0:
        raise values["inertia"].fail(
            f"is {segment.inertia:g}, less than m (a² + b²) = {segment.mass * abs(segment.centre) ** 2:g}",
            "Give the moment about the joint axis, not about the centre of mass",
        )
    return segment
