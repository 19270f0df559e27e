# SPDX-License-Identifier: Apache-2.0
"""Joints of several degrees of freedom as stacks of joints of one, with empty links between (thesis §1, §4.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_studies.script.literal import numbers


def stack(record: Sequence[str], taken: set[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Replace a floating joint by three prismatic and three revolute ones (3P3R), a planar one by two and one (2P1R).

    The floating joint's new joints move along x, y, z, then turn about x, y, z, each carried by the one before: the
    child's orientation is R_x R_y R_z. Those of the planar joint move along two axes of the plane, the x and y that go
    with a z on the plane's normal (as in the stack's Pinocchio models), then turn about the normal.

    Args:
        record: of a joint, as from ``parser_urdf``.
        taken: names that the new joints and links may not have; theirs are added.

    Returns:
        Records of the joints that replace it, and of the new links; a joint of another type replaces itself.
    """
    name, kind, parent, child, xyz, rpy, axis = record
    x, y, z = np.eye(3)
    if kind == "floating":
        parts = [("px", x), ("py", y), ("pz", z), ("rx", x), ("ry", y), ("rz", z)]
    elif kind == "planar":
        normal = np.array(numbers(axis)) / np.linalg.norm(numbers(axis))
        turn = pin.Quaternion.FromTwoVectors(z, normal).matrix()
        parts = [("p1", turn[:, 0]), ("p2", turn[:, 1]), ("r", normal)]
    else:
        return [list(record)], []
    joints, links = [], []
    for part, direction in parts:
        joint = _free(f"{name}_{part}", taken)
        link = child if part == parts[-1][0] else _free(f"{joint}_link", taken)
        if link != child:
            links.append([link])
        words = " ".join(repr(float(value)) for value in direction)
        joints.append([joint, "prismatic" if part[0] == "p" else "continuous", parent, link, xyz, rpy, words])
        parent, xyz, rpy = link, "0 0 0", "0 0 0"
    return joints, links


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
