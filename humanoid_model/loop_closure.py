# SPDX-License-Identifier: Apache-2.0
"""Where a kinematic loop was cut to make a tree, and what holds there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model.value_equality import ValueEquality
from humanoid_model.yaml_node import YamlNode, read_placement

#: What can be held at a cut: translations along and small rotations about the axes of the first frame.
ROWS = ("x", "y", "z", "rx", "ry", "rz")

#: Rows by what was cut: a ball joint, a hinge about z, a slide along z, a body.
KINDS = {
    "point": ROWS[:3],
    "axis": ROWS[:5],
    "slide": ("x", "y", "rx", "ry", "rz"),
    "frame": ROWS,
}


@dataclass(frozen=True, eq=False)
class LoopClosure(ValueEquality):
    """Two frames on two links that coincide, wholly or in some directions.

    Attributes:
        name: of the cut joint.
        link_a: first link.
        placement_a: of the cut frame in the first link's frame.
        link_b: second link.
        placement_b: of the cut frame in the second link's frame.
        rows: directions that are held, of ``ROWS``, in the first cut frame: ``("x", "y", "z")`` is a ball joint,
            ``("x", "y")`` a pin about z in a planar mechanism, the first five a hinge about z, all six a weld.
    """

    name: str
    link_a: str
    placement_a: pin.SE3
    link_b: str
    placement_b: pin.SE3
    rows: tuple[str, ...] = ("x", "y", "z")


#: Keys of a cut and of each of its ends.
CUT_KEYS = ("a", "b", "rows", "kind")
END_KEYS = ("link", "xyz", "rpy", "axis")


def read_loop_closures(node: YamlNode) -> tuple[LoopClosure, ...]:
    """Cuts by the name of the joint that was cut.

    Each has ``a`` and ``b`` (a ``link`` and optional ``xyz`` [m] and ``rpy`` [rad] of the cut frame in the link's
    frame) and, unless only its origin is held, ``rows`` or ``kind``: a key of ``KINDS``. The ends of a cut hinge or
    slide may have an ``axis`` in the link's frame instead of ``rpy``.

    Raises:
        InputError: of the node's own sort; a value that can't be used.
    """
    loops = []
    for name, cut in node.mapping().items():
        values = cut.mapping(CUT_KEYS)
        missing = [key for key in ("a", "b") if key not in values]
        if missing:
            raise cut.fail(f"has no '{missing[0]}'", "Give the two links as a and b")
        rows = LoopClosure.rows
        if "kind" in values:
            if "rows" in values:
                raise cut.fail("has 'kind' and 'rows'", "Keep one of the two")
            rows = KINDS[values["kind"].string(KINDS)]
        link_a, placement_a = _read_end(values["a"], len(rows) == 5)
        link_b, placement_b = _read_end(values["b"], len(rows) == 5)
        if "rows" in values:
            rows = tuple(item.string(ROWS) for item in values["rows"].items())
            if not rows or len(set(rows)) < len(rows):
                remedy = f"Give some of {', '.join(ROWS)}, each once"
                raise values["rows"].fail("holds no row, or one twice", remedy)
        loops.append(LoopClosure(name, link_a, placement_a, link_b, placement_b, rows))
    return tuple(loops)


def turned_to(axis: np.ndarray) -> np.ndarray:
    """(3, 3) the shortest rotation that takes z onto an axis (3,) of any length."""
    return np.asarray(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis / np.linalg.norm(axis)).matrix())


def _read_end(node: YamlNode, about_axis: bool) -> tuple[str, pin.SE3]:
    values = node.mapping(END_KEYS)
    if "link" not in values:
        raise node.fail("has no 'link'", "Name a link of the robot")
    placement = read_placement(values)
    if "axis" in values:
        axis = values["axis"].numbers(3)
        if not about_axis or "rpy" in values:
            remedy = "Give rpy, or kind: axis or slide" if not about_axis else "Keep one of the two"
            raise values["axis"].fail("stands where " + ("no axis is held" if not about_axis else "'rpy' is"), remedy)
        if np.linalg.norm(axis) < 1e-9:
            raise values["axis"].fail("is zero", "Give the direction of the axis in the link's frame")
        placement = pin.SE3(turned_to(axis), placement.translation)
    return values["link"].string(), placement
