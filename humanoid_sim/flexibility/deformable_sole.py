# SPDX-License-Identifier: Apache-2.0
"""A deformable sole glued to a rigid link: what is computed once, and its state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.elastic_material import Material
from humanoid_model.errors import InputError
from humanoid_sim.flexibility.sole_kernels import place_vertices
from humanoid_sim.flexibility.stiffness import surface_compliance
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh


class DeformableSole:
    r"""Linear, quasi-static elasticity on top of the rigid motion of a link (specification 000 §17.1).

    All vectors are in the frame of the body that the sole is glued to. The displacements are a function of the last
    contact forces, positive along the forces on the sole; without forces the sole is at rest.

    Attributes:
        vertices: surface nodes at rest, the free ones first [m], shape (k, 3).
        free: number of free ones.
        triangles: of the surface, counter-clockwise from outside, shape (s, 3).
        S: compliance of the free nodes [m/N], shape (3 free, 3 free).
        U: displacements of the free nodes, the state [m], shape (3 free,).
        source: file that the mesh comes from.
    """

    def __init__(
        self,
        mesh: TetrahedralMesh,
        materials: Material | Mapping[str, Material],
        placement: pin.SE3 | None = None,
    ) -> None:
        """Condense a mesh to its surface.

        Args:
            mesh: the body of the sole.
            materials: one material, or one per part of the mesh.
            placement: mesh frame in the frame of the body; the identity if not given.

        Raises:
            InputError: materials that don't fit the mesh, or a mesh without a free surface.
        """
        surface = surface_compliance(mesh, materials)
        where = pin.SE3.Identity() if placement is None else placement
        fixed = np.intersect1d(np.unique(mesh.surface), mesh.fixed)
        order = np.concatenate([surface.nodes, fixed])
        number = np.full(len(mesh.nodes), -1)
        number[order] = np.arange(len(order))
        self.vertices: NDArray[np.float64] = np.ascontiguousarray(
            mesh.nodes[order] @ where.rotation.T + where.translation
        )
        self.free = len(surface.nodes)
        self.triangles: NDArray[np.int64] = np.ascontiguousarray(number[mesh.surface])
        blocks = surface.S.reshape(self.free, 3, self.free, 3)
        turned = np.einsum("ij,ajbk,lk->aibl", where.rotation, blocks, where.rotation, optimize=True)
        S = turned.reshape(3 * self.free, 3 * self.free)
        self.S: NDArray[np.float64] = np.ascontiguousarray(0.5 * (S + S.T))
        self.U: NDArray[np.float64] = np.zeros(3 * self.free)
        self.source = mesh.source

    def world_vertices(self, placement: pin.SE3) -> NDArray[np.float64]:
        """Return vertices of the deformed sole in the world [m], shape (k, 3).

        Args:
            placement: frame of the body in the world.
        """
        world = np.empty_like(self.vertices)
        place_vertices(placement.rotation, placement.translation, self.vertices, self.U, world)
        return world

    def deformed_mesh(self, magnification: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the surface as it is now, to be displayed in the frame of the body.

        Args:
            magnification: of the displacements, to make small ones visible.

        Returns:
            Vertices [m], shape (k, 3), and triangles, shape (s, 3).

        Raises:
            InputError: the magnification is not finite.
        """
        if not np.isfinite(magnification):
            raise InputError(
                f"magnification is {magnification}", element="magnification", remedy="Give a finite factor"
            )
        vertices = self.vertices.copy()
        vertices[: self.free] += magnification * self.U.reshape(-1, 3)
        return vertices, self.triangles.copy()

    @property
    def depth(self) -> float:
        """How deep something may press in before it counts as being on the other side: half of the thickness [m]."""
        return 0.5 * float(np.ptp(self.vertices, axis=0).min())

    @property
    def max_displacement(self) -> float:
        """How far the most displaced node is from its rest [m]."""
        return float(np.sqrt((self.U.reshape(-1, 3) ** 2).sum(axis=1).max()))
