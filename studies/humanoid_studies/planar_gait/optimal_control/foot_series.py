# SPDX-License-Identifier: Apache-2.0
"""What a foot feels along a motion: forces, centre of pressure, friction needed (specification 003 section 2.13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.optimal_control.affine_forces import affine_rows
from humanoid_studies.planar_gait.optimal_control.control_rows import FootForces


@dataclass(frozen=True, eq=False)
class FootSeries:
    """Forces under one foot over time.

    Attributes:
        name: of the foot.
        normal: (K, k) normal forces, each of one place [N].
        tangential: (K,) force along X [N].
        places: (K, k) where the normal forces act, along X [m].
    """

    name: str
    normal: Array
    tangential: Array
    places: Array

    @property
    def total_normal(self) -> Array:
        """(K,) sum of the normal forces [N]."""
        return np.asarray(self.normal.sum(axis=1))

    @property
    def centre_of_pressure(self) -> Array:
        """(K,) place of the resultant, NaN where nothing presses [m].

        Within the places, or at their ends, if and only if none of the normal forces pulls. It is the zero moment point
        of a foot that stands still.
        """
        total = self.total_normal
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(total > 0.0, (self.normal * self.places).sum(axis=1) / total, np.nan)

    @property
    def required_friction(self) -> float:
        """Least Coulomb coefficient that holds the foot: greatest |T| / sum N; inf where it rubs without pressing."""
        total = self.total_normal
        rubs = np.abs(self.tangential) > 1e-9 * max(1.0, float(np.abs(total).max(initial=0.0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(total > 0.0, np.abs(self.tangential) / total, np.where(rubs, np.inf, 0.0))
        return float(ratios.max(initial=0.0))

    @property
    def min_normal(self) -> float:
        """Least of all normal forces; negative where a foot would have to pull [N]."""
        return float(self.normal.min())

    def holds(self, friction: float, tolerance: float = 1e-6) -> bool:
        """Return whether no normal force pulls and friction suffices (II.34, II.35, II.41).

        Args:
            friction: Coulomb coefficient of the ground.
            tolerance: pull that counts as none [N].
        """
        return self.min_normal >= -tolerance and self.required_friction <= friction * (1.0 + 1e-9)


def foot_series(
    model: PhaseModel, forces: FootForces, places: Sequence[str | float], q: ArrayLike, v: ArrayLike, u: ArrayLike
) -> FootSeries:
    """Return forces of a foot along samples of a motion.

    Args:
        model: of the phase.
        forces: rows of the foot.
        places: for each normal force the model's point that it acts at, or its constant x [m].
        q: (K, n) angles [rad].
        v: (K, n) rates [rad/s].
        u: (K, N) controls.

    Raises:
        InputError: not one place for each normal force, or an unknown point.
    """
    if len(places) != len(forces.normal):
        raise InputError(
            f"{len(places)} places for {len(forces.normal)} normal forces",
            element=forces.name,
            remedy="Give one for each",
        )
    angles, control = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
    D, V = affine_rows(model, (*forces.normal, forces.tangential), angles, v)
    values = (D @ control[..., None])[..., 0] + V
    columns = []
    for place in places:
        if isinstance(place, str):
            if place not in model.points:
                raise InputError(
                    f"unknown point '{place}'", element=forces.name, remedy=f"Use one of {', '.join(model.points)}"
                )
            columns.append(model.points[place].position(angles)[:, 0])
        else:
            columns.append(np.full(len(angles), float(place)))
    return FootSeries(forces.name, values[:, :-1], values[:, -1], np.stack(columns, axis=1))
