# SPDX-License-Identifier: Apache-2.0
"""Integrators: accuracy against cost, contact families side by side, and the gripper that closes on a can.

Work and precision: error of the state after 1 s against evaluations of the efforts and against wall time, for an arm
that falls (smooth), a ball with air drag that bounces (schemes with restitution only) and a block that slides across a
slope. References are scipy's, at 1e-12. Wall times are those of the plain integrators in Python.

Contact families (specification 000 §5.4): penalty, impulses and constraints on a box that drops on a corner.

Grip (experiment E0): penalty contact with the gains of a walking robot, softer, and constraints.

Writes integration.png and can_grasp.png to the folder of --out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from humanoid_model import load_robot
from humanoid_model.errors import SimulationError
from humanoid_model.scene import Scene, SceneRobot
from humanoid_sim.world.world import World
from humanoid_studies.baselines.can_grasp import CAN_RADIUS, grasp_with_constraints, grasp_with_penalty
from humanoid_studies.baselines.impulse_method import ImpulseMethod
from humanoid_studies.baselines.penalty import Penalty
from humanoid_studies.integration.analytic_systems import GRAVITY, FallingBall, PlanarBox, SlidingBlock
from humanoid_studies.integration.catalogue import find_integrator
from humanoid_studies.integration.integrator import Integrator
from humanoid_studies.integration.mechanical_system import MechanicalSystem
from humanoid_studies.integration.world_system import WorldSystem
from humanoid_studies.simulator.can_grasp import grasp_panels
from humanoid_studies.simulator.experiment_result import ExperimentResult

Vector = NDArray[np.float64]
DURATION = 1.0
STEPS = (25, 50, 100, 200, 400, 800, 1600)
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
EXTRAPOLATED = "extrapolated"

SMOOTH = (
    "explicit_euler", "verlet", "rk2", "rk4", "implicit_euler", "theta", "moreau", "jean", "foerg", "stewart_trinkle",
    "anitescu_potra_1997", "anitescu_potra_2002", "anitescu_hart", "potra_trapezoid", EXTRAPOLATED,
)  # fmt: skip
BOUNCING = (
    "explicit_euler", "verlet", "rk2", "rk4", "implicit_euler", "theta", "moreau", "anitescu_potra_1997",
    "anitescu_potra_2002", "potra_trapezoid", "studer_ggl", "event_driven", EXTRAPOLATED, "impulse",
)  # fmt: skip
SLIDING = (*SMOOTH, "event_driven")


@dataclass(frozen=True)
class Problem:
    """A motion whose end is known.

    Attributes:
        title: what it is.
        system: makes the mechanism.
        q: configuration at the start.
        v: velocity at the start.
        end: configuration and velocity after :data:`DURATION`.
        schemes: integrators that can do it.
    """

    title: str
    system: Callable[[], MechanicalSystem]
    q: Vector
    v: Vector
    end: Vector
    schemes: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """One run: error of the state, evaluations of the efforts, seconds."""

    error: float
    evaluations: int
    seconds: float


class BallInAir(FallingBall):
    """A ball with linear drag [N s/m]."""

    drag = 0.8

    def efforts(self, t: float, q: Vector, v: Vector) -> Vector:
        """Weight and drag."""
        return super().efforts(t, q, v) - self.drag * v

    def derivatives(self, t: float, q: Vector, v: Vector, a: Vector | None = None) -> tuple[Vector, Vector]:
        """Of the drag."""
        return np.zeros((1, 1)), np.full((1, 1), -self.drag)


def falling_arm() -> Problem:
    """Return an arm of two links without motors."""
    arm = load_robot("robot_2r_a")
    placed = SceneRobot("arm", arm, "zero", pin.SE3.Identity(), np.array(arm.postures["zero"]))
    system = WorldSystem(World(Scene("arm", robots=(placed,), gravity=np.array([3.0, -9.8, 1.0]))))
    system.servos.stiffness[:] = system.servos.damping[:] = 0.0
    model = system.world.model
    data = model.createData()
    q, v = np.array([0.4, -0.8]), np.array([1.0, 2.0])

    def rates(t: float, y: Vector) -> Vector:
        return np.concatenate([y[2:], pin.aba(model, data, y[:2], y[2:], -system.servos.passive_damping * y[2:])])

    run = solve_ivp(rates, (0.0, DURATION), np.concatenate([q, v]), rtol=1e-12, atol=1e-13)
    return Problem("falling arm (smooth)", lambda: system, q, v, run.y[:, -1], SMOOTH)


def bouncing_ball() -> Problem:
    """Return the ball dropped from 1 m with e = 0.8: one bounce, up, and down again."""
    restitution = 0.8

    def floor(t: float, y: Vector) -> float:
        return float(y[0])

    floor.terminal, floor.direction = True, -1.0  # type: ignore[attr-defined]
    t, y = 0.0, np.array([1.0, 0.0])
    while True:
        run = solve_ivp(
            lambda t, y: [y[1], -GRAVITY - BallInAir.drag * y[1]],
            (t, DURATION),
            y,
            events=floor,
            rtol=1e-12,
            atol=1e-13,
        )
        t, y = float(run.t[-1]), run.y[:, -1]
        if run.status == 0:
            break
        y = np.array([1e-15, -restitution * y[1]])
    make = lambda: BallInAir(restitution=restitution)  # noqa: E731
    return Problem("bouncing ball with drag, e = 0.8", make, np.ones(1), np.zeros(1), y, BOUNCING)


def sliding_block() -> Problem:
    """Pushed across a slope of 20 degrees, friction 0.3: its path bends downhill."""
    slope, friction = np.radians(20.0), 0.3

    def rates(t: float, y: Vector) -> Vector:
        braking = friction * GRAVITY * np.cos(slope) / np.hypot(y[2], y[3])
        return np.array([y[2], y[3], GRAVITY * np.sin(slope) - braking * y[2], -braking * y[3]])

    y = solve_ivp(rates, (0.0, DURATION), [0.0, 0.0, 0.0, 2.0], rtol=1e-12, atol=1e-13).y[:, -1]
    end = np.array([y[0], y[1], 0.0, y[2], y[3], 0.0])
    make = lambda: SlidingBlock(slope, friction)  # noqa: E731
    return Problem("block sliding across a slope", make, np.zeros(3), np.array([0.0, 2.0, 0.0]), end, SLIDING)


def sample(problem: Problem, integrator: Integrator, steps: int) -> Sample:
    """Run a problem once."""
    system = problem.system()
    evaluations = 0
    efforts = system.efforts

    def counted(t: float, q: Vector, v: Vector) -> Vector:
        nonlocal evaluations
        evaluations += 1
        return efforts(t, q, v)

    system.efforts = counted  # type: ignore[method-assign]
    q, v, dt = problem.q, problem.v, DURATION / steps
    began = time.perf_counter()
    for k in range(steps):
        q, v, _ = integrator.step(system, q, v, dt, k * dt)
    seconds = time.perf_counter() - began
    system.efforts = efforts  # type: ignore[method-assign]
    return Sample(float(np.abs(np.concatenate([q, v]) - problem.end).max()), evaluations, seconds)


def work_and_precision(problem: Problem, counts: tuple[int, ...] = STEPS) -> dict[str, list[Sample]]:
    """Return samples of all schemes of a problem, from coarse to fine."""
    series = {}
    for name in problem.schemes:
        if name == EXTRAPOLATED:
            series[name] = [
                sample(problem, find_integrator(name, tolerance=tolerance, smallest=2.0**-14), 20)
                for tolerance in TOLERANCES[: len(counts)]
            ]
        else:
            series[name] = [sample(problem, find_integrator(name), n) for n in counts]
    return series


def order(series: list[Sample], counts: tuple[int, ...]) -> float:
    """Return the slope of the error over the number of steps, as far as it is above rounding."""
    points = [(n, s.error) for n, s in zip(counts, series, strict=False) if s.error > 1e-11]
    if len(points) < 2:
        return float("nan")
    return float(-np.polyfit(np.log([n for n, _ in points]), np.log([e for _, e in points]), 1)[0])


def print_series(problem: Problem, series: dict[str, list[Sample]], counts: tuple[int, ...]) -> None:
    print(f"\n{problem.title}: error after {DURATION:g} s")
    middle = len(counts) // 2
    print(f"{'':22}{'order':>7}{f'{counts[middle]} steps':>14}{f'{counts[-1]} steps':>14}{'evaluations':>13}{'ms':>9}")
    for name, samples in series.items():
        slope = "" if name == EXTRAPOLATED else f"{order(samples, counts):.2f}"
        where = middle if len(samples) > middle else -1
        print(
            f"{name:22}{slope:>7}{samples[where].error:14.2e}{samples[-1].error:14.2e}"
            f"{samples[-1].evaluations:13}{1e3 * samples[-1].seconds:9.1f}",
            flush=True,
        )


def plot(results: list[tuple[Problem, dict[str, list[Sample]]]], path: Path) -> None:
    """Error against evaluations (above) and wall time (below), one column per problem."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for _, series in results for name in series))
    styles = {
        name: {"color": plt.get_cmap("tab20")(i % 20), "marker": "osv^D*xP"[i % 8], "ls": "-" if i % 2 else "--"}
        for i, name in enumerate(names)
    }
    figure, axes = plt.subplots(2, len(results), figsize=(5.2 * len(results), 9.0), squeeze=False, sharey="col")
    for column, (problem, series) in enumerate(results):
        for name, samples in series.items():
            errors = [max(s.error, 1e-13) for s in samples]
            axes[0, column].loglog([s.evaluations for s in samples], errors, ms=4, lw=1.2, **styles[name])
            axes[1, column].loglog([1e3 * s.seconds for s in samples], errors, ms=4, lw=1.2, **styles[name])
        axes[0, column].set_title(problem.title)
        axes[0, column].set_xlabel("evaluations of the efforts")
        axes[1, column].set_xlabel("wall time [ms]")
        for axis in axes[:, column]:
            axis.grid(True, which="major", alpha=0.3)
            axis.set_ylim(1e-13, 30.0)
    for axis in axes[:, 0]:
        axis.set_ylabel(f"error of the state after {DURATION:g} s")
    handles = [plt.Line2D([], [], ms=5, lw=1.5, label=name, **styles[name]) for name in names]
    figure.legend(handles=handles, loc="lower center", ncols=6, fontsize=9, frameon=False)
    figure.tight_layout(rect=(0.0, 0.09, 1.0, 1.0))
    figure.savefig(path, dpi=110)
    plt.close(figure)


