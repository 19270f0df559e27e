# SPDX-License-Identifier: Apache-2.0
"""A walk in space keeps everything that Pinocchio can tell, its cycle closes, and what can't be is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_gait import Cycle, GaitProblem, GaitResult, GaitSolver, Phase, State, WalkRequest, hold_of
from humanoid_model import InputError, Robot, load_robot

pytestmark = pytest.mark.feature("003-F031")


@pytest.fixture(scope="module")
def bip() -> Robot:
    return load_robot("bip", geometry=False)


@pytest.fixture(scope="module")
def walk(bip: Robot) -> GaitResult:
    return GaitSolver(WalkRequest(0.25, intervals=(5, 14)).problem(bip)).solve()


def test_a_step_in_space_walks(walk: GaitResult) -> None:
    assert walk.success, walk.report()
    assert sum(walk.durations) == pytest.approx(walk.motion.duration)


def test_the_step_repeats_on_the_other_side(walk: GaitResult, bip: Robot) -> None:
    motion = walk.motion
    links = [bip.link_placements(motion.q[k]) for k in (0, -1)]
    for name, other in (("right_sole", "left_sole"), ("left_sole", "right_sole")):
        before, after = (
            places[bip.contacts[sole].link].translation for places, sole in zip(links, (name, other), strict=True)
        )
        np.testing.assert_allclose(after, before * [1.0, -1.0, 1.0] + [0.25, 0.0, 0.0], atol=1e-4)
    speed = motion.v[[0, -1], 0:3]
    np.testing.assert_allclose(speed[1], speed[0] * [1.0, -1.0, 1.0], atol=1e-3)


def test_what_cannot_be_is_refused(bip: Robot) -> None:
    one = Phase((hold_of(bip, "right_sole", (0.0, -0.1)),), 0.5)
    other = Phase((hold_of(bip, "right_sole", (0.3, -0.1)),), 0.5)
    with pytest.raises(InputError, match="'right_sole' jumps"):
        GaitProblem(bip, [one, other])
    with pytest.raises(InputError, match="duration"):
        Phase((), float("nan"))
    with pytest.raises(InputError, match="no contact location 'nose'"):
        hold_of(bip, "nose", (0.0, 0.0))
    step = WalkRequest(0.3).problem(bip).end
    assert isinstance(step, Cycle)
    with pytest.raises(InputError, match="start: is given for a cycle"):
        GaitProblem(bip, [one], State(bip.default_posture), step)
