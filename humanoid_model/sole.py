# SPDX-License-Identifier: Apache-2.0
"""Deformable soles of a robot: shape, mesh and materials (specification 000 §19), and their YAML section.

A sole is glued under one of the robot's contact locations. Its mesh frame is the frame of that patch: x and y in the
patch, z into the robot; the glued face is at z = 0 and the sole below it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.contact import ContactLocation
from humanoid_model.errors import InputError
from humanoid_model.files import check_may_read, check_size
from humanoid_model.value_equality import ValueEquality
from humanoid_model.yaml_node import YamlNode, read_placement


@dataclass(frozen=True)
class Material:
    """A linear isotropic elastic material.

    Attributes:
        young_modulus: E [Pa].
        poisson_ratio: nu. Linear tetrahedra become too stiff (they lock) as it nears 0.5.
    """

    young_modulus: float
    poisson_ratio: float

    def __post_init__(self) -> None:
        """Check the constants.

        Raises:
            InputError: E is not positive, or nu not between -1 and 0.5.
        """
        if not (math.isfinite(self.young_modulus) and self.young_modulus > 0.0):
            raise InputError(
                f"Young's modulus is {self.young_modulus}", element="young_modulus", remedy="Give a positive one in Pa"
            )
        if not -1.0 < self.poisson_ratio < 0.5:
            raise InputError(
                f"Poisson's ratio is {self.poisson_ratio}",
                element="poisson_ratio",
                remedy="Give one above -1 and below 0.5",
            )

    @property
    def shear_modulus(self) -> float:
        r"""Lamé's :math:`\mu = E / 2(1+\nu)` [Pa]."""
        return self.young_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def lame_lambda(self) -> float:
        r"""Lamé's :math:`\lambda = E\nu / ((1+\nu)(1-2\nu))` [Pa]."""
        E, nu = self.young_modulus, self.poisson_ratio
        return E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


RUBBER = Material(3e6, 0.4)
"""The sole that the thesis chose after its sweep (§4.4.1)."""


@dataclass(frozen=True)
class BlockSole:
    """A block, the simple sole of the thesis (fig. 4.4). One part: ``sole``.

    Attributes:
        size: length, width and height [m].
        cells: cells of the mesh along each.
    """

    size: tuple[float, float, float]
    cells: tuple[int, int, int]

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that have a material."""
        return ("sole",)


@dataclass(frozen=True)
class RoundedSole:
    """A block whose lower edges at heel and toe are rounded (fig. 4.15). One part: ``sole``.

    Attributes:
        size: length, width and height of the block [m].
        cells: cells of the mesh along each.
        radius: of the rounding, less than the height and half of the length [m].
    """

    size: tuple[float, float, float]
    cells: tuple[int, int, int]
    radius: float

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that have a material."""
        return ("sole",)


@dataclass(frozen=True)
class TwoPadSole:
    """A layer with a pad under the heel and one under the toe (fig. 4.13). Parts: ``layer`` and ``pads``.

    Attributes:
        size: length, width and height of the layer [m].
        heel: length of the pad at the heel, at the end of negative x [m].
        toe: length of the pad at the toe [m].
        pad_height: of both pads [m].
        cells: cells along the whole length, the width, the layer's and the pads' height.
    """

    size: tuple[float, float, float]
    heel: float
    toe: float
    pad_height: float
    cells: tuple[int, int, int, int]

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that have a material."""
        return ("layer", "pads")


@dataclass(frozen=True)
class MeshSole:
    """A mesh of tetrahedra from a file. Its parts are the physical volumes of the file.

    Attributes:
        path: of the file, Gmsh's format.
        fixed: physical surface that is glued to the robot.
        scale: metres in one unit of the file.
    """

    path: Path
    fixed: str = "fixed"
    scale: float = 1.0

    @property
    def parts(self) -> None:
        """None: only the file knows the parts."""
        return None


SoleShape = BlockSole | RoundedSole | TwoPadSole | MeshSole


@dataclass(frozen=True, eq=False)
class Sole(ValueEquality):
    """A deformable sole under a contact location.

    Attributes:
        contact: the location that it is glued to.
        shape: with its mesh.
        materials: by part of the shape.
        placement_patch_mesh: mesh frame in the frame of the location's patch.
    """

    contact: ContactLocation
    shape: SoleShape
    materials: Mapping[str, Material]
    placement_patch_mesh: pin.SE3

    @property
    def placement_link_mesh(self) -> pin.SE3:
        """Mesh frame in the frame of the location's link."""
        return self.contact.placement_link_patch * self.placement_patch_mesh

    @property
    def height(self) -> float:
        """Height of the sole below its patch [m]; of a mesh it is not known before the mesh is read: 0."""
        if isinstance(self.shape, MeshSole):
            return 0.0
        return self.shape.size[2] + (self.shape.pad_height if isinstance(self.shape, TwoPadSole) else 0.0)


_SHAPE_KEYS = {
    "block": ("size", "cells"),
    "rounded": ("size", "cells", "radius"),
    "two_pads": ("size", "heel", "toe", "pad_height", "cells"),
    "mesh": ("path", "fixed", "scale"),
}


