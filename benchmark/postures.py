# SPDX-License-Identifier: Apache-2.0
"""What postures of HRP-2 cost: success, time and iterations, by solver, beside SciPy's SLSQP on the same programs.

a  a hand on a table or a wall, forces and torque limits, no collisions, from perturbed starts
b  the same with all self-collision pairs, and the table's scene
c  one evaluation of the constraints and their Jacobian
d  problems without solution: time until that is known
e  warehouse, refrigerator and car (Tab. 4.2 of the thesis): STP-BV by radius, against plain polyhedra
f  random stances on stairs: Tab. 7.1 of the thesis
g  a ball followed with the eyes, warm beside cold (X03; the thesis: some 10 ms a step)
h  warehouse, the left hand anywhere around the body, which provokes self-collisions: STP-BV against plain polyhedra
i  plausible requests, one start beside random ones after it failed
j  putting a problem together for another stance, in processor time (bound 2 ms)

Times are wall-clock times of single searches in one process, problems put together beforehand; contestants take turns
on the same starts. "solved" is what the constraints say at the answer, to 1e-5, not what a solver says of itself.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from posture_problems import (
    Case,
    PolyhedronPairs,
    collision_options,
    fixed,
    hand_on,
    perturbed,
    plausible_request,
    random_case,
    reaching,
    scene_case,
)
from scipy.optimize import minimize
from tqdm import tqdm

from humanoid_model import Robot, Scene, Stance, Surface, load_robot, load_scene
from humanoid_model.errors import RobotError, RobotWarning
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import NonlinearProgram, SolverOptions
from humanoid_planner.posture.generate import RESTARTS, solve_problem
from humanoid_planner.posture.motion.reactive import ReactivePosture
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.collision_model import CollisionModel
from humanoid_planner.posture.tasks.criteria import NearReference
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at, gaze, point_at
from humanoid_planner.posture.tasks.state import Load
from humanoid_planner.posture.tasks.task import GeometricTask
from humanoid_studies.posture.statistics import GenerationLog

SOLVED = 1e-5
"""Largest violation of a solution, scaled as solvers see it."""
SOLVERS = ("sqp", "ipopt", "feasible_sqp")
PEER = "SciPy SLSQP"


@dataclass(frozen=True)
class Run:
    """One search: whether the answer holds, seconds, iterations, criterion."""

    solved: bool
    time: float
    iterations: int
    criterion: float


def residual(program: NonlinearProgram, x: NDArray[np.float64]) -> float:
    """Largest violation of constraints and bounds."""
    c = program.constraints(x)
    parts = (c - program.constraint_upper, program.constraint_lower - c, x - program.upper, program.lower - x)
    return max(float(part.max(initial=0.0)) for part in parts)


def slsqp(program: NonlinearProgram, x0: NDArray[np.float64], limit: int) -> tuple[NDArray[np.float64], int]:
    """SciPy's SLSQP on a program: the answer and its iterations."""
    lower, upper = program.constraint_lower, program.constraint_upper
    equal = np.flatnonzero(lower == upper)
    above = np.flatnonzero((lower != upper) & np.isfinite(lower))
    below = np.flatnonzero((lower != upper) & np.isfinite(upper))
    constraints = [
        {
            "type": "eq",
            "fun": lambda x: program.constraints(x)[equal] - lower[equal],
            "jac": lambda x: program.jacobian(x)[equal],
        },
        {
            "type": "ineq",
            "fun": lambda x: np.concatenate(
                [program.constraints(x)[above] - lower[above], upper[below] - program.constraints(x)[below]]
            ),
            "jac": lambda x: np.concatenate([program.jacobian(x)[above], -program.jacobian(x)[below]]),
        },
    ]
    answer = minimize(
        program.objective,
        x0,
        jac=program.objective_gradient,
        bounds=list(zip(program.lower, program.upper, strict=True)),
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": limit, "ftol": 1e-8},
    )
    return np.asarray(answer.x), int(answer.nit)


