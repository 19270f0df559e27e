# SPDX-License-Identifier: Apache-2.0
"""Deformable soles by linear finite elements (specification 000 §§17 to 19)."""

from humanoid_model.sole import RUBBER
from humanoid_sim.flexibility.deformable_sole import DeformableSole
from humanoid_sim.flexibility.tetrahedral_mesh import block_mesh

__all__ = ["RUBBER", "DeformableSole", "block_mesh"]
