# SPDX-License-Identifier: Apache-2.0
"""What computes joint positions and efforts along a motion: anything that offers the two functions; Pinocchio here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from tqdm import tqdm

from humanoid_model import Robot
from humanoid_studies.humod.recording import FEET

#: HuMoD's y points up.
GRAVITY = np.array([0.0, -9.81, 0.0])


@dataclass(frozen=True)
class Evaluator:
    """Model of the person whose motion is replayed.

    Attributes:
        name: shown in plots.
        joint_names: (nq,) names of the coordinates, in the order of ``q``; those of ``JOINTS`` in any order.
        joint_positions: from ``q`` (N, nq) the joints' places in the world (N, nq, 3), m, as ``joint_names``.
        efforts: from ``q``, ``v``, ``a`` (N, nq) and the wrenches (N, 2, 6) on the links of ``FEET`` (force and torque
            at the link's origin, world axes, exerted on the link) the efforts (N, nq), N and N m, gravity along -y.
    """

    name: str
    joint_names: tuple[str, ...]
    joint_positions: Callable[[np.ndarray], np.ndarray]
    efforts: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def pinocchio_evaluator(robot: Robot, *, progress: bool = False) -> Evaluator:
    """Return the evaluator by Pinocchio's forward kinematics and recursive Newton-Euler algorithm.

    Args:
        robot: a 3P33R robot as ``load_robot`` gives it.
        progress: shows a bar per computation.
    """
    model = robot.model.copy()
    model.gravity.linear = GRAVITY
    data = model.createData()
    joint_ids = [robot.parts.joint_ids[name] for name in robot.joint_names]
    feet = [robot.parts.links[link] for link in FEET]

    def joint_positions(q: np.ndarray) -> np.ndarray:
        result = np.empty((len(q), len(joint_ids), 3))
        for k in tqdm(range(len(q)), desc="joint positions", unit="frame", disable=not progress):
            pin.forwardKinematics(model, data, q[k])
            for i, joint in enumerate(joint_ids):
                result[k, i] = data.oMi[joint].translation
        return result

    def efforts(q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        result = np.empty((len(q), model.nv))
        external = pin.StdVec_Force()
        external.extend([pin.Force.Zero() for _ in range(model.njoints)])
        for k in tqdm(range(len(q)), desc="efforts", unit="frame", disable=not progress):
            pin.forwardKinematics(model, data, q[k])
            for link, wrench in zip(feet, wrenches[k], strict=True):
                rotation = (data.oMi[link.joint_id] * link.placement_joint_link).rotation
                local = pin.Force(rotation.T @ wrench[:3], rotation.T @ wrench[3:])
                external[link.joint_id] = link.placement_joint_link.act(local)
            result[k] = pin.rnea(model, data, q[k], v[k], a[k], external)
        return result

    return Evaluator("Pinocchio", robot.joint_names, joint_positions, efforts)
