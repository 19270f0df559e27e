# SPDX-License-Identifier: Apache-2.0
"""What all ways of touching a simulation share: a device with a rate of its own, forces on bodies, a log of both.

The log is at the rate of the device and at that of the simulation (specification 000 §15.6, F120).
"""

from __future__ import annotations

import csv
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.device import Device, DeviceSample
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


DEVICE = {"time": "s", "position": "m", "force": "N", "displayed": "N", "button": "-"}
"""Columns of the device's log: the handle, the force on it before and after the device's limits, button 0."""
PHYSICS = {"time": "s", "position": "m", "force": "N"}
"""Columns of the simulation's log: the mean point of attack on the object, the sum of the forces on it."""

_VECTORS = ("position", "force", "displayed")


class MultiRateLog:
    """Both logs of an interaction; between two instants each side sees the other as it was (zero-order hold).

    A force that the slower side computes is therefore a staircase in the log of the faster one.
    """

    def __init__(self, most: int | None = None) -> None:
        """Start empty.

        Args:
            most: rows that are kept of each side, the last ones; all if not given.
        """
        self._rows: dict[str, deque[tuple[object, ...]]] = {"device": deque(maxlen=most), "physics": deque(maxlen=most)}

    def add_device(
        self,
        time: float,
        position: NDArray[np.float64],
        force: NDArray[np.float64],
        displayed: NDArray[np.float64],
        button: bool,
    ) -> None:
        """Keep what the device did at one of its ticks."""
        self._rows["device"].append((time, position, force, displayed, float(button)))

    def add_physics(self, time: float, position: NDArray[np.float64], force: NDArray[np.float64]) -> None:
        """Keep what acted in a step that begins at a time."""
        self._rows["physics"].append((time, position, force))

    @property
    def device(self) -> dict[str, NDArray[np.float64]]:
        """Columns of the device's log: times, shape (n,), vectors, shape (n, 3)."""
        return self._columns("device", DEVICE)

    @property
    def physics(self) -> dict[str, NDArray[np.float64]]:
        """Columns of the simulation's log."""
        return self._columns("physics", PHYSICS)

    def _columns(self, name: str, columns: dict[str, str]) -> dict[str, NDArray[np.float64]]:
        rows = self._rows[name]
        shapes = {column: (len(rows), 3) if column in _VECTORS else (len(rows),) for column in columns}
        return {
            column: np.array([row[i] for row in rows], dtype=float).reshape(shapes[column])
            for i, column in enumerate(columns)
        }

    def write(self, folder: str | Path) -> None:
        """Write ``device.csv`` and ``physics.csv`` into a folder, which is made if needed."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, units in (("device", DEVICE), ("physics", PHYSICS)):
            header: list[str] = []
            for column, unit in units.items():
                axes = ("_x", "_y", "_z") if column in _VECTORS else ("",)
                header += [f"{column}{axis} [{unit}]" for axis in axes]
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(header)
                for row in self._rows[name]:
                    writer.writerow(np.concatenate([np.atleast_1d(np.asarray(value)) for value in row]).tolist())


@dataclass(frozen=True)
class BodyForce:
    """A force of the user on a body.

    Attributes:
        body: name of the body or ``robot/link``.
        point: where it acts, in the body's frame [m], shape (3,).
        force: in the world [N], shape (3,).
        torque: in the world [N m], shape (3,).
    """

    body: str
    point: NDArray[np.float64]
    force: NDArray[np.float64]
    torque: NDArray[np.float64]


@dataclass(frozen=True)
class _Held:
    """State of an interaction between two steps."""

    tick: int
    forces: tuple[BodyForce, ...]
    device: object
    own: object


class Interaction(Module):
    """Lets a device act on a simulation, as known external forces (specification 000 §15.4, equation 3.64).

    The device is read at its own rate. All its ticks within a step see the bodies as they were at the step's start; the
    step feels the force of the last tick that is not later than its start.

    Attributes:
        name: of the module.
        device: the user's device.
        force_scale: force on the object over force on the device (§15.3).
        forces: what acts on bodies in the present step.
        log: what happened at both rates.
    """

    def __init__(self, name: str, device: Device, force_scale: float) -> None:
        """Keep what every interaction has.

        Raises:
            InputError: the scale is not positive.
        """
        if not (force_scale > 0.0 and np.isfinite(force_scale)):
            raise InputError(f"force_scale is {force_scale}", element="force_scale", remedy="Give a positive number")
        self.name = name
        self.device = device
        self.force_scale = float(force_scale)
        self.forces: tuple[BodyForce, ...] = ()
        self.log = MultiRateLog()
        self._next: tuple[BodyForce, ...] = ()
        self._tick = 0

    # -- of the subclass ---------------------------------------------------------------------

    def observe(self, simulation: Simulation) -> None:
        """Look at the bodies, at the start of a step."""

    def feel(self, sample: DeviceSample, simulation: Simulation) -> tuple[NDArray[np.float64], tuple[BodyForce, ...]]:
        """Return what a tick of the device gives.

        Args:
            sample: of the device.
            simulation: at the start of the step.

        Returns:
            The force on the handle at the object's scale [N], shape (3,), and the forces on bodies.
        """
        raise NotImplementedError

    def save_own(self) -> object:
        """Return a copy of the subclass' own state."""
        return None

    def restore_own(self, state: object, simulation: Simulation) -> None:
        """Go back to what :meth:`save_own` returned."""

    # -- module ------------------------------------------------------------------------------

    def attach(self, simulation: Simulation) -> None:
        """Begin with the device's next tick."""
        self._simulation = simulation
        self._tick = int(np.ceil(simulation.time * self.device.rate - 1e-6))

    def period(self, simulation: Simulation) -> float:
        """For how long a force is held [s]: the step or the device's period, whichever is longer."""
        return max(simulation.dt, 1.0 / self.device.rate)

    def before_step(self, simulation: Simulation) -> None:
        """Read the device, let it display, and push the bodies."""
        begin, rate = simulation.time, self.device.rate
        self.observe(simulation)
        self.forces = self._next
        while self._tick / rate < begin + simulation.dt * (1.0 - 1e-6):
            time = self._tick / rate
            self._next = self._serve(time, simulation)
            if time <= begin + 1e-6 * simulation.dt:
                self.forces = self._next
            self._tick += 1
        total: NDArray[np.float64] = np.zeros(3)
        centre: NDArray[np.float64] = np.full(3, np.nan)
        for i, acting in enumerate(self.forces):
            point = simulation.placement(acting.body).act(acting.point)
            simulation.apply_wrench(acting.body, acting.force, acting.torque, point=point, duration=simulation.dt)
            total = total + acting.force
            centre = point if i == 0 else centre + (point - centre) / (i + 1)
        self.log.add_physics(begin, centre, total)

    def _serve(self, time: float, simulation: Simulation) -> tuple[BodyForce, ...]:
        """One tick of the device."""
        sample = self.device.read(time)
        if sample is None:
            return ()
        force, forces = self.feel(sample, simulation)
        displayed = self.device.limited(force / self.force_scale)
        self.device.display(displayed)
        self.log.add_device(time, sample.position, force, displayed, sample.pressed(0))
        return forces

    def save(self) -> object:
        """Tick, held forces, state of the device and of the subclass."""
        return _Held(self._tick, self._next, self.device.save(), self.save_own())

    def restore(self, state: object) -> None:
        """Go on from a saved state; logs go on, too."""
        assert isinstance(state, _Held)
        self._tick, self._next = state.tick, state.forces
        self.device.restore(state.device)
        self.restore_own(state.own, self._simulation)

    def detach(self, simulation: Simulation) -> None:
        """Let the user feel nothing any more."""
        self.device.display(np.zeros(3))
