# SPDX-License-Identifier: Apache-2.0
"""The contact planner node: postures that hold a stance, whether a stance holds a robot, plans of contacts, motions.

Postures and checks are answered in the node's own threads, plans and motions in processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from humanoid_stack.action import GenerateMotion
from humanoid_stack.action import PlanContacts as PlanContactsAction
from humanoid_stack.msg import ContactPlan, ContactPlanRequest, PostureReport, StancePosture, WholeBodyTrajectory
from humanoid_stack.srv import CheckEquilibrium, GeneratePosture, PlanContacts, VerifyPlan
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from humanoid_model.checks import check_known
from humanoid_model.fields import descriptions
from humanoid_model.progress import Progress
from humanoid_planner.optimisation.solve import solver_names
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.contact_planner.plan_messages import read_plan
from humanoid_ros.contact_planner.plan_request import PlanDefaults
from humanoid_ros.contact_planner.planner_markers import ShownPosture, plan_markers, posture_markers
from humanoid_ros.contact_planner.planner_services import (
    PostureDefaults,
    answer_check_equilibrium,
    answer_generate_posture,
    answer_verify_plan,
    warm_up,
)
from humanoid_ros.contact_planner.posture_answer import joint_state
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics
from humanoid_ros.node.parameter_declaration import (
    declare_field,
    declare_number,
    declare_text,
    declare_whole,
    number,
    refuse_unusable,
    text,
    values,
    whole,
)
from humanoid_ros.node.process_requests import ProcessRequests, RequestWorkers
from humanoid_ros.node.process_workers import IDLE_TIME, IDLE_TIME_MEANING, ProcessWorkers
from humanoid_ros.node.qos import LATCHED
from humanoid_ros.node.requested_files import check_requested, requested_reading
from humanoid_ros.node.run import run
from humanoid_ros.node.service_workers import ServingNode

MODULE = "humanoid_ros.contact_planner.planning_worker"


class PlanRequests(ProcessRequests):
    """Contact plans."""

    name, service, action = "plan_contacts", PlanContacts, PlanContactsAction
    field, content = "plan", ContactPlan
    function = f"{MODULE}:plan"

    def time_limit(self, request: ContactPlanRequest) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.time_limit) or self._defaults().plan_time_limit

    def read(self, progress: Progress) -> tuple[PlanContactsAction.Feedback | None, ContactPlan | None]:
        """Return feedback of the search, and the path to the best node where that is new."""
        if not isinstance(progress.result, bytes):
            return None, None  # before the search begins; this feedback has no words
        feedback = deserialize_message(progress.result, PlanContactsAction.Feedback)
        return feedback, feedback.partial_plan if feedback.partial_plan.steps else None

    def take(self, content: ContactPlan, success: bool) -> None:
        """Stamp a plan; publish and draw one that reaches its goal, with its motion if it has one."""
        content.header.stamp = self._node.get_clock().now().to_msg()
        if success:
            self._show(content)


class MotionRequests(ProcessRequests):
    """Motions along contact plans; their stamps stay 0: they begin when they are played."""

    name, action = "generate_motion", GenerateMotion
    field, content = "trajectory", WholeBodyTrajectory
    function = f"{MODULE}:move"

    def asked(self, goal: Any) -> Any:
        """Return the goal, which is the request."""
        return goal

    def time_limit(self, request: GenerateMotion.Goal) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.time_limit) or self._defaults().motion_time_limit

    def read(self, progress: Progress) -> tuple[GenerateMotion.Feedback, None]:
        """Return feedback of a step."""
        steps = round(progress.part / progress.fraction) if progress.fraction else 0
        return GenerateMotion.Feedback(step=progress.part, steps=steps, stage=progress.stage), None


class ContactPlannerNode(ServingNode):
    """Finds postures, checks equilibrium, plans contacts; docs/interfaces.md has its services, topics and parameters.

    Attributes:
        workers: answer the requests.

    Raises:
        HumanoidError: a parameter can't be used.
    """

    def __init__(self) -> None:
        super().__init__("contact_planner")
        self._declare_parameters()
        kept = whole(self, "cache_size"), number(self, "small_radius"), number(self, "big_radius")
        self._cache = PlanningCache(*kept)
        self._check_parameters({name: text(self, name) for name in ("scene", "solver")})
        self._world = text(self, "world_frame")
        self._shown: tuple[ShownPosture, Time] | None = None
        self._markers = self.create_publisher(
            MarkerArray,
            "posture_markers",
            LATCHED,
            event_callbacks=PublisherEventCallbacks(matched=lambda _: self._draw()),
        )
        self._posture = self.create_publisher(StancePosture, "posture", LATCHED)
        self._joints = self.create_publisher(JointState, "posture_joint_states", LATCHED)
        self._base = self.create_publisher(PoseStamped, "posture_base", LATCHED)
        self._shown_plan: tuple[ContactPlan, Time] | None = None
        self._plan_markers = self.create_publisher(
            MarkerArray,
            "plan_markers",
            LATCHED,
            event_callbacks=PublisherEventCallbacks(matched=lambda _: self._draw_plan()),
        )
        self._plan = self.create_publisher(ContactPlan, "plan", LATCHED)
        self._trajectory = self.create_publisher(WholeBodyTrajectory, "trajectory", LATCHED)
        self._answers = 0
        self._found = 0
        self._seconds = 0.0
        self.workers = RequestWorkers(self)
        self.workers.offer(GeneratePosture, "generate_posture", self._generate, _mark_refused)
        self.workers.offer(CheckEquilibrium, "check_equilibrium", self._check)
        self.workers.offer(VerifyPlan, "verify_plan", lambda *asked: answer_verify_plan(self._cache, *asked))
        workers = ProcessWorkers(whole(self, "processes"), MODULE, number(self, "process_idle_time"))
        self._plans = PlanRequests(self, workers, self._plan_defaults, self._show_plan, kept)
        self._motions = MotionRequests(self, workers, self._plan_defaults, self._trajectory.publish, kept)
        self.workers.requests = self._plans, self._motions
        self.workers.prepare("generate_posture", lambda: warm_up(self._cache, self._defaults()))
        refuse_unusable(self, self._check_parameters)
        publish_diagnostics(self, "planning", self._diagnostics)
        self.get_logger().info(f"plans in the scene {text(self, 'scene')}")

    # Parameters ---------------------------------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        declare_diagnostics_rate(self)
        for name, one in {**descriptions(PlanDefaults), **descriptions(PostureDefaults)}.items():
            declare_field(self, name, one, f": {', '.join(solver_names())}" if name == "solver" else "")
        declare_number(
            self, "small_radius", 0.01, 1e-4, 1.0, "Radius r of the spheres on a volume's corners [m]", read_only=True
        )
        declare_number(
            self, "big_radius", 20.0, 0.1, 1e4, "Radius R of the spheres on a volume's faces [m]", read_only=True
        )
        declare_whole(
            self, "cache_size", 8, 1, 1000, "Robots and scenes that are kept, with their volumes", read_only=True
        )
        declare_whole(self, "processes", 1, 1, 64, "Plans and motions that are worked on at a time", read_only=True)
        declare_number(self, "process_idle_time", IDLE_TIME, 0.0, 86400.0, IDLE_TIME_MEANING, read_only=True)
        declare_whole(self, "ghosts", 8, 2, 500, "Stances of a plan that are drawn")
        declare_text(self, "world_frame", "world", "Name of the frame that answers are drawn in", read_only=True)
        declare_number(self, "cone_scale", 0.0016, 1e-6, 1.0, "Height of a friction cone per normal force [m/N]")
        declare_number(self, "arrow_scale", 0.0018, 1e-6, 1.0, "Length of a force arrow per force [m/N]")

    def _check_parameters(self, new: Mapping[str, Any]) -> None:
        """Raise a HumanoidError for a text that can't be used."""
        if "scene" in new:
            with requested_reading(new["scene"]):
                self._cache.scene(check_requested(new["scene"], "scene"), "scene")
        if "solver" in new:
            check_known(new["solver"], solver_names(), "solver", "solver")

    def _defaults(self) -> PostureDefaults:
        return PostureDefaults(text(self, "scene"), **values(self, PostureDefaults))

    def _plan_defaults(self) -> PlanDefaults:
        return PlanDefaults(**values(self, PlanDefaults))

    # In the workers' threads --------------------------------------------------------------------------------------

    def _generate(self, request: GeneratePosture.Request, response: GeneratePosture.Response) -> None:
        began = time.monotonic()
        shown = answer_generate_posture(self._cache, self._defaults(), request, response)
        self._answers += 1
        self._found += response.success
        self._seconds += time.monotonic() - began
        self._show(shown)
        self._posture.publish(response.posture)
        efforts = dict(zip(response.posture.joint_names, response.posture.efforts, strict=True))
        assert shown.q is not None
        joints = joint_state(shown.robot, shown.q, efforts, self._world)
        base = PoseStamped(pose=response.posture.posture.base)
        base.header.frame_id = self._world
        joints.header.stamp = base.header.stamp = self.get_clock().now().to_msg()
        self._joints.publish(joints)
        self._base.publish(base)

    def _check(self, request: CheckEquilibrium.Request, response: CheckEquilibrium.Response) -> None:
        self._show(answer_check_equilibrium(self._cache, text(self, "scene"), request, response))

    def _show(self, shown: ShownPosture) -> None:
        self._shown = shown, self.get_clock().now().to_msg()
        self._draw()

    def _draw(self) -> None:
        """Draw the last answer for subscribers: that takes longer than many an answer, so none waits for it."""
        if self._shown is None or self._markers.get_subscription_count() == 0:
            return
        shown, stamp = self._shown
        scales = number(self, "cone_scale"), number(self, "arrow_scale")
        self.workers.follow_up(lambda: self._markers.publish(posture_markers(shown, self._world, stamp, *scales)))

    # Plans --------------------------------------------------------------------------------------------------------

    def _show_plan(self, plan: ContactPlan) -> None:
        self._plan.publish(plan)
        if plan.trajectory.joints.points:
            self._trajectory.publish(plan.trajectory)
        self._shown_plan = plan, plan.header.stamp
        self._draw_plan()

    def _draw_plan(self) -> None:
        """Draw the last plan for subscribers."""
        if self._shown_plan is None or self._plan_markers.get_subscription_count() == 0:
            return
        plan, stamp = self._shown_plan
        settings = whole(self, "ghosts"), number(self, "arrow_scale")

        def draw() -> None:
            read = read_plan(self._cache, plan, "plan")
            self._plan_markers.publish(plan_markers(plan, read, self._world, stamp, *settings))

        self.workers.follow_up(draw)

    # Diagnostics --------------------------------------------------------------------------------------------------

    def _diagnostics(self) -> dict[str, str]:
        mean = self._seconds / self._answers if self._answers else 0.0
        counts = self._plans.counts
        plan_mean = counts.seconds / counts.answered if counts.answered else 0.0
        return {
            "scene": text(self, "scene"),
            "posture requests": str(self._answers),
            "postures found": str(self._found),
            "mean time per posture request [ms]": f"{1e3 * mean:.1f}",
            "plans found": str(counts.answered),
            "plans not found": str(counts.failed),
            "plans cancelled": str(counts.cancelled),
            "plans under way": str(self._plans.under_way),
            "motions found": str(self._motions.counts.answered),
            "motions under way": str(self._motions.under_way),
            "mean time per plan [s]": f"{plan_mean:.2f}",
            "refused requests": str(self.refusals.count),
            "last refusal": self.refusals.last,
        }


def _mark_refused(response: GeneratePosture.Response) -> None:
    response.report.code = PostureReport.INVALID_REQUEST
    response.report.explanation = response.message


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("contact_planner", ContactPlannerNode)
