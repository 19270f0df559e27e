# SPDX-License-Identifier: Apache-2.0
"""A force of the environment on a link, written in the URDF."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_model.errors import RobotError
from humanoid_studies.script.literal import literal, numbers


class Force:
    """A ``<force>`` element: a constant force at a point of a link, and a moment.

    Attributes:
        name: as in the URDF.
        link: name of the link on which it is exerted.
        xyz: source text of the point in the link frame [m].
        vector: source text of the force [N].
        vector_frame: ``world`` or ``link``, whose axes the force's components are along.
        moment: source text of the moment [N m].
        moment_frame: likewise.
        is_at_origin: the point is the origin of the link frame.
        has_moment: the moment is not zero.
    """

    def __init__(self, record: Sequence[str]) -> None:
        """Make a force of the parser's record ``[name, link, xyz, vector, frame, moment, frame]``.

        Raises:
            RobotError: the record has another length, or a word is not a finite number.
        """
        if len(record) != 7:
            raise RobotError(f"record of a force has {len(record)} entries: {list(record)}", remedy="Give 7")
        self.name, self.link, xyz, vector, self.vector_frame, moment, self.moment_frame = record
        self.xyz = literal(xyz)
        self.vector = literal(vector)
        self.moment = literal(moment)
        self.is_at_origin = not any(numbers(xyz))
        self.has_moment = any(numbers(moment))
