# SPDX-License-Identifier: Apache-2.0
"""The planar BIP walks its optimal gait on its feet: synthesised, then tracked in the simulator, forces compared.

A start from rest, cyclic steps at 0.746 m/s, a braking step and a stop, all by Pontryagin's principle; torques fed
forward to the servos that follow the joints. No sensor but those of the joints is used: nothing balances the robot.

python examples/optimal_gait_planar.py gait.png             # prints the errors; curves and strip of the robot
python examples/optimal_gait_planar.py gait.png --cycles 20
python examples/optimal_gait_planar.py gait.png --heel-strike --stiffness 0.3
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model import Robot, load_robot
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.monitoring import FootForceMonitor
from humanoid_studies.planar_gait import (
    BipWalker,
    BoundaryState,
    GaitModel,
    GaitPlan,
    GaitSettings,
    GaitSolution,
    GaitSpec,
    Penalties,
    PhaseKind,
    PhaseSettings,
    PhaseSolution,
    PhaseSpec,
    PlannedPhase,
    StepData,
    SynthesisOptions,
    WalkData,
    generate_gait,
    load_walk,
    phase_problem,
    plan_phase,
    synthesize_phase,
    walk_between_rests,
)
from humanoid_studies.planar_gait.models import project_to_sagittal_plane
from humanoid_studies.planar_gait.trajectory import GaitTrajectory, gait_trajectory

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

Real = NDArray[np.floating[Any]]

FRICTION = 0.6
"""Of the scene's floor, and of the plan."""
HELD = 80.0
"""Least force at heel and toe of the stance foot that is planned, a margin against tipping [N]."""
CLEARANCE = 0.01
"""Height that the swinging foot keeps where it can [m]."""
HEEL_CLEARANCE = 0.005
"""The same before heels strike; with more of it Newton's method doesn't solve the start from rest [m]."""
SETTLING = 0.01
"""Time after a transition that averages leave out [s]; peaks don't."""

HEEL_TIME = 0.07
"""That the front foot takes to come down from its heel [s]."""

WALKS = ("bip_cyclic", "bip_braking")


def settings(clearance: float) -> GaitSettings:
    """All feet press and hold, joints stay within their ranges and rates.

    Args:
        clearance: height that the swinging foot keeps where it can [m].
    """
    ranges = Penalties(closure=1e7, slap=1e6, range_weight=1.0, rate_weight=1.0, clearance=clearance)
    feet = PhaseSettings(penalties=ranges, min_root_force=HELD, root_friction=FRICTION)
    return GaitSettings(feet, feet, FRICTION)



def synthesize(cycles: int = 3, heel_strike: bool = False) -> tuple[GaitSolution, GaitSolution]:
    """Return the walk for the robot as it is, and for its legs exchanged, which the thesis' table makes unlike.

    Step and durations are the thesis', but for the front foot in double support. In the thesis its toe presses while it
    is in the air, and then dips into the ground. Here the sole lands level, or ``heel_strike`` lets it come down on its
    heel alone and bear with all of it from there on. Closures are kept to a few micrometres by their penalties.

    Args:
        cycles: of double and single support between start and brake.
        heel_strike: let the heel touch first, the sole at 11 degrees as in the thesis.
    """
    robot = load_robot("bip_planar")
    walkers = [
        BipWalker(project_to_sagittal_plane(robot, legs=legs).bip, FRICTION, min_toe_force=6.0)
        for legs in (("rear_leg", "front_leg"), ("front_leg", "rear_leg"))
    ]
    struck = [load_walk(name) for name in WALKS]
    steady, braking = (dataclasses.replace(walk, step=walk.step.replace(initial_sole_angle=0.0)) for walk in struck)
    if not heel_strike:
        specs = walk_between_rests(steady, braking, cycles)
        held = settings(CLEARANCE)
        first, second = (
            generate_gait(GaitSpec(GaitModel("bip", walker), specs, settings=held)).gait for walker in walkers
        )
        assert first is not None
        assert second is not None
        return first, second
    flat = {
        walk.step: _when_the_sole_is_down(walkers[0], level)
        for walk, level in zip(struck, (steady, braking), strict=True)
    }
    specs = walk_between_rests(struck[0], struck[1], cycles)
    return _synthesize_with_heel(walkers[0], specs, flat), _synthesize_with_heel(walkers[1], specs, flat)


