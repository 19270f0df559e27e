# SPDX-License-Identifier: Apache-2.0
"""Postures that follow a moving target and evade a moving obstacle, each search started from the solution before.

F094, thesis section 3.6.1: near a reference, and near the posture before (3.92).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_array, check_number
from humanoid_model.contact import Stance
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.placed_volumes import PlacedVolume
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture.generate import DEFAULT_SOLVER, solve_problem
from humanoid_planner.posture.posture_result import PostureResult
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.collision_task import CollisionTask
from humanoid_planner.posture.tasks.criteria import Criterion
from humanoid_planner.posture.tasks.state import PostureState
from humanoid_planner.posture.tasks.task import GeometricTask, Task


class ReactiveBlend(Criterion):
    r"""K9: :math:`\alpha\sum_i(x_i - x_i^{ref})^2 + (1 - \alpha)\sum_i(x_i - x_i^{t-1})^2` over all n + 6 variables.

    Attributes:
        alpha: weight of the reference; what is left weighs the posture before, which smoothes the motion.
        reference: (nx,) kinematic variables.
        previous: (nx,) those of the posture before.
    """

    def __init__(self, kinematics: RobotKinematics, q: ArrayLike, alpha: float = 0.5) -> None:
        """Take the reference, which is the posture before as well until there is one.

        Args:
            kinematics: of the robot.
            q: (nq,) reference in Pinocchio's order.
            alpha: from 0 to 1.

        Raises:
            InputError: numbers that can't be used.
        """
        self.alpha = check_number(alpha, "alpha of the criterion", upper=1.0)
        self._q = np.array(q, dtype=float)
        self.reference = kinematics.coordinates(self._q)
        self.previous = self.reference.copy()

    def bind(self, kinematics: RobotKinematics) -> None:
        """Both in the variables of ``kinematics``; the reference becomes the posture before."""
        self.reference = kinematics.coordinates(self._q)
        self.previous = self.reference.copy()

    def value(self, state: PostureState) -> float:
        """Weighted squared distances."""
        x = state.x[: state.first_force]
        a, b = x - self.reference, x - self.previous
        return float(self.alpha * (a @ a) + (1 - self.alpha) * (b @ b))

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """2 (x - blend of both postures)."""
        g = np.zeros(state.size)
        blend = self.alpha * self.reference + (1 - self.alpha) * self.previous
        g[: state.first_force] = 2 * (state.x[: state.first_force] - blend)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Twice the identity on the kinematic variables."""
        H = np.zeros((state.size, state.size))
        index = np.arange(state.first_force)
        H[index, index] = 2.0
        return H


class MovingObstacle:
    """A volume that isn't part of the robot, at a place that can be changed; a :class:`PairDistances`.

    Attributes:
        volumes: of the robot, then the obstacle, which is a part of the world as far as derivatives are concerned.
        pairs: (m, 2) each of the robot's volumes with the obstacle.
        clearance: smallest distance to the robot [m].
        placement: of the obstacle's frame in the world.
        values: (m,) signed distances [m].
        points_a: (m, 3) witness points on the robot, world frame [m].
        points_b: (m, 3) witness points on the obstacle.
        normals: (m, 3) unit normals from the obstacle to the robot.
        slopes: (m,) ones: the values are distances.
    """

    def __init__(self, obstacle: PlacedVolume, volumes: Sequence[PlacedVolume], clearance: float = 0.0) -> None:
        """Take the obstacle, in a frame of its own, and the robot's volumes that have to keep away from it."""
        self.clearance = clearance
        count = len(volumes)
        self.volumes: Sequence[PlacedVolume] = (*volumes, replace(obstacle, body=0))
        self.pairs = np.array([(index, count) for index in range(count)], dtype=np.int64)
        self.placement = pin.SE3.Identity()
        # For the distances it is a body beyond those of the robot, so that it can be placed like them.
        self._body = max(volume.body for volume in volumes) + 1
        self._distances = DistancePairs([*volumes, replace(obstacle, body=self._body)], self.pairs)
        self.values: NDArray[np.float64] = np.zeros(count)
        self.points_a: NDArray[np.float64] = np.zeros((count, 3))
        self.points_b: NDArray[np.float64] = np.zeros((count, 3))
        self.normals: NDArray[np.float64] = np.zeros((count, 3))
        self.slopes = self._distances.slopes

    def evaluate(self, rotations: NDArray[np.float64], origins: NDArray[np.float64]) -> None:
        """Compute distances at the robot's body placements (nb, 3, 3), (nb, 3)."""
        count = self._body
        self._distances.evaluate(
            np.concatenate([rotations[:count], self.placement.rotation[None]]),
            np.concatenate([origins[:count], self.placement.translation[None]]),
        )
        distances = self._distances
        self.values, self.normals = distances.values, distances.normals
        self.points_a, self.points_b = distances.points_a, distances.points_b


