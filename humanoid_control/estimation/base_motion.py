# SPDX-License-Identifier: Apache-2.0
"""From the state of the filter to the base and the contacts, in kernels."""

from __future__ import annotations

import math

import numpy as np

from humanoid_control.estimation.filter_kernels import NONE, POSE, FilterState
from humanoid_control.estimation.imu_kinematics import FrameMotion
from humanoid_control.estimation.rotation_series import copy_matrix, multiply
from humanoid_model.compiling import uncounted


@uncounted()
def _quaternion(R: np.ndarray, out: np.ndarray) -> None:
    """Write the quaternion x, y, z, w of a rotation into ``out`` (4,), by its largest component."""
    k, trace = 3, R[0, 0] + R[1, 1] + R[2, 2]
    largest = trace
    for i in range(3):
        if R[i, i] > largest:
            k, largest = i, R[i, i]
    if k == 3:
        out[3] = 1.0 + trace
        out[0], out[1], out[2] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        out[k] = 1.0 + R[k, k] - R[i, i] - R[j, j]
        out[i], out[j], out[3] = R[i, k] + R[k, i], R[j, k] + R[k, j], R[j, i] - R[i, j]
    scale = 1.0 / math.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    for i in range(4):
        out[i] *= scale


@uncounted()
def tell_motion(
    state: FilterState, imu: np.ndarray, motion: FrameMotion, places: np.ndarray, moves: np.ndarray
) -> None:
    """Write where the contacts and the base are in the world, and how fast, if contacts are where joints see them.

    Args:
        state: of the filter.
        imu: measured angular velocity [rad/s] and specific force [m/s²], shape (2, 3).
        motion: of the contacts, of the base and of other frames.
        places: written: of the N contacts and the base, rotation and, in the last row, origin [m], shape (1 + N, 4, 3).
        moves: written: velocity [m/s] and rate [rad/s] of each, in the sensor's axes, shape (1 + N, 2, 3).
    """
    R, v, p, seen, speeds = state.rotations[0], state.vectors[0], state.vectors[1], motion.seen, motion.speeds
    w_0, w_1, w_2 = imu[0, 0] - state.biases[0, 0], imu[0, 1] - state.biases[0, 1], imu[0, 2] - state.biases[0, 2]
    for k in range(len(moves)):
        multiply(R, seen[k], 1.0, places[k])
        x, y, z = seen[k, 3, 0], seen[k, 3, 1], seen[k, 3, 2]
        for i in range(3):
            places[k, 3, i] = p[i] + R[i, 0] * x + R[i, 1] * y + R[i, 2] * z
            moves[k, 0, i] = speeds[k, 0, i] + R[0, i] * v[0] + R[1, i] * v[1] + R[2, i] * v[2]
        moves[k, 0, 0] += w_1 * z - w_2 * y
        moves[k, 0, 1] += w_2 * x - w_0 * z
        moves[k, 0, 2] += w_0 * y - w_1 * x
        moves[k, 1, 0] = speeds[k, 1, 0] + w_0
        moves[k, 1, 1] = speeds[k, 1, 1] + w_1
        moves[k, 1, 2] = speeds[k, 1, 2] + w_2


@uncounted()
def tell_state(
    state: FilterState, imu: np.ndarray, motion: FrameMotion, places: np.ndarray, moves: np.ndarray, base: np.ndarray
) -> None:
    """Write what :func:`tell_motion` does, contacts where they stand; then the sensor's place, and the base.

    Args:
        state: of the filter.
        imu: as of :func:`tell_motion`.
        motion: likewise.
        places: likewise, and of the sensor, shape (2 + N, 4, 3).
        moves: likewise.
        base: written: origin [m] and quaternion in the world, twist in its own frame, linear first, shape (13,).
    """
    tell_motion(state, imu, motion, places, moves)
    count = len(state.kinds)
    for k in range(count):
        if state.kinds[k] != NONE:
            for i in range(3):
                places[k, 3, i] = state.vectors[2 + k, i]
        if state.kinds[k] == POSE:
            copy_matrix(state.rotations[1 + k], places[k])
    copy_matrix(state.rotations[0], places[count + 1])
    S = motion.seen[count]
    for i in range(3):
        places[count + 1, 3, i] = state.vectors[1, i]
        base[i] = places[count, 3, i]
        for part in range(2):
            base[7 + 3 * part + i] = 0.0
            for j in range(3):
                base[7 + 3 * part + i] += S[j, i] * moves[count, part, j]
    _quaternion(places[count], base[3:7])