def search(problem: PostureProblem, q: NDArray[np.float64], solver: str, options: SolverOptions) -> Run:
    """One search by one of our solvers or by the peer."""
    if solver == PEER:
        began = time.perf_counter()
        x, iterations = slsqp(problem.program, problem.start(q), options.max_iterations)
        elapsed = time.perf_counter() - began
    else:
        result = solve_problem(problem, q, solver=solver, options=options, explain=False, restarts=0)
        x, iterations, elapsed = result.x, result.iterations, result.time
    return Run(residual(problem.program, x) < SOLVED, elapsed, iterations, problem.program.criterion(x))


def print_runs(title: str, runs: dict[str, list[Run]], peer: str = PEER) -> None:
    """Success, times and iterations of several solvers; ratios to the peer."""
    print(f"\n{title}")
    print(f"{'':16}{'starts':>8}{'solved %':>10}{'median ms':>11}{'p95 ms':>9}", end="")
    print(f"{'iterations':>12}{'criterion':>11}{'ratio':>8}")
    base = np.median([run.time for run in runs[peer]]) if peer in runs else np.nan
    for name, some in runs.items():
        times = np.array([run.time for run in some])
        good = [run for run in some if run.solved]
        iterations = np.median([run.iterations for run in good]) if good else np.nan
        criterion = np.median([run.criterion for run in good]) if good else np.nan
        print(
            f"{name:16}{len(some):8}{100 * len(good) / len(some):10.1f}{1e3 * np.median(times):11.2f}"
            f"{1e3 * np.percentile(times, 95):9.2f}{iterations:12.0f}{criterion:11.4f}{np.median(times) / base:8.3f}"
        )


def make_problem(case: Case, **more: Any) -> PostureProblem:
    """Return the problem of a case, near its start."""
    return PostureProblem(
        case.robot, case.stance, PostureRequirements(scene=case.scene, **{**case.options, **more}), start=case.start
    )


def from_perturbed(problem: PostureProblem, case: Case, arguments: argparse.Namespace) -> dict[str, list[Run]]:
    """Search from perturbed starts, the solvers taking turns; the first search of each of ours is thrown away."""
    rng = np.random.default_rng(0)
    runs: dict[str, list[Run]] = {solver: [] for solver in (*arguments.solvers, PEER)}
    for solver in arguments.solvers:
        search(problem, case.start, solver, arguments.options)
    for start in tqdm(range(arguments.starts), desc=case.name, leave=False):
        q = perturbed(case.robot, case.start, rng)
        for solver, some in runs.items():
            if solver == arguments.solvers[0] or start < arguments.peer_starts:
                some.append(search(problem, q, solver, arguments.options))
    return {solver: some for solver, some in runs.items() if some}


def part_a(robot: Robot, arguments: argparse.Namespace) -> None:
    for what in ("table", "wall"):
        case = hand_on(robot, what)
        for criterion in (False, True):
            near = NearReference(RobotKinematics(robot), case.start) if criterion else None
            problem = make_problem(case, criterion=near)
            runs = from_perturbed(problem, case, arguments)
            what = "near a reference" if criterion else "any posture"
            size = f"{problem.program.size} variables, {len(problem.program.constraint_lower)} constraints"
            print_runs(f"a  {case.name}, {what}, no collisions ({size})", runs)


def part_b(robot: Robot, arguments: argparse.Namespace) -> None:
    case = hand_on(robot, "table")
    began = time.perf_counter()
    more = collision_options(case, CollisionModel(robot, case.scene))
    print(f"\nb  volumes and pairs found, or taken from the disk, in {time.perf_counter() - began:.1f} s")
    problem = make_problem(case, criterion=NearReference(RobotKinematics(robot), case.start), **more)
    runs = from_perturbed(problem, case, arguments)
    print_runs(f"b  {case.name}, near a reference, {more['collisions'].size} pairs of volumes", runs)


