# SPDX-License-Identifier: Apache-2.0
r"""The way back to where rows are kept, when a filter lets no step towards the optimum.

Minimised is :math:`\tfrac12\|r(x,s)\|^2` in the bounds of unknowns and slacks, by a barrier; r are
all rows but those of the dynamics, which stages keep. Steps are Levenberg and Marquardt's: always convex, without
second derivatives. Where this ends away from zero, the bounds whose multipliers are greatest are what holds it up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from humanoid_gait.barrier import BarrierProgram, Iterate
from humanoid_gait.newton_equations import NewtonEquations
from humanoid_gait.row_names import bound_name, slack_name
from humanoid_gait.stages import Linearised
from humanoid_model.arrays import Array
from humanoid_model.progress import Watch

_NEAR = 1e-6
"""Weight of the squares of a step, in each unknown's size."""
_FALLS, _LEAST = 0.2, 1e-9
"""Share that the barrier parameter falls to where steps change no more than it; and its least value."""
_FLAT = 1e-3
"""Share of the residuals' squares that is no change either."""
_ENOUGH = 0.1
"""Share of the infeasibility at which it has done its work."""
_TOLD = 3


class Restoration:
    """Brings rows of a program nearer to what they have to be.

    Args:
        program: with its bounds.
        tolerance: of rows that are kept.
    """

    def __init__(self, program: BarrierProgram, tolerance: float) -> None:
        self._program, self._tolerance = program, tolerance
        self._newton = NewtonEquations(program.stages, np.zeros_like(program.equal))
        t = program.stages.transcription
        self._others = np.ones(len(program.equal), dtype=bool)
        self._others[t.gaps.ravel()] = False

    def restore(
        self, it: Iterate, mu: float, accepts: Callable[[Iterate], bool], iterations: int, watch: Watch | None
    ) -> tuple[str, int]:
        """Move an iterate until a filter accepts it; return why there is none, and the number of iterations.

        Args:
            it: that is moved; the multipliers of its rows begin anew.
            mu: barrier parameter of the program.
            accepts: the filter.
            iterations: at most.
            watch: may end it.
        """
        program = self._program
        begin = program.infeasibility(it)
        own = max(mu, 1e-2 * float(np.abs(program.residual(it)).max()))
        for count in range(iterations):
            if watch is not None and watch.over():
                return watch.why, count
            at = program.stages.linearised(it.x)
            dx, d_slack, costates = self._step(it, at, own)
            falls = self._search(it, dx, d_slack, costates, own)
            theta = program.infeasibility(it)
            kept = float(np.abs(program.residual(it)).max()) <= self._tolerance
            if (kept or theta <= _ENOUGH * begin) and accepts(it):
                it.multipliers = np.zeros_like(it.multipliers)
                return "", count + 1
            others = program.residual(it)[self._others]
            if falls <= own + _FLAT * float(others @ others):
                if own <= _LEAST:
                    if theta <= 0.9 * begin and accepts(it):
                        it.multipliers = np.zeros_like(it.multipliers)
                        return "", count + 1
                    return f"no motion near keeps everything, held up by {self.held_up_by(it)}", count + 1
                own = max(_LEAST, _FALLS * own)
        return f"iterations are used up, held up by {self.held_up_by(it)}", iterations

    def _step(self, it: Iterate, at: Linearised, mu: float) -> tuple[Array, Array, Array]:
        """Return Levenberg and Marquardt's step of unknowns and slacks, and multipliers of the dynamics."""
        program, free, t = self._program, self._program.free, self._program.stages.transcription
        pushes, stiff = program.barriers(it, mu)
        residual = program.residual(it)
        stiffness, forces = np.where(self._others, 1.0, 0.0), np.where(self._others, residual, 0.0)
        stiffness[free] = stiff[1] / (1.0 + stiff[1])
        forces[free] = (stiff[1] * residual[free] - pushes[1]) / (1.0 + stiff[1])
        H = []
        for path, J in zip(t.paths, at.paths, strict=True):
            H.append(J.transpose(0, 2, 1) @ (stiffness[path][:, :, None] * J))
        H.append(np.zeros((1, t.layout.state, t.layout.state)))
        q = self._newton.pull(at, forces) - pushes[0]
        sizes = _NEAR / np.maximum(1.0, np.abs(it.x)) ** 2
        found = self._newton.solve(at, H, q, stiff[0] + sizes, stiffness, residual)
        if found is None:  # no more than rounding
            return np.zeros_like(it.x), np.zeros_like(it.slack), np.zeros_like(it.rows)
        dx = found[0]
        d_slack = (self._newton.change(at, dx)[free] + residual[free] + pushes[1]) / (1.0 + stiff[1])
        return dx, d_slack, found[1]

    def _search(self, it: Iterate, dx: Array, d_slack: Array, costates: Array, mu: float) -> float:
        """Go along a step as far as it is downhill; return what the barrier function has fallen by."""
        program = self._program
        longest, dual, z_steps = program.reach(it, dx, d_slack, mu)
        gaps = 1.0 + 2.0 * float(np.abs(costates).max(initial=0.0))

        def merit(one: Iterate) -> float:
            residual = program.residual(one)
            total = 0.5 * float(residual[self._others] @ residual[self._others])
            return total - mu * program.logarithms(one) + gaps * float(np.abs(residual[~self._others]).sum())

        before = merit(it)
        alpha = longest
        while alpha > 1e-3 * longest:
            new = program.moved(it, dx, d_slack, alpha)
            if np.isfinite(new.rows).all() and (after := merit(new)) < before:
                program.go(it, new, dual, z_steps, mu)
                return before - after
            alpha *= 0.5
        return 0.0

    def held_up_by(self, it: Iterate) -> str:
        """Return the bounds that push most, in words."""
        t, weights = self._program.stages.transcription, dict[str, float]()
        places = ((0, bound_name, range(len(it.x))), (1, slack_name, self._program.free.tolist()))
        for i, name, numbers in places:
            bounds = self._program.bounds[i]
            for z, limits in ((it.lower[i], bounds.lower), (it.upper[i], bounds.upper)):
                pushes = z * np.maximum(np.abs(np.where(np.isfinite(limits), limits, 0.0)), 0.1)
                for k in np.flatnonzero(pushes > 1e-3 * pushes.max(initial=0.0)):
                    what = name(t, int(numbers[k]))
                    weights[what] = weights.get(what, 0.0) + float(pushes[k])
        return ", ".join(sorted(weights, key=lambda what: -weights[what])[:_TOLD]) or "the contacts alone"
