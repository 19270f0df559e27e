# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_planner.contacts.guides import ASIDE, RESOLUTION, GuideSampler, GuideSpace, distance, find_guide


def at(robot, x):
    q = robot.postures["half_sitting"].copy()
    q[:3] = x, 0.0, 0.66
    return q


@pytest.fixture(scope="module")
def robot():
    return load_robot("hrp2")


@pytest.fixture(scope="module")
def space(robot):
    return GuideSpace(robot, load_scene("under_the_table"), ["left_sole", "right_sole"])


@pytest.fixture(scope="module")
def sampler(robot):
    keys = [robot.postures["half_sitting"], robot.postures["squat"]]
    return GuideSampler(robot, keys, ([-1.0, -0.1, 0.55], [0.2, 0.1, 0.7]), concentration=1000.0)


@pytest.fixture(scope="module")
def guide(robot, space, sampler):
    return find_guide(space, sampler, at(robot, -1.0), at(robot, 0.1), seed=3, reach=0.8)


@pytest.mark.feature("001-F193")
def test_the_guide_is_free_and_stable_from_start_to_end(robot, space, guide):
    assert guide.success
    assert guide.nodes > 2
    np.testing.assert_array_equal(guide.postures[0], at(robot, -1.0))
    np.testing.assert_array_equal(guide.postures[-1], at(robot, 0.1))
    assert all(space.contains(q) for q in guide.postures)
    steps = [distance(space, a, b) for a, b in zip(guide.postures, guide.postures[1:], strict=False)]
    assert max(steps) <= RESOLUTION + 2 * ASIDE


@pytest.mark.feature("001-F193")
def test_the_guide_is_the_same_for_a_seed(robot, space, sampler, guide):
    again = find_guide(space, sampler, at(robot, -1.0), at(robot, 0.1), seed=3, reach=0.8)
    assert again.samples == guide.samples
    np.testing.assert_array_equal(again.postures, guide.postures)


def test_near_ends_are_joined_without_samples(robot, space, sampler):
    guide = find_guide(space, sampler, at(robot, -0.5), at(robot, 0.0))
    assert guide.success
    assert guide.samples == 0


def test_too_few_samples_and_a_cancelled_search_give_no_guide(robot, space, sampler):
    def stop(progress):
        return progress.stage.startswith("2 samples")

    for options, samples in (({"max_samples": 1}, 1), ({"progress": stop}, 2)):
        guide = find_guide(space, sampler, at(robot, -1.0), at(robot, 0.1), reach=0.05, **options)
        assert not guide.success
        assert guide.samples == samples
        assert guide.postures == ()


def test_ends_that_do_not_stand_are_named(robot, space, sampler):
    with pytest.raises(InputError, match="start of the guide"):
        find_guide(space, sampler, at(robot, 1.0), at(robot, 0.0))
    flying = at(robot, 0.0)
    flying[2] = 1.5
    with pytest.raises(InputError, match="end of the guide: is not stable"):
        find_guide(space, sampler, at(robot, 0.0), flying)