def part_c(robot: Robot, arguments: argparse.Namespace) -> None:
    table = hand_on(robot, "table")
    level = Case("two feet, polygon", robot, table.stance.removing("left_hand_fingers"), table.start, {}, table.scene)
    cases: list[tuple[Case, dict[str, Any]]] = [(level, {}), (table, {})]
    if not arguments.without_collisions:
        model = CollisionModel(robot, table.scene)
        cases += [(case, collision_options(case, model)) for case in (level, table)]
    print(f"\n{'c':32}{'variables':>10}{'rows':>6}{'values us':>11}{'and Jacobian us':>17}")
    for case, more in cases:
        problem = make_problem(case, **more)
        program = problem.program
        rng = np.random.default_rng(0)
        # Steps as long as those of a search near its end: distances start from the features of the last ones.
        walk = np.cumsum(rng.normal(scale=0.003, size=(50, program.size)), axis=0)
        points = list(np.clip(problem.start(case.start) + walk, program.lower, program.upper))
        seconds: list[tuple[float, float]] = []
        for _ in range(arguments.blocks):
            began = time.perf_counter()
            for x in points:
                program.constraints(x)
            values = time.perf_counter() - began
            began = time.perf_counter()
            for x in points:
                program.constraints(x)
                program.jacobian(x)
            seconds.append((values / len(points), (time.perf_counter() - began) / len(points)))
        value, both = 1e6 * np.median(seconds, axis=0)
        name = case.name + (f", {more['collisions'].size} pairs" if more else "")
        print(f"{name:32}{program.size:10}{len(program.constraint_lower):6}{value:11.0f}{both:17.0f}")


def part_d(robot: Robot, arguments: argparse.Namespace) -> None:
    case = hand_on(robot, "table")
    kinematics = RobotKinematics(robot)
    far = Surface("far table", "ground", pin.SE3(np.eye(3), np.array([3.0, 0.0, 0.8])))
    away = case.stance.removing("left_hand_fingers").adding(fixed(robot, "left_hand_fingers", far, 0.0, 0.25))
    feet = case.stance.removing("left_hand_fingers")
    problems = {
        "feasible": make_problem(case),
        "hand 3 m away": make_problem(Case("", robot, away, case.start, case.options, case.scene)),
        "hand at a point 3 m away": make_problem(
            case, tasks=[point_at(kinematics, "RARM_LINK6", [0, 0, 0], [3, 0, 1])]
        ),
        "1000 N in a hand held out": make_problem(
            case,
            loads=[Load("RARM_LINK6", force=(0, 0, -1000.0))],
            tasks=[point_at(kinematics, "RARM_LINK6", [0, 0, 0], [0.45, -0.3, 0.9])],
        ),
        "centre of mass 0.5 m ahead": make_problem(
            Case("", robot, feet, case.start, {}, case.scene),
            tasks=[centre_of_mass_at([0.6, 0.0, 0.0], horizontal=True)],
        ),
    }
    print(f"\n{'d':38}" + "".join(f"{solver + ' ms':>16}{'codes':>14}" for solver in arguments.solvers))
    base: dict[str, float] = {}
    for name, problem in problems.items():
        line = f"{name:38}"
        for solver in arguments.solvers:
            rng = np.random.default_rng(0)
            times, codes = [], []
            for _ in range(arguments.blocks):
                q = perturbed(robot, case.start, rng)
                result = solve_problem(problem, q, solver=solver, options=arguments.options, explain=False, restarts=0)
                times.append(result.time)
                codes.append(int(result.status))
            median = float(np.median(times))
            base.setdefault(solver, median)
            counted = " ".join(f"{code}:{codes.count(code)}" for code in sorted(set(codes)))
            line += f"{1e3 * median:8.2f} x{median / base[solver]:5.2f} {counted:>14}"
        print(line)


