# SPDX-License-Identifier: Apache-2.0
"""Joint efforts at a posture as a function of the contact forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.balance.bearing_contacts import BearingContacts
from humanoid_planner.posture.problem.force_model import ForceModel, Load


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
