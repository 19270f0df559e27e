# SPDX-License-Identifier: Apache-2.0
"""A controller that knows nothing of the simulator, in its loop: measurements in, efforts out."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Protocol

from humanoid_model.checks import check_positive
from humanoid_model.command import Command
from humanoid_model.errors import InputError
from humanoid_model.measurement import Measurement
from humanoid_sim.module import Module
from humanoid_sim.sensing.noisy_sensors import NoisySensors

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class Controller(Protocol):
    """What answers measurements with commands, as those of ``humanoid_control`` do."""

    def update(self, time: float, measurement: Measurement) -> Command:
        """Command until the next tick, by the clock of the controller [s]."""
        ...


def measure(simulation: Simulation, robot: str, sensors: NoisySensors | None = None) -> Measurement:
    """Return what the sensors of a robot read in the last step.

    Args:
        simulation: which the robot is in.
        robot: its name.
        sensors: module whose readings are taken; ideal ones if not given.
    """
    own = simulation.robots[robot]
    kinds = {name: sensor.type for name, sensor in own.robot.sensors.items()}
    imu = next((name for name, kind in kinds.items() if kind == "imu"), None)
    forces = [name for name, kind in kinds.items() if kind == "force_torque"]
    if sensors is None:
        reading = None if imu is None else own.imu(imu)
        wrenches = {name: own.wrench(name) for name in forces}
        positions, velocities = own.joint_positions, own.joint_velocities
    else:
        reading = None if imu is None else sensors.imu(robot, imu)
        wrenches = {name: sensors.wrench(robot, name) for name in forces}
        positions, velocities = sensors.joint_positions(robot), sensors.joint_velocities(robot)
    return Measurement(
        simulation.time, positions, velocities,
        None if reading is None else reading.angular_velocity,
        None if reading is None else reading.linear_acceleration,
        wrenches,
    )  # fmt: skip


class ControllerInLoop(Module):
    """Lets a controller move a robot: it measures, asks, and applies the efforts some time later.

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
        simulation.robots[self._robot].hold()

    def before_step(self, simulation: Simulation) -> None:
        """Apply what is due."""
        while self._waiting and self._waiting[0][0] <= simulation.step_count:
            _, due = self._waiting.pop(0)
            simulation.robots[self._robot].set_effort(due.efforts, due.joints)

    def after_step(self, simulation: Simulation) -> None:
        """Measure what the step gave and ask, at each tick."""
        count = simulation.step_count
        if count % self._every == 0:
            readings = measure(simulation, self._robot, self._sensors)
            self.command = self.controller.update(simulation.time, readings)
            self._waiting.append((count + self._late, self.command))

    def detach(self, simulation: Simulation) -> None:
        """Leave the joints to their servos, where they are."""
        simulation.robots[self._robot].hold()

    def save(self) -> object:
        """Return a copy of the controller and of what waits."""
        return copy.deepcopy((self.controller, self.command, self._waiting))

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        self.controller, self.command, self._waiting = copy.deepcopy(state)
