# SPDX-License-Identifier: Apache-2.0
"""Random requests for gaits: what is said of each, and what a check says that shares nothing with the planner.

A request is drawn from its seed and its number alone. The check reads the answer's motion: by forward dynamics planned
efforts and forces have to give the planned accelerations; joints are held against the limits of the robot's file, soles
against level ground, and forces against friction; what a player refuses is refused; BIP2000's motions in space
are walked in the simulator, with nothing that balances. Printed is a row of each request, then how often both agree. It
ends with 1 where a success doesn't pass.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.gait import (
    GaitBounds,
    GaitResult,
    GaitSolverOptions,
    GaitSpec,
    GaitWeights,
    cyclic_walk,
    generate_gait,
    load_walk,
    walk_between_rests,
)
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer

DIRECT = GaitSolverOptions(method="direct", time_limit=60.0)
STEPS = {"bip": ("bip_cyclic", "bip_stairs_up", "bip_stairs_down"), "rabbit": ("rabbit",)}
SUNK, ASTRAY = 1.5e-3, 0.02
"""Below the lowest foothold [m]; way of the base from its plan in the simulator [m]."""
SHARE = 0.011
"""By which limits and the friction coefficient may be exceeded."""
FORCE = 1.0
"""Pull that counts as none [N]."""
CAUSE = 0.05
"""Difference of accelerations from those of forward dynamics that counts as none, of the largest one."""
Draw = Callable[[np.random.Generator], GaitSpec]


def step_of_a_speed(rng: np.random.Generator) -> GaitSpec:
    """Return a request for the best step."""
    length = float(rng.choice([0.0, rng.uniform(0.2, 0.7)]))
    bounds = GaitBounds(friction=float(rng.choice([0.0, 0.3, 0.8])), clearance=float(rng.choice([0.0, 0.03])))
    return GaitSpec(
        str(rng.choice(["bip", "rabbit", "hrp2"])),
        speed=float(rng.uniform(0.2, 1.2)),
        step_length=length,
        cycles=int(rng.integers(1, 4)),
        bounds=bounds,
        options=DIRECT,
    )


def given_phases(rng: np.random.Generator) -> GaitSpec:
    """Return a request for phases of a step file, with bounds and penalties or without."""
    model = str(rng.choice(["bip", "rabbit"]))
    walk = load_walk(str(rng.choice(STEPS[model])))
    held = bool(rng.integers(2))
    friction = float(rng.choice([0.01, 0.3, 0.6, 0.9]))
    return GaitSpec(
        model,
        cyclic_walk(walk),
        cycles=int(rng.integers(1, 4)),
        one_problem=bool(rng.integers(2)),
        bounds=GaitBounds(friction=friction, enforce_friction=held, enforce_unilateral=held),
        options=DIRECT,
    )


def between_rests(rng: np.random.Generator) -> GaitSpec:
    """Return a request for BIP's phases from rest to rest, in the plane or lifted."""
    lift = bool(rng.integers(2))
    names = ("bip2000_steady", "bip2000_last") if lift else ("bip_cyclic", "bip_braking")
    phases = walk_between_rests(*(load_walk(name) for name in names), int(rng.integers(1, 3)))
    bounds = GaitBounds(enforce_unilateral=True, min_normal_force=float(rng.uniform(0.0, 80.0)))
    weights = GaitWeights(clearance=float(10.0 ** rng.uniform(2.5, 4.5)), rate=float(rng.choice([0.0, 1.0])))
    return GaitSpec("bip", phases, lift=lift, bounds=bounds, weights=weights, options=DIRECT)


def level_walk(rng: np.random.Generator) -> GaitSpec:
    """Return a request for a whole robot's own walk."""
    longest = {"bip": 0.4, "hrp2": 0.3}
    name = str(rng.choice(list(longest)))
    length = float(rng.choice([0.0, rng.uniform(0.3, 1.0) * longest[name]]))
    return GaitSpec(name, lift=True, step_length=length, cycles=int(rng.integers(1, 3)), options=DIRECT)


DRAWS: tuple[Draw, ...] = (step_of_a_speed, given_phases, between_rests, level_walk)


def faults(result: GaitResult) -> list[str]:
    """Return what the check finds wrong in the motion of an answer."""
    motion = result.motion
    if motion is None:
        return ["no motion"]
    found = [*limits(motion), *contacts(motion, result.spec.friction), *dynamics(motion)]
    try:
        plan = motion.joint_trajectory()
    except InputError as error:
        return [*found, f"player: {error}"]
    if not found and motion.robot.name == "bip" and result.lifted is not None:
        found += walked(motion, plan)
    return found


