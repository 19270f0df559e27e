# SPDX-License-Identifier: Apache-2.0
"""Which way to the Delassus operator a step takes (specification 000 §11.6), against the thesis' operation counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import box, floor, place, scene

from humanoid_model import load_robot
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.delassus.operation_counts import (
    chang_khatib_count,
    topology,
    unit_wrenches_count,
)

LINK = """<link name="l{i}"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.1 0.1"/></geometry></collision></link>"""
JOINT = """<joint name="j{i}" type="continuous"><parent link="l{parent}"/><child link="l{i}"/>
  <origin xyz="{x} {y} 0"/><axis xyz="0 0 1"/></joint>"""


def lying(folder: Path, parents: list[int]) -> SceneRobot:
    """A robot flat on the floor, link i + 1 on link ``parents[i]``; all of its links touch."""
    places = [(0.0, 0.0)]
    joints = []
    for i, parent in enumerate(parents, 1):
        x, y = (0.25, 0.0) if parents[:i].count(parent) == 1 else (0.0, 0.25)
        places.append((places[parent][0] + x, places[parent][1] + y))
        joints.append(JOINT.format(i=i, parent=parent, x=x, y=y))
    links = "".join(LINK.format(i=i) for i in range(len(parents) + 1))
    (folder / "worm.urdf").write_text(f'<robot name="worm">{links}{"".join(joints)}</robot>')
    (folder / "worm.yaml").write_text("actuators: {}\n")
    robot = load_robot(folder / "worm.urdf")
    q = robot.postures["zero"].copy()
    q[2] = 0.05
    return SceneRobot("worm", robot, "zero", pin.SE3.Identity(), q)


def counts(robot: SceneRobot) -> dict[str, int]:
    """Operations of the two ways between bodies with four corners of every link on the floor, by the thesis' tables."""
    model = robot.robot.model
    touching = [j for j in range(1, model.njoints) for _ in range(4)]
    t = topology(np.array([model.parents[j] for j in range(model.njoints)]), touching)
    return {"chang_khatib": chang_khatib_count(t).total, "unit_wrenches": unit_wrenches_count(t).total}


@pytest.mark.feature("000-F094")
def test_a_standing_robot_gets_the_new_method() -> None:
    """E5: 9833 operations against 9504, if the base is none of the joints."""
    simulation = Simulation("stand")
    assert simulation.delassus_methods == {}
    simulation.step()
    assert simulation.delassus_methods == {"hrp2": "unit_wrenches"}
    simulation.reset()
    assert simulation.delassus_methods == {}


@pytest.mark.feature("000-F094")
@pytest.mark.parametrize(
    ("parents", "cheaper"),
    [([0, 1, 2, 3], "chang_khatib"), ([0], "chang_khatib"), ([], "unit_wrenches")],
    ids=["five links of one branch", "two links", "one link"],
)
def test_a_branch_gets_what_the_tables_say(tmp_path: Path, parents: list[int], cheaper: str) -> None:
    robot = lying(tmp_path, parents)
    simulation = Simulation(scene(floor(), box("block", (0.1, 0.1, 0.1), place(3, 0, 0.05)), robots=(robot,)))
    simulation.step()
    assert len(simulation.contacts) == 4 * (len(parents) + 2)
    expected = counts(robot)
    assert min(expected, key=lambda method: expected[method]) == cheaper
    assert simulation.delassus_methods == {"worm": cheaper, "block": "unit_wrenches"}


@pytest.mark.parametrize("method", ["unit_forces", "chang_khatib", "unit_wrenches"])
def test_a_method_that_is_asked_for_is_taken(method: str) -> None:
    simulation = Simulation("stand", delassus=method)
    simulation.step()
    assert simulation.delassus_methods == {"hrp2": method}


def test_pinocchios_matrices_are_none_of_them() -> None:
    simulation = Simulation("stand", dynamics="pinocchio")
    simulation.step()
    assert simulation.delassus_methods == {}
