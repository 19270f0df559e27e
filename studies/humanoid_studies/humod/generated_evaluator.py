# SPDX-License-Identifier: Apache-2.0
"""Evaluator by this package's own dynamic model: the expressions that code is generated from, on whole batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tqdm import tqdm

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Function, evaluate
from humanoid_model import Robot
from humanoid_studies.humod.evaluator import GRAVITY, Evaluator
from humanoid_studies.humod.recording import FEET

#: Frames at once: every intermediate value of a batch is kept.
_BATCH = 1000


def generated_evaluator(robot: Robot, *, progress: bool = False) -> Evaluator:
    """Return the evaluator by the generated functions ``kinematics`` and ``inverse_dynamics``.

    Args:
        robot: a 3P33R robot as ``load_robot`` gives it.
        progress: shows a bar per computation.
    """
    model = DynamicModel(robot, gravity=tuple(GRAVITY), wrench_links=FEET)
    links = [link.name for link in model.links]
    children = [links.index(robot.description.joints[name].child) for name in robot.joint_names]

    def joint_positions(q: np.ndarray) -> np.ndarray:
        places = _run(model.function("kinematics"), "p", [q], progress)
        return places.reshape(len(q), -1, 3)[:, children]

    def efforts(q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
        return _run(model.function("inverse_dynamics"), "tau", [q, v, a, wrenches], progress)

    return Evaluator("generated", robot.joint_names, joint_positions, efforts)


def _run(function: Function, result: str, arguments: list[np.ndarray], progress: bool) -> np.ndarray:
    """Yield entries of one result along a motion, (N, entries)."""
    wanted = [own.name for own in function.results].index(result)
    frames = len(arguments[0])

    def batches() -> Iterator[np.ndarray]:
        with tqdm(total=frames, desc=function.name, unit="frame", disable=not progress) as bar:
            for start in range(0, frames, _BATCH):
                part = [values[start : start + _BATCH] for values in arguments]
                count = len(part[0])
                entries = evaluate(function, [list(values.reshape(count, -1).T) for values in part])[wanted]
                yield np.stack([np.broadcast_to(entry, count) for entry in entries], axis=1)
                bar.update(count)

    return np.concatenate(list(batches()))
