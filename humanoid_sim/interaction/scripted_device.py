# SPDX-License-Identifier: Apache-2.0
"""A device whose handle follows a script."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim.interaction.device import Device, DeviceSample

OMNI_RATE = 1000.0
"""Rate at which haptic arms are served [Hz] (specification 000 §15.6)."""
OMNI_FORCE = 3.3
"""Largest force of a PHANToM Omni at its nominal position [N] (manufacturer's data sheet)."""
OMNI_STIFFNESS = 1020.0
"""Stiffness of a PHANToM Omni along its softest axis [N/m] (manufacturer's data sheet)."""


class ScriptedDevice(Device):
    """Moves from way-point to way-point, at rest at each, with polynomials of fifth order (minimum jerk) between.

    Attributes:
        displayed: the last force that it was told to display [N], shape (3,).
    """

    def __init__(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        *,
        presses: Sequence[tuple[float, float]] = (),
        rotation: NDArray[np.float64] | None = None,
        rate: float = OMNI_RATE,
        name: str = "script",
        max_force: float = np.inf,
        max_stiffness: float = np.inf,
    ) -> None:
        """Script a device.

        Args:
            times: of the way-points [s], strictly increasing, shape (k,).
            positions: of the handle at them, in the world [m], shape (k, 3).
            presses: intervals [s] in which button 0 is pressed, the end excluded.
            rotation: of the handle in the world, shape (3, 3); identity if not given.
            rate: how often it is read [Hz].
            name: of the device.
            max_force: largest force that it can display [N].
            max_stiffness: stiffest wall that it can display [N/m].

        Raises:
            InputError: times that don't increase, positions of another shape, values that are not finite, an interval
                that ends before it begins.
        """
        super().__init__(name, rate, max_force, max_stiffness)
        points = np.array(positions, dtype=float)
        if points.ndim != 2 or points.shape[1:] != (3,):
            raise InputError(
                f"positions have the shape {points.shape}", element="positions", remedy="Give three numbers each"
            )
        rest = np.zeros_like(points)
        self._path = JointTrajectory(("x", "y", "z"), times, points, rest, rest)
        for begin, end in presses:
            if not begin < end:
                raise InputError(
                    f"a button is pressed from {begin} s to {end} s",
                    element="presses",
                    remedy="Let intervals end after they begin",
                )
        self._presses = tuple(presses)
        self._rotation = np.eye(3) if rotation is None else np.array(rotation, dtype=float)
        self.displayed: NDArray[np.float64] = np.zeros(3)

    def read(self, time: float) -> DeviceSample:
        """Handle and button at a time."""
        at = self._path.at(time)
        return DeviceSample(
            pin.SE3(self._rotation, np.array(at.positions)),
            np.array(at.velocities),
            np.zeros(3),
            (any(begin <= time < end for begin, end in self._presses),),
        )

    def display(self, force: NDArray[np.float64]) -> None:
        """Keep the force for whoever looks."""
        self.displayed = force.copy()


def emulated_omni(
    times: ArrayLike, positions: ArrayLike, *, presses: Sequence[tuple[float, float]] = (), name: str = "omni"
) -> ScriptedDevice:
    """Return a scripted device with the rate and the limits of a PHANToM Omni: six numbers in, three forces out.

    Args:
        times: see :class:`ScriptedDevice`.
        positions: likewise.
        presses: likewise.
        name: of the device.

    Raises:
        InputError: see :class:`ScriptedDevice`.
    """
    return ScriptedDevice(
        times,
        positions,
        presses=presses,
        rate=OMNI_RATE,
        name=name,
        max_force=OMNI_FORCE,
        max_stiffness=OMNI_STIFFNESS,
    )
