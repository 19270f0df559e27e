# SPDX-License-Identifier: Apache-2.0
"""One tick of the kinematics solver, beside peers in the same run.

- Cross-Delta, 15 joints and 2 loops, its plate dragged along a path: ours, a Gauss-Newton in numpy on Pinocchio's
  Jacobians (without limits), and MuJoCo's equality constraints, driven by the sliders that ours gives; the plates'
  places are compared.
- HRP-2 with both feet, a hand and the centre of mass: ours, pink and mink. A tick of ours iterates until all commands
  are met, theirs is one step.
- Chains of up to 200 joints and 20 loops: how a tick's time grows.
- The relay: driven joints in, complete state out, beside the same Gauss-Newton.

Times are processor times, medians over ticks; peers answer from processes of their own and take turns with ours.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
from peer_engine import PeerEngine

from humanoid_kinematics import Mechanism, load_mechanism
from humanoid_kinematics.relay import Relay
from humanoid_kinematics.solver.commands import CentreOfMassGoal, ToolGoal
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_kinematics.solver.thesis_solver import ThesisSolver, pseudo_inverse
from humanoid_model import load_robot

SLIDERS = ("joint_1", "joint_6", "joint_11")
SIZES = ((10, 1), (20, 2), (50, 5), (100, 10), (200, 20))
TICKS = 400


def median(tick: Callable[[int], None], count: int = TICKS) -> float:
    """Median processor time of a tick [µs]; the first ones warm up."""
    for i in range(20):
        tick(i)
    seconds = []
    for i in range(20, count):
        begin = time.process_time()
        tick(i)
        seconds.append(time.process_time() - begin)
    return 1e6 * float(np.median(seconds))


class NumpyNewton:
    """Gauss-Newton on loops and, if there is one, a tool's position, in numpy with Pinocchio's Jacobians."""

    def __init__(self, mechanism: Mechanism, tool: str | None, held: tuple[str, ...] = ()) -> None:
        """Begin with closed loops."""
        self.thesis = ThesisSolver(mechanism)
        self.thesis.close()
        self.tools = [tool] if tool else []
        self.free = np.setdiff1d(np.arange(mechanism.model.nv), [mechanism.robot.index_v(joint) for joint in held])

    def solve(self, goal: np.ndarray | None) -> None:
        """Iterate until gaps are below those of ours: 1e-10 of loops, 1e-7 of the tool (in half metres)."""
        thesis, unit = self.thesis, self.thesis.mechanism.length_unit
        for _ in range(20):
            gaps = thesis.gaps()
            rhs = gaps
            if goal is not None:
                body, placement = thesis._frame(self.tools[0])
                away = (goal - (thesis._data.oMi[body] * placement).translation) / unit
                rhs = np.concatenate([away, gaps])
                if np.abs(away).max() < 5e-8 / unit and np.abs(gaps).max() < 5e-11 / unit:
                    return
            elif np.abs(gaps).max() < 5e-11 / unit:
                return
            J = thesis.jacobian(tuple(self.tools))
            if goal is not None:
                J = np.delete(J, [3, 4, 5], axis=0)
            thesis.q[self.free] += (pseudo_inverse(J[:, self.free], 1e-9) @ rhs) * thesis._unit[self.free]


def plate_path(start: np.ndarray, i: int) -> np.ndarray:
    """Return a place on a smooth path, 2 mm from tick to tick."""
    t = 2e-3 * i
    return start + np.array([0.1 * np.sin(7.0 * t), 0.2 * np.sin(5.0 * t), 0.1 * np.cos(6.0 * t) - 0.1])


def cross_delta(peers: Path) -> None:
    """Measure the cross-Delta."""
    mechanism = load_mechanism("cross")
    solver = MechanismSolver(mechanism)
    start = solver.placement("link_5").translation
    statuses, q = [], []

    def ours(i: int) -> None:
        motion = solver.command(ToolGoal.position("link_5", plate_path(start, i)))
        statuses.append(motion.status)
        q.append(motion.q)

    newton = NumpyNewton(mechanism, "link_5")
    own = median(ours)
    numpy_time = median(lambda i: newton.solve(plate_path(start, i)))
    print(f"{'cross-Delta, ours':<44} {own:8.1f} µs   {statuses.count('reached')} of {len(statuses)} reached")
    print(f"{'cross-Delta, Gauss-Newton in numpy':<44} {numpy_time:8.1f} µs")
    robot = mechanism.robot
    bodies = {part.joint_id: name for name, part in robot.parts.links.items() if name.startswith("link_")}
    loops = []
    for loop in mechanism.loops:
        a, b = robot.parts.links[loop.link_a], robot.parts.links[loop.link_b]
        between = a.placement_joint_link * loop.placement_a * (b.placement_joint_link * loop.placement_b).inverse()
        x, y, z, w = pin.Quaternion(between.rotation).coeffs()
        loops.append({
            "body_1": bodies[a.joint_id], "body_2": bodies[b.joint_id],
            "position_2_in_1": between.translation.tolist(), "quaternion_2_in_1": [w, x, y, z],
        })  # fmt: skip
    task = {
        "urdf": robot.urdf, "loops": loops, "drives": SLIDERS, "tool": "link_5",
        "positions": dict(zip(robot.joint_names, q[0].tolist(), strict=True)),
    }  # fmt: skip
    engine = PeerEngine(peers, "mujoco_loops.py", task)
    columns = [robot.index_v(joint) for joint in SLIDERS]
    off, seconds, steps, gap = 0.0, [], [], 0.0
    for i in range(0, TICKS, 40):
        answer = engine.ask(json.dumps(q[i][columns].tolist()))
        solver.close(q[i])
        off = max(off, float(np.abs(solver.placement("link_5").translation - answer["place"]).max()))
        seconds.append(answer["seconds"])
        steps.append(answer["steps"])
        gap = max(gap, answer["gap"])
    engine.close()
    print(
        f"{'cross-Delta, MuJoCo ' + engine.version + ' equality':<44} {1e6 * np.median(seconds):8.1f} µs a step, "
        f"{int(np.median(steps))} steps to rest; gap {gap:.1e} m; plates differ by {off:.1e} m"
    )


def humanoid(peers: Path) -> None:
    """Measure HRP-2."""
    robot = load_robot("hrp2")
    solver = MechanismSolver(Mechanism.from_robot(robot))
    frames = ("l_sole", "r_sole", "RARM_LINK6")
    goals = [solver.placement(frame) for frame in frames]
    centre = pin.centerOfMass(robot.model, robot.model.createData(), solver.q).copy()
    hand = goals[2].translation.copy()
    offsets = [np.array([0.03 * np.sin(i / 80), 0.03 * np.sin(i / 60), 0.04 * np.sin(i / 50)]) for i in range(TICKS)]
    statuses = []

    def ours(i: int) -> None:
        goals[2].translation = hand + offsets[i]
        motion = solver.command(*map(ToolGoal, frames, goals), CentreOfMassGoal(centre))
        statuses.append(motion.status)

    start = solver.q.copy()
    own = median(ours)
    reached = f"{statuses.count('reached')} of {len(statuses)} reached"
    print(f"{'HRP-2, 3 tools and centre of mass, ours':<44} {own:8.1f} µs   {reached}")
    model = robot.model
    joints = {name: float(start[model.joints[robot.parts.joint_ids[name]].idx_q]) for name in robot.joint_names}
    for engine_name in ("pink", "mink"):
        task = {
            "engine": engine_name, "urdf": robot.urdf, "base": start[:7].tolist(), "joints": joints, "frames": frames,
        }  # fmt: skip
        engine = PeerEngine(peers, "inverse_kinematics.py", task)
        answer = engine.ask(json.dumps([offset.tolist() for offset in offsets]))
        engine.close()
        print(f"{'HRP-2, ' + engine.version:<44} {1e6 * answer['seconds']:8.1f} µs   up to {answer['away']:.1e} m away")


def chain(joints: int, loops: int, folder: Path) -> MechanismSolver:
    """Build a chain of blocks of ten joints: a hybrid loop of seven, and three that turn out of its plane."""
    lines, constraints, last, number = [], [], 0, 0

    def link(pred: int, theta: float, d: float, alpha: float = 0.0, gamma: float = 0.0) -> int:
        nonlocal number
        number += 1
        lines.append(
            f"link {number} {{ parameters {{ theta {theta} r 0 alpha {alpha} d {d} gamma {gamma} epsil 0 }} "
            f"type 2 pred {pred} filename ( ) }}"
        )
        return number

    for block in range(joints // 10):
        first = link(last, 0.0, 50.0)
        if block < loops:
            second = link(first, 51.0, 500.0)
            third = link(second, -120.0, 400.0)
            branch = link(link(link(first, -51.0, 500.0, gamma=-18.0), 120.0, 400.0), -60.0, 492.0)
            lines.append(f"frame {1000 + block} {{ pos {{ 492 0 0 }} ori {{ 0 0 60 }} pred {third} filename ( ) }}")
            constraints.append(f"constraint {{ link {branch} frame {1000 + block} }}")
        else:
            third = first
            for theta in (20.0, -30.0, 20.0, -30.0, 20.0):
                third = link(third, theta, 200.0)
        end = link(third, 60.0, 600.0)
        last = link(link(link(end, 10.0, 50.0, 90.0), -20.0, 50.0, -90.0), 10.0, 50.0, 90.0)
    lines.append(f"frame 999 {{ pos {{ 100 0 0 }} ori {{ 0 0 0 }} pred {last} filename ( ) }}")
    path = folder / f"chain_{joints}_{loops}.mad"
    path.write_text("RAFF v1.1 chain\nrobot chain {\nbase { }\n" + "\n".join(lines + constraints) + "\n}\n")
    return MechanismSolver(load_mechanism(path))


def growth() -> None:
    """Measure chains."""
    print(f"\n{'joints':>8} {'loops':>6} {'tick':>12} {'a joint and loop':>18}")
    with tempfile.TemporaryDirectory() as folder:
        for joints, loops in SIZES:
            solver = chain(joints, loops, Path(folder))
            start = solver.placement("frame_999").translation

            def tick(i: int, solver: MechanismSolver = solver, start: np.ndarray = start) -> None:
                away = 0.05 * np.array([np.sin(i / 30), np.sin(i / 40), np.sin(i / 50)])
                solver.command(ToolGoal.position("frame_999", start + away))

            count = solver.mechanism.model.nv
            took = median(tick, 200)
            print(f"{count:>8} {loops:>6} {took:>9.1f} µs {took / (count * loops):>15.2f} µs")


def relays() -> None:
    """Measure the relay."""
    print()
    for name, driven in (("fourbar", ("joint_1",)), ("cross", SLIDERS)):
        mechanism = load_mechanism(name)
        relay = Relay(mechanism, driven)
        newton = NumpyNewton(mechanism, None, driven)
        columns = [mechanism.robot.index_v(joint) for joint in driven]
        start = relay.solver.q[columns].copy()

        def ours(i: int, relay: Relay = relay, start: np.ndarray = start) -> None:
            assert relay.update(start + 0.05 * np.sin(i / 50), 0.1 * np.ones(len(start))).closed

        def theirs(i: int, newton: NumpyNewton = newton, start: np.ndarray = start, at: list[int] = columns) -> None:
            newton.thesis.q[at] = start + 0.05 * np.sin(i / 50)
            newton.solve(None)

        print(f"{'relay of ' + name + ', ours, with velocities':<44} {median(ours):8.1f} µs")
        print(f"{'relay of ' + name + ', Gauss-Newton in numpy':<44} {median(theirs):8.1f} µs")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cross_delta(arguments.peers)
    humanoid(arguments.peers)
    growth()
    relays()


if __name__ == "__main__":
    main()
