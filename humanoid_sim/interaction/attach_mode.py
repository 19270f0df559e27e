# SPDX-License-Identifier: Apache-2.0
"""Holding an object: the pointer is attached to a point of it while a button is pressed (specification 000 §15.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.device import Device, DeviceSample
from humanoid_sim.interaction.interaction import BodyForce, Interaction
from humanoid_sim.interaction.nearby import NearbyShapes
from humanoid_sim.interaction.virtual_coupling import BodyPoint, PointState, VirtualCoupling

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class _Attached:
    """To what the pointer is attached, as it is saved."""

    body: str
    local: NDArray[np.float64]
    pointer_to_body: NDArray[np.float64]
    coupling: VirtualCoupling
    pressed: bool


class AttachMode(Interaction):
    """Bilateral manipulation by a virtual coupling (equation 3.63).

    The pointer goes through bodies. When its button goes down, it is attached to the body that it is in or near, at the
    point where it is; when the button goes up, the coupling is gone and with it the force, at the same tick.

    A coupling that is too stiff for the object and the rates is made as stiff as is stable
    (:func:`~humanoid_sim.interaction.virtual_coupling.stable_stiffness`), and no force exceeds ``max_force``.

    Attributes:
        body: the only body that can be held, wherever the pointer is; None for any mobile one within ``reach``.
        stiffness: k_p asked for [N/m].
        rotational_stiffness: asked for [N m/rad]; zero for the printed law, which is one of positions.
        max_force: largest force [N].
        reach: from how far outside a surface the pointer takes hold [m].
        button: index of the button.
    """

    def __init__(
        self,
        device: Device,
        *,
        body: str | None = None,
        stiffness: float = 500.0,
        rotational_stiffness: float = 0.0,
        max_force: float = np.inf,
        reach: float = 0.01,
        button: int = 0,
        force_scale: float = 1.0,
        name: str = "attach",
    ) -> None:
        """Set a way of holding things up.

        Raises:
            InputError: a stiffness, force, reach or scale that is no positive number (reach, rotational stiffness: zero
                or positive).
        """
        super().__init__(name, device, force_scale)
        for element, value, least in (
            ("stiffness", stiffness, 1e-300),
            ("max_force", max_force, 1e-300),
            ("rotational_stiffness", rotational_stiffness, 0.0),
            ("reach", reach, 0.0),
        ):
            if not value >= least:
                raise InputError(f"{element} is {value}", element=element, remedy="Give a positive number")
        self.body = body
        self.stiffness = stiffness
        self.rotational_stiffness = rotational_stiffness
        self.max_force = max_force
        self.reach = reach
        self.button = button
        self._pressed = False
        self._held: BodyPoint | None = None
        self._coupling: VirtualCoupling | None = None
        self._pointer_to_body = np.eye(3)
        self._state: PointState | None = None

    @property
    def held(self) -> BodyPoint | None:
        """The attach point; None while nothing is held."""
        return self._held

    @property
    def coupling(self) -> VirtualCoupling | None:
        """The spring and damper between pointer and attach point; None while nothing is held."""
        return self._coupling

    def attach(self, simulation: Simulation) -> None:
        """Prepare the shapes that the pointer may be in.

        Raises:
            InputError: there is no body of the name that was given, or it can't move.
        """
        super().attach(simulation)
        if self.body is not None and BodyPoint(simulation, self.body, np.zeros(3)).fixed:
            raise InputError(f"the body '{self.body}' is fixed", element="body", remedy="Name one that can move")
        self._shapes = NearbyShapes(simulation.world)
        self._mobile = [body.joint != 0 for body in simulation.world.bodies]

    def observe(self, simulation: Simulation) -> None:
        """Look where the attach point is."""
        self._state = None if self._held is None else self._held.state(simulation)

    def feel(self, sample: DeviceSample, simulation: Simulation) -> tuple[NDArray[np.float64], tuple[BodyForce, ...]]:
        """Attach, hold or let go."""
        pressed = sample.pressed(self.button)
        if pressed and not self._pressed:
            self._take(sample, simulation)
        elif not pressed:
            self._held = self._coupling = self._state = None
        self._pressed = pressed
        if self._held is None or self._coupling is None or self._state is None:
            return np.zeros(3), ()
        force = self._coupling.force_on_pointer(self._state, sample)
        torque = self._coupling.torque_on_pointer(self._state, sample, self._pointer_to_body)
        return force, (BodyForce(self._held.body, self._held.local, -force, -torque),)

    def _take(self, sample: DeviceSample, simulation: Simulation) -> None:
        """Attach the pointer to the body that it is in or near, if there is one."""
        name = self.body
        if name is None:
            self._shapes.update(*simulation.joint_placements())
            index = self._shapes.nearest_body(sample.position, self.reach, self._mobile)
            if index is None:
                return
            name = simulation.world.bodies[index].name
        placement = simulation.placement(name)
        self._held = BodyPoint(simulation, name, placement.actInv(sample.position))
        self._state = self._held.state(simulation)
        self._pointer_to_body = sample.placement.rotation.T @ placement.rotation
        self._coupling = VirtualCoupling.for_object(
            self._held.mass(simulation),
            self._held.mobility(simulation),
            self.period(simulation),
            stiffness=self.stiffness,
            rotational_stiffness=self.rotational_stiffness,
            max_force=self.max_force,
        )

    def save_own(self) -> object:
        """Return what is held, and how."""
        if self._held is None or self._coupling is None:
            return self._pressed
        return _Attached(
            self._held.body, self._held.local.copy(), self._pointer_to_body.copy(), self._coupling, self._pressed
        )

    def restore_own(self, state: object, simulation: Simulation) -> None:
        """Hold again what was held."""
        self._held = self._coupling = self._state = None
        if isinstance(state, _Attached):
            self._held = BodyPoint(simulation, state.body, state.local)
            self._coupling, self._pointer_to_body = state.coupling, state.pointer_to_body.copy()
            self._pressed = state.pressed
        else:
            self._pressed = bool(state)
