# SPDX-License-Identifier: Apache-2.0
"""Joint angles of the legs that put the soles and the centre of mass where a walk needs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_control.walking.footstep_plan import support_soles
from humanoid_model import Robot
from humanoid_model.errors import InputError

_DAMPING = 1e-8
"""Of the least squares where they converge; it only matters where legs are stretched."""
_MAX_ITERATIONS = 60
_CLOSE = 1e-10
"""Largest error of a solution [m, rad]."""


@dataclass(frozen=True)
class LegSolution:
    """A configuration and what it misses.

    Attributes:
        q: configuration of the robot, shape (nq,).
        missed: by sole, how far it is from its place [m]; all below 1e-9 where the legs are long enough.
        tilted: by sole, by which angle it is turned away [rad].
        astray: distance of the centre of mass from its place in the ground's plane [m].
    """

    q: NDArray[np.float64]
    missed: Mapping[str, float]
    tilted: Mapping[str, float]
    astray: float

    @property
    def reached(self) -> bool:
        """Whether everything is in its place."""
        return max(*self.missed.values(), *self.tilted.values(), self.astray) < 1e-7


class LegKinematics:
    """Inverse kinematics of two legs under an upright trunk, by damped least squares.

    Unknown are the joints of both legs and the horizontal position of the base; given are the places of both soles, the
    base's height and heading, and the horizontal position of the centre of mass of the whole robot, whose other joints
    keep their angles.

    Attributes:
        robot: with two support contacts.
        soles: their names.
        leg_joints: driven joints between the base and the soles, by sole.
    """

    def __init__(self, robot: Robot) -> None:
        """Find the legs.

        Raises:
            InputError: a robot without two soles or a floating base, a leg with a joint that isn't a revolute or
                prismatic one, legs that share a joint.
        """
        self.robot = robot
        self.soles = support_soles(robot)
        model = robot.model
        names = {robot.parts.joint_ids[name]: name for name in robot.joint_names}
        self.leg_joints: dict[str, tuple[str, ...]] = {}
        for sole in self.soles:
            path = model.supports[robot.parts.links[robot.contacts[sole].link].joint_id]
            moved = [names[joint] for joint in path if joint in names and names[joint] in robot.actuators]
            for name in moved:
                if model.joints[robot.parts.joint_ids[name]].nq != 1:
                    raise InputError(
                        f"the joint '{name}' has more than one coordinate",
                        element=f"robot '{robot.name}'",
                        remedy="Model the leg with revolute joints",
                    )
            self.leg_joints[sole] = tuple(moved)
        first, second = (set(self.leg_joints[sole]) for sole in self.soles)
        if first & second:
            raise InputError(
                f"both soles hang on the joint '{(first & second).pop()}'",
                element=f"robot '{robot.name}'",
                remedy="Let the root link be the one that both legs are attached to",
            )
        joints = [joint for sole in self.soles for joint in self.leg_joints[sole]]
        self._places_q = np.array([robot.index_q(joint) for joint in joints])
        self._places_v = np.array([robot.index_v(joint) for joint in joints])
        assert robot.base_joint is not None
        self._base_q = model.joints[robot.base_joint].idx_q
        self._base_v = model.joints[robot.base_joint].idx_v
        self._base_frame = model.jointPlacements[robot.base_joint]
        self._data = model.createData()
        self._attached = {
            sole: (
                robot.parts.links[robot.contacts[sole].link].joint_id,
                robot.parts.links[robot.contacts[sole].link].placement_joint_link
                * robot.contacts[sole].placement_link_patch,
            )
            for sole in self.soles
        }

    def ankle(self, sole: str) -> NDArray[np.float64]:
        """Where the last joint of a leg is in the frame of its sole [m], shape (3,), with what is beyond it unbent."""
        model, data = self.robot.model, self._data
        pin.forwardKinematics(model, data, self.robot.postures["zero"])
        joint, placement = self._attached[sole]
        last = self.robot.parts.joint_ids[self.leg_joints[sole][-1]]
        return np.asarray((data.oMi[joint] * placement).actInv(data.oMi[last]).translation)

    def solve(
        self,
        q_start: NDArray[np.float64],
        base_rotation: NDArray[np.float64],
        base_height: float,
        centre_of_mass: NDArray[np.float64],
        soles: Mapping[str, pin.SE3],
    ) -> LegSolution:
        """Find the configuration.

        Args:
            q_start: begins the search and gives the other joints, shape (nq,).
            base_rotation: of the base's joint frame in the world, shape (3, 3).
            base_height: of the base's joint frame [m].
            centre_of_mass: of the whole robot, horizontally [m], shape (2,).
            soles: place of each sole's frame in the world.

        Returns:
            The configuration, also where it misses something: then it misses the least.
        """
        q = np.array(q_start, dtype=float)
        base = self._base_q
        q[base + 2] = base_height
        q[base + 3 : base + 7] = pin.Quaternion(base_rotation).coeffs()
        world_base = base_rotation[:2].T  # base coordinates of a horizontal motion in the world
        damping, least, error = _DAMPING, np.inf, self._error(q, centre_of_mass, soles)
        norm = float(np.linalg.norm(error))
        for _ in range(_MAX_ITERATIONS):
            if np.abs(error).max() < _CLOSE or damping > 1e3:
                break
            J = self._jacobian(q, world_base)
            normal = J.T @ J
            step = np.linalg.solve(normal + damping * np.eye(len(normal)), -J.T @ error)
            trial = q.copy()
            trial[base : base + 2] += step[:2]
            trial[self._places_q] += step[2:]
            trial_error = self._error(trial, centre_of_mass, soles)
            least = float(np.linalg.norm(trial_error))
            if least < norm:
                stalled = norm - least < 1e-9 * norm
                q, error, norm = trial, trial_error, least
                damping = max(_DAMPING, 0.1 * damping)
                if stalled and norm > 1e-6:
                    break
            else:
                damping *= 10.0
        rows = error[:-2].reshape(-1, 6)
        return LegSolution(
            q,
            {sole: float(np.linalg.norm(row[:3])) for sole, row in zip(self.soles, rows, strict=True)},
            {sole: float(np.linalg.norm(row[3:])) for sole, row in zip(self.soles, rows, strict=True)},
            float(np.linalg.norm(error[-2:])),
        )

    def _error(
        self, q: NDArray[np.float64], centre: NDArray[np.float64], soles: Mapping[str, pin.SE3]
    ) -> NDArray[np.float64]:
        """Motions from the soles' goals to the soles, and of the centre of mass, shape (14,)."""
        data = self._data
        reached = pin.centerOfMass(self.robot.model, data, q)
        parts = []
        for sole, (joint, placement) in self._attached.items():
            parts.append(pin.log6(soles[sole].actInv(data.oMi[joint] * placement)).vector)
        return np.concatenate([*parts, reached[:2] - centre])

    def _jacobian(self, q: NDArray[np.float64], world_base: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return derivative of the error by the base's horizontal position and the legs' joints, shape (14, 2 + n)."""
        model, data = self.robot.model, self._data
        full = np.empty((14, model.nv))
        full[12:] = pin.jacobianCenterOfMass(model, data, q)[:2]
        pin.computeJointJacobians(model, data, q)
        for row, (joint, placement) in enumerate(self._attached.values()):
            local = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL)
            full[6 * row : 6 * row + 6] = placement.toActionMatrixInverse() @ local
        moved = full[:, self._base_v : self._base_v + 3] @ world_base
        return np.hstack([moved, full[:, self._places_v]])
