# SPDX-License-Identifier: Apache-2.0
"""Contact plans on the embedded view: a goal goes to the action `plan_contacts`, a tree and a plan come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from humanoid_stack.action import PlanContacts
from humanoid_stack.msg import (
    Contact,
    ContactCandidates,
    ContactForces,
    ContactPlan,
    ContactPlanRequest,
    PlanPotential,
    PostureTask,
    StanceTerm,
)
from humanoid_stack.srv import GeneratePosture
from rclpy.node import Node

from humanoid_model import ContactLocation, Robot, Scene, load_robot
from humanoid_model.checks import check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.messages.conversions import array, duration, placement, point
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.messages.stance_messages import contact_locations, contacts_in_order
from humanoid_ros.node.qos import LATCHED
from humanoid_ros.node.requested_files import check_requested
from humanoid_ros.viewer.asked_goal import AskedGoal
from humanoid_ros.viewer.drawing.posture_drawing import PostureDrawing, PostureView
from humanoid_ros.viewer.drawing.viewer_contacts import contact_view
from humanoid_ros.viewer.handles.present_robot import PresentRobot
from humanoid_ros.viewer.handles.snapping import pointed_at, snap
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.panels import request as wish
from humanoid_ros.viewer.plans.goal_handle import GoalHandle
from humanoid_ros.viewer.plans.motion_studio import MotionStudio
from humanoid_ros.viewer.plans.plan_drawing import PlanDrawing
from humanoid_ros.viewer.plans.plan_panel import CENTRE, PlanPanel

PATH = "/plan"
AHEAD = 0.4
"""Where the goal is at first, ahead of the robot [m]."""
TOLERANCES = 0.1, 0.02
"""Of goals of the centre of mass and of a place of the robot [m]."""
TURN = 0.3
"""Largest angle of a foot from the robot's heading [rad]."""
MARGIN = 10.0
"""Of contact forces to their friction cones, in all postures [N]."""
TREE_PERIOD = 0.3
"""Least time between two drawings of the tree [s]."""


