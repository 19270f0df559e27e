# SPDX-License-Identifier: Apache-2.0
"""Experiment E22: the thesis' solvers on HRP-2 on 16 contacts, beside its table 5.1 (specification 000 §27, N21)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from humanoid_sim.contact.solve import ContactProblem, solve_contacts
from humanoid_sim.delassus.constraint_rows import tangents
from humanoid_sim.simulation import Simulation
from humanoid_sim.stepping.options import KEYWORDS
from humanoid_studies.simulator.experiment_result import ExperimentResult, Row

MILLISECONDS = {
    "AMELIFGS": 0.057611,
    "AMELIFGSNEWTON": 0.347008,
    "AC": 14.6426,
    "FIXEDPOINT": 14.92765,
    "PROJECTION": 0.181587,
    "AMELIFLCP": 0.071642,
    "LEMKE": 0.188781,
    "QP": 0.078202,
}
"""Of table 5.1; those of the family LCP are without friction."""
FRICTIONLESS = {"AMELIFLCP": "lemke_frictionless", "LEMKE": "lemke_frictionless", "QP": "qp_frictionless"}
"""What the family LCP solves in table 5.1."""
PRECISION = 1e-6
"""How well net wrenches have to agree [N, N m]."""
_TOLERANCE, _MOST = 1e-11, 100_000
_ROUNDS = 50


def run(*, progress: bool = False) -> ExperimentResult:
    """Solve one problem by every keyword of the start-up file, from no force at all, in turns.

    Args:
        progress: shows a bar.
    """
    problem, positions = standing_on_16()
    methods = {keyword: (family, solver) for family, own in KEYWORDS.items() for keyword, solver in own.items()}
    reference = net_wrench(problem, positions, "interior_point")
    rows: list[Row] = []
    seconds: dict[str, float] = {}
    for keyword, (family, solver) in tqdm(methods.items(), unit="method", disable=not progress):
        name = f"{family} {keyword}"
        wrench = net_wrench(problem, positions, solver)
        apart = float(np.abs(wrench - reference).max())
        rows.append(Row(f"{name}: net wrench apart", "1e-6", apart, "N, N m", apart < PRECISION))
        timed = FRICTIONLESS.get(keyword, solver)
        # As in a simulation; a method that needs tens of milliseconds is not timed as often.
        first = solve_contacts(problem, timed, tolerance=1e-8, max_iterations=_MOST).time
        rounds = _ROUNDS if first < 0.01 else 3
        seconds[keyword] = min(
            solve_contacts(problem, timed, tolerance=1e-8, max_iterations=_MOST).time for _ in range(rounds)
        )
        friction = " without friction" if keyword in FRICTIONLESS else ""
        rows.append(
            Row(f"{name}: time{friction}", f"{MILLISECONDS[keyword]:g}", 1e3 * seconds[keyword], "ms", wall_clock=True)
        )
    for solver in ("nsgs_newton", "interior_point"):
        best = min(solve_contacts(problem, solver, tolerance=1e-8, max_iterations=_MOST).time for _ in range(_ROUNDS))
        rows.append(Row(f"{solver}: time", "", 1e3 * best, "ms", wall_clock=True))
    ratio = seconds["AMELIFGSNEWTON"] / seconds["AMELIFGS"]
    rows.append(Row("AMELIFGSNEWTON / AMELIFGS: time", "6.02; > 1", ratio, "", ratio > 1.0, wall_clock=True))
    weight = float(reference[2])
    rows.insert(0, Row("net vertical force", "", weight, "N"))
    return ExperimentResult("E22", "Contact solvers on HRP-2 standing on 16 contacts", tuple(rows))


def standing_on_16() -> tuple[ContactProblem, NDArray[np.float64]]:
    """HRP-2's soles with the middles of their edges as well: a point's velocity is affine in its place.

    Returns:
        The problem, and the places of its contacts in the world [m], shape (16, 3).
    """
    simulation = Simulation("stand")
    simulation.run(0.5)
    posed, contacts = simulation.contact_problem, simulation.contacts
    assert posed is not None
    corners = len(contacts)
    shares = [np.eye(corners)[i] for i in range(corners)]
    for foot in sorted(set(contacts.bodies)):
        mine = [i for i, names in enumerate(contacts.bodies) if names == foot]
        offset = contacts.position[mine] - contacts.position[mine].mean(axis=0)
        ring = [mine[i] for i in np.argsort(np.arctan2(offset[:, 1], offset[:, 0]))]
        shares += [
            0.5 * (np.eye(corners)[a] + np.eye(corners)[b]) for a, b in zip(ring, np.roll(ring, 1), strict=True)
        ]
    mixing = np.array(shares)
    S = np.kron(mixing, np.eye(3))
    W = S @ posed.W @ S.T
    problem = ContactProblem(0.5 * (W + W.T), S @ posed.v_free, float(posed.mu[0]))
    return problem, mixing @ contacts.position


def net_wrench(problem: ContactProblem, positions: NDArray[np.float64], solver: str) -> NDArray[np.float64]:
    """Sum of all forces [N] and moments about the world's origin [N m] of contacts on level ground, shape (6,).

    Args:
        problem: contacts on level ground, whose normals are all the same.
        positions: of the contacts [m], shape (m, 3).
        solver: a name of the contact solvers.
    """
    impulses = solve_contacts(problem, solver, tolerance=_TOLERANCE, max_iterations=_MOST).impulses
    normal, t1, t2 = np.array([0.0, 0.0, 1.0]), np.empty(3), np.empty(3)
    tangents(normal, t1, t2)
    forces = impulses @ np.array([normal, t1, t2])
    return np.concatenate([forces.sum(axis=0), np.cross(positions, forces).sum(axis=0)])
