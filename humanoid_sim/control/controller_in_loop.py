# SPDX-License-Identifier: Apache-2.0
"""A controller that knows nothing of the simulator, in its loop: measurements in, efforts out."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from humanoid_model.checks import check_positive
from humanoid_model.controller import Command, Measurement
from humanoid_model.errors import InputError
from humanoid_sim.module import Module
from humanoid_sim.sensing.inertial_means import InertialMeans
from humanoid_sim.sensing.noisy_sensors import NoisySensors

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class Controller(Protocol):
    """What answers measurements with commands, as those of ``humanoid_control`` do."""

    def update(self, time: float, measurement: Measurement) -> Command | None:
        """Command until the next tick, by the clock of the controller [s]; None: what acts goes on."""
        ...


def measure(simulation: Simulation, robot: str, sensors: NoisySensors | None = None) -> Measurement:
    """Return what the sensors of a robot read in the last step.

    Args:
        simulation: which the robot is in.
        robot: its name.
        sensors: module whose readings are taken; ideal ones if not given.
    """
    own = simulation.robots[robot]
    forces = [name for name, sensor in own.robot.sensors.items() if sensor.type == "force_torque"]
    if sensors is None:
        positions, velocities = own.joint_positions, own.joint_velocities
        wrenches = {name: own.wrench(name) for name in forces}
    else:
        positions, velocities = sensors.joint_positions(robot), sensors.joint_velocities(robot)
        wrenches = {name: sensors.wrench(robot, name) for name in forces}
    imu = next((name for name, sensor in own.robot.sensors.items() if sensor.type == "imu"), None)
    if imu is None:
        return Measurement(simulation.time, positions, velocities, wrenches=wrenches)
    reading = own.imu(imu) if sensors is None else sensors.imu(robot, imu)
    rate, force = reading.angular_velocity, reading.linear_acceleration
    return Measurement(simulation.time, positions, velocities, rate, force, wrenches)


class ControllerInLoop(Module):
    """Lets a controller move a robot: it measures, asks, and applies the efforts some time later.

    Its inertial readings are means since the last tick (:class:`~humanoid_sim.sensing.inertial_means.InertialMeans`).

    Until the first command the servos hold the robot. A copy of the simulation has a copy of the controller.

    Attributes:
        name: ``"controller/<robot>"``.
        controller: that answers.
        command: its newest command; None before the first one.
    """

    def __init__(
        self,
        robot: str,
        controller: Controller,
        *,
        sensors: NoisySensors | None = None,
        period: float = 2e-3,
        delay: float = 0.0,
    ) -> None:
        """Choose the controller.

        Args:
            robot: name in the scene.
            controller: of this robot.
            sensors: module whose readings it gets, added before; ideal ones if not given.
            period: of its ticks, rounded to whole steps, at least one [s].
            delay: from a measurement to its efforts, rounded to whole steps [s].

        Raises:
            InputError: a period that isn't positive, a negative delay.
        """
        check_positive(period, "period")
        if not 0.0 <= delay < float("inf"):
            raise InputError(f"is {delay}", element="delay", remedy="Give a time of 0 or more seconds")
        self.name, self.controller = f"controller/{robot}", controller
        self.requires = () if sensors is None else (sensors.name,)
        self.command: Command | None = None
        self._robot, self._sensors, self._period, self._delay = robot, sensors, period, delay
        self._waiting: list[tuple[int, Command]] = []
        self._inertia = InertialMeans(robot, sensors)

    def attach(self, simulation: Simulation) -> None:
        """Hold the robot until there is a command.

        Raises:
            InputError: there is no robot of that name.
        """
        if self._robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{self._robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
        self._every = max(1, round(self._period / simulation.dt))
        self._late = round(self._delay / simulation.dt)
        self._inertia.attach(simulation)
        simulation.robots[self._robot].hold()

    def before_step(self, simulation: Simulation) -> None:
        """Apply what is due."""
        while self._waiting and self._waiting[0][0] <= simulation.step_count:
            _, due = self._waiting.pop(0)
            simulation.robots[self._robot].set_effort(due.efforts, due.joints)

    def after_step(self, simulation: Simulation) -> None:
        """Measure what the step gave and ask, at each tick."""
        count, robot = simulation.step_count, self._robot
        self._inertia.after_step(simulation)
        if count % self._every == 0:
            readings = measure(simulation, robot, self._sensors)
            inertia = self._inertia.take(robot)
            if inertia is not None:
                readings = replace(readings, angular_velocity=inertia[0], specific_force=inertia[1])
            command = self.controller.update(simulation.time, readings)
            if command is not None:
                self.command = command
                self._waiting.append((count + self._late, command))

    def detach(self, simulation: Simulation) -> None:
        """Leave the joints to their servos, where they are."""
        simulation.robots[self._robot].hold()

    def save(self) -> object:
        """Return a copy of the controller, of what waits and of the readings since the last tick."""
        return copy.deepcopy((self.controller, self.command, self._waiting, self._inertia.save()))

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        self.controller, self.command, self._waiting, inertia = copy.deepcopy(state)
        self._inertia.restore(inertia)
