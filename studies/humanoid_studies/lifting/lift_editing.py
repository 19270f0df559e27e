# SPDX-License-Identifier: Apache-2.0
"""A lift edited by hand, control point by control point, and judged after every step (specification 000, F158)."""

from __future__ import annotations

from humanoid_studies.lifting.judgement import judge
from humanoid_studies.lifting.weight_lift import LiftMotion, WeightLift


class LiftEditing:
    """The motion as it is now, what it does to its limits, and the steps that led to it.

    What follows each other without :meth:`settle` in between is one step, as long as the same thing is moved: a hand
    that drags a point tells many places on its way.

    Attributes:
        lift: the problem.
        motion: as it is now.
        judgement: of it.
    """

    def __init__(self, lift: WeightLift, motion: LiftMotion) -> None:
        """Begin with a motion, which :meth:`reset` comes back to."""
        self.lift, self.motion, self.judgement = lift, motion, judge(lift, motion)
        self._first = motion
        self._done: list[LiftMotion] = []
        self._undone: list[LiftMotion] = []
        self._moving: tuple[int, int] | str | None = None

    @property
    def first(self) -> LiftMotion:
        """The motion that editing began with."""
        return self._first

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step that was taken back."""
        return bool(self._undone)

    def move(self, point: int, joint: int, angle: float) -> None:
        """Move a control point.

        Args:
            point: index, not one of the ends' three.
            joint: index.
            angle: its new value [rad].

        Raises:
            InputError: an index out of range, or an angle that isn't finite; the motion stays as it is.
        """
        self._step(self.motion.edited(point, joint, angle), (point, joint))

    def stretch(self, duration: float) -> None:
        """Let the lift take another time along the same way [s].

        Raises:
            InputError: it isn't positive and finite; the motion stays as it is.
        """
        self._step(self.motion.lasting(duration), "duration")

    def settle(self) -> None:
        """End a step: what is moved next is another one."""
        self._moving = None

    def undo(self) -> None:
        """Take the last step back, if there is one."""
        if self._done:
            self._undone.append(self.motion)
            self._show(self._done.pop())

    def redo(self) -> None:
        """Do again what was taken back last, if nothing else was done since."""
        if self._undone:
            self._done.append(self.motion)
            self._show(self._undone.pop())

    def reset(self) -> None:
        """Go back to the first motion, as a step that can be taken back."""
        self.settle()
        if self.motion is not self._first:
            self._step(self._first, "reset")
        self.settle()

    def _step(self, motion: LiftMotion, moved: tuple[int, int] | str) -> None:
        if moved != self._moving:
            self._done.append(self.motion)
            self._undone.clear()
            self._moving = moved
        self.motion, self.judgement = motion, judge(self.lift, motion)

    def _show(self, motion: LiftMotion) -> None:
        self.settle()
        self.motion, self.judgement = motion, judge(self.lift, motion)
