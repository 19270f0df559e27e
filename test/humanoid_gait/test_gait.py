# SPDX-License-Identifier: Apache-2.0
"""A walk in space keeps everything that Pinocchio can tell, its cycle closes, and what can't be is refused by name."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from humanoid_gait import Cycle, GaitProblem, GaitResult, GaitSolver, Phase, State, WalkRequest, hold_of, repeated
from humanoid_gait.guess import posture_guess, unknowns_guess
from humanoid_gait.motion import phase_points
from humanoid_gait.transcription import Transcription
from humanoid_model import InputError, Robot, load_robot
from humanoid_model.ground_profile import LEVEL
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.progress import Progress

pytestmark = pytest.mark.feature("003-F031")


@pytest.fixture(scope="module")
def bip() -> Robot:
    return load_robot("bip", geometry=False)


@pytest.fixture(scope="module")
def walk(bip: Robot) -> GaitResult:
    return GaitSolver(WalkRequest(0.25, intervals=(4, 10)).problem(bip)).solve()


def test_a_step_in_space_walks(walk: GaitResult) -> None:
    assert walk.success, walk.report()
    assert sum(walk.durations) == pytest.approx(walk.motion.duration)


def test_the_stride_repeats_further_on(walk: GaitResult, bip: Robot) -> None:
    motion = walk.motion
    links = [bip.link_placements(motion.q[k]) for k in (0, -1)]
    for name in bip.parts.links:
        before, after = (places[name].translation for places in links)
        np.testing.assert_allclose(after, before + np.array([0.5, 0.0, 0.0]), atol=1e-3)
    np.testing.assert_allclose(motion.v[-1], motion.v[0], atol=1e-2)


def test_three_strides_walk_as_one_does(walk: GaitResult) -> None:
    assert isinstance(walk.problem.end, Cycle)
    motion = repeated(walk.motion, walk.problem.end, 3)
    assert motion.duration == pytest.approx(3.0 * walk.motion.duration)
    assert judge_motion(motion, LEVEL, 0.6) == ()


def test_what_cannot_be_is_refused(bip: Robot) -> None:
    one = Phase((hold_of(bip, "right_sole", (0.0, -0.1)),), 0.5)
    other = Phase((hold_of(bip, "right_sole", (0.3, -0.1)),), 0.5)
    with pytest.raises(InputError, match="'right_sole' jumps"):
        GaitProblem(bip, [one, other])
    with pytest.raises(InputError, match="duration"):
        Phase((), float("nan"))
    with pytest.raises(InputError, match="'five_bar': has loops, closed by O5"):
        GaitSolver(GaitProblem(load_robot("five_bar"), [Phase((), 0.5)]), postures=np.zeros((21, 4)))
    with pytest.raises(InputError, match="no joint 'tail'"):
        GaitProblem(bip, [one], end=State(bip.default_posture, free_v=("tail",)))
    with pytest.raises(InputError, match="least force is -1"):
        dataclasses.replace(hold_of(bip, "right_sole", (0.0, 0.0)), least=-1.0)
    with pytest.raises(InputError, match="friction is nan"):
        hold_of(bip, "right_sole", (0.0, 0.0), friction=float("nan"))
    with pytest.raises(InputError, match="no contact location 'nose'"):
        hold_of(bip, "nose", (0.0, 0.0))
    step = WalkRequest(0.3).problem(bip).end
    assert isinstance(step, Cycle)
    with pytest.raises(InputError, match="start: is given for a cycle"):
        GaitProblem(bip, [one], State(bip.default_posture), step)


def test_samples_at_the_ends_of_phases_keep_forces_in_their_cones() -> None:
    problem = WalkRequest(0.3, intervals=(2, 3)).problem(load_robot("bip_planar", geometry=False))
    postures = posture_guess(problem)
    program = Transcription(problem, postures)
    layout, point, n = program.layout, program.points[0], program.model.n
    x = unknowns_guess(program, postures)
    forces = layout.stages(0)[0, layout.state + 2 * n :].reshape(2, point.multipliers)
    one, other = point.slices
    x[forces[:, one]] *= np.array([0.0, 3.0])[:, None]  # carried on to the start they pull
    x[forces[:, other]] *= 2.0
    start = phase_points(program, x, 0).zeta[0]
    rows, _ = point.first()(start, point.parameters)
    values = np.asarray(rows).ravel()
    assert (start[3 * n :] >= point.least - 1e-9).all()
    assert (values >= point.lower - 1e-6).all()
    assert (values <= point.upper + 1e-6).all()


def test_threads_of_blas_do_not_wait_for_each_other_while_it_solves(bip: Robot) -> None:
    """Matrices of stages are small: with a thread for each of two cores solving took five times as long."""

    def threads() -> list[int]:
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    seen: list[int] = []

    def look(_: Progress) -> bool:
        seen.extend(threads())
        return True

    with threadpool_limits(2, "blas"):
        before = threads()
        GaitSolver(WalkRequest(0.2, intervals=(2, 3)).problem(bip)).solve(progress=look)
        assert threads() == before
    assert set(seen) == {1}
