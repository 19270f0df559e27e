# SPDX-License-Identifier: Apache-2.0
"""Touching and pushing bodies without entering them (specification 000 §15.3, F113 to F115 and F121).

A ball follows the pointer and never enters a body, god-object and virtual proxy: C. Zilles and J. Salisbury, "A
constraint-based god-object method for haptic display", IROS 1995; D. Ruspini, K. Kolarov and O. Khatib, "The haptic
display of complex graphical environments", SIGGRAPH 1997.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import daqp
import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.device import Device, DeviceSample
from humanoid_sim.interaction.interaction import BodyForce, Interaction
from humanoid_sim.interaction.nearby import NearbyShapes, Planes
from humanoid_sim.interaction.virtual_coupling import BodyPoint, stable_stiffness

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


_ROUNDS = 50
_SLACK = 1e-3
"""By this share of its radius the ball may be nearer to a plane; without, it would not get past the edges of meshes."""


@dataclass(frozen=True)
class ProxyContacts:
    """What holds the ball back from the pointer.

    Attributes:
        bodies: index of each body in the world's list, shape (k,).
        points: nearest points of the bodies, in the world [m], shape (k, 3).
        normals: unit, out of the bodies, in the world, shape (k, 3).
        depths: share of each in the way from pointer to ball: ball - pointer = sum of depth * normal [m], shape (k,).
    """

    bodies: NDArray[np.int64]
    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    depths: NDArray[np.float64]


def project(
    goal: NDArray[np.float64], normals: NDArray[np.float64], offsets: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the point of a polyhedron {y: n_i . y >= c_i} nearest to a goal.

    DAQP's dual active-set method.

    Args:
        goal: shape (3,).
        normals: unit, shape (k, 3).
        offsets: shape (k,).

    Returns:
        The point, shape (3,), and multipliers >= 0, shape (k,), with point - goal = sum of multiplier * normal; None if
        the polyhedron is empty.
    """
    missing = offsets - normals @ goal
    scale = float(missing.max(initial=0.0))
    if scale <= 0.0:
        return goal.copy(), np.zeros(len(offsets))
    k = len(offsets)
    model = daqp.Model()
    model.settings = {"primal_tol": 1e-10, "sing_tol": 1e-14}
    sense = np.zeros(k, np.intc)
    status, _ = model.setup(
        np.eye(3), np.zeros(3), np.ascontiguousarray(normals), np.full(k, 1e30), missing / scale, sense
    )
    if status < 0:
        return None
    _, _, status, info = model.solve()
    if status <= 0:
        return None
    multipliers = scale * np.maximum(-info["lam"], 0.0)
    return goal + normals.T @ multipliers, multipliers


class Proxy:
    """A ball between the pointer and the bodies.

    Attributes:
        radius: of the ball [m].
        position: of its centre in the world [m], shape (3,).
        triangles: most mesh triangles that a round of the last move looked at.
    """

    def __init__(self, radius: float, position: NDArray[np.float64]) -> None:
        """Put the ball somewhere."""
        self.radius = radius
        self.position: NDArray[np.float64] = position.copy()
        self.triangles = 0

    def follow(self, goal: NDArray[np.float64], shapes: NearbyShapes) -> ProxyContacts:
        """Move the ball as near to the pointer as the bodies let it, along them if need be.

        Each round makes half-spaces of what is near (see :meth:`NearbyShapes.planes`) and goes to their point nearest
        to the goal. No round enters a body, and none goes away from the goal unless a body has moved into the ball.

        Args:
            goal: the pointer in the world [m], shape (3,).
            shapes: the bodies where they are now.

        Returns:
            What holds the ball back at the end; empty in free space.
        """
        self.triangles = 0
        planes, depths = _NONE, _NONE.offsets
        for _ in range(_ROUNDS):
            reach = float(np.linalg.norm(goal - self.position))
            planes = shapes.planes(self.position, self.radius, reach + 2.0 * self.radius)
            self.triangles = max(self.triangles, planes.triangles)
            found = project(goal, planes.normals, planes.offsets - _SLACK * self.radius)
            if found is None:  # squeezed between bodies: stay
                depths = np.zeros(len(planes.offsets))
                break
            target, depths = found
            move = target - self.position
            length = float(np.linalg.norm(move))
            if length > planes.complete_within:
                move *= planes.complete_within / length
            self.position = self.position + move
            if length < 1e-9:
                break
        held = depths > 0.0
        return ProxyContacts(planes.bodies[held], planes.points[held], planes.normals[held], depths[held])


_NONE = Planes(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0, dtype=np.int64), np.inf, 0)


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
