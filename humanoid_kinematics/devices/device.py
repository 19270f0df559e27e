# SPDX-License-Identifier: Apache-2.0
"""Input devices, each read as a small motion since it was read last (specification §4).

Whoever hears a device posts what it says, at any pace; whoever moves a mechanism reads it once a cycle and tells how
long the cycle was, so that speeds don't depend on its rate. Reading never waits. Posts and reads come from one thread.

A ``sensor_msgs/Joy`` deflects game pads, space mice and joysticks of any order of axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.loop_closure import ROWS


@dataclass(frozen=True, eq=False)
class Increment:
    """A small motion, in the axes that the device is meant in.

    Attributes:
        linear: (3,) translation [m].
        angular: (3,) rotation vector [rad].
    """

    linear: Array = field(default_factory=lambda: np.zeros(3))
    angular: Array = field(default_factory=lambda: np.zeros(3))


class Device:
    """A device of any kind. A subclass says in ``_read`` how it moved.

    Attributes:
        name: of the device.
        translation: how many translations it gives, x first; the others are zero.
        rotation: likewise of rotations.
    """

    def __init__(self, name: str, translation: int = 3, rotation: int = 3) -> None:
        """Describe a device.

        Raises:
            InputError: a count below 0 or above 3.
        """
        for element, count in (("translation", translation), ("rotation", rotation)):
            if count not in range(4):
                raise InputError(f"is {count}", element=f"device '{name}': {element}", remedy="Give 0 to 3")
        self.name = name
        self.translation = translation
        self.rotation = rotation

    def read(self, seconds: float) -> Increment | None:
        """Return the motion since the device was read last, ``seconds`` ago; None of a device that commands nothing."""
        read = self._read(seconds)
        if read is not None:
            read.linear[self.translation :] = 0.0
            read.angular[self.rotation :] = 0.0
        return read

    def release(self) -> None:
        """Let go: until it says something new, the device moves nothing."""

    def _read(self, seconds: float) -> Increment | None:
        raise NotImplementedError

    def _finite(self, what: str, values: ArrayLike, count: int) -> Array:
        vector = np.array(values, float)
        if vector.shape != (count,) or not np.isfinite(vector).all():
            raise InputError(
                f"{what} is {vector.tolist()}", element=f"device '{self.name}'", remedy=f"Give {count} finite numbers"
            )
        return vector


class NullDevice(Device):
    """Device 0 of a file: what it is chosen for isn't commanded."""

    def __init__(self) -> None:
        super().__init__("none", 0, 0)

    def _read(self, seconds: float) -> None:
        return None


