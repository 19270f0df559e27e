# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories: polynomials between points that give positions, velocities and accelerations.

A time law says when a motion is where on its path; a trajectory may follow its own path by another one, as points for
controllers, whole or a window at a time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array, Reals
from humanoid_model.errors import InputError

_SAME = 1e-9
"""Positions nearer than this are one."""


class PathPlace(NamedTuple):
    """Where on a path a motion is; units are those of the path's parameter.

    Attributes:
        position: parameter of the path.
        speed: its derivative by time.
        acceleration: its second derivative by time.
    """

    position: float
    speed: float
    acceleration: float

    def rates(self, slope: Array, bend: Array) -> tuple[Array, Array]:
        """Return velocity and acceleration, from the path's first and second derivatives by its parameter, alike."""
        return self.speed * slope, self.acceleration * slope + self.speed**2 * bend


@dataclass(frozen=True, eq=False)
class TimeLaw:
    """The path's parameter over time: pieces of constant acceleration along the path.

    Attributes:
        times: (m,) in order, of the beginnings of the pieces and of the end of the last one [s].
        positions: (m,) on the path.
        speeds: (m,) along it [1/s].
        accelerations: (m - 1,) along it, of the pieces [1/s^2].
    """

    times: Reals
    positions: Reals
    speeds: Reals
    accelerations: Reals

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1] - self.times[0])

    def at(self, time: float) -> PathPlace:
        """Return the place at a time [s], before the beginning and after the end those there."""
        k = min(max(int(np.searchsorted(self.times, time, side="right")) - 1, 0), len(self.accelerations) - 1)
        since = min(max(time - self.times[k], 0.0), self.times[k + 1] - self.times[k])
        acceleration = float(self.accelerations[k])
        position = float(self.positions[k] + since * self.speeds[k] + 0.5 * acceleration * since**2)
        return PathPlace(position, float(max(self.speeds[k] + acceleration * since, 0.0)), acceleration)

    def time_at(self, position: float) -> float:
        """Time at which a place on the path is reached [s]; infinite if it isn't."""
        if position > self.positions[-1] + _SAME:
            return math.inf
        # The first piece that gets there; a motion that was put back on its path comes by later.
        ends = np.append(self.positions[1:-1], math.inf)
        k = int(np.argmax(ends >= position - _SAME))
        way = max(position - float(self.positions[k]), 0.0)
        return float(self.times[k]) + time_over(way, float(self.speeds[k]), float(self.accelerations[k]))

    def slower(self, duration: float) -> TimeLaw:
        """Return the same law stretched to a duration; unchanged where it takes as long already.

        A law that keeps to convex limits which rest keeps to as well does so when it is slower.
        """
        factor = duration / self.duration
        if factor <= 1.0:
            return self
        return TimeLaw(factor * self.times, self.positions, self.speeds / factor, self.accelerations / factor**2)


def time_over(way: float, speed: float, acceleration: float) -> float:
    """Return the time that a way takes from a speed on with a constant acceleration; zero for no way."""
    # The first root of s = v t + a t²/2, in the form that is exact for small a.
    root = math.sqrt(max(speed * speed + 2.0 * acceleration * way, 0.0))
    return 2.0 * way / (speed + root) if way > 0.0 and speed + root > 0.0 else 0.0


_JUMP = 1e-6
"""Difference of positions and velocities that counts as none where efforts jump, rad or m and per s."""


