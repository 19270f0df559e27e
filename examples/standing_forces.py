# SPDX-License-Identifier: Apache-2.0
"""HRP-2 stands, is pushed for a tenth of a second, and the forces under its feet are plotted.

Run with ``python examples/standing_forces.py forces.png``.
"""

import sys

import matplotlib
import numpy as np

from humanoid_sim import Simulation

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sim = Simulation("stand")
sim.run(0.5)
sim.apply_wrench("hrp2/CHEST_LINK1", force=[0.0, 80.0, 0.0], duration=0.1)

times, feet = [], []


def record(sim: Simulation) -> None:
    """Keep the normal force under each foot."""
    contacts = sim.contacts
    under = [[foot in a for a, _ in contacts.bodies] for foot in ("RLEG", "LLEG")]
    times.append(sim.time)
    feet.append([contacts.normal_force[np.array(rows, dtype=bool)].sum() for rows in under])


sim.run(2.0, record, progress=True)
figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
axes.plot(times, feet, label=["right foot", "left foot"])
axes.plot(times, np.sum(feet, axis=1), "k", linewidth=0.8, label="both")
axes.axhline(58.0 * 9.81, color="grey", linestyle=":", label="weight")
axes.set(xlabel="time [s]", ylabel="normal force [N]", title="A push of 80 N to the left for 0.1 s on the chest")
axes.legend(ncols=2)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "forces.png", dpi=120)
print(f"a step takes {sim.profile.mean * 1e6:.0f} µs: {sim.profile.real_time_factor(sim.dt):.0f} x real time")
