# SPDX-License-Identifier: Apache-2.0
"""The graph of a mechanism is a tree with loops and tools."""

import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.graph import CLOSURE, HIERARCHY, TRACKING, Edge, MechanismGraph

pytestmark = pytest.mark.filterwarnings("ignore:.*E10")


@pytest.mark.feature("002-F040")
def test_the_planar_hybrid_is_the_graph_of_the_thesis():
    assert MechanismGraph(load_mechanism("planar_hybrid")).text().splitlines() == [
        "world",
        "  base",
        "    link_1",
        "      link_2",
        "        link_3",
        "          link_4",
        "            frame_9  <- tool",
        "          frame_8  = link_7",
        "      link_5",
        "        link_6",
        "          link_7  = frame_8",
    ]


@pytest.mark.feature("002-F040")
def test_edges_say_what_they_join():
    graph = MechanismGraph(load_mechanism("planar_hybrid"))
    kinds = [edge.kind for edge in graph.edges]
    assert [kinds.count(kind) for kind in (HIERARCHY, CLOSURE, TRACKING)] == [10, 1, 1]
    assert Edge(CLOSURE, "link_7", "frame_8", "link_7-frame_8") in graph.edges
    assert Edge(HIERARCHY, "link_1", "link_5", "joint_5") in graph.edges
    assert Edge(TRACKING, "frame_9", "frame_9", "frame_9") in graph.edges


@pytest.mark.feature("002-F042")
def test_branches_meet_at_their_last_common_link():
    graph = MechanismGraph(load_mechanism("planar_hybrid"))
    assert graph.branch("frame_8") == ("frame_8", "link_3", "link_2", "link_1", "base", "world")
    for first, second, common in (
        ("link_7", "frame_8", "link_1"),
        ("frame_9", "frame_8", "link_3"),
        ("link_3", "frame_9", "link_3"),
        ("base", "link_7", "base"),
    ):
        assert graph.ancestor(first, second) == graph.ancestor(second, first) == common
    cross = MechanismGraph(load_mechanism("cross"))
    assert [cross.ancestor(edge.first, edge.second) for edge in cross.edges if edge.kind == CLOSURE] == ["base", "base"]
