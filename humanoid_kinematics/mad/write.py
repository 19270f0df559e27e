# SPDX-License-Identifier: Apache-2.0
"""Writer of MAD files: what is written reads back as the same records.

A mechanism, whatever file it comes from, is first described by what a MAD file says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from humanoid_kinematics.mad.syntax import (
    MadBase,
    MadClosure,
    MadFrame,
    MadLink,
    MadRobot,
    MadScene,
    MadSensor,
    MadStatement,
    MadTracking,
)
from humanoid_kinematics.solver.mechanism import KleinfingerKhalil, Mechanism
from humanoid_model import InputError, RobotError
from humanoid_model.loop_closure import KINDS, LoopClosure, turned_to


def describe_mechanism(mechanism: Mechanism) -> MadScene:
    """Return a MAD file's records of a mechanism in its initial posture.

    Link ``n`` is joint ``n`` of ``robot.joint_names``, counted from 1, with four Kleinfinger-Khalil parameters where it
    is the first joint on its body and six where it is another. Its angle differs from the joint's by a constant. A cut
    hinge or slide becomes one more link behind a closure of a frame.

    Args:
        mechanism: of turning and sliding joints on a fixed base.

    Raises:
        RobotError: what MAD has no word for: other joints, couplings, loops that hold other rows.
    """
    return _Describer(mechanism).scene()


class _Describer:
    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.robot = mechanism.robot
        model = mechanism.model
        if mechanism.couplings:
            raise self.fail(f"coupling '{mechanism.couplings[0].name}'", "Leave couplings out")
        self.axes = {0: np.array([0.0, 0.0, 1.0])}
        self.prismatic = {0: False}
        for name in self.robot.joint_names:
            joint = self.robot.description.joints.get(name)
            if joint is None or joint.type not in ("revolute", "continuous", "prismatic"):
                kind = "ball" if joint is None else joint.type
                raise self.fail(f"joint '{name}' of kind {kind}", "Use turning and sliding joints")
            self.axes[self.robot.parts.joint_ids[name]] = joint.axis
            self.prismatic[self.robot.parts.joint_ids[name]] = joint.type == "prismatic"
        if self.robot.base_joint is not None:
            raise self.fail("a floating base", "Load it with floating_base=False")
        self.frames = {0: pin.SE3.Identity(), **{j: self.frame_of(j) for j in range(1, model.njoints)}}
        self.nodes: list[MadLink | MadFrame] = []

    def fail(self, what: str, remedy: str) -> RobotError:
        return RobotError(
            f"MAD has no word for {what}", source=self.robot.description.source,
            element=f"mechanism '{self.mechanism.name}'", remedy=remedy,
        )  # fmt: skip

    def frame_of(self, j: int) -> pin.SE3:
        """Place in joint ``j``'s frame of the one that has z along its axis, x on the normal to the first child's."""
        axis = self.axes[j]
        frame = pin.SE3(turned_to(axis), np.zeros(3))
        child = next((k for k in range(j + 1, self.mechanism.model.njoints) if self.mechanism.model.parents[k] == j), 0)
        if child == 0:
            return frame
        placement = self.mechanism.model.jointPlacements[child]
        other, between = placement.rotation @ self.axes[child], np.array(placement.translation)
        normal = np.cross(axis, other)
        foot = 0.0
        if np.linalg.norm(normal) > 1e-8:
            # Where the common normal leaves this axis.
            foot = float(np.cross(between, other) @ normal / (normal @ normal))
            if normal @ between < 0:
                normal = -normal
        else:
            normal = between - axis * (axis @ between)
            if np.linalg.norm(normal) < 1e-9:
                normal = frame.rotation[:, 0]
        x = normal / np.linalg.norm(normal)
        return pin.SE3(np.column_stack([x, np.cross(axis, x), axis]), foot * axis)

    def scene(self) -> MadScene:
        model, mechanism = self.mechanism.model, self.mechanism
        data = model.createData()
        pin.forwardKinematics(model, data, mechanism.initial)
        self.numbers = {self.robot.parts.joint_ids[name]: n for n, name in enumerate(self.robot.joint_names, 1)}
        self.numbers[0] = 0
        for name in self.robot.joint_names:
            j = self.robot.parts.joint_ids[name]
            placement = self.frames[model.parents[j]].actInv(data.liMi[j] * self.frames[j])
            index = self.robot.index_q(name)
            bounds = (self.robot.limits.lower[index], self.robot.limits.upper[index])
            self.add_link(
                self.numbers[model.parents[j]], placement, self.prismatic[j],
                tuple(float(bound - mechanism.initial[index]) for bound in bounds),
            )  # fmt: skip
        closures = tuple(self.closure(loop, data) for loop in mechanism.loops)
        trackings = tuple(
            MadTracking(self.add_frame(tool.link, tool.placement), tool.devices or (0,)) for tool in mechanism.tools
        )
        numbers = {name: str(n) for n, name in enumerate(self.robot.joint_names, 1)}
        statements = [
            MadStatement(keyword, ("(", *(numbers[name] for name in joints), ")"))
            for keyword, joints in (("driven", mechanism.driven), ("locked", mechanism.locked or None))
            if joints is not None
        ]
        sensors = sorted({number for tracking in trackings for number in tracking.sensors})
        robot = MadRobot(
            "".join(c if c.isascii() and c.isalnum() else "_" for c in mechanism.name) or "robot",
            MadBase(), tuple(self.nodes), closures, trackings, None, tuple(statements),
        )  # fmt: skip
        declared = tuple(MadSensor(number) for number in sensors)
        return MadScene(robot.name, "1.1", declared, (robot,), mechanism.length_unit)

    def add_link(
        self, pred: int, placement: pin.SE3, prismatic: bool, bounds: tuple[float, ...] = (-math.inf, math.inf)
    ) -> int:
        """Add a joint at its initial place; bounds count from there. Returns its number."""
        kk, unit = KleinfingerKhalil.from_placement(placement), self.mechanism.length_unit
        values = {
            "theta": math.degrees(kk.theta), "r": kk.r / unit, "alpha": math.degrees(kk.alpha), "d": kk.d / unit,
            "gamma": math.degrees(kk.gamma), "epsil": kk.epsilon / unit,
        }  # fmt: skip
        values = {key: _rounded(value) for key, value in values.items()}
        for key in ("gamma", "epsil"):
            if values[key] == 0.0:
                del values[key]
        limits = None
        if all(math.isfinite(bound) for bound in bounds):
            low, high = (bound / unit if prismatic else math.degrees(bound) for bound in bounds)
            limits = (low, high)
        number = len(self.nodes) + 1
        self.nodes.append(MadLink(number, values, 1 if prismatic else 2, pred, None, limits, (None,)))
        return number

    def add_frame(self, link: str, placement: pin.SE3) -> int:
        """Add a frame fixed to a link; returns its number."""
        at = self.robot.parts.links[link]
        place = self.frames[at.joint_id].actInv(at.placement_joint_link * placement)
        x, y, z = (_rounded(value / self.mechanism.length_unit) for value in place.translation)
        a, b, c = (_rounded(math.degrees(angle)) for angle in pin.rpy.matrixToRpy(place.rotation))
        number = len(self.nodes) + 1
        self.nodes.append(MadFrame(number, (x, y, z), (a, b, c), self.numbers[at.joint_id]))
        return number

    def closure(self, loop: LoopClosure, data: pin.Data) -> MadClosure:
        kind = next((kind for kind, rows in KINDS.items() if set(rows) == set(loop.rows)), None)
        if kind is None:
            raise self.fail(f"loop '{loop.name}', which holds {', '.join(loop.rows)}", f"Cut a {', '.join(KINDS)}")
        end_a, end_b = self.add_frame(loop.link_a, loop.placement_a), self.add_frame(loop.link_b, loop.placement_b)
        if kind in ("axis", "slide"):
            places = [
                data.oMi[at.joint_id] * at.placement_joint_link * placement
                for link, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b))
                for at in [self.robot.parts.links[link]]
            ]
            between = places[0].actInv(places[1])
            angle = math.atan2(between.rotation[1, 0], between.rotation[0, 0]) if kind == "axis" else 0.0
            slide = float(between.translation[2]) if kind == "slide" else 0.0
            step = KleinfingerKhalil(theta=angle, r=slide).placement
            end_a = self.add_link(end_a, step, kind == "slide")
        return MadClosure((min(end_a, end_b), max(end_a, end_b)), ball=kind == "point")


def _rounded(value: float) -> float:
    """Return a number without the dust of rounding: to 12 digits behind the point."""
    return round(float(value), 12) + 0.0


def write_mad(scene: MadScene) -> str:
    """Return the text of a MAD file.

    Raises:
        InputError: a number isn't finite, or a text holds a quote or a line break, which MAD can't write.
    """
    header = ["RAFF", *([f"v{scene.version}"] if scene.version else []), scene.name]
    lines = [" ".join(header)]
    if scene.length_unit is not None:
        lines.append(f"length_unit_m {_number(scene.length_unit)}")
    lines += [_sensor(sensor) for sensor in scene.sensors]
    for robot in scene.robots:
        lines += _robot(robot)
    return "\n".join(lines) + "\n"


def _robot(robot: MadRobot) -> list[str]:
    lines = [f"robot {robot.name} {{"]
    if robot.path is not None:
        lines.append(f"  path {_text(robot.path)}")
    base = [
        *([f"pos {_braces(robot.base.pos)}"] if any(robot.base.pos) else []),
        *([f"ori {_braces(robot.base.ori)}"] if any(robot.base.ori) else []),
        *_graphics(robot.base.graphics),
    ]
    lines.append(f"  base {{ {' '.join([*base, '}'])}")
    lines += [f"  {_link(node) if isinstance(node, MadLink) else _frame(node)}" for node in robot.nodes]
    kinds = {node.number: "link" if isinstance(node, MadLink) else "frame" for node in robot.nodes}
    for closure in robot.closures:
        members = " ".join(f"{kinds[number]} {number}" for number in closure.nodes)
        lines.append(f"  {'rotule' if closure.ball else 'constraint'} {{ {members} }}")
    for tracking in robot.trackings:
        sensors = " ".join(str(number) for number in tracking.sensors)
        lines.append(f"  constraint {{ {kinds[tracking.node]} {tracking.node} sensor ( {sensors} ) }}")
    lines += [f"  {statement.keyword} {' '.join(statement.words)}" for statement in robot.statements]
    return [*lines, "}"]


def _sensor(sensor: MadSensor) -> str:
    items = [
        *([f"port {_text(sensor.port)}"] if sensor.port is not None else []),
        *(f"{key} {value}" for key in ("type", "translation", "rotation")
          if (value := getattr(sensor, key)) is not None),
    ]  # fmt: skip
    return f"sensor {sensor.number} {{ {' '.join([*items, '}'])}"


def _link(link: MadLink) -> str:
    parameters = " ".join(f"{key} {_number(value)}" for key, value in link.parameters.items())
    items = [
        f"parameters {{ {parameters} }}",
        f"type {link.type}",
        f"pred {link.pred}",
        *(f"{key} {_braces(value)}" for key in ("limits", "range") if (value := getattr(link, key)) is not None),
        *_graphics(link.graphics),
    ]
    return f"link {link.number} {{ {' '.join(items)} }}"


def _frame(frame: MadFrame) -> str:
    items = [f"pos {_braces(frame.pos)}", f"ori {_braces(frame.ori)}", f"pred {frame.pred}", *_graphics(frame.graphics)]
    return f"frame {frame.number} {{ {' '.join(items)} }}"


def _graphics(files: tuple[str | None, ...] | None) -> list[str]:
    if files is None:
        return []
    return [f"filename ( {' '.join([*('auto' if file is None else _text(file) for file in files), ')'])}"]


def _braces(values: Iterable[float]) -> str:
    return f"{{ {' '.join(_number(value) for value in values)} }}"


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise InputError(f"{value} can't be written to MAD", remedy="Give finite numbers")
    return repr(float(value)).removesuffix(".0")


def _text(text: str) -> str:
    if '"' in text or "\n" in text:
        raise InputError(f"{text!r} can't be written to MAD", remedy="Leave out quotes and line breaks")
    return f'"{text}"'
