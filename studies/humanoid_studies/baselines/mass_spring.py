# SPDX-License-Identifier: Apache-2.0
"""Masses and springs on the edges of a mesh: the usual shortcut, as a baseline (thesis equation 4.1).

The springs know no material: how stiff the body is depends on the mesh, and explicit steps must be short.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix, csc_matrix, diags
from scipy.sparse.linalg import eigsh, spsolve

from humanoid_model.checks import check_number, check_positive
from humanoid_model.errors import SimulationError
from humanoid_sim.flexibility.deformable_sole import dofs, eliminate_fixed
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh


class MassSpringBody:
    r"""A body of point masses and springs, :math:`M\ddot x + C\dot x + K x = F`, its fixed nodes held.

    Attributes:
        mesh: nodes at rest and edges.
        free: free nodes, shape (k,).
        K: stiffness of the free nodes about the rest, shape (3k, 3k) [N/m].
        masses: of the free nodes [kg], shape (k,).
        U: displacements of the free nodes [m], shape (3k,).
        velocity: their velocities [m/s], shape (3k,).
    """

    def __init__(self, mesh: TetrahedralMesh, density: float, stiffness: float, damping: float) -> None:
        """Put a mass on each node and a spring on each edge.

        Args:
            mesh: the body.
            density: a quarter of each tetrahedron's mass goes to each of its nodes [kg/m^3].
            stiffness: of each spring [N/m].
            damping: :math:`C` is this times :math:`M` [1/s].

        Raises:
            InputError: a density or stiffness that is not positive, a negative damping.
        """
        check_positive(density, "density")
        check_positive(stiffness, "stiffness")
        check_number(damping, "damping")
        self.mesh = mesh
        self.K, self.free = eliminate_fixed(_spring_stiffness(mesh, stiffness), mesh.fixed)
        masses = np.zeros(len(mesh.nodes))
        np.add.at(masses, mesh.tetrahedra.reshape(-1), np.repeat(0.25 * density * mesh.volumes, 4))
        self.masses: NDArray[np.float64] = masses[self.free]
        self.damping = damping
        self.U: NDArray[np.float64] = np.zeros(3 * len(self.free))
        self.velocity: NDArray[np.float64] = np.zeros_like(self.U)

    def loads(self, nodes: NDArray[np.int64], force: ArrayLike) -> NDArray[np.float64]:
        """Return a force shared evenly among free nodes, as a load on all free nodes [N], shape (3k,)."""
        out = np.zeros_like(self.U)
        out[dofs(np.searchsorted(self.free, nodes))] = np.tile(np.asarray(force, dtype=float) / len(nodes), len(nodes))
        return out

    def rest_under(self, loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Displacements in static equilibrium [m], shape (3k,)."""
        return np.asarray(spsolve(self.K, loads))

    @property
    def longest_step(self) -> float:
        """Time step beyond which :meth:`step` diverges without damping: 2 over the highest frequency [s]."""
        scale = diags(1.0 / np.sqrt(np.repeat(self.masses, 3)))
        highest = eigsh(scale @ self.K @ scale, k=1, which="LM", return_eigenvectors=False)[0]
        return float(2.0 / np.sqrt(highest))

    def step(self, loads: NDArray[np.float64], dt: float) -> None:
        """Advance by one semi-implicit Euler step.

        Raises:
            SimulationError: the step was too long, displacements grew beyond all bounds.
        """
        acceleration = (loads - self.K @ self.U) / np.repeat(self.masses, 3) - self.damping * self.velocity
        self.velocity = self.velocity + dt * acceleration
        self.U = self.U + dt * self.velocity
        if not np.abs(self.U).max() < 1e3 * np.ptp(self.mesh.nodes, axis=0).max():
            raise SimulationError(
                f"the springs diverged: take steps shorter than {self.longest_step:.3g} s, or softer springs"
            )


def _spring_stiffness(mesh: TetrahedralMesh, stiffness: float) -> csc_matrix:
    pairs = mesh.tetrahedra[:, [0, 0, 0, 1, 1, 2, 1, 2, 3, 2, 3, 3]].reshape(-1, 2, 6).transpose(0, 2, 1).reshape(-1, 2)
    edges = np.unique(np.sort(pairs, axis=1), axis=0)
    along = mesh.nodes[edges[:, 1]] - mesh.nodes[edges[:, 0]]
    along /= np.linalg.norm(along, axis=1)[:, None]
    block = stiffness * along[:, :, None] * along[:, None, :]
    elements = np.block([[block, -block], [-block, block]])
    index = dofs(edges.reshape(-1)).reshape(-1, 6)
    rows, columns = np.repeat(index, 6, axis=1), np.tile(index, (1, 6))
    size = 3 * len(mesh.nodes)
    return coo_matrix((elements.reshape(-1), (rows.reshape(-1), columns.reshape(-1))), shape=(size, size)).tocsc()