def _when_the_sole_is_down(walker: BipWalker, level: WalkData) -> BoundaryState:
    """State at the end of the heel phase: where a double support that begins with the sole on the ground is by then."""
    phase = plan_phase(walker, PhaseSpec(PhaseKind.DOUBLE_SUPPORT, level.double_support, step=level.step))
    solution = synthesize_phase(phase_problem(walker, phase, settings(HEEL_CLEARANCE)))
    (q,), (v,), _ = solution.sample(np.array([HEEL_TIME]))
    hip = phase.model.points["hip"]
    place, speed = hip.position(q), hip.jacobian(q) @ v
    # Told again by hip, trunk and rear foot, the state closes the loop exactly.
    end = level.step.replace(
        final_hip=complex(*place),
        final_hip_velocity=complex(*speed),
        final_trunk_angle=float(q[6]),
        final_rear_foot_angle=float(q[0] - phase.start.q[0]),
        final_rear_foot_rate=float(v[0]),
    )
    state = walker.double_support_end(end)
    return BoundaryState(state.q, np.append(state.v[:6], v[6]))


def _synthesize_with_heel(
    walker: BipWalker, specs: Sequence[PhaseSpec], flat: Mapping[StepData, BoundaryState]
) -> GaitSolution:
    """Each double support in two phases: on the front heel alone until the sole is down at rest, then on all of it."""
    phases: list[PlannedPhase] = []
    advances: list[complex] = []
    for spec in specs:
        whole = plan_phase(walker, spec)
        if spec.own is None:
            phases.append(whole)
        else:
            heel = walker.bip.double_support(spec.own.step_length, FRICTION, toe_force=False)
            first = dataclasses.replace(spec, duration=HEEL_TIME)
            second = dataclasses.replace(spec, duration=spec.duration - HEEL_TIME)
            middle = flat[spec.own]
            phases.append(PlannedPhase(first, heel.with_bounds(F_B1=(20.0, math.inf)), whole.start, middle))
            advances.append(0j)
            phases.append(PlannedPhase(second, whole.model, middle, whole.end))
        advances.append(whole.advance)
    places = np.concatenate([[0.0], np.cumsum(advances[:-1])])
    plan = GaitPlan(walker, tuple(phases), np.stack([places.real, places.imag], axis=1))
    held = settings(HEEL_CLEARANCE)
    falling = dataclasses.replace(held.double, penalties=dataclasses.replace(held.double.penalties, slap=0.0))
    solved: dict[tuple[PhaseSpec, int], PhaseSolution] = {}
    for phase in phases:
        key = (phase.spec, phase.model.control_count)
        if key not in solved:
            on_heel = phase.double and "F_B2" not in phase.model.control_names
            chosen = dataclasses.replace(held, double=falling) if on_heel else held
            # Steep penalties, rates and held feet together: now and then Newton's method fails, and the transcription,
            # the same solution to 1e-4 in cost where both are known, stands in.
            solved[key] = synthesize_phase(phase_problem(walker, phase, chosen), SynthesisOptions(rescue=True))
    return GaitSolution(plan, tuple(solved[(phase.spec, phase.model.control_count)] for phase in phases))


@dataclass(frozen=True)
class Run:
    """What the simulator did, k steps.

    Attributes:
        robot: that walked.
        times: ends of the steps [s], shape (k,).
        q: postures, shape (k, nq).
        v: velocities, shape (k, nv).
        force_times: middles of the steps [s], shape (k,).
        forces: forces under both feet along x and z, in the order of the trajectory's feet [N], shape (k, 2, 2).
    """

    robot: Robot
    times: Real
    q: Real
    v: Real
    force_times: Real
    forces: Real


def prepare(
    trajectory: GaitTrajectory, stiffness: float = 0.1, dt: float | None = None, torques: bool = True
) -> Simulation:
    """Return the scene ``bip_planar`` with the robot in a gait's first state, and what plays the gait.

    Args:
        trajectory: of the gait.
        stiffness: of the servos, as a share of that of the robot's YAML; damping goes with its root. Stiff servos force
            every tenth of a millimetre by which plan and ground disagree on the loop that both legs close.
        dt: time step; the scene's if left out [s].
        torques: feed them forward.
    """
    simulation = Simulation("bip_planar", dt=dt)
    robot = simulation.robots["bip"]
    own = robot.robot.actuators
    names = trajectory.joint_names
    gains = [stiffness * own[name].stiffness for name in names]
    robot.set_gains(gains, [math.sqrt(stiffness) * own[name].damping for name in names], names)
    robot.set_state(trajectory.q[0], trajectory.v[0])
    plan = JointTrajectory(
        names,
        trajectory.times,
        trajectory.positions,
        trajectory.velocities,
        trajectory.accelerations,
        efforts=trajectory.torques if torques else np.zeros_like(trajectory.torques),
    )
    simulation.add_module(TrajectoryPlayer("bip", plan))
    return simulation


