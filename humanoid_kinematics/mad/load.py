# SPDX-License-Identifier: Apache-2.0
"""Loading mechanisms from files: MAD, URDF and SDF, and MJCF with its ``<equality>`` constraints."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from humanoid_kinematics.mad.build import LENGTH_UNIT, build_mechanism
from humanoid_kinematics.mad.grammar import Extension
from humanoid_kinematics.mad.read import parse_mad, read_mad
from humanoid_kinematics.mad.syntax import MadRobot, MadScene, MadSensor
from humanoid_kinematics.mad.write import write_mad
from humanoid_kinematics.solver.mechanism import Coupling, Mechanism, Tool
from humanoid_model import RobotError, load_robot
from humanoid_model.errors import InputError, MissingLibraryError
from humanoid_model.extensions import load_extensions
from humanoid_model.files import find_resource, list_resources, read_text
from humanoid_model.mjcf_bodies import read_bodies
from humanoid_model.mjcf_document import MjcfDocument
from humanoid_model.mjcf_tree import build_tree, configuration, read_actuators, read_equalities, read_keyframes


def load_mjcf(path: str | Path) -> Mechanism:
    """Load a MuJoCo model; sites become tools.

    ``connect`` and ``weld`` become loops, ``joint`` a coupling where it is linear. Where MuJoCo takes the second body's
    end from the reference configuration, so does this. The declared posture is the first keyframe, if any.

    Args:
        path: the file.

    Raises:
        RobotError: no MJCF, or what the stack has no word for; with file, line and remedy.
    """
    return _mechanism(read_text(path, RobotError, "Give the path of an MJCF file"), str(path), Path(path).parent)


def read_mjcf(text: str, source: str = "text") -> Mechanism:
    """Return the mechanism of an MJCF text, whose other files are looked for here; see :func:`load_mjcf`.

    Raises:
        RobotError: as of :func:`load_mjcf`; the text is called ``source``.
    """
    return _mechanism(text, source, Path())


def _mechanism(text: str, source: str, folder: Path) -> Mechanism:
    document = MjcfDocument(text, source, folder, RobotError)
    world = read_bodies(document)
    if not world.children:
        raise document.top.fail("has no body in its <worldbody>", "Add the mechanism's bodies")
    loops, laws = read_equalities(document, world)
    actuators = read_actuators(document, world)
    for element in document.top.all("tendon"):
        document.note_all(element)
    robot = build_tree(document.name, world.children, world, document, actuators, loops=loops)
    frames = {name: configuration(robot, frame) for name, frame in read_keyframes(document, world).items()}
    robot = dataclasses.replace(robot, postures={**robot.postures, **frames})
    couplings = tuple(
        Coupling(
            law.element.attributes.get("name") or f"joint_{number}",
            {law.joint: 1.0, **({law.followed: -law.factor} if law.followed else {})},
            law.offset,
        )
        for number, law in enumerate(laws)
    )
    tools = tuple(Tool(site, site) for body in world.walk() for site in body.sites)
    mechanism = Mechanism.from_robot(robot, tools, couplings)
    initial = next(iter(frames.values()), robot.postures["qpos0"])
    driven = tuple(joint for joint in robot.joint_names if joint in actuators) if actuators else None
    document.warn()
    return dataclasses.replace(mechanism, initial=initial, driven=driven)


#: Keywords beside those of the thesis: joints with a motor, joints held still, how thick automatic shapes are.
EXTENSIONS = [
    Extension("driven", '"(" NUMBER* ")"'),
    Extension("locked", '"(" NUMBER* ")"'),
    Extension("thickness", '"(" (NUMBER FLOAT)* ")"'),
]


def register_statement(extension: Extension) -> None:
    """Make a keyword known to MAD files, a joint of another type say, which its ``apply`` builds.

    Other packages list a function that calls it as an entry point ``humanoid_stack.mad_statements``.

    Raises:
        InputError: the keyword is taken.
    """
    if extension.keyword in {known.keyword for known in EXTENSIONS}:
        raise InputError(
            f"MAD has the keyword '{extension.keyword}' already", element="keyword", remedy="Take another word"
        )
    EXTENSIONS.append(extension)


def _extensions() -> list[Extension]:
    load_extensions("mad_statements")
    return EXTENSIONS


@dataclass(frozen=True, eq=False)
class Scene:
    """Mechanisms of one file and the input devices that may command their tools.

    Attributes:
        name: of the scene.
        mechanisms: by name, in the order of the file.
        sensors: by number.
        mad: what the MAD file says, to be changed and written again; None for a file of another kind.
    """

    name: str
    mechanisms: Mapping[str, Mechanism]
    sensors: Mapping[int, MadSensor]
    mad: MadScene | None = None


def load_scene(name_or_path: str | Path, *, length_unit: float | None = None, strict: bool = True) -> Scene:
    """Load all mechanisms of a MAD file, or the one of another file.

    Args:
        name_or_path: as in :func:`load_mechanism`; or several MAD files, with commas between them, in one scene, in
            which devices that are declared alike are one.
        length_unit: metres in a unit of length of a MAD file, before what the file says; without both, 0.001.
        strict: False skips what a MAD file has that the grammar doesn't know, with warnings.

    Raises:
        RobotError: unknown name, or a file that can't be used; with file, line, column and remedy.
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and "," in name_or_path and not path.exists():
        parts = [part.strip() for part in name_or_path.split(",")]
        return _joined([load_scene(part, length_unit=length_unit, strict=strict) for part in parts], name_or_path)
    shipped = list_resources("urdf/mechanisms", (".mad",))
    if isinstance(name_or_path, str) and name_or_path in shipped:
        path = find_resource(f"urdf/mechanisms/{name_or_path}.mad")
    if path.suffix == ".sdf":
        # Its wheels and the packages of ROS 2 are built without sdformat.
        raise MissingLibraryError(
            "Pinocchio is built without sdformat: SDF can't be read", source=name_or_path,
            remedy="Convert it to URDF, for example with sdformat_urdf, and add its loops as <constraint> elements",
        )  # fmt: skip
    if path.suffix == ".xml":
        mechanism = load_mjcf(path)
        return Scene(mechanism.name, {mechanism.name: mechanism}, {})
    if path.suffix != ".mad":
        robots = list_resources("urdf", (".urdf", ".yaml"))
        if len(path.parts) == 1 and not path.suffix and path.name not in robots:
            raise RobotError(
                f"unknown mechanism '{name_or_path}'",
                remedy=f"Give the path of a .mad or .urdf file or one of {', '.join([*shipped, *robots])}",
            )
        mechanism = Mechanism.from_robot(load_robot(name_or_path))
        return Scene(mechanism.name, {mechanism.name: mechanism}, {})
    return _built(read_mad(path, strict=strict, extensions=_extensions()), length_unit)


