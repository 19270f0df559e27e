# SPDX-License-Identifier: Apache-2.0
"""All contact solvers on the same problems, Pinocchio's and Siconos' among them, without warm start.

a  HRP-2 standing on 16 contacts, beside the thesis' Table 5.1 (E22)
b  1000 random problems of 1 to 12 contacts
c  problems that are hard on purpose: mass ratios of 1e4, redundant and grazing contacts, arches
d  cost against the number of contacts, 4 to 67 (Fig. 3.7, E4), with Lemke's pivoting on 8 facets beside (E23)
e  HRP-2 on the 8 corners of its soles, at rest and in 50 steps after a push, beside Pinocchio's PGS and ADMM
f  the contact stage of whole steps with time budgets: what it takes beside what it may, and what is left unsolved

"solved" is the natural-map residual of the exact cone, recomputed for every solver alike; solvers of an approximate law
of friction can't reach it where something slips. Times are of single solves in one process, solvers taking turns.
Siconos runs in a process of its own where its Python differs from ours (``--siconos``).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "test"))

from fixtures.hard_contact_problems import HARD, Bodies, corners  # noqa: E402
from fixtures.scenes import box, floor, place, scene  # noqa: E402

from humanoid_model.errors import InputError  # noqa: E402
from humanoid_model.scene import Scene  # noqa: E402
from humanoid_sim import ContactProblem, Simulation, solve_contacts  # noqa: E402
from humanoid_sim.contact.cone import contact_residuals  # noqa: E402
from humanoid_sim.contact.solve import SOLVERS  # noqa: E402
from humanoid_studies.contact.complementarity import faceted_size  # noqa: E402
from humanoid_studies.simulator.solver_table import standing_on_16  # noqa: E402

THESIS = {
    "gauss_seidel_projected": ("AMELIFGS", 0.057611),
    "nsgs": ("AMELIFGSNEWTON", 0.347008),
    "alart_curnier_global": ("AC", 14.6426),
    "fixed_point": ("FIXEDPOINT", 14.92765),
    "projection": ("PROJECTION", 0.181587),
    "lemke_frictionless": ("AMELIFLCP", 0.071642),
    "qp_frictionless": ("QP", 0.078202),
}
"""Keywords and milliseconds of Table 5.1; its LCP rows are without friction, LEMKE's was 0.188781."""
SICONOS = "Siconos NSGS"
LIMIT = 2000
SLOW = ("lemke_faceted", "lemke_circumscribed", "staggered_projections")
"""Left out of c, where nearly everything slips and the approximate laws say little."""


@dataclass
class Row:
    """What one solver gave on a set of problems."""

    seconds: list[float]
    iterations: list[int]
    residuals: list[float]

    def line(self, name: str, tolerance: float) -> str:
        """Return a line of the table."""
        solved = np.mean(np.array(self.residuals) <= tolerance)
        return (
            f"| {name} | {100.0 * solved:.1f} | {np.median(self.seconds) * 1e6:.1f} | {max(self.seconds) * 1e6:.0f} "
            f"| {np.median(self.iterations):.0f} | {np.median(self.residuals):.1e} | {max(self.residuals):.1e} |"
        )


HEAD = "| solver | solved % | median µs | largest µs | iterations | median residual | largest |\n|---|" + "---:|" * 6


def standing_on_8(steps: int) -> list[ContactProblem]:
    """HRP-2 on its soles: at rest, or in so many steps from 5 ms after 200 N have begun to push its chest for 50 ms."""
    simulation = Simulation("stand")
    simulation.run(0.5)
    problems = []
    if steps:
        simulation.apply_wrench("hrp2/CHEST_LINK1", [200.0, 60.0, 0.0], duration=0.05)
        simulation.run(0.005)
    for _ in range(max(steps, 1)):
        simulation.step()
        posed = simulation.contact_problem
        assert posed is not None
        assert posed.mu.size == 8
        problems.append(posed)
    return problems


