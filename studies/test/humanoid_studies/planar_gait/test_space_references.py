# SPDX-License-Identifier: Apache-2.0
"""The numbers that gaits in space are held to are what this engine finds.

``PYTHONPATH=test:studies:. scripts/run python`` with this file writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.gait_models import RABBIT
from fixtures.gait_problems import CASES, oracle_problem

from humanoid_studies.planar_gait import PhaseProblem, synthesize_phase
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.optimal_control.end_state import EndState

pytestmark = pytest.mark.feature("003-F093")

FILE = Path(__file__).parents[4] / "test/fixtures/space_references.json"
SIDES = {"stance": "rear", "swing": "front"}


def problems() -> dict[str, PhaseProblem]:
    """The reference problems, and four of them changed (section 4.6b)."""
    found = {case: oracle_problem(case) for case in CASES}
    first, tips = found["5bar_A"], found["rabbit_dsp"]
    bounds = {f"C{i}": (-15.0, 15.0) for i in range(1, 6)}
    end = EndState(first.end.q, first.end.v, free_v=first.model.tree.coordinates)
    found["5bar_A, 15 N m"] = first.replace(model=first.model.with_bounds(**bounds))
    found["5bar_A, free end"] = first.replace(end=end)
    for friction in (0.3, 0.15):
        cone = RABBIT.double_support(0.45, friction=friction)
        found[f"rabbit_dsp, friction {friction}"] = tips.replace(model=cone)
    return found


def reference(problem: PhaseProblem) -> dict[str, Any]:
    """What is written of a problem and its solution."""
    solution = synthesize_phase(problem)
    assert solution.converged
    ends = [
        {
            "state": [*solution.q[k], *solution.v[k]],
            "costates": gradient(problem, solution.q[k], solution.v[k], solution.costates[k]),
        }
        for k in (0, -1)
    ]
    return {
        "duration": problem.duration,
        "start": [*problem.start.q, *problem.start.v],
        "end": [*problem.end.q, *problem.end.v],
        "joints": joints(problem.model),
        "cost": solution.cost,
        "ends": ends,
        "hamiltonian": float(np.mean(solution.hamiltonian)),
    }


def gradient(problem: PhaseProblem, q: np.ndarray, v: np.ndarray, w: np.ndarray) -> list[float]:
    """(2 n,) gradient of the cost to come by angles and rates, of the costates by angles and momenta."""
    tree, n, step = problem.model.tree, len(q), 1e-6
    turned = [(tree.momentum(q + step * e, v) - tree.momentum(q - step * e, v)) / (2.0 * step) for e in np.eye(n)]
    by_q = w[:n] + np.array(turned) @ w[n:]
    return [*(-by_q).tolist(), *(-tree.mass_matrix(q) @ w[n:]).tolist()]


def joints(model: PhaseModel) -> dict[str, tuple[int, int | None, float]]:
    """A walker's joints: the angle that counts, the one that is taken off, and what is added [rad]."""
    if not model.joint_names or "trunk" not in model.tree.coordinates:
        return {}
    offset = model.robot_angles(np.zeros((1, model.n)))[0]
    A = model.robot_angles(np.eye(model.n)) - offset
    found: dict[str, tuple[int, int | None, float]] = {}
    for name, row, add in zip(model.joint_names, A.T, offset, strict=True):
        side, _, kind = name.partition("_")
        less = np.flatnonzero(row < -0.5)
        found[f"{SIDES.get(side, side)}_{kind}"] = (
            int(np.flatnonzero(row > 0.5)[0]), int(less[0]) if len(less) else None, float(add)
        )  # fmt: skip
    return found


@pytest.mark.parametrize(
    "case",
    [
        case if case in ("5bar_A", "5bar_A, 15 N m") else pytest.param(case, marks=pytest.mark.slow)
        for case in problems()
    ],
)
def test_the_numbers_are_what_is_found(case: str) -> None:
    written, found = json.loads(FILE.read_text())[case], reference(problems()[case])
    assert written["cost"] == pytest.approx(found["cost"], rel=1e-7)
    assert written["hamiltonian"] == pytest.approx(found["hamiltonian"], abs=1e-5)
    for name in ("duration", "start", "end"):
        np.testing.assert_allclose(written[name], found[name], atol=1e-12)
    assert list(written["joints"]) == list(found["joints"])
    for name, (angle, less, added) in found["joints"].items():
        assert written["joints"][name] == [angle, less, pytest.approx(added)]
    for own, other in zip(written["ends"], found["ends"], strict=True):
        scale = np.abs(other["costates"]).max()
        np.testing.assert_allclose(own["state"], other["state"], atol=1e-5)
        np.testing.assert_allclose(own["costates"], other["costates"], atol=1e-5 * scale)


if __name__ == "__main__":
    FILE.write_text(json.dumps({case: reference(problem) for case, problem in problems().items()}, indent=1) + "\n")
