# SPDX-License-Identifier: Apache-2.0
"""Experiment E9: a user lifts, carries, pushes down and lets go of an object (specification 000 §27, F109, N9)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_sim.interaction import AttachMode, ScriptedDevice
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve

WEIGHT = 1.75 * 9.8
"""Of the object [N]."""
GRASP, LIFTED, CARRIED, DOWN, RELEASE, END = 8.0, 8.6, 13.0, 17.0, 18.5, 20.0
"""When the user takes the object, has it in the air, is above the other place, is down, lets go; end [s]."""
WAY = 1.1
"""How far the object is carried along x [m]."""
STIFFNESS, ROTATIONAL_STIFFNESS = 500.0, 2.0
"""Of the coupling [N/m, N m/rad]: the thesis gives none; the second keeps the object level."""


def scripted_hand(start: NDArray[np.float64]) -> ScriptedDevice:
    """Script the user: to the object, up, along x, down to just above the ground; strong enough for the weight.

    Args:
        start: the object's place [m], shape (3,).
    """
    up, along, down = np.array([0, 0, 0.25]), np.array([WAY, 0, 0]), np.array([0, 0, -0.85])
    path = [start + up, start, start, start + up, start + up + along, start + up + along + down]
    return ScriptedDevice([0.0, 4.0, GRASP, LIFTED, CARRIED, DOWN], path, presses=[(GRASP, RELEASE)])


def run(*, progress: bool = False) -> ExperimentResult:
    """Let a scripted user do it, with the device at 1 kHz.

    Args:
        progress: shows a bar.
    """
    simulation = Simulation("haptic_object")
    placed = simulation.bodies["object"]
    hand = AttachMode(
        scripted_hand(placed.placement_world_body.translation),
        stiffness=STIFFNESS,
        rotational_stiffness=ROTATIONAL_STIFFNESS,
    )
    simulation.add_module(hand)
    way: list[NDArray[np.float64]] = []
    simulation.run(END, lambda s: way.append(placed.placement_world_body.translation.copy()), progress=progress)

    time, force = hand.log.device["time"], hand.log.device["force"]
    steady = float(force[(time > CARRIED - 0.3) & (time < CARRIED), 2].mean())
    lifting = float(force[(time > GRASP) & (time < LIFTED), 2].min())
    middle = 0.5 * (LIFTED + CARRIED)
    pulled = float(force[(time > LIFTED) & (time < middle - 0.5), 0].min())
    held_back = float(force[(time > middle + 0.5) & (time < CARRIED), 0].max())
    after = float(np.abs(force[time >= RELEASE]).max())
    x = np.array(way)[:, 0]
    moved = float(x[-1])
    rows = (
        Row("steady force along z", "-17.15", steady, "N", abs(steady / -WEIGHT - 1.0) < 0.01),
        Row("largest force along z while lifting", "-25", lifting, "N", abs(lifting / -25.0 - 1.0) < 0.05),
        Row("force along x on the first half", "negative", pulled, "N", pulled < 0.0),
        Row("force along x on the second half", "positive", held_back, "N", held_back > 0.0),
        Row("displacement", "1.1 ± 0.02", moved, "m", abs(moved - WAY) < 0.02),
        Row("force after release", "0", after, "N", after == 0.0),
    )
    instants = simulation.dt * np.arange(1, len(x) + 1)
    forces = tuple(curve(time, force[:, i], "xyz"[i]) for i in range(3))
    carried = (time > LIFTED) & (time < CARRIED)
    at = np.interp(time[carried], instants, x)
    panels = (
        Panel(
            "time [s]",
            "force on the pointer [N]",
            (*forces, curve([0, END], [-WEIGHT] * 2, "weight", "dashed", "grey")),
        ),
        Panel("x of the object [m]", "force on the pointer along x [N]", (curve(at, force[carried, 0]),)),
    )
    return ExperimentResult("E9", "Haptic manipulation of one object", rows, panels)
