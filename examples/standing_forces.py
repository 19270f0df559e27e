# SPDX-License-Identifier: Apache-2.0
"""HRP-2 stands, is pushed for a tenth of a second, and the forces under its feet are plotted.

Run with ``python examples/standing_forces.py forces.png``.
"""

import argparse

import matplotlib
import numpy as np

from humanoid_sim import Simulation

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PUSH, DURATION = 80.0, 0.1
"""To the left, on the chest [N], and for how long [s]."""
BEFORE, AFTER = 0.5, 2.0
"""What is watched before the push begins and from then on [s]."""

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("picture", nargs="?", default="forces.png")
picture = parser.parse_args().picture

sim = Simulation("stand")
times, feet = [], []


def record(sim: Simulation) -> None:
    """Keep the normal force under each foot."""
    contacts = sim.contacts
    under = [[foot in a for a, _ in contacts.bodies] for foot in ("RLEG", "LLEG")]
    times.append(sim.time)
    feet.append([contacts.normal_force[np.array(rows, dtype=bool)].sum() for rows in under])


sim.run(BEFORE, record, progress=True)
sim.apply_wrench("hrp2/CHEST_LINK1", force=[0.0, PUSH, 0.0], duration=DURATION)
sim.run(AFTER, record, progress=True)
weight = 9.81 * sim.robots["hrp2"].robot.total_mass
figure, axes = plt.subplots(figsize=(9, 3.5), layout="constrained")
axes.axvspan(BEFORE, BEFORE + DURATION, color="tab:red", alpha=0.2, linewidth=0.0, label="push")
axes.plot(times, feet, label=["right foot", "left foot"])
axes.plot(times, np.sum(feet, axis=1), "k", linewidth=0.8, label="both")
axes.axhline(weight, color="grey", linestyle=":", label="weight")
axes.set(xlabel="time [s]", ylabel="normal force [N]", title=f"A push of {PUSH:g} N to the left for {DURATION:g} s")
axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
figure.savefig(picture, dpi=120)
print(f"a step takes {sim.profile.mean * 1e6:.0f} µs: {sim.profile.real_time_factor(sim.dt):.0f} x real time")
print(f"written: {picture}")
