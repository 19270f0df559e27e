# SPDX-License-Identifier: Apache-2.0
"""Reserves of a level walk that follow from the robot: wide feet, knees that bend backwards, weak ankles."""

import dataclasses
import math

import numpy as np
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.violation import ViolationKind
from humanoid_studies.planar_gait.lift.level_walk import (
    LAST,
    TORQUE_SHARE,
    knee_reserve,
    level_lift,
    level_phases,
    level_settings,
    level_step,
    level_walk,
    level_walker,
    with_reserves,
)
from humanoid_studies.planar_gait.lift.lifted_gait import lift_gait
from humanoid_studies.planar_gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseStatus
from humanoid_studies.planar_gait.solvers.synthesize import synthesize_phase
from humanoid_studies.planar_gait.solvers.synthesize_gait import phase_problem, synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, plan_phase, walk_through


def changed_bip(directory, changes, contacts=()):
    """BIP2000 with parts of its URDF and YAML replaced, each as often as told."""
    for name, replaced in (("bip.urdf", changes), ("bip.yaml", contacts)):
        text = find_resource(f"urdf/{name}").read_text(encoding="utf-8")
        for old, new, count in replaced:
            assert text.count(old) == count
            text = text.replace(old, new)
        (directory / name).write_text(text, encoding="utf-8")
    return project_to_sagittal_plane(load_robot(directory / "bip.urdf", geometry=False))


def wide_bip(directory, half_width=0.14):
    """Hips and feet further apart, and knees that bend backwards a little, as Unitree's G1 has them."""
    return changed_bip(
        directory,
        [
            ('<origin xyz="0 -0.11 0"/>', f'<origin xyz="0 -{half_width} 0"/>', 1),
            ('<origin xyz="0 0.11 0"/>', f'<origin xyz="0 {half_width} 0"/>', 1),
            ('<limit lower="0" upper="1.41"', '<limit lower="-0.1" upper="1.41"', 2),
        ],
    )


def test_bip2000_has_the_reserves_its_walk_was_made_with():
    projection = project_to_sagittal_plane(load_robot("bip", geometry=False))
    assert level_lift(projection).inset == pytest.approx(0.02)
    assert knee_reserve(projection) == pytest.approx(0.33, abs=1e-4)


def test_knees_bend_so_much_that_a_leg_leaning_by_the_sway_still_reaches(tmp_path):
    """Legs of 0.82 m: what spans l upright spans sqrt(l² + d²) over the other foot."""
    projection = wide_bip(tmp_path)
    reserve, sway = knee_reserve(projection), 0.14 - 0.02
    upright, leaning = (0.82 * math.cos(0.5 * flexion) for flexion in (reserve, 0.245))
    assert math.hypot(upright, sway) == pytest.approx(leaning)
    assert with_reserves(projection).bip.joints["knee"].lower == pytest.approx(reserve)  # whatever the range begins at


def test_narrow_soles_have_a_smaller_inset(tmp_path):
    narrow = "patch: [[-0.12, -0.03], [0.17, -0.04], [0.17, 0.04], [-0.12, 0.03]]}"
    wide = "patch: [[-0.12, -0.06], [0.17, -0.09], [0.17, 0.09], [-0.12, 0.06]]}"
    assert level_lift(changed_bip(tmp_path, [], [(wide, narrow, 2)])).inset == pytest.approx(0.01)


def test_feet_too_far_apart_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"sways by 0\.8"):
        with_reserves(wide_bip(tmp_path, 0.87))


@pytest.mark.feature("003-F031")
def test_a_robot_with_wide_feet_walks(tmp_path):
    """With BIP2000's own reserves, counted from the end of the knee's range, its legs were too short for the sway."""
    projection = with_reserves(wide_bip(tmp_path))
    robot, last = projection.robot, level_step(LAST, projection)
    gait = synthesize_gait(
        level_walker(projection), walk_through((last,), last.rest, last.rest, 0.7, 0.6), level_settings(projection)
    )
    assert gait.converged
    lifted = lift_gait(
        gait, projection, dataclasses.replace(level_lift(projection), period=0.01, standing=(1.2, 1.0))
    )
    assert lifted.margin > 0.02
    assert lifted.filter_errors[-1] < 1e-3
    sway = np.ptp(np.concatenate([phase.q[:, 1] for phase in lifted.phases]))
    assert sway > 0.18  # BIP2000's is 0.14 m
    knees = np.concatenate([phase.q[:, robot.index_q(f"{side}_knee")] for phase in lifted.phases for side in "lr"])
    assert 0.245 < knees.min() < 0.35


@pytest.mark.feature("003-F101")
def test_a_stride_that_leaves_the_loop_open_is_not_called_converged():
    """HRP-2 at 0.7 of its stride: the front heel is 20 mm off the place where it stands at the end of the phase."""
    projection = with_reserves(project_to_sagittal_plane(load_robot("hrp2", geometry=False)))
    walker, settings = level_walker(projection), level_settings(projection)
    steady = next(spec for spec in level_phases(projection, 1, 0.7)[3:] if spec.kind is PhaseKind.DOUBLE_SUPPORT)
    planned = plan_phase(walker, steady)
    solution = synthesize_phase(phase_problem(walker, planned, settings), settings.synthesis)
    assert solution.status is PhaseStatus.LIMIT_VIOLATION
    (gap,) = (item for item in solution.violations if item.kind is ViolationKind.CLOSURE)
    heel = planned.model.points["front_heel"].position(solution.q)
    off = np.hypot(*(heel - heel[-1]).T).max()
    assert off > 0.02
    assert gap.excess == pytest.approx(1e3 * off, abs=1e-3)
    assert f"closure gap exceeded by {1e3 * off:.3g} mm" in solution.message


@pytest.mark.parametrize(("changes", "words"), [({"stride": 1.2}, "stride"), ({"swing": 0.0}, "duration")])
def test_strides_and_swings_that_make_no_sense_are_refused(changes, words):
    projection = with_reserves(project_to_sagittal_plane(load_robot("bip", geometry=False)))
    with pytest.raises(InputError, match=words):
        level_walk(projection, 1, **changes)


def test_joints_of_the_plane_keep_within_a_share_of_their_efforts(tmp_path):
    """Weak ankles, of a tenth of what they have: the bounds of the controls are a share of that."""
    ankle = '<limit lower="-0.64" upper="0.64" effort="250"'
    projection = changed_bip(tmp_path, [(ankle, ankle.replace("250", "25"), 2)])
    walker = level_walker(projection)
    model = walker.single_support()
    bounds = dict(zip(model.control_names, model.control_upper, strict=True))
    assert bounds == {
        name: pytest.approx(TORQUE_SHARE * effort)
        for name, effort in {"C01": 25.0, "C12": 400.0, "C26": 300.0, "C63": 300.0, "C34": 400.0, "C45": 25.0}.items()
    }
    np.testing.assert_array_equal(model.control_lower, -model.control_upper)
    double = walker.double_support(level_step(LAST, projection).step)
    bounds = dict(zip(double.control_names, double.control_upper, strict=True))
    assert bounds["C12"] == bounds["C56"] == pytest.approx(20.0)
    assert bounds["C37"] == pytest.approx(TORQUE_SHARE * 300.0)
    assert bounds["F_B1"] == math.inf
