# SPDX-License-Identifier: Apache-2.0
"""Whether a stance keeps a robot in equilibrium, at a posture or with its centre of mass somewhere.

The points at which it bears are found from its surfaces or from a posture; joint efforts follow from their forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model import Contact, ContactKind, Robot, Scene, Stance
from humanoid_model.errors import InputError
from humanoid_model.scene import STANDARD_GRAVITY
from humanoid_planner.equilibrium.body_equilibrium import STILL, UNLOADED, EquilibriumMethod, HeldBody, check_body
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem import surface_frame
from humanoid_planner.posture.tasks.contact import PlacedContact, place_contact
from humanoid_planner.posture.tasks.state import ForceModel, Load

NEAR = 5e-3
"""Largest distance between where a posture and where a stance says that a contact is [m]."""
PARALLEL = 0.03
"""Largest angle between their normals, beyond a relaxed contact's own tolerance [rad]."""


@dataclass(frozen=True)
class BearingContacts:
    """Contacts that bear force, and their points.

    Attributes:
        contacts: that bear force.
        points: of those on the world; contacts on the robot's own links support nothing.
        owners: (k,) which of ``contacts`` each point belongs to.
    """

    contacts: tuple[PlacedContact, ...]
    points: ContactPoints
    owners: tuple[int, ...]

    @property
    def inner(self) -> list[Contact]:
        """Contacts of the robot with itself."""
        return [placed.contact for placed in self.contacts if placed.ground]


def bearing_contacts(
    stance: Sequence[PlacedContact], kinematics: RobotKinematics, *, at_posture: bool
) -> BearingContacts:
    """Return the contacts of a stance that bear force.

    Args:
        stance: all contacts of it.
        kinematics: of the robot, at its posture if ``at_posture``.
        at_posture: contacts that slide are where the posture has them; otherwise where the stance says.
    """
    contacts, positions, frames, owners = [], [], [], []
    for placed in stance:
        contact = placed.contact
        if not contact.kind.bears:
            continue
        contacts.append(placed)
        if placed.ground:
            continue
        frame = placed.placement_ground_contact
        if contact.kind is ContactKind.SLIDING and at_posture:
            frame = pin.SE3(placed.placement_ground_surface.rotation, patch_placement(placed, kinematics).translation)
            vertices = [patch_placement(placed, kinematics).act(np.array([x, y, 0.0])) for x, y in placed.bearing]
        else:
            vertices = [frame.act(np.array([x, y, 0.0])) for x, y in placed.bearing]
        for vertex in vertices:
            positions.append(vertex)
            frames.append(frame.rotation)
            owners.append(len(contacts) - 1)
    count = len(positions)
    points = ContactPoints(
        np.reshape(positions, (count, 3)),
        np.reshape(frames, (count, 3, 3)),
        np.array([contacts[owner].friction for owner in owners], dtype=float),
        np.array([contacts[owner].contact.bilateral for owner in owners], dtype=bool),
    )
    return BearingContacts(tuple(contacts), points, tuple(owners))


def check_held(contacts: Sequence[PlacedContact], kinematics: RobotKinematics, field: str) -> None:
    """Raise unless a posture has its contacts where a stance says.

    Args:
        contacts: of the stance.
        kinematics: of the robot at the posture.
        field: that gives the posture, for errors.

    Raises:
        InputError: a contact is somewhere else.
    """
    for placed in contacts:
        contact = placed.contact
        here, wanted = patch_placement(placed, kinematics), surface_frame(placed, kinematics)
        local = wanted.actInv(here)
        patch = np.column_stack([contact.location.patch, np.zeros(len(contact.location.patch))])
        apart = np.array([local.act(vertex) - vertex for vertex in patch])
        if contact.kind is ContactKind.SLIDING:
            gap = float(np.abs(apart[:, 2]).max())
        elif contact.kind is ContactKind.RELAXED:
            gap = float(np.linalg.norm(local.translation))
        else:
            gap = float(np.linalg.norm(apart, axis=1).max())
        angle = float(np.arccos(np.clip(local.rotation[2, 2], -1.0, 1.0)))
        name = f"'{contact.location.name}' from its contact on '{contact.surface.name}'"
        remedy = "Give a posture that holds the stance, such as generate_posture finds"
        if gap > NEAR:
            raise InputError(f"puts {name} {gap:.3g} m away", element=field, remedy=remedy)
        if contact.kind is ContactKind.RELAXED and angle > contact.tolerance + PARALLEL:
            raise InputError(f"turns {name} by {angle:.3g} rad", element=field, remedy=remedy)


