# SPDX-License-Identifier: Apache-2.0
"""Postures of a motion and their reserve: the robot leans so far ahead that its least one is all there is."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.one_step import ROBOT, SCENE, UPRIGHT, problem

from humanoid_planner.motion import MotionSettings, PlannedPostures, generate_motion
from humanoid_planner.motion.stance_postures import inset_patch
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at

pytestmark = pytest.mark.feature("001-F250")


def leaning(inside: float, settings: MotionSettings):
    """Motion that ends with the centre of mass so far inside the soles' front edge [m]."""
    stance, data = problem().start, ROBOT.model.createData()
    centre = pin.centerOfMass(ROBOT.model, data, UPRIGHT)
    front = max(one.x + one.location.patch[:, 0].max() for one in stance.contacts)
    goal = [centre_of_mass_at([front - inside, 0.0, centre[2]], horizontal=True)]
    plan = PlannedPostures([stance, stance], [UPRIGHT, UPRIGHT])
    return generate_motion(ROBOT, SCENE, plan, settings=settings, collisions=False, goal=goal)


def test_a_step_with_the_least_reserve_only_is_made_and_told():
    settings = MotionSettings(reserve=0.015, least_reserve=0.005, period=0.02)
    motion = leaning(0.009, settings)
    assert motion.success, motion.explanation
    assert motion.explanation.endswith("Steps 0 keep a reserve of 5 mm only.")
    assert [step.reserve for step in motion.steps] == [0.005]
    whole = leaning(0.02, settings)
    assert [step.reserve for step in whole.steps] == [0.015]
    assert whole.explanation.endswith(" s.")


@pytest.mark.parametrize(("inside", "least"), [(0.003, 0.005), (0.009, 0.015)])
def test_a_step_without_the_least_reserve_is_refused(inside, least):
    motion = leaning(inside, MotionSettings(reserve=0.015, least_reserve=least))
    assert not motion.success
    assert f"with a reserve of {least:g} m" in motion.explanation


def test_patches_are_smaller_by_the_reserve_all_around():
    for location in ROBOT.contacts.values():
        if len(location.patch) > 2:
            size = np.ptp(inset_patch(location.patch, 0.01), axis=0)
            np.testing.assert_allclose(size, np.ptp(location.patch, axis=0) - 0.02, atol=1e-12)
