# SPDX-License-Identifier: Apache-2.0
"""A posture problem as a nonlinear program: all tasks in one vector, scaled and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.optimisation.program import NonlinearProgram
from humanoid_planner.posture.tasks.criteria import Criterion
from humanoid_planner.posture.tasks.force_tasks import FrictionCones
from humanoid_planner.posture.tasks.geometric_rows import JOINT
from humanoid_planner.posture.tasks.state import PostureState
from humanoid_planner.posture.tasks.task import GeometricTask, RowTable, Task

#: Weight of the squared force variables in the objective: hyperstatic forces then have one best distribution.
FORCE_WEIGHT = 1e-3
#: Damping of steps of the force variables: as heavy as a joint's deviation from its reference.
FORCE_DAMPING = 1.0


class PostureProgram(NonlinearProgram):
    """What solvers see of a posture problem.

    Rows come in the order nonlinear inequalities, nonlinear equalities, linear inequalities, linear equalities
    (specification 001 section 4.3.4), each divided by its task's scale.

    Attributes:
        state: evaluated last.
        tasks: that the rows come from.
        row_tasks: (m,) index of each row's task.
        scale: (m,) what the rows were divided by.
        evaluations: of the constraints.
        jacobian_evaluations: of their Jacobian.
    """

    def __init__(
        self,
        state: PostureState,
        tasks: Sequence[Task],
        criterion: Criterion,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> None:
        self.state = state
        self.tasks = tuple(tasks)
        self.lower, self.upper = lower, upper
        self._criterion = criterion
        self._fast = [task for task in self.tasks if type(task) is GeometricTask or _only_rows(task)]
        self._others = [task for task in self.tasks if task not in self._fast]
        self._ordered = ordered = [*self._fast, *self._others]
        self._table = RowTable.joined([task.table for task in self._fast])  # type: ignore[attr-defined]
        place = {id(task): index for index, task in enumerate(self.tasks)}
        sizes = [task.size for task in ordered]
        self._starts = np.cumsum([0, *sizes])
        total = int(self._starts[-1])
        lower_rows = np.concatenate([np.zeros(0), *(task.lower for task in ordered)])
        upper_rows = np.concatenate([np.zeros(0), *(task.upper for task in ordered)])
        linear = np.concatenate([np.zeros(0, dtype=bool), *(_linear(task) for task in ordered)])
        equal = lower_rows == upper_rows
        self._order = np.lexsort((equal, linear))
        scale = np.concatenate([np.ones(0), *(task.scale for task in ordered)])[self._order]
        owners = np.concatenate([np.zeros(0, dtype=int), *(np.full(task.size, place[id(task)]) for task in ordered)])
        self.scale = scale
        self.row_tasks = owners[self._order].astype(np.int64)
        self.linear = linear[self._order]
        self.constraint_lower = lower_rows[self._order] / scale
        self.constraint_upper = upper_rows[self._order] / scale
        self._inverse_scale = 1.0 / scale
        self._raw = np.zeros(total)
        self._raw_jacobian = np.zeros((total, state.size))
        self._values = np.zeros(total)
        self._jacobian = np.zeros((total, state.size))
        self._values_version = self._jacobian_version = -1
        self.evaluations = self.jacobian_evaluations = 0
        self._forces = slice(state.first_force, state.first_extra)
        self._cones = next((task for task in self.tasks if isinstance(task, FrictionCones)), None)
        if self._cones is not None:
            begin = self._starts[len(self._fast) + self._others.index(self._cones)]
            self._cone_rows = slice(begin, begin + self._cones.size)

    @cached_property
    def row_labels(self) -> tuple[str, ...]:
        """(m,) how messages call the rows."""
        labels = [label for task in self._ordered for label in task.labels]
        return tuple(labels[i] for i in self._order)

    @cached_property
    def row_units(self) -> tuple[str, ...]:
        """(m,) units of the values times ``scale``."""
        units = [unit for task in self._ordered for unit in _units(task)]
        return tuple(units[i] for i in self._order)

    @property
    def damping(self) -> NDArray[np.float64]:
        """(n,) of steps: forces are next to free in the objective, and leap about without it."""
        damping = np.zeros(self.size)
        damping[self._forces] = FORCE_DAMPING
        return damping

    def constraint_curvature(
        self, x: NDArray[np.float64], multipliers: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """(n, n) curvature of friction cones, lengths and angles, which are never negative, under their multipliers."""
        if self._cones is None and not self._table.curved:
            return None
        self.constraints(x)
        self.jacobian(x)
        state = self.state
        raw = np.empty(len(multipliers))
        raw[self._order] = np.maximum(multipliers, 0.0) * self._inverse_scale
        H = np.zeros((self.size, self.size))
        if self._cones is not None:
            H += self._cones.curvature(state, raw[self._cone_rows])
        if self._table.curved:
            part = np.zeros((state.first_force, state.first_force))
            count = self._table.size
            self._table.add_curvature(state, raw[:count], self._raw_jacobian[:count], part)
            H[: state.first_force, : state.first_force] += part
        return H

    def objective(self, x: NDArray[np.float64]) -> float:
        """Return the criterion, and a small weight on the squared forces that makes them unique."""
        self.state.set(x)
        f = x[self._forces]
        return self._criterion.value(self.state) + FORCE_WEIGHT * float(f @ f)

    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) gradient."""
        self.state.set(x)
        g = self._criterion.gradient(self.state)
        g[self._forces] += 2 * FORCE_WEIGHT * x[self._forces]
        return g

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n, n) Hessian or its Gauss-Newton approximation."""
        self.state.set(x)
        H = self._criterion.hessian(self.state)
        if H is not None:
            index = np.arange(self._forces.start, self._forces.stop)
            H[index, index] += 2 * FORCE_WEIGHT
        return H

    def criterion(self, x: NDArray[np.float64]) -> float:
        """Return the criterion alone."""
        self.state.set(x)
        return self._criterion.value(self.state)

    def constraints(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) scaled values."""
        state = self.state
        state.set(x)
        if self._values_version != state.version:
            self.evaluations += 1
            raw, end = self._raw, self._table.size
            if end:
                raw[:end] = self._table.values(state)
            for task, start in zip(self._others, self._starts[len(self._fast) :], strict=False):
                raw[start : start + task.size] = task.value(state)
            np.take(raw, self._order, out=self._values)
            self._values *= self._inverse_scale
            self._values_version = state.version
        return self._values

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, n) scaled derivatives."""
        state = self.state
        state.set(x)
        if self._jacobian_version != state.version:
            self.jacobian_evaluations += 1
            raw, end = self._raw_jacobian, self._table.size
            if end:
                raw[:end] = 0.0
                self._table.jacobian(state, raw[:end])
            for task, start in zip(self._others, self._starts[len(self._fast) :], strict=False):
                raw[start : start + task.size] = task.jacobian(state)
            np.take(raw, self._order, axis=0, out=self._jacobian)
            self._jacobian *= self._inverse_scale[:, None]
            self._jacobian_version = state.version
        return self._jacobian


def _only_rows(task: Task) -> bool:
    """Return whether a geometric task's subclass left its evaluation alone."""
    kind = type(task)
    return (
        isinstance(task, GeometricTask)
        and kind.value is GeometricTask.value
        and kind.jacobian is GeometricTask.jacobian
    )


def _linear(task: Task) -> NDArray[np.bool_]:
    if isinstance(task, GeometricTask):
        return np.asarray(task.table.kinds == JOINT)
    return np.full(task.size, task.linear)


def _units(task: Task) -> list[str]:
    if isinstance(task, GeometricTask):
        return [row.unit for row in task.rows]
    return [task.unit] * task.size
