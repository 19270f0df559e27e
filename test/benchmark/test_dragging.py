# SPDX-License-Identifier: Apache-2.0
"""Random dragging of every mechanism that ships: a second each, a minute each as slow tests; what it would notice."""

import numpy as np
import pytest

from benchmark import dragging
from benchmark.dragging import PinocchioGaps, drag
from humanoid_kinematics import MechanismSolver, load_mechanism, load_scene
from humanoid_model.files import list_resources

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")
ROBOTS = [
    (name, robot)
    for name in list_resources("urdf/mechanisms", (".mad",))
    for robot in (("left", "right") if name == "two_robots" else (None,))
]


def dragged(name, robot, seconds, seed):
    came = drag(load_mechanism(name, robot), seconds, seed)
    assert came.held
    assert came.ticks == seconds * dragging.RATE
    assert max(came.gap, came.checked_gap) < 1e-9
    assert came.longest < 1.0  # ten steps of 5 degrees, and their loops
    assert came.statuses["stuck"] + came.statuses["open"] < 0.01 * came.ticks


@pytest.mark.feature("002-F081", "002-F088")
@pytest.mark.parametrize(("name", "robot"), ROBOTS)
def test_random_dragging_opens_no_loop_and_crosses_no_limit(name, robot):
    dragged(name, robot, 1, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "robot"), ROBOTS)
def test_long_random_dragging_opens_no_loop_and_crosses_no_limit(name, robot):
    dragged(name, robot, 60, seed=1000)


def test_every_mechanism_that_ships_is_dragged():
    shipped = {(name, robot) for name, _ in ROBOTS for robot in load_scene(name).mechanisms}
    assert len(shipped) == len(ROBOTS)


def test_a_gap_is_what_pinocchio_says_and_an_open_loop_counts(monkeypatch):
    mechanism = load_mechanism("planar_hybrid")
    solver = MechanismSolver(mechanism)
    gaps = PinocchioGaps(mechanism, solver.length)
    assert gaps.largest(solver) < 1e-9
    solver.q = mechanism.initial.copy()  # as the file has it: 2.914 mm open (ORC-07)
    assert gaps.largest(solver) == pytest.approx(2.914209e-3 / solver.length, rel=1e-5)
    solver.open_loop(mechanism.loops[0].name)
    assert gaps.largest(solver) == 0.0
    monkeypatch.setattr(PinocchioGaps, "largest", lambda self, solver: 2e-6)
    assert drag(mechanism, 0.1, 0).opened == 10


def test_a_joint_beyond_its_limit_and_a_number_that_is_not_finite_count(monkeypatch):
    class Careless(MechanismSolver):
        def command(self, *commands):
            motion = super().command(*commands)
            motion.q[0] = np.nan if len(seen) % 2 else 1e3
            seen.append(motion)
            return motion

    seen = []
    monkeypatch.setattr(dragging, "MechanismSolver", Careless)
    came = drag(load_mechanism("macdac"), 0.1, 0)
    assert (came.crossed, came.not_finite) == (50, 50)
    assert not came.held
