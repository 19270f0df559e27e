# SPDX-License-Identifier: Apache-2.0
"""Deformable soles by linear finite elements (specification 000 §§17 to 19)."""

from humanoid_model.sole import RUBBER, Material
from humanoid_sim.flexibility.deformable_sole import DeformableSole, SurfaceCompliance, surface_compliance
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh, block_mesh

__all__ = [
    "RUBBER",
    "DeformableSole",
    "Material",
    "SurfaceCompliance",
    "TetrahedralMesh",
    "block_mesh",
    "surface_compliance",
]
