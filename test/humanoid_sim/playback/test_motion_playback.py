# SPDX-License-Identifier: Apache-2.0
"""A robot that shifts its weight over its soles, by its servos and by a tracker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.tracking import MotionTracker
from humanoid_model import Contact, Surface, load_robot
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory
from humanoid_sim import Simulation
from humanoid_sim.playback import play_motion
from humanoid_sim.playback.motion_watch import ContactLoad, MotionWatch

pytestmark = pytest.mark.feature("001-F238")

BIP = load_robot("bip")
GROUND = Surface("ground", "floor", pin.SE3.Identity())
SOLES = ("right_sole", "left_sole")
DURATION = 0.3


def swaying(bend: float = 0.0, beside: float = 0.0) -> WholeBodyTrajectory:
    """Stand for a while, the knees bent a little more and straightened again; the zero-moment point is said beside."""
    standing, model = BIP.postures["standing"], BIP.model
    links = BIP.link_placements(standing)
    spans, forces = [], []
    for name in SOLES:
        place = (links[BIP.contacts[name].link] * BIP.contacts[name].placement_link_patch).translation
        spans.append(ContactSpan(Contact(BIP.contacts[name], GROUND, place[0], place[1], 0.0), 0.0, DURATION))
        up = np.array([0.0, 0.0, 1.0])
        forces.append(PlannedForce(name, "ground", place, up, 0.5 * 9.81 * BIP.total_mass * up, 0.8))
    times = np.linspace(0.0, DURATION, 31)
    q = np.array([standing] * len(times))
    v, a = np.zeros((len(times), model.nv)), np.zeros((len(times), model.nv))
    arm = BIP.joint_names[0]
    phase = 2.0 * np.pi * times / DURATION
    q[:, BIP.index_q(arm)] += bend * (1.0 - np.cos(phase))
    v[:, BIP.index_v(arm)] = bend * np.sin(phase) * 2.0 * np.pi / DURATION
    a[:, BIP.index_v(arm)] = bend * np.cos(phase) * (2.0 * np.pi / DURATION) ** 2
    point = np.tile([*pin.centerOfMass(model, model.createData(), standing)[:2], 0.0], (len(times), 1))
    return WholeBodyTrajectory(
        BIP, times, q, v, a, spans, forces=[forces] * len(times), zero_moment_point=point + np.array([beside, 0, 0])
    )


@pytest.mark.feature("001-F234")
@pytest.mark.parametrize("feedback", [False, True])
def test_a_standing_robot_stays_and_its_soles_bear_its_weight(feedback: bool) -> None:
    simulation, motion = Simulation("bip_stand"), swaying()
    controller = MotionTracker(motion) if feedback else None
    played = play_motion(simulation, "bip", motion, controller=controller, after=0.1)
    assert played.fallen is None
    assert played.times[-1] == pytest.approx(DURATION + 0.1)
    assert played.measured[-1].sum() == pytest.approx(9.81 * BIP.total_mass, rel=0.01)
    np.testing.assert_allclose(played.planned.sum(axis=1), 9.81 * BIP.total_mass, rtol=1e-9)
    assert max(played.slip.values()) < 1e-3
    assert max(played.placed.values()) < 5e-3
    assert played.goal_joint < 0.02
    assert "stands" in played.report()
    assert not simulation.modules


@pytest.mark.feature("001-F238")
def test_the_zero_moment_point_is_under_the_centre_of_mass_of_a_robot_at_rest() -> None:
    """A plan that says it 5 cm ahead is told to be wrong by as much."""
    simulation = Simulation("bip_stand")
    played = play_motion(simulation, "bip", swaying(beside=0.05), after=0.3)
    centre = pin.centerOfMass(BIP.model, BIP.model.createData(), simulation.robots["bip"].q)
    np.testing.assert_allclose(played.zero_moment_point[-1], [*centre[:2], 0.0], atol=2e-3)
    np.testing.assert_allclose((played.planned_zero_moment_point - played.zero_moment_point)[-1, 0], 0.05, atol=4e-3)
    assert played.zero_moment_point_error == pytest.approx(0.05, abs=0.01)
    assert "zero-moment point 4" in played.report() or "zero-moment point 5" in played.report()


def test_what_a_link_bears_is_what_it_holds_by_bears() -> None:
    """A foot that goes from its sole to its ball: its load is the one's and then the other's."""
    motion, link = swaying(), BIP.contacts["left_sole"].link
    ball = replace(BIP.contacts["left_sole"], name="left_ball")
    first, last = motion.contacts
    spans = [first, replace(last, end=0.1), ContactSpan(replace(last.contact, location=ball), 0.2, DURATION)]
    watch = MotionWatch(
        WholeBodyTrajectory(BIP, motion.times, motion.q, motion.v, motion.a, spans, forces=motion.forces)
    )
    up = np.array([0.0, 0.0, 1.0])
    for now in (0.05, 0.25):
        watch.look(now, motion.q[0], np.zeros(len(BIP.joint_names)), [ContactLoad(link, np.zeros(3), 100.0 * up, up)])
    played = watch.played()
    columns = [played.locations.index(name) for name in ("left_sole", "left_ball")]
    np.testing.assert_array_equal(played.measured[:, columns], [[100.0, 0.0], [0.0, 100.0]])


def test_forces_that_nobody_planned_are_not_called_wrong() -> None:
    motion = swaying()
    motion.forces = []
    played = play_motion(Simulation("bip_stand"), "bip", motion, after=0.05)
    assert np.isnan(played.planned).all()
    assert "contact forces were not planned" in played.report()
    assert played.measured[-1].sum() == pytest.approx(9.81 * BIP.total_mass, rel=0.01)


def test_a_robot_that_tips_over_has_fallen_and_slipped() -> None:
    simulation = Simulation("bip_stand")
    simulation.apply_wrench("bip/trunk", [-900.0, 0.0, 0.0], duration=0.3)
    played = play_motion(simulation, "bip", swaying(), after=1.5)
    assert played.fallen is not None
    assert "fell at" in played.report()
    assert played.times[-1] < DURATION + 1.5


def test_what_joints_miss_is_told() -> None:
    """Servos without the torques of a quick motion lag behind it."""
    still = play_motion(Simulation("bip_stand"), "bip", swaying(), after=0.05)
    quick = play_motion(Simulation("bip_stand"), "bip", swaying(0.05), after=0.05)
    assert still.joints.max() < 0.02
    assert quick.joints.max() > 0.04
    assert quick.efforts.max() > still.efforts.max()


def test_it_is_cancelled_and_refused() -> None:
    simulation = Simulation("bip_stand")
    told: list[Progress] = []
    played = play_motion(
        simulation, "bip", swaying(), every=1, progress=lambda item: bool(told.append(item)) or len(told) > 1
    )
    assert len(told) == 2
    assert played.times[-1] == pytest.approx(80 * simulation.dt)
    with pytest.raises(InputError, match="no robot 'bop'"):
        play_motion(simulation, "bop", swaying())
    with pytest.raises(InputError, match="isn't the robot of the trajectory"):
        play_motion(Simulation("stand"), "hrp2", swaying())
