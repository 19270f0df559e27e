# SPDX-License-Identifier: Apache-2.0
"""Contact plans on the embedded view: a goal goes to the action `plan_contacts`, a tree and a plan come back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
import viser
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
from humanoid_ros.node.parameter_declaration import declare_number, number
from humanoid_ros.node.qos import LATCHED
from humanoid_ros.node.requested_files import check_requested
from humanoid_ros.viewer.controls import FeaturePanel, Later, show_folder, tells
from humanoid_ros.viewer.drawing.drawn_messages import contact_view
from humanoid_ros.viewer.drawing.handles import pointed_at, snap
from humanoid_ros.viewer.drawing.plan_drawing import GoalHandle, PlanDrawing
from humanoid_ros.viewer.drawing.posture_drawing import PostureDrawing, PostureView
from humanoid_ros.viewer.feature import Feature, View
from humanoid_ros.viewer.motion_studio import MotionPanel, MotionStudio
from humanoid_ros.viewer.planner_calls import AskedGoal

CENTRE = "centre of mass"
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


class PlanPanel(FeaturePanel):
    """Folder of the panel.

    Args:
        gui: GUI of the page.

    Attributes:
        folder: All of it.
        motion: Of the plan.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self._goal_shown = False
        self.folder = gui.add_folder("Contact plan", expand_by_default=False)
        with self.folder:
            self._set_goal = gui.add_button("Set goal", icon=viser.Icon.FLAG, hint="Drag the ball, or Shift-click")
            self._of = gui.add_dropdown("Goal of", (CENTRE,), visible=False)
            self._hands = gui.add_checkbox("Hands may hold", False, visible=False)
            self._collisions = gui.add_checkbox("Keep clear", True, visible=False, hint="Of itself and of the scene")
            self._moves = gui.add_checkbox("With its motion", True, visible=False, hint="Only steps that can be made")
            self._plan = gui.add_button("Plan contacts", icon=viser.Icon.ROUTE, visible=False)
            self._asks = (self._plan,)
            self._cancel = gui.add_button("Cancel plan", icon=viser.Icon.X, color="red", visible=False)
            self._result = gui.add_html("", visible=False)
            self._shown = gui.add_checkbox("Show plan", True, visible=False)
            self._tree = gui.add_checkbox("Search tree", True, visible=False)
            self._step = gui.add_slider("Stance", 0, 1, 1, 0, visible=False)
            self.motion = MotionPanel(gui)

    def connect(self, plans: PlanStudio, later: Later) -> None:
        """Let what a person does be done later."""
        self._set_goal.on_click(lambda _: later(plans.set_goal, self._of.value, not self._goal_shown))
        self._of.on_update(lambda _: later(plans.set_goal, self._of.value, True))
        boxes = self._hands, self._collisions, self._moves
        self._plan.on_click(lambda _: later(plans.plan, *(bool(box.value) for box in boxes)))
        self._cancel.on_click(lambda _: later(plans.cancel))
        for control in (self._shown, self._tree, self._step):
            control.on_update(lambda _: later(plans.show, *self.look))

    @property
    def look(self) -> tuple[bool, bool, int]:
        """How the plan is shown: whether at all, whether with the tree of the search, and at which stance."""
        return bool(self._shown.value), bool(self._tree.value), int(self._step.value)

    @property
    def goal_shown(self) -> bool:
        """Whether a goal is being set: then a plan may be asked for."""
        return self._goal_shown

    @goal_shown.setter
    def goal_shown(self, shown: bool) -> None:
        self._goal_shown = shown
        self._set_goal.label = "Hide goal" if shown else "Set goal"
        for control in (self._of, self._hands, self._collisions, self._moves, self._plan):
            control.visible = shown

    def set_places(self, places: Sequence[str]) -> None:
        """Offer the centre of mass and these places of the robot for the goal."""
        if tuple(self._of.options) != (CENTRE, *places):
            self._of.options = (CENTRE, *places)

    def set_steps(self, count: int) -> None:
        """Offer so many stances, one or more, and choose the last one."""
        self._step.max = max(count - 1, 1)
        self._step.value = count - 1  # type: ignore[misc]  # viser's setter is real
        for control in (self._shown, self._tree, self._step):
            control.visible = True