class PlanStudio:
    """Asks for plans, tells how far they are, and draws them; all of it in the node's executor.

    Plans that others ask for are shown, too.

    Args:
        node: that asks.
        page: that is drawn on.
        panel: of plans.
        present: robot on the page.
        send: takes what a person clicks at; called from viser's threads.
        time_limit: wall-clock time of a request [s].
        scales: height of a friction cone and length of an arrow per force [m/N].
    """

    def __init__(
        self,
        node: Node,
        page: Page,
        panel: PlanPanel,
        present: PresentRobot,
        send: Callable[[wish.PlaceGoal], None],
        *,
        time_limit: float,
        scales: tuple[float, float],
    ) -> None:
        self._scene, self._panel, self._present = page.server.scene, panel, present
        self._motions = MotionStudio(node, page, panel.motion, present)
        self._time_limit, self._scales = time_limit, scales
        self._asked = AskedGoal(
            node, (PlanContacts, "plan_contacts"), "contact_planner", self._on_feedback, self._on_end
        )
        node.create_subscription(ContactPlan, "plan", self._on_plan, LATCHED)
        self._root = self._scene.add_frame(PATH, show_axes=False)
        self._handle = GoalHandle(self._scene, send)
        self._drawing = PlanDrawing(self._scene, PATH)
        self._ghost: PostureDrawing | None = None
        self._robot: tuple[str, Robot] | None = None
        self._plan, self._found = ContactPlan(), False
        self._of, self._summary, self._step = CENTRE, "", 0
        self._tree: tuple[list[int], list[Any], list[float]] = [], [], []
        self._tree_drawn, self._tree_size = -np.inf, 0

    def answer(self, request: wish.PlanRequest | wish.MotionRequest) -> None:
        """Do what a person asks for."""
        if isinstance(request, wish.MotionRequest):
            self._motions.answer(request)
            return
        try:
            if isinstance(request, wish.SetGoal):
                self._set_goal(request)
            elif isinstance(request, wish.PlaceGoal):
                self._place_goal(request)
            elif isinstance(request, wish.PlanContacts):
                self._ask(request)
            elif isinstance(request, wish.CancelPlan):
                self._asked.cancel()
            else:
                self._root.visible = request.shown
                self._drawing.tree_visible = request.tree
                self._show_step(request.step)
        except HumanoidError as error:
            self._panel.say(str(error), False)

    def update(self, now: float) -> None:
        """Draw what has grown.

        Args:
            now: monotonic time [s].
        """
        self._asked.watch()
        self._motions.update()
        if len(self._tree[0]) != self._tree_size and now - self._tree_drawn > TREE_PERIOD:
            parents, places, potentials = self._tree
            self._tree_drawn, self._tree_size = now, len(parents)
            self._drawing.set_tree(np.array(places).reshape(-1, 3), np.array(parents, dtype=int), np.array(potentials))

    # Goal -----------------------------------------------------------------------------------------------------------

    def _set_goal(self, request: wish.SetGoal) -> None:
        robot = self._present.robot
        if request.shown and not self._present.stands:
            raise HumanoidError("Nothing tells yet how the robot stands.")
        new = request.of != self._of or request.shown != self._panel.goal_shown
        self._of = request.of
        self._panel.set_places([place.name for place in robot.contacts.values() if "hand" in place.name])
        self._panel.goal_shown = self._handle.visible = request.shown
        if request.shown and new:
            heading = self._heading(robot)
            ahead = AHEAD * np.array([np.cos(heading), np.sin(heading), 0.0])
            self._handle.position = self._goal_now(robot) + ahead

    def _place_goal(self, request: wish.PlaceGoal) -> None:
        robot, scene = self._present.robot, self._known_scene()
        place = pointed_at(np.array(request.origin), np.array(request.direction), scene)
        if place is None:
            raise HumanoidError("There is no surface of the scene where you clicked.")
        if self._of == CENTRE:
            # As high above the surface as in the robot's usual posture, whose soles are at height 0.
            place[2] += float(pin.centerOfMass(robot.model, robot.model.createData(), robot.default_posture)[2])
        self._handle.position = place

    def _goal_now(self, robot: Robot) -> np.ndarray:
        """(3,) where the goal's point is now [m]."""
        if self._of == CENTRE:
            q = configuration(self._present.posture, robot, "posture")
            return np.array(pin.centerOfMass(robot.model, robot.model.createData(), q))
        return np.array(self._present.placement(self._place_of(robot)).translation)

    def _place_of(self, robot: Robot) -> ContactLocation:
        """Return the place of the robot that is to come to the goal; another robot may be there by now."""
        check_known(self._of, robot.contacts, "Goal of", "place of the robot")
        return robot.contacts[self._of]

    def _heading(self, robot: Robot) -> float:
        q = configuration(self._present.posture, robot, "posture")
        forward = robot.placement_base(q).rotation[:, 0]
        return float(np.arctan2(forward[1], forward[0]))

    def _known_scene(self) -> Scene:
        scene = self._present.scene
        if scene is None:
            raise HumanoidError("The simulated scene isn't known here.")
        return scene

    # Requests and answers -------------------------------------------------------------------------------------------

    def request(self, asked: wish.PlanContacts) -> ContactPlanRequest:
        """Return the request that goal and panel mean now.

        Raises:
            HumanoidError: the scene isn't known, or a sole is on no surface of it.
        """
        robot, scene = self._present.robot, self._known_scene()
        soles = [place for place in robot.contacts.values() if place.support]
        hands = [place for place in robot.contacts.values() if "hand" in place.name and place.name != self._of]
        goal, target = PostureTask(name="goal"), point(self._handle.position)
        goal.target = target
        if self._of == CENTRE:
            goal.kind, goal.tolerance = PostureTask.CENTRE_OF_MASS, TOLERANCES[0]
        else:
            place = self._place_of(robot)
            goal.kind, goal.link, goal.tolerance = PostureTask.POINT_AT, place.link, TOLERANCES[1]
            goal.point = point(place.placement_link_patch.translation)
        message = ContactPlanRequest(
            robot=self._present.name,
            scene=self._present.scene_name,
            used_locations=[place.name for place in (*soles, *(hands if asked.hands else ()))],
            candidates=ContactCandidates(headings=[self._heading(robot)], turn=TURN),
            start_posture=self._present.posture,
            goal=[goal],
            potentials=[PlanPotential(target=target)],
            terms=[StanceTerm(weight=0.02)],
            criterion=GeneratePosture.Request.NEAR_REFERENCE,
            stability=GeneratePosture.Request.CONTACT_FORCES,
            stability_margin=MARGIN,
            torque_limits=True,
            collisions=asked.collisions,
            shorten=True,
            time_limit=duration(self._time_limit),
        )
        message.start.contacts = [self._standing(place, scene) for place in soles]
        return message

    def _standing(self, place: ContactLocation, scene: Scene) -> Contact:
        """Return the contact of a sole as it stands."""
        held = snap(self._present.placement(place), scene)
        if held is None:
            raise InputError("is on no surface of the scene", element=place.name)
        return Contact(location=place.name, surface=held.surface.name, x=held.x, y=held.y, theta=held.theta)

    def _ask(self, asked: wish.PlanContacts) -> None:
        if self._asked.working:
            return
        self._asked.ask(PlanContacts.Goal(request=self.request(asked)))
        self._panel.working = True
        self._motions.set_plan(ContactPlan())
        self._tree, self._tree_size = ([], [], []), -1
        self._panel.say("Asked for.")

    def _on_feedback(self, feedback: PlanContacts.Feedback) -> None:
        parents, places, potentials = self._tree
        parents += feedback.parents
        places += [array(place) for place in feedback.places]
        potentials += feedback.potentials
        if feedback.partial_plan.steps:
            self._take(feedback.partial_plan, False)
        spent = feedback.statistics
        self._panel.say(
            f"{spent.nodes} nodes, {spent.posture_calls} posture calls, {spent.time:.1f} s\n"
            f"best potential {spent.best_potential:.3f}"
        )

    def _on_end(self, result: PlanContacts.Result | None, why: str) -> None:
        self._panel.working = False
        message, found = why, False
        if result is not None:
            message, found = result.message, result.success
            if result.plan.steps and not self._take(result.plan, found):
                return
            if found:
                spent = result.plan.statistics
                message = f"{len(result.plan.steps)} stances, {spent.nodes} nodes, {spent.time:.1f} s"
        self._summary = message
        self._panel.say(message, found)

    # Drawing --------------------------------------------------------------------------------------------------------

    def _on_plan(self, plan: ContactPlan) -> None:
        self._take(plan, True)

    def _take(self, plan: ContactPlan, found: bool) -> bool:
        """Draw a plan in place of the last one, and show its last stance; whether it can be shown."""
        if found and self._found and plan.header.stamp == self._plan.header.stamp:
            return True  # what came as a result comes on the topic as well
        try:
            self._show_plan(plan, found)
        except HumanoidError as error:
            self._panel.say(f"A plan can't be shown: {error}", False)
            return False
        return True

    def _show_plan(self, plan: ContactPlan, found: bool) -> None:
        robot = self._robot_of(plan)
        patches = {
            name: np.column_stack([place.patch, np.zeros(len(place.patch))])
            for name, place in contact_locations(plan.locations, robot, "plan.locations").items()
        }
        outlines = []
        for contact in contacts_in_order(step.stance for step in plan.steps):
            check_known(contact.location, patches, "plan.steps.stance.contacts.location", "contact location")
            where = placement(contact.pose, "contact")
            outlines.append(np.array([where.act(corner) for corner in patches[contact.location]]))
        self._plan, self._found = plan, found
        self._motions.set_plan(plan if found else ContactPlan())
        self._drawing.set_plan(outlines, np.array([array(step.centre_of_mass) for step in plan.steps]))
        self._panel.set_steps(len(plan.steps))
        if not self._panel.working:
            self._summary = f"{len(plan.steps)} stances"
        self._show_step(len(plan.steps) - 1)

    def _robot_of(self, plan: ContactPlan) -> Robot:
        if self._robot is None or self._robot[0] != plan.robot:
            robot = load_robot(check_requested(plan.robot, "plan.robot"))
            if self._ghost is not None:
                self._ghost.remove()
            self._robot = plan.robot, robot
            self._ghost = PostureDrawing(self._scene, PATH, robot.description, *self._scales, cones=False)
        return self._robot[1]

    def _show_step(self, step: int) -> None:
        """Show the posture and the forces of a stance."""
        if self._robot is None or self._ghost is None or not self._plan.steps:
            return
        self._step = min(step, len(self._plan.steps) - 1)
        shown, robot = self._plan.steps[self._step], self._robot[1]
        self._ghost.update(
            PostureView(
                placements=robot.link_placements(configuration(shown.posture, robot, "posture")),
                contacts=contact_view(ContactForces(contacts=shown.forces)),
                centre_of_mass=array(shown.centre_of_mass),
                support_polygon=np.zeros((0, 3)),
                found=self._found,
            )
        )
        if not self._panel.working:
            held = ", ".join(
                f"{item.location} on {item.surface}{' (without force)' if item.kind == Contact.RELEASED else ''}"
                for item in shown.stance.contacts
            )
            self._panel.say(f"{self._summary}\nstance {self._step}: {held}", self._found)
