# SPDX-License-Identifier: Apache-2.0
"""HRP-2 on rubber soles is pushed on the chest; its zero moment point and the forces under its feet are plotted.

Run with ``python examples/soft_soles.py soles.png``.
"""

import argparse

import matplotlib
import numpy as np

from humanoid_sim import Simulation
from humanoid_sim.monitoring import BalanceMonitor

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PUSH, DURATION = 60.0, 0.1
"""Forwards, on the chest [N], and for how long [s]."""
BEFORE, AFTER = 0.5, 2.0
"""What is watched before the push begins and from then on [s]."""

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("picture", nargs="?", default="soles.png")
picture = parser.parse_args().picture

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


sim.run(BEFORE, record, progress=True)
sim.apply_wrench("hrp2/CHEST_LINK1", force=[PUSH, 0.0, 0.0], duration=DURATION)
sim.run(AFTER, record, progress=True)

series = balance.series
figure, (left, right) = plt.subplots(2, figsize=(9, 6), sharex=True, layout="constrained")
left.plot(series.time, 100.0 * series.zero_moment_point[:, 0], label="zero moment point")
left.plot(series.time, 100.0 * series.centre_of_mass[:, 0], label="centre of mass")
left.set(ylabel="x [cm]", title=f"A push of {PUSH:g} N forwards for {DURATION:g} s, soles of 2 cm, 3 MPa")
right.plot(times, feet, label=["right foot", "left foot"])
right.plot(times, np.sum(feet, axis=1), "k", linewidth=0.8, label="both")
right.set(xlabel="time [s]", ylabel="normal force [N]")
for axes in (left, right):
    axes.axvspan(BEFORE, BEFORE + DURATION, color="tab:red", alpha=0.2, linewidth=0.0, label="push")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
figure.savefig(picture, dpi=120)
print(f"a step takes {sim.profile.mean * 1e6:.0f} µs: {sim.profile.real_time_factor(sim.dt):.1f} x real time")
print(f"written: {picture}")
