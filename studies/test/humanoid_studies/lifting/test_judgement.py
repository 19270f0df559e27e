# SPDX-License-Identifier: Apache-2.0
"""Which limit a lift breaks, when, and by how much (000-F158), held against the whole robot in Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.lifting import LoadedRobot, thesis_lift

from humanoid_studies.lifting.judgement import Judgement, judge
from humanoid_studies.lifting.planar_lifter import JOINT_WORDS, SENSOR_LIMITS
from humanoid_studies.lifting.weight_lift import FRICTION, INSIDE, LIGHTEST, LiftMotion


def hasty() -> LiftMotion:
    """Straight lines in joint angles, but for elbows that bend too far on the way, in too short a time."""
    points = thesis_lift().straight().points.copy()
    points[4:8, 5] = -2.7
    return LiftMotion(points, 0.7)


def right_excess(motion: LiftMotion, times: np.ndarray) -> dict[str, np.ndarray]:
    """What is beyond each limit at some times, by recursive Newton-Euler of the robot in space."""
    lift, whole = thesis_lift(), LoadedRobot(thesis_lift().lifter)
    lifter, rows = lift.lifter, []
    for q, v, a in zip(*motion.at(times), strict=True):
        told = whole.wrenches(q, v, a)
        effort = np.clip(told.torques / lifter.peak, -1.0, 1.0)
        forward, up = told.ground
        rows.append(
            {f"torque of {joint}": abs(told.torques[k]) - lifter.peak[k] for k, joint in enumerate(JOINT_WORDS)}
            | {
                f"speed of {joint}": lifter.speed[k] * (abs(v[k] / lifter.speed[k] + effort[k]) - 1.0)
                for k, joint in enumerate(JOINT_WORDS)
            }
            | {
                f"angle of {joint}": max(lifter.lower[k] - q[k], q[k] - lifter.upper[k])
                for k, joint in enumerate(JOINT_WORDS)
            }
            | {
                name: abs(value) - most
                for name, value, most in zip(
                    ("force along the hand", "force across the hand", "moment at the hand"),
                    told.wrist,
                    SENSOR_LIMITS,
                    strict=True,
                )
            }
            | {
                "pressure of the feet": LIGHTEST - up,
                "friction of the feet": abs(forward) - FRICTION * max(up, 0.0),
                "zero-moment point": max(
                    lifter.sole[0] + INSIDE - told.zero_moment_point, told.zero_moment_point - lifter.sole[1] + INSIDE
                ),
            }
        )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


@pytest.mark.feature("000-F158")
def test_every_limit_is_exceeded_by_what_the_whole_robot_says() -> None:
    told = judge(thesis_lift(), hasty(), 9)
    right = right_excess(hasty(), told.series.time)
    assert told.quantities.keys() == right.keys() | {"clearance", "duration"}
    pressed = right["pressure of the feet"] < 0.0
    assert pressed.any()
    assert not pressed.all()
    right["zero-moment point"][~pressed] = -np.inf
    for name, excess in right.items():
        size = max(1.0, np.abs(told.quantities[name].value).max())
        np.testing.assert_allclose(told.quantities[name].excess, excess, atol=2e-4 * size, err_msg=name)


@pytest.mark.feature("000-F158")
def test_violations_tell_worst_time_and_stretches() -> None:
    motion = hasty()
    told = judge(thesis_lift(), motion)
    assert not told.feasible
    assert {"angle of elbow", "zero-moment point", "torque of wrist"} <= told.violations.keys()
    shares = [one.share for one in told.violations.values()]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] > 0.0
    elbow = told.violations["angle of elbow"]
    fine = np.linspace(0.0, motion.duration, 20001)
    below = thesis_lift().lifter.lower[5] - motion.at(fine)[0][:, 5]
    assert elbow.excess == pytest.approx(below.max(), abs=1e-3)
    assert elbow.time == pytest.approx(fine[np.argmax(below)], abs=motion.duration / 200)
    ((start, end),) = elbow.spans
    edges = fine[below > 0.0][[0, -1]]
    np.testing.assert_allclose([start, end], edges, atol=motion.duration / 200)
    assert elbow.limit == pytest.approx(thesis_lift().lifter.lower[5])
    assert elbow.sentence().startswith("The elbow is beyond its lower joint limit, by ")
    assert f"{np.rad2deg(elbow.excess):.3g} °" in elbow.sentence()
    assert f"from {start:.2f} to {end:.2f} s" in elbow.sentence()


def test_what_is_broken_twice_has_two_stretches() -> None:
    lift = thesis_lift()
    points = lift.straight(1.5).points.copy()
    points[[3, 4, 7, 8], 5] = -3.2
    told: Judgement = judge(lift, LiftMotion(points, 1.5))
    assert len(told.violations["angle of elbow"].spans) == 2
    assert not told.broken[0]
    assert told.broken.any()


def test_feet_that_would_leave_the_ground_are_told_in_words() -> None:
    lift = thesis_lift()
    down = judge(lift, lift.straight(0.3))
    up = down.violations["pressure of the feet"]
    assert up.excess == pytest.approx(LIGHTEST - down.series.ground[:, 1].min())
    assert up.sentence().startswith("The feet press too little on the ground, by ")


def test_an_object_pulled_into_the_chest_meets_it() -> None:
    """Clearance, and a lift that takes longer than motors stand."""
    lift = thesis_lift()
    points = lift.straight(3.5).points.copy()
    points[4:8, 4:6] = [0.6, -2.3]
    told = judge(lift, LiftMotion(points, 3.5))
    assert told.violations["clearance"].excess > 0.02
    assert told.violations["duration"].excess == pytest.approx(0.5)
    assert told.violations["duration"].spans == ((0.0, 3.5),)
