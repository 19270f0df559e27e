# SPDX-License-Identifier: Apache-2.0
"""Whether a stance keeps a robot in equilibrium, at a posture or with its centre of mass somewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model import Robot, Scene, Stance
from humanoid_model.errors import InputError
from humanoid_model.scene import STANDARD_GRAVITY
from humanoid_planner.equilibrium.body_equilibrium import STILL, UNLOADED, EquilibriumMethod, HeldBody, check_body
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.balance.bearing_contacts import BearingContacts, bearing_contacts, check_held
from humanoid_planner.posture.balance.joint_efforts import JointEfforts
from humanoid_planner.posture.problem.force_model import Load
from humanoid_planner.posture.problem.placed_contact import PlacedContact, place_contact


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
