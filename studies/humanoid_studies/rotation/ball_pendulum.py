# SPDX-License-Identifier: Apache-2.0
"""A rod on a ball joint swings in a plane: what each parametrisation makes of it (specification 000, E8).

Started below the joint or raised, with an angular velocity about one horizontal axis, the rod stays in the plane
across that axis, and its axis of swing stays put. All parametrisations integrate the same equation of motion by the
same scheme (Runge-Kutta of order 4), so that the differences are theirs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from humanoid_model.errors import InputError
from humanoid_studies.rotation import quaternion, rotation_vector, three_angles

PARAMETRISATIONS = ("quaternion", "rotation_vector", "three_angles_thesis", "three_angles")
"""What can be compared. ``three_angles_thesis`` falls back on (3.58) at singularities; ``three_angles`` turns the line
of nodes before, which makes the fallback exact."""

MASS, LENGTH, RADIUS, GRAVITY = 1.0, 0.5, 0.02, 9.8
"""Of the rod [kg, m, m], and of the world [m/s^2]."""
NEAR_SINGULAR = 1e-2
r"""Three angles with :math:`|\det J|` below this are flagged: rates are a hundred times the angular velocity."""

_REPEATS = 5
_QUATERNION, _VECTOR, _ANGLES_THESIS, _ANGLES = range(4)


@dataclass(frozen=True)
class BallPendulumRun:
    """One pendulum.

    Attributes:
        parametrisation: one of :data:`PARAMETRISATIONS`.
        time: of the samples [s], shape (k,).
        angle: of the rod from the downward vertical in the plane of the swing, unwrapped [rad], shape (k,).
        out_of_plane: distance of the centre of mass from the plane of the swing [m], shape (k,).
        axis_drift: how far the rod's axis of swing has turned away, which shows spin about itself [rad], shape (k,).
        angle_error: of ``angle`` against a pendulum with one hinge [rad], shape (k,).
        energy_error: relative to the energy at the start, shape (k,).
        norm_error: largest distance from 1 of a quaternion's norm after renormalising, 0 for the others.
        norm_drift: largest distance from 1 within one step, before renormalising, 0 for the others.
        flagged: number of steps that began near a singularity of the parametrisation, or beyond one.
        fallbacks: number of rates taken from the fallback at a singularity.
        reparametrised: number of times a rotation vector was replaced.
        seconds: computing time of one step.
    """

    parametrisation: str
    time: NDArray[np.float64]
    angle: NDArray[np.float64]
    out_of_plane: NDArray[np.float64]
    axis_drift: NDArray[np.float64]
    angle_error: NDArray[np.float64]
    energy_error: NDArray[np.float64]
    norm_error: float
    norm_drift: float
    flagged: int
    fallbacks: int
    reparametrised: int
    seconds: float


def swing_ball_pendulum(
    parametrisation: str,
    *,
    speed: float = 4.0,
    angle: float = 0.0,
    direction: float = 0.6,
    duration: float = 10.0,
    dt: float = 1e-3,
) -> BallPendulumRun:
    """Swing the rod with one parametrisation of its joint.

    Args:
        parametrisation: one of :data:`PARAMETRISATIONS`.
        speed: angular velocity at the start [rad/s]; beyond 10.84 from below the rod goes round and round.
        angle: from the downward vertical at the start [rad].
        direction: of the axis of swing in the horizontal plane, from x [rad].
        duration: s.
        dt: time step [s].

    Raises:
        InputError: unknown parametrisation, a value that is not finite, a duration or step that is not positive.
    """
    if parametrisation not in PARAMETRISATIONS:
        raise InputError(
            f"there is no parametrisation '{parametrisation}'",
            element="parametrisation",
            remedy=f"Take one of {', '.join(PARAMETRISATIONS)}",
        )
    given = {"speed": speed, "angle": angle, "direction": direction, "duration": duration, "dt": dt}
    for name, value in given.items():
        if not math.isfinite(value) or (name in ("duration", "dt") and value <= 0.0):
            raise InputError(f"{name} is {value}", element=name, remedy="Give a finite number; times are positive")
    kind = PARAMETRISATIONS.index(parametrisation)
    steps = max(round(duration / dt), 1)
    axis = np.array([math.cos(direction), math.sin(direction), 0.0])
    start = np.zeros(4)
    R = np.empty((3, 3))
    rotation_vector.rotation(angle * axis, R)
    modules = (quaternion, rotation_vector, three_angles, three_angles)
    first = modules[kind].coordinates(R)
    start[: first.size] = first
    inertia = MASS * np.array([RADIUS**2 / 4 + LENGTH**2 / 3, RADIUS**2 / 4 + LENGTH**2 / 3, RADIUS**2 / 2])
    rotations, velocities = np.empty((steps + 1, 3, 3)), np.empty((steps + 1, 3))
    omega = speed * axis
    counts, norms = np.zeros(3, dtype=np.int64), np.zeros(2)
    seconds = math.inf
    for _ in range(_REPEATS):  # the first run compiles, and the fastest one was disturbed least
        counts[:], norms[:] = 0, 0.0
        clock = time.perf_counter()
        _run(kind, start.copy(), omega.copy(), inertia, dt, rotations, velocities, counts, norms)
        seconds = min(seconds, (time.perf_counter() - clock) / steps)

    times = dt * np.arange(steps + 1, dtype=np.float64)
    rod = -rotations[:, :, 2]  # unit vectors from the joint along the rod
    forward = np.cross(axis, [0.0, 0.0, -1.0])
    swing = np.unwrap(np.arctan2(rod @ forward, -rod[:, 2]))
    body_velocities = np.einsum("kji,kj->ki", rotations, velocities)
    energy = 0.5 * body_velocities**2 @ inertia + MASS * GRAVITY * LENGTH / 2 * rod[:, 2]
    scale = max(abs(float(energy[0])), MASS * GRAVITY * LENGTH / 2)
    turned_axis = rotations @ axis
    across = np.linalg.norm(np.cross(axis, turned_axis), axis=1)
    return BallPendulumRun(
        parametrisation=parametrisation,
        time=times,
        angle=swing,
        out_of_plane=np.abs(rod @ axis) * LENGTH / 2,
        axis_drift=np.arctan2(across, turned_axis @ axis),
        angle_error=np.abs(swing - _hinged(angle, speed, float(inertia[0]), times)),
        energy_error=np.abs(energy - energy[0]) / scale,
        norm_error=float(norms[1]),
        norm_drift=float(norms[0]),
        flagged=int(counts[0]),
        fallbacks=int(counts[1]),
        reparametrised=int(counts[2]),
        seconds=seconds,
    )


def compare_ball_pendulums(
    parametrisations: Sequence[str] = PARAMETRISATIONS,
    *,
    speed: float = 4.0,
    angle: float = 0.0,
    direction: float = 0.6,
    duration: float = 10.0,
    dt: float = 1e-3,
) -> list[BallPendulumRun]:
    """:func:`swing_ball_pendulum` with each of several parametrisations, by the same arguments."""
    return [
        swing_ball_pendulum(name, speed=speed, angle=angle, direction=direction, duration=duration, dt=dt)
        for name in parametrisations
    ]


def comparison_table(runs: Sequence[BallPendulumRun]) -> str:
    """Markdown table of some runs; times are relative to the first one's.

    Raises:
        InputError: no run is given.
    """
    if not runs:
        raise InputError("no run is given", element="runs", remedy="Give what compare_ball_pendulums returns")
    lines = [
        "| parametrisation | out of plane [m] | axis turned [rad] | angle error [rad] | energy error | norm error | "
        "near singular [steps] | fallbacks | re-parametrised | time |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        lines.append(
            f"| {run.parametrisation.replace('_', ' ')} | {run.out_of_plane.max():.1e} | {run.axis_drift.max():.1e} | "
            f"{run.angle_error.max():.1e} | {run.energy_error.max():.1e} | {run.norm_error:.1e} | "
            f"{run.flagged} | {run.fallbacks} | {run.reparametrised} | {run.seconds / runs[0].seconds:.2f} |"
        )
    return "\n".join(lines)


def _hinged(
    angle: float, speed: float, inertia: float, times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the angle of the rod on a hinge, to 1e-11."""
    pull = MASS * GRAVITY * LENGTH / 2 / inertia
    solution = solve_ivp(
        lambda _, y: (y[1], -pull * math.sin(y[0])),
        (0.0, times[-1]),
        (angle, speed),
        "DOP853",
        times,
        rtol=1e-12,
        atol=1e-12,
    )
    return np.asarray(solution.y[0])


