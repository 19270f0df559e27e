# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories: polynomials between points that give positions, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.errors import InputError

_JUMP = 1e-6
"""Difference of positions and velocities that counts as none where efforts jump, rad or m and per s."""


class TrajectorySample(NamedTuple):
    """State of the joints at one time of a trajectory, each (n,).

    Attributes:
        positions: rad or m.
        velocities: rad/s or m/s.
        accelerations: rad/s^2 or m/s^2.
    """

    positions: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray


class JointTrajectory:
    """Motion of named joints through points in time.

    Between two points runs the polynomial of lowest degree that meets what both of them give: a straight line
    for positions only, a cubic for positions and velocities, a quintic for accelerations as well. Before the first
    and after the last point the joints stay where that point puts them.

    Feed-forward efforts, if there are any, run in straight lines and may jump: then the time is given twice, with the
    same positions and velocities, first with the efforts before the jump, then with those after it.

    Attributes:
        joint_names: the n joints.
        times: (k,) times of the points, increasing, s.
        has_efforts: whether there are feed-forward efforts.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        times: ArrayLike,
        positions: Sequence[ArrayLike | None] | np.ndarray,
        velocities: Sequence[ArrayLike | None] | np.ndarray | None = None,
        accelerations: Sequence[ArrayLike | None] | np.ndarray | None = None,
        *,
        efforts: Sequence[ArrayLike] | np.ndarray | None = None,
    ) -> None:
        """Fit the polynomials.

        Args:
            joint_names: n different names.
            times: (k,) times of the points, s, k >= 1.
            positions: (k, n) rad or m.
            velocities: (k, n) rad/s or m/s; None, as a whole or for single points, where none are given.
            accelerations: (k, n) rad/s^2 or m/s^2, likewise. They count only where velocities are given, too.
            efforts: (k, n) feed-forward, N m or N, for all points or for none.

        Raises:
            InputError: A name occurs twice, times don't increase strictly but where efforts jump, joints jump, an array
                has the wrong length or a value isn't finite. The message names the point, the field and the value.
        """
        self.joint_names = tuple(joint_names)
        if not self.joint_names:
            raise InputError("no joint is named", element="joint_names")
        for index, name in enumerate(self.joint_names):
            if name in self.joint_names[:index]:
                raise InputError(
                    f"'{name}' occurs twice",
                    element="joint_names",
                    remedy="Name each joint once",
                )
        self.times = np.array(times, dtype=float)
        if self.times.ndim != 1 or len(self.times) == 0:
            raise InputError(
                f"times have the shape {self.times.shape}",
                element="points",
                remedy="Give at least one point",
            )
        for index, time in enumerate(self.times):
            if not np.isfinite(time):
                raise InputError(f"time is {time}", element=f"points[{index}]")
        steps = np.diff(self.times)
        late = steps < 0.0 if efforts is not None else steps <= 0.0
        if efforts is not None:
            late[1:] |= (steps[1:] == 0.0) & (steps[:-1] == 0.0)
        if late.any():
            index = int(np.argmax(late)) + 1
            raise InputError(
                f"time {self.times[index]:g} s is not later than the {self.times[index - 1]:g} s before it",
                element=f"points[{index}]",
                remedy="Let times increase strictly",
            )
        count = len(self.times)
        rows = [
            _rows(positions, count, self.joint_names, "positions"),
            _rows(velocities, count, self.joint_names, "velocities"),
            _rows(accelerations, count, self.joint_names, "accelerations"),
        ]
        ends: list[np.ndarray] = []
        for index, row in enumerate(rows[0]):
            if row is None:
                raise InputError("no positions", element=f"points[{index}]")
            ends = [*ends[:1], row]
        for index in np.flatnonzero(steps == 0.0):
            for field, given in zip(("positions", "velocities"), rows[:2], strict=True):
                first, second = given[index], given[index + 1]
                if first is not None and second is not None and not np.allclose(first, second, rtol=0.0, atol=_JUMP):
                    raise InputError(
                        f"{field} jump at {self.times[index]:g} s",
                        element=f"points[{index + 1}]",
                        remedy="Only efforts may differ where a time is given twice",
                    )
        self._coefficients = _fit(self.times, *rows)
        self._efforts = None if efforts is None else _all_rows(efforts, count, self.joint_names)
        if self._efforts is not None:
            means = 0.5 * (self._efforts[1:] + self._efforts[:-1])
            self._impulses = np.vstack([np.zeros(len(self.joint_names)), np.cumsum(steps[:, None] * means, axis=0)])
        zero = np.zeros(len(self.joint_names))
        for array in (zero, *ends):
            array.setflags(write=False)
        self._before, self._after = (TrajectorySample(row, zero, zero) for row in (ends[0], ends[-1]))

    @property
    def start_time(self) -> float:
        """Time of the first point, s."""
        return float(self.times[0])

    @property
    def end_time(self) -> float:
        """Time of the last point, s."""
        return float(self.times[-1])

    @property
    def has_efforts(self) -> bool:
        """Whether there are feed-forward efforts."""
        return self._efforts is not None

    def mean_efforts(self, start: float, end: float) -> np.ndarray:
        """Means (n,) of the feed-forward efforts over a while, jumps within it included, N m or N.

        What a step that lasts from start to end has to be given for the same impulse. Before the first and after the
        last point their efforts go on.

        Args:
            start: s.
            end: later than it, s.

        Raises:
            InputError: There are no efforts, or the end isn't later.
        """
        if self._efforts is None:
            raise InputError("has no efforts", element="trajectory", remedy="Give efforts with its points")
        if not end > start:
            raise InputError(f"from {start:g} to {end:g} s", element="mean_efforts", remedy="Let the end be later")
        return np.asarray((self._impulse(end) - self._impulse(start)) / (end - start))

    def _impulse(self, time: float) -> np.ndarray:
        """Integral (n,) of the efforts from the first point on."""
        efforts, times = self._efforts, self.times
        assert efforts is not None
        if time <= times[0] or len(times) == 1:
            return np.asarray((time - times[0]) * efforts[0])
        if time >= times[-1]:
            return np.asarray(self._impulses[-1] + (time - times[-1]) * efforts[-1])
        index = int(np.searchsorted(times, time, side="right")) - 1
        s = time - times[index]
        slope = (efforts[index + 1] - efforts[index]) / (times[index + 1] - times[index])
        return np.asarray(self._impulses[index] + s * (efforts[index] + 0.5 * s * slope))

    def sample(self, time: float) -> TrajectorySample:
        """Positions, velocities and accelerations of the joints at a time in s."""
        if time < self.times[0]:
            return self._before
        if time >= self.times[-1]:
            return self._after
        positions, velocities, accelerations = _sample(self.times, self._coefficients, time)
        return TrajectorySample(positions, velocities, accelerations)

    def looks(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Look at all polynomials.

        Args:
            shares: (m,) places between two points, from 0 to 1.

        Returns:
            Times (j,) in s, m of each polynomial; positions (j, n) in rad or m and velocities (j, n) in rad/s or m/s.
            Of a single point there is one look.
        """
        steps = np.diff(self.times)
        segments = np.flatnonzero(steps > 0.0)
        if not len(segments):
            return self.times[-1:], self._after.positions[None], self._after.velocities[None]
        since = steps[segments, None] * shares
        powers = since[:, :, None] ** np.arange(6)
        coefficients = self._coefficients[segments]
        positions = powers @ coefficients
        velocities = powers[:, :, :5] @ (coefficients[:, 1:] * np.arange(1.0, 6.0)[:, None])
        count = len(self.joint_names)
        times = self.times[segments, None] + since
        return times.ravel(), positions.reshape(-1, count), velocities.reshape(-1, count)


