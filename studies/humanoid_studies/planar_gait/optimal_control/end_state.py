# SPDX-License-Identifier: Apache-2.0
"""Ends of a phase: states given in full, in part, or by conditions (specification 003 sections 2.14.6 and 2.24)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi
import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel

Conditions = Callable[[CasadiPhase, casadi.SX, casadi.SX], casadi.SX]
"""psi(expressions of the model, q, v) as a column that has to vanish, equation (II.3)."""


@dataclass(frozen=True, eq=False)
class EndState:
    """State at one end; what is free there is chosen by the optimum, and its costate vanishes (II.22).

    Attributes:
        q: (n,) angles [rad]; those that are free serve as a first guess.
        v: (n,) velocities [rad/s], likewise.
        free_q: names of coordinates whose angle is free.
        free_v: names of coordinates whose velocity is free.
        conditions: further equations between q and v.
    """

    q: Reals
    v: Reals
    free_q: tuple[str, ...] = ()
    free_v: tuple[str, ...] = ()
    conditions: Conditions | None = None

    @property
    def fixed(self) -> bool:
        """Whether the whole state is given."""
        return not self.free_q and not self.free_v and self.conditions is None

    def check(self, model: PhaseModel, name: str) -> None:
        """Raise InputError where the state doesn't fit the model."""
        for field, unit in (("q", "rad"), ("v", "rad/s")):
            values = np.asarray(getattr(self, field), dtype=float)
            if values.shape != (model.n,):
                raise InputError(
                    f"has shape {values.shape}", element=f"{name}.{field}", remedy=f"Give {model.n} values in {unit}"
                )
            if not np.isfinite(values).all():
                worst = int(np.argmin(np.isfinite(values)))
                raise InputError(
                    f"is {values[worst]} for {model.tree.coordinates[worst]}",
                    element=f"{name}.{field}",
                    remedy=f"Give finite values in {unit}",
                )
        for free in (*self.free_q, *self.free_v):
            model.tree.index(free)

    def free_masks(self, model: PhaseModel) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(n,) each: which angles and which velocities are free."""
        names = model.tree.coordinates
        return np.isin(names, self.free_q), np.isin(names, self.free_v)
