# SPDX-License-Identifier: Apache-2.0
"""The model generator node: dynamic models as code and equations, and the efforts of a motion."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import rclpy
from geometry_msgs.msg import Vector3
from humanoid_stack.msg import GeneratedFile, GeneratedFunction
from humanoid_stack.srv import GenerateModel, InverseDynamics
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from humanoid_codegen.function_names import function_names
from humanoid_codegen.generate import LANGUAGE_NAMES, generate
from humanoid_model import Robot, RobotWarning, load_robot
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.conversions import array, check_finite
from humanoid_ros.executor_future import answer_of
from humanoid_ros.inverse_dynamics_service import answer_inverse_dynamics
from humanoid_ros.model_cache import ModelCache
from humanoid_ros.parameter_declaration import declare_whole, whole
from humanoid_ros.qos import SERVICE

T = TypeVar("T")

PATIENCE = 1.0
"""Time that answers to pending requests have to leave when the node ends [s]."""


class ModelGeneratorNode(Node):
    """Generates dynamic models and computes inverse dynamics; see docs/interfaces.md for its services.

    Callbacks run in one executor thread; generation and inverse dynamics each in one of their own, so that a long
    generation holds nobody up.
    """

    def __init__(self) -> None:
        super().__init__("model_generator")
        declare_whole(
            self,
            "cache_size",
            8,
            1,
            1000,
            "Robots whose equations inverse_dynamics keeps, and sets of gravity and loaded links kept of each",
            read_only=True,
        )
        self._cache = ModelCache(whole(self, "cache_size"))
        self._generation = ThreadPoolExecutor(1, "generation")
        self._dynamics = ThreadPoolExecutor(1, "dynamics")
        self._closing = threading.Event()
        self._pending = 0
        group = ReentrantCallbackGroup()
        for kind, name, callback in (
            (GenerateModel, "generate_model", self._on_generate_model),
            (InverseDynamics, "inverse_dynamics", self._on_inverse_dynamics),
        ):
            self.create_service(kind, name, callback, qos_profile=SERVICE, callback_group=group)
        warnings.simplefilter("always", RobotWarning)
        warnings.showwarning = self._warn  # type: ignore[assignment]
        self.get_logger().info(f"generates models in {', '.join(LANGUAGE_NAMES)}")

    def _warn(self, message: Warning | str, *_: object) -> None:
        self.get_logger().warning(str(message))

    @property
    def busy(self) -> bool:
        """Whether a request is not answered yet."""
        return self._pending > 0

    def close(self) -> None:
        """Give up what is being computed; whoever waits for it is told."""
        self._closing.set()
        for worker in (self._generation, self._dynamics):
            worker.shutdown(wait=False, cancel_futures=True)

    async def _on_generate_model(
        self, request: GenerateModel.Request, response: GenerateModel.Response
    ) -> GenerateModel.Response:
        return await self._serve(self._generation, self._generate, request, response)

    async def _on_inverse_dynamics(
        self, request: InverseDynamics.Request, response: InverseDynamics.Response
    ) -> InverseDynamics.Response:
        return await self._serve(self._dynamics, partial(answer_inverse_dynamics, self._cache), request, response)

    async def _serve(
        self, worker: ThreadPoolExecutor, action: Callable[[Any, T], None], request: Any, response: T
    ) -> T:
        """Let a worker fill the response, and write into it whether that could be done."""
        self._pending += 1
        try:
            await answer_of(self, worker.submit(action, request, response))
        except Exception as error:
            response = type(response)()
            self._fail(request, response, error)
        else:
            response.success = True  # type: ignore[attr-defined]
        finally:
            self._pending -= 1
        return response

    def _fail(self, request: Any, response: Any, error: Exception) -> None:
        response.success = False
        if isinstance(error, HumanoidError):
            response.message = str(error)
        elif isinstance(error, CancelledError | RuntimeError) and self._closing.is_set():
            response.message = _CLOSED
        else:
            response.message = f"{type(error).__name__}: {error}"
            self.get_logger().error("".join(traceback.format_exception(error)))
        self.get_logger().warning(f"refused: {response.message}")

    # In the workers' threads ------------------------------------------------------------------------

    def _generate(self, request: GenerateModel.Request, response: GenerateModel.Response) -> None:
        generated = generate(
            _robot(request),
            lang=request.language,
            functions=function_names(request.functions),
            out=_folder(request.folder),
            gravity=_gravity(request.gravity),
            base_parameters=request.base_parameters,
            symbolic_parameters=request.symbolic_parameters,
            derivatives=request.derivatives,
            progress=self._check_closing,
        )
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

    def _check_closing(self, done: int, total: int, what: str) -> None:
        if self._closing.is_set():
            raise HumanoidError(_CLOSED)


_CLOSED = "The node is shut down."


def _robot(request: GenerateModel.Request) -> Robot:
    if not request.robot.strip():
        raise InputError("is empty", element="robot", remedy="Give a name, the path of a URDF or its text")
    return load_robot(request.robot, floating_base=request.floating_base, geometry=False)


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
    return Path(text)


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # ROS's own handler would take the services away before pending requests are answered.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        node = ModelGeneratorNode()
    except ParameterException as error:
        print(f"model_generator: {error}", file=sys.stderr)
        rclpy.shutdown()
        sys.exit(1)
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def spin(end: Callable[[], bool]) -> None:
        while not end():
            try:
                executor.spin_once(timeout_sec=0.1)
            except Exception:
                node.get_logger().error(traceback.format_exc())

    spin(stop.is_set)
    node.close()
    rounds = iter(range(math.ceil(PATIENCE / 0.1)))
    spin(lambda: not node.busy or next(rounds, None) is None)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
    if node.busy:
        # Nothing is written before the generation's next step, which may be far away; Python would wait for it.
        os._exit(0)


if __name__ == "__main__":
    main()
