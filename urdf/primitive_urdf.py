# SPDX-License-Identifier: Apache-2.0
"""URDF text of robots made of primitive shapes: what the generators in this folder share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

QUARTER = math.pi / 2


@dataclass(frozen=True)
class Shape:
    """Box (x, y, z), sphere (radius,), or cylinder and capsule (radius, length) along an axis."""

    kind: str
    size: tuple[float, ...]
    centre: tuple[float, float, float]
    colour: str
    axis: str = "z"

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Shape:
        """Return the same shape elsewhere."""
        a, b, c = self.centre
        return Shape(self.kind, self.size, (a + x, b + y, c + z), self.colour, self.axis)

    def mirrored(self) -> Shape:
        """Return the same shape on the other side of the xz plane."""
        x, y, z = self.centre
        return Shape(self.kind, self.size, (x, -y, z), self.colour, self.axis)


def box(x: float, y: float, z: float, at: tuple[float, float, float], colour: str) -> Shape:
    """Return the box of edges x, y, z."""
    return Shape("box", (x, y, z), at, colour)


def capsule(
    radius: float, length: float, at: tuple[float, float, float], colour: str, axis: str = "z"
) -> Shape:
    """Capsule; ``length`` without the caps."""
    return Shape("capsule", (radius, length), at, colour, axis)


def cylinder(
    radius: float, length: float, at: tuple[float, float, float], colour: str, axis: str = "z"
) -> Shape:
    """Cylinder along an axis."""
    return Shape("cylinder", (radius, length), at, colour, axis)


@dataclass(frozen=True)
class Mass:
    """Mass in kg, centre of mass (3,) and inertia (3, 3) about it, both in the link's axes."""

    mass: float
    com: Sequence[float] | np.ndarray
    inertia: np.ndarray


def uniform(mass: float, shape: Shape) -> Mass:
    """Mass properties of a uniform box, sphere, cylinder or capsule."""
    if shape.kind == "box":
        x, y, z = shape.size
        moments = mass / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
        return Mass(mass, shape.centre, np.diag(moments))
    radius, length = shape.size[0], 0.0 if shape.kind == "sphere" else shape.size[1]
    rod, ball = length * radius**2, 4 / 3 * radius**3
    caps = mass * ball / (rod + ball) if shape.kind != "cylinder" else 0.0
    core = mass - caps
    along = core * radius**2 / 2 + caps * 2 / 5 * radius**2
    # Each hemisphere's centre of mass is 3/8 radius beyond its flat face.
    across = core * (3 * radius**2 + length**2) / 12
    across += caps * (83 / 320 * radius**2 + (length / 2 + 3 / 8 * radius) ** 2)
    moments = np.full(3, across)
    moments["xyz".index(shape.axis)] = along
    return Mass(mass, shape.centre, np.diag(moments))


def number(value: float) -> str:
    """Shortest text of at most 9 digits, never ``-0``."""
    text = f"{value:.9g}"
    return "0" if float(text) == 0 or abs(value) < 1e-12 else text


def numbers(values: Sequence[float] | np.ndarray) -> str:
    """Numbers separated by spaces."""
    return " ".join(number(float(value)) for value in values)


def material_text(name: str, rgb: tuple[float, float, float]) -> str:
    """Return an opaque colour."""
    return f'  <material name="{name}"><color rgba="{numbers((*rgb, 1.0))}"/></material>\n'


def link_text(
    name: str,
    mass: Mass | None = None,
    visuals: Sequence[Shape] = (),
    collisions: Sequence[Shape] = (),
) -> str:
    """Return a link."""
    if mass is None and not visuals and not collisions:
        return f'  <link name="{name}"/>\n'
    drawn = "".join(_geometry_text("visual", part) for s in visuals for part in _primitives(s))
    solid = "".join(_geometry_text("collision", part) for s in collisions for part in _primitives(s))
    return f'  <link name="{name}">\n{_inertial_text(mass)}{drawn}{solid}  </link>\n'


def joint_text(
    name: str,
    kind: str,
    parent: str,
    child: str,
    offset: Sequence[float] | np.ndarray,
    axis: str = "",
    limits: tuple[float, float, float, float] | None = None,
    turn: tuple[float, float, float] | None = None,
) -> str:
    """Return joint; ``limits`` are lower, upper, effort and velocity, ``turn`` is roll, pitch and yaw of its frame."""
    rpy = "" if turn is None else f' rpy="{numbers(turn)}"'
    text = (
        f'  <joint name="{name}" type="{kind}">\n    <parent link="{parent}"/>\n'
        f'    <child link="{child}"/>\n    <origin xyz="{numbers(offset)}"{rpy}/>\n'
    )
    if axis:
        direction = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}[axis]
        text += f'    <axis xyz="{direction}"/>\n'
    if limits is not None:
        lower, upper, effort, velocity = (number(value) for value in limits)
        text += (
            f'    <limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>\n'
        )
    return text + "  </joint>\n"


def _inertial_text(mass: Mass | None) -> str:
    if mass is None:
        return ""
    tensor = mass.inertia
    moments = " ".join(
        f'{key}="{number(tensor[i, j])}"'
        for key, i, j in (
            ("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2),
        )
    )  # fmt: skip
    return (
        f'    <inertial>\n      <origin xyz="{numbers(mass.com)}"/>\n'
        f'      <mass value="{number(mass.mass)}"/>\n      <inertia {moments}/>\n    </inertial>\n'
    )


def _primitives(shape: Shape) -> list[Shape]:
    """Return what URDF can say: a capsule is a cylinder and two spheres."""
    if shape.kind != "capsule":
        return [shape]
    radius, length = shape.size
    ends = []
    for sign in (-1, 1):
        shift = {shape.axis: sign * length / 2}
        ends.append(Shape("sphere", (radius,), shape.centre, shape.colour).moved(**shift))
    return [Shape("cylinder", (radius, length), shape.centre, shape.colour, shape.axis), *ends]


def _geometry_text(tag: str, shape: Shape) -> str:
    turn = {"x": f' rpy="0 {number(QUARTER)} 0"', "y": f' rpy="{number(QUARTER)} 0 0"', "z": ""}
    size = {
        "box": f'size="{numbers(shape.size)}"',
        "sphere": f'radius="{number(shape.size[0])}"',
        "cylinder": f'radius="{number(shape.size[0])}" length="{number(shape.size[-1])}"',
    }
    colour = f'\n      <material name="{shape.colour}"/>' if tag == "visual" else ""
    return (
        f'    <{tag}>\n      <origin xyz="{numbers(shape.centre)}"{turn[shape.axis]}/>\n'
        f"      <geometry><{shape.kind} {size[shape.kind]}/></geometry>{colour}\n    </{tag}>\n"
    )