def _rows(
    values: Sequence[ArrayLike | None] | np.ndarray | None,
    count: int,
    joint_names: tuple[str, ...],
    field: str,
) -> list[np.ndarray | None]:
    """One (n,) array per point, or None where nothing is given."""
    if values is None:
        return [None] * count
    if len(values) != count:
        raise InputError(
            f"{field} of {len(values)} points for {count} times",
            element="points",
            remedy="Give each point one time",
        )
    rows: list[np.ndarray | None] = []
    for index, value in enumerate(values):
        if value is None:
            rows.append(None)
            continue
        row = np.array(value, dtype=float)
        if row.shape != (len(joint_names),):
            raise InputError(
                f"{row.size} {field} for {len(joint_names)} joints",
                element=f"points[{index}]",
                remedy="Give each joint one value",
            )
        if not np.isfinite(row).all():
            joint = int(np.argmin(np.isfinite(row)))
            raise InputError(
                f"{field} of joint '{joint_names[joint]}' is {row[joint]}",
                element=f"points[{index}]",
                remedy="Give finite numbers",
            )
        rows.append(row)
    return rows


def _all_rows(efforts: Sequence[ArrayLike] | np.ndarray, count: int, joint_names: tuple[str, ...]) -> np.ndarray:
    """(k, n) efforts, which every point has to give."""
    rows = []
    for index, row in enumerate(_rows(efforts, count, joint_names, "efforts")):
        if row is None:
            raise InputError("no efforts", element=f"points[{index}]", remedy="Give efforts for all points or for none")
        rows.append(row)
    return np.array(rows)


