# SPDX-License-Identifier: Apache-2.0
"""A program with a barrier: slacks of inequality rows, bounds, how far values are from them and how far they may go."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from humanoid_gait.stages import Stages
from humanoid_model.arrays import Array

_RELAX = 1e-8
"""By which bounds are wider than given, relative to them."""
_SAFE = 1e10
"""Factor by which bounds' multipliers may be off from the barrier's."""


class Bounds:
    """Values with bounds, their distances from them, and the multipliers of these."""

    def __init__(self, lower: Array, upper: Array) -> None:
        wide = _RELAX * np.maximum(1.0, np.abs(np.where(np.isfinite(lower), lower, 0.0)))
        self.lower, self.upper = lower - wide, upper + _RELAX * np.maximum(
            1.0, np.abs(np.where(np.isfinite(upper), upper, 0.0))
        )
        self.has_lower, self.has_upper = np.isfinite(lower), np.isfinite(upper)

    def inside(self, values: Array, push: float) -> Array:
        """Return the values, those near a bound or beyond it moved inside."""
        width = np.where(self.has_lower & self.has_upper, self.upper - self.lower, np.inf)
        low = np.where(self.has_lower, self.lower, 0.0)
        high = np.where(self.has_upper, self.upper, 0.0)
        low += np.minimum(push * np.maximum(1.0, np.abs(low)), push * width)
        high -= np.minimum(push * np.maximum(1.0, np.abs(high)), push * width)
        found = np.where(self.has_lower, np.maximum(values, low), values)
        return np.where(self.has_upper, np.minimum(found, high), found)

    def distances(self, values: Array) -> tuple[Array, Array]:
        """Return those from the lower and the upper bounds; 1 where there is none."""
        below = np.where(self.has_lower, values - self.lower, 1.0)
        return below, np.where(self.has_upper, self.upper - values, 1.0)


@dataclass(eq=False)
class Iterate:
    """Unknowns, slacks of inequality rows, multipliers of rows and of both kinds' bounds, and what they give."""

    x: Array
    slack: Array
    multipliers: Array
    lower: tuple[Array, Array]
    upper: tuple[Array, Array]
    cost: float = 0.0
    rows: Array = field(default_factory=lambda: np.zeros(0))