def patch_placement(placed: PlacedContact, kinematics: RobotKinematics) -> pin.SE3:
    """Return where a contact's patch is in the world at the kinematics' configuration."""
    kinematics.place_body(placed.body)
    body = pin.SE3(kinematics.rotations[placed.body].copy(), kinematics.origins[placed.body].copy())
    return body * placed.placement_body_patch


def patch_outline(placed: PlacedContact, kinematics: RobotKinematics | None) -> NDArray[np.float64]:
    """(k, 3) vertices of a contact's patch in the world [m].

    Args:
        placed: the contact.
        kinematics: of the robot at its posture; None takes the place that the stance says.
    """
    placement = placed.placement_ground_contact if kinematics is None else patch_placement(placed, kinematics)
    patch = placed.contact.location.patch
    return np.array([placement.act(np.array([x, y, 0.0])) for x, y in patch])


@dataclass(frozen=True)
class JointEfforts:
    """Efforts that hold a posture: ``constant + slope f`` of the contact forces f.

    Attributes:
        names: of the joints, without those of the floating base.
        limits: (n,) largest efforts [N m] or [N]; infinite where there is none.
        constant: (n,) efforts without contact forces.
        slope: (n, 3 k) efforts per force in the world, the points one after the other.
    """

    names: tuple[str, ...]
    limits: NDArray[np.float64]
    constant: NDArray[np.float64]
    slope: NDArray[np.float64]

    @classmethod
    def at_posture(
        cls,
        bearing: BearingContacts,
        kinematics: RobotKinematics,
        loads: tuple[Load, ...],
        gravity: NDArray[np.float64],
    ) -> JointEfforts:
        """Efforts at the kinematics' configuration.

        Args:
            bearing: contacts that bear force, all of them on the world.
            kinematics: of the robot at the posture.
            loads: known wrenches.
            gravity: (3,) [m/s^2].
        """
        model = ForceModel(kinematics, bearing.contacts, loads, gravity)
        model.update(np.zeros(model.size))
        by_unit = model.efforts_by_force()
        # Force variables are in contact frames and in weights: f = W R u, so that u = (W R)^T f / W^2.
        parts = [
            by_unit[:, 3 * i : 3 * i + 3] @ frame.T / model.weight**2
            for i, frame in enumerate(model.frames_of_points())
        ]
        slope = np.hstack([np.zeros((kinematics.size, 0)), *parts])
        joints = kinematics.robot.description.joints
        rows = [row for row, name in enumerate(kinematics.names) if name in joints]
        names = tuple(kinematics.names[row] for row in rows)
        return cls(names, kinematics.effort[rows], model.efforts()[rows].copy(), slope[rows])

    def of(self, forces: NDArray[np.float64]) -> dict[str, float]:
        """Effort by joint [N m or N] under forces (k, 3) in the world [N]."""
        efforts = self.constant + self.slope @ forces.ravel()
        return {name: float(effort) for name, effort in zip(self.names, efforts, strict=True)}

    def limit_rows(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a (m, 3 k) and b (m,) of the effort limits ``A f + b <= 0``."""
        limited = np.isfinite(self.limits)
        slope, constant, limit = self.slope[limited], self.constant[limited], self.limits[limited]
        return np.vstack([slope, -slope]), np.concatenate([constant - limit, -constant - limit])


@dataclass(frozen=True)
class StanceEquilibrium:
    """What a test of a stance says; world frame.

    Attributes:
        equilibrium: yes or no.
        margin: of the centre of mass to the polygon's edge [m], or of the forces to their cones or of the wrench to
            the polytope [N]; negative without equilibrium.
        method: how it was tested.
        centre_of_mass: (3,) [m].
        region: (h, 3) vertices of the places that the centre of mass may be at, counter-clockwise, drawn at the height
            of the lowest contact point [m].
        contacts: of the stance, those that bear nothing too.
        bearing: those that bear force, with the points that forces act at.
        forces: (k, 3) at the points, those of the largest margin [N]; empty without equilibrium, and by the polygon.
        efforts: by joint [N m or N] under these forces; empty where they aren't known.
    """

    equilibrium: bool
    margin: float
    method: EquilibriumMethod
    centre_of_mass: NDArray[np.float64]
    region: NDArray[np.float64]
    contacts: tuple[PlacedContact, ...]
    bearing: BearingContacts
    forces: NDArray[np.float64]
    efforts: Mapping[str, float] = field(default_factory=dict)


def check_stance(
    robot: Robot,
    stance: Stance,
    *,
    scene: Scene | None = None,
    posture: ArrayLike | None = None,
    centre_of_mass: ArrayLike | None = None,
    method: EquilibriumMethod | str = EquilibriumMethod.CONTACT_FORCES,
    acceleration: ArrayLike = STILL,
    loads: Sequence[Load] = (),
    torque_limits: bool = False,
    kinematics: RobotKinematics | None = None,
) -> StanceEquilibrium:
    """Return whether a stance keeps a robot in equilibrium.

    Args:
        robot: with a floating base.
        stance: what it holds.
        scene: that the surfaces belong to; None puts them into the world, under standard gravity.
        posture: (nq,) configuration that holds the stance.
        centre_of_mass: (3,) where no posture is given [m]; joint efforts aren't known then.
        method: "polygon", "forces" or "polytope".
        acceleration: (3,) of the centre of mass [m/s^2].
        loads: known wrenches on links; they need the posture.
        torque_limits: respect the joints' effort limits; needs the posture and "forces".
        kinematics: of the robot, to be used again; it is put into the posture.

    Raises:
        InputError: a contact can't be placed or bears nothing, the posture holds another stance, or the method can't
            answer that; it names the argument.
    """
    if robot.base_joint is None:
        raise InputError(
            f"'{robot.name}' is fixed to the world, which holds it anyway",
            element="robot",
            remedy="Give a robot with a floating base",
        )
    method = _method(method)
    acceleration = np.asarray(acceleration, dtype=float)
    moves = bool(acceleration.any())
    _check_arguments(method, posture is not None, bool(loads), moves, torque_limits)
    kinematics = kinematics or RobotKinematics(robot)
    contacts = tuple(place_contact(contact, kinematics, scene) for contact in stance.contacts)
    if posture is not None:
        kinematics.set(kinematics.coordinates(np.asarray(posture, dtype=float)))
        check_held(contacts, kinematics, "posture")
        centre_of_mass = kinematics.centre_of_mass()
    elif centre_of_mass is None:
        raise InputError("is missing", element="centre_of_mass", remedy="Give it, or the posture")
    bearing = bearing_contacts(contacts, kinematics, at_posture=posture is not None)
    wrench = loads_wrench(loads, kinematics) if loads else UNLOADED
    gravity = np.array(STANDARD_GRAVITY if scene is None else scene.gravity, dtype=float)
    body = HeldBody(kinematics.total_mass, np.array(centre_of_mass, dtype=float), gravity, acceleration, wrench)
    efforts = None
    if posture is not None and method is EquilibriumMethod.CONTACT_FORCES and not moves:
        _check_inner(bearing, torque_limits)
        efforts = joint_efforts(bearing, kinematics, loads, gravity)
    return stance_equilibrium(method, contacts, bearing, body, efforts, torque_limits=torque_limits)


def stance_equilibrium(
    method: EquilibriumMethod,
    contacts: tuple[PlacedContact, ...],
    bearing: BearingContacts,
    body: HeldBody,
    efforts: JointEfforts | None,
    *,
    torque_limits: bool,
) -> StanceEquilibrium:
    """Return the test itself, once contacts and body are known.

    Args:
        method: of the test.
        contacts: of the stance.
        bearing: those that bear force.
        body: that they hold.
        efforts: as functions of the forces, None where they aren't known.
        torque_limits: whether they are limited.

    Raises:
        InputError: no contact bears force.
    """
    limits = efforts.limit_rows() if efforts is not None and torque_limits else None
    answer = check_body(method, bearing.points, body, limits)
    return StanceEquilibrium(
        answer.equilibrium,
        answer.margin,
        method,
        body.centre_of_mass,
        answer.region,
        contacts,
        bearing,
        answer.forces,
        efforts.of(answer.forces) if efforts is not None and len(answer.forces) else {},
    )


def joint_efforts(
    bearing: BearingContacts, kinematics: RobotKinematics, loads: Sequence[Load], gravity: NDArray[np.float64]
) -> JointEfforts | None:
    """Return how joint efforts depend on the forces; None where contacts of the robot with itself leave that open."""
    return None if bearing.inner else JointEfforts.at_posture(bearing, kinematics, tuple(loads), gravity)


def loads_wrench(loads: Sequence[Load], kinematics: RobotKinematics) -> NDArray[np.float64]:
    """(6,) force [N] and moment about the world's origin [N m] of loads at the kinematics' configuration."""
    total = UNLOADED.copy()
    for item in loads:
        rotation, origin = kinematics.placement(item.link)
        force, couple = np.asarray(item.force, dtype=float), np.asarray(item.couple, dtype=float)
        if item.in_link_frame:
            force, couple = rotation @ force, rotation @ couple
        where = rotation @ np.asarray(item.point, dtype=float) + origin
        total[:3] += force
        total[3:] += couple + np.cross(where, force)
    return total


def _method(method: EquilibriumMethod | str) -> EquilibriumMethod:
    try:
        return EquilibriumMethod(method)
    except ValueError:
        raise InputError(
            f"is '{method}'",
            element="method",
            remedy=f"Give one of {', '.join(known.value for known in EquilibriumMethod)}",
        ) from None


def _check_arguments(method: EquilibriumMethod, posture: bool, loads: bool, moves: bool, torque_limits: bool) -> None:
    """Raise where arguments ask for what the method, or a question without posture, doesn't know."""
    if not posture:
        for name, given in (("loads", loads), ("torque_limits", torque_limits)):
            if given:
                raise InputError(
                    "needs the posture, which isn't given", element=name, remedy="Give the posture, or leave it out"
                )
    if method is EquilibriumMethod.SUPPORT_POLYGON:
        for name, given in (("loads", loads), ("acceleration", moves)):
            if given:
                raise InputError(
                    f"is given, but method {method.name} knows the weight only",
                    element=name,
                    remedy=f"Give method {EquilibriumMethod.CONTACT_FORCES.name}, or leave it zero",
                )
    if torque_limits and method is not EquilibriumMethod.CONTACT_FORCES:
        raise InputError(
            f"are set, but method {method.name} knows no torques",
            element="torque_limits",
            remedy=f"Give method {EquilibriumMethod.CONTACT_FORCES.name}",
        )
    if torque_limits and moves:
        raise InputError(
            "are set, but what an acceleration of the centre of mass asks of the joints isn't known",
            element="torque_limits",
            remedy="Leave the acceleration zero, or the limits unset",
        )


def _check_inner(bearing: BearingContacts, torque_limits: bool) -> None:
    """Raise where torques would be limited that forces inside the robot leave open."""
    if torque_limits and bearing.inner:
        inner = bearing.inner[0]
        raise InputError(
            f"are set, but the force of '{inner.location.name}' on the robot's own '{inner.surface.body}' is "
            "indeterminate",
            element="torque_limits",
            remedy="Leave them unset, or the contact out",
        )