def _joined(scenes: Sequence[Scene], source: str) -> Scene:
    """Return the robots of several MAD files as those of one.

    Raises:
        RobotError: a file of another kind, files in different units of length, or two robots of one name.
    """
    sensors: list[MadSensor] = []
    robots: list[MadRobot] = []
    units = set()
    for scene in scenes:
        if scene.mad is None:
            raise RobotError(f"'{scene.name}' isn't MAD", source=source, remedy="Join MAD files, load others alone")
        units.add(scene.mad.length_unit or LENGTH_UNIT)
        numbers = {}
        for sensor in scene.mad.sensors:
            alike = [old for old in sensors if replace(old, number=sensor.number) == sensor]
            alike = [old for old in alike if (old.number == 0) == (sensor.number == 0)]
            if not alike:
                number = 0 if sensor.number == 0 else max((old.number for old in sensors), default=0) + 1
                alike = [replace(sensor, number=number)]
                sensors += alike
            numbers[sensor.number] = alike[0].number
        for robot in scene.mad.robots:
            trackings = tuple(
                replace(tracking, sensors=tuple(numbers[number] for number in tracking.sensors))
                for tracking in robot.trackings
            )
            folder = Path(scene.mad.source).resolve().parent / (robot.path or "")
            robots.append(replace(robot, trackings=trackings, path=str(folder)))
    names = [robot.name for robot in robots]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or len(units) > 1:
        problem = f"has the robot {', '.join(twice)} twice" if twice else f"counts in {sorted(units)} m"
        raise RobotError(problem, source=source, remedy="Join files with names of their own, in one unit of length")
    mad = MadScene("_and_".join(names), None, tuple(sensors), tuple(robots), units.pop(), source)
    return _built(mad, None)


