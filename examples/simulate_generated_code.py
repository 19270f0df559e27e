# SPDX-License-Identifier: Apache-2.0
"""A URDF becomes C code that controls a simulation of the robot, and that simulates it once more beside.

``python examples/simulate_generated_code.py generated_code.png`` takes BIP2000; ``--robot`` any URDF or robot of the
stack. Its root is held. Inverse dynamics are its computed torque. Direct dynamics with the same controller, in steps of
semi-implicit Euler, are the second opinion on the simulator; Pinocchio is that on the efforts.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_codegen import generate
from humanoid_model import HumanoidError, InputError, Robot, Scene, SceneRobot, load_robot
from humanoid_model.files import save_picture
from humanoid_sim import Simulation

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FREQUENCY = 10.0
"""Of the errors that computed torque leaves, critically damped [rad/s]."""
SHARE = 0.15
"""Amplitude of each joint, as a share of its range."""

PERIOD = 4.0
"""Of the slowest joints [s]; the others sway two and three times as fast."""

Vector = NDArray[np.float64]


class GeneratedCode:
    """Inverse and direct dynamics in C, compiled for this machine and called through ctypes."""

    def __init__(self, robot: Robot, folder: Path) -> None:
        """Generate, write and compile.

        Args:
            robot: whose root is held.
            folder: that takes source and library.
        """
        began = time.perf_counter()
        generate(robot, "c", ["inverse_dynamics", "direct_dynamics"], folder)
        (source,) = folder.glob("*.c")
        library = source.with_suffix(".so")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        self._library, self._prefix = ctypes.CDLL(str(library)), source.stem
        self.time, self.size = time.perf_counter() - began, source.stat().st_size

    def _call(self, name: str, *arguments: Vector) -> Vector:
        result = np.empty_like(arguments[1])
        arrays = [np.ascontiguousarray(array, dtype=float) for array in arguments]
        getattr(self._library, f"{self._prefix}_{name}")(
            *(ctypes.c_void_p(array.ctypes.data) for array in (*arrays, result))
        )
        return result

    def inverse_dynamics(self, q: Vector, v: Vector, a: Vector) -> Vector:
        """Return efforts, all (n,)."""
        return self._call("inverse_dynamics", q, v, a)

    def direct_dynamics(self, q: Vector, v: Vector, tau: Vector) -> Vector:
        """Return accelerations, all (n,)."""
        return self._call("direct_dynamics", q, v, tau)

    def integrate(self, q: Vector, v: Vector, tau: Vector, dt: float) -> tuple[Vector, Vector]:
        """Return coordinates and velocities after a step of time with constant efforts."""
        v = v + dt * self.direct_dynamics(q, v, tau)
        return q + dt * v, v


def fixed_robot(name: str) -> Robot:
    """Load a robot with its root held.

    Raises:
        InputError: it has joints whose coordinates aren't one number each, that nothing drives, or that rub.
    """
    robot = load_robot(name, floating_base=False)
    if robot.model.nq != robot.model.nv or len(robot.actuators) != robot.model.nv or robot.loops:
        raise InputError(
            f"'{robot.name}' has ball joints, passive ones or loops", element="robot", remedy="Give an arm"
        )
    rubbing = [name for name, own in robot.actuators.items() if own.viscous_friction or own.dry_friction]
    if rubbing:
        raise InputError(
            f"joints of '{robot.name}' rub ({', '.join(rubbing)}), which the generated code leaves out",
            element="robot",
            remedy="Take <dynamics> out of the URDF",
        )
    return robot


def sway(robot: Robot) -> Callable[[float], tuple[Vector, Vector, Vector]]:
    """Return positions, velocities and accelerations that are wanted, by time: each joint sways about its middle."""
    low = np.maximum(robot.model.lowerPositionLimit, -np.pi)
    high = np.minimum(robot.model.upperPositionLimit, np.pi)
    middle, swing = 0.5 * (low + high), SHARE * (high - low)
    rates = 2.0 * np.pi * (1.0 + np.arange(robot.model.nv) % 3) / PERIOD

    def wanted(t: float) -> tuple[Vector, Vector, Vector]:
        angle = rates * t
        return middle + swing * np.sin(angle), swing * rates * np.cos(angle), -swing * rates**2 * np.sin(angle)

    return wanted


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate, simulate, compare.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 where code, Pinocchio and simulator agree, 1 if not, 2 where something given can't be used.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?", default="generated_code.png")
    parser.add_argument("--robot", default="bip", help="name, or path of a URDF")
    parser.add_argument("--duration", type=float, default=4.0, help="of the motion [s]")
    chosen = parser.parse_args(arguments)
    try:
        robot = fixed_robot(chosen.robot)
        with tempfile.TemporaryDirectory() as folder:
            return compare(robot, GeneratedCode(robot, Path(folder)), chosen.duration, chosen.picture)
    except HumanoidError as problem:
        print(f"simulate_generated_code: {problem}", file=sys.stderr)
        return 2


def compare(robot: Robot, code: GeneratedCode, duration: float, picture: str) -> int:
    """Simulate with the code in the loop, and with the code alone; report and draw."""
    print(f"code: {code.size / 1000:.0f} kB of C for {robot.name}, generated and compiled in {code.time:.1f} s")
    wanted = sway(robot)
    q, v, _ = wanted(0.0)
    placed = SceneRobot("arm", robot, "zero", pin.SE3.Identity(), q)
    simulation = Simulation(Scene("generated_code", robots=(placed,)))
    arm = simulation.robots["arm"]
    arm.set_state(q, v)
    data, dt = robot.model.createData(), simulation.dt

    def efforts(t: float, q: Vector, v: Vector) -> Vector:
        q_wanted, v_wanted, a_wanted = wanted(t)
        demand = a_wanted + FREQUENCY**2 * (q_wanted - q) + 2.0 * FREQUENCY * (v_wanted - v)
        return code.inverse_dynamics(q, v, demand)

    rows, spent, worst = [], {"C": 0.0, "Pinocchio": 0.0}, 0.0
    for step in range(round(duration / dt)):
        t = step * dt
        begin = time.perf_counter()
        tau = efforts(t, arm.q, arm.v)
        spent["C"] += time.perf_counter() - begin
        acceleration = code.direct_dynamics(arm.q, arm.v, tau)
        begin = time.perf_counter()
        reference = pin.rnea(robot.model, data, arm.q, arm.v, acceleration)
        spent["Pinocchio"] += time.perf_counter() - begin
        worst = max(worst, float(np.abs(reference - tau).max() / max(1.0, np.abs(tau).max())))
        arm.set_effort(tau, robot.joint_names)
        simulation.step()
        q, v = code.integrate(q, v, efforts(t, q, v), dt)
        rows.append((t + dt, arm.q.copy(), q, wanted(t + dt)[0], tau))
    times, simulated, beside, planned, torques = (np.array(column) for column in zip(*rows, strict=True))
    tracking, apart = np.abs(simulated - planned), np.abs(simulated - beside)
    limits = robot.limits.effort
    success = worst < 1e-9 and tracking.max() < 0.01 and apart.max() < 1e-3
    print(
        f"{'agree' if success else 'DISAGREE'}: efforts of C and Pinocchio differ by {worst:.1e} of the largest\n"
        f"tracking: joints within {1e3 * tracking.max():.3f} mrad (or mm) of what is wanted\n"
        f"simulator and C alone: at most {1e3 * apart.max():.4f} mrad (or mm) apart after {duration:g} s\n"
        f"margin: efforts at most {(np.abs(torques) / limits).max():.0%} of their limits\n"
        f"times: controller {1e6 * spent['C'] / len(rows):.1f} µs a step through ctypes, Pinocchio's rnea "
        f"{1e6 * spent['Pinocchio'] / len(rows):.1f} µs, the simulator's step {1e6 * simulation.profile.mean:.1f} µs"
    )
    slides = np.array([robot.description.joints[joint].type == "prismatic" for joint in robot.joint_names])
    groups = [(unit, chosen) for unit, chosen in (("rad", ~slides), ("m", slides)) if chosen.any()]
    figure, axes = plt.subplots(2, len(groups), figsize=(9, 6), sharex=True, squeeze=False, layout="constrained")
    for (upper, lower), (unit, chosen) in zip(axes.T, groups, strict=True):
        upper.plot(times, simulated[:, chosen])
        upper.plot(times, planned[:, chosen], "k:", linewidth=0.8)
        upper.set(ylabel=f"joints [{unit}]")
        lower.semilogy(times, 1e3 * tracking[:, chosen].max(axis=1), label="off what is wanted")
        lower.semilogy(times, 1e3 * apart[:, chosen].max(axis=1), label="simulator off C alone")
        lower.set(xlabel="time [s]", ylabel=f"largest of all joints [m{unit}]")
    figure.suptitle(f"{robot.name}: simulated under its generated C code (dotted: wanted)")
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    save_picture(figure, picture)
    plt.close(figure)
    print(f"written: {picture}")
    return 0 if success else 1


if __name__ == "__main__":
    sys.exit(main())
