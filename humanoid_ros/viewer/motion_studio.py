# SPDX-License-Identifier: Apache-2.0
"""A plan's motion on the page: made by the contact planner, played by the simulator, run through the bridge."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import viser
from control_msgs.action import FollowJointTrajectory
from humanoid_stack.action import ExecuteTrajectory, GenerateMotion
from humanoid_stack.msg import ContactPlan, WholeBodyTrajectory
from humanoid_stack.srv import SetState
from rclpy.node import Node

from humanoid_model.errors import HumanoidError
from humanoid_ros.messages.conversions import duration, seconds
from humanoid_ros.node.clients import SignOfLife, WatchedCalls
from humanoid_ros.viewer.controls import FeaturePanel, Later, tells
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.planner_calls import AskedGoal, PresentRobot

DEAD_MAN = 1.0
"""The bridge stops the robot when it has missed this node, or the browser whose person asked, for so long [s]."""
CONTROLLER = "whole_body_controller/follow_joint_trajectory"


class MotionPanel(FeaturePanel):
    """Folder of the panel.

    Args:
        gui: GUI of the page.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self._folder = gui.add_folder("Motion", visible=False)
        with self._folder:
            self._clear = gui.add_checkbox("Move clear", True, hint="Of the robot itself and of the scene")
            self._make = gui.add_button("Make motion", icon=viser.Icon.RUN, hint="Along the plan that is shown")
            self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY, hint="The simulated robot, from its start")
            self._begin = gui.add_button("Put at start", icon=viser.Icon.PLAYER_SKIP_BACK, color="gray")
            self._speed = gui.add_slider("Speed of the bridge", 0.1, 1.0, 0.05, 1.0, hint="Of the motion's own")
            self._run = gui.add_button(
                "Run through bridge",
                icon=viser.Icon.ROBOT,
                color="orange",
                hint="Moves the robot; from its start alone",
            )
            self._asks = (self._make, self._play, self._begin, self._run)
            self._cancel = gui.add_button("Cancel motion", icon=viser.Icon.X, color="red", visible=False)
            self._result = gui.add_html("", visible=False)
        self.set(offered=False, ready=False, working=False)

    def connect(self, motions: MotionStudio, later: Later) -> None:
        """Let what a person does be done later."""
        self._make.on_click(lambda _: later(motions.make, bool(self._clear.value)))
        self._play.on_click(lambda _: later(motions.begin, True))
        self._begin.on_click(lambda _: later(motions.begin, False))
        self._run.on_click(lambda event: later(motions.run, float(self._speed.value), event.client_id))
        self._cancel.on_click(lambda _: later(motions.cancel))

    def set(self, *, offered: bool, ready: bool, working: bool) -> None:
        """Offer what can be done now.

        Args:
            offered: Whether there is a plan.
            ready: Whether a motion was made of it.
            working: Whether something is under way: then it can be cancelled, and nothing else be begun.
        """
        self._folder.visible = offered
        for control in (self._play, self._begin, self._speed, self._run):
            control.visible = ready
        self.show_working(working)