def read_scene(text: str, source: str = "text") -> Scene:
    """Return the mechanisms of a MAD, URDF or MJCF text; the latter two begin with "<", and MJCF has ``<mujoco``.

    Raises:
        RobotError: as of :func:`load_scene`.
    """
    if not text.lstrip().startswith("<"):
        return _built(parse_mad(text, source, extensions=_extensions()), None)
    mjcf = re.search(r"<\s*(\w+)", text)
    if mjcf is not None and mjcf[1] == "mujoco":
        mechanism = read_mjcf(text, source)
    else:
        mechanism = Mechanism.from_robot(load_robot(text.lstrip()))
    return Scene(mechanism.name, {mechanism.name: mechanism}, {})


def renamed_scene(scene: Scene, name: str) -> Scene:
    """Return a scene whose mechanism has another name; of several each has it in front of its own.

    Raises:
        RobotError: a name that a MAD file can't have.
    """
    if scene.mad is None:
        return Scene(name, dict.fromkeys([name], next(iter(scene.mechanisms.values()))), scene.sensors)
    several = len(scene.mad.robots) > 1
    robots = tuple(replace(robot, name=f"{name}_{robot.name}" if several else name) for robot in scene.mad.robots)
    return build_scene(replace(scene.mad, name=name, robots=robots))


def build_scene(mad: MadScene, length_unit: float | None = None) -> Scene:
    """Return the mechanisms of what a MAD file says, or would say after a change.

    Args:
        mad: read from a file, or changed since: its static checks are made again, so that nothing half right is built.
        length_unit: as in :func:`load_scene`.

    Raises:
        RobotError: as of :func:`load_scene`; lines count in the text that would be written.
    """
    parse_mad(write_mad(mad), f"{mad.source or mad.name} as changed", extensions=_extensions())
    return _built(mad, length_unit)


def _built(mad: MadScene, length_unit: float | None) -> Scene:
    mechanisms = {robot.name: build_mechanism(mad, robot, length_unit) for robot in mad.robots}
    changes = {own.keyword: own.apply for own in EXTENSIONS if own.apply is not None}
    for robot in mad.robots:
        for statement in robot.statements:
            if (apply := changes.get(statement.keyword)) is not None:
                mechanisms[robot.name] = apply(mechanisms[robot.name], statement)
    return Scene(mad.name, mechanisms, {sensor.number: sensor for sensor in mad.sensors}, mad)


def load_mechanism(
    name_or_path: str | Path, robot: str | None = None, *, length_unit: float | None = None, strict: bool = True
) -> Mechanism:
    """Load one mechanism.

    Args:
        name_or_path: ``"planar_hybrid"``, ``"hrp2"``, ..., or the path of a ``.mad`` file, of a robot's URDF or
            YAML, or of a MuJoCo model (``.xml``).
        robot: which of the file's robots, where it has several.
        length_unit: as in :func:`load_scene`.
        strict: as in :func:`load_scene`.

    Raises:
        RobotError: as of :func:`load_scene`, or the file has no such robot, or several and none is named.
    """
    scene = load_scene(name_or_path, length_unit=length_unit, strict=strict)
    if robot is None and len(scene.mechanisms) == 1:
        return next(iter(scene.mechanisms.values()))
    if robot is None or robot not in scene.mechanisms:
        problem = f"has {len(scene.mechanisms)} robots" if robot is None else f"has no robot '{robot}'"
        remedy = f"Name one of {', '.join(scene.mechanisms)}" if scene.mechanisms else "Describe a robot in it"
        raise RobotError(problem, source=name_or_path, remedy=remedy)
    return scene.mechanisms[robot]
