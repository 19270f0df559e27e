# SPDX-License-Identifier: Apache-2.0
"""The best step of BIP from 0.3 to 1.2 m/s, and with lighter trunks.

Run with ``python studies/examples/gait_speed_sweep.py out/``: writes ``speed_sweep.csv`` and ``speed_sweep.png``; with
``--trunks`` prints what lighter trunks change; ``--robot rabbit`` sweeps RABBIT's speeds.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from humanoid_studies.gait.speed_sweep import sweep_figure, sweep_speeds, write_sweep
from humanoid_studies.gait.trunk_mass_study import study_trunk_mass
from humanoid_studies.planar_gait import BipWalker
from humanoid_studies.planar_gait.models import load_bip, load_rabbit
from humanoid_studies.planar_gait.specification.walker import RabbitWalker


def main() -> None:
    """Sweep, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--robot", default="bip", choices=("bip", "rabbit"))
    parser.add_argument("--from", type=float, default=0.3, dest="slowest", help="m/s")
    parser.add_argument("--to", type=float, default=1.2, dest="fastest", help="m/s")
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--trunks", action="store_true", help="study lighter trunks of BIP instead")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(arguments.processes) as executor:
        if arguments.trunks:
            for studied in study_trunk_mass(load_bip(), [66.11, 55.0, 45.0, 35.0], executor=executor):
                print(studied)
            return
        speeds = [float(speed) for speed in np.linspace(arguments.slowest, arguments.fastest, arguments.points)]
        walker = BipWalker(load_bip()) if arguments.robot == "bip" else RabbitWalker(load_rabbit())
        points = sweep_speeds(walker, speeds, executor=executor, warm_start=True)
    table, picture = arguments.folder / "speed_sweep.csv", arguments.folder / "speed_sweep.png"
    write_sweep(points, table)
    sweep_figure(points, f"{arguments.robot}: best steps").savefig(picture, dpi=100)
    for point in points:
        print(
            f"{point.speed:5.2f} m/s  {point.status}  cost of transport {point.cost_of_transport:.3f}  "
            f"step {point.step_length:.3f} m  {point.double_support:.3f} + {point.single_support:.3f} s"
        )
    print(f"written: {table}, {picture}")


if __name__ == "__main__":
    main()
