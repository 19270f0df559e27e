# SPDX-License-Identifier: Apache-2.0
"""A walk of the two-link robot among obstacles, drawn as Figs. 2.8-2.11 (specification 001 section 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from humanoid_studies.two_link.two_link_scene import Transition, TwoLinkScene


def draw_walk(scene: TwoLinkScene, walk: Sequence[Transition], path: Path) -> None:
    """Draw the components of the transition space with a walk in it, and the walk in the scene.

    Args:
        scene: robot, obstacles and places.
        walk: transitions, as :meth:`TwoLinkScene.plan` finds them.
        path: of the picture; its suffix names the format.
    """
    figure = Figure(figsize=(12.0, 5.0), layout="constrained")
    space, world = figure.subplots(1, 2)
    components = scene.components()
    places = scene.abscissae
    shown = np.ma.masked_equal(components, 0)
    space.pcolormesh(places, places, shown.T, cmap="Pastel1", shading="nearest")
    for number in range(1, int(components.max()) + 1):
        where = places[np.argwhere(components == number)].mean(axis=0)
        space.annotate(f"$T_{number}$", where, ha="center", va="center")
    feet = np.array([[places[one], places[other]] for one, other in walk])
    space.plot(*feet.T, "k.-")
    space.set(xlabel="place of foot 1 [m]", ylabel="place of foot 2 [m]", aspect="equal")
    for obstacle in scene.obstacles:
        world.add_patch(Polygon(obstacle, color="0.7"))
    for index, where in enumerate(walk):
        q = scene.transition(where)
        shade = str(0.6 * (1.0 - index / max(len(walk) - 1, 1)))
        one, other = scene.robot.feet(q)
        world.plot(*np.array([one, q[:2]]).T, color=shade)
        world.plot(*np.array([q[:2], other]).T, color=shade, linestyle="--")
    world.axhline(0.0, color="k")
    world.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    FigureCanvasAgg(figure)
    figure.savefig(path)
