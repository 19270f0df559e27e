# SPDX-License-Identifier: Apache-2.0
r"""Keeps a robot upright on soft soles by its ankles (specification 000, F141, thesis §4.6.1).

A sole that gives way turns with the foot: the robot leans, and on soles softer than its weight needs it falls, though
all of its joints are where they should be. The thesis leaves it at "a stabiliser inspired by the robot's own", whose
law isn't known. This one reads the inertial sensor and turns both ankles against the lean :math:`\delta` that the robot
would not have on a flat foot with its ankles where they are told to be,

.. math:: \Delta q = k_p\,\delta + k_d\,\dot\delta + k_i \int \delta\,dt,

which makes the soles' spring :math:`1 + k_p` times as stiff against leaning, damps their sway, and takes away what is
left. Feet turn as far as they bear load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class AnkleGains:
    """How ankles answer a lean.

    Attributes:
        lean: rad per rad.
        rate: rad per rad/s.
        integral: rad per rad s.
        largest: of the answer [rad].
    """

    lean: float = 3.0
    rate: float = 0.3
    integral: float = 2.0
    largest: float = 0.2

    def __post_init__(self) -> None:
        """Check the gains.

        Raises:
            InputError: one is negative or not finite.
        """
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"is {value}", element=f"gains.{name}", remedy="Give zero or more")


class SoleStabiliser(Module):
    """Adds to the ankles' targets what rights the robot; add it after modules that set targets.

    Attributes:
        name: ``"sole_stabiliser/<robot>"``.
        lean: last one about the feet's x and y axes [rad], shape (2,).
    """

    def __init__(self, robot: str, gains: AnkleGains | None = None, *, imu: str = "imu") -> None:
        """Choose robot and gains.

        Args:
            robot: name in the scene.
            gains: how ankles answer.
            imu: its inertial sensor.
        """
        self.name = f"sole_stabiliser/{robot}"
        self.lean: Array = np.zeros(2)
        self._robot, self._gains, self._imu = robot, gains or AnkleGains(), imu
        self._sum: Array = np.zeros(2)
        self._sent: Array = np.zeros(4)
        self._nominal: Array = np.zeros(4)

    def attach(self, simulation: Simulation) -> None:
        """Find legs and sensors.

        Raises:
            InputError: there is no robot of that name, or it has no inertial sensor or no legs with force sensors.
        """
        if self._robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{self._robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
        robot = simulation.robots[self._robot].robot
        self._sides = [limb.removesuffix("_leg") for limb in robot.limbs if limb.endswith("_leg")]
        wanted = [self._imu, *(f"{side}_ankle" for side in self._sides)]
        lost = [name for name in wanted if name not in robot.sensors]
        if lost or len(self._sides) != 2:
            raise InputError(
                f"has no sensor '{lost[0]}'" if lost else f"has {len(self._sides)} legs",
                element=f"robot '{self._robot}'",
                remedy="Give a robot with right_leg and left_leg, an inertial sensor and force sensors in its ankles",
            )
        # The last two joints of a leg pitch and roll the foot.
        self._ankles = [joint for side in self._sides for joint in robot.limbs[f"{side}_leg"][-2:]]
        self._model, self._data = robot.model, robot.model.createData()
        self._feet = [robot.model.getJointId(robot.limbs[f"{side}_leg"][-1]) for side in self._sides]
        link = robot.parts.links[robot.sensors[self._imu].link]
        self._carrier = link.joint_id
        self._turn = (link.placement_joint_link * robot.sensors[self._imu].placement_link_sensor).rotation
        own = simulation.world.robots[self._robot]
        self._q, self._v = own.q, own.v
        self._places = np.array([robot.index_q(joint) for joint in self._ankles])
        self._speeds = np.array([robot.index_v(joint) for joint in self._ankles])
        self._sum, self._sent, self._nominal = np.zeros(2), np.full(4, np.nan), np.zeros(4)

    def before_step(self, simulation: Simulation) -> None:
        """Turn the ankles."""
        own, gains = simulation.robots[self._robot], self._gains
        targets = simulation.servos.q_target[self._q][self._places]
        # Targets that nobody has set anew are our own.
        self._nominal = np.where(targets != self._sent, targets, self._nominal)
        if simulation.time == 0.0:
            return
        q, v = own.q, own.v
        q[self._places], v[self._speeds] = self._nominal, simulation.servos.v_target[self._v][self._speeds]
        pin.forwardKinematics(self._model, self._data, q, v)
        loads = np.array([abs(float(own.wrench(f"{side}_ankle")[2])) for side in self._sides])
        foot = self._feet[int(np.argmax(loads))]
        reading = own.imu(self._imu)
        to_foot = self._data.oMi[foot].rotation.T @ self._data.oMi[self._carrier].rotation
        planned = to_foot @ self._data.v[self._carrier].angular - self._data.v[foot].angular
        up = to_foot @ self._turn @ pin.Quaternion(*reading.orientation[[3, 0, 1, 2]]).toRotationMatrix()[2]
        self.lean = np.array([up[1], -up[0]])
        rate = (to_foot @ self._turn @ reading.angular_velocity - planned)[:2]
        limit = gains.largest / max(gains.integral, 1e-12)
        self._sum = np.clip(self._sum + simulation.dt * self.lean, -limit, limit)
        answer = gains.lean * self.lean + gains.rate * rate + gains.integral * self._sum
        answer = np.clip(answer, -gains.largest, gains.largest)
        bearing = np.minimum(1.0, 4.0 * loads / max(float(loads.sum()), 1e-9))
        self._sent = self._nominal + np.concatenate([share * answer[::-1] for share in bearing])
        own.set_position_target(self._sent, joints=self._ankles)

    def save(self) -> object:
        """Return what has been summed up and sent."""
        return self._sum.copy(), self._sent.copy(), self._nominal.copy()

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        self._sum, self._sent, self._nominal = (part.copy() for part in state)

    def detach(self, simulation: Simulation) -> None:
        """Give the ankles back the targets that they had."""
        if np.isfinite(self._sent).all():
            simulation.robots[self._robot].set_position_target(self._nominal, joints=self._ankles)
