# SPDX-License-Identifier: Apache-2.0
"""Writer of MAD files: what is written reads back as the same records."""

from __future__ import annotations

import math
from collections.abc import Iterable

from humanoid_kinematics.mad.syntax import MadFrame, MadLink, MadRobot, MadScene, MadSensor
from humanoid_model import InputError


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