def track(
    trajectory: GaitTrajectory, stiffness: float = 0.1, dt: float | None = None, torques: bool = True
) -> Run:
    """Plays a gait from its first state to its end; arguments are those of :func:`prepare`."""
    simulation = prepare(trajectory, stiffness, dt, torques)
    robot = simulation.robots["bip"]
    monitor = FootForceMonitor("bip")
    simulation.add_module(monitor)
    times, postures, velocities = [], [], []

    def record(simulation: Simulation) -> None:
        times.append(simulation.time)
        postures.append(robot.q)
        velocities.append(robot.v)

    simulation.run(trajectory.duration, record)
    series = monitor.series
    forces = np.stack([series.force[foot][:, [0, 2]] for foot in trajectory.feet], axis=1)
    return Run(robot.robot, np.array(times), np.array(postures), np.array(velocities), series.time, forces)


@dataclass(frozen=True)
class PhaseErrors:
    """How far a phase came out otherwise than planned.

    Attributes:
        kind: of the phase.
        start: [s].
        joint: greatest error of a joint [degree].
        base: of the hips at the end, ahead and up [m].
        planned: root mean square of the planned normal and tangential force of each foot [N], shape (2, 2).
        root_mean_square: of the deviation of each, without the settling time [N], shape (2, 2).
        mean: of the deviation, likewise [N], shape (2, 2).
        peak: greatest deviation, settling time included [N], shape (2, 2).
    """

    kind: str
    start: float
    joint: float
    base: Real
    planned: Real
    root_mean_square: Real
    mean: Real
    peak: Real

    def worst_share(self, least: float) -> float:
        """Greatest root mean square deviation as a share of the planned force, of forces of at least ``least`` [N]."""
        counted = self.planned >= least
        return float((self.root_mean_square[counted] / self.planned[counted]).max())


def compare(trajectory: GaitTrajectory, run: Run) -> list[PhaseErrors]:
    """Plan and simulation phase by phase: joints at the ends of steps, forces, which are means over them, amid them."""
    ends = np.clip(run.times, 0.0, trajectory.duration)
    at_ends = trajectory.at(ends, "before")
    joints = np.abs(run.q[:, trajectory.joint_q] - at_ends.positions)
    bases = run.q[:, :2] - at_ends.base[:, :2]
    planned = _planned_forces(trajectory, run.force_times)
    deviation = run.forces - planned
    rows = []
    for index, kind in enumerate(trajectory.kinds):
        start, end = trajectory.starts[index], trajectory.starts[index + 1]
        within = (run.force_times > start) & (run.force_times < end)
        settled = within & (run.force_times > start + SETTLING)
        rows.append(
            PhaseErrors(
                kind,
                float(start),
                math.degrees(joints[within].max()),
                bases[within][-1],
                np.sqrt((planned[settled] ** 2).mean(axis=0))[:, ::-1],
                np.sqrt((deviation[settled] ** 2).mean(axis=0))[:, ::-1],
                deviation[settled].mean(axis=0)[:, ::-1],
                np.abs(deviation[within]).max(axis=0)[:, ::-1],
            )
        )
    return rows


def _planned_forces(trajectory: GaitTrajectory, times: Real) -> Real:
    """(k, 2, 2) along x and z."""
    sample = trajectory.at(times)
    return np.stack([sample.tangential, sample.normal.sum(axis=2)], axis=2)


def table(rows: Sequence[PhaseErrors], weight: float) -> str:
    """Errors as text; forces in per cent of the weight, each of the feet in turn, and of what was planned."""
    head = f"{'phase':15}{'from':>7}{'joint':>8}{'hips':>14}   normal: rms, mean, peak (%)"
    lines = [head + "        tangential: rms, peak (%)    of the planned"]
    for row in rows:
        share = 100.0 / weight
        rms, mean, peak = share * row.root_mean_square, share * row.mean, share * row.peak
        lines.append(
            f"{row.kind:15}{row.start:6.2f}s{row.joint:7.2f}°{1e3 * row.base[0]:+7.1f}{1e3 * row.base[1]:+5.1f}mm"
            f"  {rms[0, 0]:5.1f}{rms[1, 0]:5.1f} {mean[0, 0]:+6.1f}{mean[1, 0]:+5.1f}"
            f" {peak[0, 0]:6.0f}{peak[1, 0]:4.0f}"
            f"     {rms[0, 1]:7.1f}{rms[1, 1]:5.1f} {peak[0, 1]:6.0f}{peak[1, 1]:4.0f}"
            f"      {100.0 * row.worst_share(0.02 * weight):9.1f} %"
        )
    return "\n".join(lines)