def beside_pinocchio(names: list[str], tolerance: float) -> None:
    """One solve from a cold start, as a part of what Pinocchio's PGS takes for it."""
    shown = ("nsgs", "nsgs_newton", "alart_curnier_global", "pinocchio_pgs", "pinocchio_admm")
    ours = [name for name in names if name in shown]
    for title, problems in (("at rest", standing_on_8(0)), ("pushed, 50 steps", standing_on_8(50))):
        table = measure(ours, problems, tolerance, 50 if len(problems) == 1 else 5, None)
        show(f"e  HRP-2 on 8 corners, {title}", table, tolerance)
        if "pinocchio_pgs" in table:
            pgs = np.median(table["pinocchio_pgs"].seconds)
            print(", ".join(f"{name}: {np.median(row.seconds) / pgs:.3f} x PGS" for name, row in table.items()))


def random_contacts(rng: np.random.Generator) -> ContactProblem:
    """Return contacts of a random mechanism that close, sliding; a motion exists that opens them all."""
    m, rank = int(rng.integers(1, 13)), int(rng.choice([6, 15, 30]))
    J = rng.normal(size=(3 * m, rank))
    J[::3, 0] = 3.0
    J[1::3, 0] = J[2::3, 0] = 0.0
    v = rng.normal(size=rank)
    v[0] = -abs(v[0])
    W = J @ np.diag(10.0 ** rng.uniform(-1, 1, rank)) @ J.T
    return ContactProblem(0.5 * (W + W.T), J @ v, rng.uniform(0.1, 1.0, m))


def boxes(m: int) -> ContactProblem:
    """Return piles of up to three boxes on the ground with m contacts in all, each pushed a little."""
    rng = np.random.default_rng(m)
    world, size = Bodies(), np.array([0.3, 0.3, 0.2])
    below = -1
    while len(world.rows) < m:
        box = world.add(float(rng.uniform(1.0, 5.0)), size)
        if box % 3 == 0:
            below = -1
        for arm in corners(size)[: m - len(world.rows)]:
            world.touch(box, below, arm, arm * [1.0, 1.0, -1.0], np.array([0.0, 0.0, 1.0]), 0.4)
        below = box
    v = np.zeros(6 * len(world.inverse_masses))
    v[0::6] = rng.normal(scale=3e-3, size=len(world.inverse_masses))
    return world.problem(v)


def available() -> list[str]:
    """Return names of the solvers that run here."""
    problem = ContactProblem(np.eye(3), [-1.0, 0.0, 0.0], 0.5)
    names = []
    for name in SOLVERS:
        try:
            solve_contacts(problem, name)
            names.append(name)
        except InputError as error:
            print(f"without {name}: {error}")
    return names


def measure(
    names: list[str], problems: list[ContactProblem], tolerance: float, rounds: int, siconos: str | None
) -> dict[str, Row]:
    """Solve all problems with all solvers, in turns."""
    table = {name: Row([], [], []) for name in names}
    for problem in tqdm(problems, leave=False):
        for name in names:
            solve_contacts(problem, name, tolerance=tolerance, max_iterations=2)  # touches memory, compiles
        times: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(rounds):
            for name in names:
                result = solve_contacts(problem, name, tolerance=tolerance, max_iterations=LIMIT)
                times[name].append(result.time)
                last = (result.iterations, result.residuals.natural_map)
                if len(times[name]) == rounds:
                    table[name].seconds.append(float(np.median(times[name])))
                    table[name].iterations.append(last[0])
                    table[name].residuals.append(last[1])
    if siconos is not None:
        table[SICONOS] = ask_siconos(siconos, problems, tolerance)
    return table


