# SPDX-License-Identifier: Apache-2.0
"""A tracker of motions on robots in the simulator, which it knows by its sensors alone."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from benchmark.estimation import OnTruth
from humanoid_control.tracking import MotionTracker, TrackerSettings, TrackMode
from humanoid_model import load_robot, load_scene
from humanoid_model.contact import Contact, Surface
from humanoid_model.description import Box, Geometry
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.control.controller_in_loop import measure

BIP, HRP2 = load_robot("bip"), load_robot("hrp2")
GROUND = Surface("ground", "ground", pin.SE3.Identity())
HAND = "right_hand_fingers"


def still(robot, posture, duration, hand_at=None):
    """Stand; a hand that touches, as the plan says, something where it is."""
    soles = [name for name, location in robot.contacts.items() if location.support]
    spans = [ContactSpan(Contact(robot.contacts[name], GROUND, 0.0, 0.0, 0.0), 0.0, duration) for name in soles]
    if hand_at is not None:
        board = Surface("board", "board", pin.SE3.Identity())
        spans.append(ContactSpan(Contact(robot.contacts[HAND], board, 0.0, 0.0, 0.0), hand_at, duration))
    q, rest = robot.postures[posture], np.zeros((2, robot.model.nv))
    return WholeBodyTrajectory(robot, [0.0, duration], [q, q], rest, rest, spans)


def tracked(scene, motion, settings=None):
    simulation, tracker = Simulation(scene), MotionTracker(motion, settings)
    (name,) = simulation.robots
    simulation.add_module(ControllerInLoop(name, tracker))
    return simulation, tracker, simulation.robots[name]


def on_truth(motion):
    simulation = Simulation("bip_stand")
    simulation.add_module(OnTruth(MotionTracker(motion), "bip"))
    return simulation, simulation.robots["bip"]


def hand_before_a_board(distance, turn=0.0):
    """HRP-2 standing, a fixed board whose middle is so far before the palm of its right hand [m], turned [rad]."""
    location, scene = HRP2.contacts[HAND], load_scene("stand")
    palm = HRP2.link_placements(HRP2.postures["half_sitting"])[location.link] * location.placement_link_patch
    surface = palm * pin.SE3(pin.utils.rotate("y", turn), np.array([0.0, 0.0, -distance]))
    box = Geometry("", Box(np.array([0.16, 0.16, 0.02])), pin.SE3.Identity(), np.array([0.5, 0.5, 0.5, 1.0]))
    middle = surface * pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.01]))
    board = replace(scene.bodies[0], name="board", placement_world_body=middle, geometries=(box,))
    return replace(scene, bodies=(*scene.bodies, board))


def pressed(simulation):
    """Normal force on the right hand by the board, as the simulator has it [N]."""
    contacts = simulation.contacts
    return sum(
        float(force) for force, bodies in zip(contacts.normal_force, contacts.bodies, strict=True)
        if "board" in bodies
    )  # fmt: skip


def test_it_stands_where_it_stood():
    simulation, tracker, own = tracked("bip_stand", still(BIP, "standing", 1.0))
    simulation.run(0.5)
    assert simulation.contacts.force[:, 2].sum() == pytest.approx(BIP.total_mass * 9.81, rel=5e-3)
    assert np.abs(own.q - BIP.postures["standing"]).max() < 5e-3
    assert tracker.mode is TrackMode.TRACKING
    simulation.run(1.2)
    assert tracker.mode is TrackMode.DONE


def test_on_a_state_that_is_known_it_stands_where_it_stood_and_comes_back_from_a_push():
    motion = still(BIP, "standing", 3.0)
    simulation, own = on_truth(motion)
    simulation.run(0.4)
    assert simulation.contacts.force[:, 2].sum() == pytest.approx(BIP.total_mass * 9.81, rel=1e-3)
    assert np.abs(own.q - motion.q[0]).max() < 2e-3
    simulation, own = on_truth(motion)
    simulation.apply_wrench("bip/trunk", [-350.0, 0.0, 0.0], duration=0.1)
    simulation.run(2.5)
    assert np.abs(own.q - motion.q[0]).max() < 5e-3
    assert np.abs(own.v).max() < 0.02


def test_a_push_that_topples_stiff_servos_is_taken_up():
    motion, back = still(BIP, "standing", 3.0), [-350.0, 0.0, 0.0]
    servos = Simulation("bip_stand")
    servos.add_module(TrajectoryPlayer("bip", motion.joint_trajectory()))
    servos.apply_wrench("bip/trunk", back, duration=0.1)
    servos.run(2.5)
    assert servos.robots["bip"].placement_world_base.translation[2] < 0.6

    simulation, tracker, own = tracked("bip_stand", motion)
    simulation.run(0.4)
    simulation.apply_wrench("bip/trunk", back, duration=0.1)
    limits = BIP.limits.effort[[BIP.index_v(name) for name in own.joint_names]]
    moved, most = 0.0, 0.0

    def watch(_):
        nonlocal moved, most
        moved = max(moved, abs(own.q[0] - motion.q[0, 0]))
        most = max(most, float((np.abs(own.joint_efforts) / limits).max()))

    simulation.run(3.6, watch)
    assert moved > 0.02  # it gives way
    assert most <= 1.0 + 1e-9
    assert tracker.mode is not TrackMode.FALLEN
    assert np.linalg.norm(own.q[:3] - motion.q[0, :3]) < 0.04
    assert np.abs(own.v).max() < 0.1


def test_a_hand_finds_a_board_that_is_further_away_and_turned_and_the_clock_waits_for_it():
    simulation, tracker, _ = tracked(hand_before_a_board(0.02, np.radians(2.0)), still(HRP2, "half_sitting", 1.2, 0.8))
    modes = set()
    simulation.run(3.0, lambda _: modes.add(tracker.mode))
    assert modes == {TrackMode.TRACKING, TrackMode.WAITING, TrackMode.DONE}
    hand = next(limb for limb in tracker._limbs if limb.name == HAND)
    assert hand.held
    assert np.linalg.norm(hand.displacement) == pytest.approx(0.02, abs=0.004)


def test_where_there_is_nothing_it_stops_in_the_stance_that_it_has_and_says_so():
    simulation, tracker, own = tracked("stand", still(HRP2, "half_sitting", 1.2, 0.8))
    simulation.run(2.5)
    assert tracker.mode is TrackMode.STOPPED
    assert f"'{HAND}' finds no 'board' within 50 mm at 0.80 s of the plan" in tracker.reason
    assert tracker.phase == pytest.approx(0.8, abs=0.01)
    q = own.q.copy()
    simulation.run(0.5)
    assert np.abs(own.q[:7] - HRP2.postures["half_sitting"][:7]).max() < 0.01  # it stands
    assert np.abs(own.q - q).max() < 0.05


def test_a_board_met_early_is_a_contact_at_once():
    """The hand moves towards a board that is nearer than its place: the clock goes on, nothing is pushed hard."""
    motion, joint = still(HRP2, "half_sitting", 1.6, 1.4), HRP2.index_q("RARM_JOINT3")
    times = np.linspace(0.0, 1.6, 161)
    share = np.clip((times - 0.4) / 1.0, 0.0, 1.0)
    way = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
    q = np.tile(motion.q[0], (len(times), 1))
    q[:, joint] += 0.15 * (way - 1.0)  # it ends at the posture for which the board is placed
    v = np.zeros((len(times), HRP2.model.nv))
    v[:, HRP2.index_v("RARM_JOINT3")] = np.gradient(q[:, joint], times)
    moving = WholeBodyTrajectory(HRP2, times, q, v, np.zeros_like(v), motion.contacts)
    simulation, tracker, own = tracked(hand_before_a_board(-0.002), moving)
    own.set_state(moving.q[0])
    forces = []
    simulation.run(2.5, lambda simulation: forces.append(pressed(simulation)))
    assert tracker.mode is TrackMode.DONE
    assert np.convolve(forces, np.full(50, 0.02), "valid").max() < 60.0  # over 50 ms, the impact is over in less


def test_a_copy_goes_on_by_itself_and_gives_the_same_commands():
    simulation, tracker, own = tracked("bip_stand", still(BIP, "standing", 1.0))
    simulation.run(0.3)
    simulation.apply_wrench("bip/trunk", [0.0, 150.0, 0.0], duration=0.1)
    simulation.run(0.1)
    other = copy.deepcopy(tracker)
    assert other.robot is tracker.robot
    reading = measure(simulation, "bip")
    one, two = tracker.update(0.402, reading), other.update(0.402, reading)
    np.testing.assert_array_equal(one.efforts, two.efforts)
    tracker.reset()
    assert tracker.phase == 0.0
    assert other.phase > 0.05
    assert own.name == "bip"


def test_a_robot_that_is_thrown_down_goes_soft():
    simulation, tracker, _ = tracked("bip_stand", still(BIP, "standing", 2.0))
    simulation.run(0.3)
    simulation.apply_wrench("bip/trunk", [-1500.0, 0.0, 0.0], duration=0.2)
    simulation.run(1.2)
    assert tracker.mode is TrackMode.FALLEN
    assert "off the plan" in tracker.reason


def test_what_it_cannot_move_is_refused():
    nowhere = replace(BIP.contacts["left_sole"], name="pelvis")
    rest = np.zeros((2, BIP.model.nv))
    q = [BIP.postures["standing"]] * 2
    motion = WholeBodyTrajectory(BIP, [0, 1], q, rest, rest, [ContactSpan(Contact(nowhere, GROUND, 0, 0, 0), 0.0, 1.0)])
    with pytest.raises(InputError, match="pelvis"):
        MotionTracker(motion)
    with pytest.raises(InputError, match="depth"):
        TrackerSettings(depth=0.0)
    tracker = MotionTracker(still(BIP, "standing", 1.0))
    with pytest.raises(InputError, match="q: is"):
        tracker.respond(0.0, np.zeros(3), np.zeros(BIP.model.nv), {})