class ReplaceableTask(Task):
    """A task whose functions may be replaced between searches; their number and bounds stay.

    Attributes:
        current: what counts now.
    """

    def __init__(self, current: GeometricTask) -> None:
        super().__init__(current.name, current.lower, current.upper, unit=current.unit, scale=current.scale)
        self.current = current

    def replace(self, task: GeometricTask) -> None:
        """Make another task count.

        Raises:
            InputError: it has other bounds.
        """
        if not (np.array_equal(task.lower, self.lower) and np.array_equal(task.upper, self.upper)):
            raise InputError(
                f"has the bounds {task.lower.tolist()}, {task.upper.tolist()}",
                element=f"task '{task.name}'",
                remedy=f"Keep those of the first one, {self.lower.tolist()}, {self.upper.tolist()}",
            )
        self.current = task

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return self.current.labels

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) values."""
        return self.current.value(state)

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivatives."""
        return self.current.jacobian(state)


class ReactivePosture:
    """A posture that is found anew for every place of a target, fast enough to follow it by hand.

    The problem is put together once. Every search starts from the last solution and its multipliers, and minimises
    the blend (3.92) of the distances to a reference and to the last posture. After a failure the last solution is
    kept, and the next target is tried from there.

    ::

        eye = {"link": "HEAD_LINK1", "point": [0.1, 0, 0.12], "axis": [1, 0, 0], "distance": 0.3}
        follow = ReactivePosture(robot, stance, lambda kinematics, ball: gaze(kinematics, target=ball, **eye), ball)
        result = follow.step(ball)

    Attributes:
        problem: solved at every step.
        criterion: the blend.
        last: last result that was a success, None before.
    """

    def __init__(
        self,
        robot: Robot,
        stance: Stance,
        task: Callable[[RobotKinematics, NDArray[np.float64]], GeometricTask],
        target: ArrayLike,
        requirements: PostureRequirements | None = None,
        *,
        obstacle: MovingObstacle | None = None,
        reference: ArrayLike | None = None,
        alpha: float = 0.5,
        solver: str = DEFAULT_SOLVER,
        options: SolverOptions | None = None,
    ) -> None:
        """Put the problem together.

        Args:
            robot: whose posture it is.
            stance: contacts to hold.
            task: makes the task for a target (3,) [m]; always of the same kind.
            target: (3,) first place of the target, world frame [m].
            requirements: what else the posture has to fulfil; its criterion is the blend.
            obstacle: that moves with the target, and that the robot keeps its clearance from.
            reference: (nq,) posture to stay near to; None takes the robot's default posture.
            alpha: weight of the reference, from 0 to 1.
            solver: see :func:`humanoid_planner.posture.generate_posture`.
            options: likewise.

        Raises:
            InputError: something can't be used; it names field, value and remedy.
        """
        self._reference = robot.default_posture if reference is None else np.array(reference, dtype=float)
        kinematics = RobotKinematics(robot)
        self._make = task
        self._task = ReplaceableTask(task(kinematics, check_array(target, "target")))
        self._obstacle = obstacle
        wanted = requirements or PostureRequirements()
        tasks = (self._task, *wanted.tasks)
        if obstacle is not None:
            tasks = (*tasks, CollisionTask(obstacle, np.full(len(obstacle.pairs), obstacle.clearance)))
        self.criterion = ReactiveBlend(kinematics, self._reference, alpha)
        self.problem = PostureProblem(
            robot,
            stance,
            replace(wanted, tasks=tasks, criterion=self.criterion),
            start=self._reference,
            kinematics=kinematics,
        )
        self._solver = solver
        self._options = options
        self.last: PostureResult | None = None

    def step(self, target: ArrayLike) -> PostureResult:
        """Return the posture for the target's next place.

        Args:
            target: (3,) world frame [m].

        Raises:
            InputError: numbers that can't be used.
        """
        place = check_array(target, "target")
        problem, last = self.problem, self.last
        self._task.replace(self._make(problem.kinematics, place))
        if self._obstacle is not None:
            self._obstacle.placement = pin.SE3(np.eye(3), place)
        # What was computed at this posture holds for the last target only.
        problem.state.version += 1
        result = solve_problem(
            problem,
            self._reference,
            solver=self._solver,
            options=self._options,
            explain=False,
            restarts=0,
            warm_start=None if last is None else last.solution,
        )
        if result.success:
            self.last = result
            self.criterion.previous = result.x[: problem.kinematics.size].copy()
        return result
