# SPDX-License-Identifier: Apache-2.0
"""Frames seen from an inertial measurement unit, against Pinocchio's placements and their differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.estimation.imu_kinematics import ImuKinematics
from humanoid_model import load_robot

STEP = 1e-6


@pytest.mark.parametrize("name", ["hrp2", "bip", "avatar"])
def test_frames_move_as_differences_do_and_err_as_encoders(name: str) -> None:
    robot, rng = load_robot(name), np.random.default_rng(1)
    model, imu = robot.model, robot.sensors["imu"]
    contacts = list(robot.contacts.values())
    frames = [(imu.link, imu.placement_link_sensor), (robot.description.root, pin.SE3.Random())]
    frames += [(contact.link, contact.placement_link_patch) for contact in (contacts[0], contacts[-1])]
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3.Identity())
    v, variances = rng.normal(size=model.nv), rng.uniform(size=model.nv)
    motion = ImuKinematics(robot, frames, 0.1).look(q, v, variances)

    def seen(q: np.ndarray) -> list[pin.SE3]:
        links = robot.link_placements(q)
        sensor, *others = (links[link] * placement for link, placement in frames)
        return [sensor.actInv(other) for other in others]

    def difference(direction: np.ndarray) -> list[np.ndarray]:
        ends = seen(pin.integrate(model, q, STEP * direction)), seen(pin.integrate(model, q, -STEP * direction))
        return [
            np.concatenate([a.translation - b.translation, pin.log3(a.rotation @ b.rotation.T)]) / (2.0 * STEP)
            for a, b in zip(*ends, strict=True)
        ]

    v[:6] = 0.0
    J = np.array([difference(unit) for unit in np.eye(model.nv)])
    for k, (placement, speed) in enumerate(zip(seen(q), difference(v), strict=True)):
        assert np.abs(motion.seen[k, :3] - placement.rotation).max() < 1e-12
        assert np.abs(motion.seen[k, 3] - placement.translation).max() < 1e-12
        assert np.abs(motion.speeds[k].ravel() - speed).max() < 1e-7
        spread = J[:, k].T @ np.diag(variances) @ J[:, k] + 0.01 * np.eye(6)
        assert np.abs(motion.covariances[k] - spread).max() < 1e-7