@njit(cache=True, error_model="numpy")
def _rotation(kind: int, q: np.ndarray, R: np.ndarray) -> None:
    if kind == _QUATERNION:
        quaternion.rotation(q, R)
    elif kind == _VECTOR:
        rotation_vector.rotation(q, R)
    else:
        three_angles.rotation(q, R)


@njit(cache=True, error_model="numpy")
def _derivative(
    kind: int,
    q: np.ndarray,
    omega: np.ndarray,
    inertia: np.ndarray,
    spin_rate: float,
    R: np.ndarray,
    q_dot: np.ndarray,
    alpha: np.ndarray,
) -> bool:
    """Return rates of the coordinates and angular acceleration in the world; whether the fallback was used."""
    _rotation(kind, q, R)
    singular = False
    if kind == _QUATERNION:
        quaternion.rate(q, omega, q_dot)
    elif kind == _VECTOR:
        rotation_vector.rate(q, omega, q_dot)
        q_dot[3] = 0.0
    else:
        singular = three_angles.rate(q, omega, spin_rate, q_dot)
        q_dot[3] = 0.0
    # Euler's equation in the axes of the rod, whose weight acts at the middle of (0, 0, -LENGTH).
    w = np.empty(3)
    down = np.empty(3)
    for i in range(3):
        w[i] = R[0, i] * omega[0] + R[1, i] * omega[1] + R[2, i] * omega[2]
        down[i] = -R[2, i] * MASS * GRAVITY
    lever = -0.5 * LENGTH
    a = np.empty(3)
    a[0] = (-lever * down[1] - (inertia[2] - inertia[1]) * w[1] * w[2]) / inertia[0]
    a[1] = (lever * down[0] - (inertia[0] - inertia[2]) * w[2] * w[0]) / inertia[1]
    a[2] = -(inertia[1] - inertia[0]) * w[0] * w[1] / inertia[2]
    for i in range(3):
        alpha[i] = R[i, 0] * a[0] + R[i, 1] * a[1] + R[i, 2] * a[2]
    return singular


