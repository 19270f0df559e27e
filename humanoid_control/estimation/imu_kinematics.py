# SPDX-License-Identifier: Apache-2.0
"""Where frames of a robot are and how they move, seen from its inertial measurement unit, with what encoders err."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.compiling import uncounted


class FrameTable(NamedTuple):
    """Frames on the robot: first the sensor's, then F others.

    Attributes:
        joints: row of ``placements`` that carries a frame, shape (1 + F,).
        rotations: of the frames in their joints, shape (1 + F, 3, 3).
        origins: of the frames in their joints [m], shape (1 + F, 3).
        columns: coordinates of joints between the sensor and a frame, then -1, shape (1 + F, nv).
        signs: whether they move the frame (1) or the sensor (-1), likewise.
        placements: of the joints in the base: rotation and, in the last row, origin [m]; written by
            :meth:`ImuKinematics.look`, shape (J, 4, 3).
    """

    joints: np.ndarray
    rotations: Array
    origins: Array
    columns: np.ndarray
    signs: Array
    placements: Array


class FrameMotion(NamedTuple):
    """Of F frames, seen from the sensor and in its axes.

    Attributes:
        seen: rotation and, in the last row, origin [m], shape (F, 4, 3).
        speeds: of the origin [m/s] and of the turning [rad/s], shape (F, 2, 3).
        covariances: of origin [m] and rotation [rad] by the encoders' errors, shape (F, 6, 6).
    """

    seen: Array
    speeds: Array
    covariances: Array


@uncounted()
def _place(table: FrameTable, k: int, R: np.ndarray, p: np.ndarray) -> None:
    """Write where frame k is in the base."""
    M, A, a = table.placements[table.joints[k]], table.rotations[k], table.origins[k]
    for i in range(3):
        p[i] = M[3, i]
        for j in range(3):
            p[i] += M[i, j] * a[j]
            R[i, j] = M[i, 0] * A[0, j] + M[i, 1] * A[1, j] + M[i, 2] * A[2, j]


@uncounted()
def _look(table: FrameTable, J: np.ndarray, v: np.ndarray, variances: np.ndarray, floor: float, work: np.ndarray,
          motion: FrameMotion) -> None:  # fmt: skip
    """Fill ``motion``; J (6, nv) has the columns of all joints about the base's origin, ``work`` is (10, 3)."""
    R, p, S, s, lever, column = work[:3], work[3], work[4:7], work[7], work[8], work[9]
    _place(table, 0, R, p)
    for k in range(len(motion.seen)):
        _place(table, 1 + k, S, s)
        seen, speed, N = motion.seen[k], motion.speeds[k], motion.covariances[k]
        for i in range(3):
            lever[i] = s[i] - p[i]
        for i in range(3):
            seen[3, i] = R[0, i] * lever[0] + R[1, i] * lever[1] + R[2, i] * lever[2]
            speed[0, i], speed[1, i] = 0.0, 0.0
            for j in range(3):
                seen[i, j] = R[0, i] * S[0, j] + R[1, i] * S[1, j] + R[2, i] * S[2, j]
        for i in range(6):
            for j in range(6):
                N[i, j] = 0.0
            N[i, i] = floor
        for entry in range(table.columns.shape[1]):
            c = table.columns[1 + k, entry]
            if c < 0:
                break
            sign, w_0, w_1, w_2 = table.signs[1 + k, entry], J[3, c], J[4, c], J[5, c]
            column[0] = sign * (J[0, c] + w_1 * s[2] - w_2 * s[1])
            column[1] = sign * (J[1, c] + w_2 * s[0] - w_0 * s[2])
            column[2] = sign * (J[2, c] + w_0 * s[1] - w_1 * s[0])
            u_0 = R[0, 0] * column[0] + R[1, 0] * column[1] + R[2, 0] * column[2]
            u_1 = R[0, 1] * column[0] + R[1, 1] * column[1] + R[2, 1] * column[2]
            u_2 = R[0, 2] * column[0] + R[1, 2] * column[1] + R[2, 2] * column[2]
            u_3 = sign * (R[0, 0] * w_0 + R[1, 0] * w_1 + R[2, 0] * w_2)
            u_4 = sign * (R[0, 1] * w_0 + R[1, 1] * w_1 + R[2, 1] * w_2)
            u_5 = sign * (R[0, 2] * w_0 + R[1, 2] * w_1 + R[2, 2] * w_2)
            twist = (u_0, u_1, u_2, u_3, u_4, u_5)
            for i in range(3):
                speed[0, i] += twist[i] * v[c]
                speed[1, i] += twist[3 + i] * v[c]
            for i in range(6):
                for j in range(6):
                    N[i, j] += twist[i] * twist[j] * variances[c]


