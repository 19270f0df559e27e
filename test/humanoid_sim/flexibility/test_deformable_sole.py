# SPDX-License-Identifier: Apache-2.0
"""The stiffness matrix against closed forms; forces shared among nodes; thickness; what a sole keeps."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize
from scipy.sparse.linalg import spsolve

from humanoid_model.errors import InputError
from humanoid_model.sole import RUBBER, Material
from humanoid_sim.flexibility import DeformableSole
from humanoid_sim.flexibility.deformable_sole import (
    assemble_stiffness,
    barycentric_weights,
    condense,
    displacements,
    distribution_matrix,
    dofs,
    eliminate_fixed,
    minimum_thickness,
    surface_compliance,
)
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh, block_mesh, grid_mesh

SIZE = (0.22, 0.13, 0.02)
COMPRESSIBLE = Material(3e6, 0.25)
# pressure, punch that may slide, bonded punch, lateral bonded [N/m]: specification 000 §17.7
ORACLES = [
    ((4, 3, 1), RUBBER, (7.775568e6, 7.954615e6, 9.192857e6, 1.532143e6)),
    ((8, 5, 2), RUBBER, (7.185961e6, 7.324243e6, 8.492946e6, 1.527415e6)),
    ((11, 7, 2), RUBBER, (7.078833e6, 7.252946e6, 8.422958e6, 1.525654e6)),
    ((8, 5, 2), COMPRESSIBLE, (4.946107e6, 4.956200e6, 5.088538e6, 1.706346e6)),
    ((8, 5, 2), Material(1e6, 0.25), (4.946107e6 / 3, 4.956200e6 / 3, 5.088538e6 / 3, 1.706346e6 / 3)),
]


def random_mesh(seed: int = 3) -> TetrahedralMesh:
    """A block whose inner nodes are moved at random."""
    rng = np.random.default_rng(seed)
    mesh = block_mesh((0.3, 0.2, 0.1), (4, 3, 3))
    nodes = mesh.nodes.copy()
    inner = np.setdiff1d(np.arange(len(nodes)), mesh.surface)
    nodes[inner] += rng.uniform(-0.01, 0.01, (len(inner), 3))
    return TetrahedralMesh(nodes, mesh.tetrahedra, mesh.fixed)


def block_stiffnesses(mesh: TetrahedralMesh, material: Material) -> tuple[float, ...]:
    """The four rows of the table, from the surface compliance."""
    surface = surface_compliance(mesh, material)
    lowest = mesh.nodes[:, 2].min()
    load = np.zeros(3 * len(mesh.nodes))
    for triangle in mesh.surface:
        corners = mesh.nodes[triangle]
        if np.all(corners[:, 2] == lowest):
            area = 0.5 * np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0]))
            load[3 * triangle + 2] += area / 3.0 / (SIZE[0] * SIZE[1])
    F = load.reshape(-1, 3)[surface.nodes].reshape(-1)
    assert F.sum() == pytest.approx(1.0)
    C = surface.of(np.flatnonzero(mesh.nodes[surface.nodes, 2] == lowest))
    vertical, lateral = (np.tile(axis, len(C) // 3) for axis in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    return (
        1.0 / (F @ surface.S @ F),
        float(np.linalg.inv(C[2::3, 2::3]).sum()),
        float(vertical @ np.linalg.solve(C, vertical)),
        float(lateral @ np.linalg.solve(C, lateral)),
    )


@pytest.mark.feature("000-F125", "000-F127")
@pytest.mark.parametrize(("cells", "material", "expected"), ORACLES)
def test_stiffness_of_the_sole(cells: tuple[int, int, int], material: Material, expected: tuple[float, ...]) -> None:
    mesh = block_mesh(SIZE, cells)
    assert mesh.volumes.sum() == pytest.approx(5.72e-4, rel=1e-12)
    assert block_stiffnesses(mesh, material) == pytest.approx(expected, rel=2e-7)


def test_one_layer_bonded_is_the_closed_form() -> None:
    """Without inner nodes the strain is uniform: constrained modulus and shear modulus, times area over height."""
    area, height = SIZE[0] * SIZE[1], SIZE[2]
    for material in (RUBBER, COMPRESSIBLE):
        _, _, bonded, lateral = block_stiffnesses(block_mesh(SIZE, (4, 3, 1)), material)
        modulus = material.lame_lambda + 2.0 * material.shear_modulus
        assert bonded == pytest.approx(modulus * area / height, rel=1e-10)
        assert lateral == pytest.approx(material.shear_modulus * area / height, rel=1e-10)


@pytest.mark.feature("000-F130")
def test_two_layers_bonded_are_springs_in_series() -> None:
    """Fixed sideways, two layers of two materials press like their constrained moduli in series."""
    soft, hard = Material(1e6, 0.25), Material(3e6, 0.4)
    parts = np.zeros((1, 1, 2), dtype=np.int64)
    parts[:, :, 1] = 1
    mesh = grid_mesh([0.0, 0.1], [0.0, 0.1], [0.0, 0.01, 0.03], parts, ("soft", "hard"))
    K, free = eliminate_fixed(assemble_stiffness(mesh, {"soft": soft, "hard": hard}), mesh.fixed)
    z = np.arange(2, 3 * len(free), 3)  # uniaxial strain: nothing moves sideways
    vertical = K[z][:, z].toarray()
    bottom = mesh.nodes[free, 2] == 0.0
    k = np.linalg.inv(np.linalg.inv(vertical)[np.ix_(bottom, bottom)]).sum()
    moduli = [m.lame_lambda + 2.0 * m.shear_modulus for m in (soft, hard)]
    assert k == pytest.approx(0.01 / (0.01 / moduli[0] + 0.02 / moduli[1]), rel=1e-10)


@pytest.mark.feature("000-F127")
def test_symmetric_with_six_rigid_modes() -> None:
    mesh = random_mesh()
    K = assemble_stiffness(mesh, RUBBER).toarray()
    size = np.abs(K).max()
    assert np.abs(K - K.T).max() < 1e-12 * size
    values = np.linalg.eigvalsh(K)
    assert np.abs(values[:6]).max() < 1e-10 * size
    assert values[6] > 1e-6 * size
    x, y, z = mesh.nodes.T
    zero, one = np.zeros_like(x), np.ones_like(x)
    modes = [(one, zero, zero), (zero, one, zero), (zero, zero, one), (zero, -z, y), (z, zero, -x), (-y, x, zero)]
    for mode in modes:
        assert np.abs(K @ np.column_stack(mode).reshape(-1)).max() < 1e-12 * size


@pytest.mark.feature("000-F125")
def test_patch_of_uniform_strain_needs_no_force_inside() -> None:
    mesh = random_mesh()
    K = assemble_stiffness(mesh, RUBBER)
    gradient = np.random.default_rng(0).normal(size=(3, 3))
    forces = (K @ (mesh.nodes @ gradient.T).reshape(-1)).reshape(-1, 3)
    inner = np.setdiff1d(np.arange(len(mesh.nodes)), mesh.surface)
    assert inner.size == 12
    assert np.abs(forces[inner]).max() < 1e-12 * np.abs(forces).max()


@pytest.mark.feature("000-F128")
def test_surface_moves_as_in_the_full_solve() -> None:
    mesh = random_mesh()
    K, free = eliminate_fixed(assemble_stiffness(mesh, RUBBER), mesh.fixed)
    surface = surface_compliance(mesh, RUBBER)
    F = np.random.default_rng(1).normal(size=(len(surface.nodes), 3))
    full = np.zeros((len(free), 3))
    full[np.searchsorted(free, surface.nodes)] = F
    U = spsolve(K, full.reshape(-1)).reshape(-1, 3)[np.searchsorted(free, surface.nodes)]
    np.testing.assert_allclose((surface.S @ F.reshape(-1)).reshape(-1, 3), U, rtol=0, atol=1e-12 * np.abs(U).max())
    assert np.array_equal(surface.S, surface.S.T)


@pytest.mark.feature("000-F129")
def test_contact_compliance_is_a_block_of_the_surface_compliance() -> None:
    surface = surface_compliance(random_mesh(), RUBBER)
    contact = np.array([1, 7, 8, 20])
    K_s = np.linalg.inv(surface.S)
    np.testing.assert_allclose(
        np.linalg.inv(condense(K_s, contact)), surface.of(contact), rtol=0, atol=1e-12 * surface.S.max()
    )


@pytest.mark.feature("000-F132")
def test_nodes_move_as_in_the_full_solve() -> None:
    """Thesis equation (4.22), contacts and other nodes."""
    mesh = random_mesh()
    K, free = eliminate_fixed(assemble_stiffness(mesh, RUBBER), mesh.fixed)
    contact = np.array([0, 3, 10])
    forces = np.random.default_rng(2).normal(size=9)
    F = np.zeros(3 * len(free))
    F[dofs(contact)] = forces
    expected = np.linalg.solve(K.toarray(), F)
    np.testing.assert_allclose(
        displacements(K.toarray(), contact, forces), expected, rtol=0, atol=1e-11 * np.abs(expected).max()
    )


def test_stiffness_is_linear_in_the_modulus_of_its_part() -> None:
    parts = np.array([[[0], [0]], [[1], [1]]], dtype=np.int64)
    mesh = grid_mesh([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [0.0, 1.0], parts, ("a", "b"))
    both = assemble_stiffness(mesh, {"a": Material(2.0, 0.3), "b": Material(2.0, 0.3)})
    harder = assemble_stiffness(mesh, {"a": Material(2.0, 0.3), "b": Material(6.0, 0.3)})
    change = (harder - both).toarray()
    only_a = np.setdiff1d(mesh.tetrahedra[mesh.part_of == 0], mesh.tetrahedra[mesh.part_of == 1])
    only_b = np.setdiff1d(mesh.tetrahedra[mesh.part_of == 1], mesh.tetrahedra[mesh.part_of == 0])
    assert np.abs(change[dofs(only_a)]).max() == 0.0
    np.testing.assert_allclose(change[dofs(only_b)], 2.0 * both.toarray()[dofs(only_b)], atol=1e-12)


def test_materials_must_fit_the_parts() -> None:
    mesh = block_mesh(SIZE, (1, 1, 1))
    with pytest.raises(InputError, match="part 'sole' has no material"):
        assemble_stiffness(mesh, {})
    with pytest.raises(InputError, match="part 'pad' has no tetrahedra"):
        assemble_stiffness(mesh, {"sole": RUBBER, "pad": RUBBER})


@pytest.mark.feature("000-F134")
def test_sum_and_moment_are_kept() -> None:
    rng = np.random.default_rng(0)
    triangles = rng.normal(size=(50, 3, 3))
    weights = rng.dirichlet(np.ones(3), size=50)
    points = np.einsum("ij,ijk->ik", weights, triangles)
    found = barycentric_weights(triangles, points)
    np.testing.assert_allclose(found, weights, atol=1e-12)
    forces = rng.normal(size=(50, 3))
    on_nodes = found[:, :, None] * forces[:, None, :]
    np.testing.assert_allclose(on_nodes.sum(axis=1), forces, atol=1e-14)
    np.testing.assert_allclose(np.cross(triangles, on_nodes).sum(axis=1), np.cross(points, forces), atol=1e-12)


def test_triangles_whose_plane_holds_the_origin() -> None:
    """The inverse of thesis equation (4.25) does not exist there."""
    triangle = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.1, -0.1, 0.0]])
    assert np.linalg.det(triangle) == 0.0
    weights = barycentric_weights([triangle], [[0.01, -0.02, 0.0]])[0]
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ triangle, [0.01, -0.02, 0.0], atol=1e-15)


def test_closest_points_by_minimisation() -> None:
    """Points beside and over the triangle: faces, edges and corners all occur."""
    rng = np.random.default_rng(1)
    triangles, points = rng.normal(size=(60, 3, 3)), 2.0 * rng.normal(size=(60, 3))
    weights = barycentric_weights(triangles, points)
    assert weights.min() > -1e-15
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)
    assert {int((row > 1e-12).sum()) for row in weights} == {1, 2, 3}
    for corners, x, row in zip(triangles, points, weights, strict=True):
        best = minimize(
            lambda w, c=corners, x=x: np.sum((w @ c - x) ** 2),
            np.full(3, 1 / 3),
            bounds=[(0.0, 1.0)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
        )
        assert np.linalg.norm(row @ corners - x) == pytest.approx(np.sqrt(best.fun), abs=1e-4)


@pytest.mark.feature("000-F134")
def test_two_contacts_that_share_an_edge() -> None:
    """Thesis equation (4.29): nodes 1, 2, 3 for the first point and 1, 2, 4 for the second."""
    d = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    P = distribution_matrix(np.array([[0, 1, 2], [0, 1, 3]]), d, 4)
    expected = np.kron([[0.2, 0.3, 0.5, 0.0], [0.6, 0.3, 0.0, 0.1]], np.eye(3))
    np.testing.assert_array_equal(P, expected)
    forces = np.arange(6.0)
    np.testing.assert_allclose((P.T @ forces).reshape(4, 3).sum(axis=0), forces.reshape(2, 3).sum(axis=0))


@pytest.mark.parametrize(
    ("triangles", "points", "message"),
    [
        (np.zeros((1, 3, 3)), np.zeros((1, 3)), "triangle 0 has no area"),
        (np.array([[[0, 0, 0], [1, 1, 1], [2, 2, 2.0]]]), np.zeros((1, 3)), "triangle 0 has no area"),
        (np.full((1, 3, 3), np.nan), np.zeros((1, 3)), "not finite"),
        (np.zeros((2, 3, 3)), np.zeros((1, 3)), "have shape"),
    ],
)
def test_bad_triangles(triangles: np.ndarray, points: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        barycentric_weights(triangles, points)


@pytest.mark.feature("000-F138")
def test_thickness_from_the_elastic_limit() -> None:
    """A displacement of 1 mm and a limit of 5 % strain ask for 2 cm."""
    assert minimum_thickness(0.001, 0.15e6, Material(3e6, 0.4)) == pytest.approx(0.02)
    assert minimum_thickness(0.0, 0.15e6, Material(3e6, 0.4)) == 0.0


@pytest.mark.parametrize(("displacement", "limit"), [(-1e-3, 1e5), (np.nan, 1e5), (1e-3, 0.0), (1e-3, np.inf)])
def test_bad_numbers(displacement: float, limit: float) -> None:
    with pytest.raises(InputError, match=r"max_displacement is|elastic_limit is"):
        minimum_thickness(displacement, limit, Material(3e6, 0.4))


MESH = block_mesh((0.22, 0.13, 0.02), (4, 3, 2))


def test_geometry_and_compliance_are_in_the_frame_of_the_link() -> None:
    placement = pin.SE3.Random()
    sole, plain = DeformableSole(MESH, RUBBER, placement), surface_compliance(MESH, RUBBER)
    for i in range(sole.free):
        np.testing.assert_allclose(sole.vertices[i], placement.act(MESH.nodes[plain.nodes[i]]), atol=1e-15)
    turn = np.kron(np.eye(sole.free), placement.rotation)
    np.testing.assert_allclose(sole.S, turn @ plain.S @ turn.T, atol=1e-12 * plain.S.max())
    assert np.linalg.eigvalsh(sole.S)[0] > 0.0


def test_triangles_keep_their_places() -> None:
    sole = DeformableSole(MESH, RUBBER)
    np.testing.assert_array_equal(sole.vertices[sole.triangles], MESH.nodes[MESH.surface])
    assert {tuple(v) for v in sole.vertices[sole.free :]} == {tuple(MESH.nodes[i]) for i in MESH.fixed}


def test_deformed_mesh_for_display() -> None:
    sole = DeformableSole(MESH, RUBBER)
    rest, _ = sole.deformed_mesh()
    np.testing.assert_array_equal(rest, sole.vertices)
    sole.U[4] = 0.002
    vertices, triangles = sole.deformed_mesh(3.0)
    moved = np.flatnonzero((vertices != rest).any(axis=1))
    assert moved.tolist() == [1]
    np.testing.assert_allclose(vertices[1] - rest[1], [0.0, 0.006, 0.0], atol=1e-15)
    assert sole.max_displacement == pytest.approx(0.002)
    vertices[:], triangles[:] = 0.0, 0  # copies: the sole is not touched
    assert sole.vertices.any()
    assert sole.triangles.any()
    with pytest.raises(InputError, match="magnification is nan"):
        sole.deformed_mesh(np.nan)