class JointSample(NamedTuple):
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
        positions: (k, n) of the points, rad or m.
        velocities: (k, n) rad/s or m/s, NaN at points that give none; None where no point gives any.
        accelerations: (k, n) rad/s^2 or m/s^2, likewise.
        efforts: (k, n) feed-forward, N m or N; None where there are none.
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
        if not np.isfinite(self.times).all():
            index = int(np.argmin(np.isfinite(self.times)))
            raise InputError(f"time is {self.times[index]}", element=f"points[{index}]")
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
        given = [(positions, "positions"), (velocities, "velocities"), (accelerations, "accelerations")]
        tables = [_table(rows, self.times, self.joint_names, field) for rows, field in given]
        self.positions = _whole(tables[0], "positions")
        self.velocities, self.accelerations = tables[1:]
        self.efforts = None
        if efforts is not None:
            self.efforts = _whole(_table(efforts, self.times, self.joint_names, "efforts"), "efforts")
        for index in np.flatnonzero(steps == 0.0):
            for field, table in (("positions", self.positions), ("velocities", self.velocities)):
                if table is not None and (np.abs(table[index + 1] - table[index]) > _JUMP).any():
                    raise InputError(
                        f"{field} jump at {self.times[index]:g} s",
                        element=f"points[{index + 1}]",
                        remedy="Only efforts may differ where a time is given twice",
                    )
        if self.efforts is not None:
            means = 0.5 * (self.efforts[1:] + self.efforts[:-1])
            self._impulses = np.vstack([np.zeros(len(self.joint_names)), np.cumsum(steps[:, None] * means, axis=0)])
        zero = np.zeros(len(self.joint_names))
        for array in (zero, self.positions):
            array.setflags(write=False)
        self._before, self._after = (JointSample(row, zero, zero) for row in self.positions[[0, -1]])

    @property
    def start_time(self) -> float:
        """Time of the first point, s."""
        return float(self.times[0])

    @property
    def end_time(self) -> float:
        """Time of the last point, s."""
        return float(self.times[-1])

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
        if self.efforts is None:
            raise InputError("has no efforts", element="trajectory", remedy="Give efforts with its points")
        if not end > start:
            raise InputError(f"from {start:g} to {end:g} s", element="mean_efforts", remedy="Let the end be later")
        return np.asarray((self._impulse(end) - self._impulse(start)) / (end - start))

    @cached_property
    def _coefficients(self) -> Array:
        """(k - 1, 6, n) coefficients of the powers of the time since a segment's start."""
        tables = [self.positions, self.velocities, self.accelerations]
        coefficients: Array = np.zeros((len(self.times) - 1, 6, len(self.joint_names)))
        for segment, duration in enumerate(np.diff(self.times)):
            if duration == 0.0:
                continue  # nothing is ever sampled where efforts jump
            known: list[Array] = []
            for table in tables:
                if table is None or np.isnan(table[segment : segment + 2]).any():
                    break
                known.append(table)
            half, degree = len(known), 2 * len(known) - 1
            conditions = [table[segment] for table in known] + [table[segment + 1] for table in known]
            # In units of the segment's duration the conditions don't depend on it, and are well scaled.
            scale = duration ** np.arange(half)
            scaled = np.array(conditions) * np.tile(scale, 2)[:, None]
            powers = duration ** np.arange(degree + 1)
            coefficients[segment, : degree + 1] = _HERMITE[degree] @ scaled / powers[:, None]
        return coefficients

    def _impulse(self, time: float) -> np.ndarray:
        """Integral (n,) of the efforts from the first point on."""
        efforts, times = self.efforts, self.times
        assert efforts is not None
        if time <= times[0] or len(times) == 1:
            return np.asarray((time - times[0]) * efforts[0])
        if time >= times[-1]:
            return np.asarray(self._impulses[-1] + (time - times[-1]) * efforts[-1])
        index = int(np.searchsorted(times, time, side="right")) - 1
        s = time - times[index]
        slope = (efforts[index + 1] - efforts[index]) / (times[index + 1] - times[index])
        return np.asarray(self._impulses[index] + s * (efforts[index] + 0.5 * s * slope))

    def at(self, time: float) -> JointSample:
        """Positions, velocities and accelerations of the joints at a time in s."""
        if time < self.times[0]:
            return self._before
        if time >= self.times[-1]:
            return self._after
        positions, velocities, accelerations = _sample(self.times, self._coefficients, time)
        return JointSample(positions, velocities, accelerations)

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


