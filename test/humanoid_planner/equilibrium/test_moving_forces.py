# SPDX-License-Identifier: Apache-2.0
"""Forces of a robot on both soles: no other forces that hold it cost less."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import null_space

from humanoid_model import load_robot
from humanoid_planner.equilibrium.force_distribution import LoadedPoint, moving_forces, point_jacobian

pytestmark = pytest.mark.feature("001-F011", "001-F016", "001-F253")


@pytest.fixture(scope="module")
def standing():
    robot = load_robot("hrp2")
    q, model = robot.postures["half_sitting"].copy(), robot.model
    data, still = model.createData(), np.zeros(model.nv)
    links = robot.link_placements(q)
    points = []
    for side in ("left", "right"):
        contact = robot.contacts[f"{side}_sole"]
        place = links[contact.link] * contact.placement_link_patch
        joint = robot.parts.links[contact.link].joint_id
        points += [LoadedPoint(joint, place.act(np.array([x, y, 0.0])), np.eye(3), 0.8, 1.0) for x, y in contact.patch]
    return robot, data, points, (q, still, still)


def test_forces_are_the_least_by_loads_and_torques(standing):
    """Oracle: the same cost written down here, at forces beside the found ones that balance as well."""
    robot, data, points, state = standing
    effort = 0.5 * robot.limits.effort
    found = moving_forces(robot.model, data, points, state, effort)
    weight = pin.rnea(robot.model, data, *state)
    pin.computeJointJacobians(robot.model, data, state[0])
    J = np.vstack([point_jacobian(robot.model, data, point) for point in points])
    np.testing.assert_allclose(found.torques, weight - J.T @ found.forces.ravel(), atol=1e-8)
    load = np.linalg.norm(weight[:3])

    def cost(forces):
        torques = (weight - J.T @ forces)[6:]
        points_cost = np.tile([4.0, 4.0, 1.0], len(points)) @ forces**2
        return points_cost + (0.25 * load) ** 2 * np.square(torques / effort[6:]).sum()

    free = null_space(J[:, :6].T)
    least = cost(found.forces.ravel())
    rng = np.random.default_rng(3)
    for _ in range(50):
        other = found.forces.ravel() + free @ rng.normal(size=free.shape[1])
        assert cost(other) > least
    # Where torques aren't limited they don't count.
    loose = moving_forces(robot.model, data, points, state)
    assert np.square(loose.torques[6:] / effort[6:]).sum() > np.square(found.torques[6:] / effort[6:]).sum()


@pytest.mark.feature("001-F231")
@pytest.mark.parametrize("degrees", [0.0, 22.5, 45.0, 70.0])
def test_friction_is_used_alike_in_all_directions(degrees):
    """A flat box is pushed along: up to nine tenths of friction, whichever the way, and never with more than it."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "box")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(10.0, 0.4, 0.4, 0.04), pin.SE3.Identity())
    data, friction = model.createData(), 0.6
    corners = [np.array([x, y, -0.02]) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    points = [LoadedPoint(joint, corner, np.eye(3), friction, 1.0) for corner in corners]
    along = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])

    def pushed(share):
        acceleration = np.concatenate([share * friction * 9.81 * along, np.zeros(3)])
        return moving_forces(model, data, points, (pin.neutral(model), np.zeros(6), acceleration))

    assert pushed(0.9) is not None
    assert pushed(1.01) is None
