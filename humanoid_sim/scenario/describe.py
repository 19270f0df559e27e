# SPDX-License-Identifier: Apache-2.0
"""What is in a scene, in words."""

from __future__ import annotations

import itertools

from humanoid_sim.simulation import Simulation


def describe(simulation: Simulation) -> str:
    """Robots, bodies, pairs that may touch and parameters of a simulation, one per line."""
    scene, world = simulation.scene, simulation.world
    lines = [
        f"scene {scene.name}" + (f" ({scene.source})" if scene.source else ""),
        f"  time step {simulation.dt:g} s, gravity {' '.join(f'{g:g}' for g in scene.gravity)} m/s^2",
        f"  contact solver {simulation.method}",
        f"  {world.model.nv} velocity coordinates",
        "robots",
    ]
    for placed in scene.robots:
        robot, simulated = placed.robot, simulation.robots[placed.name]
        base = "floating base" if robot.floating_base else "fixed base"
        lines.append(
            f"  {placed.name}: {robot.description.total_mass:.4g} kg, {len(robot.description.links)} links, "
            f"{len(simulated.joint_names)} joints ({len(simulated.driven_joint_names)} driven), {base}, "
            f"posture {placed.posture}"
        )
        lines.append(f"    sensors: {', '.join(robot.sensors) or 'none'}")
    lines.append("bodies")
    for body in scene.bodies:
        state = "fixed" if body.fixed else f"{body.mass:g} kg" + ("" if body.simulated else ", not simulated")
        shapes = ", ".join(type(geometry.shape).__name__.lower() for geometry in body.geometries) or "no shape"
        x, y, z = body.placement_world_body.translation
        lines.append(f"  {body.name}: {state}, {shapes}, at {x:.4g} {y:.4g} {z:.4g} m")
    lines.append("pairs (of owners; the links of one robot are one owner)")
    lines.extend(_pairs(simulation))
    return "\n".join(lines)


def _pairs(simulation: Simulation) -> list[str]:
    """Friction and restitution of pairs of owners, and how many of their bodies' pairs may touch."""
    scene, bodies = simulation.scene, [body for body in simulation.world.bodies if body.shapes]
    mobile = {body.name: body.joint != 0 for body in bodies}
    found: dict[tuple[str, str], list[tuple[bool, float, float]]] = {}
    for a, b in itertools.combinations(bodies, 2):
        if mobile[a.name] or mobile[b.name]:
            properties = scene.pairs(a.name, b.name)
            key = (a.owner, b.owner)
            row = (scene.collides(a.name, b.name), properties.friction, properties.restitution)
            found.setdefault(key, []).append(row)
    lines = []
    for owners, rows in found.items():
        pair = " - ".join(owners)
        touching = [row for row in rows if row[0]]
        if not touching:
            lines.append(f"  {pair}: never touch")
            continue
        friction = _range([row[1] for row in touching])
        restitution = _range([row[2] for row in touching])
        some = "" if len(touching) == len(rows) else f", {len(touching)} of {len(rows)} pairs of bodies"
        lines.append(f"  {pair}: friction {friction}, restitution {restitution}{some}")
    return lines


def _range(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
