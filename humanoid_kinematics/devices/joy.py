# SPDX-License-Identifier: Apache-2.0
"""What a ``sensor_msgs/Joy`` deflects: game pads, space mice and joysticks of any order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError


@dataclass(frozen=True)
class JoyMapping:
    """Which axes and buttons of a joystick move what.

    Attributes:
        axes: number of the joystick's axis for each of x, y, z, rx, ry, rz; None for one that it hasn't.
        signs: by which each is multiplied.
        enable: number of the button that must be held for anything to move; None for none.
    """

    axes: tuple[int | None, ...]
    signs: tuple[float, ...] = (1.0,) * 6
    enable: int | None = None

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            InputError: not six axes or signs, or a negative number.
        """
        if len(self.axes) != 6 or len(self.signs) != 6:
            raise InputError(
                f"has {len(self.axes)} axes and {len(self.signs)} signs", element="joystick", remedy="Give six of each"
            )
        if any(number is not None and number < 0 for number in (*self.axes, self.enable)):
            raise InputError("has a negative number", element="joystick", remedy="Axes and buttons count from 0")

    def deflection(self, axes: Sequence[float], buttons: Sequence[int] = ()) -> Array:
        """Return the deflection (6,) between -1 and 1 that a message means, translations first.

        Args:
            axes: of the message.
            buttons: of the message, 1 where pressed.

        Raises:
            InputError: a message without an axis or button that is asked for, or with a value that isn't finite.
        """
        wanted = [number for number in self.axes if number is not None]
        if max(wanted, default=-1) >= len(axes) or (self.enable is not None and self.enable >= len(buttons)):
            raise InputError(
                f"has {len(axes)} axes and {len(buttons)} buttons", element="joystick",
                remedy=f"Its mapping asks for axes {wanted} and button {self.enable}; choose another mapping",
            )  # fmt: skip
        if self.enable is not None and not buttons[self.enable]:
            return np.zeros(6)
        given = np.array([0.0 if number is None else axes[number] for number in self.axes], float)
        if not np.isfinite(given).all():
            raise InputError(f"axes are {list(axes)}", element="joystick", remedy="Give finite numbers")
        return np.clip(given * self.signs, -1.0, 1.0)


#: By name: ``spacenav`` (spacenav_node), ``gamepad`` (Xbox and alike: left stick x y, right stick z and rz, cross rx
#: ry, while the left shoulder button is held).
JOY_MAPPINGS = {
    "spacenav": JoyMapping((0, 1, 2, 3, 4, 5)),
    "gamepad": JoyMapping((1, 0, 4, 6, 7, 3), enable=4),
}
