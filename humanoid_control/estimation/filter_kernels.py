# SPDX-License-Identifier: Apache-2.0
r"""The arithmetic of the invariant filter, in kernels; :mod:`.invariant_filter` says what it is.

Errors are right-invariant, "truth from estimate": :math:`R = e^{\epsilon_R}\hat R`,
:math:`p = \Gamma_0(\epsilon_R)\hat p + \Gamma_1(\epsilon_R)\epsilon_p`, likewise velocity and places of contacts;
:math:`b = \hat b + \epsilon_b`; :math:`Z = e^{\epsilon_Z}\hat Z` of a contact's orientation. All are seen in the world.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_control.estimation.rotation_series import (
    add_cross,
    copy_matrix,
    gamma,
    gamma_derivative,
    multiply,
    rotation_vector,
)
from humanoid_model.arrays import Array
from humanoid_model.compiling import uncounted

NONE, POINT, POSE = range(3)
"""Kinds of contacts: there is none, its place stands still, its place and orientation do."""
ROTATION, VELOCITY, POSITION, GYRO_BIAS, FORCE_BIAS, CONTACTS = 0, 3, 6, 9, 12, 15
"""Where the parts of an error begin; each contact has six numbers, its place and its orientation."""


class FilterState(NamedTuple):
    """State, covariance and work space of a filter with N contacts at most, whose error has n = 15 + 6 N parts.

    Attributes:
        rotations: of the sensor and of the contacts in the world, shape (1 + N, 3, 3).
        vectors: velocity [m/s] and position [m] of the sensor, places of the contacts [m], in the world, (2 + N, 3).
        biases: of gyroscope [rad/s] and accelerometer [m/s²], in the sensor's frame, shape (2, 3).
        kinds: of the contacts, shape (N,).
        covariance: of the error, shape (n, n); zero for contacts that aren't there.
        trends: of each contact, running mean of its innovations in their deviations, shape (N, 6).
        gravity: acceleration, along -z [m/s²].
        blocks: work space, shape (9 + N, 3, 3).
        rows: work space, shape (8, n).
        noise: work space, shape (6, 6).
    """

    rotations: Array
    vectors: Array
    biases: Array
    kinds: np.ndarray
    covariance: Array
    trends: Array
    gravity: float
    blocks: Array
    rows: Array
    noise: Array


@uncounted()
def _advance_error(state: FilterState, dt: float, x: np.ndarray) -> None:
    """Multiply a vector (n,) by the transition matrix whose blocks :func:`propagate` has written."""
    B, g = state.blocks, state.gravity
    r_0, r_1, w_0, w_1, w_2 = x[0], x[1], x[9], x[10], x[11]
    a_0, a_1, a_2 = x[12], x[13], x[14]
    for i in range(3):
        turned = g * r_1 if i == 0 else (-g * r_0 if i == 1 else 0.0)
        v = x[3 + i]
        x[i] += B[0, i, 0] * w_0 + B[0, i, 1] * w_1 + B[0, i, 2] * w_2
        x[3 + i] += turned * dt + B[1, i, 0] * w_0 + B[1, i, 1] * w_1 + B[1, i, 2] * w_2
        x[3 + i] += B[2, i, 0] * a_0 + B[2, i, 1] * a_1 + B[2, i, 2] * a_2
        x[6 + i] += v * dt + 0.5 * turned * dt * dt + B[3, i, 0] * w_0 + B[3, i, 1] * w_1 + B[3, i, 2] * w_2
        x[6 + i] += B[4, i, 0] * a_0 + B[4, i, 1] * a_1 + B[4, i, 2] * a_2
        for k in range(len(state.kinds)):
            if state.kinds[k] != NONE:
                x[15 + 6 * k + i] += B[5 + k, i, 0] * w_0 + B[5 + k, i, 1] * w_1 + B[5 + k, i, 2] * w_2


@uncounted()
def _add_product(P: np.ndarray, at: int, to: int, A: np.ndarray, B: np.ndarray, factor: float) -> None:
    """Add A Bᵀ times a factor to a block of the covariance and its mirror image."""
    for i in range(3):
        for j in range(3):
            value = factor * (A[i, 0] * B[j, 0] + A[i, 1] * B[j, 1] + A[i, 2] * B[j, 2])
            P[at + i, to + j] += value
            if at != to:
                P[to + j, at + i] += value


@uncounted()
def _add_noise(state: FilterState, noise: np.ndarray, contact_noise: np.ndarray, dt: float) -> None:
    """Add what inertial noise and moving contacts bring in a step; see :func:`propagate`."""
    P, B = state.covariance, state.blocks
    gyro, force, count = noise[0] ** 2 / dt, noise[1] ** 2 / dt, 3 + len(state.kinds)
    for a in range(count):
        if a >= 3 and state.kinds[a - 3] == NONE:
            continue
        one, at = (2 * a - 1 if a in (1, 2) else (0 if a == 0 else 2 + a)), (3 * a if a < 3 else 15 + 6 * (a - 3))
        for b in range(a, count):
            if b >= 3 and state.kinds[b - 3] == NONE:
                continue
            other, to = (2 * b - 1 if b in (1, 2) else (0 if b == 0 else 2 + b)), (3 * b if b < 3 else 15 + 6 * (b - 3))
            _add_product(P, at, to, B[one], B[other], gyro)
    _add_product(P, VELOCITY, VELOCITY, B[2], B[2], force)
    _add_product(P, VELOCITY, POSITION, B[2], B[4], force)
    _add_product(P, POSITION, POSITION, B[4], B[4], force)
    for i in range(3):
        P[GYRO_BIAS + i, GYRO_BIAS + i] += noise[2] ** 2 * dt
        P[FORCE_BIAS + i, FORCE_BIAS + i] += noise[3] ** 2 * dt
    lever, turn = B[-1], B[-2]
    turn[:] = 0.0
    for k in range(len(state.kinds)):
        if state.kinds[k] == NONE:
            continue
        at = CONTACTS + 6 * k
        moving, rolling = contact_noise[k, 0] ** 2 * dt, contact_noise[k, 1] ** 2 * dt
        Z, ahead, aside = state.rotations[1 + k], contact_noise[k, 2], contact_noise[k, 3]
        x = -Z[0, 0] * ahead - Z[0, 1] * aside  # from there to the contact's origin
        y = -Z[1, 0] * ahead - Z[1, 1] * aside
        z = -Z[2, 0] * ahead - Z[2, 1] * aside
        lever[0, 0], lever[1, 1], lever[2, 2] = 0.0, 0.0, 0.0
        lever[0, 1], lever[0, 2], lever[1, 2] = z, -y, x  # -[r]x
        lever[1, 0], lever[2, 0], lever[2, 1] = -z, y, -x
        for i in range(3):
            turn[i, i] = 1.0
            P[at + i, at + i] += moving
        _add_product(P, at, at, lever, lever, rolling)
        if state.kinds[k] == POSE:
            _add_product(P, at, at + 3, lever, turn, rolling)
            _add_product(P, at + 3, at + 3, turn, turn, rolling)


@uncounted()
def propagate(
    state: FilterState, imu: np.ndarray, noise: np.ndarray, contact_noise: np.ndarray, dt: float
) -> None:
    """Integrate rate and specific force over a step in which both are constant, exactly.

    Args:
        state: changed.
        imu: measured angular velocity [rad/s] and specific force [m/s²], shape (2, 3).
        noise: densities of gyroscope [rad/s/√Hz], accelerometer [m/s²/√Hz], of the walks of their biases [rad/s/√s,
            m/s²/√s], shape (4,).
        contact_noise: of each contact, shape (N, 4): densities of its velocity [m/s/√Hz] and of its rolling
            [rad/s/√Hz] about a place at (x, y, 0) in its frame [m].
        dt: above 0 [s].
    """
    R, v, p, B, g = state.rotations[0], state.vectors[0], state.vectors[1], state.blocks, state.gravity
    phi, force, moved, line = state.rows[0], state.rows[1], state.rows[2], state.rows[3]
    for i in range(3):
        phi[i] = (imu[0, i] - state.biases[0, i]) * dt
        force[i] = imu[1, i] - state.biases[1, i]
    once, twice, slope, place = B[-1], B[-2], B[-3], B[-4]
    gamma(1, phi, once)
    gamma(2, phi, twice)
    multiply(R, once, -dt, B[0])  # of the rotation, by the gyroscope's bias
    multiply(R, once, -dt, B[2])  # of the velocity, by the accelerometer's
    multiply(R, twice, -dt * dt, B[4])  # of the position
    for i in range(3):
        moved[i] = v[i] * dt
        if i == 2:
            moved[i] -= 0.5 * g * dt * dt
            v[i] -= g * dt
        for j in range(3):
            v[i] -= B[2, i, j] * force[j]
            moved[i] -= B[4, i, j] * force[j]
        p[i] += moved[i]
    gamma_derivative(1, phi, force, slope)
    multiply(R, slope, -dt * dt, B[1])
    add_cross(v, B[0], B[1])
    gamma_derivative(2, phi, force, slope)
    multiply(R, slope, -dt * dt * dt, B[3])
    add_cross(p, B[0], B[3])
    for k in range(len(state.kinds)):
        B[5 + k] = 0.0
        add_cross(state.vectors[2 + k], B[0], B[5 + k])
    gamma(0, phi, once)
    multiply(R, once, 1.0, place)
    copy_matrix(place, R)
    P, n = state.covariance, len(state.covariance)
    for j in range(n):
        for i in range(n):
            line[i] = P[i, j]
        _advance_error(state, dt, line)
        for i in range(n):
            P[i, j] = line[i]
    for i in range(n):
        _advance_error(state, dt, P[i])
    _add_noise(state, noise, contact_noise, dt)


@uncounted()
def remove_contact(state: FilterState, k: int) -> None:
    """Take contact k out: its rows and columns go, which marginalises it."""
    state.kinds[k] = NONE
    for i in range(6):
        state.trends[k, i] = 0.0
    for i in range(CONTACTS + 6 * k, CONTACTS + 6 * k + 6):
        for j in range(len(state.covariance)):
            state.covariance[i, j] = 0.0
            state.covariance[j, i] = 0.0


@uncounted()
def _turn_noise(R: np.ndarray, N: np.ndarray, out: np.ndarray) -> None:
    """Write a covariance (6, 6) of two vectors, turned into the world, into ``out`` (6, 6)."""
    for a in range(2):
        for b in range(2):
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for k in range(3):
                        for m in range(3):
                            total += R[i, k] * N[3 * a + k, 3 * b + m] * R[j, m]
                    out[3 * a + i, 3 * b + j] = total


@uncounted()
def add_contact(state: FilterState, k: int, kind: int, seen: np.ndarray, N: np.ndarray) -> None:
    """Put contact k where the joints say that it is.

    Args:
        state: changed.
        k: number of a contact that isn't there.
        kind: POINT or POSE.
        seen: rotation and, in its last row, origin [m] of the contact in the sensor's frame, shape (4, 3).
        N: covariance of that origin [m] and of the rotation [rad] seen in the sensor's frame, shape (6, 6).
    """
    R, P, at = state.rotations[0], state.covariance, CONTACTS + 6 * k
    state.kinds[k] = kind
    multiply(R, seen, 1.0, state.rotations[1 + k])
    for i in range(3):
        state.vectors[2 + k, i] = state.vectors[1, i]
        for j in range(3):
            state.vectors[2 + k, i] += R[i, j] * seen[3, j]
    held, turned = (6 if kind == POSE else 3), state.noise
    for i in range(held):
        source = POSITION + i if i < 3 else ROTATION + i - 3
        for j in range(len(P)):
            P[at + i, j] = P[source, j]
    for i in range(held):
        source = POSITION + i if i < 3 else ROTATION + i - 3
        for j in range(len(P)):
            P[j, at + i] = P[j, source]
    _turn_noise(R, N, turned)
    for i in range(held):
        for j in range(held):
            P[at + i, at + j] += turned[i, j]


@uncounted()
def _apply(state: FilterState, e: np.ndarray) -> None:
    """Move the state by an error (n,)."""
    turn, mean, place = state.blocks[-1], state.blocks[-2], state.blocks[-3]
    gamma(0, e[:3], turn)
    gamma(1, e[:3], mean)
    multiply(turn, state.rotations[0], 1.0, place)
    # One step of Newton's towards the nearest rotation: what rounding adds in each tick goes.
    square = state.blocks[-4]
    for i in range(3):
        for j in range(3):
            square[i, j] = -0.5 * (place[0, i] * place[0, j] + place[1, i] * place[1, j] + place[2, i] * place[2, j])
        square[i, i] += 1.5
    multiply(place, square, 1.0, state.rotations[0])
    for k in range(2 + len(state.kinds)):
        if k >= 2 and state.kinds[k - 2] == NONE:
            continue
        at, vector = (3 + 3 * k if k < 2 else CONTACTS + 6 * (k - 2)), state.vectors[k]
        x, y, z, u, v, w = vector[0], vector[1], vector[2], e[at], e[at + 1], e[at + 2]
        for i in range(3):
            vector[i] = turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z
            vector[i] += mean[i, 0] * u + mean[i, 1] * v + mean[i, 2] * w
    for i in range(3):
        state.biases[0, i] += e[GYRO_BIAS + i]
        state.biases[1, i] += e[FORCE_BIAS + i]
    for k in range(len(state.kinds)):
        if state.kinds[k] == POSE:
            gamma(0, e[CONTACTS + 6 * k + 3 : CONTACTS + 6 * k + 6], turn)
            multiply(turn, state.rotations[1 + k], 1.0, place)
            copy_matrix(place, state.rotations[1 + k])


@uncounted()
def correct(state: FilterState, k: int, seen: np.ndarray, N: np.ndarray, gate: np.ndarray) -> float:
    r"""Correct the state by where the joints see a contact, unless that is too far from where it was.

    The innovation of a place is :math:`\hat R h + \hat p - \hat d = \epsilon_d - \epsilon_p + R w`, that of an
    orientation :math:`\log(\hat R h_R \hat Z^T) = \epsilon_Z - \epsilon_R + R w_R`: linear, and by the same
    matrices wherever the robot is, so that what can't be observed (place and heading) stays so.

    Args:
        state: changed.
        k: number of a contact that is there.
        seen: as of :func:`add_contact`.
        N: likewise.
        gate: largest squared Mahalanobis distance at which a point and a pose are believed, and the share of this
            innovation in their running mean, shape (3,).

    Returns:
        The squared Mahalanobis distance of this innovation or of their running mean, whichever is larger: a slow slip
        shows there alone, as innovations are white otherwise. The state is as it was if it is above the gate, or NaN.
    """
    R, P, at, n = state.rotations[0], state.covariance, CONTACTS + 6 * k, len(state.covariance)
    held, gain, e = (6 if state.kinds[k] == POSE else 3), state.rows[:6], state.rows[6]
    z, L, turn, place = state.rows[7], state.noise, state.blocks[-1], state.blocks[-2]
    for i in range(3):
        z[i] = state.vectors[1, i] - state.vectors[2 + k, i]
        for j in range(3):
            z[i] += R[i, j] * seen[3, j]
    if held == 6:
        multiply(R, seen, 1.0, turn)
        for i in range(3):
            for j in range(3):
                place[i, j] = 0.0
                for m in range(3):
                    place[i, j] += turn[i, m] * state.rotations[1 + k, j, m]
        rotation_vector(place, z[3:6])
    _turn_noise(R, N, L)
    for i in range(held):
        source = POSITION + i if i < 3 else ROTATION + i - 3
        for j in range(n):
            gain[i, j] = P[j, at + i] - P[j, source]
    for i in range(held):
        for j in range(held):
            source = POSITION + j if j < 3 else ROTATION + j - 3
            L[i, j] += gain[i, at + j] - gain[i, source]
    distance = 0.0
    for i in range(held):  # Cholesky, and the triangular systems of the innovation and of the gain with it
        for j in range(i):
            for m in range(j):
                L[i, j] -= L[i, m] * L[j, m]
            L[i, j] /= L[j, j]
        for m in range(i):
            L[i, i] -= L[i, m] * L[i, m]
        L[i, i] = math.sqrt(L[i, i])
        for m in range(i):
            z[i] -= L[i, m] * z[m]
        z[i] /= L[i, i]
        distance += z[i] * z[i]
    slow, share = 0.0, gate[2]
    for i in range(held):
        state.trends[k, i] += share * (z[i] - state.trends[k, i])
        slow += state.trends[k, i] ** 2 * (2.0 - share) / share
    distance = max(distance, slow)
    if not distance <= gate[0 if held == 3 else 1]:
        return distance
    for i in range(held):
        for m in range(i):
            factor = L[i, m]
            for j in range(n):
                gain[i, j] -= factor * gain[m, j]
        scale = 1.0 / L[i, i]
        for j in range(n):
            gain[i, j] *= scale
    for j in range(n):
        e[j] = 0.0
        for i in range(held):
            e[j] += gain[i, j] * z[i]
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for m in range(held):
                total += gain[m, i] * gain[m, j]
            P[i, j] -= total
            P[j, i] = P[i, j]
    _apply(state, e)
    return distance