def figure(trajectory: GaitTrajectory, run: Run) -> Figure:
    """Joint errors, normal and tangential forces as planned and as measured, and the robot from the side."""
    plot, axes = plt.subplots(
        4, 1, figsize=(13, 12), layout="constrained", gridspec_kw={"height_ratios": [2, 3, 2, 3.5]}
    )
    reached = trajectory.at(np.clip(run.times, 0.0, trajectory.duration), "before")
    errors = np.rad2deg(run.q[:, trajectory.joint_q] - reached.positions)
    for name, column in zip(trajectory.joint_names, errors.T, strict=True):
        axes[0].plot(run.times, column, linewidth=0.9, label=name)
    axes[0].set(ylabel="joint error [°]", title="The planar BIP follows its optimal walk")
    axes[0].legend(ncols=6, fontsize=8)
    planned = _planned_forces(trajectory, run.force_times)
    for component, axis, label in ((1, axes[1], "normal force [N]"), (0, axes[2], "tangential force [N]")):
        for foot, name in enumerate(trajectory.feet):
            measured, wanted = run.forces[:, foot, component], planned[:, foot, component]
            colour = "tab:blue" if name.startswith("rear") else "tab:orange"
            axis.plot(run.force_times, measured, color=colour, linewidth=1.0, label=f"{name}, measured")
            axis.plot(run.force_times, wanted, "k--", linewidth=0.7, label="planned" if foot else None)
        largest = np.abs(planned[:, :, component]).max()
        axis.set(ylabel=label, ylim=((-0.05 if component else -1.4) * largest, 1.4 * largest))
        axis.legend(ncols=3, fontsize=8)
    axes[2].set(xlabel="time [s]")
    for axis in axes[:3]:
        axis.set(xlim=(0.0, trajectory.duration))
        for time in trajectory.transitions:
            axis.axvline(time, color="0.85", linewidth=0.8, zorder=0)
    strip(run, axes[3])
    return plot


def strip(run: Run, axis: Any, count: int = 29, apart: float = 0.16) -> None:
    """Draw the robot as the simulation had it, from the side, at equal times: rear leg blue, front leg orange.

    Args:
        run: to draw.
        axis: to draw into.
        count: of pictures.
        apart: what each picture is moved ahead of the one before it, beside the robot's own way [m].
    """
    model = run.robot.model
    data = model.createData()
    picked = np.unique(np.linspace(0, len(run.times) - 1, count).astype(int))
    for number, index in enumerate(picked):
        aside = number * apart
        pin.forwardKinematics(model, data, run.q[index])
        trunk = data.oMi[model.getJointId("base_pitch")]
        places = np.array([trunk.act(np.array([0.0, 0.0, z])) for z in (0.0, 0.66)])
        axis.plot(places[:, 0] + aside, places[:, 2], color="0.35", linewidth=1.6)
        for side, colour in (("rear", "tab:blue"), ("front", "tab:orange")):
            joints = [data.oMi[model.getJointId(f"{side}_{part}")].translation for part in ("hip", "knee", "ankle")]
            sole = run.robot.contacts[f"{side}_sole"]
            foot = data.oMi[run.robot.parts.links[sole.link].joint_id]
            ends = [foot.act(vertex) for vertex in sole.vertices_link]
            way = np.array([*joints, *ends, joints[2]])
            axis.plot(way[:, 0] + aside, way[:, 2], color=colour, linewidth=1.0)
    axis.axhline(0.0, color="k", linewidth=0.8)
    axis.set(aspect="equal", ylabel="z [m]", xticks=[])


def main() -> None:
    """Synthesises, tracks, prints and draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", nargs="?", default="gait.png")
    parser.add_argument("--cycles", type=int, default=3, help="double and single supports between start and brake")
    parser.add_argument("--heel-strike", action="store_true", help="let the heel touch first, the sole at 11 degrees")
    parser.add_argument("--stiffness", type=float, default=0.1, help="of the servos, as a share of the robot's own")
    parser.add_argument("--time-step", type=float, help="s; the scene's if left out")
    parser.add_argument("--no-torques", action="store_true", help="servos alone, nothing fed forward")
    arguments = parser.parse_args()
    solution, exchanged = synthesize(arguments.cycles, arguments.heel_strike)
    print(solution.report())
    trajectory = gait_trajectory(solution, load_robot("bip_planar"), exchanged=exchanged)
    run = track(trajectory, arguments.stiffness, arguments.time_step, not arguments.no_torques)
    print(table(compare(trajectory, run), 9.81 * run.robot.total_mass))
    figure(trajectory, run).savefig(Path(arguments.picture), dpi=90)
    print(f"written: {arguments.picture}")


if __name__ == "__main__":
    main()