def _fit(
    times: np.ndarray,
    positions: list[np.ndarray | None],
    velocities: list[np.ndarray | None],
    accelerations: list[np.ndarray | None],
) -> np.ndarray:
    """(k - 1, 6, n) coefficients of the powers of the time since a segment's start."""
    coefficients = np.zeros((len(times) - 1, 6, len(positions[0])))  # type: ignore[arg-type]
    for segment in range(len(times) - 1):
        duration = times[segment + 1] - times[segment]
        if duration == 0.0:
            continue  # nothing is ever sampled where efforts jump
        ends = slice(segment, segment + 2)
        degree = 1
        if None not in [None if row is None else 0 for row in velocities[ends]]:
            degree = 3
            if None not in [None if row is None else 0 for row in accelerations[ends]]:
                degree = 5
        half = (degree + 1) // 2
        known = [positions, velocities, accelerations][:half]
        conditions = [rows[segment] for rows in known] + [rows[segment + 1] for rows in known]
        # In units of the segment's duration the conditions don't depend on it, and are well scaled.
        scale = duration ** np.arange(half)
        scaled = np.array(conditions) * np.tile(scale, 2)[:, None]
        powers = duration ** np.arange(degree + 1)
        coefficients[segment, : degree + 1] = _HERMITE[degree] @ scaled / powers[:, None]
    return coefficients


def _hermite(degree: int) -> np.ndarray:
    """Map the derivatives at both ends of the unit interval to polynomial coefficients."""
    half = (degree + 1) // 2
    conditions = np.zeros((degree + 1, degree + 1))
    for order in range(half):
        for power in range(order, degree + 1):
            factor = float(np.prod(np.arange(power - order + 1, power + 1)))
            conditions[half + order, power] = factor
            if power == order:
                conditions[order, power] = factor
    return np.linalg.inv(conditions)


_HERMITE = {degree: _hermite(degree) for degree in (1, 3, 5)}


@numba.njit(cache=True)
def _sample(times: np.ndarray, coefficients: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    segment = np.searchsorted(times, time, side="right") - 1
    s = time - times[segment]
    n = coefficients.shape[2]
    positions, velocities, accelerations = np.empty(n), np.empty(n), np.empty(n)
    for joint in range(n):
        p = 0.0
        v = 0.0
        a = 0.0
        for power in range(5, -1, -1):
            a = a * s + 2.0 * v
            v = v * s + p
            p = p * s + coefficients[segment, power, joint]
        positions[joint] = p
        velocities[joint] = v
        accelerations[joint] = a
    return positions, velocities, accelerations


def warm_up_sampling() -> None:
    """Compile or load what :meth:`JointTrajectory.sample` needs, so that who controls joints doesn't wait for it."""
    _sample(np.zeros(2), np.zeros((1, 6, 1)), 0.0)