class MotionStudio:
    """Asks for one thing at a time, and tells how far it is; all of it in the node's executor.

    Args:
        node: that asks.
        page: whose browsers ask.
        panel: of motions.
        present: robot on the page.
        later: lets what a person does be done in the executor.
    """

    def __init__(
        self, node: Node, page: Page, panel: MotionPanel, present: PresentRobot, later: Later
    ) -> None:
        self._node, self._page, self._panel, self._present = node, page, panel, present
        self._calls = WatchedCalls(node)
        self._state = node.create_client(SetState, "set_state")
        self._alive = SignOfLife(node)
        self._making = self._asked(
            GenerateMotion, "generate_motion", "contact_planner", self._on_step, self._take_motion
        )
        self._running = self._asked(
            ExecuteTrajectory, "execute_trajectory", "controller_bridge", self._on_path, self._on_run
        )
        self._playing: dict[str, AskedGoal] = {}
        self._current: AskedGoal | None = None
        self._plan = self._made_of = ContactPlan()
        self._motion: WholeBodyTrajectory | None = None
        self._length = 0.0
        self._placing = self._cancelled = False
        panel.connect(self, later)

    def _asked(
        self, action: Any, name: str, server: str, news: Callable[[Any], str], end: Callable[[Any], tuple[str, bool]]
    ) -> AskedGoal:
        """Return what asks for goals of an action; `news` and `end` tell feedback and result in words."""
        return AskedGoal(
            self._node,
            (action, name),
            server,
            lambda feedback: self._panel.say(news(feedback)),
            partial(self._end, end),
        )

    @property
    def working(self) -> bool:
        """Whether something is under way."""
        return self._placing or self._current is not None

    def set_plan(self, plan: ContactPlan) -> None:
        """Take a plan, with its motion if it has one; none without steps. What is under way goes on to its end."""
        self._plan, self._motion = plan, None
        said = self._take_trajectory(plan.trajectory) if plan.trajectory.joints.points else ""
        self._show()
        if not self.working:
            self._panel.say(said)

    @tells
    def make(self, collisions: bool) -> None:
        """Make a motion of the plan, clear of the robot itself and of the scene or not."""
        if not self._free():
            return
        self._made_of = self._plan
        self._ask(self._making, GenerateMotion.Goal(plan=self._plan, collisions=collisions))

    @tells
    def begin(self, play: bool) -> None:
        """Put the simulated robot where the motion begins, at rest, and maybe let it play the motion."""
        if self._free():
            self._begin(self._wanted(), play)

    @tells
    def run(self, speed: float, browser: int | None) -> None:
        """Let the bridge run the motion at a share of its speed as long as the browser of who asked is there."""
        if not self._free():
            return
        goal = ExecuteTrajectory.Goal(trajectory=self._wanted(), speed_scale=speed, dead_man=duration(DEAD_MAN))
        self._ask(self._running, goal)
        server = self._page.server
        self._alive.give(
            lambda: self._running.goal_id,
            lambda: self._running.working and browser in server.get_clients(),
            DEAD_MAN,
        )

    def cancel(self) -> None:
        """Give up making the motion, or stop the robot that plays it."""
        self._cancelled = True
        if self._current is not None:
            self._current.cancel()

    def _free(self) -> bool:
        """Whether nothing is under way: then something else begins."""
        free = not self.working
        self._cancelled = self._cancelled and not free
        return free

    def update(self) -> None:
        """End what was asked of a node that is gone."""
        if self._current is not None:
            self._current.watch()

    # Requests ---------------------------------------------------------------------------------------------------------

    def _wanted(self) -> WholeBodyTrajectory:
        if self._motion is None:
            raise HumanoidError("Make a motion first.")
        return self._motion

    def _ask(self, asked: AskedGoal, goal: Any) -> None:
        asked.ask(goal)
        self._current = asked
        self._panel.say("Asked for.")
        self._show()

    def _begin(self, motion: WholeBodyTrajectory, play: bool) -> None:
        first = motion.joints.points[0]
        wanted = SetState.Request(
            name=self._present.prefix.rstrip("/"),
            joint_names=motion.joints.joint_names,
            joint_positions=first.positions,
        )
        if motion.base:
            wanted.set_pose, wanted.pose = True, motion.base[0]
        self._placing = True
        self._show()
        self._calls.call(self._state, wanted, partial(self._placed, motion, play), lambda why: self._tell(why, False))

    def _placed(self, motion: WholeBodyTrajectory, play: bool, answer: SetState.Response) -> None:
        if not answer.success:
            self._tell(f"set_state: {answer.message}", False)
        elif not play:
            self._tell("The robot stands where the motion begins.", True)
        elif self._cancelled:
            self._tell("Cancelled.", False)
        else:
            self._placing = False
            try:
                self._ask(self._player(), FollowJointTrajectory.Goal(trajectory=motion.joints))
            except HumanoidError as error:
                self._tell(str(error), False)

    def _player(self) -> AskedGoal:
        """Return what asks the controller of all joints of the robot on the page."""
        name = self._present.prefix + CONTROLLER
        if name not in self._playing:
            self._playing[name] = self._asked(
                FollowJointTrajectory, name, "simulator", self._on_follow, self._on_played
            )
        return self._playing[name]

    # News and ends ----------------------------------------------------------------------------------------------------

    def _on_step(self, feedback: GenerateMotion.Feedback) -> str:
        return f"step {feedback.step} of {feedback.steps}: {feedback.stage}"

    def _on_follow(self, feedback: FollowJointTrajectory.Feedback) -> str:
        return f"{seconds(feedback.desired.time_from_start):.1f} of {self._length:.1f} s"

    def _on_path(self, feedback: ExecuteTrajectory.Feedback) -> str:
        return (
            f"{feedback.path_time:.1f} of {feedback.duration:.1f} s, speed {feedback.speed:.2f}, joints within "
            f"{1e3 * feedback.max_joint_error:.1f} mrad"
        )

    def _take_motion(self, result: GenerateMotion.Result) -> tuple[str, bool]:
        if not result.success or not result.trajectory.joints.points:
            return result.message or "The motion has no points.", False
        if self._made_of is not self._plan:
            return "A motion was made of the plan before this one. Make it again.", False
        return self._take_trajectory(result.trajectory), True

    def _take_trajectory(self, trajectory: WholeBodyTrajectory) -> str:
        """Take the motion of the plan, and tell of it."""
        self._motion = trajectory
        self._length = seconds(trajectory.joints.points[-1].time_from_start)
        return f"A motion of {self._length:.1f} s."

    def _on_played(self, result: FollowJointTrajectory.Result) -> tuple[str, bool]:
        good = result.error_code == FollowJointTrajectory.Result.SUCCESSFUL and not self._cancelled
        return result.error_string or ("Played to its end." if good else "It was not played to its end."), good

    def _on_run(self, result: ExecuteTrajectory.Result) -> tuple[str, bool]:
        message: str = result.message
        if result.max_joint_error_joint:
            worst = f"{1e3 * result.max_joint_error:.1f} mrad, of {result.max_joint_error_joint}"
            message += f"\nLargest joint error {worst}."
        return message, result.success

    def _end(self, read: Callable[[Any], tuple[str, bool]], result: Any, why: str) -> None:
        self._current = None
        self._tell(*((why, False) if result is None else read(result)))

    def _tell(self, message: str, good: bool) -> None:
        """Tell what came of what was under way."""
        self._placing = False
        self._show()
        self._panel.say(message, good)

    def _show(self) -> None:
        self._panel.set(offered=bool(self._plan.steps), ready=self._motion is not None, working=self.working)