def limits(motion: WholeBodyTrajectory) -> list[str]:
    """Return joints whose range, speed or effort isn't kept."""
    robot, found = motion.robot, []
    for j, name in enumerate(motion.joint_names):
        actuator = robot.actuators[name]
        low, high = (bound[robot.index_q(name)] for bound in (robot.limits.lower, robot.limits.upper))
        q = motion.positions[:, j]
        if max(low - q.min(), q.max() - high) > 3e-3:
            found.append(f"{name} from {q.min():.3f} to {q.max():.3f} rad")
        for what, values, most in (
            ("rad/s", motion.velocities[:, j], actuator.velocity),
            ("N m", motion.torques[:, j], robot.limits.effort[robot.index_v(name)]),
        ):
            peak = float(np.abs(values).max())
            if peak > (1.0 + SHARE) * most:
                found.append(f"{name} {peak:.1f} of {most:g} {what}")
    return found


def contacts(motion: WholeBodyTrajectory, friction: float) -> list[str]:
    """Return forces that pull or slip, and bodies in the ground."""
    found = []
    pulls, slips = 0.0, 0.0
    for sample in motion.forces:
        for location in {force.location for force in sample}:
            own = [force.force for force in sample if force.location == location]
            x, y, z = np.sum(own, axis=0)
            pulls = max(pulls, -min(force[2] for force in own))
            slips = max(slips, float(np.hypot(x, y)) - (1.0 + SHARE) * friction * max(z, 0.0))
    if pulls > FORCE:
        found.append(f"a foot pulls with {pulls:.0f} N")
    if slips > FORCE * friction:
        found.append(f"a foot slips with {slips:.1f} N too much")
    places = [force.place[2] for sample in motion.forces for force in sample]
    lowest = min(places) if np.ptp(places) < 1e-3 else -np.inf  # stairs go on below the last foothold that is loaded
    robot = motion.robot
    soles = [contact for contact in robot.contacts.values() if contact.support]
    depth = 0.0
    for q in motion.q:
        links = robot.link_placements(q)
        depth = max(depth, *(lowest - min((links[s.link].act(p))[2] for p in s.vertices_link) for s in soles))
    if depth > SUNK:
        found.append(f"a sole is {1e3 * depth:.1f} mm in the ground")
    return found


def dynamics(motion: WholeBodyTrajectory) -> list[str]:
    """Return how far forward dynamics of the planned efforts and forces is off the planned accelerations."""
    robot, model = motion.robot, motion.robot.model
    data, off = model.createData(), 0.0
    for k, (q, v, tau) in enumerate(zip(motion.q, motion.v, motion.tau, strict=True)):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        torques = tau.copy()
        for force in motion.forces[k]:
            joint = robot.parts.links[robot.contacts[force.location].link].joint_id
            J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
            lever = force.place - data.oMi[joint].translation
            torques += J[:3].T @ force.force + J[3:].T @ np.cross(lever, force.force)
        off = max(off, float(np.abs(pin.aba(model, data, q, v, torques) - motion.a[k]).max()))
    largest = max(float(np.abs(motion.a).max()), 9.81)
    return [f"accelerations off by {off:.1f} of {largest:.0f} per s²"] if off > CAUSE * largest else []


def walked(motion: WholeBodyTrajectory, plan: JointTrajectory) -> list[str]:
    """Return whether the robot strays or falls in the simulator."""
    simulation = Simulation("bip_walk")
    robot = simulation.robots["bip"]
    robot.set_state(motion.q[0])
    simulation.add_module(TrajectoryPlayer("bip", plan))
    while simulation.time < motion.times[-1] + 1.0:
        simulation.step()
        if simulation.step_count % 20 == 0:
            wanted = motion.robot.placement_base(motion.at(simulation.time).q).translation
            if np.abs(robot.placement_world_base.translation - wanted).max() > ASTRAY:
                return [f"strays at {simulation.time:.2f} s"]
    return []


def described(spec: GaitSpec) -> str:
    """Return a request in a line."""
    kind = "lift" if spec.lift else "one problem" if spec.whole else "phases"
    return f"{spec.name} {kind} {len(spec.phases)} {spec.speed:.2f}/{spec.step_length:.2f} x{spec.cycles}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requests, print the table, and return whether a success didn't pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    options = parser.parse_args(arguments)
    agreed: Counter[tuple[str, str]] = Counter()
    for number in range(options.count):
        rng = np.random.default_rng((options.seed, number))
        started = time.perf_counter()
        try:
            spec = DRAWS[number % len(DRAWS)](rng)
            result = generate_gait(spec)
        except InputError as error:
            agreed["refused", "-"] += 1
            print(f"{number:3} refused  {error}", flush=True)
            continue
        wrong = faults(result)
        said = "success" if result.success else "but" if result.message.startswith("converged") else "unsolved"
        agreed[said, "wrong" if wrong else "passes"] += 1
        seconds = time.perf_counter() - started
        print(f"{number:3} {said:8} {seconds:5.1f} s  {described(spec)}: {result.message or '-'}", flush=True)
        print(f"             check: {'; '.join(wrong[:4]) or 'passes'}", flush=True)
    for (said, checked), count in sorted(agreed.items()):
        print(f"{said:9} {checked:7} {count:4}")
    return int(agreed["success", "wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
