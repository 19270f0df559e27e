# SPDX-License-Identifier: Apache-2.0
"""Deformable soles by linear finite elements (specification 000 §§17 to 19)."""

from humanoid_sim.flexibility.deformable_sole import DeformableSole

__all__ = ["DeformableSole"]
