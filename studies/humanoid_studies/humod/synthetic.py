# SPDX-License-Identifier: Apache-2.0
"""A made-up run on a treadmill, in the form of a HuMoD recording: to try the replay without the data.

Joint angles are a few harmonics of the stride. The centre of mass falls freely between the steps and is carried by
half-sine forces during them, and the base is placed so that it does; hence the force of the ground explains the
motion of the centre of mass exactly. Its point of application balances the moments as far as the foot reaches: the
moments that remain are those of an invented motion, and of the turn about the vertical that a point force can't give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import scipy.ndimage
from tqdm import tqdm

from humanoid_model import Robot
from humanoid_studies.humod.coordinates import JOINTS, POSITION_JOINTS, first_joint
from humanoid_studies.humod.evaluator import GRAVITY
from humanoid_studies.humod.recording import FEET, GroundForce, Recording

#: Strides (two steps) per second, share of a step on the ground.
_STRIDE_RATE = 1.4
_DUTY = 0.65

#: Braking and pushing force, and force towards the middle, over the weight.
_BRAKE, _SIDE = 0.25, 0.08

#: Height of the ankle over the sole, and how far the sole reaches backwards, forwards and sideways of it, m.
_ANKLE = 0.07
_SOLE = np.array([[-0.05, 0.16], [-0.04, 0.04]])

#: Share of the weight from which a foot counts as loaded.
_LOADED = 1e-6

#: Frame rates of HuMoD's cameras and force platform, Hz.
MOTION_RATE = 500.0
FORCE_RATE = 1000.0

#: Time over which the simulated error of a marker changes, s.
_NOISE_TIME = 0.02

class _Series(NamedTuple):
    """An angle, rad: mean, and amplitude, harmonic of the stride and phase of each cosine."""

    mean: float
    harmonics: Sequence[tuple[float, int, float]]


#: The right foot stands at phase pi/2.
_HALF = np.pi / 2
_MIDDLE = {
    "WJ_x": _Series(0.0, [(0.06, 1, 0.3)]),
    "WJ_y": _Series(0.0, [(0.14, 1, -0.2)]),
    "WJ_z": _Series(-0.12, [(0.04, 2, 0.5)]),
    "LLJ_x": _Series(0.0, [(0.08, 1, 2.9)]),
    "LLJ_z": _Series(0.02, [(0.05, 2, 1.4)]),
    "ULJ_x": _Series(0.0, [(0.07, 1, 3.5)]),
    "ULJ_y": _Series(0.0, [(0.30, 1, 2.8)]),
    "ULJ_z": _Series(-0.06, [(0.04, 2, 2.2)]),
    "LNJ_x": _Series(0.0, [(0.05, 1, 0.6)]),
    "LNJ_y": _Series(0.0, [(0.18, 1, -0.4)]),
    "LNJ_z": _Series(0.15, [(0.05, 2, -1.0)]),
}
_RIGHT = {
    "SJ_x": _Series(-0.25, [(0.08, 1, 0.9)]),
    "SJ_y": _Series(0.10, [(0.15, 1, 2.0)]),
    "SJ_z": _Series(-0.25, [(0.60, 1, np.pi)]),
    "EJ_z": _Series(1.50, [(0.25, 1, np.pi + 0.4)]),
    "HJ_x": _Series(-0.03, [(0.10, 1, -_HALF)]),
    "HJ_y": _Series(0.05, [(0.14, 1, 2.6)]),
    "HJ_z": _Series(0.25, [(0.65, 1, 0.0), (0.08, 2, 0.8)]),
    "KJ_z": _Series(-0.85, [(-0.60, 1, _HALF), (0.15, 2, 0.0)]),
    "AJ_x": _Series(0.0, [(0.08, 1, 1.1)]),
    "AJ_y": _Series(0.04, [(0.07, 1, 0.2)]),
    "AJ_z": _Series(0.08, [(0.22, 1, -2.0), (0.12, 2, 0.4)]),
}


def synthetic_recording(
    robot: Robot,
    *,
    duration: float = 6.0,
    noise: float = 0.003,
    seed: int = 0,
    heading: float = 0.0,
    progress: bool = False,
) -> Recording:
    """Return a run of a 3P33R robot.

    Args:
        robot: ``syn3p33r``, or another that ``subject_urdf`` made.
        duration: s.
        noise: standard deviation of the errors of the ``estimated`` positions, m; a few mm for cameras and skin.
        seed: of the noise.
        heading: of the run about the vertical, rad; 0 runs along x.
        progress: shows a bar.
    """
    ratio = round(FORCE_RATE / MOTION_RATE)
    time = np.arange(ratio * round(duration * MOTION_RATE) + 1) / FORCE_RATE
    model, names = robot.model, robot.joint_names
    data = model.createData()
    q, v, a = _angles(names, time)
    q[:, names.index("WJ_y")] += heading
    turn = pin.utils.rotate("y", heading)
    carried, force = _support(time, robot.total_mass)
    carried, force = carried @ turn.T, force @ turn.T
    base = [names.index(f"WJ_p{axis}") for axis in "xyz"]
    joints = [robot.parts.joint_ids[names[first_joint(label, names)]] for label in POSITION_JOINTS]
    positions = np.empty((len(time), len(joints), 3))
    moments = np.empty((len(time), 3))
    for k in tqdm(range(len(time)), desc="synthetic run", unit="frame", disable=not progress):
        pin.centerOfMass(model, data, q[k], v[k], a[k])
        for values, wanted, own in zip((q, v, a), carried, (data.com, data.vcom, data.acom), strict=True):
            values[k, base] = wanted[k] - own[0]
        moments[k] = pin.computeCentroidalMomentumTimeVariation(model, data, q[k], v[k], a[k]).angular
        positions[k] = [data.oMi[joint].translation for joint in joints]
    loaded = force[..., 1] > _LOADED * robot.total_mass * -GRAVITY[1]
    ankles = [POSITION_JOINTS.index(foot.replace("foot", "AJ")) for foot in FEET]
    height = np.array([0.0, _ANKLE - positions[:, ankles, 1][loaded].min(), 0.0])
    positions += height
    q[:, base] += height
    point = _centre_of_pressure(carried[0] + height, force, moments, positions[:, ankles], turn)
    force[~loaded] = 0.0
    point[~loaded] = np.nan
    frames = slice(None, None, ratio)
    columns = [names.index(name) for name in JOINTS]
    exact = positions[frames]
    errors = np.random.default_rng(seed).standard_normal(exact.shape)
    errors = scipy.ndimage.gaussian_filter1d(errors, _NOISE_TIME * MOTION_RATE, axis=0)
    return Recording(
        "synthetic run",
        time[frames],
        q[frames][:, columns],
        v[frames][:, columns],
        a[frames][:, columns],
        {"estimated": exact + noise * errors / errors.std(), "smoothed": exact},
        GroundForce(time, force, point),
    )


def _angles(names: Sequence[str], time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, rates and accelerations (N, nq) in the model's order; the base's translations are left 0."""
    q, v, a = np.zeros((3, len(time), len(names)))
    terms = [(name, 1.0, 0.0, series) for name, series in _MIDDLE.items()]
    for name, series in _RIGHT.items():
        group, axis = name.split("_")
        terms.append((f"{group}_R_{axis}", 1.0, 0.0, series))
        # The left side does the same half a stride later, mirrored.
        terms.append((f"{group}_L_{axis}", 1.0 if axis == "z" else -1.0, np.pi, series))
    for name, sign, late, series in terms:
        joint = names.index(name)
        q[:, joint] = sign * series.mean
        for amplitude, harmonic, phase in series.harmonics:
            rate = 2 * np.pi * _STRIDE_RATE * harmonic
            angle = rate * time - harmonic * late + phase
            q[:, joint] += sign * amplitude * np.cos(angle)
            v[:, joint] -= sign * amplitude * rate * np.sin(angle)
            a[:, joint] -= sign * amplitude * rate**2 * np.cos(angle)
    return q, v, a