def part_e(robot: Robot, arguments: argparse.Namespace) -> None:
    # The thesis gives iterations up to 1745; medians are those of the solved ones where there are any.
    options = SolverOptions(max_iterations=arguments.scene_iterations, optimality_tolerance=arguments.tolerance)
    solver = arguments.solvers[0]
    print(
        f"\n{'e  scene, volumes':28}{'pairs':>7}{'ms':>9}{'iterations':>12}{'distances':>11}{'gradients':>11}", end=""
    )
    print(f"{'criterion':>11}{'solved %':>10}")
    for name in arguments.scenes:
        case = scene_case(name)
        contestants = [(f"R = {R:g} m", {"R": R}) for R in (10.0, 20.0, 50.0, 100.0)]
        contestants.append(("plain polyhedra", {"make_distances": PolyhedronPairs}))
        rows: dict[str, list[tuple[float, ...]]] = {}
        sizes: dict[str, int] = {}
        for label, choice in contestants:
            more = collision_options(case, CollisionModel(case.robot, case.scene, **choice))
            sizes[label] = more["collisions"].size
            rng = np.random.default_rng(0)
            problem = make_problem(case, **more)
            problem.program.constraints(problem.start(case.start))  # kernels are compiled before the first search
            problem.program.jacobian(problem.start(case.start))
            for start in tqdm(range(arguments.scene_starts), desc=f"{name} {label}", leave=False):
                # The thesis starts from the zero posture alone; one start says little about a solver.
                q = case.start if start == 0 else perturbed(case.robot, case.start, rng, 0.05)
                result = solve_problem(problem, q, solver=solver, options=options, explain=False, restarts=0)
                good = residual(problem.program, result.x) < SOLVED
                rows.setdefault(label, []).append((
                    1e3 * result.time, result.iterations, result.distance_evaluations, result.distance_gradients,
                    result.criterion if good else np.nan, 100.0 * good,
                ))  # fmt: skip
        for label, some in rows.items():
            table = np.array(some)
            solved = table[:, 5] > 0
            ms, iterations, distances, gradients = np.median(table[solved if solved.any() else ~solved, :4], axis=0)
            criterion = np.nanmedian(table[:, 4]) if np.isfinite(table[:, 4]).any() else np.nan
            print(
                f"{name + ', ' + label:28}{sizes[label]:7}{ms:9.1f}{iterations:12.0f}{distances:11.0f}"
                f"{gradients:11.0f}{criterion:11.4f}{table[:, 5].mean():10.0f}"
            )


def part_f(robot: Robot, arguments: argparse.Namespace) -> None:
    scene = load_scene("stairs")
    placed = scene.robots[0].robot
    model = None if arguments.without_collisions else CollisionModel(placed, scene)
    rng = np.random.default_rng(0)
    log = GenerationLog()
    options = SolverOptions(max_iterations=arguments.options.max_iterations)
    for number in tqdm(range(arguments.problems + 1), desc="random stances", leave=False):
        case = random_case(scene, rng)
        more = {} if model is None else collision_options(case, model)
        problem = make_problem(case, criterion=NearReference(RobotKinematics(placed), case.start), **more)
        solver = arguments.solvers[0]
        result = solve_problem(problem, case.start, solver=solver, options=options, explain=False, restarts=0)
        if number:  # kernels are compiled in the first one
            log.add(result)
    print(f"\nf  {arguments.problems} random stances on stairs, {arguments.solvers[0]}, near a reference")
    print(log.table())
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        log.save(arguments.out / "generations.csv")
        log.plot(arguments.out / "generations.png")


def part_g(robot: Robot, arguments: argparse.Namespace) -> None:
    case = hand_on(robot, "table")
    stance = case.stance.removing("left_hand_fingers")

    def look(kinematics: RobotKinematics, ball: NDArray[np.float64]) -> GeometricTask:
        return gaze(kinematics, "HEAD_LINK1", [0.1, 0.0, 0.12], [1.0, 0.0, 0.0], ball, distance=0.3)

    print(f"\n{'g  steps of the ball':24}{'solved %':>10}{'warm ms':>9}{'cold ms':>9}{'ratio':>7}", end="")
    print(f"{'with set-up ms':>16}{'ratio':>7}   (means)")
    for count in (100, 1000):
        t = 2 * np.pi * np.arange(100) / count
        path = np.column_stack([0.6 + 0.35 * np.cos(t), 0.5 * np.sin(t), 1.2 + 0.25 * np.sin(2 * t)])
        follow = ReactivePosture(robot, stance, look, path[0], PostureRequirements(scene=case.scene))
        follow.step(path[0])
        warm, cold, whole, solved = [], [], [], 0
        for ball in path:
            began = time.perf_counter()
            solved += follow.step(ball).success
            warm.append(time.perf_counter() - began)
            began = time.perf_counter()
            alone = ReactivePosture(robot, stance, look, ball, PostureRequirements(scene=case.scene))
            made = time.perf_counter()
            alone.step(ball)
            whole.append(time.perf_counter() - began)
            cold.append(time.perf_counter() - made)
        a, b, c = (1e3 * float(np.mean(times)) for times in (warm, cold, whole))
        step = float(np.linalg.norm(np.diff(path, axis=0), axis=1).mean())
        name = f"   of {1e3 * step:.0f} mm"
        print(f"{name:24}{solved:10}{a:9.2f}{b:9.2f}{b / a:7.1f}{c:16.2f}{c / a:7.1f}")


