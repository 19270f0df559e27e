# SPDX-License-Identifier: Apache-2.0
r"""The drives of a robot as arrays over the velocity coordinates that they move, and the friction of its joints.

Friction opposes motion (specification 000 §20.3): the joint feels
:math:`-\mu_v\dot q - \mu_d\,\mathrm{sign}(\dot q)`. The thesis' (5.8), with plus signs, is the effort to command so
that it is made up for. The gear ratio of the same law is in the gains of the robot's file (``motor_stiffness``,
``motor_damping``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class Drives:
    """n driven coordinates of a robot; a ball joint's drive moves three, about the axes of the child.

    Attributes:
        names: of the joints, ``ball.x``, ``ball.y``, ``ball.z`` for a ball joint.
        coordinates: places in the world's velocity, shape (n,).
        effort: largest efforts [N m or N], shape (n,).
        speed: largest speeds [rad/s or m/s], shape (n,).
        nominal_effort: largest lasting efforts, at most ``effort``, shape (n,).
        peak_time: how long efforts may be above the nominal ones [s], shape (n,).
        gear_ratio: turns of the motor per turn of the joint, shape (n,).
        viscous_friction: N m s/rad or N s/m, shape (n,).
        dry_friction: N m or N, shape (n,).
        slides: whether the drive is of a prismatic joint: m and N in the place of rad and N m, shape (n,).
    """

    names: tuple[str, ...]
    coordinates: NDArray[np.int64]
    effort: NDArray[np.float64]
    speed: NDArray[np.float64]
    nominal_effort: NDArray[np.float64]
    peak_time: NDArray[np.float64]
    gear_ratio: NDArray[np.float64]
    viscous_friction: NDArray[np.float64]
    dry_friction: NDArray[np.float64]
    slides: NDArray[np.bool_]

    @classmethod
    def of_robot(cls, simulation: Simulation, robot: str) -> Drives:
        """Return the drives of a robot of a simulation.

        Raises:
            InputError: there is no robot of that name, or nothing drives it.
        """
        actuators = simulation.robots[robot].robot.actuators
        if not actuators:
            raise InputError(
                f"the robot '{robot}' has no actuators", element="robot", remedy="Give its file an actuator"
            )
        places = simulation.world.robots[robot]
        model = simulation.world.model
        names: list[str] = []
        coordinates: list[int] = []
        rows: list[tuple[float, ...]] = []
        joints = simulation.robots[robot].robot.description.joints.values()
        prismatic = {joint.name for joint in joints if joint.type == "prismatic"}
        slides: list[bool] = []
        for name, actuator in actuators.items():
            joint = model.joints[places.joints[name]]
            for axis in range(joint.nv):
                names.append(f"{name}.{'xyz'[axis]}" if joint.nv == 3 else name)
                coordinates.append(joint.idx_v + axis)
                slides.append(name in prismatic)
                rows.append(
                    (
                        actuator.effort,
                        actuator.velocity,
                        min(actuator.nominal_effort, actuator.effort),
                        actuator.peak_time,
                        actuator.gear_ratio,
                        float(model.damping[joint.idx_v + axis]),
                        float(model.friction[joint.idx_v + axis]),
                    )
                )
        effort, speed, nominal, peak, ratio, viscous, dry = np.array(rows).T.copy()
        places_of = np.array(coordinates, dtype=np.int64)
        return cls(tuple(names), places_of, effort, speed, nominal, peak, ratio, viscous, dry, np.array(slides))

    def place(self, name: str) -> int:
        """Return the place of a driven coordinate in these arrays.

        Raises:
            InputError: no drive is called so.
        """
        if name not in self.names:
            raise InputError(
                f"no drive moves '{name}'", element="joint", remedy=f"Driven are {', '.join(self.names)}"
            )
        return self.names.index(name)

    def check_limits(self) -> None:
        """Refuse limits with which a motor can't move.

        Raises:
            InputError: a largest effort, nominal effort or speed is zero.
        """
        limits = {"effort": self.effort, "velocity": self.speed, "nominal_effort": self.nominal_effort}
        for key, values in limits.items():
            if not np.all(values > 0.0):
                name = self.names[int(np.argmax(~(values > 0.0)))]
                raise InputError(
                    f"the actuator of '{name}' has the {key} 0", element=key, remedy="Give it a positive limit"
                )


SIGN_SPEED = 1e-2
"""Speed at which the smooth sign of the compensation has reached 76 % [rad/s or m/s]."""


@dataclass(frozen=True)
class JointFriction:
    """Identified friction of a joint.

    Attributes:
        viscous: N m s/rad or N s/m.
        dry: N m or N.
        viscous_error: standard error of ``viscous``.
        dry_error: standard error of ``dry``.
    """

    viscous: float
    dry: float
    viscous_error: float
    dry_error: float


def friction_compensation(speed: ArrayLike, viscous: ArrayLike, dry: ArrayLike) -> NDArray[np.float64]:
    r"""Effort :math:`\mu_v\dot q + \mu_d\,\mathrm{sign}_\varepsilon(\dot q)` that makes up for friction (5.8).

    The sign is smoothed to :math:`\tanh(\dot q/\varepsilon)`, so that a joint that rests isn't shaken.

    Args:
        speed: rad/s or m/s, of any shape.
        viscous: N m s/rad or N s/m, of a shape that fits.
        dry: N m or N, likewise.
    """
    rate = np.asarray(speed, dtype=float)
    return np.asarray(viscous, dtype=float) * rate + np.asarray(dry, dtype=float) * np.tanh(rate / SIGN_SPEED)


def identify_joint_friction(speeds: ArrayLike, efforts: ArrayLike) -> JointFriction:
    r"""Least squares of :math:`\Gamma = \mu_v\dot q + \mu_d\,\mathrm{sign}(\dot q)` over efforts at constant speeds.

    Args:
        speeds: rad/s or m/s, none of them zero, shape (k,).
        efforts: N m or N, without those of gravity, shape (k,).

    Raises:
        InputError: the shapes differ, a value is not finite, a speed is zero, or fewer than two different absolute
            speeds or three samples are given.
    """
    rate, effort = np.array(speeds, dtype=float), np.array(efforts, dtype=float)
    if rate.ndim != 1 or rate.shape != effort.shape:
        raise InputError(
            f"speeds have the shape {rate.shape}, efforts {effort.shape}",
            element="speeds",
            remedy="Give an effort for each speed",
        )
    for name, values in (("speeds", rate), ("efforts", effort)):
        if not np.all(np.isfinite(values)):
            raise InputError(f"{name} hold a value that is not finite", element=name, remedy="Give finite numbers")
    if np.any(rate == 0.0):
        raise InputError(
            f"speeds[{int(np.argmax(rate == 0.0))}] is 0",
            element="speeds",
            remedy="At rest dry friction takes any value: leave these samples out",
        )
    columns = np.column_stack([rate, np.sign(rate)])
    if rate.size < 3 or np.linalg.matrix_rank(columns) < 2:
        raise InputError(
            f"{rate.size} samples don't tell viscous from dry friction",
            element="speeds",
            remedy="Give three or more, at different absolute speeds",
        )
    solution, _, _, _ = np.linalg.lstsq(columns, effort, rcond=None)
    residual = effort - columns @ solution
    variance = float(residual @ residual) / (rate.size - 2)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(columns.T @ columns)))
    return JointFriction(float(solution[0]), float(solution[1]), float(errors[0]), float(errors[1]))


def measure_joint_efforts(
    simulation: Simulation,
    robot: str,
    joint: str,
    speeds: ArrayLike,
    *,
    settle: float = 0.3,
    measure: float = 0.1,
) -> NDArray[np.float64]:
    """Drive a joint at constant speeds, each from the present state, and measure the mean efforts.

    The other joints are held. Gravity isn't taken away: turn the robot so that it doesn't act on the joint, or simulate
    without it. The simulation is left in the state in which it was.

    Args:
        simulation: with the robot where the joint has room to move.
        robot: name in the scene.
        joint: name of a driven joint of one coordinate.
        speeds: rad/s or m/s, shape (k,).
        settle: time before measuring [s].
        measure: time of measuring [s].

    Returns:
        Mean efforts [N m or N], shape (k,).

    Raises:
        InputError: unknown robot or joint, a speed that is not finite, a time that is not positive.
    """
    simulated = simulation.robots[robot]
    for name, duration in (("settle", settle), ("measure", measure)):
        if not (np.isfinite(duration) and duration > 0.0):
            raise InputError(f"{name} is {duration}", element=name, remedy="Give a positive time in seconds")
    state = simulation.save_state()
    found = []
    try:
        for speed in np.atleast_1d(np.array(speeds, dtype=float)):
            simulation.restore_state(state)
            simulated.hold()
            place = simulated.joint_names.index(joint) if joint in simulated.joint_names else 0
            start = simulated.joint_positions[place]
            began, efforts = simulation.time, []
            while simulation.time < began + settle + measure - 0.5 * simulation.dt:
                elapsed = simulation.time + simulation.dt - began
                simulated.set_position_target([start + speed * elapsed], [speed], joints=[joint])
                simulation.step()
                if simulation.time > began + settle:
                    efforts.append(simulated.joint_efforts[place])
            found.append(float(np.mean(efforts)))
    finally:
        simulation.restore_state(state)
    return np.array(found)