def read_soles(node: YamlNode, contacts: Mapping[str, ContactLocation], folder: Path) -> dict[str, Sole]:
    """Read the ``soles`` section of the YAML beside a URDF.

    ::

        soles:
          right_sole:                      # a contact location
            shape: {type: block, size: [0.22, 0.13, 0.02], cells: [8, 5, 2]}
            material: {young_modulus: 3e6, poisson_ratio: 0.4}     # or `materials:` by part
            xyz: [0, 0, 0]                 # optional, in the patch's frame, like rpy

    Args:
        node: the section.
        contacts: the robot's locations by name.
        folder: that mesh files are relative to.

    Returns:
        Soles by the name of their contact location.

    Raises:
        InputError: unknown location, key, shape or part, a missing value, a size that makes no sense.
    """
    soles = {}
    for name, value in node.mapping().items():
        if name not in contacts:
            raise value.fail(f"there is no contact location '{name}'", f"Name one of {', '.join(contacts)}")
        values = value.mapping(("shape", "material", "materials", "xyz", "rpy"))
        if "shape" not in values:
            raise value.fail("lacks 'shape'", "Give its type and size")
        shape = _read_shape(values["shape"], folder)
        soles[name] = Sole(contacts[name], shape, _read_materials(value, values, shape), read_placement(values))
    return soles


def _read_shape(node: YamlNode, folder: Path) -> SoleShape:
    every_key = ("type", *dict.fromkeys(key for keys in _SHAPE_KEYS.values() for key in keys))
    values = node.mapping(every_key)
    if "type" not in values:
        raise node.fail("lacks 'type'", f"Give one of {', '.join(_SHAPE_KEYS)}")
    kind = values["type"].string(_SHAPE_KEYS)
    optional = ("fixed", "scale")
    for key in _SHAPE_KEYS[kind]:
        if key not in values and key not in optional:
            raise node.fail(f"lacks '{key}'", f"A sole of type {kind} has {', '.join(_SHAPE_KEYS[kind])}")
    for key, value in values.items():
        if key != "type" and key not in _SHAPE_KEYS[kind]:
            raise value.fail(f"a sole of type {kind} has none", f"It has {', '.join(_SHAPE_KEYS[kind])}")
    if kind == "mesh":
        path = folder / values["path"].string()
        check_may_read(path, values["path"].fail)
        return MeshSole(
            path,
            values["fixed"].string() if "fixed" in values else "fixed",
            values["scale"].number(above=0.0) if "scale" in values else 1.0,
        )
    x, y, z = _positive(values["size"], 3)
    cells = _cells(values["cells"], 4 if kind == "two_pads" else 3)
    check_size(cells[0] * cells[1] * sum(cells[2:]), "cells of a sole", values["cells"].fail)
    if kind == "block":
        return BlockSole((x, y, z), (cells[0], cells[1], cells[2]))
    if kind == "rounded":
        radius = values["radius"].number(above=0.0)
        if not radius < min(z, 0.5 * x):
            raise values["radius"].fail(f"is {radius:g}", "Give less than the height and half of the length")
        return RoundedSole((x, y, z), (cells[0], cells[1], cells[2]), radius)
    heel, toe = values["heel"].number(above=0.0), values["toe"].number(above=0.0)
    if heel + toe > x:
        raise values["heel"].fail(f"heel and toe are {heel + toe:g} m together", f"Give no more than the length, {x:g}")
    return TwoPadSole(
        (x, y, z), heel, toe, values["pad_height"].number(above=0.0), (cells[0], cells[1], cells[2], cells[3])
    )


def _read_materials(sole: YamlNode, values: Mapping[str, YamlNode], shape: SoleShape) -> dict[str, Material]:
    if ("material" in values) == ("materials" in values):
        raise sole.fail("needs either 'material' or 'materials'", "Give one of them")
    if "material" in values:
        if shape.parts is None:
            raise values["material"].fail("is one for a mesh of named volumes", "Give 'materials' by volume")
        return dict.fromkeys(shape.parts, _read_material(values["material"]))
    by_part = values["materials"].mapping(shape.parts)
    for part in shape.parts or ():
        if part not in by_part:
            raise values["materials"].fail(f"lacks '{part}'", f"Give {', '.join(shape.parts or ())}")
    return {part: _read_material(node) for part, node in by_part.items()}


def _read_material(node: YamlNode) -> Material:
    values = node.mapping(("young_modulus", "poisson_ratio"))
    for key in ("young_modulus", "poisson_ratio"):
        if key not in values:
            raise node.fail(f"lacks '{key}'", "Give both constants")
    try:
        return Material(values["young_modulus"].number(), values["poisson_ratio"].number())
    except InputError as error:
        raise values[error.element or "young_modulus"].fail(error.problem, error.remedy) from None


def _positive(node: YamlNode, count: int) -> np.ndarray:
    numbers = node.numbers(count)
    if not np.all(numbers > 0.0):
        raise node.fail(f"is {numbers.tolist()}", "Give positive lengths in metres")
    return numbers


def _cells(node: YamlNode, count: int) -> list[int]:
    numbers = node.numbers(count)
    if not np.all((numbers >= 1.0) & (numbers == np.round(numbers))):
        raise node.fail(f"is {numbers.tolist()}", "Give whole numbers of 1 or more")
    return [int(number) for number in numbers]