@dataclass(frozen=True)
class Response:
    """How a deflection becomes a speed.

    Attributes:
        linear_speed: at full deflection [m/s].
        angular_speed: at full deflection [rad/s].
        dead_band: deflection up to which nothing moves; from there the speed grows from zero.
        dominant: whether only the largest of the six deflections counts.
        silence: how long the last deflection holds when nothing new comes [s]: a lost device must not run on.
    """

    linear_speed: float = 0.1
    angular_speed: float = 0.5
    dead_band: float = 0.05
    dominant: bool = False
    silence: float = 0.5

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a speed or time that isn't positive, a dead band outside 0 to 1.
        """
        for name in ("linear_speed", "angular_speed", "silence"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"is {getattr(self, name)}", element=name, remedy="Give a positive number")
        if not 0.0 <= self.dead_band < 1.0:
            raise InputError(f"is {self.dead_band}", element="dead_band", remedy="Give a number from 0 to below 1")

    def speed(self, deflection: Array) -> tuple[Array, Array]:
        """Speeds [m/s, rad/s] of a deflection (6,) between -1 and 1."""
        size = np.abs(deflection)
        shaped = np.sign(deflection) * np.clip((size - self.dead_band) / (1.0 - self.dead_band), 0.0, 1.0)
        if self.dominant:
            shaped[np.arange(6) != np.argmax(size)] = 0.0
        return self.linear_speed * shaped[:3], self.angular_speed * shaped[3:]


class RateDevice(Device):
    """A device that is deflected and springs back: space mouse, sticks, sliders (§6.1.1.1).

    Attributes:
        response: how its deflection becomes a speed.
    """

    def __init__(self, name: str, translation: int = 3, rotation: int = 3, response: Response | None = None) -> None:
        """Describe a device at rest."""
        super().__init__(name, translation, rotation)
        self.response = response if response is not None else Response()
        self._deflection: Array = np.zeros(6)
        self._silent = np.inf

    def post(self, deflection: ArrayLike) -> None:
        """Say how far it is deflected: (6,), translations first, between -1 and 1.

        Raises:
            InputError: another size, or not finite; the last deflection stays.
        """
        self._deflection = self._finite("deflection", deflection, 6)
        self._silent = 0.0

    def release(self) -> None:
        """Let it spring back."""
        self._deflection = np.zeros(6)

    def _read(self, seconds: float) -> Increment:
        if self._silent > self.response.silence:
            return Increment()
        self._silent += seconds
        linear, angular = self.response.speed(self._deflection)
        return Increment(linear * seconds, angular * seconds)


#: Axis and direction of each key of a keyboard: the left hand translates, the right hand turns.
KEYS = {
    "d": ("x", 1), "a": ("x", -1), "w": ("y", 1), "s": ("y", -1), "e": ("z", 1), "q": ("z", -1),
    "l": ("rx", 1), "j": ("rx", -1), "i": ("ry", 1), "k": ("ry", -1), "o": ("rz", 1), "u": ("rz", -1),
}  # fmt: skip


class PanelDevice(RateDevice):
    """Buttons for steps and sliders that spring back, for each of six axes: a panel or a keyboard (§5.3, §6.1.2.2).

    Attributes:
        linear_step: of a button [m].
        angular_step: of a button [rad].
        keys: axis and direction of each key.
    """

    def __init__(
        self,
        name: str,
        linear_step: float = 0.005,
        angular_step: float = float(np.radians(1.0)),
        response: Response | None = None,
    ) -> None:
        """Describe a panel on which nothing is pressed."""
        super().__init__(name, response=response if response is not None else Response(dead_band=0.0))
        self.linear_step = linear_step
        self.angular_step = angular_step
        self.keys = dict(KEYS)
        self._steps = np.zeros(6)

    def step(self, axis: str, count: float = 1.0) -> None:
        """Press a button: steps along or about an axis, ``x`` to ``rz``, backwards if negative.

        Raises:
            InputError: an unknown axis or a count that isn't finite.
        """
        self._steps[self._axis(axis)] += self._finite("count", [count], 1)[0]

    def slide(self, axis: str, deflection: float) -> None:
        """Move the slider of an axis, between -1 and 1; it springs back when it isn't moved for a while.

        Raises:
            InputError: an unknown axis or a deflection that isn't finite.
        """
        posted = self._deflection.copy()
        posted[self._axis(axis)] = deflection
        self.post(posted)

    def press(self, key: str) -> bool:
        """Press a key; whether it is one of :attr:`keys`."""
        if key not in self.keys:
            return False
        self.step(*self.keys[key])
        return True

    def release(self) -> None:
        """Let go of sliders, and of steps not yet taken."""
        super().release()
        self._steps[:] = 0.0

    def _read(self, seconds: float) -> Increment:
        slid, steps = super()._read(seconds), self._steps.copy()
        self._steps[:] = 0.0
        return Increment(slid.linear + self.linear_step * steps[:3], slid.angular + self.angular_step * steps[3:])

    def _axis(self, axis: str) -> int:
        if axis not in ROWS:
            raise InputError(
                f"there is no axis '{axis}'", element=f"device '{self.name}'", remedy=f"Axes are {', '.join(ROWS)}"
            )
        return ROWS.index(axis)


class PoseDevice(Device):
    """A device that measures where it is: tracker, hand, 3-D mouse; differences of its places count (§4.4).

    The first place and the first after :meth:`release` (the clutch) move nothing, however far away they are. Nor does a
    place that is further from the last than a hand gets: a lost and found tracker, a wrong measurement.

    Attributes:
        fastest: speed from which a change of place is a jump [m/s].
        jumps: how many there were.
    """

    def __init__(self, name: str, translation: int = 3, rotation: int = 3, fastest: float = 10.0) -> None:
        """Describe a device that is released."""
        super().__init__(name, translation, rotation)
        self.fastest = fastest
        self.jumps = 0
        self._place: pin.SE3 | None = None
        self._last: pin.SE3 | None = None
        self._since = 0.0

    def post(self, placement: pin.SE3) -> None:
        """Say where it is, in axes of its own.

        Raises:
            InputError: a placement that isn't finite; the last stays.
        """
        self._finite("placement", placement.homogeneous.ravel(), 16)
        self._place = pin.SE3(placement)

    def release(self) -> None:
        """Let it move without effect until it says again where it is."""
        self._place = self._last = None

    def _read(self, seconds: float) -> Increment:
        self._since += seconds
        last, place = self._last, self._place
        if place is None or place is last:
            return Increment()
        since, self._since, self._last = self._since, 0.0, place
        if last is None:
            return Increment()
        linear = place.translation - last.translation
        if np.linalg.norm(linear) > self.fastest * since:
            self.jumps += 1
            return Increment()
        return Increment(linear, pin.log3(place.rotation @ last.rotation.T))


class HybridDevice(Device):
    """Translations by where it is, rotations by how far it is deflected: the haptic syntaxeur (§6.1.3, §8.1).

    A hand covers the space of a task, but not the turns of a robot's wrist.
    """

    def __init__(self, name: str, response: Response | None = None) -> None:
        """Describe a device that is released."""
        super().__init__(name)
        self._hand = PoseDevice(name, rotation=0)
        self._wrist = RateDevice(name, translation=0, response=response)

    def post(self, position: ArrayLike, deflection: ArrayLike) -> None:
        """Say where it is (3,) [m], in axes of its own, and how far its wrist is deflected (3,), between -1 and 1.

        Raises:
            InputError: another size, or not finite; what was said last stays.
        """
        place = pin.SE3(np.eye(3), self._finite("position", position, 3))
        self._wrist.post([0.0, 0.0, 0.0, *self._finite("deflection", deflection, 3)])
        self._hand.post(place)

    def release(self) -> None:
        """Let the hand move without effect, and the wrist spring back."""
        self._hand.release()
        self._wrist.release()

    def _read(self, seconds: float) -> Increment:
        hand, wrist = self._hand._read(seconds), self._wrist._read(seconds)
        return Increment(hand.linear, wrist.angular)


def axis_names(mask: Sequence[bool]) -> tuple[str, ...]:
    """Names of the axes that a mask (6,) holds, translations first; of an empty mask all.

    Raises:
        InputError: another size, or a mask that holds none.
    """
    if len(mask) not in (0, 6) or (len(mask) == 6 and not any(mask)):
        raise InputError(f"is {list(mask)}", element="mask", remedy="Give six values, one of them true, or none")
    return tuple(row for row, held in zip(ROWS, mask, strict=True) if held) if len(mask) else ROWS


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
