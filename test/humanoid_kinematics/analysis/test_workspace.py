# SPDX-License-Identifier: Apache-2.0
"""Workspaces against areas that are known."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.analysis.workspace import reachable_points, section
from humanoid_kinematics.solver.commands import ToolGoal
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError


def arm(tmp_path):
    path = tmp_path / "arm.mad"
    path.write_text(
        "RAFF v1.1 test\nsensor 0 { }\nrobot arm {\nbase { }\n"
        "link 1 { parameters { theta 0 r 0 alpha 0 d 0 } type 2 pred 0 filename ( auto ) }\n"
        "link 2 { parameters { theta 90 r 0 alpha 0 d 300 } type 2 pred 1 limits { 0 170 } filename ( auto ) }\n"
        "frame 3 { pos { 200 0 0 } ori { 0 0 0 } pred 2 filename ( ) }\n}\n"
    )
    return MechanismSolver(load_mechanism(path))


@pytest.mark.feature("002-F167")
def test_section_of_an_arm_is_the_ring_between_its_radii(tmp_path):
    solver = arm(tmp_path)
    before = solver.q.copy()
    found = section(solver, "frame_3", pin.SE3.Identity(), 0.02, measure=lambda at: at.q[1])
    inner = np.sqrt(0.3**2 + 0.2**2 - 2 * 0.3 * 0.2 * np.cos(np.radians(10)))
    assert found.complete
    assert found.area == pytest.approx(np.pi * (0.5**2 - inner**2), rel=0.03)
    radii = np.linalg.norm(found.points, axis=1)
    assert inner - 1e-6 <= radii.min() <= radii.max() <= 0.5 + 1e-6
    # What is measured belongs to its cell: the elbow's angle by the law of cosines.
    elbow = np.arccos((radii**2 - 0.3**2 - 0.2**2) / (2 * 0.3 * 0.2))
    np.testing.assert_allclose(found.values, elbow, atol=1e-3)
    np.testing.assert_array_equal(solver.q, before)


def test_a_plane_out_of_reach_is_refused(tmp_path):
    with pytest.raises(InputError, match="isn't reached"):
        section(arm(tmp_path), "frame_3", pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0])), 0.05)


def test_a_section_larger_than_its_bound_says_so(tmp_path):
    assert not section(arm(tmp_path), "frame_3", pin.SE3.Identity(), 0.02, max_cells=50).complete


def test_points_drawn_of_a_closed_mechanism_are_where_its_loops_allow():
    solver = MechanismSolver(load_mechanism("hpr"))
    before = solver.q.copy()
    points = reachable_points(solver, "link_8", 100)
    assert len(points) > 60
    # The corner that the loop holds on the forearm: 600 from the shoulder's elbow, 200 behind it.
    radii = np.linalg.norm(points - [0.0, 0.0, 0.4], axis=1)
    assert 0.4 - 1e-9 <= radii.min() < 0.45
    assert 0.75 < radii.max() <= 0.8 + 1e-9
    np.testing.assert_array_equal(solver.q, before)


@pytest.mark.feature("002-F167")
@pytest.mark.slow
@pytest.mark.parametrize(("x", "area"), [(-700, 5.25), (-900, 4.81), (-1100, 2.82)])
def test_sections_of_the_cross_delta_orc_21(x, area):
    solver = MechanismSolver(load_mechanism("cross"))
    start = solver.placement("link_5").translation
    for t in np.linspace(0.0, 1.0, 20):
        goal = start + t * (np.array([x * 1e-3, 0.0, -0.3]) - start)
        solver.command(ToolGoal.position("link_5", goal))
    plane = pin.SE3(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([x * 1e-3, 0.0, 0.0]))
    assert section(solver, "link_5", plane, 0.02).area == pytest.approx(area, rel=0.02)
