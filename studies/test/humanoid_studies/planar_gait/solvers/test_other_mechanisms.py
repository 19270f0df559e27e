# SPDX-License-Identifier: Apache-2.0
"""Closed mechanisms that aren't walkers, optimised by the same call (specification 003, F-112 and F-115 to F-117)."""

import math

import casadi
import numpy as np
import pytest
from fixtures.planar_mechanisms import OBJECT_BETWEEN_ARMS, PEDALLING, SKATE_FEET, bar

from humanoid_studies.planar_gait import synthesize_phase
from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism
from humanoid_studies.planar_gait.mechanism.phase_model import AngleClosure, CutContact, CutForce
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Pivot, PlanarMechanism
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem


def closed(model, guess, angles, point=None, place=()):
    """Angles near a guess that close the loops, with some angles given and a point at its place, by Newton's method."""
    q = np.array(guess, dtype=float)
    index = [model.tree.index(name) for name in angles]
    for _ in range(60):
        rows = [(model.closure(q), model.closure_jacobian(q))]
        rows.append((q[index] - np.array(list(angles.values())), np.eye(model.n)[index]))
        if point is not None:
            rows.append((model.points[point].position(q) - place, model.points[point].jacobian(q)))
        residual, J = (np.concatenate(items) for items in zip(*rows, strict=True))
        q = q - np.linalg.pinv(J) @ residual
    assert np.abs(residual).max() < 1e-12
    return q


def solved(problem):
    solution = synthesize_phase(problem)
    assert solution.converged, solution.message
    assert solution.method == "pontryagin"
    assert solution.hamiltonian_spread < 1e-7
    # IPOPT's tolerance, 1e-6, counts where J is that small.
    np.testing.assert_allclose(solution.cost, solution.direct_cost, rtol=1e-3, atol=3e-6)
    assert solution.closure_gap.max() < 1e-4
    return solution


@pytest.mark.feature("003-F112", "003-F114")
def test_two_arms_squeeze_the_object_they_carry():
    """Hands only press on an object, and rub: the criterion finds the least squeeze that carries it (F-112)."""
    free = open_mechanism(OBJECT_BETWEEN_ARMS, ("B",), points={"centre": ("object", 0.15)})
    hand = {
        "cut_forces": (CutForce("F_n", "B", -1.0 + 0j, lower=5.0), CutForce("F_t", "B", 1j)),
        "contacts": (CutContact("B", ("F_n",), "F_t", 0.5),),
        "angle_closures": (AngleClosure("object", 0.0),),
    }
    start = closed(free, [2.2, 0.6, 0.0, 2.6, 0.9], {"object": 0.0}, "centre", (0.2, 0.4))
    end = closed(free, start, {"object": 0.0}, "centre", (0.3, 0.45))
    rest = np.zeros(free.n)
    costs = {}
    for model in (free, free.replace(**hand)):
        solution = solved(PhaseProblem(model, EndState(start, rest), EndState(end, rest), 0.6))
        costs[model.control_names[-2]] = solution.cost
        if model is free:  # held as by a hinge: the right hand pulls now and then
            assert solution.u[:, -1].max() > 1.0
        else:
            squeeze, rub = solution.u[:, -2], solution.u[:, -1]
            assert squeeze.min() > 5.0
            np.testing.assert_allclose(np.abs(rub).max(), 0.5 * squeeze[np.argmax(np.abs(rub))], rtol=1e-6)
            assert (np.abs(rub) <= 0.5 * squeeze * (1.0 + 1e-6)).all()
    assert costs["F_n"] > costs["F_B_y"]