def part_h(robot: Robot, arguments: argparse.Namespace) -> None:
    case = scene_case("warehouse")
    options = SolverOptions(max_iterations=arguments.scene_iterations, optimality_tolerance=arguments.tolerance)
    models = {
        "R = 20 m": CollisionModel(case.robot, case.scene, R=20.0),
        "plain polyhedra": CollisionModel(case.robot, case.scene, make_distances=PolyhedronPairs),
    }
    at = np.random.default_rng(1).uniform([0.15, -0.5, 0.95], [0.6, 0.7, 1.7], (arguments.reaches, 3))
    rows: dict[str, list[tuple[float, ...]]] = {label: [] for label in models}
    for point in tqdm(at, desc="reaches", leave=False):
        reach = reaching(case, point)
        for label, model in models.items():
            problem = make_problem(reach, **collision_options(reach, model))
            solver = arguments.solvers[0]
            result = solve_problem(problem, case.start, solver=solver, options=options, explain=False, restarts=0)
            good = residual(problem.program, result.x) < SOLVED
            rows[label].append((result.iterations, 1e3 * result.time, 100.0 * good, result.criterion))
    tables = {label: np.array(some) for label, some in rows.items()}
    both = np.all([table[:, 2] > 0 for table in tables.values()], axis=0)
    print(f"\n{f'h  {len(at)} reaches, both solved {both.sum()}':46}{'solved %':>9}{'iterations mean':>17}", end="")
    print(f"{'of both solved: mean':>22}{'median':>8}{'95 %':>7}{'most':>6}{'mean ms':>9}")
    for label, table in tables.items():
        some = table[both, 0]
        median, p95 = np.percentile(some, (50, 95))
        print(
            f"   {label:43}{table[:, 2].mean():9.1f}{table[:, 0].mean():17.1f}{some.mean():22.1f}{median:8.0f}"
            f"{p95:7.0f}{some.max():6.0f}{table[:, 1].mean():9.1f}"
        )


def part_i(robot: Robot, arguments: argparse.Namespace) -> None:
    model, rng = CollisionModel(robot), np.random.default_rng(0)
    runs: list[list[tuple[bool, float]]] = []
    for number in tqdm(range(arguments.requests + 1), desc="requests", leave=False):
        case = plausible_request(robot, rng)
        problem = make_problem(case, criterion=NearReference(RobotKinematics(robot), case.start), collisions=model)
        results = [
            solve_problem(problem, case.start, solver=arguments.solvers[0], explain=False, restarts=restarts)
            for restarts in (0, RESTARTS)
        ]
        if number:  # kernels are compiled in the first one
            runs.append([(result.success, 1e3 * result.time) for result in results])
    table = np.array(runs, dtype=float)
    first, none = table[:, 0, 0] > 0, table[:, 1, 0] == 0
    print(f"\n{f'i  {len(table)} requests':24}{'solved':>8}{'ms: at once':>13}{'after restarts':>16}{'never':>8}")
    for index, name in enumerate(("one start", f"up to {1 + RESTARTS}")):
        ms = [np.median(table[some, index, 1]) for some in (first, ~first & ~none, none)]
        print(f"   {name:21}{int(table[:, index, 0].sum()):8}{ms[0]:13.0f}{ms[1]:16.0f}{ms[2]:8.0f}")


