# SPDX-License-Identifier: Apache-2.0
"""How hard may HRP-2 be pushed on the chest before it falls? Many pushes all around, on rigid or soft soles.

Run with ``python examples/push_limits.py --count 1000``. Soft soles are stepped by the interpreter, so that they go to
processes: ``--soles soft --count 60 --executor processes``. ``--executor dask`` takes a local Dask cluster (``pip
install distributed``), ``--scheduler tcp://machine:8786`` one that is there. Prints a report; ``--picture limits.png``
draws it.
"""

import argparse
import contextlib
import importlib
import os
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial

import numpy as np

from humanoid_sim import Simulation, rollout

SCENES = {"rigid": "stand", "soft": "soft_soles"}
STRENGTHS = 20
"""Pushes in each direction, evenly spaced up to the strongest."""
TILT, REST = np.radians(15.0), 0.05
"""Whose pelvis leans less and moves slower at the end [m/s] stands."""


def push(forces: np.ndarray, duration: float, simulation: Simulation, run: int) -> None:
    """Push the chest in run ``run``; forces in the ground plane [N], shape (runs, 2)."""
    simulation.apply_wrench("hrp2/CHEST_LINK1", [*forces[run], 0.0], duration=duration)


def chosen_executor(
    stack: contextlib.ExitStack, name: str, workers: int | None, scheduler: str | None
) -> Executor | None:
    """Return what runs the pushes, to be closed with the stack; None for threads of this process."""
    if name == "processes":
        return stack.enter_context(ProcessPoolExecutor(workers))
    if name == "dask" or scheduler:
        dask = importlib.import_module("distributed")  # not among the requirements
        where = scheduler or stack.enter_context(
            dask.LocalCluster(n_workers=workers or os.cpu_count(), threads_per_worker=1, dashboard_address=None)
        )
        return stack.enter_context(dask.Client(where)).get_executor()  # type: ignore[no-any-return]
    return None


def used_seconds() -> float:
    """Return the processor time of this process and of those that it started and that have ended [s]."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    """Push, count who stands, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="number of pushes, about")
    parser.add_argument("--soles", choices=SCENES, default="rigid")
    parser.add_argument("--strongest", type=float, default=500.0, help="N")
    parser.add_argument("--duration", type=float, default=0.1, help="of a push [s]")
    parser.add_argument("--watch", type=float, default=3.0, help="from the push until judged [s]")
    parser.add_argument("--executor", choices=("threads", "processes", "dask"), default="threads")
    parser.add_argument("--scheduler", help="address of a Dask cluster that is there")
    parser.add_argument("--workers", type=int, help="how many runs go on at once")
    parser.add_argument("--picture", help="file to draw the limits into")
    arguments = parser.parse_args()
    simulation = Simulation(SCENES[arguments.soles])
    simulation.run(0.3)
    start = simulation.save_state()
    steps = round(arguments.watch / simulation.dt)
    angles = np.linspace(-np.pi, np.pi, max(1, round(arguments.count / STRENGTHS)), endpoint=False)
    strengths = arguments.strongest * np.arange(1, STRENGTHS + 1) / STRENGTHS
    begin, processor = time.perf_counter(), used_seconds()
    stack = contextlib.ExitStack()
    executor = chosen_executor(stack, arguments.executor, arguments.workers, arguments.scheduler)
    limits = []
    print(f"{'direction':>10} {'stands up to':>13} {'impulse':>9} {'falls from':>11} {'moved at the limit':>19}")
    for angle in angles:  # one rollout for each direction: its records are some tens of megabytes
        forces = strengths[:, None] * [np.cos(angle), np.sin(angle)]
        found = rollout(
            simulation, [start] * STRENGTHS, steps, prepare=partial(push, forces, arguments.duration),
            workers=arguments.workers, executor=executor,
        )  # fmt: skip
        base = found.q[:, -1, :7]
        upright = 1.0 - 2.0 * (base[:, 3] ** 2 + base[:, 4] ** 2) > np.cos(TILT)
        stands = (found.made == steps) & upright & (np.linalg.norm(found.v[:, -1, :3], axis=1) < REST)
        first = STRENGTHS if stands.all() else int(np.argmin(stands))
        limit = strengths[first - 1] if first > 0 else 0.0
        limits.append(limit)
        moved = np.linalg.norm(base[first - 1, :2] - start.q[:2]) if first > 0 else 0.0
        falls = f"{strengths[first]:.0f} N" if first < STRENGTHS else "none"
        print(
            f"{np.degrees(angle):8.0f} ° {limit:11.0f} N {limit * arguments.duration:5.1f} N s {falls:>11} "
            f"{1e3 * moved:16.1f} mm", flush=True,
        )  # fmt: skip
    stack.close()
    pushes, seconds = len(angles) * STRENGTHS, time.perf_counter() - begin
    used = "" if arguments.scheduler else f", {used_seconds() - processor:.1f} s of processor time"
    print(
        f"\n{arguments.soles} soles: {pushes} pushes of {arguments.duration:g} s, watched for {arguments.watch:g} s: "
        f"limits {min(limits):.0f} to {max(limits):.0f} N, mean {np.mean(limits):.0f} N\n"
        f"{seconds:.1f} s{used}: {pushes * arguments.watch / seconds:.1f} s of motion per second"
    )
    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(subplot_kw={"projection": "polar"}, layout="constrained")
        axes.plot(np.append(angles, angles[0]), np.append(limits, limits[0]), "o-")
        axes.set_title(f"Largest push that HRP-2 withstands for {arguments.duration:g} s [N], {arguments.soles} soles")
        figure.savefig(arguments.picture, dpi=120)
        print(f"written: {arguments.picture}")


if __name__ == "__main__":
    main()
