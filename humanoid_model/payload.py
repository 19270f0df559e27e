# SPDX-License-Identifier: Apache-2.0
"""A robot that carries a mass on one of its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_model.checks import check_positive
from humanoid_model.description import Inertial
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot


def with_payload(robot: Robot, mass: float, place: Sequence[float] = (0.0, 0.0, 0.2), link: str | None = None) -> Robot:
    """Return a robot that carries a point mass, in its description and in its model.

    Args:
        robot: that carries it.
        mass: of the load [kg].
        place: (3,) from the link's own centre of mass, along the link's axes [m].
        link: that it is fixed to; the heaviest one if left out.

    Raises:
        InputError: the mass isn't above 0, there is no such link, or it has no inertia.
    """
    check_positive(mass, "mass", "kg")
    masses = {name: own.inertial.mass for name, own in robot.description.links.items() if own.inertial is not None}
    name = max(masses, key=lambda one: masses[one]) if link is None else link
    own = robot.description.links.get(name)
    if own is None or own.inertial is None:
        remedy = f"Links are {', '.join(masses)}"
        raise InputError("is none of the robot's, or has no inertia", element=f"link '{name}'", remedy=remedy)
    com, turn = own.inertial.placement_link_com.translation, own.inertial.placement_link_com.rotation
    load = pin.Inertia(mass, com + np.asarray(place, dtype=float), np.zeros((3, 3)))
    whole = pin.Inertia(own.inertial.mass, com, turn @ own.inertial.inertia @ turn.T) + load
    inertial = Inertial(whole.mass, pin.SE3(np.eye(3), whole.lever), whole.inertia)
    links = {**robot.description.links, name: replace(own, inertial=inertial)}
    model, part = robot.model.copy(), robot.parts.links[name]
    model.inertias[part.joint_id] = model.inertias[part.joint_id] + part.placement_joint_link.act(load)
    return replace(robot, model=model, description=replace(robot.description, links=links))
