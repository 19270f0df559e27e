# SPDX-License-Identifier: Apache-2.0
"""Calls of the posture generator for a planner: what is the same in all of them is made once.

They may run on the workers of an executor: threads, processes, or machines of a cluster.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.contact import Contact, Stance
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.equilibrium import ContactPoints
from humanoid_planner.equilibrium.cone_simplex import farthest_centre
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion.stance_postures import inset_contact
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions
from humanoid_planner.posture import CollisionModel, PostureResult, Task
from humanoid_planner.posture.explanation import out_of_reach
from humanoid_planner.posture.generate import solve_problem
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.contact import PlacedContact, place_contact

#: No centre of mass is farther from its contacts than this many times the robot's reach, for any humanoid [m].
_EXTENT = 3.0
_NO_ROWS, _NO_OFFSETS, _NO_WRENCH = np.zeros((0, 0)), np.zeros(0), np.zeros(6)


@dataclass(frozen=True)
class PostureCall:
    """One call of the posture generator.

    Attributes:
        purpose: "start", "remove", "add", "slide", "pre-contact", "goal", "shorten" or "smooth".
        status: return code.
        success: whether there is a posture.
        iterations: of the solver.
        building: time to put the problem together [s].
        solving: time to solve it [s].
    """

    purpose: str
    status: ReturnCode
    success: bool
    iterations: int
    building: float
    solving: float


@dataclass(frozen=True, eq=False)
class PostureQuestion:
    """What the posture generator is asked.

    Attributes:
        purpose: for the record.
        stance: to hold.
        start: (nq,) of the search.
        more: tasks of this posture.
    """

    purpose: str
    stance: Stance
    start: NDArray[np.float64]
    more: Sequence[Task] = ()


@dataclass(frozen=True, eq=False)
class PostureAnswer:
    """A posture, or none, and the record of the call."""

    result: PostureResult
    call: PostureCall


@dataclass
class PostureCaller:
    """Postures of one robot in one scene, and proofs that there are none.

    Attributes:
        robot: whose postures they are.
        scene: around it.
        wanted: what all postures fulfil; distances of its model of collisions are made for each stance.
        options: of the solver.
        stance_tasks: makes more tasks for a stance.
        reserve: that forces keep from the edges of contact patches [m].
        effort: share of the joints' effort limits.
        calls: all that were made.
    """

    robot: Robot
    scene: Scene
    wanted: PostureRequirements
    options: SolverOptions
    stance_tasks: Callable[[Stance], Sequence[Task]] | None = None
    reserve: float = 0.0
    effort: float = 1.0
    calls: list[PostureCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kinematics = RobotKinematics(self.robot)
        self.kinematics.variables.effort[:] *= self.effort
        self._placed: dict[tuple[Any, ...], PlacedContact] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"calls": [], "_placed": {}}

    def call(
        self,
        purpose: str,
        stance: Stance,
        start: NDArray[np.float64],
        more: Sequence[Task] = (),
        stop: Callable[[], bool] | None = None,
    ) -> PostureResult:
        """Look for a posture, and record it; see :class:`PostureQuestion` and :meth:`answer`."""
        answer = self.answer(PostureQuestion(purpose, stance, start, more), stop)
        self.calls.append(answer.call)
        return answer.result

    def answer(self, question: PostureQuestion, stop: Callable[[], bool] | None = None) -> PostureAnswer:
        """Look for a posture; where the criterion leads to none, for any posture first and then from there.

        A criterion pulls away from what is feasible, into corners where nothing is. The thesis' solver has two phases
        for that; here the first one serves calls that a plan can't do without: where one place of a contact is missed,
        others are tried.

        Args:
            question: what is asked.
            stop: tells during the search whether to give it up.
        """
        began = time.perf_counter()
        stance, start = question.stance, question.start
        tasks, collisions = [*self.wanted.tasks, *question.more], self.wanted.collisions
        tasks += () if self.stance_tasks is None else self.stance_tasks(stance)
        if isinstance(collisions, CollisionModel):
            compound = collisions.compound_task(self.kinematics)
            tasks += [] if compound is None else [compound]
            collisions = collisions.task(stance) or False
        wanted = replace(self.wanted, tasks=tasks, collisions=collisions)
        options = self.options if stop is None else replace(self.options, stop=stop)
        result, building = self._solve(stance, wanted, start, options)
        iterations = result.iterations
        if not result.success and wanted.criterion is not None and question.purpose not in ("slide", "pre-contact"):
            result, more_building = self._solve(stance, replace(wanted, criterion=None), start, options)
            building, iterations = building + more_building, iterations + result.iterations
            if result.success:
                better, more_building = self._solve(stance, wanted, result.q, options)
                building, iterations = building + more_building, iterations + better.iterations
                result = better if better.success else result
        solving = time.perf_counter() - began - building
        call = PostureCall(question.purpose, result.status, result.success, iterations, building, solving)
        return PostureAnswer(result, call)

    def _solve(
        self, stance: Stance, wanted: PostureRequirements, start: NDArray[np.float64], options: SolverOptions
    ) -> tuple[PostureResult, float]:
        """Return what a search from a posture (nq,) finds, and the time to put its problem together [s]."""
        began = time.perf_counter()
        inner = Stance(tuple(inset_contact(contact, self.reserve) for contact in stance.contacts))
        made = PostureProblem(self.robot, inner, wanted, start=start, kinematics=self.kinematics)
        built = time.perf_counter()
        return solve_problem(made, start, options=options, explain=False, restarts=0), built - began

    def impossible(self, stance: Stance, more: Sequence[Task] = ()) -> str:
        """Why two contacts, or a contact and a task, are too far apart for any posture; empty where nothing says so.

        Args:
            stance: whose contacts have their places.
            more: tasks beside.
        """
        return out_of_reach(self.kinematics.variables, [self.placed(contact) for contact in stance.contacts], more)

    def balances(self, stance: Stance) -> bool:
        """Return whether the bearing contacts can carry the robot with its centre of mass anywhere near them at all."""
        placed = [self.placed(contact) for contact in stance.contacts if contact.kind.bears]
        if not placed:
            return False
        if any(not one.fixed_in_world for one in placed):
            return True
        points = [
            (one.placement_ground_contact.act(np.array([x, y, 0.0])), one.placement_ground_contact.rotation, one)
            for one in placed
            for x, y in one.bearing
        ]
        contacts = ContactPoints(
            np.array([point for point, _, _ in points]),
            np.array([frame for _, frame, _ in points]),
            np.array([one.friction for _, _, one in points]),
            np.array([one.contact.bilateral for _, _, one in points]),
        )
        push = -self.kinematics.total_mass * np.asarray(self.scene.gravity, dtype=float)
        far, _, _ = farthest_centre(
            contacts.packed, push, _NO_WRENCH, np.zeros((0, 3 * len(points))), _NO_OFFSETS, 0.0, _EXTENT,
            np.array([1.0, 0.0]),
        )  # fmt: skip
        return bool(far > -np.inf)

    def placed(self, contact: Contact) -> PlacedContact:
        """Return a contact with its frames, found once."""
        key = (contact.location.name, contact.surface.name, contact.x, contact.y, contact.theta, contact.kind)
        if key not in self._placed:
            self._placed[key] = place_contact(contact, self.kinematics, self.scene, self.wanted.friction)
        return self._placed[key]


#: Time between two looks at whether to stop [s].
_LOOK = 0.05
#: Planning problems that a worker keeps.
_KEPT = 4

_WORKER = threading.local()


class WorkerError(HumanoidError):
    """A worker of an executor died, or the executor takes no more work. The search is as it was and can go on."""


class PostureWorkers:
    """A caller's questions on an executor. The answers are those of the caller itself, whoever gives them.

    Workers get the caller once, pickled; a question is some kilobytes.
    """

    def __init__(self, executor: Executor, caller: PostureCaller) -> None:
        """Take an executor.

        Raises:
            InputError: the problem can't be sent to another process.
        """
        self._executor = executor
        try:
            self._problem = pickle.dumps(caller)
        except Exception as error:
            raise InputError(
                f"can't take the problem: {error}",
                element="executor",
                remedy="Make criteria and tasks of functions and classes of modules, which pickle can send",
            ) from None
        self._name = hashlib.sha256(self._problem).hexdigest()

    def answer(
        self, questions: Sequence[PostureQuestion], stop: Callable[[], bool], answers: dict[int, PostureAnswer]
    ) -> bool:
        """Answer questions at a time.

        Args:
            questions: to answer.
            stop: asked meanwhile whether to give up.
            answers: gets the answers by the questions' places, those too that come before it ends early.

        Returns:
            Whether all are answered; False where ``stop`` said so.

        Raises:
            WorkerError: a worker died.
        """
        pending: dict[Future[PostureAnswer | None], int] = {}
        try:
            for place, question in enumerate(questions):
                pending[self._executor.submit(answer_question, self._name, None, question)] = place
            while pending:
                done, _ = wait(pending, _LOOK, FIRST_COMPLETED)
                for future in done:
                    place = pending.pop(future)
                    answer = future.result()
                    if answer is None:  # a worker that hasn't heard of the problem
                        question = questions[place]
                        pending[self._executor.submit(answer_question, self._name, self._problem, question)] = place
                    else:
                        answers[place] = answer
                if pending and stop():
                    return False
        except InputError:
            raise
        except Exception as error:
            raise WorkerError(f"executor: a worker was lost: {type(error).__name__}: {error}") from error
        finally:
            for future in pending:
                future.cancel()
        return True


def answer_question(name: str, problem: bytes | None, question: PostureQuestion) -> PostureAnswer | None:
    """Answer a question on a worker; None where it has to be told the problem first.

    Args:
        name: of the problem.
        problem: the caller, pickled; None the first time.
        question: to answer.
    """
    # Each thread has callers of its own: kinematics are moved by whoever works with them.
    known: OrderedDict[str, PostureCaller] = _WORKER.__dict__.setdefault("callers", OrderedDict())
    if name not in known:
        if problem is None:
            return None
        known[name] = pickle.loads(problem)
        if len(known) > _KEPT:
            known.popitem(last=False)
    return known[name].answer(question)
