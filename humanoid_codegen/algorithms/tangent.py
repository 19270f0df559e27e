# SPDX-License-Identifier: Apache-2.0
"""How coordinates change with the velocity coordinates: derivatives in the tangent space, as Pinocchio takes them."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.joint_transform import quaternion_matrix
from humanoid_codegen.mechanism import JointKind, Mechanism
from humanoid_codegen.vector import Scalar


def coordinate_rates(mechanism: Mechanism, q: Sequence[Scalar]) -> list[dict[int, Scalar]]:
    """Return the derivative of each coordinate with respect to the velocity coordinates that change it.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m; unit quaternions x y z w; planar joints x y cos sin], nq of them.

    Returns:
        By coordinate, the derivatives by velocity coordinate; those that are zero are left out.
    """
    rates: list[dict[int, Scalar]] = [{} for _ in range(mechanism.nq)]
    for body in mechanism.bodies:
        k, j = body.first_q, body.first_v
        if body.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            rates[k] = {j: 1.0}
        elif body.kind is JointKind.PLANAR:
            c, s = q[k + 2], q[k + 3]
            rates[k : k + 4] = [{j: c, j + 1: -s}, {j: s, j + 1: c}, {j + 2: -s}, {j + 2: c}]
        elif body.kind is JointKind.SPHERICAL:
            rates[k : k + 4] = _quaternion_rates(q[k : k + 4], j)
        else:
            rotation = quaternion_matrix(q[k + 3 : k + 7])
            rates[k : k + 3] = [{j + column: row[column] for column in range(3)} for row in rotation]
            rates[k + 3 : k + 7] = _quaternion_rates(q[k + 3 : k + 7], j + 3)
    return rates


def _quaternion_rates(quaternion: Sequence[Scalar], j: int) -> list[dict[int, Scalar]]:
    """Half the quaternion times the angular velocity in the body's axes."""
    x, y, z, w = (0.5 * value for value in quaternion)
    return [
        {j: w, j + 1: -z, j + 2: y},
        {j: z, j + 1: w, j + 2: -x},
        {j: -y, j + 1: x, j + 2: w},
        {j: -x, j + 1: -y, j + 2: -z},
    ]
