# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, Surface
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_planner.motion import stabiliser_events, waist_references

TABLE = Surface("table", "table", pin.SE3.Identity())


@pytest.mark.feature("001-F235")
def test_references_are_the_centre_of_mass_on_the_floor_as_the_waist_sees_it(step: SimpleNamespace) -> None:
    trajectory, model = step.motion.trajectory, step.robot.model
    found = waist_references(trajectory)
    for k in range(0, len(trajectory.times), 60):
        q = trajectory.q[k]
        waist = pin.XYZQUATToSE3(q[:7])
        world = waist.act(found.zero_moment_point[k])
        np.testing.assert_allclose(world[:2], pin.centerOfMass(model, model.createData(), q)[:2], atol=1e-9)
        assert abs(world[2]) < 1e-9
        np.testing.assert_allclose(pin.rpy.rpyToMatrix(*found.orientation[k]), waist.rotation, atol=1e-9)


@pytest.mark.feature("001-F236")
def test_the_stabiliser_is_off_while_anything_but_soles_bears(step: SimpleNamespace) -> None:
    robot, planned = step.robot, step.motion.trajectory
    hands = [(1.0, 2.0), (1.5, 2.5), (3.0, 3.2)]
    spans = [
        ContactSpan(Contact(robot.contacts[name], TABLE, 0.0, 0.0, 0.0), start, end)
        for (start, end), name in zip(
            hands, ("left_hand_fingers", "right_hand_fingers", "left_hand_fingers"), strict=True
        )
    ]
    still = np.zeros((2, robot.model.nv))
    motion = WholeBodyTrajectory(robot, [0.0, 4.0], planned.q[[0, 0]], still, still, [*planned.contacts, *spans])
    assert stabiliser_events(motion) == [(1.0, False), (2.5, True), (3.0, False), (3.2, True)]
    assert stabiliser_events(planned) == []
    with pytest.raises(InputError, match="zero-moment point"):
        waist_references(motion)