@njit(cache=True, error_model="numpy")
def _run(
    kind: int,
    q: np.ndarray,
    omega: np.ndarray,
    inertia: np.ndarray,
    dt: float,
    rotations: np.ndarray,
    velocities: np.ndarray,
    counts: np.ndarray,
    norms: np.ndarray,
) -> None:
    """Integrate; ``counts``: near singular, fallbacks, replaced vectors; ``norms``: before and after renormalising."""
    q_dots, alphas = np.zeros((4, 4)), np.zeros((4, 3))
    q_stage, omega_stage, R = np.empty(4), np.empty(3), np.empty((3, 3))
    parts = np.array([0.5, 0.5, 1.0])
    weights = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
    spin_rate = 0.0
    _rotation(kind, q, rotations[0])
    velocities[0] = omega
    for step in range(1, rotations.shape[0]):
        if kind >= _ANGLES_THESIS:
            if three_angles.determinant(q) < NEAR_SINGULAR:
                counts[0] += 1
            if kind == _ANGLES:
                three_angles.realign(q, omega)
        elif kind == _VECTOR and q[0] * q[0] + q[1] * q[1] + q[2] * q[2] > (2.0 * math.pi - NEAR_SINGULAR) ** 2:
            counts[0] += 1
        q_stage[:], omega_stage[:] = q, omega
        for stage in range(4):
            if _derivative(
                kind, q_stage, omega_stage, inertia, spin_rate, R, q_dots[stage], alphas[stage]
            ):
                counts[1] += 1
            if stage < 3:
                for i in range(4):
                    q_stage[i] = q[i] + parts[stage] * dt * q_dots[stage, i]
                for i in range(3):
                    omega_stage[i] = omega[i] + parts[stage] * dt * alphas[stage, i]
        spin_rate = q_dots[0, 2]
        for stage in range(4):
            for i in range(4):
                q[i] += dt * weights[stage] * q_dots[stage, i]
            for i in range(3):
                omega[i] += dt * weights[stage] * alphas[stage, i]
        if kind == _QUATERNION:
            norms[0] = max(norms[0], quaternion.renormalise(q))
            norm = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
            norms[1] = max(norms[1], abs(norm - 1.0))
        elif kind == _VECTOR and rotation_vector.reparametrise(q):
            counts[2] += 1
        _rotation(kind, q, rotations[step])
        velocities[step] = omega
