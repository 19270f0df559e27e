# SPDX-License-Identifier: Apache-2.0
"""What a motion asks for at a time of its plan, run through faster or slower."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_control.whole_body_control import Sole
from humanoid_model.arrays import Array
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory

_ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_REST = 0.02
"""Speed of all coordinates below which a plan is at rest where a contact is made [rad/s or m/s]."""


class MotionReference:
    """Kinematics of a motion at the time that was looked at.

    Attributes:
        motion: of the plan.
        waits: whether it can stand still where contacts are made: there it is at rest.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        data: Pinocchio's, of these.
    """

    def __init__(self, motion: WholeBodyTrajectory) -> None:
        self.motion, self._model = motion, motion.robot.model
        self.data = self._model.createData()
        starts = [span.start for span in motion.contacts if span.contact.kind.bears and span.start > motion.times[0]]
        self.waits = all(float(np.abs(motion.at(start).v).max()) < _REST for start in starts)
        self.look(float(motion.times[0]), 0.0, 0.0)

    def look(self, phase: float, rate: float, change: float) -> None:
        """Take what the plan asks for.

        Args:
            phase: time of the plan [s].
            rate: at which it runs through the plan, 1 as it was made.
            change: of that rate [1/s].
        """
        sample = self.motion.at(phase)
        self.q, self.v, self.a = sample.q, rate * sample.v, rate**2 * sample.a + change * sample.v
        pin.centerOfMass(self._model, self.data, self.q, self.v, self.a)
        pin.computeCentroidalMomentumTimeVariation(self._model, self.data, self.q, self.v, self.a)
        pin.forwardKinematics(self._model, self.data, self.q, self.v, self.a)
        self._sample = max(int(np.searchsorted(self.motion.times, phase, side="right")) - 1, 0)

    def placement(self, sole: Sole) -> pin.SE3:
        """Frame of a sole in the world."""
        return self.data.oMi[sole.joint] * sole.placement

    def placement_at(self, phase: float, sole: Sole) -> pin.SE3:
        """Frame of a sole in the world at another time."""
        data = self._model.createData()
        pin.forwardKinematics(self._model, data, self.motion.at(phase).q)
        return data.oMi[sole.joint] * sole.placement

    def rates(self, sole: Sole) -> tuple[Array, Array]:
        """(6,) velocity and acceleration of a sole's origin and turning, in the world's axes [m/s, rad/s, ...]."""
        twist = pin.getVelocity(self._model, self.data, sole.joint, _ALIGNED)
        change = pin.getClassicalAcceleration(self._model, self.data, sole.joint, _ALIGNED)
        lever = self.data.oMi[sole.joint].rotation @ sole.placement.translation
        spin = twist.angular
        speed = twist.linear + np.cross(spin, lever)
        growth = change.linear + np.cross(change.angular, lever) + np.cross(spin, np.cross(spin, lever))
        return np.concatenate([speed, spin]), np.concatenate([growth, change.angular])

    def forces(self) -> dict[str, Array]:
        """(3,) planned force on each location that has one, in the world [N]."""
        forces: dict[str, Array] = {}
        if self.motion.forces:
            for item in self.motion.forces[self._sample]:
                forces[item.location] = forces.get(item.location, np.zeros(3)) + item.force
        return forces
