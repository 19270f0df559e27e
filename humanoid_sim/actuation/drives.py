# SPDX-License-Identifier: Apache-2.0
"""The drives of a robot as arrays over the velocity coordinates that they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError

if TYPE_CHECKING:
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
        if robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
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
