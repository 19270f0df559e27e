# SPDX-License-Identifier: Apache-2.0
"""How a robot stands on its soles: a posture, and what balance needs of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_control.whole_body_control import WholeBodyControl
from humanoid_model.arrays import Array

JOINT_SPEED = 0.5
"""Greatest speed of joints on the way to another posture [rad/s or m/s]."""


def heading(placement: pin.SE3) -> float:
    """Angle of a frame's x axis about the vertical [rad]."""
    return math.atan2(placement.rotation[1, 0], placement.rotation[0, 0])


def turned(yaw: float) -> Array:
    """(2, 2) rotation by an angle [rad]."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s], [s, c]])


def mean_heading(soles: list[pin.SE3]) -> float:
    """Mean of both soles' headings [rad]."""
    one, other = (heading(sole) for sole in soles)
    return one + 0.5 * math.remainder(other - one, 2.0 * math.pi)


@dataclass(frozen=True)
class StandingPosture:
    """A posture on two soles.

    Attributes:
        q: (nq,) configuration.
        height: of the centre of mass over the soles' mean [m].
        offset: (2,) of the centre of mass from the soles' mean, in axes along their mean heading [m].
        trunk: (3, 3) rotation of the base against the mean heading.
    """

    q: Array
    height: float
    offset: Array
    trunk: Array

    @classmethod
    def of(cls, body: WholeBodyControl, q: Array) -> StandingPosture:
        """Return how a robot stands in a configuration; the body's state is that one afterwards."""
        body.look(q, np.zeros(body.model.nv))
        soles = [body.sole(name) for name in body.soles]
        yaw = mean_heading(soles)
        from_soles = body.centre - np.mean([sole.translation for sole in soles], axis=0)
        trunk = pin.utils.rotate("z", -yaw) @ body.data.oMi[body.robot.base_joint].rotation
        return cls(q, float(from_soles[2]), turned(yaw).T @ from_soles[:2], trunk)

    def lowered(self, share: float) -> StandingPosture:
        """Return the same with the centre of mass lower by a share of its height, above the soles' middle."""
        return replace(self, height=self.height * (1.0 - share), offset=np.zeros(2))

    def towards(self, goal: StandingPosture, dt: float, body: WholeBodyControl, climb: float) -> StandingPosture:
        """Return where it is dt [s] later on the way to another posture, its height changing by climb [m/s] at most."""
        if self is goal:
            return self
        difference = pin.difference(body.model, self.q, goal.q)[body.columns]
        bend = pin.log3(self.trunk.T @ goal.trunk)
        drop = np.append(goal.offset - self.offset, goal.height - self.height)
        angle = max(float(np.abs(difference).max()), float(np.linalg.norm(bend)))
        needed = max(angle / JOINT_SPEED, float(np.abs(drop).max()) / climb)
        if needed <= dt:
            return goal
        share = dt / needed
        q, drop = pin.interpolate(body.model, self.q, goal.q, share), share * drop
        trunk = self.trunk @ pin.exp3(share * bend)
        return StandingPosture(q, self.height + float(drop[2]), self.offset + drop[:2], trunk)
