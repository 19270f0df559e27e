# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fixtures.gait_problems import oracle_problem

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait import synthesize_phase
from humanoid_studies.planar_gait.mechanism.phase_model import Joint, PhaseModel, Torque
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree
from humanoid_studies.planar_gait.solvers.minimum_time import time_path


def rotor(**joint):
    tree = PlanarTree.from_bodies([PlanarBody("rotor", None, 0.0, 1.0, 0.0, 2.0)])
    joints = (Joint("hinge", "rotor", None, **joint),)
    return PhaseModel("rotor", tree, (Torque("C", "rotor", None, -30.0, 30.0),), joints=joints)


LINE = np.linspace(0.0, 1.0, 5)[:, None]


@pytest.mark.feature("003-F100")
def test_a_rotor_speeds_up_and_brakes():
    """T = 2 sqrt(angle I / torque), full torque one way, then the other (Bobrow et al. 1983)."""
    timing = time_path(rotor(), LINE)
    assert timing.converged
    np.testing.assert_allclose(timing.duration, 2.0 * math.sqrt(2.0 / 30.0), rtol=1e-4)
    np.testing.assert_allclose(timing.u[:, 0], np.where(timing.s[:-1] < 0.5, 30.0, -30.0), atol=0.01)
    np.testing.assert_allclose(np.interp(0.5 * timing.duration, timing.t, timing.q[:, 0]), 0.5, atol=1e-3)


def test_a_rate_limit_makes_it_coast():
    """With w the greatest rate: T = angle / w + w I / torque."""
    timing = time_path(rotor(rate_limit=2.0), LINE, 400)
    np.testing.assert_allclose(timing.duration, 1.0 / 2.0 + 2.0 * 2.0 / 30.0, rtol=1e-4)
    assert timing.v.max() <= 2.0 + 1e-6


@pytest.mark.feature("003-F100")
def test_a_pendulum_needs_what_energy_says():
    """Lifted by a torque that is less than its weight's at the horizontal: without speed it gets nowhere."""
    tree = PlanarTree.from_bodies([PlanarBody("rod", None, 0.0, 2.0, 0.5, 0.1)])
    model = PhaseModel("pendulum", tree, (Torque("C", "rod", None, -6.0, 6.0),))
    path = np.linspace(-math.pi / 2, math.pi / 2, 9)[:, None]  # from hanging to standing
    assert not time_path(model, path).converged
    # Full torque all the way leaves least energy where it just balances the weight again, cos(angle) = 6 / (m g a).
    inertia, weight = 0.1 + 2.0 * 0.5**2, 2.0 * 9.81 * 0.5
    worst = math.acos(6.0 / weight)
    missing = weight * (1.0 + math.sin(worst)) - 6.0 * (worst + math.pi / 2)
    needed = math.sqrt(2.0 * missing / inertia) / math.pi  # as s'
    assert not time_path(model, path, start_rate=0.99 * needed).converged
    assert time_path(model, path, start_rate=1.01 * needed).converged


def test_the_five_bar_along_the_path_of_least_effort():
    """The path of least effort takes 0.42 s; its own peak torques allow less, some control always at its bound."""
    problem = oracle_problem("5bar_A")
    solution = synthesize_phase(problem)
    peak = np.abs(solution.u).max(axis=0)
    bounds = {name: (-p, p) for name, p in zip(problem.model.control_names, peak, strict=True)}
    model = problem.model.with_bounds(**bounds)
    s = np.linspace(0.0, 1.0, 41)
    q = np.stack([np.interp(s, solution.t / solution.duration, column) for column in solution.q.T], axis=1)
    timing = time_path(model, q, 200, 0.0, 0.0)
    assert timing.converged
    assert 0.2 < timing.duration < 0.43
    used = np.abs(timing.u) / peak
    assert used.max() <= 1.0 + 1e-6
    assert (used.max(axis=1) > 0.999).mean() > 0.9
    # The controls bring the motion about.
    v, t = timing.v, timing.t
    middle = 0.5 * (timing.q[1:] + timing.q[:-1])
    a = np.diff(v, axis=0) / np.diff(t)[:, None]
    acceleration = model.acceleration(middle, 0.5 * (v[1:] + v[:-1]), timing.u)
    inner = slice(20, -20)
    np.testing.assert_allclose(acceleration[inner], a[inner], atol=0.02 * np.abs(a).max())


def test_what_cannot_be_timed():
    model = oracle_problem("5bar_A").model
    with pytest.raises(InputError, match="torque 'C1' has no bounds"):
        time_path(model, np.zeros((4, 4)))
    bounded = model.with_bounds(**{f"C{k}": (-20.0, 20.0) for k in range(1, 6)})
    with pytest.raises(InputError, match="open the loop by"):
        time_path(bounded, np.linspace([0.0, 0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8], 6))
    with pytest.raises(InputError, match="shape"):
        time_path(bounded, np.zeros((2, 4)))
    with pytest.raises(InputError, match="shape"):
        time_path(bounded, np.full((3, 4), math.nan))
    with pytest.raises(InputError, match="start_rate: is -1"):
        time_path(rotor(), LINE, start_rate=-1.0)
    with pytest.raises(InputError, match="damped"):
        time_path(rotor(damping=1.0), LINE)
