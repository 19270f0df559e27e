# SPDX-License-Identifier: Apache-2.0
"""A robot's structure as DOT text and as a picture."""

from __future__ import annotations

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from humanoid_model.errors import InputError
from humanoid_model.extensions import optional_library
from humanoid_studies.script.robot import Robot

_COLOURS = {"revolute": "#1f6fb2", "continuous": "#1f6fb2", "prismatic": "#c2571a", "fixed": "#808080"}


def write_dot(robot: Robot) -> str:
    """Return the graph in the language of Graphviz: links without mass dashed, joints coloured by type."""
    lines = [f"digraph {_dot(robot.name)} {{", "  node [shape=box, style=rounded]"]
    for link, data in robot.graph.nodes(data=True):
        lines.append(f"  {_dot(link)}" + ("" if data["mass"] else ' [style="rounded,dashed"]'))
    for parent, child, data in robot.graph.edges(data=True):
        label = _dot(f"{data['joint']} ({data['type']})")
        colour = _dot(_COLOURS[data["type"]])
        lines.append(f"  {_dot(parent)} -> {_dot(child)} [label={label}, color={colour}, fontcolor={colour}]")
    return "\n".join([*lines, "}", ""])


def draw_png(robot: Robot, path: str | Path) -> None:
    """Draw the graph into a PNG file: the root left, each joint one step right, a row per leaf.

    Raises:
        InputError: the file can't be written.
    """
    places = _places(robot)
    columns = 1 + max(x for x, _ in places.values())
    rows = 1 + max(-y for _, y in places.values())
    # A PNG has at most 2^16 pixels a side: very long chains get narrow steps.
    figure = Figure((min(2.2 * columns, 300), min(0.7 * rows + 0.6, 300)), dpi=100)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.margins(0.6 / columns, 0.6 / (rows + 1))
    graph = robot.graph
    colours = [_COLOURS[kind] for _, _, kind in graph.edges(data="type")]
    networkx = optional_library("networkx", "models")
    networkx.draw_networkx_edges(graph, places, ax=axes, edge_color=colours, node_size=900)
    # Text is a person's own: the sign of mathematics in it is none.
    labels = {link: link.replace("$", r"\$") for link in graph}
    networkx.draw_networkx_labels(
        graph, places, labels, ax=axes, font_size=8, bbox={"boxstyle": "round", "facecolor": "w", "edgecolor": "k"}
    )
    joints = {(a, b): name.replace("$", r"\$") for a, b, name in graph.edges(data="joint")}
    networkx.draw_networkx_edge_labels(graph, places, joints, ax=axes, font_size=7, rotate=False)
    try:
        figure.savefig(path, format="png")
    except OSError as problem:
        raise InputError(
            f"can't be written: {problem.strerror}", source=path, remedy="Give a file in a folder that can be written"
        ) from None


def _places(robot: Robot) -> dict[str, tuple[float, float]]:
    """Return a place for each link: as many steps right as it is from the root, beside the middle of its children."""
    column = {robot.root: 0.0}
    for joint in robot.forward_order:
        column[joint.child] = column[joint.parent] + 1
    row: dict[str, float] = {}
    leaves = 0
    for joint in robot.forward_order:
        if not robot.find_next_joints(joint):
            row[joint.child] = -float(leaves)
            leaves += 1
    for joint in reversed(robot.forward_order):
        children = [row[child.child] for child in robot.find_next_joints(joint)]
        if children:
            row[joint.child] = (children[0] + children[-1]) / 2
    heads = [row[joint.child] for joint in robot.root_joints] or [0.0]
    row[robot.root] = (heads[0] + heads[-1]) / 2
    return {link: (column[link], row[link]) for link in column}


def _dot(text: str) -> str:
    # Graphviz knows two escapes in a quoted text; control characters would only spoil the picture.
    kept = "".join(char if char.isprintable() else "?" for char in text)
    return '"' + kept.replace("\\", "\\\\").replace('"', '\\"') + '"'
