# SPDX-License-Identifier: Apache-2.0
"""The shift to the middle of the step against the velocity there; soles that stay while legs move."""

import numpy as np
import pinocchio as pin
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, move_tree
from humanoid_sim import Simulation
from humanoid_sim.stepping.constraints import midpoint_shift


def test_shift_is_the_change_of_velocity_over_half_a_step() -> None:
    """J(q + dt/2 v) v - J(q) v of points fixed to two bodies, to first order in dt."""
    rng = np.random.default_rng(0)
    dt = 1e-5
    for _ in range(20):
        model = random_tree(rng, 12)
        q, v = random_state(model, rng)
        data = model.createData()
        pin.computeJointJacobians(model, data, q)
        motion = TreeMotion.of_size(model.njoints, model.nv)
        move_tree(KinematicTree.from_pinocchio(model), q, v, motion)
        twists, curvatures = motion.twists, motion.curvatures
        a, b = rng.integers(1, model.njoints, 2)
        point = rng.normal(size=3)
        frames = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0]])
        shifts = [
            midpoint_shift(twists, curvatures, int(a), int(b), point, frames[0, t].copy(), dt) for t in range(3)
        ]
        velocities = []
        at = [data.oMi[int(joint)].actInv(point) for joint in (a, b)]
        for moved in (q, pin.integrate(model, q, 0.5 * dt * v)):
            pin.forwardKinematics(model, data, moved, v)
            points = [
                data.oMi[int(joint)].rotation
                @ (data.v[int(joint)].linear + np.cross(data.v[int(joint)].angular, local))
                for joint, local in zip((a, b), at, strict=True)
            ]
            velocities.append(frames[0] @ (points[0] - points[1]))
        change = velocities[1] - velocities[0]
        assert_allclose(shifts, change, atol=1e-3 * max(np.abs(change).max(), 1e-6))


def test_soles_do_not_creep_while_the_robot_squats() -> None:
    """Two squats in six seconds: the soles move by less than 10 nm across the floor."""
    simulation = Simulation("stand")
    robot = simulation.robots["hrp2"]
    simulation.run(0.2)
    start = [simulation.placement(sole).translation for sole in ("hrp2/r_sole", "hrp2/l_sole")]
    names = [f"{side}LEG_JOINT{joint}" for side in "RL" for joint in (2, 3, 4)]
    bend = np.array([-1.0, 2.0, -1.0, -1.0, 2.0, -1.0])
    places = [robot.joint_names.index(name) for name in names]
    before = robot.joint_positions[places]
    furthest = 0.0
    for step in range(6000):
        phase = 2.0 * np.pi * step / 3000
        depth, speed = 0.175 * (1 - np.cos(phase)), 0.175 * np.sin(phase) * 2.0 * np.pi / 3.0
        robot.set_position_target(before + depth * bend, speed * bend, names)
        simulation.step()
        if step % 100 == 0:
            for sole, place in zip(("hrp2/r_sole", "hrp2/l_sole"), start, strict=True):
                moved = simulation.placement(sole).translation - place
                furthest = max(furthest, float(np.abs(moved[:2]).max()))
    assert furthest < 1e-8
