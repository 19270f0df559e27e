# SPDX-License-Identifier: Apache-2.0
"""The graph of a mechanism: a tree of links, closed by loops, with tools hung on (specification §3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from humanoid_kinematics.mechanism import Mechanism

#: What an edge says: a link hangs on another, two coincide, a device may move one.
HIERARCHY, CLOSURE, TRACKING = "hierarchy", "closure", "tracking"


@dataclass(frozen=True)
class Edge:
    """One edge.

    Attributes:
        kind: ``HIERARCHY``, ``CLOSURE`` or ``TRACKING``.
        first: parent link, first link of a loop, or link of a tool.
        second: child link, second link of a loop, or name of the tool.
        name: of the joint, loop or tool.
    """

    kind: str
    first: str
    second: str
    name: str


class MechanismGraph:
    """Links and what joins them.

    Args:
        mechanism: any.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.root = mechanism.robot.description.root
        joints = mechanism.robot.description.joints.values()
        self.edges = (
            *(Edge(HIERARCHY, joint.parent, joint.child, joint.name) for joint in joints),
            *(Edge(CLOSURE, loop.link_a, loop.link_b, loop.name) for loop in mechanism.loops),
            *(Edge(TRACKING, tool.link, tool.name, tool.name) for tool in mechanism.tools),
        )

    @cached_property
    def _parents(self) -> dict[str, str]:
        return {edge.second: edge.first for edge in self.edges if edge.kind == HIERARCHY}

    def branch(self, link: str) -> tuple[str, ...]:
        """Return the links from one to the root, both included."""
        found = [link]
        while found[-1] != self.root:
            found.append(self._parents[found[-1]])
        return tuple(found)

    def ancestor(self, first: str, second: str) -> str:
        """Return the last link that both branches have in common; joints above it move neither end of a loop apart."""
        above = set(self.branch(first))
        return next(link for link in self.branch(second) if link in above)

    def text(self) -> str:
        """Return the tree, one link a line and deeper ones further in, with loops and tools behind their links."""
        beside: dict[str, list[str]] = {}
        children: dict[str, list[Edge]] = {}
        for edge in self.edges:
            if edge.kind == HIERARCHY:
                children.setdefault(edge.first, []).append(edge)
            elif edge.kind == CLOSURE:
                beside.setdefault(edge.first, []).append(f"= {edge.second}")
                beside.setdefault(edge.second, []).append(f"= {edge.first}")
            else:
                beside.setdefault(edge.first, []).append("<- tool" + f" {edge.name}" * (edge.name != edge.first))
        lines, stack = [], [(self.root, 0)]
        while stack:
            link, depth = stack.pop()
            lines.append("  ".join(["  " * depth + link, *beside.get(link, [])]))
            stack += [(edge.second, depth + 1) for edge in reversed(children.get(link, []))]
        return "\n".join(lines)
