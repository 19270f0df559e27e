# SPDX-License-Identifier: Apache-2.0
"""Experiment E23: Gauss-Seidel against Lemke's pivoting, and what facets cost (specification 000 §27, F053).

The thesis quotes both from Duriez (2004, 2006): beyond 10 contacts Gauss-Seidel is faster, and 8 facets are needed
to be within 10 % of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from tqdm import tqdm

from humanoid_model.description import Box, Shape, Sphere
from humanoid_model.scene import Scene
from humanoid_sim.contact.solve import ContactProblem, solve_contacts
from humanoid_sim.simulation import Simulation
from humanoid_studies.contact.complementarity import solve_faceted
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.made_scene import made_body, made_scene

PILES = (1, 2, 3, 4, 5, 6)
"""Of three boxes each, that is twelve contacts each."""
FACETS = (4, 6, 8, 12, 16, 24)
"""Of the cones; 4, 8 and 16 are those of the specification."""
TOLERANCE = 1e-6
"""Relative residual at which Gauss-Seidel stops: what pivoting leaves is smaller, but no simulation sees it."""
_REPEATS = 5


def run(piles: Sequence[int] = PILES, facets: Sequence[int] = FACETS, *, progress: bool = False) -> ExperimentResult:
    """Time both on boxes, then compare forces of cones with more and more facets with those of the round one.

    Args:
        piles: numbers of piles of boxes; the second, third and fourth contact of a single box come before them.
        facets: numbers of facets, even ones; 4, 8 and 16 among them.
        progress: shows a bar.
    """
    sizes, sweeps, newton, pivots = [], [], [], []
    problems = [*(boxes(1, 1, m) for m in (2, 4)), boxes(1, 2), *(boxes(k, 3) for k in piles)]
    for problem in tqdm(problems, unit="problem", disable=not progress):
        sizes.append(problem.mu.size)
        sweeps.append(_seconds(problem, "nsgs"))
        newton.append(_seconds(problem, "nsgs_newton"))
        pivots.append(_seconds(problem, "lemke_faceted"))
    faster = [m for m, ours, theirs in zip(sizes, sweeps, pivots, strict=True) if m > 10 and ours < theirs]
    beyond = [m for m in sizes if m > 10]
    single = {k: worst_error(k) for k in facets}
    tripod = {k: tripod_error(k) for k in facets}
    rows = [
        Row("sizes beyond 10 contacts where Gauss–Seidel is faster", f"all {len(beyond)}", len(faster), "",
            len(faster) == len(beyond), wall_clock=True),
        Row(f"{sizes[-1]} contacts: Lemke / Gauss–Seidel: time", "> 1", pivots[-1] / sweeps[-1], "",
            pivots[-1] > sweeps[-1], wall_clock=True),
    ]  # fmt: skip
    for k, printed in ((4, "29.3"), (8, "7.6"), (16, "1.9")):
        exact = 1.0 - math.cos(math.pi / k)
        right = abs(single[k] - exact) < 1e-3
        rows.append(Row(f"{k} facets: largest error of friction", printed, 100.0 * single[k], "%", right))
    rows.append(Row("8 facets: within 10 %", "≤ 10", 100.0 * single[8], "%", single[8] <= 0.1))
    for k in (4, 8, 16):
        rows.append(Row(f"{k} facets: largest error of the forces on a tripod", "", 100.0 * tripod[k], "%"))
    panels = (
        Panel(
            "contacts",
            "time of a solve [µs]",
            (
                curve(sizes, 1e6 * np.array(sweeps), "Gauss–Seidel", "line and points"),
                curve(sizes, 1e6 * np.array(newton), "Gauss–Seidel and Newton", "line and points"),
                curve(sizes, 1e6 * np.array(pivots), "Lemke, 8 facets", "line and points"),
            ),
            x_log=True,
            y_log=True,
        ),
        Panel(
            "facets",
            "error of the forces [%]",
            (
                curve(facets, [100.0 * single[k] for k in facets], "one contact, worst direction", "line and points"),
                curve(facets, [100.0 * tripod[k] for k in facets], "tripod that slides and turns", "line and points"),
                curve(facets, [100.0 * (1 - math.cos(math.pi / k)) for k in facets], "1 − cos(π/k)", "dashed", "grey"),
                curve([facets[0], facets[-1]], [10.0, 10.0], "10 %", "dashed", "black"),
            ),
            y_log=True,
        ),
    )
    return ExperimentResult("E23", "Gauss–Seidel against pivoting, and facets", tuple(rows), panels)


def boxes(piles: int, high: int, contacts: int | None = None) -> ContactProblem:
    """Return the contact problem of piles of boxes that slide on the floor and on each other.

    Args:
        piles: their number.
        high: boxes in each.
        contacts: only the first ones, if given.
    """
    simulation = Simulation(_sliding_piles(piles, high))
    simulation.run(0.005)
    problem = simulation.contact_problem
    assert problem is not None
    m = problem.mu.size if contacts is None else contacts
    return ContactProblem(problem.W[: 3 * m, : 3 * m], problem.v_free[: 3 * m], problem.mu[:m])


def worst_error(facets: int) -> float:
    """Largest relative error of the friction on one sliding contact, over all directions."""
    worst = 0.0
    for angle in np.linspace(0.0, math.pi, 8 * facets + 1):
        slide = np.array([-1.0, -10.0 * math.cos(angle), -10.0 * math.sin(angle)])
        problem = ContactProblem(np.eye(3), slide, 0.5)
        exact = -0.5 * slide[1:] / 10.0
        along = exact / 0.5
        worst = max(worst, abs(1.0 - float(along @ _faceted(problem, facets)[0, 1:]) / 0.5))
    return worst


def tripod_error(facets: int, samples: int = 20) -> float:
    """Largest relative error of the friction on a tripod that slides and turns, over some random velocities.

    On three feet the forces are unique. Their error is larger than the missing strength of friction: the force of a
    faceted cone points along the facet nearest to the slide, up to π/k aside.
    """
    simulation = Simulation(_tripod())
    body = simulation.bodies["tripod"]
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(samples):
        simulation.reset()
        speed = np.concatenate([rng.normal(size=2), np.zeros(3), rng.normal(scale=3.0, size=1)])
        body.set_state(body.placement_world_body, speed)
        simulation.step()
        problem = simulation.contact_problem
        assert problem is not None
        exact = solve_contacts(problem, "interior_point", tolerance=1e-9).impulses[:, 1:]
        error = _faceted(problem, facets)[:, 1:] - exact
        worst = max(worst, float(np.linalg.norm(error) / np.linalg.norm(exact)))
    return worst


def _faceted(problem: ContactProblem, facets: int) -> NDArray[np.float64]:
    m = problem.mu.size
    f, v, residuals = np.zeros(3 * m), np.empty(3 * m), np.empty(5)
    solve_faceted(problem.W, problem.v_free, problem.mu, f, 20_000, v, residuals, facets, 1.0)
    return f.reshape(m, 3)


def _seconds(problem: ContactProblem, method: str) -> float:
    """Least time of some solves."""
    solve_contacts(problem, method, tolerance=TOLERANCE, max_iterations=20_000)  # compiles
    return min(
        solve_contacts(problem, method, tolerance=TOLERANCE, max_iterations=20_000).time for _ in range(_REPEATS)
    )


def _tripod() -> Scene:
    feet = [(0.2 * math.cos(a), 0.2 * math.sin(a)) for a in (0.1, 2.3, 4.1)]
    shapes: list[tuple[Shape, pin.SE3]] = [(Box(np.array([0.3, 0.3, 0.1])), pin.SE3.Identity())]
    shapes += [(Sphere(0.02), pin.SE3(np.eye(3), np.array([x, y, -0.1]))) for x, y in feet]
    at = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.12]))
    return made_scene("tripod", [made_body("tripod", shapes, 1.0, at)])


def _sliding_piles(piles: int, high: int) -> Scene:
    rng = np.random.default_rng(piles)
    size = np.array([0.3, 0.3, 0.2])
    bodies = []
    for i in range(piles):
        direction = rng.normal(size=2)
        for level in range(high):
            at = pin.SE3(np.eye(3), np.array([2.0 * i, 0.0, size[2] * (level + 0.5)]))
            speed = (level + 1.0) * direction / np.linalg.norm(direction)
            twist = np.concatenate([speed, [0.0, 0.0, 0.0], rng.normal(size=1)])
            bodies.append(made_body(f"box_{i}_{level}", [(Box(size), pin.SE3.Identity())], 1.0 + level, at, twist))
    return made_scene("piles", bodies)
