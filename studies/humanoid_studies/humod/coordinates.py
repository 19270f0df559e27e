# SPDX-License-Identifier: Apache-2.0
"""Names and orders of the HuMoD model's coordinates, and of ours (specification 004 section 3.3).

HuMoD writes ``rSJX_R`` for what is ``SJ_R_x`` here, and the base, which it puts at the lower lumbar joint, is ``pBJX``
to ``rBJZ`` for ``WJ_px`` to ``WJ_z``. Columns and joints are matched by these names, never by their place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Rows of ``motion.trajectory.q`` in the order of the files.
COLUMNS = (
    "pBJX", "pBJY", "pBJZ", "rBJX", "rBJY", "rBJZ",
    "rLNJX", "rLNJY", "rLNJZ",
    "rSJX_L", "rSJY_L", "rSJZ_L", "rSJX_R", "rSJY_R", "rSJZ_R", "rEJZ_L", "rEJZ_R",
    "rULJX", "rULJY", "rULJZ", "rLLJX", "rLLJZ",
    "rHJX_L", "rHJY_L", "rHJZ_L", "rHJX_R", "rHJY_R", "rHJZ_R", "rKJZ_L", "rKJZ_R",
    "rAJX_L", "rAJY_L", "rAJZ_L", "rAJX_R", "rAJY_R", "rAJZ_R",
)  # fmt: skip

#: Joints whose positions are published, in the order of the files.
POSITION_LABELS = (
    "LNJ", "SJ_L", "SJ_R", "EJ_L", "EJ_R", "ULJ", "LLJ", "HJ_L", "HJ_R", "KJ_L", "KJ_R", "AJ_L", "AJ_R",
)  # fmt: skip

#: The same from the pelvis outwards, the order of tables and plots.
POSITION_JOINTS = (
    "LLJ", "ULJ", "LNJ", "SJ_R", "SJ_L", "EJ_R", "EJ_L", "HJ_R", "HJ_L", "KJ_R", "KJ_L", "AJ_R", "AJ_L",
)  # fmt: skip


def joint_name(column: str) -> str:
    """Return the joint of the 3P33R robot that a HuMoD coordinate moves: ``rSJX_R`` gives ``SJ_R_x``."""
    match = re.fullmatch(r"([pr])([A-Z]+?J)([XYZ])(_[LR])?", column)
    if match is None:
        raise ValueError(f"'{column}' is not a coordinate of HuMoD")
    kind, joint, axis, side = match.groups()
    group = "WJ" if joint == "BJ" else joint + (side or "")
    return f"{group}_{'p' if kind == 'p' else ''}{axis.lower()}"


#: Joints of the 3P33R robot, in the order of ``COLUMNS``.
JOINTS = tuple(joint_name(column) for column in COLUMNS)


def first_joint(label: str, joint_names: Sequence[str]) -> int:
    """Index of the joint of a group (``LNJ``, ``EJ_R``) that comes first and so lies where the group does."""
    axis = next(axis for axis in "xyz" if f"{label}_{axis}" in joint_names)
    return joint_names.index(f"{label}_{axis}")


def to_joint_order(joint_names: Sequence[str]) -> list[int]:
    """Return columns of a HuMoD trajectory (N, 36) in the order of a model's joints."""
    return [JOINTS.index(name) for name in joint_names]
