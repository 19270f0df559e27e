# SPDX-License-Identifier: Apache-2.0
"""Where a kinematic loop was cut to make a tree, and what holds there."""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

from humanoid_model.yaml_node import YamlNode, read_placement

#: What can be held at a cut: translations along and small rotations about the axes of the first frame.
ROWS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class LoopClosure:
    """Two frames on two links that coincide, wholly or in some directions.

    Attributes:
        name: of the cut joint.
        link_a: first link.
        placement_a: of the cut frame in the first link's frame.
        link_b: second link.
        placement_b: of the cut frame in the second link's frame.
        rows: directions that are held, of ``ROWS``, in the first cut frame: ``("x", "y", "z")`` is a ball joint,
            ``("x", "y")`` a pin about z in a planar mechanism, all six a weld.
    """

    name: str
    link_a: str
    placement_a: pin.SE3
    link_b: str
    placement_b: pin.SE3
    rows: tuple[str, ...] = ("x", "y", "z")


def read_loop_closures(node: YamlNode) -> tuple[LoopClosure, ...]:
    """Cuts by the name of the joint that was cut.

    Each has ``a`` and ``b`` (a ``link`` and optional ``xyz`` [m] and ``rpy`` [rad] of the cut frame in the link's
    frame) and optional ``rows``.

    Raises:
        InputError: of the node's own sort; a value that can't be used.
    """
    loops = []
    for name, cut in node.mapping().items():
        values = cut.mapping(("a", "b", "rows"))
        missing = [key for key in ("a", "b") if key not in values]
        if missing:
            raise cut.fail(f"has no '{missing[0]}'", "Give the two links as a and b")
        link_a, placement_a = _read_end(values["a"])
        link_b, placement_b = _read_end(values["b"])
        rows = LoopClosure.rows
        if "rows" in values:
            rows = tuple(item.string(ROWS) for item in values["rows"].items())
            if not rows or len(set(rows)) < len(rows):
                remedy = f"Give some of {', '.join(ROWS)}, each once"
                raise values["rows"].fail("holds no row, or one twice", remedy)
        loops.append(LoopClosure(name, link_a, placement_a, link_b, placement_b, rows))
    return tuple(loops)


def _read_end(node: YamlNode) -> tuple[str, pin.SE3]:
    values = node.mapping(("link", "xyz", "rpy"))
    if "link" not in values:
        raise node.fail("has no 'link'", "Name a link of the robot")
    return values["link"].string(), read_placement(values)
