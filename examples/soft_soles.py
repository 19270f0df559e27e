# SPDX-License-Identifier: Apache-2.0
"""HRP-2 on rubber soles is pushed on the chest; its zero moment point and the forces under its feet are plotted.

Run with ``python examples/soft_soles.py soles.png``.
"""

import sys

import matplotlib
import numpy as np

from humanoid_sim import Simulation
from humanoid_sim.monitoring import BalanceMonitor

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sim = Simulation("soft_soles")
balance = BalanceMonitor("hrp2", interval=5)
sim.add_module(balance)
times, feet = [], []


def record(sim: Simulation) -> None:
    """Keep the normal force under each foot."""
    contacts = sim.contacts
    under = [[foot in a for a, _ in contacts.bodies] for foot in ("RLEG", "LLEG")]
    times.append(sim.time)
    feet.append([contacts.normal_force[np.array(rows, dtype=bool)].sum() for rows in under])


sim.run(0.5, record, progress=True)
sim.apply_wrench("hrp2/CHEST_LINK1", force=[60.0, 0.0, 0.0], duration=0.1)
sim.run(2.0, record, progress=True)

series = balance.series
figure, (left, right) = plt.subplots(2, figsize=(8, 6), sharex=True, layout="constrained")
left.plot(series.time, 100.0 * series.zero_moment_point[:, 0], label="zero moment point")
left.plot(series.time, 100.0 * series.centre_of_mass[:, 0], label="centre of mass")
left.set(ylabel="x [cm]", title="A push of 60 N forwards for 0.1 s, soles of 2 cm, 3 MPa")
left.legend()
right.plot(times, feet, label=["right foot", "left foot"])
right.plot(times, np.sum(feet, axis=1), "k", linewidth=0.8, label="both")
right.set(xlabel="time [s]", ylabel="normal force [N]")
right.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "soles.png", dpi=120)
print(f"a step takes {sim.profile.mean * 1e6:.0f} µs: {sim.profile.real_time_factor(sim.dt):.1f} x real time")
