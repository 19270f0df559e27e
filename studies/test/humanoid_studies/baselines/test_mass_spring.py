# SPDX-License-Identifier: Apache-2.0
"""The mass-spring baseline: trends of a beam, and what is wrong with it."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.errors import InputError, SimulationError
from humanoid_sim.flexibility.tetrahedral_mesh import block_mesh
from humanoid_studies.baselines.mass_spring import MassSpringBody


def beam(length: float, stiffness: float = 1e4, cells: int = 2) -> MassSpringBody:
    """A beam of 1 cm by 1 cm that hangs from its end."""
    layers = round(length / 0.005 * cells / 2)
    return MassSpringBody(block_mesh((0.01, 0.01, length), (cells, cells, layers)), 1000.0, stiffness, 20.0)


def tip_deflection(body: MassSpringBody, axis: int = 0) -> float:
    tip = np.flatnonzero(body.mesh.nodes[:, 2] == body.mesh.nodes[:, 2].min())
    U = body.rest_under(body.loads(tip, np.eye(3)[axis])).reshape(-1, 3)
    return float(U[np.searchsorted(body.free, tip), axis].mean())


@pytest.mark.feature("000-F124")
def test_deflection_grows_with_the_cube_of_the_length() -> None:
    """As a slender beam's does: eight times for twice the length, up to shear."""
    lengths = np.array([0.1, 0.2, 0.4])
    deflections = [tip_deflection(beam(length)) for length in lengths]
    powers = np.diff(np.log(deflections)) / np.diff(np.log(lengths))
    assert np.all((powers > 2.85) & (powers < 3.02))
    assert powers[1] > powers[0]


def test_deflection_is_inverse_to_the_stiffness() -> None:
    assert tip_deflection(beam(0.1, 3e4)) == pytest.approx(tip_deflection(beam(0.1, 1e4)) / 3.0)


def test_the_same_springs_on_a_finer_mesh_are_another_body() -> None:
    """The drawback that the thesis names: no material behind the springs."""
    assert tip_deflection(beam(0.1, cells=4), axis=2) < 0.8 * tip_deflection(beam(0.1, cells=2), axis=2)


def test_motion_ends_in_the_static_shape_and_diverges_beyond_the_longest_step() -> None:
    body = beam(0.03)
    tip = np.flatnonzero(body.mesh.nodes[:, 2] == body.mesh.nodes[:, 2].min())
    load = body.loads(tip, [0.01, 0.0, 0.0])
    dt = 0.9 * body.longest_step
    for _ in range(round(1.0 / dt)):
        body.step(load, dt)
    np.testing.assert_allclose(body.U, body.rest_under(load), atol=1e-3 * np.abs(body.U).max())
    too_long = 1.1 * body.longest_step

    def go_on() -> None:
        for _ in range(5000):
            body.step(load, too_long)

    with pytest.raises(SimulationError, match="springs diverged: take steps shorter than"):
        go_on()


@pytest.mark.feature("000-F124")
def test_mass_of_a_body() -> None:
    body = beam(0.1)
    assert body.masses.sum() == pytest.approx(1000.0 * 1e-5 * (1 - 1 / 40), rel=1e-9)  # the rest hangs on fixed nodes


@pytest.mark.parametrize("wrong", [{"density": 0.0}, {"stiffness": -1.0}, {"damping": -1.0}, {"damping": np.nan}])
def test_bad_numbers(wrong: dict) -> None:
    arguments = {"density": 1.0, "stiffness": 1.0, "damping": 0.0, **wrong}
    with pytest.raises(InputError, match=f"{next(iter(wrong))}: is"):
        MassSpringBody(block_mesh((1, 1, 1), (1, 1, 1)), **arguments)
