# SPDX-License-Identifier: Apache-2.0
"""S0: a planar chain of n bodies closed on its base (specification 003 section 2.8.1; thesis I.3.3, Fig. I-12)."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Pivot, PlanarMechanism
from humanoid_studies.planar_gait.mechanism.planar_tree import GRAVITY
from humanoid_studies.planar_gait.models.segment import Segment


def closed_chain(
    segments: Sequence[Segment], base: float, damping: Sequence[float] | None = None, gravity: float = GRAVITY
) -> PhaseModel:
    """Return the chain A, S_1, .., S_n, B cut at B, with u = (C_1, .., C_{n+1}, N_B, T_B), equation (I.33).

    Torque i <= n acts from S_{i-1} on S_i, torque n+1 from S_n on the base (errata ER-04 and ER-05).

    Args:
        segments: S_1 to S_n.
        base: l = AB, along X [m].
        damping: alpha_1 to alpha_{n+1} [N m s/rad]; none if left out.
        gravity: [m/s²].

    Raises:
        InputError: fewer than three segments, which can't move when closed, or another number of coefficients.
    """
    n = len(segments)
    if n < 3:
        raise InputError(f"has {n} segments", element="closed chain", remedy="Give three or more")
    coefficients = [0.0] * (n + 1) if damping is None else list(damping)
    if len(coefficients) != n + 1:
        raise InputError(
            f"has {len(coefficients)} values",
            element="closed chain: damping",
            remedy=f"Give {n + 1}, one for each joint",
        )
    links = tuple(segment.link(f"bar_{i}") for i, segment in enumerate(segments, start=1))
    ends = [GROUND, *(link.name for link in links), GROUND]
    places = [0.0, *(segment.length for segment in segments)]
    pivots = tuple(
        Pivot(
            f"O{i + 1}",
            ends[i],
            places[i],
            ends[i + 1],
            base if i == n else 0.0,
            torque=f"C{i + 1}",
            forces=("T_B", "N_B"),
            damping=coefficients[i],
        )
        for i in range(n + 1)
    )
    return open_mechanism(PlanarMechanism("closed_chain", links, pivots), (f"O{n + 1}",), gravity)