def part_j(robot: Robot, arguments: argparse.Namespace) -> None:
    scene = load_scene("five_stairs")
    floor = next(surface for surface in scene.surfaces if surface.name == "floor")
    makers: dict[str, Callable[[int], PostureProblem]] = {}
    for one in (robot, _talos()):
        if one is None:
            continue
        model = CollisionModel(one, scene)
        for what, collisions, forces in (
            ("polygon", False, False),
            ("torques", False, True),
            ("polygon, collisions", model, False),
            ("torques, collisions", model, True),
        ):
            makers[f"{one.name}, {what}"] = _another_stance(one, scene, floor, collisions, forces)
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    for number in range(20 * arguments.blocks):
        for name, make in makers.items():
            began = time.process_time()
            make(number)
            seconds[name].append(time.process_time() - began)
    print(f"\n{'j  a problem for another stance':38}{'median ms':>11}{'p95 ms':>9}")
    for name, some in seconds.items():
        print(f"   {name:35}{1e3 * np.median(some):11.2f}{1e3 * np.percentile(some, 95):9.2f}")


def _talos() -> Robot | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RobotWarning)
            return load_robot("talos")
    except RobotError:
        print("j  without TALOS, which needs the package example-robot-data")
        return None


def _another_stance(
    robot: Robot, scene: Scene, floor: Surface, model: CollisionModel | bool, forces: bool
) -> Callable[[int], PostureProblem]:
    """Return what makes the problem of the stance of a number, with all that can be kept kept."""
    kinematics, q = RobotKinematics(robot), robot.default_posture
    wanted = PostureRequirements(
        scene=scene,
        criterion=NearReference(kinematics, q),
        collisions=model,
        stability="forces" if forces else "auto",
        torque_limits=forces,
    )

    def make(number: int) -> PostureProblem:
        x, y, u, v = np.random.default_rng(number).uniform(-0.1, 0.1, 4)
        left = fixed(robot, "left_sole", floor, x - 0.4, y + 0.1)
        right = fixed(robot, "right_sole", floor, u - 0.4, v - 0.1)
        return PostureProblem(robot, Stance((left, right)), wanted, start=q, kinematics=kinematics)

    return make


PARTS = dict(
    zip("abcdefghij", (part_a, part_b, part_c, part_d, part_e, part_f, part_g, part_h, part_i, part_j), strict=True)
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="one part, may be repeated; all by default")
    parser.add_argument("--starts", type=int, default=200, help="perturbed starts of parts a and b")
    parser.add_argument("--peer-starts", type=int, default=20, help="of these for all solvers but the first")
    parser.add_argument("--scene-starts", type=int, default=11, help="starts of part e")
    parser.add_argument("--scenes", nargs="+", default=["car", "fridge", "warehouse"], help="scenes of part e")
    parser.add_argument("--scene-iterations", type=int, default=500, help="most iterations of a search in e and h")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="optimality tolerance of e and h")
    parser.add_argument("--reaches", type=int, default=150, help="problems of part h")
    parser.add_argument("--problems", type=int, default=2000, help="random problems of part f")
    parser.add_argument("--requests", type=int, default=120, help="requests of part i")
    parser.add_argument("--blocks", type=int, default=15, help="blocks of parts c and d of which the median is taken")
    parser.add_argument("--iterations", type=int, default=150, help="most iterations of a search")
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), help="ours to measure; e to h take the first")
    parser.add_argument("--without-collisions", action="store_true", help="leave collisions out of parts c and f")
    parser.add_argument("--out", type=Path, help="folder for the calls of part f as a table and as a histogram")
    arguments = parser.parse_args()
    arguments.options = SolverOptions(max_iterations=arguments.iterations)
    robot = load_robot("hrp2")
    for part in arguments.part or PARTS:
        PARTS[part](robot, arguments)


if __name__ == "__main__":
    main()