FAMILIES: dict[str, Callable[[], Integrator]] = {
    "penalty, K = 1e4, C = 40": lambda: Penalty(1e4, 40.0),
    "penalty, K = 1e6, C = 400": lambda: Penalty(1e6, 400.0),
    "impulses": ImpulseMethod,
    "constraints, Moreau": lambda: find_integrator("moreau"),
    "constraints, Anitescu-Hart": lambda: find_integrator("anitescu_hart"),
}


@dataclass(frozen=True)
class Drop:
    """A box that drops on a corner and comes to rest.

    Attributes:
        microseconds: wall time of one step.
        penetration: deepest [m].
        tremble: speed in the last quarter, root mean square [m/s, rad/s].
        creep: sideways way in the last quarter [m].
        stable: whether the state stayed finite and no energy appeared.
    """

    microseconds: float
    penetration: float
    tremble: float
    creep: float
    stable: bool


def drop(integrator: Integrator, dt: float, duration: float) -> Drop:
    """Drop a box of 0.5 m by 0.2 m from a height of 5 cm on a slope of 10 degrees."""
    system = PlanarBox(0.5, 0.2, slope=np.radians(10.0))
    downhill = GRAVITY * np.array([np.sin(np.radians(10.0)), -np.cos(np.radians(10.0))])
    q, v = np.array([0.0, 0.22, 0.3]), np.zeros(3)
    deepest, stable, steps = 0.0, True, round(duration / dt)
    highest = -float(downhill @ q[:2])
    late: list[tuple[float, float]] = []
    began = time.perf_counter()
    for k in range(steps):
        try:
            q, v, _ = integrator.step(system, q, v, dt, k * dt)
        except SimulationError:
            stable = False
        kinetic = 0.5 * float(v @ system.mass(q) @ v) if np.all(np.isfinite(v)) else np.inf
        if not stable or kinetic - float(downhill @ q[:2]) > highest + 0.05:
            stable = False
            break
        deepest = max(deepest, -float(system.contacts(q, v, dt).gaps.min()))
        if k >= 0.75 * steps:
            late.append((float(v @ v), float(q[0])))
    seconds = time.perf_counter() - began
    if not stable or not late:
        return Drop(1e6 * seconds / (k + 1), deepest, np.nan, np.nan, False)
    speeds, ways = np.array(late).T
    return Drop(1e6 * seconds / steps, deepest, float(np.sqrt(speeds.mean())), float(np.ptp(ways)), True)


