# SPDX-License-Identifier: Apache-2.0
"""Steps that wait for compiled code: what is met for the first time, with and without `Simulation.warm_up()`.

Each run is a process of its own, its kernels in the cache (`make build` and a run before). It makes its steps one by
one, goes back to the start and makes the very same steps again: what only the first time took is what was waited for,
the rest is the work of these steps. Times are of the processor, of this thread. "loaded" counts kernels that came
from the cache during the steps, "over" steps of the first time that took more than three times as long as the median
and as the same step took again.

    scripts/run python benchmark/first_time.py
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from falls import dominoes, heap, robot
from numba.core.dispatcher import Dispatcher

from humanoid_model import load_scene
from humanoid_sim import Simulation


def pushed() -> Simulation:
    """Return a standing HRP-2 that is pushed over soon."""
    simulation = Simulation("stand")
    simulation.apply_wrench("hrp2/CHEST_LINK1", force=[300.0, 0.0, 0.0], duration=0.3)
    return simulation


CASES: dict[str, tuple[Callable[[], Simulation], int]] = {
    "HRP-2 stands": (lambda: Simulation(load_scene("stand")), 1000),
    "HRP-2 is pushed over": (pushed, 2000),
    "HRP-2 falls, motors off": (lambda: Simulation(robot("hrp2", "half_sitting")), 2000),
    "15 dominoes": (lambda: Simulation(dominoes(15)), 2000),
    "heap of 50 boxes": (lambda: Simulation(heap(50)), 1000),
}


def loaded() -> int:
    """Return how many compiled kernels there are in this process."""
    return sum(len(found.overloads) for found in gc.get_objects() if isinstance(found, Dispatcher))


def timed(simulation: Simulation, steps: int) -> np.ndarray:
    """Processor time of each of the next steps [s], shape (steps,)."""
    times = np.empty(steps)
    for i in range(steps):
        begun = time.thread_time()
        simulation.step()
        times[i] = time.thread_time() - begun
    return times


def run(title: str, warm: bool) -> dict[str, float]:
    """Return the figures of a case, in this process."""
    make, steps = CASES[title]
    simulation = make()
    begun = time.thread_time()
    if warm:
        simulation.warm_up()
    spent = time.thread_time() - begun
    gc.collect()
    gc.disable()
    start, before = simulation.save_state(), loaded()
    first = timed(simulation, steps)
    count = loaded() - before
    simulation.restore_state(start)
    again = timed(simulation, steps)
    median = float(np.median(first))
    over = (first > 3.0 * median) & (first > 3.0 * again)
    return {
        "warm_up": spent, "median": median, "longest": first.max(), "again": again.max(), "loaded": count,
        "over": int(over.sum()),
    }  # fmt: skip


def main() -> None:
    """Print the table."""
    print(f"{'':26} {'warm_up':>8} {'median':>8} {'longest':>8} {'':>6} {'again':>8} {'':>6} {'loaded':>7} {'over':>5}")
    print(f"{'':26} {'ms':>8} {'us':>8} {'us':>8} {'/ med.':>6} {'us':>8} {'/ med.':>6}")
    for title in CASES:
        for warm in ("", "warm"):
            done = subprocess.run([sys.executable, __file__, title, warm], stdout=subprocess.PIPE, check=True)
            own = json.loads(done.stdout)
            median = own["median"]
            row = f"{'  after warm_up()' if warm else title:26} {1e3 * own['warm_up']:8.0f} {1e6 * median:8.0f}"
            for key in ("longest", "again"):
                row += f" {1e6 * own[key]:8.0f} {own[key] / median:6.1f}"
            print(f"{row} {own['loaded']:7.0f} {own['over']:5.0f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run(sys.argv[1], bool(sys.argv[2]))))
    else:
        main()
