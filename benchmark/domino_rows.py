# SPDX-License-Identifier: Apache-2.0
"""Steps that falling dominoes leave unsolved, in rows that differ by 1e-7 m/s: one row tells by chance.

    python benchmark/domino_rows.py --rows 96

Each row of 15 dominoes falls for 2 s; the first one begins with another speed. Prints a table: how many steps end above
the tolerance and above the residual up to which forces are good, how many rows leave none, and what a step takes.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from falls import DT, dominoes
from tqdm import tqdm

from humanoid_sim import Simulation
from humanoid_sim.contact.block_nsgs import GOOD_RESIDUAL

DURATION = 2.0
FASTER = 1e-7
"""By so much the first domino of a row is faster than that of the row before [m/s]."""


def fall(simulation: Simulation, row: int) -> tuple[list[float], list[float]]:
    """Residuals of a row's unsolved steps, and the processor time of each step [s]."""
    simulation.reset()
    v = simulation.v.copy()
    v[0] += row * FASTER
    simulation.v = v
    simulation.take_unsolved()
    residuals, times = [], []
    for _ in range(round(DURATION / DT)):
        begin = time.process_time()
        simulation.step()
        times.append(time.process_time() - begin)
        unsolved = simulation.take_unsolved()
        if unsolved.count:
            residuals.append(unsolved.worst)
    return residuals, times


def main() -> None:
    """Let the rows fall and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=96)
    parser.add_argument("--first", type=int, default=0, help="number of the first row")
    arguments = parser.parse_args()
    simulation = Simulation(dominoes(15), DT)
    fall(simulation, 0)  # compiles and loads
    rows = [fall(simulation, arguments.first + row) for row in tqdm(range(arguments.rows), unit="row")]
    left = np.array([residual for residuals, _ in rows for residual in residuals])
    times = 1e3 * np.array([times for _, times in rows])
    longest = times.max(axis=1)
    print("| steps | unsolved | not good | rows with none | mean ms | longest of a row, median, 90 % |")
    print("|---:|---:|---:|---:|---:|---:|")
    print(
        f"| {times.size} | {left.size} | {(left > GOOD_RESIDUAL).sum()} | {sum(not r for r, _ in rows)} of {len(rows)} "
        f"| {times.mean():.3f} | {np.median(longest):.1f}, {np.quantile(longest, 0.9):.1f} |"
    )


if __name__ == "__main__":
    main()
