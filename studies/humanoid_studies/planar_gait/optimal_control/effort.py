# SPDX-License-Identifier: Apache-2.0
"""The quadratic effort criterion and the energy that the efforts spend (specification 003 sections 2.16 and 2.28)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import simpson

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel


@dataclass(frozen=True)
class QuadraticEffort:
    """l(u) = time_weight + 1/2 sum_i mu xi_i (gamma_i u_i)², equations (II.6), (III.7), (III.15) and (III.21).

    Attributes:
        torque_weight: mu_c, of all torques.
        force_weight: mu_f, of all cut forces.
        torque_scale: gamma of the torques [1/(N m)].
        force_scale: gamma of the cut forces [1/N].
        weights: xi_i of single controls by name, 1 for those not named: above 1 spares the control, below 1 burdens it.
        time_weight: cost of a second; of use where the duration is free.
    """

    torque_weight: float = 1.0
    force_weight: float = 1.0
    torque_scale: float = 1e-2
    force_scale: float = 1e-3
    weights: Mapping[str, float] = field(default_factory=dict)
    time_weight: float = 0.0

    def __post_init__(self) -> None:
        """Check the weights.

        Raises:
            InputError: a weight or scale isn't positive and finite, or the time's weight is negative.
        """
        for name in ("torque_weight", "force_weight", "torque_scale", "force_scale"):
            _positive(getattr(self, name), f"effort.{name}")
        for name, weight in self.weights.items():
            _positive(weight, f"effort.weights['{name}']")
        if not (math.isfinite(self.time_weight) and self.time_weight >= 0.0):
            raise InputError(f"is {self.time_weight}", element="effort.time_weight", remedy="Give zero or more")

    def diagonal(self, model: PhaseModel) -> Reals:
        """(N,) diagonal of W: l = 1/2 u^T W u.

        Raises:
            InputError: a weight for a control that the model doesn't have.
        """
        for name in self.weights:
            if name not in model.control_names:
                raise InputError(
                    f"unknown control '{name}'",
                    element="effort.weights",
                    remedy=f"Use one of {', '.join(model.control_names)}",
                )
        torques = np.full(model.torque_count, self.torque_weight * self.torque_scale**2)
        forces = np.full(model.control_count - model.torque_count, self.force_weight * self.force_scale**2)
        xi = np.array([self.weights.get(name, 1.0) for name in model.control_names])
        return np.concatenate([torques, forces]) * xi


@dataclass(frozen=True)
class Energies:
    """Work of the torques along a motion.

    Attributes:
        total: J_e, integral of sum |power| [J].
        positive: work given to the mechanism [J].
        negative: work taken from it, negative [J].
        per_torque: (n_a,) J_e of each torque [J].
        effort_rate: J_d, integral of the squared rates of the scaled controls [1/s].
    """

    total: float
    positive: float
    negative: float
    per_torque: Reals
    effort_rate: float


def energies(model: PhaseModel, effort: QuadraticEffort, t: ArrayLike, v: ArrayLike, u: ArrayLike) -> Energies:
    """Energy audit of samples of a motion: |joint rate times torque| integrated by Simpson's rule (section 2.28).

    Args:
        model: whose torques work.
        effort: whose scales make J_d free of units.
        t: (K,) times [s], at least three.
        v: (K, n) velocities [rad/s].
        u: (K, N) controls.

    Returns:
        The energies; on a kink of |power| between two samples they are as exact as the sampling.
    """
    times, controls = np.asarray(t, dtype=float), np.asarray(u, dtype=float)
    power = controls[:, : model.torque_count] * model.torque_rates(v)
    per_torque = np.asarray(simpson(np.abs(power), x=times, axis=0))
    scaled = controls * np.sqrt(effort.diagonal(model))
    rates = np.gradient(scaled, times, axis=0)
    return Energies(
        total=float(per_torque.sum()),
        positive=float(simpson(np.maximum(power, 0.0).sum(axis=1), x=times)),
        negative=float(simpson(np.minimum(power, 0.0).sum(axis=1), x=times)),
        per_torque=per_torque,
        effort_rate=float(simpson((rates**2).sum(axis=1), x=times)),
    )


def _positive(value: float, element: str) -> None:
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f"is {value}", element=element, remedy="Give a number above 0")
