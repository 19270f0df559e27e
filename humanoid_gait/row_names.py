# SPDX-License-Identifier: Apache-2.0
"""What bounds and inequality rows of a transcription are, in words."""

from __future__ import annotations

import numpy as np

from humanoid_gait.transcription import Transcription


def bound_name(t: Transcription, unknown: int) -> str:
    """Name what the bounds of an unknown are of."""
    layout, robot = t.layout, t.problem.robot
    n, node = layout.n, int(np.searchsorted(layout.starts, unknown, side="right")) - 1
    place = unknown - int(layout.starts[node])
    if place < 2 * n:
        names = {robot.index_v(name): name for name in robot.joint_names}
        return f"{'range' if place < n else 'speed'} of {names.get(place % n, 'the base')}"
    if place < layout.state:
        return "the duration of a phase"
    point = t.points[int(layout.phase_of[node])]
    multiplier = (place - layout.state - layout.points * n) % max(1, point.multipliers)
    which = int(np.searchsorted([part.stop for part in point.slices], multiplier, side="right"))
    return f"friction and pressure of {point.loaded[which].hold.name}"


def slack_name(t: Transcription, row: int) -> str:
    """Name what an inequality row is of."""
    for name, rows in t.kinds:
        if row in rows:
            return f"height at which {name}" if name.endswith(("swings", "tilts")) else f"that {name}"
    for point, path in zip(t.points, t.paths, strict=True):
        if row in path:
            place = int(np.argwhere(path == row)[0, 1]) % len(point.lower) - point.equalities
            if place < len(point.limited):
                robot = t.problem.robot
                names = {robot.index_v(name): name for name in robot.joint_names}
                return f"effort of {names[int(t.model.driven[point.limited[place]])]}"
            return "least normal forces"
    return "a row"