def _table(
    rows: Sequence[ArrayLike | None] | np.ndarray | None,
    times: np.ndarray,
    joint_names: tuple[str, ...],
    field: str,
) -> Array | None:
    """(k, n) of all points, NaN where a point gives nothing; None where none gives anything."""
    rows = [None] * len(times) if rows is None else rows
    if len(rows) != len(times):
        raise InputError(
            f"{field} of {len(rows)} points for {len(times)} times",
            element="points",
            remedy="Give each point one time",
        )
    shape = len(times), len(joint_names)
    if isinstance(rows, np.ndarray) and rows.shape == shape and np.isfinite(rows).all():
        return rows.astype(float)
    table: Array = np.full(shape, np.nan)
    for index, value in enumerate(rows):
        if value is None:
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
        table[index] = row
    return None if np.isnan(table).all() else table


def _whole(table: Array | None, field: str) -> Array:
    """Return a table that every point has to give."""
    lacking = np.ones(1, dtype=bool) if table is None else np.isnan(table).any(axis=1)
    if table is None or lacking.any():
        index = int(np.argmax(lacking))
        raise InputError(f"no {field}", element=f"points[{index}]", remedy=f"Give {field} for all points")
    return table


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
    """Compile or load what :meth:`JointTrajectory.at` needs, so that who controls joints doesn't wait for it."""
    _sample(np.zeros(2), np.zeros((1, 6, 1)), 0.0)


SPACING = 0.02
"""Between points where the speed along the path changes [s]: there polynomials between points are approximate."""
_NEAR = 1e-4
"""Points nearer than this are one [s]."""
_JUST = 1e-9
"""Before the end [s]."""
_STEP = 0.002
"""Before a change of the acceleration along the path [s]."""


def retimed(trajectory: JointTrajectory, law: TimeLaw, start: float, end: float) -> JointTrajectory:
    """Return the joints' motion from one time to another, both included, when the path is followed by a time law.

    The trajectory's own points are among its points, so that where the speed is constant a controller's polynomials are
    the trajectory's. Where it changes, points are :data:`SPACING` apart. Feed-forward efforts are those of the
    place: of a slower motion they are approximate, because inertia asks for less then.

    Args:
        trajectory: the path, whose parameter is its time.
        law: when it is where.
        start: [s].
        end: not before it [s]; infinite: the law's end.
    """
    own, last = trajectory.times, float(law.times[-1])
    end = max(last, start) if np.isinf(end) else end
    changes = [float(time) for time in law.times[: None if law.accelerations[-1] else -1] if start < time < end]
    # Accelerations jump at changes: what a polynomial makes of that stays within the last step before one.
    times = [start, *changes, *(time - _STEP for time in changes if time - _STEP > start), end]
    for before, after in itertools.pairwise(sorted(times)):
        middle = 0.5 * (before + after)
        if middle < last and law.at(middle).acceleration != 0.0:
            times.extend(np.arange(before, after, SPACING)[1:])
    first, final = law.at(start).position, law.at(end).position
    times.extend(law.time_at(float(knot)) for knot in own[(own > first) & (own < final)])
    grid = _distinct(np.sort(times))
    # At the end as it is reached: accelerations jump to zero there.
    places = [law.at(min(float(time), last - _JUST)) for time in grid]
    samples = [trajectory.at(place.position) for place in places]
    rates = [place.rates(*sample[1:]) for place, sample in zip(places, samples, strict=True)]
    velocities, accelerations = (np.array([rate[order] for rate in rates]) for order in range(2))
    if end >= last - _NEAR:
        velocities[-1] = 0.0  # a controller takes no trajectory that ends moving
    efforts = None
    if trajectory.efforts is not None:
        positions = [place.position for place in places]
        efforts = np.column_stack([np.interp(positions, own, column) for column in trajectory.efforts.T])
    smooth = trajectory.velocities is not None
    return JointTrajectory(
        trajectory.joint_names,
        grid,
        np.array([sample.positions for sample in samples]),
        velocities if smooth else None,
        accelerations if smooth and trajectory.accelerations is not None else None,
        efforts=efforts,
    )


def _distinct(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return times without those that are as good as another one; the first and the last stay."""
    kept = [float(times[0])]
    for time in times[1:]:
        if time - kept[-1] > _NEAR:
            kept.append(float(time))
    if len(kept) > 1:
        kept[-1] = float(times[-1])
    return np.array(kept)
