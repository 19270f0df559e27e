# SPDX-License-Identifier: Apache-2.0
r"""Gaps between capsules around a robot's bodies, as smooth functions of its coordinates.

The nearest points of two axes are those of C. Ericson (Real-Time Collision Detection, §5.1.9), with
:math:`\tfrac12(1+\sqrt{x^2+\epsilon}-\sqrt{(x-1)^2+\epsilon})` in place of x kept between 0 and 1. Gaps are thus never
too small, and too large by no more than a few millimetres where a point is near an axis' end.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from humanoid_gait.robot_model import RobotModel
from humanoid_model.arrays import Array
from humanoid_model.capsules import capsules_of

_ROUND = 1e-4
"""Epsilon of the rounded corners, in squares of an axis' length."""
_PARALLEL, _POINT = 1e-4, 1e-8
"""Added to what is divided by: where axes are parallel, and where one is a point [m²]."""
_REACH = 0.15
"""Pairs that are farther from each other in the guess than this beyond the gap that they keep are left out [m]."""


def capsule_gap(a: tuple[ca.SX, ca.SX], b: tuple[ca.SX, ca.SX], radii: float) -> ca.SX:
    """Return the gap of two capsules with these ends of their axes, (3,) each, and this sum of radii [m]."""
    along, other, away = a[1] - a[0], b[1] - b[0], a[0] - b[0]
    aa, bb = ca.dot(along, along) + _POINT, ca.dot(other, other) + _POINT
    ab, aw, bw = ca.dot(along, other), ca.dot(along, away), ca.dot(other, away)
    s = _between((ab * bw - bb * aw) / (aa * bb - ab * ab + _PARALLEL * aa * bb))
    t = _between((ab * s + bw) / bb)
    s = _between((ab * t - aw) / aa)
    apart = away + s * along - t * other
    return ca.sqrt(ca.dot(apart, apart) + _POINT) - radii


def _between(x: ca.SX) -> ca.SX:
    """Return x smoothly kept between 0 and 1."""
    return 0.5 * (1.0 + ca.sqrt(x**2 + _ROUND) - ca.sqrt((x - 1.0) ** 2 + _ROUND))


def self_gaps(model: RobotModel, apart: float, reference: Array) -> ca.Function:
    """Return coordinates (n,) to gaps of a robot's capsules less what they keep, of those that come near each other.

    Pairs that are nearer in the robot's default posture are left out: their capsules are too thick.

    Args:
        model: of the robot.
        apart: gap that they keep [m].
        reference: (K, n) coordinates near the motion.
    """
    robot = model.coordinates.robot
    capsules = capsules_of(robot)
    links = {part.joint_id: name for name, part in robot.parts.links.items() if name in model.links}
    y = ca.SX.sym("y", model.n)
    q, ends = model.configuration(y), dict[int, tuple[ca.SX, ca.SX]]()
    for k in sorted(set(capsules.pairs.ravel().tolist())):
        link = links[int(capsules.joints[k])]
        R, p = model.placement(link, q)
        back = robot.parts.links[link].placement_joint_link.inverse()
        low, high = (p + R @ ca.DM(back.act(end)) for end in capsules.ends[k])
        ends[k] = low, high
    radii = capsules.radii[capsules.pairs].sum(axis=1) + apart
    gaps = [capsule_gap(ends[i], ends[j], r) for (i, j), r in zip(capsules.pairs.tolist(), radii.tolist(), strict=True)]
    every = ca.Function("gaps", [y], [ca.vertcat(ca.SX(0, 1), *gaps)])
    least = np.asarray(every(reference.T)).min(axis=1, initial=np.inf)
    standing = np.asarray(every(model.coordinates.chart(robot.default_posture))).ravel()
    kept = np.flatnonzero((least < _REACH) & (standing > 0.0)).tolist()
    return ca.Function("gaps", [y], [ca.vertcat(ca.SX(0, 1), *[gaps[k] for k in kept])])
