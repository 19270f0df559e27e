# SPDX-License-Identifier: Apache-2.0
r"""Joints moved by screws: motor angles to joint angles and back, with Jacobian, forces and torques.

A nut slides along a screw; a rod of length l goes from the nut to a lever of the body that the joints move. With the
screw's line :math:`P + s\,u` and the lever's end :math:`A(q)`, both from the joints' common centre,

.. math:: |P + s\,u - A| = l, \qquad s = u^T(A - P) + \sqrt{l^2 - |A - P|^2 + (u^T(A - P))^2}

and with the rod :math:`w = P + s\,u - A`, from the lever to the nut, :math:`\dot s = w^T\dot A / w^T u`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model import InputError

#: Newton steps of the way back, and the accuracy it ends with [m].
_MOST_STEPS = 50
_ACCURACY = 1e-13


@dataclass(frozen=True, eq=False)
class Screw:
    """A screw, its rod and the lever that this moves; all from the joints' centre, with the joints at zero.

    Attributes:
        point: (3,) point of the screw's line, where the nut is at zero [m].
        direction: (3,) along the screw, to the side on which the nut is seen from the lever.
        lever: (3,) end of the lever [m].
        rod: length of the rod [m].
        lead: travel of the nut in a turn of the motor [m]; negative for a left-handed screw.
    """

    point: np.ndarray
    direction: np.ndarray
    lever: np.ndarray
    rod: float
    lead: float


class ScrewDrive:
    """One or several screws that move as many joints whose axes meet.

    Args:
        axes: (3,) axes of the joints, the first carried by the body with the screws, with all joints at zero.
        screws: as many.
    """

    def __init__(self, axes: Sequence[np.ndarray], screws: Sequence[Screw]) -> None:
        if len(axes) != len(screws) or not axes:
            raise InputError(f"{len(screws)} screws for {len(axes)} joints", remedy="Give one screw for each joint")
        self.axes = np.array([np.asarray(axis, dtype=float) / np.linalg.norm(axis) for axis in axes])
        self.screws = tuple(screws)
        self._directions = np.array([screw.direction / np.linalg.norm(screw.direction) for screw in screws])

    def nuts(self, joints: np.ndarray) -> np.ndarray:
        """Return the places of the nuts along their screws [m].

        Args:
            joints: (k,) angles [rad].

        Raises:
            InputError: a rod doesn't reach from its screw to its lever.
        """
        places, _, _ = self._solve(joints)
        return places

    def jacobian(self, joints: np.ndarray) -> np.ndarray:
        """(k, k) speed of each nut by the speed of each joint [m/rad].

        Args:
            joints: (k,) angles [rad].

        Raises:
            InputError: as of :meth:`nuts`.
        """
        places, ends, axes = self._solve(joints)
        rods = self._starts() + places[:, None] * self._directions - ends
        rates = np.cross(axes[None, :, :], ends[:, None, :])
        along = np.einsum("ij,ij->i", rods, self._directions)
        return np.asarray(np.einsum("ij,ikj->ik", rods, rates) / along[:, None])

    def joints(self, nuts: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Return the angles of the joints [rad] at places of the nuts, by Newton's method.

        Args:
            nuts: (k,) places along the screws [m].
            start: (k,) angles nearby [rad]; they choose among the postures that the places allow.

        Raises:
            InputError: there are none that it finds from there.
        """
        wanted, found = np.asarray(nuts, dtype=float), np.array(start, dtype=float)
        for _ in range(_MOST_STEPS):
            try:
                error = wanted - self.nuts(found)
            except InputError:
                break
            if np.abs(error).max() < _ACCURACY:
                return found
            step = np.linalg.lstsq(self.jacobian(found), error, rcond=None)[0]
            # Half a radian at once at most: farther than that the rods turn over.
            found += step * min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
        raise InputError(
            f"no angles of the joints for nuts at {', '.join(f'{1000 * nut:.2f}' for nut in wanted)} mm",
            remedy="Give places within the drive's range, and a start near the posture",
        )

    def motors(self, joints: np.ndarray) -> np.ndarray:
        """(k,) angles of the motors [rad] at angles of the joints, zero where the joints are at zero."""
        return 2 * math.pi * (self.nuts(joints) - self.nuts(np.zeros(len(self.screws)))) / self._leads()

    def joints_of_motors(self, motors: np.ndarray, start: np.ndarray) -> np.ndarray:
        """(k,) angles of the joints [rad] at angles of the motors, from a start nearby; as :meth:`joints`."""
        zero = self.nuts(np.zeros(len(self.screws)))
        return self.joints(zero + np.asarray(motors) * self._leads() / (2 * math.pi), start)

    def joint_torques(self, joints: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """(k,) torques on the joints [N m] of forces (k,) that push the nuts along their screws [N]."""
        return np.asarray(self.jacobian(joints).T @ np.asarray(forces, dtype=float))

    def forces(self, joints: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """(k,) forces on the nuts [N] that give torques (k,) on the joints [N m].

        Raises:
            InputError: no forces do: the levers are in line with their rods.
        """
        matrix = self.jacobian(joints)
        singular = np.linalg.svd(matrix, compute_uv=False)
        if singular[-1] < 1e-9 * max(float(singular[0]), 1.0):
            raise InputError("a lever is in line with its rod: no force turns the joint", remedy="Move the joints")
        return np.asarray(np.linalg.solve(matrix.T, np.asarray(torques, dtype=float)))

    def motor_torques(self, joints: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """(k,) torques of the motors [N m], without friction, that give torques (k,) on the joints [N m]."""
        return self.forces(joints, torques) * self._leads() / (2 * math.pi)

    def _leads(self) -> np.ndarray:
        return np.array([screw.lead for screw in self.screws])

    def _starts(self) -> np.ndarray:
        return np.array([screw.point for screw in self.screws])

    def _solve(self, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places of the nuts (k,), ends of the levers (k, 3) and axes of the joints (k, 3) in the screws' body."""
        turned, axes = np.eye(3), []
        for axis, angle in zip(self.axes, np.asarray(joints, dtype=float), strict=True):
            axes.append(turned @ axis)
            turned = turned @ pin.exp3(axis * angle)
        ends = np.array([turned @ screw.lever for screw in self.screws])
        arms = ends - self._starts()
        along = np.einsum("ij,ij->i", arms, self._directions)
        rods = np.array([screw.rod for screw in self.screws])
        rest = rods**2 - np.einsum("ij,ij->i", arms, arms) + along**2
        if rest.min() < 0:
            short = int(np.argmin(rest))
            length, away = 1000 * rods[short], 1000 * math.sqrt(float(rods[short] ** 2 - rest[short]))
            raise InputError(
                f"rod {short} of {length:.1f} mm doesn't reach its lever {away:.1f} mm off the screw",
                remedy="Give angles within the drive's range",
            )
        return along + np.sqrt(rest), ends, np.array(axes)


def bip_drives() -> dict[str, ScrewDrive]:
    """Return BIP2000's screws by the joint they move: ``ankle`` (pitch and roll), ``knee``, ``hip`` and ``trunk``.

    Leads, rods, distances and tilts of the screws, and arms of the levers are published (INRIA, HuMAnS, ActuatorsData).
    **Approximate**: which way each counts, which isn't drawn there. Axes: x forward, y left, z up, with the robot
    upright; zero of the nuts is the point of the screw nearest to the joint. Angles turn about y (pitch), x (roll).

    Screws of knee and hip are behind: there, within the published ranges of 0 to 90 and -75 to 20 degrees, the levers
    swing from about 40 degrees below the height of the joint to 55 above; in front they would pass a dead centre.
    """
    x, y, z = np.eye(3)

    def pitch_screw(distance: float, tilt: float, arm: float, angle: float, rod: float, lead: float) -> ScrewDrive:
        # In the plane of the joint: backwards and up. The lever's angle counts from one to the other, as pitch does.
        out, up = -x, z
        c, s = math.cos(math.radians(tilt)), math.sin(math.radians(tilt))
        a = math.radians(angle)
        lever = arm * (math.cos(a) * out + math.sin(a) * up)
        return ScrewDrive([y], [Screw(distance * (c * out - s * up), s * out + c * up, lever, rod, lead)])

    def pair(distance: float, tilt: float, half: float, lever: tuple[float, float, float], rod: float) -> ScrewDrive:
        c, s = math.cos(math.radians(tilt)), math.sin(math.radians(tilt))
        screws = [
            Screw(np.array([-distance * c, side * half, -distance * s]), -s * x + c * z,
                  np.array([-lever[0], side * lever[1], lever[2]]), rod, 0.004)
            for side in (-1.0, 1.0)
        ]  # fmt: skip
        return ScrewDrive([y, x], screws)

    return {
        "ankle": pair(0.0512, 5.78, 0.0379, (0.060, 0.0379, 0.002), 0.1258),
        "knee": pitch_screw(0.049, 2.51, 0.055, -35.78, 0.1062, 0.003),
        "hip": pitch_screw(0.049, 2.51, 0.055, 35.0, 0.1504, -0.003),
        "trunk": pair(0.184, 0.0, 0.100, (0.184, 0.100, 0.005), 0.1438),
    }