class PlanStudio(Feature):
    """Asks for plans, tells how far they are, and draws them; all of it in the node's executor.

    Plans that others ask for are shown, too.
    """

    name = "plan"

    @staticmethod
    def declare_parameters(node: Node) -> None:
        """Declare times and sizes."""
        limit = "Wall-clock time that the search of a plan may take [s]"
        declare_number(node, "plan_time_limit", 120.0, 0.1, 86400.0, limit, read_only=True)

    def __init__(self, view: View) -> None:
        """Add the folder."""
        node, later, panel = view.node, view.later, PlanPanel(view.gui)
        self._scene, self._panel, self._present = view.scene, panel, view.present
        self._motions = MotionStudio(node, view.page, panel.motion, view.present, later)
        self._time_limit = number(node, "plan_time_limit")
        self._scales = number(node, "cone_scale"), number(node, "arrow_scale")
        self._asked = AskedGoal(
            node, (PlanContacts, "plan_contacts"), "contact_planner", self._on_feedback, self._on_end
        )
        node.create_subscription(ContactPlan, "plan", self._on_plan, LATCHED)
        self._root = self._scene.add_frame(PATH, show_axes=False)
        self._handle = GoalHandle(self._scene, partial(later, self.place_goal))
        self._drawing = PlanDrawing(self._scene, PATH)
        self._ghost: PostureDrawing | None = None
        self._robot: tuple[str, Robot] | None = None
        self._plan, self._found = ContactPlan(), False
        self._of, self._summary, self._step = CENTRE, "", 0
        self._tree: tuple[list[int], list[Any], list[float]] = [], [], []
        self._tree_drawn, self._tree_size = -np.inf, 0
        panel.connect(self, later)

    def offer(self, alone: bool) -> None:
        """Show the folder where there may be a robot."""
        show_folder(self._panel.folder, not alone)

    def cancel(self) -> None:
        """Give up the plan that is being sought; the path to the best stance stays."""
        self._asked.cancel()

    @tells
    def show(self, shown: bool, tree: bool, step: int) -> None:
        """Show the plan or hide it, with the tree of the search or without, and the posture of a stance, from 0."""
        self._root.visible = shown
        self._drawing.tree_visible = tree
        self._show_step(step)

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

    @tells
    def set_goal(self, of: str, shown: bool) -> None:
        """Show the handle that says where a plan leads, or hide it.

        Args:
            of: what is to come there: CENTRE, or the name of a place of the robot.
            shown: whether the handle is there.
        """
        robot = self._present.robot
        if shown and not self._present.stands:
            raise HumanoidError("Nothing tells yet how the robot stands.")
        new = of != self._of or shown != self._panel.goal_shown
        self._of = of
        self._panel.set_places([place.name for place in robot.contacts.values() if "hand" in place.name])
        self._panel.goal_shown = self._handle.visible = shown
        if shown and new:
            heading = self._heading(robot)
            ahead = AHEAD * np.array([np.cos(heading), np.sin(heading), 0.0])
            self._handle.position = self._goal_now(robot) + ahead

    @tells
    def place_goal(self, origin: Sequence[float], direction: Sequence[float]) -> None:
        """Put the goal where a ray from the eye (3,) [m] along a direction (3,) first meets a surface."""
        robot, scene = self._present.robot, self._known_scene()
        place = pointed_at(np.array(origin), np.array(direction), scene)
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

    def request(self, may_hold: bool, collisions: bool, motion: bool) -> ContactPlanRequest:
        """Return the request that the goal means now.

        Args:
            may_hold: whether hands may hold, too.
            collisions: whether they are avoided.
            motion: whether the plan has to have one.

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
            used_locations=[place.name for place in (*soles, *(hands if may_hold else ()))],
            candidates=ContactCandidates(headings=[self._heading(robot)], turn=TURN),
            start_posture=self._present.posture,
            goal=[goal],
            potentials=[PlanPotential(target=target)],
            terms=[StanceTerm(weight=0.02)],
            criterion=GeneratePosture.Request.NEAR_REFERENCE,
            stability=GeneratePosture.Request.CONTACT_FORCES,
            stability_margin=MARGIN,
            torque_limits=True,
            collisions=collisions,
            shorten=True,
            motion=motion,
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

    @tells
    def plan(self, may_hold: bool, collisions: bool, motion: bool) -> None:
        """Plan contacts from how the robot stands to the goal, unless that is under way; see :meth:`request`."""
        if self._asked.working:
            return
        self._asked.ask(PlanContacts.Goal(request=self.request(may_hold, collisions, motion)))
        self._panel.show_working(True)
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
            f"{spent.nodes} nodes, {spent.posture_calls} posture calls, {spent.ways} ways, {spent.time:.1f} s\n"
            f"best potential {spent.best_potential:.3f}"
        )

    def _on_end(self, result: PlanContacts.Result | None, why: str) -> None:
        self._panel.show_working(False)
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
        if not self._asked.working:
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
        if not self._asked.working:
            held = ", ".join(
                f"{item.location} on {item.surface}{' (without force)' if item.kind == Contact.RELEASED else ''}"
                for item in shown.stance.contacts
            )
            self._panel.say(f"{self._summary}\nstance {self._step}: {held}", self._found)