def ask_siconos(python: str, problems: list[ContactProblem], tolerance: float) -> Row:
    """Siconos' answers from a process of its own, judged by our residual."""
    arrays: dict[str, np.ndarray] = {"count": np.array(len(problems))}
    for i, problem in enumerate(problems):
        arrays |= {f"W{i}": problem.W, f"v{i}": problem.v_free, f"mu{i}": problem.mu}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problems.npz"
        np.savez(path, **arrays)
        command = [python, str(HERE / "peers" / "siconos_contacts.py"), str(path), str(tolerance), str(LIMIT)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    row = Row([], [], [])
    for problem, answer in zip(problems, json.loads(output.splitlines()[-1]), strict=True):
        residuals, f = np.zeros(5), np.array(answer["f"])
        contact_residuals(problem.W, problem.v_free, problem.mu, f, np.empty(f.size), residuals)
        row.seconds.append(answer["seconds"])
        row.iterations.append(answer["iterations"])
        row.residuals.append(float(residuals[0]))
    return row


def show(title: str, table: dict[str, Row], tolerance: float) -> None:
    """Print a table."""
    print(f"\n{title}\n\n{HEAD}")
    for name, row in table.items():
        print(row.line(name, tolerance))


def table_5_1(names: list[str], tolerance: float, siconos: str | None) -> None:
    """E22: times beside the thesis', and the net wrench of each solver against the others."""
    problem, _ = standing_on_16()
    table = measure(names, [problem], tolerance, 50, siconos)
    show("a  HRP-2 standing on 16 contacts", table, tolerance)
    reference = solve_contacts(problem, "nsgs_newton", tolerance=1e-11).impulses.sum(axis=0)
    print("\n| keyword | solver | thesis ms | ours ms | ratio to AMELIFGS, thesis | ours | net force off |")
    print("|---|---|---:|---:|---:|---:|---:|")
    first = float(np.median(table["gauss_seidel_projected"].seconds))
    for name, (keyword, milliseconds) in THESIS.items():
        if name not in names:
            continue
        ours = float(np.median(table[name].seconds))
        forces = solve_contacts(problem, name, tolerance=tolerance, max_iterations=100_000).impulses.sum(axis=0)
        off = np.linalg.norm(forces - reference) / np.linalg.norm(reference)
        print(
            f"| {keyword} | {name} | {milliseconds:.4f} | {ours * 1e3:.4f} "
            f"| {milliseconds / 0.057611:.2f} | {ours / first:.2f} | {off:.1e} |"
        )


def cost_against_contacts(tolerance: float) -> None:
    """E4 and E23: sizes, times and their slopes."""
    names = ["nsgs", "nsgs_newton", "gauss_seidel_projected", "lemke_faceted"]
    counts = [4, 8, 10, 12, 16, 20, 28, 36, 48, 67]
    print("\nd  cost against contacts, µs; unknowns 3 m and 10 m\n")
    print("| contacts | unknowns | with facets | " + " | ".join(names) + " | Lemke / nsgs |")
    print("|---:|" + "---:|" * (len(names) + 3))
    times: dict[str, list[float]] = {name: [] for name in names}
    for m in counts:
        problem = boxes(m)
        table = measure(names, [problem], tolerance, 5 if m < 30 else 3, None)
        for name in names:
            times[name].append(table[name].seconds[0])
        cells = " | ".join(f"{times[name][-1] * 1e6:.1f}" for name in names)
        ratio = times["lemke_faceted"][-1] / times["nsgs"][-1]
        print(f"| {m} | {3 * m} | {faceted_size(m)} | {cells} | {ratio:.1f} |")
    large = np.array(counts) >= 20
    for name in names:
        slope = np.polyfit(np.log(np.array(counts)[large]), np.log(np.array(times[name])[large]), 1)[0]
        print(f"slope of {name} from 20 contacts on: {slope:.2f}")


def wall() -> Scene:
    """Twenty boxes in one wall that a moving box runs into: one group of some 160 contacts."""
    size = (0.2, 0.1, 0.1)
    bodies = [floor()]
    for i in range(20):
        row, column = divmod(i, 5)
        bodies.append(box(f"brick{i}", size, place(0.2 * column + 0.1 * (row % 2), 0, 0.05 + 0.1 * row), 2.0))
    push = np.array([0.0, 4.0, 0.0, 0.0, 0.0, 0.0])
    bodies.append(box("ram", (0.4, 0.2, 0.2), place(0.5, -0.151, 0.2), 20.0, twist=push))
    return scene(*bodies, friction=0.5)


def pushed_with_dry_friction(budget: float | None) -> Simulation:
    """HRP-2 with 2 N m of dry friction in each joint, pushed for as long as one looks."""
    simulation = Simulation("stand", time_budget=budget)
    simulation.servos.dry_friction[6:] = 2.0
    simulation.apply_wrench("hrp2/CHEST_LINK1", [60.0, 30.0, 0.0], duration=1.0)
    return simulation


def time_budgets() -> None:
    """Contact stage of 100 steps each; 1e-12 s is one sweep of each group."""
    cases: dict[str, Callable[[float | None], Simulation]] = {
        "boxes": lambda budget: Simulation("boxes", time_budget=budget),
        "stand, pushed, dry friction": pushed_with_dry_friction,
        "wall of 20 boxes": lambda budget: Simulation(wall(), time_budget=budget),
    }
    print("\nf  contact stage with a time budget, µs\n")
    print("| scene | budget | median | 99 % | largest | median / budget | 99 % / budget | steps unsolved % |")
    print("|---|" + "---:|" * 7)
    for name, make in cases.items():
        for budget in (None, 1e-12, 1e-5, 2e-5, 5e-5, 2e-4, 1e-3, 5e-3):
            simulation = make(budget)
            times, late = [], 0
            for _ in range(100):
                simulation.step()
                times.append(1e6 * simulation.profile.last["contacts"])
                late += simulation.residual > simulation.options.tolerance
            median, high, largest = np.percentile(times, [50.0, 99.0, 100.0])
            given = "none" if budget is None else f"{1e6 * budget:g}"
            ratios = " | " if budget is None else f"{1e-6 * median / budget:.2f} | {1e-6 * high / budget:.2f}"
            print(f"| {name} | {given} | {median:.1f} | {high:.1f} | {largest:.1f} | {ratios} | {late} |", flush=True)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="abcdef", help="which of a, b, c, d, e, f")
    parser.add_argument("--random", type=int, default=1000, help="problems of b")
    parser.add_argument("--hard", type=int, default=20, help="problems of each kind of c")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="on the natural-map residual")
    parser.add_argument("--siconos", help="a Python that has siconos.numerics, if ours hasn't")
    arguments = parser.parse_args()
    names = available()
    if "siconos" in names:
        arguments.siconos = None
    if "a" in arguments.tables:
        table_5_1(names, arguments.tolerance, arguments.siconos)
    if "b" in arguments.tables:
        rng = np.random.default_rng(0)
        problems = [random_contacts(rng) for _ in range(arguments.random)]
        table = measure(names, problems, arguments.tolerance, 1, arguments.siconos)
        show(f"b  {arguments.random} random problems", table, arguments.tolerance)
    if "c" in arguments.tables:
        chosen = [name for name in names if name not in SLOW]
        kinds: dict[str, Callable[[np.random.Generator], ContactProblem]] = HARD
        for kind, generate in kinds.items():
            problems = [generate(np.random.default_rng(seed)) for seed in range(arguments.hard)]
            size = int(np.median([problem.mu.size for problem in problems]))
            table = measure(chosen, problems, arguments.tolerance, 1, arguments.siconos)
            show(f"c  {kind}, {size} contacts, {arguments.hard} problems", table, arguments.tolerance)
    if "e" in arguments.tables:
        beside_pinocchio(names, arguments.tolerance)
    if "f" in arguments.tables:
        time_budgets()
    if "d" in arguments.tables:
        cost_against_contacts(arguments.tolerance)


if __name__ == "__main__":
    main()
