# SPDX-License-Identifier: Apache-2.0
"""Touching and pushing bodies without entering them (specification 000 §15.3, F113 to F115 and F121)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.body_point import BodyPoint
from humanoid_sim.interaction.device import Device, DeviceSample
from humanoid_sim.interaction.interaction import BodyForce, Interaction
from humanoid_sim.interaction.nearby import NearbyShapes
from humanoid_sim.interaction.proxy import Proxy, ProxyContacts
from humanoid_sim.interaction.virtual_coupling import stable_stiffness

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class _Touch:
    """State of the ball, as it is saved."""

    position: NDArray[np.float64]
    carrier: int | None
    carried_at: NDArray[np.float64]


class TouchMode(Interaction):
    """Unilateral contact of a ball that follows the pointer and never enters a body.

    A spring between pointer and ball is what the user feels. Its force is shared among the touched bodies by the
    multipliers of the constraints that hold the ball back: the same formalism as that of contacts, without friction. On
    mobile bodies a damper of the rule (3.63) acts along each normal; it never pulls. The ball rides on the body that it
    presses on most, so a body that moves takes it along.

    The spring is no stiffer than the device can display, and than is stable on the touched body.

    Attributes:
        stiffness: of the spring that the user feels, asked for [N/m].
        proxy: the ball; None before the device was read for the first time.
        contacts: what holds the ball back, None in free space.
    """

    def __init__(
        self,
        device: Device,
        *,
        radius: float = 0.005,
        stiffness: float = 500.0,
        force_scale: float = 1.0,
        name: str = "touch",
    ) -> None:
        """Set a way of touching things up.

        Args:
            device: the user's device.
            radius: of the ball [m].
            stiffness: of the spring between pointer and ball, at the device [N/m].
            force_scale: force on the bodies over that on the device.
            name: of the module.

        Raises:
            InputError: a value that is not positive.
        """
        super().__init__(name, device, force_scale)
        for element, value in (("radius", radius), ("stiffness", stiffness)):
            if not (value > 0.0 and np.isfinite(value)):
                raise InputError(f"{element} is {value}", element=element, remedy="Give a positive number")
        self.stiffness = stiffness
        self.radius = radius
        self.proxy: Proxy | None = None
        self.contacts: ProxyContacts | None = None
        self._carrier: int | None = None
        self._carried_at: NDArray[np.float64] = np.zeros(3)
        self._springs: dict[int, tuple[float, float]] = {}

    def attach(self, simulation: Simulation) -> None:
        """Prepare the shapes."""
        super().attach(simulation)
        self._shapes = NearbyShapes(simulation.world)
        self._points = [BodyPoint(simulation, body.name, np.zeros(3)) for body in simulation.world.bodies]

    def observe(self, simulation: Simulation) -> None:
        """Follow the bodies, and let the ball ride on the one that it pressed on."""
        self._shapes.update(*simulation.joint_placements())
        if self.proxy is not None and self._carrier is not None:
            self.proxy.position = simulation.placement(self._points[self._carrier].body).act(self._carried_at)

    def feel(self, sample: DeviceSample, simulation: Simulation) -> tuple[NDArray[np.float64], tuple[BodyForce, ...]]:
        """Move the ball after the pointer, and push what is in its way."""
        if self.proxy is None:
            self.proxy = Proxy(self.radius, sample.position)
        contacts = self.proxy.follow(sample.position, self._shapes)
        self._ride(contacts, simulation)
        self._springs = {body: spring for body, spring in self._springs.items() if body in contacts.bodies}
        total, forces = np.zeros(3), []
        for body, point, normal, depth in zip(
            contacts.bodies.tolist(), contacts.points, contacts.normals, contacts.depths.tolist(), strict=True
        ):
            at = self._points[body]
            at.local = simulation.placement(at.body).actInv(point)
            if body not in self._springs:
                self._springs[body] = self._spring(at, simulation)
            stiffness, damping = self._springs[body]
            size = stiffness * depth
            if not at.fixed:
                closing = float(normal @ (at.state(simulation).velocity - sample.velocity))
                size = max(size + damping * closing, 0.0)
                forces.append(BodyForce(at.body, at.local.copy(), -size * normal, np.zeros(3)))
            total = total + size * normal
        return total, tuple(forces)

    def _spring(self, at: BodyPoint, simulation: Simulation) -> tuple[float, float]:
        """Stiffness [N/m] and damping [N s/m] towards a body, at the scale of the body."""
        asked = self.force_scale * min(self.stiffness, self.device.max_stiffness)
        if at.fixed:
            return asked, 0.0
        mass = at.mass(simulation)
        mobility = float(np.linalg.eigvalsh(at.mobility(simulation)[:3, :3])[-1])
        stiffness = stable_stiffness(asked, mass, mobility, self.period(simulation))
        return stiffness, float(np.sqrt(2.0 * mass * stiffness))

    def _ride(self, contacts: ProxyContacts, simulation: Simulation) -> None:
        """Remember the body that carries the ball."""
        assert self.proxy is not None
        self.contacts = contacts if len(contacts.depths) else None
        self._carrier = None
        if self.contacts is not None:
            self._carrier = int(contacts.bodies[int(np.argmax(contacts.depths))])
            placement = simulation.placement(self._points[self._carrier].body)
            self._carried_at = placement.actInv(self.proxy.position)

    def save_own(self) -> object:
        """Return where the ball is, and on what it rides."""
        if self.proxy is None:
            return None
        return _Touch(self.proxy.position.copy(), self._carrier, self._carried_at.copy())

    def restore_own(self, state: object, simulation: Simulation) -> None:
        """Put the ball back."""
        self._springs, self.contacts = {}, None
        if state is None:
            self.proxy, self._carrier = None, None
            return
        assert isinstance(state, _Touch)
        self.proxy = Proxy(self.radius, state.position)
        self._carrier, self._carried_at = state.carrier, state.carried_at.copy()
