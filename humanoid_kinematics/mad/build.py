# SPDX-License-Identifier: Apache-2.0
"""From what a MAD file says to mechanisms, in metres and radians.

Links described by their joints alone get hubs on the joints and bars between them; drives that share a load over loops
get servo gains.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.linalg import null_space

from humanoid_kinematics.mad.syntax import MadBase, MadFrame, MadLink, MadRobot, MadScene, MadStatement, Place
from humanoid_kinematics.solver.mechanism import KleinfingerKhalil, Mechanism, Tool
from humanoid_model import Robot, RobotError, RobotWarning
from humanoid_model.actuator import DEFAULT_FREQUENCY
from humanoid_model.arrays import Array
from humanoid_model.description import (
    DEFAULT_COLOUR,
    Cylinder,
    Geometry,
    Inertial,
    Joint,
    JointLimit,
    Link,
    Mesh,
    RobotDescription,
)
from humanoid_model.files import may_read
from humanoid_model.inertia import uniform_inertia
from humanoid_model.loop_closure import KINDS, ROWS, LoopClosure
from humanoid_model.robot import build_robot
from humanoid_model.robot_file import RobotFile
from humanoid_model.urdf_text import urdf_text

#: Density of the bars [kg/m^3]: aluminium.
DENSITY = 2700.0


def bars(ends: Sequence[np.ndarray], radius: float) -> tuple[Geometry, ...]:
    """Return a hub along z at the origin and a bar from there to each end.

    Args:
        ends: (3,) points in the link's frame [m].
        radius: of the bars [m]; the hub is twice as thick and four times as long.
    """
    colour = np.array(DEFAULT_COLOUR)
    shapes = [Geometry("hub", Cylinder(2 * radius, 4 * radius), pin.SE3.Identity(), colour)]
    for index, end in enumerate(ends):
        length = float(np.linalg.norm(end))
        if length > 4 * radius:  # else it is inside the hub
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), np.asarray(end) / length)
            shapes.append(Geometry(f"bar_{index}", Cylinder(radius, length), pin.SE3(turn.matrix(), end / 2), colour))
    return tuple(shapes)


def bar_inertial(shapes: Sequence[Geometry]) -> Inertial:
    """Return the mass properties of aluminium hubs and bars; overlaps count twice."""
    volume = sum(
        np.pi * shape.shape.radius**2 * shape.shape.length for shape in shapes if isinstance(shape.shape, Cylinder)
    )
    body = uniform_inertia(shapes, DENSITY * volume)
    assert body is not None  # cylinders have a volume
    return Inertial(body.mass, pin.SE3(np.eye(3), body.lever), body.inertia)


#: Motions of drives weaker than this share of the strongest don't count: near a singularity inertias have no bound.
_WEAKEST = 0.01


def with_loop_gains(robot: Robot, q: Array) -> Robot:
    """Return a robot whose drives carry at least what they move over its loops.

    A tree's rule gives a drive what hangs from its joint. With loops, a platform hangs from one leg and is moved by
    the drives of all. The inertia that a drive moves while the others stand still is the diagonal of Z^T M Z, with Z
    the motions that keep the loops closed, by the drives' speeds. Gains are those of the tree's rule otherwise: a
    critically damped oscillator of 8 Hz. None is lowered.

    Args:
        robot: fixed, its drives with default gains.
        q: (nq,) posture with closed loops; where they are open by a little, so are the motions.
    """
    drives = [name for name in robot.actuators if robot.model.joints[robot.parts.joint_ids[name]].nv == 1]
    if not robot.loops or not drives:
        return robot
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    rows = []
    for loop in robot.loops:
        jacobians, places = [], []
        for link, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b)):
            part = robot.parts.links[link]
            jacobians.append(pin.getJointJacobian(model, data, part.joint_id, pin.ReferenceFrame.WORLD))
            places.append(data.oMi[part.joint_id] * part.placement_joint_link * placement)
        relative = places[0].toActionMatrixInverse() @ (jacobians[0] - jacobians[1])
        rows.append(relative[[ROWS.index(row) for row in loop.rows]])
    motions = null_space(np.vstack(rows), rcond=1e-6)
    by_drives = motions @ np.linalg.pinv(motions[[robot.index_v(name) for name in drives]], rcond=_WEAKEST)
    pin.crba(model, data, q, pin.Convention.WORLD)
    M = np.triu(data.M) + np.triu(data.M, 1).T
    moved = np.einsum("ik,ij,jk->k", by_drives, M, by_drives)
    omega = 2.0 * math.pi * DEFAULT_FREQUENCY
    raised = {
        name: dataclasses.replace(
            own, stiffness=max(own.stiffness, float(inertia) * omega**2),
            damping=max(own.damping, 2.0 * float(inertia) * omega)
        )
        for name, inertia in zip(drives, moved, strict=True)
        for own in [robot.actuators[name]]
    }
    return dataclasses.replace(robot, actuators={**robot.actuators, **raised})


#: Metres in a unit of length where neither file nor caller says: the thesis' listings are in millimetres.
LENGTH_UNIT = 0.001
#: Formats of graphic files that the stack draws.
_DRAWN = (".stl", ".obj", ".dae", ".glb", ".gltf", ".wrl", ".nff", ".dxf")
_APPROXIMATE = "masses and inertias: aluminium bars between the joints"


def build_mechanism(scene: MadScene, robot: MadRobot, length_unit: float | None = None) -> Mechanism:
    """Return the mechanism of one robot of a file.

    Node ``n`` becomes the link ``link_n`` behind the joint ``joint_n``, or the link ``frame_n`` behind a fixed joint;
    the base is the link ``base`` fixed to the root ``world``. Masses are approximate: MAD has none.

    Args:
        scene: the file.
        robot: one of its robots.
        length_unit: metres in a unit of length, before what the file says.

    Raises:
        RobotError: more joints than a robot may have, or what an extension says can't be.
    """
    unit = length_unit or scene.length_unit or LENGTH_UNIT
    names = {0: "base", **{node.number: _name(node) for node in robot.nodes}}
    parameters: dict[str, KleinfingerKhalil] = {}
    joints = {"base_joint": _fixed("base_joint", "world", "base", _placement(robot.base, unit))}
    initial: dict[str, np.ndarray] = {}
    for node in _ordered(robot.nodes):
        if isinstance(node, MadFrame):
            joint = _fixed(f"frame_{node.number}_joint", names[node.pred], names[node.number], _placement(node, unit))
        else:
            kk = link_parameters(node, unit)
            joint = _joint(node, names[node.pred], kk, unit)
            parameters[joint.name] = kk
            initial[joint.name] = np.array([kk.r if node.type == 1 else kk.theta])
        joints[joint.name] = joint
    loops = tuple(
        LoopClosure(
            f"{names[left]}-{names[right]}", names[left], pin.SE3.Identity(), names[right], pin.SE3.Identity(),
            KINDS["point" if closure.ball else "frame"],
        )
        for closure in robot.closures
        for left, right in [closure.nodes]
    )  # fmt: skip
    links = _links(scene, robot, names, joints, initial, unit)
    description = RobotDescription(robot.name, links, joints, "world", loops, scene.source)
    description = dataclasses.replace(description, text=urdf_text(description))
    driven, locked = (_joints_of(robot.statements, key, robot, scene) for key in ("driven", "locked"))
    built = build_robot(
        description,
        RobotFile(
            floating_base=False,
            approximate=_APPROXIMATE,
            postures={"initial": initial},
            actuators=None if driven is None else {joint: {} for joint in driven},
        ),
    )
    tools = tuple(
        Tool(names[item.node], names[item.node], devices=tuple(sorted(item.sensors, key=lambda number: number == 0)))
        for item in robot.trackings
    )
    posture = built.posture("initial")
    return Mechanism(with_loop_gains(built, posture), posture, tools, (), parameters, driven, locked or (), unit)


def link_parameters(link: MadLink, unit: float) -> KleinfingerKhalil:
    """Return the parameters of a link in metres and radians."""
    given = {"gamma": 0.0, "epsil": 0.0, **link.parameters}
    theta, alpha, gamma = (math.radians(given[key]) for key in ("theta", "alpha", "gamma"))
    return KleinfingerKhalil(theta, given["r"] * unit, alpha, given["d"] * unit, gamma, given["epsil"] * unit)


def _ordered(nodes: Sequence[MadLink | MadFrame]) -> list[MadLink | MadFrame]:
    """Return the nodes by the first link that hangs on them, so that frames don't change the joints' order."""
    parents = {node.number: node.pred for node in nodes}
    first: dict[int, int] = {}
    for index, node in enumerate(nodes):
        number = node.number if isinstance(node, MadLink) else 0
        while number and number not in first:
            first[number] = index
            number = parents[number]
    return sorted(nodes, key=lambda node: first.get(node.number, len(nodes)))


def _name(node: MadLink | MadFrame) -> str:
    return f"{'link' if isinstance(node, MadLink) else 'frame'}_{node.number}"


def _placement(node: MadBase | MadFrame, unit: float) -> pin.SE3:
    turn = pin.rpy.rpyToMatrix(*(math.radians(angle) for angle in node.ori))
    return pin.SE3(turn, unit * np.array(node.pos))


def _fixed(name: str, parent: str, child: str, placement: pin.SE3) -> Joint:
    return Joint(name, "fixed", parent, child, placement, np.array([1.0, 0.0, 0.0]))


def _joint(link: MadLink, parent: str, kk: KleinfingerKhalil, unit: float) -> Joint:
    prismatic = link.type == 1
    scale = unit if prismatic else math.pi / 180
    lower, upper = (-math.inf, math.inf) if link.bounds is None else (scale * value for value in link.bounds)
    kind = "prismatic" if prismatic else ("continuous" if link.bounds is None else "revolute")
    return Joint(
        f"joint_{link.number}",
        kind,
        parent,
        f"link_{link.number}",
        kk.at_zero("prismatic" if prismatic else "revolute"),
        np.array([0.0, 0.0, 1.0]),
        JointLimit(lower, upper, math.inf, math.inf),
    )


def _links(
    scene: MadScene,
    robot: MadRobot,
    names: Mapping[int, str],
    joints: Mapping[str, Joint],
    initial: Mapping[str, np.ndarray],
    unit: float,
) -> dict[str, Link]:
    """Return the links with their shapes and masses."""
    ends: dict[str, list[np.ndarray]] = {"world": [], **{name: [] for name in names.values()}}
    for joint in joints.values():
        slide = initial[joint.name][0] if joint.type == "prismatic" else 0.0
        ends[joint.parent].append(joint.placement.act(slide * joint.axis))
    lengths = [length for points in ends.values() for point in points if (length := float(np.linalg.norm(point))) > 0]
    radius = 0.02 * (sum(lengths) / len(lengths) if lengths else 50 * unit)
    thickness = _thickness(robot, scene)
    links = {"world": Link("world")}
    for node in (robot.base, *robot.nodes):
        name = "base" if isinstance(node, MadBase) else _name(node)
        shapes = bars(ends[name], radius * thickness.get(0 if isinstance(node, MadBase) else node.number, 1.0))
        moves = isinstance(node, MadLink)
        links[name] = Link(
            name, bar_inertial(shapes) if moves else None, _drawn(node.graphics, shapes, scene, robot, node.place)
        )
    return links


def _drawn(
    graphics: tuple[str | None, ...] | None,
    shapes: tuple[Geometry, ...],
    scene: MadScene,
    robot: MadRobot,
    place: Place,
) -> tuple[Geometry, ...]:
    """Return the shapes that are shown: automatic ones once, files that are there and can be drawn."""
    folder = Path(scene.source).parent / (robot.path or "")
    shown: list[Geometry] = []
    automatic = False
    for file in graphics or ():
        path = folder / (file or "")
        there = file is not None and may_read(path) and path.is_file()
        if there and path.suffix.lower() in _DRAWN:
            shown.append(Geometry(path.stem, Mesh(path, np.ones(3)), pin.SE3.Identity(), np.array(DEFAULT_COLOUR)))
            continue
        if file is not None:
            doubt = RobotError(
                f"graphic file '{path}' {'is none of ' + ', '.join(_DRAWN) if there else 'not found'}, "
                "automatic geometry instead [E10]",
                source=scene.source, line=place.line, column=place.column, element=f"robot {robot.name}",
                remedy="Give a file that is there, or auto",
            )  # fmt: skip
            warnings.warn(str(doubt), RobotWarning, stacklevel=6)
        if not automatic:
            shown += shapes
        automatic = True
    return tuple(shown)


def _thickness(robot: MadRobot, scene: MadScene) -> dict[int, float]:
    """Return how many times as thick as usual the automatic shapes of nodes are, by their numbers."""
    known = {0, *(node.number for node in robot.nodes)}
    found: dict[int, float] = {}
    for statement in robot.statements:
        if statement.keyword != "thickness":
            continue
        words = statement.words[1:-1]
        for number, factor in zip(map(int, words[::2]), map(float, words[1::2]), strict=True):
            if number not in known or not 0.0 < factor < math.inf:
                raise RobotError(
                    f"there is no node {number} [E09]" if number not in known else f"node {number} has {factor}",
                    source=scene.source, line=statement.place.line, column=statement.place.column,
                    element=f"robot {robot.name}: thickness",
                    remedy=f"Nodes are {', '.join(map(str, sorted(known)))}; give a factor above 0 for each",
                )  # fmt: skip
            found[number] = factor
    return found


def _joints_of(
    statements: tuple[MadStatement, ...], keyword: str, robot: MadRobot, scene: MadScene
) -> tuple[str, ...] | None:
    """Return the joints that statements of a keyword list, None without any."""
    known = {str(node.number) for node in robot.nodes if isinstance(node, MadLink)}
    found: dict[str, None] | None = None
    for statement in statements:
        if statement.keyword != keyword:
            continue
        found = {} if found is None else found
        for word in statement.words[1:-1]:
            number = str(int(word))
            if number not in known:
                raise RobotError(
                    f"there is no link {word} [E09]", source=scene.source, line=statement.place.line,
                    column=statement.place.column, element=f"robot {robot.name}: {keyword}",
                    remedy=f"Links are {', '.join(sorted(known, key=int))}",
                )  # fmt: skip
            found[f"joint_{number}"] = None
    return None if found is None else tuple(found)