def _support(time: np.ndarray, mass: float) -> tuple[np.ndarray, np.ndarray]:
    """Motion of the centre of mass, (3, N, 3): place, velocity, acceleration; force on each foot, (N, 2, 3)."""
    step = 1 / (2 * _STRIDE_RATE)
    stance = _DUTY * step
    since = time - (step - stance) / 2  # the middle of the first stance is a quarter of a stride after the start
    number = np.floor(since / step)
    since = since - number * step
    side = np.where(number % 2 == 0, 1.0, -1.0)  # right foot first
    on_ground = since < stance
    g = -GRAVITY[1]
    w = np.pi / stance
    t = np.minimum(since, stance)
    flight = np.maximum(since - stance, 0.0)
    sine, cosine = np.sin(w * t), np.cos(w * t)
    # The impulse of a half sine, 2/w of its height, carries the weight over the step.
    peak = g * step * w / 2
    bounce, to_middle, brake = peak, -_SIDE * g * side, -_BRAKE * g
    place, velocity, acceleration = np.zeros((3, len(time), 3))
    acceleration[:, 0] = brake * np.sin(2 * w * t)
    acceleration[:, 1] = bounce * sine - g
    acceleration[:, 2] = to_middle * sine
    acceleration[~on_ground] = GRAVITY
    start = -brake / (2 * w) * stance / step
    velocity[:, 0] = start + brake / (2 * w) * (1 - np.cos(2 * w * t))
    place[:, 0] = start * since + brake / (2 * w) * (t - np.sin(2 * w * t) / (2 * w))
    start = -g * (step - stance) / 2
    velocity[:, 1] = start - g * since + bounce / w * (1 - cosine)
    place[:, 1] = start * since - g * since**2 / 2 + bounce / w * (t - sine / w) + 2 * bounce / w * flight
    velocity[:, 2] = -to_middle / w * cosine
    place[:, 2] = -to_middle / w**2 * sine + to_middle / w * flight - to_middle / w * (step - stance) / 2
    force = np.zeros((len(time), 2, 3))
    total = mass * (acceleration - GRAVITY)
    for foot, sign in enumerate((-1.0, 1.0)):
        force[:, foot] = np.where((side == sign)[:, np.newaxis], total, 0.0)
    return np.stack([place, velocity, acceleration]), force


def _centre_of_pressure(
    centre: np.ndarray, force: np.ndarray, moments: np.ndarray, ankles: np.ndarray, turn: np.ndarray
) -> np.ndarray:
    """Return points of the ground (N, 2, 3), under the soles, where the forces balance the horizontal moments best."""
    point = np.zeros_like(force)
    x, y, z = (force[..., axis] for axis in range(3))
    y = np.where(y > 0.0, y, np.inf)
    lever = -centre[:, np.newaxis, 1]
    point[..., 0] = centre[:, np.newaxis, 0] + (lever * x + moments[:, np.newaxis, 2]) / y
    point[..., 2] = centre[:, np.newaxis, 2] + (lever * z - moments[:, np.newaxis, 0]) / y
    ahead = (point - ankles) @ turn
    ahead[..., 0] = ahead[..., 0].clip(*_SOLE[0])
    ahead[..., 2] = ahead[..., 2].clip(*_SOLE[1])
    point = ankles + ahead @ turn.T
    point[..., 1] = 0.0
    return point
