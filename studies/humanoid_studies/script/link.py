# SPDX-License-Identifier: Apache-2.0
"""A link of a robot as the script's generator sees it."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_model.errors import RobotError
from humanoid_studies.script.literal import literal, numbers


class Link:
    """A link: its name and its inertial data, as numbers and as Python source text.

    Attributes:
        name: as in the URDF.
        mass: kg; 0 for an empty link.
        xyz: source text of the centre of mass in the link frame [m].
        rpy: source text of the roll, pitch and yaw of the inertial frame [rad].
        inertia: source text of the rows of the (3, 3) inertia about the centre of mass, in the inertial frame [kg m²].
        is_empty: the link has neither mass nor inertia; a support that stacks joints at one point.
        is_shifted: the centre of mass is not the origin of the link.
        is_turned: the inertial frame's axes differ from those of the link.
    """

    def __init__(self, record: Sequence[str]) -> None:
        """Make a link of the parser's record ``[name, xyz, rpy, mass, ixx, ixy, ixz, iyy, iyz, izz]`` or ``[name]``.

        Raises:
            RobotError: the record has another length, or a word is not a finite number.
        """
        if len(record) not in (1, 10):
            raise RobotError(f"record of a link has {len(record)} entries: {list(record)}", remedy="Give 1 or 10")
        self.name = record[0]
        xyz, rpy, mass, *moments = record[1:] if len(record) == 10 else ["0 0 0", "0 0 0", *["0"] * 7]
        self.mass = numbers(mass)[0]
        self.xyz = literal(xyz)
        self.rpy = literal(rpy)
        ixx, ixy, ixz, iyy, iyz, izz = (numbers(moment)[0] for moment in moments)
        self.inertia = [literal(row) for row in ((ixx, ixy, ixz), (ixy, iyy, iyz), (ixz, iyz, izz))]
        self.is_empty = not any([self.mass, ixx, ixy, ixz, iyy, iyz, izz])
        self.is_shifted = any(numbers(xyz))
        self.is_turned = any(numbers(rpy))
