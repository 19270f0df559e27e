# SPDX-License-Identifier: Apache-2.0
"""BIP's feet on the ground as the rows of forces that constraints and reports need (specification 003 section 2.13)."""

from __future__ import annotations

from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.models.bip import Bip
from humanoid_studies.planar_gait.optimal_control.control_rows import FlatFoot, FootForces, root_foot


def flat_foot(bip: Bip) -> FlatFoot:
    """Return stance foot of single support, flat and still: the segment S_1 that isn't in the tree (section 2.13.4)."""
    rear = bip.segments["rear_foot"]
    return FlatFoot(
        bip.foot.length,
        bip.foot.ankle_height,
        bip.foot.toe_ahead,
        bip.foot.mass_ahead_of_heel(rear.centre),
        rear.mass,
        "C01",
        bip.joints["ankle"].rotor,
    )


def stance_forces(bip: Bip, model: PhaseModel) -> FootForces:
    """N_B1, N_B2 and T under the stance foot of a single-support model (III.22).

    Raises:
        InputError: the model has no stance ankle torque.
    """
    return root_foot(model, flat_foot(bip), "stance")