def largest_stable_step(make: Callable[[], Integrator], duration: float) -> float:
    """Return the largest of some time steps at which the drop is stable [s]; nan if none is."""
    for dt in (2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4):
        if drop(make(), dt, duration).stable:
            return dt
    return float("nan")


def compare_families(duration: float) -> None:
    print(f"\nBox dropped on a slope of 10 degrees, {duration:g} s at 1 ms")
    print(f"{'':28}{'us/step':>9}{'penetration mm':>16}{'tremble mm/s':>14}{'creep mm':>11}{'largest step ms':>17}")
    for name, make in FAMILIES.items():
        seen, largest = drop(make(), 1e-3, duration), largest_stable_step(make, min(duration, 1.0))
        print(
            f"{name:28}{seen.microseconds:9.0f}{1e3 * seen.penetration:16.4f}{1e3 * seen.tremble:14.2e}"
            f"{1e3 * seen.creep:11.2e}{1e3 * largest:17.1f}",
            flush=True,
        )


def grip(out: Path, duration: float) -> None:
    """Experiment E0."""
    runs = {
        "constraints": grasp_with_constraints(duration),
        "penalty, gains of walking": grasp_with_penalty(duration),
        "penalty, gains of walking, never pulls": grasp_with_penalty(duration, pulls=False),
        "penalty, softer": grasp_with_penalty(duration, stiffness=3e3, damping=10.0),
    }
    print(f"\nGripper closing on a can (E0), {duration:g} s")
    print(f"{'':40}{'penetration mm':>16}{'% of radius':>13}{'largest force N':>17}{'ends at s':>11}")
    for name, run in runs.items():
        depth, force = run.penetration.max(initial=0.0), run.force.max(initial=0.0)
        end = f"{run.time[-1]:.3f}" + (" diverged" if run.diverged else "")
        print(f"{name:40}{1e3 * depth:16.3f}{100 * depth / CAN_RADIUS:13.1f}{force:17.1f}{end:>11}")
    picture = ExperimentResult("E0", "A gripper closes on a can", (), grasp_panels(runs))
    picture.write_picture(out / "can_grasp.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the pictures")
    parser.add_argument("--grip", type=float, default=5.0, help="simulated seconds of the grip; 0 leaves it out")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = []
    for problem in (falling_arm(), bouncing_ball(), sliding_block()):
        sample(problem, find_integrator("moreau"), 10)  # compiles the contact solver, warms caches
        series = work_and_precision(problem)
        print_series(problem, series, STEPS)
        results.append((problem, series))
    plot(results, arguments.out / "integration.png")
    compare_families(2.0)
    if arguments.grip > 0.0:
        grip(arguments.out, arguments.grip)


if __name__ == "__main__":
    main()
