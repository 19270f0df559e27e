# SPDX-License-Identifier: Apache-2.0
"""Stiffness matrix of linear tetrahedra and its reductions (specification 000 §§17.4 and 17.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csc_matrix
from scipy.sparse.linalg import splu

from humanoid_model.elastic_material import Material
from humanoid_model.errors import InputError
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh


def dofs(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Coordinates x, y, z of each node in a vector of all nodes' coordinates, shape (3k,)."""
    return (3 * np.asarray(nodes, dtype=np.int64)[:, None] + np.arange(3)).reshape(-1)


def assemble_stiffness(mesh: TetrahedralMesh, materials: Material | Mapping[str, Material]) -> csc_matrix:
    r"""Stiffness matrix :math:`\sum V_i B_i^T C_i B_i` of all nodes (thesis equations 4.8 and 4.9).

    Args:
        mesh: the body.
        materials: one material, or one per part of the mesh by name.

    Returns:
        Symmetric positive semi-definite, with six zero eigenvalues per connected piece [N/m], shape (3n, 3n).

    Raises:
        InputError: a part without a material, or a material for a part that isn't there.
    """
    if not isinstance(materials, Material):
        for name in (*mesh.parts, *materials):
            if name not in materials or name not in mesh.parts:
                raise InputError(
                    f"the part '{name}' has no {'material' if name in mesh.parts else 'tetrahedra'}",
                    source=mesh.source,
                    element="materials",
                    remedy=f"Give a material for each of {', '.join(mesh.parts)}",
                )
    by_part = [materials if isinstance(materials, Material) else materials[name] for name in mesh.parts]
    mu = np.array([material.shear_modulus for material in by_part])[mesh.part_of]
    lam = np.array([material.lame_lambda for material in by_part])[mesh.part_of]

    count = len(mesh.tetrahedra)
    corners = np.ones((count, 4, 4))
    corners[:, :, 1:] = mesh.nodes[mesh.tetrahedra]
    gradients = np.linalg.inv(corners)[:, 1:, :]  # (t, xyz, node)
    B = np.zeros((count, 6, 4, 3))  # strains xx, yy, zz, xy, yz, zx; shears are engineering shears
    for strain, (first, second) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))):
        B[:, strain, :, first] = gradients[:, second]
        B[:, strain, :, second] = gradients[:, first]
    strain_matrices = B.reshape(count, 6, 12)
    C = np.zeros((count, 6, 6))
    C[:, :3, :3] = lam[:, None, None] + 2.0 * mu[:, None, None] * np.eye(3)
    C[:, 3:, 3:] = mu[:, None, None] * np.eye(3)
    elements = mesh.volumes[:, None, None] * (strain_matrices.transpose(0, 2, 1) @ C @ strain_matrices)
    index = dofs(mesh.tetrahedra.reshape(-1)).reshape(count, 12)
    rows = np.repeat(index, 12, axis=1).reshape(-1)
    columns = np.tile(index, (1, 12)).reshape(-1)
    size = 3 * len(mesh.nodes)
    return coo_matrix((elements.reshape(-1), (rows, columns)), shape=(size, size)).tocsc()


def eliminate_fixed(K: csc_matrix, fixed: NDArray[np.int64]) -> tuple[csc_matrix, NDArray[np.int64]]:
    """Return stiffness of the free nodes (thesis equations 4.10 and 4.11).

    Args:
        K: stiffness of all nodes, shape (3n, 3n).
        fixed: nodes that can't move, shape (k,).

    Returns:
        Positive definite stiffness, shape (3(n-k), 3(n-k)), and the free nodes, ascending, shape (n-k,).
    """
    free = np.setdiff1d(np.arange(K.shape[0] // 3), fixed)
    kept = dofs(free)
    return K[kept][:, kept].tocsc(), free


@dataclass(frozen=True, eq=False)
class SurfaceCompliance:
    r"""How the free nodes of the surface give way to forces on them.

    By the identity :math:`K_c^{-1} = [(K^r)^{-1}]_{cc}` the compliance of any contact nodes is a selection of rows
    and columns of this matrix.

    Attributes:
        nodes: free nodes of the surface, ascending, shape (k,).
        S: compliance, symmetric positive definite [m/N], shape (3k, 3k).
    """

    nodes: NDArray[np.int64]
    S: NDArray[np.float64]

    def of(self, selection: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the compliance of some of these nodes [m/N].

        Args:
            selection: positions in :attr:`nodes`, shape (m,).
        """
        kept = dofs(selection)
        return self.S[np.ix_(kept, kept)]


def surface_compliance(mesh: TetrahedralMesh, materials: Material | Mapping[str, Material]) -> SurfaceCompliance:
    """Condense a body to its free surface nodes (thesis equations 4.12 to 4.14), once for all.

    Raises:
        InputError: materials that don't fit the parts, or no free node on the surface.
    """
    K, free = eliminate_fixed(assemble_stiffness(mesh, materials), mesh.fixed)
    nodes = np.setdiff1d(np.unique(mesh.surface), mesh.fixed)
    if nodes.size == 0:
        raise InputError(
            "all nodes of the surface are fixed", source=mesh.source, element="fixed", remedy="Leave some free"
        )
    kept = dofs(np.searchsorted(free, nodes))
    loads = np.zeros((K.shape[0], kept.size))
    loads[kept, np.arange(kept.size)] = 1.0
    S = splu(K).solve(loads)[kept]
    return SurfaceCompliance(nodes, 0.5 * (S + S.T))


def condense(K: NDArray[np.float64], kept: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Return stiffness of some nodes when there are no forces on the others (thesis equations 4.14 and 4.20).

    Args:
        K: stiffness [N/m], shape (3n, 3n).
        kept: the nodes, shape (m,).

    Returns:
        :math:`K_{cc} - K_{cn} K_{nn}^{-1} K_{nc}`, shape (3m, 3m).
    """
    c = dofs(kept)
    n = np.setdiff1d(np.arange(len(K)), c)
    return np.asarray(K[np.ix_(c, c)] - K[np.ix_(c, n)] @ np.linalg.solve(K[np.ix_(n, n)], K[np.ix_(n, c)]))


def displacements(
    K: NDArray[np.float64], contact: NDArray[np.int64], forces: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Return displacements of all nodes under forces on some, in two steps as thesis equation (4.22).

    Args:
        K: stiffness of the nodes [N/m], shape (3n, 3n).
        contact: nodes with forces, shape (m,).
        forces: on those [N], shape (3m,).

    Returns:
        Shape (3n,): :math:`U_c = K_c^{-1} F_c` at the contacts, :math:`-K_{nn}^{-1} K_{nc} U_c` elsewhere.
    """
    c = dofs(contact)
    n = np.setdiff1d(np.arange(len(K)), c)
    U = np.zeros(len(K))
    U[c] = np.linalg.solve(condense(K, contact), forces)
    U[n] = -np.linalg.solve(K[np.ix_(n, n)], K[np.ix_(n, c)] @ U[c])
    return U
