# SPDX-License-Identifier: Apache-2.0
"""Any robot's URDF as a planar mechanism, loops and contacts included, seen along its lateral axis.

Joints about the lateral axis move, others are locked in a reference posture. The link that a moving joint carries bears
the URDF link's name, and its absolute angle is zero in the reference posture. A base that moves in space, or along x, z
and about y, becomes a link of its own, whose place and angle are zero there; a fixed one is the ground.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Link, Pivot, PlanarMechanism
from humanoid_studies.planar_gait.models.lateral_motion import (
    has_planar_root,
    in_plane,
    lateral_sign,
    planar_masses,
    posture_of,
    rigid_groups,
)


def planar_mechanism(
    robot: Robot,
    posture: str | ArrayLike = "zero",
    moving: Collection[str] | None = None,
    contacts: Mapping[str, complex] | None = None,
) -> PlanarMechanism:
    """Return the mechanism that a robot is in its sagittal plane.

    Args:
        robot: to project.
        posture: in which all but the moving joints are locked, by its name or (nq,).
        moving: joints that move; all that turn about the lateral axis if left out.
        contacts: contact locations of the robot that are on the ground, each with its place there [m]; a location of
            several vertices is taken by their middle.

    Returns:
        Links, joints named and counted as the robot does and each driven by a torque of its name, contacts and loops by
        their names. :func:`.open_mechanism` makes a phase model of it.

    Raises:
        InputError: an unknown posture, joint or contact, a joint that doesn't turn about the lateral axis, or a loop
            that isn't a pin in the plane.
    """
    reference = posture_of(robot, posture)
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, reference)
    base = model.names[3] if has_planar_root(robot) else None
    signs = _signs(robot, data, moving, base)
    ids = {model.getJointId(name): name for name in signs}
    free = robot.base_joint is not None or base is not None
    root = _carried(robot, base) if base is not None else robot.description.root
    names = {0: root if free else GROUND, **{joint: _carried(robot, name) for joint, name in ids.items()}}
    origins = {0: 0j, **{joint: in_plane(data.oMi[joint].translation) for joint in ids}}
    groups = rigid_groups(model, ids)
    masses = planar_masses(model, data, ids)
    links = [
        Link(names[joint], masses[joint].mass, masses[joint].centre - origins[joint], masses[joint].inertia)
        for joint in ([0] if free else []) + list(ids)
    ]
    pivots = []
    for joint, name in ids.items():
        parent = groups[model.parents[joint]]
        q, v = robot.index_q(name), robot.index_v(name)
        sign = -signs[name]  # a turn to the left is clockwise, seen with X ahead and Y up
        offset = -sign * float(reference[q])
        ends = sorted(sign * float(limit) + offset for limit in (robot.limits.lower[q], robot.limits.upper[q]))
        pivots.append(
            Pivot(
                name,
                names[parent],
                origins[joint] - origins[parent],
                names[joint],
                torque=name,
                lower=ends[0],
                upper=ends[1],
                rate_limit=float(robot.limits.velocity[v]),
                rotor=float(model.armature[v]),
                sign=sign,
                offset=offset,
            )
        )

    def place(link: str, point: np.ndarray) -> tuple[str, complex]:
        """Planar link that carries a link of the robot, and a point of that in its frame."""
        attachment = robot.parts.links[link]
        group = groups[attachment.joint_id]
        at = in_plane((data.oMi[attachment.joint_id] * attachment.placement_joint_link).act(point))
        return names[group], at - origins[group]

    for loop in robot.loops:
        if not {"x", "z"} <= set(loop.rows) or "ry" in loop.rows:
            raise InputError(
                f"holds {', '.join(loop.rows)}: no pin in the sagittal plane",
                element=f"robot '{robot.name}', loop '{loop.name}'",
                remedy="Give rows x and z of frames along the robot's axes, without ry",
            )
        first, at_first = place(loop.link_a, loop.placement_a.translation)
        second, at_second = place(loop.link_b, loop.placement_b.translation)
        pivots.append(Pivot(loop.name, first, at_first, second, at_second))
    for name, target in (contacts or {}).items():
        if name not in robot.contacts:
            raise InputError(
                f"unknown contact '{name}'",
                element=f"robot '{robot.name}'",
                remedy=f"Use one of {', '.join(robot.contacts) or 'none: it has no contacts'}",
            )
        location = robot.contacts[name]
        link, at = place(location.link, location.vertices_link.mean(axis=0))
        pivots.append(Pivot(name, link, at, GROUND, complex(target), contact=True))
    return PlanarMechanism(robot.name, tuple(links), tuple(pivots))


def _signs(robot: Robot, data: pin.Data, moving: Collection[str] | None, base: str | None) -> dict[str, int]:
    """Return which way each moving joint turns."""
    signs: dict[str, int] = {}
    for name in robot.joint_names if moving is None else moving:
        if name not in robot.joint_names:
            raise InputError(
                f"unknown joint '{name}'",
                element=f"robot '{robot.name}'",
                remedy=f"Use some of {', '.join(robot.joint_names)}",
            )
        sign = 0 if name == base else lateral_sign(robot, data, name)
        if sign:
            signs[name] = sign
        elif moving is not None:
            raise InputError(
                f"joint '{name}' doesn't turn about the lateral axis, or is the base's",
                element=f"robot '{robot.name}'",
                remedy="Let it be locked, or choose another posture",
            )
    return signs


def _carried(robot: Robot, joint: str) -> str:
    """Return the URDF link that a joint carries."""
    return robot.description.joints[joint].child