class BarrierProgram:
    """A program whose inequality rows have slacks.

    Attributes:
        stages: values and derivatives.
        equal: (R,) which rows are equations.
        free: numbers of the others.
        bounds: of the unknowns and of the slacks.
    """

    def __init__(self, stages: Stages) -> None:
        """Sort the rows."""
        t = stages.transcription
        self.stages = stages
        self.equal = t.row_lower == t.row_upper
        self.free = np.flatnonzero(~self.equal)
        self._target = np.where(self.equal, t.row_lower, 0.0)
        self.bounds = Bounds(t.lower, t.upper), Bounds(t.row_lower[self.free], t.row_upper[self.free])

    def begin(
        self, x: Array, mu: float, multipliers: Array | None, bound_multipliers: Array | None, push: float
    ) -> Iterate:
        """Return an iterate inside the bounds."""
        x = self.bounds[0].inside(x, push)
        cost, rows = self.stages.values(x)
        slack = self.bounds[1].inside(rows[self.free], push)
        found: Array = np.zeros(len(rows)) if multipliers is None else multipliers.copy()
        pairs = []
        own = (np.zeros(len(x)) if bound_multipliers is None else bound_multipliers, found[self.free])
        for bounds, values, known in zip(self.bounds, (x, slack), own, strict=True):
            below, above = bounds.distances(values)
            pairs.append((
                np.where(bounds.has_lower, np.maximum(np.maximum(-known, 0.0), mu / below), 0.0),
                np.where(bounds.has_upper, np.maximum(np.maximum(known, 0.0), mu / above), 0.0),
            ))  # fmt: skip
        return Iterate(x, slack, found, (pairs[0][0], pairs[1][0]), (pairs[0][1], pairs[1][1]), cost, rows)

    def moved(self, it: Iterate, dx: Array, d_slack: Array, alpha: float) -> Iterate:
        """Return an iterate further along a step, its multipliers as they were."""
        x = it.x + alpha * dx
        cost, rows = self.stages.values(x)
        return Iterate(x, it.slack + alpha * d_slack, it.multipliers, it.lower, it.upper, cost, rows)

    def residual(self, it: Iterate) -> Array:
        """(R,) of the rows: from their values, or from their slacks."""
        found = it.rows - self._target
        found[self.free] -= it.slack
        return found

    def infeasibility(self, it: Iterate) -> float:
        """Sum of all rows' residuals."""
        return float(np.abs(self.residual(it)).sum())

    def logarithms(self, it: Iterate) -> float:
        """Sum of the distances' logarithms."""
        total = 0.0
        for bounds, values in zip(self.bounds, (it.x, it.slack), strict=True):
            below, above = bounds.distances(values)
            total += float(np.log(below).sum() + np.log(above).sum())
        return total

    def complementarity(self, it: Iterate) -> float:
        """Mean of the distances from bounds times their multipliers; infinite where there are no bounds."""
        total, count = 0.0, 0
        for i, (bounds, values) in enumerate(zip(self.bounds, (it.x, it.slack), strict=True)):
            below, above = bounds.distances(values)
            for has, distance, z in ((bounds.has_lower, below, it.lower[i]), (bounds.has_upper, above, it.upper[i])):
                total += float(distance[has] @ z[has])
                count += int(has.sum())
        return total / count if count else math.inf

    def barriers(self, it: Iterate, mu: float) -> tuple[list[Array], list[Array]]:
        """Return what bounds push with, less their multipliers, and their stiffness: of unknowns and of slacks."""
        pushes, stiff = [], []
        for i, (bounds, values) in enumerate(zip(self.bounds, (it.x, it.slack), strict=True)):
            below, above = bounds.distances(values)
            pushes.append(mu * (bounds.has_lower / below - bounds.has_upper / above))
            stiff.append(it.lower[i] / below + it.upper[i] / above)
        return pushes, stiff

    def reach(self, it: Iterate, dx: Array, d_slack: Array, mu: float) -> tuple[float, float, list[Array]]:
        """Return the longest steps of values and of bounds' multipliers, and the changes of these."""
        keep = max(0.99, 1.0 - mu)
        longest, dual, z_steps = 1.0, 1.0, []
        for i, (bounds, values, change) in enumerate(zip(self.bounds, (it.x, it.slack), (dx, d_slack), strict=True)):
            below, above = bounds.distances(values)
            for has, distance, z, sign in (
                (bounds.has_lower, below, it.lower[i], 1.0), (bounds.has_upper, above, it.upper[i], -1.0)
            ):  # fmt: skip
                longest = min(longest, _reach(distance, sign * change * has, keep))
                dz = np.where(has, mu / distance - z - sign * z / distance * change, 0.0)
                dual = min(dual, _reach(np.where(has, z, 1.0), dz, keep))
                z_steps.append(dz)
        return longest, dual, z_steps

    def go(self, it: Iterate, new: Iterate, dual: float, z_steps: list[Array], mu: float) -> None:
        """Take the values of a new iterate, and go along the changes of bounds' multipliers."""
        it.x, it.slack, it.cost, it.rows = new.x, new.slack, new.cost, new.rows
        pairs = []
        for i, (bounds, values) in enumerate(zip(self.bounds, (it.x, it.slack), strict=True)):
            below, above = bounds.distances(values)
            pairs.append(tuple(
                np.where(has, np.clip(z + dual * dz, mu / distance / _SAFE, mu / distance * _SAFE), 0.0)
                for has, distance, z, dz in (
                    (bounds.has_lower, below, it.lower[i], z_steps[2 * i]),
                    (bounds.has_upper, above, it.upper[i], z_steps[2 * i + 1]),
                )
            ))  # fmt: skip
        it.lower, it.upper = (pairs[0][0], pairs[1][0]), (pairs[0][1], pairs[1][1])


def _reach(distance: Array, change: Array, keep: float) -> float:
    """Longest step up to 1 that leaves a share of the distances."""
    closing = change < 0.0
    return float(min(1.0, (-keep * distance[closing] / change[closing]).min(initial=1.0)))
