# SPDX-License-Identifier: Apache-2.0
"""Shapes meshed by Gmsh."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_model.sole import RUBBER
from humanoid_sim.flexibility import DeformableSole
from humanoid_sim.flexibility.sole_mesh import mesh_geometry

pytest.importorskip("meshio")
try:
    import gmsh
except (ImportError, OSError) as problem:  # its wheel needs the system's drawing libraries
    pytest.skip(f"gmsh can't be loaded: {problem}", allow_module_level=True)

ROUNDED = """
SetFactory("OpenCASCADE");
Box(1) = {-30, -20, -20, 60, 40, 20};
bottom() = Curve In BoundingBox {-31, -21, -20.1, 31, 21, -19.9};
volume() = Fillet{1}{bottom()}{8};
Physical Volume("sole") = {volume()};
Physical Surface("fixed") = Surface In BoundingBox {-31, -21, -0.1, 31, 21, 0.1};
"""


@pytest.mark.feature("000-F126")
def test_a_block_with_fillets(tmp_path: Path) -> None:
    path = tmp_path / "sole.geo"
    path.write_text(ROUNDED)
    mesh = mesh_geometry(path, 8.0, scale=0.001)
    size = np.ptp(mesh.nodes, axis=0)
    np.testing.assert_allclose(size, [0.06, 0.04, 0.02], atol=1e-9)
    # along the edges a square less a quarter circle, at the corners a cube less what two cylinders share
    r = 0.008
    lost = 2 * (0.06 + 0.04 - 4 * r) * (1 - np.pi / 4) * r**2 + 4 / 3 * r**3
    assert mesh.volumes.sum() == pytest.approx(4.8e-5 - lost, rel=0.03)
    assert np.all(np.abs(mesh.nodes[mesh.fixed, 2]) < 1e-9)
    sole = DeformableSole(mesh, RUBBER)
    assert np.linalg.eigvalsh(sole.S)[0] > 0.0
    assert not gmsh.isInitialized()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Box(1) = {", "Gmsh can't mesh it"),
        (ROUNDED.replace('"fixed"', '"top"'), r"sole\.geo: fixed: there is no physical surface 'fixed'.*has top"),
        ("Point(1) = {0, 0, 0, 1};", r"sole\.geo: there are no linear tetrahedra"),
    ],
)
def test_geometries_that_make_no_sole(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sole.geo"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        mesh_geometry(path, 6.0)
    assert not gmsh.isInitialized()


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        mesh_geometry(tmp_path / "none.geo", 1.0)
    with pytest.raises(InputError, match="element_size is 0"):
        mesh_geometry(tmp_path / "none.geo", 0.0)
