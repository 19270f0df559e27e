# SPDX-License-Identifier: Apache-2.0
"""A deformable sole glued to a rigid link: what is computed once, and its state.

The stiffness matrix of linear tetrahedra is reduced to the surface that may touch (specification 000 §§17.4 and 17.5);
a force at a point of a triangle is shared among its three nodes (§18); a sole must be thick enough to stay elastic
(§19, thesis §4.6.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix, csc_matrix
from scipy.sparse.linalg import splu

from humanoid_model.closest_point import closest_on_triangle
from humanoid_model.errors import InputError
from humanoid_model.sole import Material
from humanoid_sim.flexibility.sole_kernels import place_vertices
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


def barycentric_weights(triangles: ArrayLike, points: ArrayLike) -> NDArray[np.float64]:
    """Return weights of the points of triangles closest to given points.

    Args:
        triangles: corners [m], shape (m, 3, 3).
        points: shape (m, 3).

    Returns:
        Weights that sum to 1, shape (m, 3).

    Raises:
        InputError: wrong shapes, numbers that are not finite, a triangle without area.
    """
    corners, x = np.asarray(triangles, dtype=float), np.asarray(points, dtype=float)
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or x.shape != (len(corners), 3):
        raise InputError(
            f"triangles have shape {corners.shape}, points {x.shape}",
            element="triangles",
            remedy="Give (m, 3, 3) and (m, 3)",
        )
    if not (np.all(np.isfinite(corners)) and np.all(np.isfinite(x))):
        raise InputError("a coordinate is not finite", element="triangles", remedy="Give finite positions")
    edges = corners[:, [1, 2]] - corners[:, [0, 0]]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    flat = area <= 1e-12 * np.max(np.sum(edges**2, axis=2), axis=1, initial=0.0)
    if np.any(flat):
        raise InputError(
            f"triangle {int(np.argmax(flat))} has no area", element="triangles", remedy="Give three corners apart"
        )
    weights = np.empty((len(corners), 3))
    for triangle, point, row in zip(corners, x, weights, strict=True):
        closest_on_triangle(triangle[0], triangle[1], triangle[2], point, row)
    return weights


def distribution_matrix(nodes: NDArray[np.int64], weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    r"""Matrix P with :math:`u_p = P\,U` and :math:`F = P^T f_p` (thesis equations 4.27 to 4.29).

    Sum and moment of the forces are kept: each weight is that of the point between the nodes.

    Args:
        nodes: of the triangle of each contact point, shape (m, 3).
        weights: barycentric weights of each contact point, shape (m, 3).
        count: number of nodes in U.

    Returns:
        Shape (3m, 3 count).
    """
    P = np.zeros((len(nodes), 3, count, 3))
    for i, (triangle, row) in enumerate(zip(nodes, weights, strict=True)):
        for node, weight in zip(triangle, row, strict=True):
            P[i, :, node, :] += weight * np.eye(3)
    return P.reshape(3 * len(nodes), 3 * count)


def minimum_thickness(max_displacement: float, elastic_limit: float, material: Material) -> float:
    r"""Thickness at which the strain, displacement over thickness, reaches the elastic limit :math:`\sigma_{el}/E`.

    Args:
        max_displacement: of any node of the sole, see ``DeformableSole.max_displacement`` [m].
        elastic_limit: stress up to which the material returns to its shape [Pa].
        material: of the sole.

    Returns:
        The least thickness [m].

    Raises:
        InputError: a negative displacement, or an elastic limit that is not positive.
    """
    if not (np.isfinite(max_displacement) and max_displacement >= 0.0):
        raise InputError(
            f"max_displacement is {max_displacement}",
            element="max_displacement",
            remedy="Give a length in metres, 0 or more",
        )
    if not (np.isfinite(elastic_limit) and elastic_limit > 0.0):
        raise InputError(
            f"elastic_limit is {elastic_limit}", element="elastic_limit", remedy="Give a positive stress in Pa"
        )
    return max_displacement * material.young_modulus / elastic_limit


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
