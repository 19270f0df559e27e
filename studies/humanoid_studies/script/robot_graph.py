# SPDX-License-Identifier: Apache-2.0
"""A robot's structure as a networkx graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from humanoid_model.extensions import optional_library
from humanoid_studies.script.joint import Joint
from humanoid_studies.script.link import Link

if TYPE_CHECKING:
    import networkx


def robot_graph(name: str, links: Iterable[Link], joints: Iterable[Joint]) -> networkx.DiGraph:
    """Return a directed tree: a node per link, an edge from parent to child per joint.

    Nodes carry ``mass`` [kg], edges ``joint`` (the name) and ``type``.
    """
    graph = optional_library("networkx", "models").DiGraph(name=name)
    for link in links:
        graph.add_node(link.name, mass=link.mass)
    for joint in joints:
        graph.add_edge(joint.parent, joint.child, joint=joint.name, type=joint.type)
    return graph
