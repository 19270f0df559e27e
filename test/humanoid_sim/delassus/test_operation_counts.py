# SPDX-License-Identifier: Apache-2.0
"""Operation counts of the thesis (tables 3.1-3.3, §3.2.4; oracle N3)."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model import load_robot
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_sim.delassus.operation_counts import (
    ContactTopology,
    chang_khatib_count,
    chang_khatib_is_cheaper,
    topology,
    unit_forces_count,
    unit_wrenches_count,
)

STANDING = ContactTopology(contacts=8, bodies=2, branch=12, contact_depths=48, body_depths=12, body_distances=12)
ONE_ARM = ContactTopology(contacts=8, bodies=2, branch=6, contact_depths=0, body_depths=11, body_distances=1)


@pytest.mark.feature("000-F098")
def test_standing_robot() -> None:
    initial, recursions, wrenches = (
        unit_forces_count(STANDING), chang_khatib_count(STANDING), unit_wrenches_count(STANDING),
    )  # fmt: skip
    assert (initial.multiplications, initial.additions, initial.total) == (7596, 6228, 13824)
    assert (recursions.multiplications, recursions.additions, recursions.total) == (4822, 5011, 9833)
    assert (wrenches.multiplications, wrenches.additions, wrenches.total) == (5076, 4428, 9504)


@pytest.mark.feature("000-F098")
def test_hand_and_forearm() -> None:
    assert chang_khatib_count(ONE_ARM).total == 6323
    assert unit_wrenches_count(ONE_ARM).total == 7590


@pytest.mark.feature("000-F094")
@pytest.mark.parametrize(("t", "cheaper"), [(STANDING, False), (ONE_ARM, True)])
def test_choice(t: ContactTopology, cheaper: bool) -> None:
    assert chang_khatib_is_cheaper(t.bodies, t.branch, t.body_depths, t.body_distances) == cheaper
    assert (chang_khatib_count(t).total < unit_wrenches_count(t).total) == cheaper


def test_topology_of_hrp2_on_both_feet() -> None:
    robot = load_robot("hrp2")
    flat = KinematicTree.from_pinocchio(robot.model)
    feet = [robot.parts.links[link].joint_id for link in ("r_sole", "l_sole")]
    assert topology(flat.joints["parent"], [feet[0]] * 4 + [feet[1]] * 4) == STANDING


def test_topology_of_two_bodies_of_one_branch() -> None:
    chain = np.array([0, 0, 1, 2, 3, 4, 5, 6])  # the base is joint 1
    assert topology(chain, [7] * 4 + [6] * 4) == ContactTopology(8, 2, 6, 44, 11, 1)
