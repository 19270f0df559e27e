# SPDX-License-Identifier: Apache-2.0
"""What the sensors of the robots read, from the dynamics of the last step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model import Robot
from humanoid_model.errors import InputError
from humanoid_model.sensor import Sensor
from humanoid_model.sensor_kind import SensorState

if TYPE_CHECKING:
    from humanoid_sim.readings import Readings


@dataclass(frozen=True)
class ImuReading:
    """Reading of an inertial measurement unit.

    Attributes:
        orientation: sensor frame in the world, quaternion x, y, z, w, shape (4,).
        angular_velocity: in the sensor frame [rad/s], shape (3,).
        linear_acceleration: specific force (acceleration minus gravity) in the sensor frame [m/s^2], shape
            (3,); a sensor at rest reads 9.81 upwards.
    """

    orientation: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]
    linear_acceleration: NDArray[np.float64]


class Sensors:
    """Sensor readings of a simulation, computed when they are asked for, once per step."""

    def __init__(self, simulation: Readings) -> None:
        """Prepare readings of all robots of ``simulation``; made by the simulation."""
        self._simulation = simulation
        self._data: dict[str, pin.Data] = {}
        self._unloaded: dict[str, pin.StdVec_Force] = {}
        self._places: dict[tuple[str, str], tuple[int, pin.SE3]] = {}
        self._steps: dict[str, int] = {}

    def invalidate(self) -> None:
        """Forget the last step's dynamics, after the state has been replaced."""
        self._steps.clear()

    def _update(self, robot_name: str) -> pin.Data:
        """Inverse dynamics of a robot's last step: the wrenches that pass through each joint of its part."""
        simulation = self._simulation
        part = simulation.world.part(robot_name)
        model = part.model
        if robot_name not in self._data:
            self._data[robot_name] = model.createData()
            self._unloaded[robot_name] = pin.StdVec_Force(model.njoints, pin.Force.Zero())
        data = self._data[robot_name]
        if self._steps.get(robot_name) == simulation.step_count:
            return data
        q, v, a = simulation.q_before[part.q], simulation.v_before[part.v], simulation.acceleration[part.v]
        turning = simulation.stepping.stepper.flight.mean[part.v]  # Coriolis forces of the step are those of its mean
        pin.forwardKinematics(model, data, q)
        wrenches = pin.StdVec_Force(self._unloaded[robot_name])
        for of_world, force, moment in simulation.joint_wrenches():
            joint = part.joint(of_world)
            if of_world > 0 and 0 < joint < model.njoints:
                wrenches[joint] = data.oMi[joint].actInv(pin.Force(force, moment))
        pin.rnea(model, data, q, turning, a, wrenches)
        pin.forwardKinematics(model, data, q, v, a)  # rnea leaves accelerations that include gravity
        self._steps[robot_name] = simulation.step_count
        return data

    def find(self, robot: Robot, name: str, kind: str = "") -> Sensor:
        """Return a sensor of a robot, of a certain kind if one is given.

        Raises:
            InputError: the robot has no such sensor.
        """
        if name not in robot.sensors or kind not in ("", robot.sensors[name].type):
            known = [sensor.name for sensor in robot.sensors.values() if kind in ("", sensor.type)]
            raise InputError(
                f"the robot '{robot.name}' has no {f'{kind} ' if kind else ''}sensor '{name}'",
                element="sensor",
                remedy=f"It has {', '.join(known) or 'none of this type'}",
            )
        return robot.sensors[name]

    def state(self, robot_name: str, sensor: Sensor) -> SensorState:
        """Return what the place of a sensor goes through in the last step."""
        data, (joint, placement) = self._update(robot_name), self._placement_joint_sensor(robot_name, sensor)
        return SensorState(data, joint, placement, self._simulation)

    def _placement_joint_sensor(self, robot_name: str, sensor: Sensor) -> tuple[int, pin.SE3]:
        """Return the joint of a sensor in its robot's part, 0 on what is fixed, and its frame in the joint's."""
        key = robot_name, sensor.name
        if key not in self._places:
            world = self._simulation.world
            body = world.bodies[world.index[f"{robot_name}/{sensor.link}"]]
            joint = 0 if body.joint == 0 else world.part(robot_name).joint(body.joint)
            self._places[key] = joint, body.placement_joint_body * sensor.placement_link_sensor
        return self._places[key]

    def weight(self, robot_name: str, robot: Robot, name: str) -> NDArray[np.float64]:
        """Return the weight of what a force-torque sensor carries, its link and all beyond the joint, in the last step.

        Returns:
            Force [N] and torque [N m] in the sensor frame, shape (6,).

        Raises:
            InputError: the robot has no force-torque sensor of that name.
        """
        model, data = self._simulation.world.part(robot_name).model, self._update(robot_name)

        def weigh(joint: int) -> NDArray[np.float64]:
            inertia, placement = model.inertias[joint], data.oMi[joint]
            force = inertia.mass * model.gravity.linear
            return np.concatenate([force, np.cross(placement.act(inertia.lever), force)])

        return self._sum_beyond(robot_name, self.find(robot, name, "force_torque"), weigh)

    def external_wrench(self, robot_name: str, robot: Robot, name: str) -> NDArray[np.float64]:
        """Return what contacts and applied wrenches did last to the link of a force-torque sensor and all beyond.

        Returns:
            Force [N] and torque [N m] in the sensor frame, shape (6,).

        Raises:
            InputError: the robot has no force-torque sensor of that name.
        """
        part = self._simulation.world.part(robot_name)
        wrenches = {
            part.joint(joint): np.concatenate([force, moment])
            for joint, force, moment in self._simulation.joint_wrenches()
        }
        return self._sum_beyond(
            robot_name, self.find(robot, name, "force_torque"), lambda joint: wrenches.get(joint, np.zeros(6))
        )

    def _sum_beyond(
        self, robot_name: str, sensor: Sensor, wrench: Callable[[int], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Sum of wrenches about the world origin over the joints from a sensor's on, moved to the sensor's frame."""
        data = self._update(robot_name)
        joint, placement = self._placement_joint_sensor(robot_name, sensor)
        subtree = self._simulation.world.part(robot_name).model.subtrees[joint]
        total = sum((wrench(beyond) for beyond in subtree), np.zeros(6))
        return np.array((data.oMi[joint] * placement).actInv(pin.Force(total)).vector)

    def centre_of_mass(self, robot_name: str) -> NDArray[np.float64]:
        """Centre of mass of the moving links of a robot at the present configuration, in the world [m], shape (3,)."""
        simulation = self._simulation
        R, p = simulation.joint_placements()
        total, moment = 0.0, np.zeros(3)
        for joint in simulation.world.robots[robot_name].joints.values():
            inertia = simulation.world.model.inertias[joint]
            total += inertia.mass
            moment += inertia.mass * (R[joint] @ inertia.lever + p[joint])
        return moment / total
