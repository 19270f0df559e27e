# SPDX-License-Identifier: Apache-2.0
"""The model generator node: dynamic models as code and equations, and the efforts of a motion."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
from geometry_msgs.msg import Accel, Twist, Vector3
from humanoid_stack.msg import GeneratedFile, GeneratedFunction, LinkWrench
from humanoid_stack.srv import GenerateModel, InverseDynamics

from humanoid_codegen.generate import function_names, generate, language_names, write_files
from humanoid_codegen.inverse_dynamics import GivenMotion, KnownWrench, ModelCache, inverse_dynamics
from humanoid_model import Robot, load_robot
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.progress import Progress
from humanoid_ros.messages.conversions import array, check_finite, fill_vector, placement
from humanoid_ros.node.parameter_declaration import declare_whole, whole
from humanoid_ros.node.requested_files import check_requested, check_written, requested_reading
from humanoid_ros.node.run import run
from humanoid_ros.node.service_workers import CLOSED, ServiceWorkers, ServingNode


def answer_inverse_dynamics(
    cache: ModelCache, request: InverseDynamics.Request, response: InverseDynamics.Response
) -> None:
    """Fill a response with the efforts that a request's motion asks for.

    Args:
        cache: where models are kept.
        request: the request.
        response: to fill.

    Raises:
        HumanoidError: the robot can't be used, or a field can't; the message names it.
    """
    if not request.robot.strip():
        raise InputError("is empty", element="robot", remedy="Give a name, the path of a URDF or its text")
    gravity = array(request.gravity)
    check_finite(gravity, "gravity")
    motion = GivenMotion(
        request.joint_names,
        request.positions,
        request.velocities,
        request.accelerations,
        placement(request.base, "base"),
        _six(request.base_twist),
        _six(request.base_acceleration),
    )
    wrenches = [_known(wrench) for wrench in request.wrenches]
    robot = check_requested(request.robot, "robot")
    with requested_reading(robot):
        answer = inverse_dynamics(robot, motion, gravity=gravity, wrenches=wrenches, cache=cache)
    response.joint_names = list(answer.joint_names)
    response.efforts = answer.efforts
    fill_vector(response.base_wrench.force, answer.base_wrench[:3])
    fill_vector(response.base_wrench.torque, answer.base_wrench[3:])


def _six(message: Twist | Accel) -> np.ndarray:
    return np.concatenate([array(message.linear), array(message.angular)])


def _known(message: LinkWrench) -> KnownWrench:
    force, torque = array(message.wrench.force), array(message.wrench.torque)
    return KnownWrench(message.link, force, torque, array(message.point), message.in_link_frame)


class ModelGeneratorNode(ServingNode):
    """Generates dynamic models and computes inverse dynamics; see docs/interfaces.md for its services.

    Attributes:
        workers: answer the requests.
    """

    def __init__(self) -> None:
        super().__init__("model_generator")
        self._declare_parameters()
        self._cache = ModelCache(whole(self, "cache_size"))
        self.workers = ServiceWorkers(self)
        self.workers.offer(GenerateModel, "generate_model", self._generate)
        self.workers.offer(InverseDynamics, "inverse_dynamics", partial(answer_inverse_dynamics, self._cache))
        self.get_logger().info(f"generates models in {', '.join(language_names())}")

    def _declare_parameters(self) -> None:
        meaning = "Robots whose equations inverse_dynamics keeps, and sets of gravity and loaded links kept of each"
        declare_whole(self, "cache_size", 8, 1, 1000, meaning, read_only=True)

    def _generate(self, request: GenerateModel.Request, response: GenerateModel.Response) -> None:
        folder = _folder(request.folder)
        generated = generate(
            requested_robot(request),
            lang=request.language,
            functions=function_names(request.functions),
            gravity=_gravity(request.gravity),
            base_parameters=request.base_parameters,
            symbolic_parameters=request.symbolic_parameters,
            derivatives=request.derivatives,
            progress=self._check_closing,
        )
        if folder is not None:
            _write(folder, generated.files)
        response.files = [GeneratedFile(name=name, text=text) for name, text in generated.files.items()]
        response.functions = [
            GeneratedFunction(
                name=function.name,
                additions=count.additions,
                multiplications=count.multiplications,
                divisions=count.divisions,
                trigonometric=count.trigonometric,
            )
            for function, count in generated.functions
        ]
        response.joint_names = list(generated.joint_names)
        response.time = generated.time

    def _check_closing(self, _: Progress) -> None:
        if self.workers.closing.is_set():
            raise HumanoidError(CLOSED)


def requested_robot(request: GenerateModel.Request) -> Robot:
    """Return the robot that a request names or holds.

    Raises:
        InputError: there is none, or it can't be used.
    """
    if not request.robot.strip():
        raise InputError("is empty", element="robot", remedy="Give a name, the path of a URDF or its text")
    with requested_reading(request.robot):
        return load_robot(check_requested(request.robot, "robot"), floating_base=request.floating_base, geometry=False)


def _gravity(message: Vector3) -> tuple[float, ...]:
    values = array(message)
    check_finite(values, "gravity")
    return tuple(values.tolist())


def _folder(text: str) -> Path | None:
    if not text:
        return None
    if not os.path.isabs(text):
        raise InputError(
            f"'{text}' is relative to a folder that only the node knows",
            element="folder",
            remedy="Give an absolute path",
        )
    return Path(check_requested(text, "folder", written=True))


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write files; one that is there has to say the same already."""
    for name, text in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != len(text.encode()) or path.read_text(encoding="utf-8") != text:
            check_written(str(path), "folder")
    write_files(folder, files)


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("model_generator", ModelGeneratorNode)


if __name__ == "__main__":
    main()
