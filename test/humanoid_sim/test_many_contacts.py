# SPDX-License-Identifier: Apache-2.0
"""Groups of so many contacts that they are solved by way of their bodies, against dense operators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.scene import Scene, SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.contact.cone import contact_residuals

pytestmark = pytest.mark.feature("000-F097")

LINK = """<link name="l{i}"><inertial><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.1 0.1"/></geometry></collision></link>"""
HINGE = """<joint name="hinge" type="continuous"><parent link="l0"/><child link="l1"/>
  <origin xyz="0.25 0 0"/><axis xyz="0 0 1"/></joint>"""


def hinged(folder: Path) -> SceneRobot:
    """Two links on the floor, joined by a hinge: contacts of one feel the other."""
    (folder / "worm.urdf").write_text(f'<robot name="worm">{LINK.format(i=0)}{LINK.format(i=1)}{HINGE}</robot>')
    (folder / "worm.yaml").write_text("actuators: {}\n")
    robot = load_robot(folder / "worm.urdf")
    q = robot.postures["zero"].copy()
    q[2] = 0.05
    return SceneRobot("worm", robot, "zero", pin.SE3.Identity(), q)


def piled(folder: Path) -> Scene:
    """Boxes that slide and turn, one of them on both links of the worm."""
    push = np.array([0.3, 0.1, 0.0, 0.0, 0.0, 0.5])
    boxes = [
        box("on_worm", (0.4, 0.1, 0.1), place(0.125, 0, 0.15), twist=push),
        box("top", (0.2, 0.1, 0.1), place(0.1, 0, 0.25), 2.0),
    ]
    return scene(floor(), *boxes, robots=(hinged(folder),))


def by_bodies(simulation: Simulation) -> Simulation:
    """Let all groups of contacts do without operators."""
    simulation.stepping.stepper.groups.largest[0] = 0
    return simulation


def test_bodies_answer_as_the_dense_operator(tmp_path: Path) -> None:
    """The forces solve the problem whose operator is built row by row as well as told; the motion is the same."""
    piled_here = piled(tmp_path)
    dense, sparse = Simulation(piled_here, tolerance=1e-8), by_bodies(Simulation(piled_here, tolerance=1e-8))
    for _ in range(30):
        dense.step()
        sparse.step()
        assert sparse.residual <= 1e-2  # sweeps are bounded
        problem = sparse.contact_problem
        assert problem is not None
        forces = sparse.stepping.stepper.points.forces[: len(sparse.contacts)].ravel()
        residuals = np.empty(5)
        contact_residuals(problem.W, problem.v_free, problem.mu, forces, np.empty(forces.size), residuals)
        assert residuals[0] <= 1.5 * sparse.residual + 1e-9
    assert_allclose(sparse.q, dense.q, atol=5e-4)


def test_a_bouncing_box_makes_no_energy() -> None:
    """Restitution is watched without an operator too."""
    falling = {"twist": np.array([0.3, 0.0, -2.0, 1.0, 2.0, 0.0])}
    dropped = scene(floor(), box("box", (0.3, 0.2, 0.1), place(0, 0, 0.2, 0.3, 0.2), **falling), restitution=0.9)
    answers = []
    for simulation in (Simulation(dropped), by_bodies(Simulation(dropped))):
        energies = [simulation.energy().total]
        for _ in range(200):
            simulation.step()
            energies.append(simulation.energy().total)
        answers.append(energies)
    assert answers[0][-1] < 0.9 * answers[0][0]
    assert_allclose(answers[1], answers[0], rtol=1e-5)


@pytest.mark.parametrize("side", [8, 11])
def test_memory_is_linear_in_the_contacts(side: int) -> None:
    """A field of boxes face to face: no operator of the group, which is solved all the same."""
    boxes = [
        box(f"box{i}_{j}", (0.1, 0.1, 0.1), place(0.1 * i, 0.1 * j, 0.05)) for i in range(side) for j in range(side)
    ]
    simulation = Simulation(scene(floor(), *boxes))
    simulation.step(3)
    groups = simulation.stepping.stepper.groups
    assert groups.counts[2] >= 3 * 12 * side**2 - 50 * side
    assert groups.W.size < 450**2
    assert simulation.residual <= 1e-6


def test_few_iterations_of_leaning_bodies_end_with_a_sweep() -> None:
    """A row of dominoes falls: Newton's method alone, ended so early, lets them sink into each other by decimetres."""
    size, pieces = (0.02, 0.1, 0.2), []
    for i in range(15):
        turned = pin.rpy.rpyToMatrix(0.0, 0.0 if i else 0.25, 0.0)
        corner = np.array([0.01, 0.0, -0.1])  # on which the first one stands
        centre = np.array([0.1 * i + 0.01, 0.0, 0.0]) - turned @ corner
        pieces.append(box(f"domino_{i}", size, pin.SE3(turned, centre), 0.2))
    row = Simulation(scene(floor(), *pieces), 1e-3, max_iterations=2)
    deepest = 0.0
    for _ in range(1600):
        row.step()
        deepest = max(deepest, -row.contacts.gap.min())
    assert deepest < 0.02
