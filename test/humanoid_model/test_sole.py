# SPDX-License-Identifier: Apache-2.0
"""The section of a robot's YAML that declares its soles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.contact import ContactLocation
from humanoid_model.errors import InputError, RobotError
from humanoid_model.sole import RUBBER, BlockSole, Material, MeshSole, RoundedSole, Sole, TwoPadSole, read_soles
from humanoid_model.yaml_node import read_yaml


def test_lame_constants_of_the_specification() -> None:
    """Specification 000 §17.7."""
    assert RUBBER.shear_modulus == pytest.approx(1.071429e6, rel=1e-6)
    assert RUBBER.lame_lambda == pytest.approx(4.285714e6, rel=1e-6)
    assert Material(3e6, 0.25).shear_modulus == pytest.approx(1.2e6)
    assert Material(3e6, 0.25).lame_lambda == pytest.approx(1.2e6)


@pytest.mark.parametrize(("E", "nu"), [(0.0, 0.3), (-1.0, 0.3), (np.nan, 0.3), (1e6, 0.5), (1e6, np.nan), (1e6, -1.0)])
def test_impossible_materials(E: float, nu: float) -> None:
    with pytest.raises(InputError, match=r"Young's modulus|Poisson's ratio"):
        Material(E, nu)


PATCH = np.array([[-0.11, -0.065], [0.11, -0.065], [0.11, 0.065], [-0.11, 0.065]])
UNDER = pin.SE3(np.eye(3), np.array([0.03, 0.0, -0.105]))
CONTACTS = {"right_sole": ContactLocation("right_sole", "RLEG_LINK5", UNDER, PATCH, support=True)}
MATERIAL = "material: {young_modulus: 3e6, poisson_ratio: 0.4}"
BLOCK = "shape: {type: block, size: [0.22, 0.13, 0.02], cells: [8, 5, 2]}"


def read(tmp_path: Path, *lines: str, contact: str = "right_sole") -> dict[str, Sole]:
    path = tmp_path / "robot.yaml"
    path.write_text("\n".join([f"{contact}:", *(f"  {line}" for line in lines)]))
    return read_soles(read_yaml(path, RobotError), CONTACTS, tmp_path)


def test_a_block_glued_to_a_patch(tmp_path: Path) -> None:
    soles = read(tmp_path, BLOCK, MATERIAL, "xyz: [0.01, 0, 0]")
    assert list(soles) == ["right_sole"]
    sole = soles["right_sole"]
    assert sole.contact is CONTACTS["right_sole"]
    assert sole.shape == BlockSole((0.22, 0.13, 0.02), (8, 5, 2))
    assert sole.materials == {"sole": RUBBER}
    np.testing.assert_allclose(sole.placement_link_mesh.translation, [0.04, 0.0, -0.105])


def test_two_pads_of_another_material(tmp_path: Path) -> None:
    shape = "shape: {type: two_pads, size: [0.22, 0.13, 0.01], heel: 0.09, toe: 0.06, pad_height: 0.01, "
    materials = (
        "materials: {layer: {young_modulus: 3e6, poisson_ratio: 0.25}, pads: {young_modulus: 1e6, poisson_ratio: 0.25}}"
    )
    sole = read(tmp_path, shape + "cells: [8, 5, 1, 1]}", materials)["right_sole"]
    assert sole.shape == TwoPadSole((0.22, 0.13, 0.01), 0.09, 0.06, 0.01, (8, 5, 1, 1))
    assert sole.materials == {"layer": Material(3e6, 0.25), "pads": Material(1e6, 0.25)}


def test_rounded_and_meshed(tmp_path: Path) -> None:
    rounded = "shape: {type: rounded, size: [0.22, 0.13, 0.02], cells: [8, 5, 2], radius: 0.015}"
    assert read(tmp_path, rounded, MATERIAL)["right_sole"].shape == RoundedSole((0.22, 0.13, 0.02), (8, 5, 2), 0.015)
    meshed = "shape: {type: mesh, path: meshes/sole.msh, scale: 0.001}"
    sole = read(tmp_path, meshed, "materials: {foam: {young_modulus: 1e6, poisson_ratio: 0.3}}")["right_sole"]
    assert sole.shape == MeshSole(tmp_path / "meshes/sole.msh", "fixed", 0.001)
    assert sole.materials == {"foam": Material(1e6, 0.3)}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((MATERIAL,), "right_sole: lacks 'shape'"),
        ((BLOCK,), "needs either 'material' or 'materials'"),
        ((BLOCK, MATERIAL, "materials: {sole: {young_modulus: 1, poisson_ratio: 0}}"), "needs either"),
        ((BLOCK, MATERIAL, "colour: red"), "colour: unknown key"),
        (("shape: {size: [1, 1, 1], cells: [1, 1, 1]}", MATERIAL), "lacks 'type'"),
        (("shape: {type: slipper}", MATERIAL), "is 'slipper'"),
        (("shape: {type: block, size: [1, 1, 1]}", MATERIAL), "lacks 'cells'"),
        (("shape: {type: block, size: [1, 1, 1], cells: [1, 1, 1], radius: 1}", MATERIAL), "radius: a sole of type"),
        (("shape: {type: block, size: [1, 0, 1], cells: [1, 1, 1]}", MATERIAL), "Give positive lengths"),
        (("shape: {type: block, size: [1, 1, 1], cells: [1, 1.5, 1]}", MATERIAL), "Give whole numbers"),
        (
            ("shape: {type: rounded, size: [1, 1, 0.1], cells: [1, 1, 1], radius: 0.1}", MATERIAL),
            "less than the height",
        ),
        (
            (
                "shape: {type: two_pads, size: [1, 1, 1], heel: 0.6, toe: 0.5, pad_height: 1, cells: [1, 1, 1, 1]}",
                MATERIAL,
            ),
            "heel and toe are 1.1 m",
        ),
        ((BLOCK, "material: {young_modulus: 3e6}"), "lacks 'poisson_ratio'"),
        (
            (BLOCK, "material: {young_modulus: -1, poisson_ratio: 0.3}"),
            r"robot\.yaml:3: .*young_modulus: Young's modulus",
        ),
        ((BLOCK, "material: {young_modulus: 1, poisson_ratio: 0.5}"), "poisson_ratio: Poisson's ratio is 0.5"),
        ((BLOCK, "materials: {layer: {young_modulus: 1, poisson_ratio: 0}}"), "layer: unknown key"),
        ((BLOCK, "materials: {}"), "lacks 'sole'"),
        (("shape: {type: mesh, path: a.msh}", MATERIAL), "Give 'materials' by volume"),
    ],
)
def test_mistakes(tmp_path: Path, lines: tuple[str, ...], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        read(tmp_path, *lines)


def test_unknown_location(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="no contact location 'left_sole'"):
        read(tmp_path, BLOCK, MATERIAL, contact="left_sole")
