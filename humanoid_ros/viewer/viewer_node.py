# SPDX-License-Identifier: Apache-2.0
"""The viewer node: a web page that shows what ROS says of a simulation or of a real robot."""

from __future__ import annotations

import struct
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import TransformStamped
from humanoid_stack.msg import ContactForces, SimulationStatus
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.timer import Timer
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.files import list_resources
from humanoid_model.sensor import Camera as SceneCamera
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.parameter_declaration import (
    declare_number,
    declare_text,
    declare_texts,
    declare_whole,
    number,
    text,
    texts,
    whole,
)
from humanoid_ros.node.qos import LATCHED, NEWEST, STATIC_TRANSFORMS, TRANSFORMS
from humanoid_ros.node.run import run
from humanoid_ros.viewer.camera import Camera, Following
from humanoid_ros.viewer.controls import Later
from humanoid_ros.viewer.drawing.contact_drawing import ARROW_SCALE, CONE_SCALE, ContactDrawing, ContactView
from humanoid_ros.viewer.drawing.drawn_messages import coloured_meshes, contact_view, draw_markers, trace_lines, viewed
from humanoid_ros.viewer.drawing.handles import PullHandle
from humanoid_ros.viewer.drawing.scene_drawing import ColouredMeshDrawing, SceneDrawing, TraceDrawing
from humanoid_ros.viewer.drawing.shapes import LARGEST, drawable
from humanoid_ros.viewer.feature import View, known_features
from humanoid_ros.viewer.inbox import Inbox
from humanoid_ros.viewer.mechanism_studio import MechanismStudio
from humanoid_ros.viewer.page import PORT, Page
from humanoid_ros.viewer.panel import FOLLOW, Panel
from humanoid_ros.viewer.planner_calls import PresentRobot
from humanoid_ros.viewer.shown_robots import ShownRobot, ShownRobots, TransformTree
from humanoid_ros.viewer.simulator_calls import Pulling, SimulatorCalls

PANEL_PERIOD = 0.2
"""Period of the panel's text and plot [s]: more is not readable."""
GRAPH_PERIOD = 1.0
"""Period of looking for new robots among the topics [s]."""
BODIES_SIZE = 0.6
"""Part of the extent of a scene without robots that fills the picture: what lies flat is seen from the side."""
PLAIN_SCENE = "stand"
LIVE_PERIOD = 1.0 / 60.0
"""Period of drawing while a mechanism is there that a person may drag [s]."""
EARLIEST, LATEST = 0.7, 1.5
"""When a drawing follows the last one, over that period: at transforms that come, and without them."""
UNWATCHED_PERIOD = 1.0
"""Period of drawing and of the panel while there is no browser [s]."""
ONCE = 60.0
"""For so long the log isn't told again of the same fault [s]."""
MOST_FAULTS = 100
"""So many are remembered."""
STAMP = struct.Struct("<iI")
"""Of a message that begins with a header, after the four bytes that tell its encoding: seconds and nanoseconds."""


