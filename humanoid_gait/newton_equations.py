# SPDX-License-Identifier: Apache-2.0
"""Newton's equations of a program of stages: put to the Riccati recursion, and its answer sorted by rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_gait.riccati import Stage, solve_stages
from humanoid_gait.stages import Linearised, Stages
from humanoid_model.arrays import Array


class NewtonEquations:
    """Equations of a step in which some rows are kept and others are squares.

    Args:
        stages: of the program.
        kept: (R,) rows beside those of the dynamics that are kept.
    """

    def __init__(self, stages: Stages, kept: NDArray[np.bool_]) -> None:
        """Note which interval is whose."""
        self.stages, self._kept = stages, kept
        t = stages.transcription
        self._stage = [(index, k - int(t.layout.first[index])) for k, index in enumerate(t.layout.phase_of.tolist())]
        self._kept_paths = [kept[path[0]] for path in t.paths]

    def pull(self, at: Linearised, multipliers: Array) -> Array:
        """(V,) the rows' Jacobian transposed, times multipliers (R,)."""
        t = self.stages.transcription
        layout = t.layout
        found, states = np.zeros(layout.unknowns), layout.states()
        for index in range(len(t.points)):
            nodes = slice(layout.first[index], layout.first[index + 1])
            own = np.einsum("krw,kr->kw", at.paths[index], multipliers[t.paths[index]])
            own -= np.einsum("krw,kr->kw", at.dynamics[index], multipliers[t.gaps[nodes]])
            found[layout.stages(index)] += own
            found[states[layout.first[index] + 1 : layout.first[index + 1] + 1]] += multipliers[t.gaps[nodes]]
        for k, rows in enumerate(at.nodes):
            for part in rows:
                found[states[k]] += part.jacobian.T @ multipliers[part.rows]
        return found

    def change(self, at: Linearised, dx: Array) -> Array:
        """(R,) first change of all rows but those of the dynamics."""
        t = self.stages.transcription
        layout, found = t.layout, np.zeros(len(self._kept))
        for index, J in enumerate(at.paths):
            found[t.paths[index]] = np.einsum("krw,kw->kr", J, dx[layout.stages(index)])
        states = dx[layout.states()]
        for k, rows in enumerate(at.nodes):
            for part in rows:
                found[part.rows] = part.jacobian @ states[k]
        return found

    def solve(
        self, at: Linearised, H: list[Array], q: Array, diagonal: Array, stiffness: Array, residual: Array
    ) -> tuple[Array, Array] | None:
        """Return changes of unknowns (V,), and multipliers (R,) of the dynamics and of rows that are kept.

        Args:
            at: first derivatives.
            H: by phase (N, stage, stage) and of the last node (1, state, state); of the squares, those of points' rows.
            q: (V,) gradient.
            diagonal: (V,) added to H.
            stiffness: (R,) of the squares.
            residual: (R,) of the rows.

        Returns:
            None where it isn't a minimum.
        """
        found = solve_stages(self._stages(at, H, q, diagonal, stiffness, residual))
        return None if found is None else self._gathered(at, found)

    def _stages(
        self, at: Linearised, H: list[Array], q: Array, diagonal: Array, stiffness: Array, residual: Array
    ) -> list[Stage]:
        t = self.stages.transcription
        layout, size = t.layout, t.layout.state
        found = []
        for k in range(len(layout.starts)):
            E: list[Array] = [np.zeros((0, size))]
            e: list[Array] = [np.zeros(0)]
            last = k == len(layout.starts) - 1
            index, i = (len(t.points), 0) if last else self._stage[k]
            first = int(layout.starts[k])
            places = slice(first, first + H[index].shape[1])
            Q = H[index][i].copy()
            np.einsum("ii->i", Q)[:] += diagonal[places]
            for part in at.nodes[k]:
                if self._kept[part.rows].all():
                    E.append(part.jacobian)
                    e.append(residual[part.rows])
                else:
                    Q[:size, :size] += part.jacobian.T @ (stiffness[part.rows][:, None] * part.jacobian)
            if last:
                D, C, c, d = None, np.zeros((0, size)), np.zeros(0), np.zeros(0)
            else:
                kept = self._kept_paths[index]
                D, d = at.dynamics[index][i], -residual[t.gaps[k]]
                C, c = at.paths[index][i][kept], residual[t.paths[index][i][kept]]
            found.append(Stage(Q, q[places], D, d, C, c, np.vstack(E), np.concatenate(e)))
        return found

    def _gathered(self, at: Linearised, found: tuple[list[Array], list[Array], list[Array]]) -> tuple[Array, Array]:
        t = self.stages.transcription
        unknowns, costates, rows = found
        multipliers = np.zeros(len(self._kept))
        for k, own in enumerate(rows):
            at_node = [part.rows for part in at.nodes[k] if self._kept[part.rows].all()]
            if k < len(costates):
                multipliers[t.gaps[k]] = costates[k]
                index, i = self._stage[k]
                at_node.insert(0, t.paths[index][i][self._kept_paths[index]])
            if at_node:
                multipliers[np.concatenate(at_node)] = own
        return np.concatenate(unknowns), multipliers
