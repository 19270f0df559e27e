# SPDX-License-Identifier: Apache-2.0
"""Experiment E11: a user carries a board with HRP-2, then pushes its head (specification 000 §27, F119)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from humanoid_sim.interaction import AttachMode, ScriptedDevice, TouchMode
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.scene_view import view

HELD, LIFTED, MOVED, BACK, RELEASED = 0.5, 1.2, 2.0, 2.7, 3.0
"""When the user takes the board, has it in the air, has moved it, has put it down again, lets go [s]."""
PUSH, PUSHED, END = 3.2, 4.2, 6.5
"""When the user begins to push the head, pushes hardest, and the end [s]."""
UP, ALONG = 0.06, 0.08
"""How far the board is lifted and moved forward [m]."""
DEPTHS = (0.02, 0.05, 0.08, 0.12, 0.2)
"""How far the pointer is pushed beyond the back of the head in each run [m]."""
STIFFNESS, HEAD_STIFFNESS = 800.0, 500.0
"""Of the couplings to the board and to the head [N/m]."""
_BALL = 0.02
_FALLEN = 0.6
"""A robot whose waist leans further than this has fallen [rad]."""


@dataclass(frozen=True, eq=False)
class Session:
    """What happened in one session with both ways of interaction.

    Attributes:
        time: s, shape (n,).
        board: where the board is [m], shape (n, 3).
        arms: normal force of the robot's arms on the board [N], shape (n,).
        push: force of the user on the head [N], shape (n,).
        lean: of the waist forward [rad], shape (n,).
        held: force of the user on the board [N], shape (n,).
        views: from the side.
    """

    time: NDArray[np.float64]
    board: NDArray[np.float64]
    arms: NDArray[np.float64]
    push: NDArray[np.float64]
    lean: NDArray[np.float64]
    held: NDArray[np.float64]
    views: tuple[Panel, ...]

    @property
    def falls(self) -> bool:
        """Whether the robot fell, forwards."""
        return bool(self.lean.max() > _FALLEN)


def run(depths: tuple[float, ...] = DEPTHS, *, progress: bool = False) -> ExperimentResult:
    """Carry and push, each time harder.

    Args:
        depths: of the pushes [m], ascending; the first is survived, the last is not.
        progress: shows a bar.
    """
    sessions = [session(depth) for depth in tqdm(depths, unit="push", disable=not progress)]
    forces = [float(s.push.max()) for s in sessions]
    falls = [s.falls for s in sessions]
    first = sessions[0]
    weight = 1.5 * 9.8
    in_air = (first.time > LIFTED + 0.1) & (first.time < MOVED)
    held = float(first.held[in_air].mean())
    before = float(first.arms[(first.time > 0.3) & (first.time < HELD)].mean())
    after = float(first.arms[(first.time > RELEASED + 0.1) & (first.time < PUSH)].mean())
    moved = float(first.board[first.time < PUSH][-1, 0] - first.board[0, 0])
    survived = max((f for f, fell in zip(forces, falls, strict=True) if not fell), default=float("nan"))
    felled = min((f for f, fell in zip(forces, falls, strict=True) if fell), default=float("nan"))
    ordered = falls == sorted(falls)
    rows = (
        Row("arms carry the board", "the robot holds it", before, "N", abs(before / weight - 1.0) < 0.02),
        Row("user carries it when lifted", "both move it", held, "N", abs(held / weight - 1.0) < 0.1),
        Row("board moved forward", "moved along", 1e3 * moved, "mm", abs(moved / ALONG - 1.0) < 0.3),
        Row("arms carry the board again", "", after, "N", abs(after / weight - 1.0) < 0.05),
        Row("hardest push that is survived", "", survived, "N", not falls[0]),
        Row("weakest push that fells the robot", "falls forward", felled, "N", falls[-1]),
        Row("harder pushes all fell it (1)", "above a threshold", int(ordered), "", ordered),
    )
    last = sessions[-1]
    pushes = tuple(curve(s.time, s.push, f"{d:g} m") for s, d in zip(sessions, depths, strict=True))
    leans = tuple(curve(s.time, np.rad2deg(s.lean), f"{f:.0f} N") for s, f in zip(sessions, forces, strict=True))
    panels = (
        *last.views,
        Panel("time [s]", "force on the board [N]", (curve(first.time, first.held, "user"),
              curve(first.time, first.arms, "arms")), "carrying"),
        Panel("time [s]", "force on the head [N]", pushes, "pushes"),
        Panel("time [s]", "lean of the waist [°]", leans, "until it falls"),
    )  # fmt: skip
    return ExperimentResult("E11", "Carrying a board with HRP-2, and a push", rows, panels)


def session(depth: float) -> Session:
    """Attach to the board, lift it, put it down further ahead; then touch the head and push.

    Args:
        depth: how far the pointer is pushed beyond the back of the head [m].
    """
    simulation = Simulation("carrying")
    robot, board = simulation.robots["hrp2"], simulation.bodies["board"]
    simulation.run(0.2)
    start = board.placement_world_body.translation
    up, along = np.array([0.0, 0.0, UP]), np.array([ALONG, 0.0, 0.0])
    path = [start, start, start + up, start + up + along, start + along]
    hand = AttachMode(
        ScriptedDevice([0.0, HELD, LIFTED, MOVED, BACK], path, presses=[(HELD, RELEASED)], name="hand"),
        body="board",
        stiffness=STIFFNESS,
        rotational_stiffness=20.0,
    )
    head = robot.placement("HEAD_LINK1").act(np.array([0.01 - 0.08, 0.0, 0.11]))
    away, pressed = head - np.array([0.15, 0.0, 0.0]), head + np.array([depth - _BALL, 0.0, 0.0])
    finger = TouchMode(
        ScriptedDevice([0.0, PUSH, PUSHED, END], [away, away, pressed, pressed], name="finger"),
        radius=_BALL,
        stiffness=HEAD_STIFFNESS,
    )
    simulation.add_module(hand)
    simulation.add_module(finger)
    rows, views = [], []
    while simulation.time < END:
        simulation.step()
        contacts = simulation.contacts
        arms = sum(
            float(abs(force[2]))
            for pair, force in zip(contacts.bodies, contacts.force, strict=True)
            if "board" in pair and any("ARM" in name for name in pair)
        )
        push = sum(float(force.force[0]) for force in finger.forces if "HEAD" in force.body)
        held = sum(float(force.force[2]) for force in hand.forces)
        axis = robot.placement_world_base.rotation[:, 2]
        lean = float(np.arctan2(axis[0], axis[2]))
        rows.append((simulation.time, *board.placement_world_body.translation, arms, push, lean, held))
        if any(abs(simulation.time - t) < 0.5 * simulation.dt for t in (HELD, MOVED, PUSHED + 1.0)):
            views.append(view(simulation, f"after {simulation.time:g} s"))
    table = np.array(rows)
    return Session(table[:, 0], table[:, 1:4], table[:, 4], table[:, 5], table[:, 6], table[:, 7], tuple(views))
