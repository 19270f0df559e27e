# SPDX-License-Identifier: Apache-2.0
"""External wrenches on links, as loads on the bodies that they are part of."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.algorithms.forward_kinematics import Placement
from humanoid_codegen.mechanism import LinkFrame
from humanoid_codegen.vector import Scalar, Vector, add, apply_transpose, cross


def loads_in_body_axes(
    links: Sequence[LinkFrame], wrenches: Sequence[Scalar], bodies: Sequence[Placement]
) -> dict[int, tuple[Vector, Vector]]:
    """Force [N] and moment about the body's origin [N m], in the body's axes, by body index.

    Args:
        links: the links on which wrenches act.
        wrenches: for each of them force [N] and moment about the link's origin [N m], world axes; 6 entries each.
        bodies: world placements of the bodies.
    """
    loads: dict[int, tuple[Vector, Vector]] = {}
    for i, link in enumerate(links):
        if link.body < 0:
            continue
        fx, fy, fz, nx, ny, nz = wrenches[6 * i : 6 * i + 6]
        rotation = bodies[link.body].rotation
        force, moment = apply_transpose(rotation, (fx, fy, fz)), apply_transpose(rotation, (nx, ny, nz))
        moment = add(moment, cross(link.position, force))
        if link.body in loads:
            force, moment = add(loads[link.body][0], force), add(loads[link.body][1], moment)
        loads[link.body] = (force, moment)
    return loads
