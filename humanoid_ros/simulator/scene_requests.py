# SPDX-License-Identifier: Apache-2.0
"""What requests give a simulation: scenes as text, where robots and bodies are put, where saved states lie."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from geometry_msgs.msg import Twist
from humanoid_stack.srv import SetState

from humanoid_model import Scene, load_scene
from humanoid_model.errors import InputError, SceneError
from humanoid_ros.messages.conversions import array, check_finite, placement
from humanoid_ros.node.requested_files import check_written, own_folders, requested_reading
from humanoid_sim import Simulation
from humanoid_sim.state_file import check_state
from humanoid_sim.world.simulated_robot import SimulatedRobot


def read_scene_text(text: str) -> Scene:
    """Read a scene from the text of an XML or YAML scene file.

    Files that it names have to be such that requests may name.

    Args:
        text: the file's content; XML if it begins with ``<``.

    Raises:
        SceneError: as :func:`humanoid_model.load_scene`, with ``text`` in place of the file's name.
    """
    suffix = ".xml" if text.lstrip().startswith("<") else ".yaml"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"text{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            with requested_reading(text, Path(folder)):
                return load_scene(path)
        except InputError as error:
            source = (error.source or "").replace(str(path), "text")
            raise SceneError(
                error.problem,
                source=source,
                line=error.line,
                element=error.element,
                remedy=error.remedy,
            ) from error


FOLDER = "states"
"""Of relative names, in the first folder that requests may name files of."""
ENDING = ".npz"


def state_path(name: str) -> str:
    """Return the path of a state by a name, which is absolute or starts from :data:`FOLDER`."""
    return str(own_folders()[0].absolute() / FOLDER / name)


def written_state(name: str, field: str, overwrite: bool) -> str:
    """Return the path that a request has a state written to; the folder of relative names is made.

    Args:
        name: as of :func:`state_path`.
        field: of the request.
        overwrite: whether a state that is there is to be replaced.

    Raises:
        InputError: another ending, a place that requests mayn't write to, a file that is there and isn't to be
            replaced, or is no state.
    """
    path = state_path(name)
    if Path(path).suffix != ENDING:
        raise InputError(f"is '{name}'", element=field, remedy=f"Give a name that ends in {ENDING}")
    check_written(path, field, overwrite=overwrite)
    if Path(path).exists():
        check_state(path)
    elif not Path(name).is_absolute():
        (own_folders()[0] / FOLDER).mkdir(exist_ok=True)
    return path


def apply_state(simulation: Simulation, request: SetState.Request) -> tuple[str, bool]:
    """Do what a request says, all of it or nothing.

    Args:
        simulation: to change.
        request: the message.

    Returns:
        Name of the robot or body, and whether joints of a robot were set.

    Raises:
        InputError: an unknown name, posture or joint, a value that can't be used, or nothing to do.
    """
    name = _resolve(simulation, request.name)
    twist = _twist(request.twist)
    if name in simulation.bodies:
        if request.posture or request.joint_names:
            raise InputError(
                f"'{name}' is a body without joints",
                element="joint_names" if request.joint_names else "posture",
                remedy="Leave it empty",
            )
        if not request.set_pose:
            raise _nothing()
        simulation.bodies[name].set_state(placement(request.pose, "pose"), twist)
        return name, False
    robot = simulation.robots[name]
    moves_joints = bool(request.posture or request.joint_names)
    if not (moves_joints or request.set_pose):
        raise _nothing()
    robot.set_state(*_robot_state(robot, request, twist))
    return name, moves_joints


def _robot_state(robot: SimulatedRobot, request: SetState.Request, twist: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the configuration and velocity that the request means."""
    model = robot.robot
    q, v = robot.q, robot.v
    base = slice(0, 0)
    if model.base_joint is not None:
        start = model.model.joints[model.base_joint].idx_q
        base = slice(start, start + 7)
    if request.posture:
        if request.posture not in model.postures:
            raise InputError(
                f"the robot '{robot.name}' has no posture '{request.posture}'",
                element="posture",
                remedy=f"Postures are {', '.join(model.postures)}",
            )
        place = q[base].copy()
        q = np.array(model.postures[request.posture])
        q[base] = place
        v = np.zeros_like(v)
    for field, needed in (("joint_positions", True), ("joint_velocities", False)):
        count = len(getattr(request, field))
        if count != len(request.joint_names) and (needed or count):
            raise InputError(
                f"has {count} values for {len(request.joint_names)} joint_names",
                element=field,
                remedy="Give one value per joint" if needed else "Give one value per joint, or none",
            )
    if request.joint_names:
        rates = request.joint_velocities if len(request.joint_velocities) else None
        q, v = robot.place_joints(q, v, request.joint_positions, rates, request.joint_names)
    if request.set_pose:
        if model.base_joint is None:
            raise InputError(
                f"the robot '{robot.name}' is fixed to the world",
                element="set_pose",
                remedy="Set its joints only",
            )
        q = model.place_base(q, placement(request.pose, "pose"))
        start = model.model.joints[model.base_joint].idx_v
        v[start : start + 6] = twist
    return q, v


def _resolve(simulation: Simulation, name: str) -> str:
    robots, bodies = list(simulation.robots), list(simulation.bodies)
    if not name and len(robots) == 1:
        return robots[0]
    if name not in robots and name not in bodies:
        raise InputError(
            f"there is no robot or body '{name}'",
            element="name",
            remedy=f"Name one of {', '.join(robots + bodies)}",
        )
    return name


def _twist(message: Twist) -> np.ndarray:
    twist = np.concatenate([array(message.linear), array(message.angular)])
    check_finite(twist, "twist")
    return twist


def _nothing() -> InputError:
    return InputError("the request sets nothing", remedy="Set set_pose, posture or joint_names with their values")
