# SPDX-License-Identifier: Apache-2.0
"""What all ways of touching a simulation share: a device with a rate of its own, forces on bodies, a log of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.device import Device, DeviceSample
from humanoid_sim.interaction.multi_rate_log import MultiRateLog
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


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
