# SPDX-License-Identifier: Apache-2.0
"""What a client asks of planners: postures, equilibrium, contact plans, motions along them, and gaits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humanoid_stack.action import GenerateGait, GenerateMotion, PlanContacts
from humanoid_stack.msg import ContactPlan, ContactPlanRequest, GaitRequest, PostureTask
from humanoid_stack.srv import CheckEquilibrium, GeneratePosture, VerifyPlan
from numpy.typing import ArrayLike

from humanoid_model import Stance
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_planner.contacts import PlanVerdict
from humanoid_planner.posture.problem import STABILITIES
from humanoid_ros.client.answers import (
    EquilibriumAnswer,
    PlanAnswer,
    PostureAnswer,
    equilibrium_answer,
    plan_answer,
    posture_answer,
    verdict,
)
from humanoid_ros.client.connection import LONG, Member, Task, refused, succeeded
from humanoid_ros.client.requests import duration_message, request
from humanoid_ros.messages.request_fields import write_word

if TYPE_CHECKING:
    from humanoid_gait import WalkRequest


class PlannerMethods(Member):
    """Postures, equilibrium, contact plans, motions along them, and gaits."""

    def posture(
        self,
        stance: Stance,
        *,
        stability: str = "forces",
        criterion: str = "reference",
        timeout: float = LONG,
        **fields: Any,
    ) -> PostureAnswer:
        """Return a posture of the robot that holds a stance.

        Args:
            stance: contacts to hold, on surfaces of the scene or of ``surfaces``.
            stability: how equilibrium is tested, "none", "polygon", "forces" or "polytope".
            criterion: what is minimised, one of :data:`humanoid_ros.client.requests.CRITERIA`.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/GeneratePosture``'s request: ``scene``, ``torque_limits``, ``collisions``,
                ``time_limit`` [s], ``reference`` (nq,), ``loads`` and ``surfaces`` of the library's classes, ...

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        words = {"stability": stability, "criterion": criterion}
        asked = self._planning(GeneratePosture.Request, stance, {**words, **fields})
        answer = self._connection.call(GeneratePosture, "generate_posture", asked, timeout)
        return posture_answer(answer, self.robot)

    def equilibrium(
        self,
        stance: Stance,
        posture: ArrayLike | None = None,
        *,
        method: str = "forces",
        timeout: float = LONG,
        **fields: Any,
    ) -> EquilibriumAnswer:
        """Return whether a stance keeps the robot in equilibrium.

        Args:
            stance: contacts that hold it.
            posture: (nq,) configuration; None takes ``centre_of_mass``.
            method: of the test: polygon, forces or polytope.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/CheckEquilibrium``'s request: ``centre_of_mass`` [m], ``loads``, ``acceleration``
                [m/s^2], ``torque_limits``, ...

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        if posture is not None:
            fields = {"use_posture": True, "posture": posture, **fields}
        way = write_word(STABILITIES, method, "method", CheckEquilibrium.Request)
        asked = self._planning(CheckEquilibrium.Request, stance, {"method": way, **fields})
        return equilibrium_answer(self._call(CheckEquilibrium, "check_equilibrium", asked, timeout))

    def plan(
        self,
        start: Stance,
        goal: Sequence[PostureTask | Mapping[str, Any]],
        *,
        progress: ProgressCallback | None = None,
        **fields: Any,
    ) -> PlanAnswer:
        """Return stances and postures that lead from a stance to a goal.

        Args:
            start: contacts at the beginning, on surfaces of the scene or of ``surfaces``.
            goal: tasks of the last posture: messages, or their fields by name.
            progress: told nodes and lowest potential (as cost), and as result the feedback message: new nodes of the
                tree, and the path to the best one where that is new.
            **fields: ``method`` ("bfp" or "vbfp"), ``stability`` ("auto" or as of :meth:`posture`), ``criterion``
                (likewise), and others of ``msg/ContactPlanRequest``: ``scene``, ``candidates``, ``potentials``,
                ``terms``, ``used_locations``, ``collisions``, ``seed``, ``time_limit`` [s], ...

        Returns:
            The plan; one without success comes with the path to the nearest stance and the reason.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        return self.begin_plan(start, goal, **fields).result(progress=progress)

    def begin_plan(
        self, start: Stance, goal: Sequence[PostureTask | Mapping[str, Any]], **fields: Any
    ) -> Task[PlanAnswer]:
        """As :meth:`plan`, without waiting for the end."""
        asked = request(
            ContactPlanRequest, self.robot, {"robot": self._source, "start": start, "goal": goal, **fields}
        )
        return self._connection.start(
            PlanContacts,
            "plan_contacts",
            PlanContacts.Goal(request=asked),
            lambda _, result: plan_answer(result, self.robot),
            _plan_news,
        )

    def verify(self, plan: PlanAnswer | ContactPlan, *, timeout: float = LONG, **limits: float) -> PlanVerdict:
        """Return what is wrong with a plan, found by means that share nothing with the planner.

        Args:
            plan: of this robot.
            timeout: longest wait for the answer [s].
            **limits: others than those of ``srv/VerifyPlan``: ``drift``, ``penetration``, ``margin``, ``torque``.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        message = plan.plan if isinstance(plan, PlanAnswer) else plan
        asked = request(VerifyPlan.Request, self.robot, {"plan": message, **limits})
        return verdict(self._call(VerifyPlan, "verify_plan", asked, timeout))

    def motion(
        self,
        plan: PlanAnswer | ContactPlan,
        *,
        progress: ProgressCallback | None = None,
        time_limit: float | None = None,
        **fields: Any,
    ) -> GenerateMotion.Result:
        """Return a motion of the whole robot along a plan.

        Args:
            plan: of this robot.
            progress: told steps.
            time_limit: for the answer [s]; None takes the node's.
            **fields: others of ``action/GenerateMotion``: ``collisions``, ``speed``, ``reserve``, ``pause``, ...

        Returns:
            The action's result; one without success comes with the part before the step that has no way, and the
            reason.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        return self.begin_motion(plan, time_limit=time_limit, **fields).result(progress=progress)

    def begin_motion(
        self, plan: PlanAnswer | ContactPlan, *, time_limit: float | None = None, **fields: Any
    ) -> Task[GenerateMotion.Result]:
        """As :meth:`motion`, without waiting for the end."""
        message = plan.plan if isinstance(plan, PlanAnswer) else plan
        asked = request(GenerateMotion.Goal, self.robot, {"plan": message, **fields})
        if time_limit is not None:
            asked.time_limit = duration_message(time_limit)

        def read(_: int, result: GenerateMotion.Result) -> GenerateMotion.Result:
            if not result.success and not result.trajectory.joints.points:
                error = refused(result.message)
                if isinstance(error, InputError):
                    raise error
            return result

        return self._connection.start(GenerateMotion, "generate_motion", asked, read, _motion_news)

    def gait(
        self,
        walk: WalkRequest,
        *,
        progress: ProgressCallback | None = None,
        time_limit: float | None = None,
        **fields: Any,
    ) -> GenerateGait.Result:
        """Return an optimal walk of the robot.

        Args:
            walk: one cycle of it.
            progress: told stage, iteration, residual and cost.
            time_limit: for the search [s]; None takes the node's.
            **fields: others of ``msg/GaitRequest``: ``steps``, ``start``, ``stop``, ``proof``, ``robot``.

        Returns:
            The action's result; one without success comes with what was solved and the reason.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        return self.begin_gait(walk, time_limit=time_limit, **fields).result(progress=progress)

    def begin_gait(
        self, walk: WalkRequest, *, time_limit: float | None = None, **fields: Any
    ) -> Task[GenerateGait.Result]:
        """As :meth:`gait`, without waiting for the end."""
        from humanoid_ros.gait_generator.gait_request import gait_request_message  # brings CasADi, which few need

        asked = gait_request_message(walk)
        others = request(GaitRequest, None, {"robot": self._source, **fields})
        for name in ("robot", *fields):
            setattr(asked, name, getattr(others, name))
        if time_limit is not None:
            asked.time_limit = duration_message(time_limit)

        def read(status: int, result: GenerateGait.Result) -> GenerateGait.Result:
            if not succeeded(status) and not result.gait.parts:
                error = refused(result.message)
                if isinstance(error, InputError):
                    raise error
            return result

        return self._connection.start(GenerateGait, "generate_gait", GenerateGait.Goal(request=asked), read, _gait_news)

    def _planning(self, kind: Any, stance: Stance, fields: Mapping[str, Any]) -> Any:
        return request(kind, self.robot, {"robot": self._source, "stance": stance, **fields})


def _plan_news(feedback: PlanContacts.Feedback) -> Progress:
    spent = feedback.statistics
    stage = f"{spent.expanded} of {spent.nodes} nodes expanded"
    return Progress(stage, nodes=spent.nodes, cost=spent.best_potential, result=feedback)


def _motion_news(feedback: GenerateMotion.Feedback) -> Progress:
    share = feedback.step / feedback.steps if feedback.steps else None
    return Progress(feedback.stage, share, feedback.step)


def _gait_news(feedback: GenerateGait.Feedback) -> Progress:
    return Progress(
        feedback.stage, residual=feedback.residual, iteration=feedback.iteration, cost=feedback.cost
    )
