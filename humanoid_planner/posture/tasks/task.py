# SPDX-License-Identifier: Apache-2.0
"""What a posture has to fulfil: equalities and inequalities on configuration, forces and extra variables.

Most tasks are rows of the function library (``geometric_rows``), all of which one table evaluates at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.posture.tasks.geometric_rows import (
    AIM,
    ANGLE,
    COM_DISTANCE,
    DISTANCE,
    ROW,
    TURN,
    add_row_curvature,
    row_jacobian,
    row_values,
)
from humanoid_planner.posture.tasks.state import PostureState


class Task(ABC):
    """A vector function of the posture between bounds (specification 001 (3.5), (3.6), (3.13), (3.14)).

    Subclass it in a file of your own, with :meth:`value` and :meth:`jacobian`; equal bounds make an equality.

    Attributes:
        name: how messages call it.
        lower: (m,) lowest values; minus infinity where there is none.
        upper: (m,) highest values.
        unit: of the values, for messages.
        scale: (m,) size of a deviation that counts as much as one metre or radian; solvers see values divided by it.
        linear: whether the values are linear in the variables.
    """

    linear = False

    def __init__(
        self, name: str, lower: ArrayLike, upper: ArrayLike, *, unit: str = "", scale: ArrayLike = 1.0
    ) -> None:
        self.name = name
        self.lower = np.atleast_1d(np.asarray(lower, dtype=float))
        self.upper = np.atleast_1d(np.asarray(upper, dtype=float))
        self.unit = unit
        self.scale = np.broadcast_to(np.asarray(scale, dtype=float), self.lower.shape)
        if self.lower.shape != self.upper.shape or self.lower.ndim != 1:
            raise InputError(
                f"lower bounds have shape {self.lower.shape}, upper ones {self.upper.shape}",
                element=f"task '{name}'",
                remedy="Give as many of both, in one dimension",
            )
        crossing = np.flatnonzero(~(self.lower <= self.upper))
        if len(crossing):
            row = int(crossing[0])
            raise InputError(
                f"lower bound {self.lower[row]} is not below upper bound {self.upper[row]} in row {row}",
                element=f"task '{name}'",
                remedy="Give bounds that don't cross, and no NaN",
            )

    @property
    def size(self) -> int:
        """Number of rows m."""
        return len(self.lower)

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        if self.size == 1:
            return (self.name,)
        return tuple(f"{self.name} [{row}]" for row in range(self.size))

    @abstractmethod
    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) values; the array may be used again by the next call."""

    @abstractmethod
    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivatives of :meth:`value` by all variables."""


_ZERO = np.zeros(3)
_EYE = np.eye(3)
_CURVED = frozenset((DISTANCE, COM_DISTANCE, ANGLE, AIM, TURN))


@dataclass(frozen=True)
class Row:
    """One scalar function between bounds; kinds and letters: :mod:`humanoid_planner.posture.tasks.geometric_rows`.

    Attributes:
        kind: of the function.
        label: how messages call it.
        lower: lowest value.
        upper: highest value.
        unit: of the value.
        a: first body, or the variable of a JOINT row.
        b: second body; 0 is the world.
        P: (3,) point in the frame of a [m].
        Q: (3,) point in the frame of b [m].
        u: (3,) direction in the frame of a.
        w: (3,) direction in the frame of b.
        frame_a: (3, 3) orientation in the frame of a, TURN only.
        frame_b: (3, 3) orientation in the frame of b, TURN only.
        scale: deviation that counts as one.
    """

    kind: int
    label: str
    lower: float
    upper: float
    unit: str = "m"
    a: int = 0
    b: int = 0
    P: NDArray[np.float64] = field(default_factory=lambda: _ZERO)
    Q: NDArray[np.float64] = field(default_factory=lambda: _ZERO)
    u: NDArray[np.float64] = field(default_factory=lambda: _ZERO)
    w: NDArray[np.float64] = field(default_factory=lambda: _ZERO)
    frame_a: NDArray[np.float64] = field(default_factory=lambda: _EYE)
    frame_b: NDArray[np.float64] = field(default_factory=lambda: _EYE)
    scale: float = 1.0


class GeometricTask(Task):
    """A task made of library rows.

    Attributes:
        rows: its functions.
        table: the same as the kernels read them.
    """

    def __init__(self, name: str, rows: Sequence[Row]) -> None:
        super().__init__(
            name, [row.lower for row in rows], [row.upper for row in rows], scale=[row.scale for row in rows]
        )
        self.rows = tuple(rows)
        self.unit = rows[0].unit if rows else ""
        self.table = RowTable.of(self.rows)

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"{self.name}: {row.label}" if row.label else self.name for row in self.rows)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) values."""
        return self.table.values(state)

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivatives."""
        J = np.zeros((self.size, state.size))
        self.table.jacobian(state, J)
        return J


class RowTable:
    """Rows as flat arrays.

    Attributes:
        size: number of rows.
        kinds: (m,) of the rows.
        curved: whether lengths or angles are among them.
    """

    def __init__(self, records: NDArray[np.void]) -> None:
        self.size = len(records)
        self._rows = records
        self.kinds: NDArray[np.int64] = records["kind"]
        self.curved = not _CURVED.isdisjoint(self.kinds.tolist())
        self._values = np.zeros(self.size)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> RowTable:
        """Return the table of rows."""
        records = np.zeros(len(rows), dtype=ROW)
        if rows:
            for name in ROW.names or ():
                records[name] = [getattr(row, name) for row in rows]
        return cls(records)

    @classmethod
    def joined(cls, tables: Sequence[RowTable]) -> RowTable:
        """Return the rows of several tables in one."""
        return cls(np.concatenate([np.zeros(0, dtype=ROW), *(table._rows for table in tables)]))

    def values(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) values, in an array of the table's own."""
        kinematics = state.kinematics
        kinematics.place_bodies()
        row_values(self._rows, state.x, kinematics.placements, kinematics.centre_of_mass(), self._values)
        return self._values

    def jacobian(self, state: PostureState, J: NDArray[np.float64]) -> None:
        """Add the derivatives to ``J`` (m, >= nx), which is zero before."""
        kinematics = state.kinematics
        kinematics.place_bodies()
        G, J_com = kinematics.centre_of_mass(), kinematics.centre_of_mass_jacobian()
        row_jacobian(self._rows, kinematics.tree, kinematics.placements, G, J_com, J)

    def add_curvature(
        self, state: PostureState, multipliers: NDArray[np.float64], J: NDArray[np.float64], H: NDArray[np.float64]
    ) -> None:
        """Add the curvature of lengths and angles under their multipliers (m,) to ``H``.

        Args:
            state: where; :meth:`values` and :meth:`jacobian` have been there.
            multipliers: positive where the upper bound acts.
            J: (m, >= nx) what :meth:`jacobian` gave.
            H: (nx, nx).
        """
        kinematics = state.kinematics
        G, J_com = kinematics.centre_of_mass(), kinematics.centre_of_mass_jacobian()
        table, placements = kinematics.tree, kinematics.placements
        add_row_curvature(self._rows, multipliers, self._values, table, placements, G, J_com, J, H)
