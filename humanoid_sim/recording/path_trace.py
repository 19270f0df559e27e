# SPDX-License-Identifier: Apache-2.0
"""Traces of the ways that bodies and points of them take (specification 000 §1.7, F166)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class Trace:
    """The way of one point.

    Attributes:
        times: of the positions [s], shape (n,).
        positions: in the world [m], shape (n, 3).
    """

    times: NDArray[np.float64]
    positions: NDArray[np.float64]


class PathTrace(Module):
    """Keeps where points of bodies have been, for a viewer to draw as lines.

    A position is kept when the point has moved by ``spacing`` since the last kept one, so a body at rest costs nothing
    and a line looks the same at every time step. A trace that has ``most`` positions loses every second one and is
    twice as coarse from then on: memory is bounded, and the whole way stays visible.

    Attributes:
        name: of the module.
        every: steps from one look to the next.
        most: positions per trace.
    """

    def __init__(
        self,
        points: Mapping[str, tuple[str, ArrayLike]] | Sequence[str],
        *,
        spacing: float = 0.005,
        every: int = 1,
        most: int = 2000,
        name: str = "trace",
    ) -> None:
        """Choose points.

        Args:
            points: name of each trace, its body (``robot/link``) and a point in the body's frame [m], shape (3,); or
                just names of bodies, whose origins are traced under their names.
            spacing: distance of kept positions at the start [m]; zero keeps every one that is looked at.
            every: steps from one look to the next.
            most: positions per trace, 4 or more.
            name: of the module.

        Raises:
            InputError: no point, one that is not finite, a negative spacing, or too small a number.
        """
        chosen = points if isinstance(points, Mapping) else {body: (body, np.zeros(3)) for body in points}
        if not chosen:
            raise InputError("no point is traced", element="points", remedy="Name a body")
        self._points: dict[str, tuple[str, NDArray[np.float64]]] = {}
        for trace, (body, local) in chosen.items():
            point = np.array(local, dtype=float).reshape(-1)
            if point.shape != (3,) or not np.all(np.isfinite(point)):
                raise InputError(
                    f"the point of '{trace}' is {point.tolist()}",
                    element="points",
                    remedy="Give three finite numbers",
                )
            self._points[trace] = (body, point)
        if not (spacing >= 0.0 and np.isfinite(spacing)):
            raise InputError(f"spacing is {spacing}", element="spacing", remedy="Give zero or a distance [m]")
        for element, value, least in (("every", every, 1), ("most", most, 4)):
            if value < least:
                raise InputError(f"{element} is {value}", element=element, remedy=f"Give {least} or more")
        self.name = name
        self.every = every
        self.most = most
        self._spacing = dict.fromkeys(self._points, float(spacing))
        self._first = float(spacing)
        self._kept: dict[str, list[tuple[float, NDArray[np.float64]]]] = {trace: [] for trace in self._points}

    def attach(self, simulation: Simulation) -> None:
        """Begin where the points are.

        Raises:
            InputError: there is no body of a name.
        """
        for body, _ in self._points.values():
            simulation.placement(body)
        self.clear()
        self._look(simulation)

    def after_step(self, simulation: Simulation) -> None:
        """Keep positions that are far enough from the last ones."""
        if simulation.step_count % self.every == 0:
            self._look(simulation)

    def _look(self, simulation: Simulation) -> None:
        for trace, (body, local) in self._points.items():
            position = simulation.placement(body).act(local)
            kept = self._kept[trace]
            if kept and np.linalg.norm(position - kept[-1][1]) < self._spacing[trace]:
                continue
            kept.append((simulation.time, position))
            if len(kept) >= self.most:
                del kept[1::2]
                self._spacing[trace] *= 2.0

    def __getitem__(self, trace: str) -> Trace:
        """Return a trace by its name.

        Raises:
            InputError: there is none of that name.
        """
        kept = self._kept[check_known(trace, self._kept, "trace", "trace")]
        return Trace(np.array([time for time, _ in kept]), np.array([position for _, position in kept]).reshape(-1, 3))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all traces."""
        return tuple(self._kept)

    def clear(self) -> None:
        """Forget all positions."""
        for trace in self._kept:
            self._kept[trace] = []
            self._spacing[trace] = self._first

    def save(self) -> object:
        """Return the traces so far."""
        return {trace: (self._spacing[trace], list(kept)) for trace, kept in self._kept.items()}

    def restore(self, state: object) -> None:
        """Go back to earlier traces."""
        assert isinstance(state, dict)
        for trace, (spacing, kept) in state.items():
            self._spacing[trace], self._kept[trace] = spacing, list(kept)
