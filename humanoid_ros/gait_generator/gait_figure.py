# SPDX-License-Identifier: Apache-2.0
"""Stick figures of a gait as a message and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from humanoid_stack.msg import GaitFigure

from humanoid_model.arrays import Reals

if TYPE_CHECKING:  # the page draws figures, and needs no solvers in memory for that
    from humanoid_planner.gait.trajectory.moving_figure import MovingFigure


def figure_message(figure: MovingFigure) -> GaitFigure:
    """Return the message of stick figures."""
    index = {name: i for i, name in enumerate(figure.point_names)}
    return GaitFigure(
        times=figure.times.tolist(),
        point_names=list(figure.point_names),
        points=figure.points.ravel().tolist(),
        lines=[index[name] for pair in figure.lines for name in pair],
        foot_names=list(figure.foot_names),
        foot_widths=list(figure.foot_widths),
        force_points=figure.force_points.ravel().tolist(),
        forces=figure.forces.ravel().tolist(),
    )


def figure_points(figure: GaitFigure) -> Reals:
    """(K, P, 3) places of a figure's points [m]."""
    return np.array(figure.points, dtype=float).reshape(len(figure.times), -1, 3)


def figure_forces(figure: GaitFigure) -> tuple[Reals, Reals]:
    """(K, F, 3) centres of pressure [m] and (K, F, 3) forces [N] of a figure's feet."""
    shape = (len(figure.times), len(figure.foot_names), 3)
    at, forces = (np.array(values, dtype=float).reshape(shape) for values in (figure.force_points, figure.forces))
    return at, forces
