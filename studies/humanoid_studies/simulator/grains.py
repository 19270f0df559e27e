# SPDX-License-Identifier: Apache-2.0
"""Experiment E14: HRP-2 walks onto grains with the pattern of a flat floor (specification 000 §27, F135, Fig. 4.8)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_sim.flexibility.sole_mesh import build_sole
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.walk_run import run_walk, thesis_walk, walking_scene

_LOOK_EVERY = 20
"""Steps between looks at the soles."""
_UPRIGHT = 0.94
"""Cosine of the torso's angle from the vertical up to which it is looked: later the feet touch with more than soles."""


class _SoleWatch:
    """Sums of the soles' forces, and how they are pressed in where something touches them and elsewhere."""

    def __init__(self, simulation: Simulation) -> None:
        self._soles = {
            f"{placed.name}/{sole.contact.link}": build_sole(sole)
            for placed in simulation.scene.robots
            for sole in placed.robot.soles.values()
        }
        self._stiffness = {name: np.linalg.inv(sole.S) for name, sole in self._soles.items()}
        self.max_gap = 0.0
        self.max_load = 0.0
        self.deepest = 0.0
        self.deepest_at: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def __call__(self, simulation: Simulation) -> None:
        """Look at the soles after a step."""
        upright = simulation.robots["hrp2"].placement("CHEST_LINK1").rotation[2, 2] > _UPRIGHT
        if simulation.step_count % _LOOK_EVERY or not upright:
            return
        displacements = simulation.save_state().stepping.soles
        contacts = simulation.contacts
        for name, sole in self._soles.items():
            rows = np.array([first == name for first, _ in contacts.bodies], dtype=bool)
            load = contacts.force[rows].sum(axis=0) if rows.any() else np.zeros(3)
            nodal = (self._stiffness[name] @ displacements[name]).reshape(-1, 3).sum(axis=0)
            turned = self._rotation(simulation, name) @ nodal
            self.max_gap = max(self.max_gap, float(np.abs(turned - load).max()))
            self.max_load = max(self.max_load, float(np.linalg.norm(load)))
            pressed = displacements[name].reshape(-1, 3)[:, 2]
            if pressed.max() > self.deepest:
                self.deepest = float(pressed.max())
                self.deepest_at = sole.vertices[: sole.free].copy(), displacements[name].reshape(-1, 3).copy()

    @staticmethod
    def _rotation(simulation: Simulation, name: str) -> NDArray[np.float64]:
        """Of the foot in the world at the start of the last step, where its forces were found, shape (3, 3)."""
        world = simulation.world
        body = world.bodies[world.index[name]]
        data = world.model.createData()
        pin.forwardKinematics(world.model, data, simulation.q_before)
        return np.asarray((data.oMi[body.joint] * body.placement_joint_body).rotation)


def run(*, progress: bool = False) -> ExperimentResult:
    """Walk onto half sunk balls of 2 to 5 mm.

    Args:
        progress: shows a bar.
    """
    simulation = Simulation(walking_scene(scene="walk_grains"))
    watch = _SoleWatch(simulation)
    seen = run_walk(simulation, thesis_walk(), after_step=watch, progress="grains" if progress else "")
    assert watch.deepest_at is not None
    nodes, moved = watch.deepest_at
    lower = nodes[:, 2] < nodes[:, 2].min() + 1e-6
    deep = moved[lower, 2]
    fell = seen.fell_at
    local = float(np.median(np.abs(deep)) / deep.max())
    rows = (
        Row("falls with the flat floor's pattern", "finally", np.nan if fell is None else fell, "s", fell is not None),
        Row("deepest dent of a sole", "visible", 1e3 * watch.deepest, "mm", watch.deepest > 1e-4),
        Row("median of the lower nodes' dents over the deepest", "local: << 1", local, "", local < 0.3),
        Row("largest load of a sole", "", watch.max_load, "N"),
        Row("nodes' forces from the contacts' forces", "0", watch.max_gap, "N", watch.max_gap < 1e-6),
    )  # fmt: skip
    order = np.argsort(nodes[lower, 0], kind="stable")
    panels = (
        Panel("time [s]", "m", (curve(seen.time, seen.torso_height),), "Height of the torso"),
        Panel(
            "x in the sole [m]", "mm", (curve(nodes[lower][order, 0], 1e3 * deep[order], "", "points"),),
            "How far the lower nodes of the sole are pressed in",
        ),
    )  # fmt: skip
    return ExperimentResult("E14", "Walking on grains", rows, panels)
