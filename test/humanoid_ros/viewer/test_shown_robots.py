# SPDX-License-Identifier: Apache-2.0
"""Frames of the robots on the page."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_ros.viewer.shown_robots import TransformTree

pytestmark = pytest.mark.feature("000-F020")


def test_chain_equals_product_of_homogeneous_matrices() -> None:
    placements = [pin.SE3.Random() for _ in range(4)]
    tree = TransformTree("world")
    # The order in which transforms arrive doesn't matter.
    for i in (2, 0, 3, 1):
        tree.set("world" if i == 0 else f"f{i - 1}", f"f{i}", placements[i])
    expected = np.linalg.multi_dot([placement.homogeneous for placement in placements])
    found = tree.placement("f3")
    assert found is not None
    np.testing.assert_allclose(found.homogeneous, expected, atol=1e-12)


def test_newest_transform_counts() -> None:
    tree = TransformTree()
    tree.set("world", "a", pin.SE3.Random())
    newest = pin.SE3.Random()
    tree.set("world", "a", newest)
    assert tree.placement("a") == newest


def test_unknown_frame_detached_frame_and_loop_have_no_placement() -> None:
    tree = TransformTree()
    tree.set("nowhere", "detached", pin.SE3.Identity())
    tree.set("b", "a", pin.SE3.Identity())
    tree.set("a", "b", pin.SE3.Identity())
    assert tree.placement("unknown") is None
    assert tree.placement("detached") is None
    assert tree.placement("a") is None
    assert tree.placement("world") == pin.SE3.Identity()