class ImuKinematics:
    """Frames of a robot as its inertial measurement unit would see them.

    Attributes:
        motion: of the frames, after the last :meth:`look`.
    """

    def __init__(self, robot: Robot, frames: Sequence[tuple[str, pin.SE3]], floor: float) -> None:
        """Find the joints between the frames.

        Args:
            robot: on a free base.
            frames: links and placements in them, the sensor first.
            floor: deviation of each number beyond what encoders tell [m, rad].
        """
        model = self._model = robot.model
        self._data, self._floor = model.createData(), floor**2
        placed = [(robot.parts.links[link], placement) for link, placement in frames]
        joints = [link.joint_id for link, _ in placed]
        placements = [link.placement_joint_link * placement for link, placement in placed]
        self._carriers = sorted(set(joints))
        columns, signs = np.full((len(frames), model.nv), -1), np.zeros((len(frames), model.nv))
        moving = [self._coordinates(joint) for joint in joints]
        for k, own in enumerate(moving):
            between = [*((c, 1.0) for c in own if c not in moving[0]), *((c, -1.0) for c in moving[0] if c not in own)]
            for entry, (c, sign) in enumerate(between):
                columns[k, entry], signs[k, entry] = c, sign
        self._table = FrameTable(
            np.array([self._carriers.index(joint) for joint in joints]),
            np.array([placement.rotation for placement in placements]),
            np.array([placement.translation for placement in placements]),
            columns, signs, np.zeros((len(self._carriers), 4, 3)),
        )  # fmt: skip
        count = len(frames) - 1
        self.motion = FrameMotion(np.zeros((count, 4, 3)), np.zeros((count, 2, 3)), np.zeros((count, 6, 6)))
        self._work = np.zeros((10, 3))
        pin.forwardKinematics(model, self._data, pin.neutral(model))
        self._moving = []
        for row, joint in enumerate(self._carriers):
            placement = self._data.oMi[joint]
            self._table.placements[row, :3], self._table.placements[row, 3] = placement.rotation, placement.translation
            if self._coordinates(joint)[6:]:  # the base itself stays
                self._moving.append((row, joint))

    def look(self, q: Array, v: Array, variances: Array) -> FrameMotion:
        """Return how the frames are placed and move, in arrays that the next call writes again.

        Args:
            q: configuration, shape (nq,), its base where the neutral one has it.
            v: velocity, shape (nv,); that of its base makes no difference.
            variances: of the joints' positions, shape (nv,).
        """
        data, placements = self._data, self._table.placements
        pin.computeJointJacobians(self._model, data, q)
        for row, joint in self._moving:
            placement = data.oMi[joint]
            placements[row, :3], placements[row, 3] = placement.rotation, placement.translation
        _look(self._table, data.J, v, variances, self._floor, self._work, self.motion)
        return self.motion

    def _coordinates(self, joint: int) -> list[int]:
        """Return the velocity coordinates that move a joint's frame, from the base outwards."""
        found = []
        for carrier in self._model.supports[joint]:
            own = self._model.joints[carrier]
            found += list(range(own.idx_v, own.idx_v + own.nv)) if carrier else []
        return found
