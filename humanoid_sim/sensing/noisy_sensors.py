# SPDX-License-Identifier: Apache-2.0
"""What the robots' sensors and encoders measure, beside the ideal readings (specification 000, F146 and F147).

Contact forces of the simulation are compared with what a force sensor makes of them (F149).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.sensor import ENCODER_QUANTITIES, Noise
from humanoid_model.sensor_kind import SENSOR_KINDS
from humanoid_sim.module import Module
from humanoid_sim.sensing.signals import (
    ForceSensor,
    NoiseSource,
    NoisyOrientation,
    NoisySignal,
    OrientationState,
    SignalState,
    check_picture_noises,
    noisy_colours,
    noisy_distances,
    per_axis,
)
from humanoid_sim.world.sensors import ImuReading

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation
    from humanoid_sim.world.simulated_robot import SimulatedRobot


_Key = tuple[str, str, str]
"""Robot, sensor (or "" for its encoders), quantity."""


@dataclass
class NoisySensorsState:
    """What decides how the measurements go on.

    Attributes:
        signals: all numbers of each robot.
        orientations: of each inertial unit.
        readings: last samples, by robot, sensor and quantity.
        force_sensors: gains and offsets, by robot and sensor.
        due: step at which the next samples are taken.
    """

    signals: dict[str, SignalState]
    orientations: dict[_Key, OrientationState]
    readings: dict[_Key, NDArray[np.float64]]
    force_sensors: dict[tuple[str, str], ForceSensor]
    due: int


class NoisySensors(Module):
    """Measures all sensors and encoders of all robots with the gains and noise that the robots' files give.

    Ideal readings remain ``robot.wrench``, ``robot.imu``, ``robot.joint_positions``. The same seed gives the same
    readings; what one sensor draws doesn't depend on which other sensors there are. For example::

        measured = NoisySensors(seed=1, rate=200.0)
        simulation.add_module(measured)
        simulation.run(1.0)
        measured.wrench("hrp2", "right_ankle"), measured.imu("hrp2", "imu")

    Attributes:
        name: ``"noisy_sensors"``.
    """

    name = "noisy_sensors"

    def __init__(self, seed: int = 0, rate: float | None = None) -> None:
        """Choose seed and rate.

        Args:
            seed: 0 or more.
            rate: samples per second of simulated time, rounded to whole steps; a sample after each step if not given.

        Raises:
            InputError: a negative seed, a rate that is not positive.
        """
        if seed < 0:
            raise InputError(f"seed is {seed}", element="seed", remedy="Give a whole number, 0 or more")
        if rate is not None and not (np.isfinite(rate) and rate > 0.0):
            raise InputError(f"rate is {rate}", element="rate", remedy="Give a positive number of samples per second")
        self._seed = seed
        self._rate = rate
        self._simulation: Simulation | None = None
        self._signals: dict[str, NoisySignal] = {}
        self._orientations: dict[_Key, NoisyOrientation] = {}
        self._places: dict[str, dict[_Key, slice]] = {}
        self._readings: dict[_Key, NDArray[np.float64]] = {}
        self._force_sensors: dict[tuple[str, str], ForceSensor] = {}
        self._interval = 1
        self._due = 0

    def attach(self, simulation: Simulation) -> None:
        """Make the signals and take the first samples.

        Raises:
            InputError: a noise of a robot makes no sense.
        """
        self._simulation = simulation
        self._interval = 1 if self._rate is None else max(round(1.0 / (self._rate * simulation.dt)), 1)
        period = self._interval * simulation.dt
        for robot, simulated in simulation.robots.items():
            noises = self._noises(simulated)
            for key, noise in [(key, noise) for key, noise in noises.items() if isinstance(noise, Noise)]:
                self._orientations[key] = NoisyOrientation(noise, period, self._generator(key))
            channels = {key: each for key, each in noises.items() if not isinstance(each, Noise)}
            ends = np.cumsum([0, *map(len, channels.values())]).tolist()
            self._places[robot] = dict(zip(channels, map(slice, ends[:-1], ends[1:]), strict=True))
            source = NoiseSource([(self._generator(key), len(each)) for key, each in channels.items()])
            self._signals[robot] = NoisySignal([noise for each in channels.values() for noise in each], period, source)
        self._measure(simulation)

    def _noises(self, simulated: SimulatedRobot) -> dict[_Key, list[Noise] | Noise]:
        """Return the noise of each number of each sensor and of the encoders; one for an orientation."""
        name, noises = simulated.name, dict[_Key, list[Noise] | Noise]()
        for sensor in simulated.robot.sensors.values():
            if sensor.type == "force_torque":
                self._force_sensors[name, sensor.name] = ForceSensor(sensor.gain)
            if sensor.type == "camera":
                check_picture_noises(sensor.noise)
                continue
            for quantity, axes in SENSOR_KINDS[sensor.type].quantities.items():
                noise = sensor.noise.get(quantity, Noise())
                noises[name, sensor.name, quantity] = noise if quantity == "orientation" else per_axis(noise, axes)
        encoders = simulated.robot.encoders
        for quantity in ENCODER_QUANTITIES:
            noises[name, "", quantity] = [
                encoders.get(joint, {}).get(quantity, Noise()) for joint in simulated.joint_names
            ]
        return noises

    def after_step(self, simulation: Simulation) -> None:
        """Take samples when they are due."""
        if simulation.step_count >= self._due:
            self._measure(simulation)

    def reading(self, robot: str, sensor: str) -> dict[str, NDArray[np.float64]]:
        """Measured reading of a sensor of any kind but cameras by quantity; of a force-torque sensor the raw one.

        Raises:
            InputError: there is no such sensor.
        """
        found = {kind: values.copy() for (owner, name, kind), values in self._readings.items()
                 if sensor and (owner, name) == (robot, sensor)}  # fmt: skip
        if not found:
            known = dict.fromkeys(name for owner, name, _ in self._readings if owner == robot and name)
            raise InputError(
                f"the robot '{robot}' measures nothing by a sensor '{sensor}'",
                element="sensor",
                remedy=f"It does by {', '.join(known) or 'none'}",
            )
        return found

    def raw_wrench(self, robot: str, sensor: str) -> NDArray[np.float64]:
        """Raw reading of a force-torque sensor, with its gain, offset and noise, shape (6,).

        Raises:
            InputError: there is no force-torque sensor of that name.
        """
        return np.concatenate([self._reading(robot, sensor, "force"), self._reading(robot, sensor, "torque")])

    def wrench(self, robot: str, sensor: str) -> NDArray[np.float64]:
        """Measured wrench that the sensor's link and all beyond it exert on the rest of the robot, shape (6,).

        The raw reading is taken back through gain and offset; without noise it is the ideal ``robot.wrench(sensor)``.

        Raises:
            InputError: there is no force-torque sensor of that name.
        """
        raw = self.raw_wrench(robot, sensor)
        return self._force_sensors[robot, sensor].carried(raw)

    def external_wrench(self, robot: str, sensor: str) -> NDArray[np.float64]:
        """Measured wrench of the surroundings on the sensor's link and beyond (5.6), as if nothing accelerated.

        Returns:
            In the sensor's frame, shape (6,).

        Raises:
            InputError: there is no force-torque sensor of that name.
        """
        raw = self.raw_wrench(robot, sensor)
        simulation = self._attached()
        weight = simulation.sensors.weight(robot, simulation.robots[robot].robot, sensor)
        return self._force_sensors[robot, sensor].external(raw, weight)

    def zero(self, robot: str, sensor: str) -> None:
        """Zero a force-torque sensor: what it carries now, without noise, is read as zero from the next sample on.

        Raises:
            InputError: there is no force-torque sensor of that name.
        """
        self._reading(robot, sensor, "force")
        now = self._attached().robots[robot].wrench(sensor)
        self._force_sensors[robot, sensor] = self._force_sensors[robot, sensor].zeroed(now)

    def force_sensor(self, robot: str, sensor: str) -> ForceSensor:
        """Gain and offset of a force-torque sensor.

        Raises:
            InputError: there is no force-torque sensor of that name.
        """
        self._reading(robot, sensor, "force")
        return self._force_sensors[robot, sensor]

    def imu(self, robot: str, sensor: str) -> ImuReading:
        """Measured reading of an inertial measurement unit.

        Raises:
            InputError: there is no inertial measurement unit of that name.
        """
        return ImuReading(
            self._reading(robot, sensor, "orientation"),
            self._reading(robot, sensor, "angular_velocity"),
            self._reading(robot, sensor, "linear_acceleration"),
        )

    def image(self, robot: str, sensor: str) -> NDArray[np.uint8]:
        """Take the picture of a camera now, with noise; asked for again at the same time, it is the same.

        Returns:
            Red, green and blue, shape (height, width, 3).

        Raises:
            InputError: there is no robot or no camera of that name, or a mesh can't be read.
        """
        simulated = self._attached().robots[robot]
        picture = simulated.image(sensor)
        return noisy_colours(picture, simulated.robot.sensors[sensor].noise, self._pixels(robot, sensor, "colour"))

    def depth_image(self, robot: str, sensor: str) -> NDArray[np.float64]:
        """Measure distances with a camera now, see :meth:`image`.

        Returns:
            Along the optical axis, infinite where nothing is or was measured [m], shape (height, width).

        Raises:
            InputError: as of :meth:`image`.
        """
        simulated = self._attached().robots[robot]
        distances, _ = simulated.depth_image(sensor)
        return noisy_distances(distances, simulated.robot.sensors[sensor].noise, self._pixels(robot, sensor, "depth"))

    def joint_positions(self, robot: str) -> NDArray[np.float64]:
        """Return positions of ``joint_names`` as the encoders tell them [rad or m], shape (n,).

        Raises:
            InputError: there is no robot of that name.
        """
        return self._reading(robot, "", "position")

    def joint_velocities(self, robot: str) -> NDArray[np.float64]:
        """Return velocities of ``joint_names`` as the encoders tell them [rad/s or m/s], shape (n,).

        Raises:
            InputError: there is no robot of that name.
        """
        return self._reading(robot, "", "velocity")

    def save(self) -> NoisySensorsState:
        """Return generator, filters, biases, delayed samples and last readings."""
        return NoisySensorsState(
            {robot: signal.save() for robot, signal in self._signals.items()},
            {key: orientation.save() for key, orientation in self._orientations.items()},
            copy.deepcopy(self._readings),
            copy.deepcopy(self._force_sensors),
            self._due,
        )

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, NoisySensorsState)
        for robot, signal in state.signals.items():
            self._signals[robot].restore(signal)
        for key, orientation in state.orientations.items():
            self._orientations[key].restore(orientation)
        self._readings = copy.deepcopy(state.readings)
        self._force_sensors = copy.deepcopy(state.force_sensors)
        self._due = state.due

    def _attached(self) -> Simulation:
        if self._simulation is None:
            raise InputError(
                "the sensors belong to no simulation", element=self.name, remedy="Add the module to one first"
            )
        return self._simulation

    def _reading(self, robot: str, sensor: str, quantity: str) -> NDArray[np.float64]:
        key = (robot, sensor, quantity)
        if key not in self._readings:
            own = self._attached().robots[robot].name
            known = [name for owner, name, kind in self._readings if owner == own and kind == quantity]
            raise InputError(
                f"no sensor '{sensor}' of the robot '{robot}' measures {quantity.replace('_', ' ')}",
                element="sensor",
                remedy=f"Such are {', '.join(known) or 'none'}",
            )
        return self._readings[key].copy()

    def _generator(self, key: _Key, *step: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence([self._seed, *"/".join(key).encode(), *step]))

    def _pixels(self, robot: str, sensor: str, quantity: str) -> np.random.Generator:
        """Return what draws for a picture of this time: pictures are taken when asked for, not at a rate."""
        return self._generator((robot, sensor, quantity), 256 + self._attached().step_count)  # no byte of a name

    def _measure(self, simulation: Simulation) -> None:
        self._due = simulation.step_count + self._interval
        for robot, places in self._places.items():
            truth = self._truth(simulation.robots[robot])
            for key in self._orientations.keys() & truth.keys():
                self._readings[key] = self._orientations[key].sample(truth[key])
            measured = self._signals[robot].sample(np.concatenate([truth[key] for key in places]))
            self._readings.update((key, measured[place]) for key, place in places.items())

    def _truth(self, simulated: SimulatedRobot) -> dict[_Key, NDArray[np.float64]]:
        """Return ideal readings of the sensors and encoders of a robot."""
        name = simulated.name
        truth = {
            (name, "", "position"): simulated.joint_positions, (name, "", "velocity"): simulated.joint_velocities
        }  # fmt: skip
        for sensor in simulated.robot.sensors.values():
            if sensor.type == "force_torque":
                raw = self._force_sensors[name, sensor.name].raw(simulated.wrench(sensor.name))
                truth[name, sensor.name, "force"], truth[name, sensor.name, "torque"] = raw[:3], raw[3:]
            elif sensor.type != "camera":
                truth.update({(name, sensor.name, one): own for one, own in simulated.reading(sensor.name).items()})
        return truth


@dataclass(frozen=True)
class ForceSeries:
    """Wrenches on the link of a sensor and all beyond it over time, in the sensor's frame, force first.

    Attributes:
        time: s, shape (k,).
        simulated: of contacts and applied wrenches, as the simulation computed them [N, N m], shape (k, 6).
        sensed: what the sensor tells by equation (5.6), shape (k, 6).
    """

    time: NDArray[np.float64]
    simulated: NDArray[np.float64]
    sensed: NDArray[np.float64]

    @property
    def difference(self) -> NDArray[np.float64]:
        """Sensed less simulated, shape (k, 6): the inertia that (5.6) leaves out, and noise."""
        return self.sensed - self.simulated

    @property
    def largest(self) -> NDArray[np.float64]:
        """Largest absolute difference of each component, shape (6,)."""
        return np.abs(self.difference).max(axis=0)

    @property
    def root_mean_square(self) -> NDArray[np.float64]:
        """Root mean square of the difference of each component, shape (6,)."""
        return np.asarray(np.sqrt((self.difference**2).mean(axis=0)))


class ForceComparison(Module):
    """Records the external wrench at a force-torque sensor twice: from the contacts and from the sensor.

    Attributes:
        name: ``"force_comparison/<robot>/<sensor>"``.
    """

    def __init__(self, robot: str, sensor: str, *, measured: NoisySensors | None = None) -> None:
        """Choose the sensor.

        Args:
            robot: name in the scene.
            sensor: name of a force-torque sensor of it.
            measured: module whose readings are compared, added before; ideal readings if not given.
        """
        self.name = f"force_comparison/{robot}/{sensor}"
        self.requires = () if measured is None else (measured.name,)
        self._robot = robot
        self._sensor = sensor
        self._measured = measured
        self._rows: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []

    def attach(self, simulation: Simulation) -> None:
        """Check that robot and sensor are there.

        Raises:
            InputError: they are not.
        """
        simulation.robots[self._robot].wrench(self._sensor)

    def after_step(self, simulation: Simulation) -> None:
        """Record both wrenches."""
        robot, sensors = simulation.robots[self._robot], simulation.sensors
        simulated = sensors.external_wrench(self._robot, robot.robot, self._sensor)
        if self._measured is None:
            sensed = robot.wrench(self._sensor) - sensors.weight(self._robot, robot.robot, self._sensor)
        else:
            sensed = self._measured.external_wrench(self._robot, self._sensor)
        self._rows.append((simulation.time, simulated, sensed))

    @property
    def series(self) -> ForceSeries:
        """What has been recorded."""
        times = np.array([time for time, _, _ in self._rows])
        simulated = np.array([wrench for _, wrench, _ in self._rows]).reshape(-1, 6)
        return ForceSeries(times, simulated, np.array([wrench for _, _, wrench in self._rows]).reshape(-1, 6))

    def save(self) -> int:
        """Return how much has been recorded; what is recorded after it is dropped when this is restored."""
        return len(self._rows)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, int)
        del self._rows[state:]
