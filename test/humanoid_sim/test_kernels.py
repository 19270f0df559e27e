# SPDX-License-Identifier: Apache-2.0
"""Kernels divide by zero and count references alike, whoever compiles them first."""

import re
from pathlib import Path

import numpy as np
import pytest

import humanoid_sim
from humanoid_sim import Simulation

SOURCES = sorted(Path(humanoid_sim.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_kernel_names_its_error_model(path):
    """Numba lets a kernel inherit the error model of the caller that compiles it first, which is chance."""
    for decorator in re.findall(r"^@(?:njit|apart)\([^)]*\)", path.read_text(), re.MULTILINE):
        assert 'error_model="numpy"' in decorator


@pytest.mark.parametrize("floor", ["contact", "delassus", "detection", "dynamics", "stepping"])
def test_every_kernel_of_a_step_says_whether_it_counts_references(floor):
    """That is inherited too: a kernel that makes arrays couldn't be compiled within one that counts nothing."""
    for path in SOURCES:
        if path.parent.name == floor:
            assert "@njit" not in path.read_text(), f"{path.name}: take counted or uncounted"


def test_a_planar_robot_whose_contacts_have_no_inertia_across_its_plane_stands():
    simulation = Simulation("bip_planar")
    simulation.run(0.05)
    assert np.isfinite(simulation.q).all()
    assert simulation.contacts.force[:, 2].sum() > 0.0