@pytest.mark.feature("003-F115")
def test_pedalling_through_a_quarter_turn():
    """Two loops through one crank (F-115)."""
    model = open_mechanism(PEDALLING)
    level = {"left_foot": -0.2, "right_foot": -0.2}
    start = closed(model, [0.3, -0.4, -1.9, -0.2, -0.9, -2.1, -0.2], {"crank": 0.3, **level})
    end = closed(model, start, {"crank": 0.3 - math.pi / 2, **level})
    T, index = 0.25, [model.tree.index(name) for name in ("crank", "left_foot", "right_foot")]
    ends = []
    for q in (start, end):
        J = np.concatenate([model.closure_jacobian(q), np.eye(model.n)[index]])
        ends.append(EndState(q, np.linalg.solve(J, [0.0, 0.0, 0.0, 0.0, -0.5 * math.pi / T, 0.0, 0.0])))
    solution = solved(PhaseProblem(model, *ends, T))
    crank = solution.q[:, index[0]]
    assert (np.diff(crank) < 0.0).all()
    # Six torques, three of them more than the crank and feet need: none of it works against itself.
    null = model.redundancy(solution.q[100])
    assert null == 3


@pytest.mark.feature("003-F116")
def test_skate_feet_shift_their_weight():
    """Ankles driven at both ends of the loop; the front skate only presses (F-116)."""
    model = open_mechanism(SKATE_FEET, points={"hip": ("trunk", 0.0)})
    upright = {"trunk": math.pi / 2}
    start = closed(model, [1.2, 1.9, -2.2, -1.3, 1.57], upright, "hip", (0.15, 0.68))
    end = closed(model, start, upright, "hip", (0.3, 0.68))
    rest = np.zeros(model.n)
    solution = solved(PhaseProblem(model, EndState(start, rest), EndState(end, rest), 0.5))
    weight = model.tree.mass * model.tree.gravity
    share = solution.u[:, model.control_names.index("F_front_ankle_y")] / weight
    assert share.min() > 0.0
    assert share[-1] > share[0] + 0.2


@pytest.mark.feature("003-F117")
def test_catching_what_moves():
    """The hand ends where the object is, and as fast; the rest of the last state is chosen (F-117, section 2.24)."""
    arm = PlanarMechanism(
        "arm",
        (bar("upper", 0.4), bar("fore", 0.35), bar("hand", 0.15, 0.5)),
        (
            Pivot("shoulder", GROUND, 0.0, "upper", torque="C1"),
            Pivot("elbow", "upper", 0.4, "fore", torque="C2"),
            Pivot("wrist", "fore", 0.35, "hand", torque="C3"),
        ),
    )
    model = open_mechanism(arm, points={"palm": ("hand", 0.15)})
    palm, rest = model.points["palm"], np.zeros(3)
    place, speed = np.array([0.55, 0.2]), np.array([-0.4, -1.0])

    def caught(e, q, v):
        gap = e.tree.position(palm, q) - casadi.DM(place)
        return casadi.vertcat(gap, casadi.mtimes(e.tree.jacobian(palm, q), v) - casadi.DM(speed))

    names = model.tree.coordinates
    start = EndState(np.array([-1.4, -0.6, -0.3]), rest)
    free = EndState(np.array([-0.5, 1.0, 1.0]), rest, names, names, caught)
    best = solved(PhaseProblem(model, start, free, 0.5))
    np.testing.assert_allclose(palm.position(best.q[-1]), place, atol=1e-9)
    np.testing.assert_allclose(palm.jacobian(best.q[-1]) @ best.v[-1], speed, atol=1e-9)
    # Other ways to catch it cost more: turn the last hand a little and give the whole state.
    for turn in (-0.2, 0.2):
        q = best.q[-1].copy()
        for _ in range(30):
            gap = np.append(palm.position(q) - place, q[2] - best.q[-1][2] - turn)
            q = q - np.linalg.solve(np.concatenate([palm.jacobian(q), [[0.0, 0.0, 1.0]]]), gap)
        v = np.linalg.pinv(palm.jacobian(q)) @ speed
        given = synthesize_phase(PhaseProblem(model, start, EndState(q, v), 0.5))
        assert given.converged
        assert given.cost > best.cost
