# SPDX-License-Identifier: Apache-2.0
"""Assembly modes of the planar 3-RPR robot, and its change of mode without a singularity (ORC-14)."""

from itertools import pairwise

import numpy as np
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.solver.assembly_modes import assembly_modes
from humanoid_kinematics.solver.commands import JointGoal
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_model.progress import CancelledWorkError

MODES = [
    (-8.6792, 12.2095, -56.7414),
    (-5.4496, -13.9536, -2.6971),
    (-14.8836, 1.6969, 13.8778),
    (-13.3611, -6.7736, 33.9382),
    (14.9202, -1.3376, 57.2898),
    (14.6723, -3.0208, 122.3021),
]
SLIDERS = ("joint_2", "joint_5", "joint_8")
MM = 1e-3


def platform(solver):
    placement = solver.placement("link_3")
    angle = np.degrees(np.arctan2(placement.rotation[1, 0], placement.rotation[0, 0]))
    return *(placement.translation[:2] / MM), angle


@pytest.mark.feature("002-F194")
def test_all_six_modes_of_the_3_rpr_robot_are_found_and_none_twice():
    solver = MechanismSolver(load_mechanism("innocenti"))
    before = solver.q.copy()
    modes = assembly_modes(solver, SLIDERS, starts=150)
    np.testing.assert_array_equal(solver.q, before)
    assert sum(mode.found for mode in modes) > 100
    places = []
    for mode in modes:
        assert solver.close(mode.q).closed
        places.append(platform(solver))
        assert mode.margin > 1e-3
    assert len(places) == len(MODES)
    for expected in MODES:
        assert min(np.abs(np.subtract(place, expected)).max() for place in places) < 1e-3


def test_modes_of_a_mechanism_with_one_way_of_going_together():
    solver = MechanismSolver(load_mechanism("hpr"))
    modes = assembly_modes(solver, ("joint_1", "joint_2", "joint_3", "joint_4", "joint_5"), starts=40)
    assert len(modes) == 2  # the parallelogram and the crossed one
    placements = []
    for mode in modes:
        solver.close(mode.q)
        placements.append(solver.placement("link_7").translation)
    assert np.linalg.norm(placements[0] - placements[1]) > 0.01


def test_search_can_be_cancelled():
    solver = MechanismSolver(load_mechanism("innocenti"))
    with pytest.raises(CancelledWorkError):
        assembly_modes(solver, SLIDERS, progress=lambda item: item.fraction > 0.1)


@pytest.mark.feature("002-F080", "002-F085", "002-F194")
@pytest.mark.parametrize(
    ("path", "start", "end"),
    [
        ([(15.38, 12.04), (10.6, 21.6), (11.4, 32.9), (21.3, 33.9), (15.38, 12.04)], 3, 2),
        ([(15.38, 12.04), (32.9, 23.5), (39.1, 21.9), (28.7, 14.1), (15.38, 12.04)], 2, 6),
        ([(15.38, 12.04), (16.8, 8.8), (16.4, 5.8), (15.3, 3.0), (14.1, 1.5), (12.9, 5.3), (15.38, 12.04)], 1, 4),
    ],
)
def test_a_closed_cycle_of_the_drives_ends_in_another_mode_orc_14(path, start, end):
    solver = MechanismSolver(load_mechanism("innocenti"), SolverOptions(reach=1e-9))
    for mode in assembly_modes(solver, SLIDERS, starts=150):
        solver.close(mode.q)
        if np.abs(np.subtract(platform(solver), MODES[start - 1])).max() < 1e-3:
            break
    smallest, passive = np.inf, [solver.mechanism.robot.index_v(f"joint_{n}") for n in (1, 3, 4, 6, 7, 9)]
    for a, b in pairwise(path):
        for t in np.linspace(0.0, 1.0, 101)[1:]:
            rho = (1.0 - t) * np.array(a) + t * np.array(b)
            goals = [JointGoal(joint, MM * value) for joint, value in zip(SLIDERS, (14.98, *rho), strict=True)]
            for _ in range(5):
                motion = solver.command(*goals)
                if motion.status != "moving":
                    break
            assert motion.status == "reached"
            J = solver.scaled_loop_jacobian()[:, passive]
            smallest = min(smallest, np.linalg.svd(J, compute_uv=False)[-1])
    np.testing.assert_allclose(platform(solver), MODES[end - 1], atol=1e-3)
    assert smallest > 0.01  # no singularity on the way
