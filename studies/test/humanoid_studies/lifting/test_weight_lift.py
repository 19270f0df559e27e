# SPDX-License-Identifier: Apache-2.0
"""The lift of least energy (000-F155), and control points moved by hand (000-F158)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fixtures.lifting import LoadedRobot, hrp2

from humanoid_model.errors import InputError
from humanoid_studies.lifting.judgement import judge
from humanoid_studies.lifting.planar_lifter import HeldObject, PlanarLifter
from humanoid_studies.lifting.weight_lift import LiftResult, WeightLift
from humanoid_studies.simulator.weight_lifting import OBJECT, thesis_postures

COUNT, INSTANTS = 8, 13


def problem() -> WeightLift:
    lifter = PlanarLifter(hrp2(), OBJECT)
    return WeightLift(lifter, *thesis_postures(lifter), count=COUNT, instants=INSTANTS)


@cache
def solved() -> LiftResult:
    return problem().solve()


@pytest.mark.feature("000-F155")
def test_torques_forces_and_zero_moment_point_are_those_of_the_whole_robot() -> None:
    lift = problem()
    motion = lift.straight(0.7)
    series, whole = lift.series(motion, 5), LoadedRobot(lift.lifter)
    for k in range(5):
        q, v, a = (x[0] for x in motion.at([series.time[k]]))
        right = whole.wrenches(q, v, a)
        np.testing.assert_allclose(series.torques[k], right.torques, atol=1e-4 * np.abs(right.torques).max())
        np.testing.assert_allclose(series.sensor[k], right.wrist, atol=1e-3)
        np.testing.assert_allclose(series.ground[k], right.ground, atol=1e-2)
        assert series.zero_moment_point[k] == pytest.approx(right.zero_moment_point, abs=1e-5)


@pytest.mark.feature("000-F155")
def test_energy_without_losses_is_what_lifting_takes() -> None:
    """From rest to rest torques work against gravity alone; viscous friction adds its own."""
    lift = problem()
    lift.loss = np.zeros(7)
    motion, tree = lift.straight(1.0), lift.lifter.tree
    ends = [tree.potential(lift.lifter.absolute @ q) for q in (lift.start, lift.end)]
    assert lift.energy(motion, 801) == pytest.approx(ends[1] - ends[0], abs=1e-2)
    damped = problem()
    damped.loss = np.zeros(7)
    damped.lifter.viscous = np.full(7, 0.3)
    t = np.linspace(0.0, 1.0, 801)
    v = motion.at(t)[1]
    rubbed = np.trapezoid((damped.lifter.viscous * v**2) @ [2, 2, 2, 1, 2, 2, 2], t)
    assert damped.energy(motion, 801) - lift.energy(motion, 801) == pytest.approx(rubbed, rel=1e-6)


def test_joule_losses_of_holding_still() -> None:
    lift = problem()
    lift.end = lift.start
    torques = lift.lifter.static_load(lift.start).torques
    power = np.array([2, 2, 2, 1, 2, 2, 2]) @ (lift.lifter.speed / lift.lifter.peak * torques**2)
    assert lift.energy(lift.straight(2.0)) == pytest.approx(2.0 * power, rel=1e-9)


@pytest.mark.feature("000-F155")
def test_the_optimum_keeps_its_limits_and_no_neighbour_is_better() -> None:
    """Each neighbour costs more or breaks a limit, on the instants of the solution; so do shorter and longer ones."""
    lift, found = problem(), solved()
    assert found.solved
    assert lift.excess(found.motion) < 1e-5
    best = lift.energy(found.motion, INSTANTS)
    assert best == pytest.approx(found.energy, rel=1e-6)
    assert best < lift.energy(lift.straight(found.motion.duration), INSTANTS)
    neighbours = [found.motion.slower(factor) for factor in (0.97, 1.03)]
    for point in (3, 4):
        for joint in range(7):
            for way in (-0.02, 0.02):
                neighbours.append(found.motion.edited(point, joint, found.motion.points[point, joint] + way))
    for other in neighbours:
        assert lift.energy(other, INSTANTS) > best or lift.excess(other) > 1e-5


@pytest.mark.feature("000-F158")
def test_a_moved_control_point_is_judged_again() -> None:
    """F158: the elbow, bent back by hand, breaks its limits; the ends stay where they are."""
    lift, found = problem(), solved()
    edited = found.motion.edited(4, 5, 3.0)
    assert "angle of elbow" not in judge(lift, found.motion).violations
    assert judge(lift, edited).violations["angle of elbow"].excess > 0.01
    before, after = (motion.at([0.0, found.motion.duration])[0] for motion in (found.motion, edited))
    np.testing.assert_array_equal(before, after)
    with pytest.raises(InputError, match="point 2 of joint 5"):
        found.motion.edited(2, 5, 0.0)
    with pytest.raises(InputError, match="angle is nan"):
        found.motion.edited(4, 5, np.nan)


def test_slowly_the_hands_sensor_is_overloaded() -> None:
    """Ahead, 8.4 kg turn a wrist by more than 5 N m: only a quick lift gets past it."""
    lift, found = problem(), solved()
    assert judge(lift, found.motion.slower(5.0)).violations["moment at the hand"].share > 0.1
    held = HeldObject(0.1, 0.15, 0.3)
    light = WeightLift(PlanarLifter(hrp2(), held), lift.start, lift.end, count=COUNT, instants=INSTANTS)
    assert "moment at the hand" not in judge(light, found.motion.slower(5.0)).violations
