# SPDX-License-Identifier: Apache-2.0
"""A joint of a robot as the script's generator sees it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from humanoid_model.errors import RobotError
from humanoid_studies.script.literal import literal, numbers

#: Types that the equations know, with the unit of the position.
UNITS = {"revolute": "rad", "continuous": "rad", "prismatic": "m", "fixed": ""}


class Joint:
    """A joint with at most one degree of freedom: the record of the URDF, as texts and as Python source text.

    Attributes:
        name: as in the URDF.
        type: ``revolute``, ``continuous``, ``prismatic`` or ``fixed``.
        parent: name of the link that carries the joint.
        child: name of the link that the joint moves.
        xyz: source text of the joint's place in the frame of the parent link [m].
        rpy: source text of its roll, pitch and yaw there [rad].
        axis: source text of the unit axis in the joint's own frame, after rpy; ``""`` for a fixed joint.
        is_shifted: the joint's frame has another origin than the parent link.
        is_turned: the joint's frame has other axes than the parent link.
        limit: ``[lower, upper, velocity, effort]`` as written, None where the URDF gives none; for the reader only, no
            equation looks at it.
        leader: name of the joint that this one follows, None when it moves by itself.
        multiplier: position = multiplier * leader's position + offset.
        offset: rad or m.
    """

    def __init__(self, record: Sequence[str]) -> None:
        """Make a joint of the parser's record ``[name, type, parent, child, xyz, rpy, axis]``.

        Raises:
            RobotError: the record has another length, the type is none of ``UNITS``, a word is not a finite number,
                or the axis is zero.
        """
        if len(record) != 7:
            raise RobotError(f"record of a joint has {len(record)} entries: {list(record)}", remedy="Give 7")
        self.name, self.type, self.parent, self.child, xyz, rpy, axis = record
        if self.type not in UNITS:
            raise RobotError(
                f"unknown joint type '{self.type}'",
                element=f"joint '{self.name}'",
                remedy=f"Use one of {', '.join(UNITS)}, floating, planar",
            )
        self.xyz = literal(xyz)
        self.rpy = literal(rpy)
        self.is_shifted = any(numbers(xyz))
        self.is_turned = any(numbers(rpy))
        self.axis = literal(self._unit(numbers(axis))) if self.moves else ""
        self.limit: list[str] | None = None
        self.leader: str | None = None
        self.multiplier = 1.0
        self.offset = 0.0

    @property
    def moves(self) -> bool:
        """Whether the joint has a degree of freedom, be it its own or its leader's."""
        return self.type != "fixed"

    @property
    def turns(self) -> bool:
        """Whether the joint's degree of freedom is an angle."""
        return self.type in ("revolute", "continuous")

    @property
    def unit(self) -> str:
        """Unit of the position: rad or m, ``""`` for a fixed joint."""
        return UNITS[self.type]

    def _unit(self, axis: list[float]) -> list[float]:
        length = math.hypot(*axis)
        if not length:
            raise RobotError("axis is zero", element=f"joint '{self.name}'", remedy="Give a non-zero axis")
        # An axis that is a unit one already stays as the person wrote it.
        return axis if abs(length - 1) < 1e-15 else [part / length for part in axis]