class ViewerNode(AnsweringNode):
    """Draws robots, scene and contacts on a page; passes what a person asks for to services.

    Everything that touches ROS or the drawing happens in this node's executor: callbacks keep the
    newest message, a timer draws, and what a person does on the page arrives through a queue.

    Raises:
        InputError: The page's address or port can't be listened on.
    """

    def __init__(self) -> None:
        super().__init__("viewer")
        self._declare_parameters()
        warn = self.get_logger().warning
        self.page = Page(text(self, "host"), whole(self, "port"), texts(self, "hosts"), lambda line: warn(line))
        # Not in the log, which others on the network hear and others on this machine may read.
        print(f"the page is at {self.page.address}", flush=True)
        server = self.page.server
        self._later = Later()
        self._panel = Panel(
            server.gui,
            texts(self, "scenes"),
            number(self, "plot_window"),
        )
        self._scene = SceneDrawing(server.scene)
        self._obstacles = SceneDrawing(server.scene, "/obstacles")
        self._contacts = ContactDrawing(server.scene, number(self, "cone_scale"), number(self, "arrow_scale"))
        self._soles = ColouredMeshDrawing(server.scene)
        self._traces = TraceDrawing(server.scene)
        handle = PullHandle(server.scene)
        server.on_client_disconnect(lambda client: handle.client_left(client.client_id))
        self._robots = ShownRobots(server.scene)
        self._following = Following(server)
        self._stamp = 0.0
        self._descriptions: dict[str, str] = {}
        self._tree = TransformTree(text(self, "fixed_frame"))
        self._fresh: dict[str, TransformStamped] = {}
        self._moved = False
        self._contact_view = ContactView.empty()
        self._contact_bytes: bytes | None = None
        self._level_ground = False
        self._floor_wanted = True
        self._status: SimulationStatus | None = None
        self._last_heard = -np.inf
        self._aimed = False
        self._view: SceneCamera | None = None
        self._drawn_at = -np.inf
        self._said = 0.0
        self._told: dict[str, float] = {}

        # What comes many times a second lies in the middleware until it is drawn.
        self._transforms = Inbox(self, TFMessage, "/tf", TRANSFORMS, self._draw_live)
        self._contact_inbox = Inbox(self, ContactForces, "contacts", TRANSFORMS)  # as many: the plot shows all
        self._sole_inbox = Inbox(self, MarkerArray, "sole_markers", NEWEST)
        self._trace_inbox = Inbox(self, MarkerArray, "traces", NEWEST)
        self._status_inbox = Inbox(self, SimulationStatus, "status", LATCHED)
        self._joint_inboxes: dict[str, Inbox] = {}
        self._listen(TFMessage, "/tf_static", self._on_static_transforms, STATIC_TRANSFORMS)
        self._listen(MarkerArray, "scene_markers", self._on_scene)
        self._listen(MarkerArray, "obstacles", self._on_obstacles)
        self._listen(MarkerArray, "scene_view", self._on_view)
        self._simulator = SimulatorCalls(self, self._say)
        self._pulling = Pulling(self, handle, self._robots, self._simulator)
        self._panel.connect(self._simulator, self._pulling.pick, self._show, self._later)
        self._present = PresentRobot()
        view = View(self, self.page, self._robots, self._present, self._simulator, self._later)
        self._features = [feature(view) for feature in known_features()]
        self._mechanisms = next(own for own in self._features if isinstance(own, MechanismStudio))
        self._timer = self.create_timer(UNWATCHED_PERIOD, self._draw_in_time)
        self._panel_timer = self.create_timer(UNWATCHED_PERIOD, partial(self._try, "panel", self._refresh_panel))
        self.create_timer(GRAPH_PERIOD, partial(self._try, "robots", self._find_robots))
        # Who comes sees the present at once.
        came = self.create_guard_condition(self._welcome)
        server.on_client_connect(lambda _: came.trigger())
        self._find_robots()

    # Parameters -----------------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        words, bounded = partial(declare_text, self, read_only=True), partial(declare_number, self, read_only=True)
        words("host", "127.0.0.1", "Address the page listens on; the default is this machine only")
        declare_whole(self, "port", PORT, 0, 65535, "TCP port of the page; 0 takes any free one", read_only=True)
        proxied = "Further names of this machine that browsers come by, through a proxy say"
        declare_texts(self, "hosts", proxied, read_only=True)
        words("fixed_frame", "world", "Frame of /tf in which everything is drawn")
        offered = "Scenes that the page offers to load: names or paths"
        declare_texts(self, "scenes", offered, _known_scenes(), read_only=True)
        bounded("rate", 25.0, 1.0, 60.0, "Drawings per second of wall-clock time [Hz]")
        bounded("cone_scale", CONE_SCALE, 1e-6, 1.0, "Height of a friction cone per normal force [m/N]")
        bounded("arrow_scale", ARROW_SCALE, 1e-6, 1.0, "Length of a force arrow per force [m/N]")
        bounded("plot_window", 10.0, 1.0, 120.0, "Simulated time that the force plot spans [s]")
        bounded("gravity", 9.81, 0.0, 100.0, "Gravity, for the weight shown beside forces [m/s^2]")
        bounded("silence", 2.0, 0.2, 60.0, "Silence after which the page says no simulator [s]")
        bounded("pull_stiffness", 600.0, 1.0, 1e5, "Stiffness of the pulling handle [N/m]")
        bounded("pull_max_force", 150.0, 1.0, 1e4, "Largest force of the pulling handle [N]")
        for feature in known_features():
            feature.declare_parameters(self)

    # Messages in ----------------------------------------------------------------------------------

    def _listen(self, kind: Any, topic: str, take: Callable[[Any], None], quality: QoSProfile = LATCHED) -> None:
        """Hear a topic; what can't be taken of it is told, and the next message is taken again."""
        self.create_subscription(kind, topic, lambda message: self._try(topic, partial(take, message)), quality)

    def _try(self, what: str, do: Callable[[], None]) -> None:
        """Do a part of the work: where it fails that is told, once, and the other parts go on."""
        try:
            try:
                do()
            except RuntimeError as error:
                # viser looks through its browsers, and wakes their senders, while one comes or goes: "dictionary
                # changed size during iteration", "deque mutated during iteration".
                if "during iteration" not in str(error):
                    raise
                do()
        except HumanoidError as error:
            self._complain(f"{what}: {error}")
        except Exception as error:
            name = f"{what}: {type(error).__name__}"
            if self._is_news(name):
                self.get_logger().error(f"{what} can't be drawn: {traceback.format_exc()}")
                self._say(f"{name}: {error}")

    def _is_news(self, fault: str) -> bool:
        """Whether the log wasn't told of a fault for a while."""
        now = time.monotonic()
        if now - self._told.get(fault, -np.inf) < ONCE:
            return False
        if len(self._told) >= MOST_FAULTS:
            self._told.clear()
        self._told[fault] = now
        return True

    def _find_robots(self) -> None:
        """Listen to every `robot_description` at or below this node's namespace.

        A robot whose description is not published any more left the scene, if there is a simulator
        to say so; a simulator that is silent may come back with it.
        """
        self._take_status()
        if self._simulator_is_heard():
            for topic, prefix in self._descriptions.items():
                if prefix in self._robots and self.count_publishers(topic) == 0:
                    self._robots.remove(prefix)
                    self._aimed = False
        base = self.get_namespace().rstrip("/")
        for topic, types in self.get_topic_names_and_types():
            if "std_msgs/msg/String" not in types or not topic.startswith(f"{base}/"):
                continue
            prefix, _, name = topic[len(base) + 1 :].rpartition("/")
            if name != "robot_description" or topic in self._descriptions:
                continue
            self._descriptions[topic] = prefix
            self._listen(String, topic, partial(self._on_description, prefix))
            joints = topic.removesuffix(name) + "joint_states"
            self._joint_inboxes[prefix] = Inbox(self, JointState, joints, NEWEST)

    def _simulator_is_heard(self) -> bool:
        return time.monotonic() - self._last_heard <= number(self, "silence")

    def _on_description(self, prefix: str, message: String) -> None:
        self._moved = True
        try:
            problems = self._robots.describe(prefix, message.data)
        except InputError as error:
            self._complain(f"robot_description can't be read: {error}")
            return
        if problems is not None:
            if prefix not in self._mechanisms:  # which are looked at on their own
                self._aimed = False
            for problem in problems:
                self._complain(problem)

    def _on_static_transforms(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._fresh[transform.child_frame_id] = transform

    def _take_transforms(self) -> None:
        """Take where links and bodies are by now."""
        for raw in self._transforms.take():
            message = deserialize_message(raw, TFMessage)
            self._on_static_transforms(message)
            if message.transforms:
                self._stamp = seconds(message.transforms[-1].header.stamp)
        fresh, self._fresh = self._fresh, {}
        for child, stamped in fresh.items():
            move, turn = stamped.transform.translation, stamped.transform.rotation
            pose = np.array([move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w])
            norm = np.linalg.norm(pose[3:]) if drawable(pose) else 0.0
            if norm == 0.0:
                continue
            pose[3:] /= norm
            self._tree.set(stamped.header.frame_id.lstrip("/"), child.lstrip("/"), pin.XYZQUATToSE3(pose))
            self._moved = True

    def _keep_contacts(self) -> None:
        """Keep what the plot shows; the newest contacts are drawn if anybody watches."""
        newest = None
        for newest in self._contact_inbox.take():
            sec, nanosec = STAMP.unpack_from(newest, 4)
            self._panel.plot.history.append(sec + 1e-9 * nanosec, partial(_normal_forces, newest))
        if newest is not None:
            self._contact_bytes = newest
        if self._contact_bytes is None or not self.page.watched:
            return
        message, self._contact_bytes = deserialize_message(self._contact_bytes, ContactForces), None
        self._contact_view = contact_view(message)
        left_out = len(message.contacts) - len(self._contact_view.force)
        if left_out:
            self._complain(f"contacts: {left_out} have a number that is none, or beyond {LARGEST:.0e}")
        self._contacts.update(self._contact_view)
        self._moved = True  # what robots weigh on

    def _take_soles(self) -> None:
        """Decode the newest soles for drawing."""
        newest = self._sole_inbox.newest()
        if newest is not None:
            self._soles.set(coloured_meshes(deserialize_message(newest, MarkerArray)))
            self._moved = True

    def _take_traces(self) -> None:
        newest = self._trace_inbox.newest()
        if newest is not None:
            self._traces.set(trace_lines(deserialize_message(newest, MarkerArray)))

    def _on_scene(self, message: MarkerArray) -> None:
        self._moved = True
        for problem in draw_markers(self._scene, message):
            self._complain(problem)
        if not self._robots:
            self._aimed = False  # another scene, maybe
        self._level_ground = self._scene.has_level_ground(self._tree.root)

    def _on_obstacles(self, message: MarkerArray) -> None:
        self._moved = True
        for problem in draw_markers(self._obstacles, message):
            self._complain(problem)

    def _on_view(self, message: MarkerArray) -> None:
        camera, lights = viewed(message)
        self.page.lights.set(lights)
        if camera != self._view:
            self._view = camera
            self._aimed = False

    def _show_grid(self) -> None:
        """Show the grid on a floor at height 0, and where no scene is known, unless a mechanism would be under it."""
        fits = (len(self._scene) == 0 or self._level_ground) and not self._mechanisms.below_ground
        self.page.show_floor = self._floor_wanted and fits

    def _take_status(self) -> None:
        newest = self._status_inbox.newest()
        if newest is not None:
            self._status = deserialize_message(newest, SimulationStatus)
            self._last_heard = time.monotonic()

    def _complain(self, problem: str) -> None:
        if self._is_news(problem):
            self.get_logger().warning(problem)
        self._say(problem)

    def _say(self, message: str) -> None:
        self._panel.say(message)
        self._said = time.monotonic()

    # Drawing --------------------------------------------------------------------------------------

    def _draw_in_time(self) -> None:
        """Draw, unless what a hand moves comes often enough."""
        if not self._mechanisms.shows or time.monotonic() - self._drawn_at > LATEST * LIVE_PERIOD:
            self._draw()

    def _welcome(self) -> None:
        """Draw what has waited for somebody to look at it."""
        self._draw()
        self._try("panel", self._refresh_panel)

    def _draw_live(self) -> None:
        """Draw what a hand moves when it comes: of two clocks of 60 Hz, every third picture is lost."""
        if time.monotonic() - self._drawn_at > EARLIEST * LIVE_PERIOD:
            self._draw()

    def _draw(self) -> None:
        # Where the last one was due: one that came late doesn't cost the next.
        self._drawn_at = max(self._drawn_at + LIVE_PERIOD, time.monotonic() - LIVE_PERIOD)
        for call in self._later.due():
            self._try(call.func.__name__, call)
        self._keep_pace()
        now = time.monotonic()
        with self.page.server.atomic():
            if self.page.watched:
                self._try("/tf", self._take_transforms)
                self._try("sole_markers", self._take_soles)
                self._try("traces", self._take_traces)
            self._try("contacts", self._keep_contacts)
            if self._moved:
                self._moved = False
                self._place()
            self._try("pull", partial(self._pulling.update, self._stamp))
            self._try("robot", self._update_present)
            for feature in self._features:
                self._try(feature.name, partial(feature.update, now))
            self._show_grid()
            self._try("follow", partial(self._follow, now))
        self.page.server.flush()  # else two drawings may fall into one of viser's own sixtieths of a second
        if not self._aimed:
            self._try("view", self._aim)

    def _follow(self, now: float) -> None:
        """Let the cameras go with the first robot, if a person wants that."""
        robot = next(self._whole_robots(), None)
        base = None if robot is None else robot.placements.get(robot.drawing.description.root)
        self._following.update(None if base is None else np.array(base.translation), now)

    def _place(self) -> None:
        """Put everything where it is by now."""
        for robot in self._robots:
            self._try(f"robot {robot.prefix}", partial(robot.place, self._tree))
            self._try(f"balance {robot.prefix}", partial(robot.draw_balance, self._contact_view))
        self._try("scene_markers", partial(self._scene.update, self._tree.placement))
        self._try("obstacles", partial(self._obstacles.update, self._tree.placement))
        self._try("sole_markers", partial(self._soles.update, self._tree.placement))

    def _keep_pace(self) -> None:
        """Draw as often as hands move while there is a mechanism that a person may drag; seldom if nobody watches."""
        watched, period = self.page.watched, 1.0 / number(self, "rate")
        self._transforms.attended = live = watched and self._mechanisms.shows
        _set_period(self._timer, (min(period, LIVE_PERIOD) if live else period) if watched else UNWATCHED_PERIOD)
        _set_period(self._panel_timer, PANEL_PERIOD if watched else UNWATCHED_PERIOD)

    def _aim(self) -> None:
        """Put the camera where the scene has it.

        Without one it looks at the first robot, once all of it is placed, or at the bodies of a scene without robots.
        """
        for robot in self._whole_robots():
            extent = robot.drawing.extent(robot.placements)
            if extent is None:
                continue
            self._look_at(extent, 1.0)
            bodies = [robot.prefix + link for link in robot.drawing.links]
            trunk = [body for body in bodies if "CHEST" in body.upper() or "TORSO" in body.upper()]
            self._panel.set_bodies(bodies, (trunk or bodies)[-1])
            self._aimed = True
            return
        bodies = [frame for frame in self._scene.frames() if frame != self._tree.root]
        if self._robots or not bodies or any(self._tree.placement(body) is None for body in bodies):
            return
        extent = self._scene.extent(self._tree.placement)
        if extent is not None and self._simulator_is_heard():
            self._look_at(extent, BODIES_SIZE)
            self._panel.set_bodies(bodies, bodies[0])
            self._aimed = True

    def _whole_robots(self) -> Iterator[ShownRobot]:
        """Robots that aren't mechanisms of the node `kinematics`."""
        return (robot for robot in self._robots if robot.prefix.rstrip("/") not in self._mechanisms)

    def _look_at(self, extent: np.ndarray, part: float) -> None:
        """See a part of a box, (2, 3) lowest and highest corner [m], or what the scene's camera sees."""
        if not drawable(extent):
            return
        centre = extent.mean(axis=0)
        if self._view is not None:
            self.page.look_through(Camera.placed(self._view.placement, centre))
        else:
            height = max(part * float(np.ptp(extent, axis=0).max()), 0.1)
            self.page.look_through(Camera.framing(centre, height))

    def _refresh_panel(self) -> None:
        if not self.page.watched:
            return
        status = self._status if self._simulator_is_heard() else None
        mass = self._robots.mass
        weight = mass * number(self, "gravity") if mass > 0.0 else None
        self._panel.plot.weight = weight
        self._panel.show_status(status, float(self._contact_view.normal_force.sum()), weight)
        self._panel.plot.refresh()
        self._panel.offer_pushes(self._simulator.takes_pushes)
        alone = self._mechanisms.shows and self._last_heard == -np.inf and next(self._whole_robots(), None) is None
        self._panel.offer_robots(not alone)
        for feature in self._features:
            self._try(feature.name, partial(feature.offer, alone))
        if self._said and time.monotonic() - self._said > 8.0:
            self._panel.say("")
            self._said = 0.0

    # What a person asks for -----------------------------------------------------------------------

    def _show(self, part: str, visible: bool) -> None:
        if part == "forces":
            self._contacts.show_forces = visible
        elif part == "cones":
            self._contacts.show_cones = visible
        elif part == "soles":
            self._soles.visible = visible
        elif part == "traces":
            self._traces.visible = visible
        elif part == "floor":
            self._floor_wanted = visible
            self._show_grid()
        elif part == FOLLOW:
            self._following.on = visible
        else:
            self._robots.show(part, visible)
            self._moved = True

    def _update_present(self) -> None:
        self._take_status()  # whose scene it stands in
        robot = next(self._whole_robots(), None)
        name, placements = ("", {}) if robot is None else (robot.drawing.description.name, robot.placements)
        self._present.update(name, placements, "" if self._status is None else self._status.scene)
        self._present.prefix = "" if robot is None else robot.prefix
        newest = None if robot is None else self._joint_inboxes[robot.prefix.rstrip("/")].newest()
        if newest is not None:
            self._present.joints = newest

    def destroy_node(self) -> None:
        """Close the page and leave the graph."""
        for feature in self._features:
            feature.close()
        self.page.close()
        super().destroy_node()


def _set_period(timer: Timer, period: float) -> None:
    """Let a timer go at a period [s] from now on."""
    period_ns = round(1e9 * period)
    if timer.timer_period_ns != period_ns:
        timer.timer_period_ns = period_ns
        timer.reset()  # else the old period is waited for once more


def _normal_forces(raw: bytes) -> dict[str, float]:
    """Return the normal force on each body [N] of contacts as they came."""
    return contact_view(deserialize_message(raw, ContactForces)).normal_force_by_body()


def _known_scenes() -> list[str]:
    """Return names of the stack's scenes, the plainest first."""
    names = list_resources("config/scenes", (".yaml", ".xml"))
    return sorted(names, key=lambda name: (name != PLAIN_SCENE, name)) or [PLAIN_SCENE]


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("viewer", ViewerNode)
