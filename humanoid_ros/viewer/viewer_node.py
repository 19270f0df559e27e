# SPDX-License-Identifier: Apache-2.0
"""The viewer node: a web page that shows what ROS says of a simulation or of a real robot."""

from __future__ import annotations

import queue
import signal
import threading
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pinocchio as pin
import rclpy
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, TransformStamped, Vector3
from humanoid_stack.msg import (
    ContactForces,
    SimulationStatus,
    SolverStatus,
)
from humanoid_stack.srv import ApplyWrench, GeneratePosture, StepSimulation
from humanoid_stack.srv import LoadScene as LoadSceneService
from rclpy.client import Client
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from humanoid_model.errors import InputError
from humanoid_model.resources import list_resources
from humanoid_model.scene import Camera as SceneCamera
from humanoid_model.urdf import read_urdf
from humanoid_ros.messages.scene_view import read_view
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
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.drawing.balance_drawing import BalanceDrawing, centre_of_mass
from humanoid_ros.viewer.drawing.coloured_mesh_drawing import ColouredMeshDrawing
from humanoid_ros.viewer.drawing.contact_drawing import (
    ARROW_SCALE,
    CONE_SCALE,
    ContactDrawing,
    ContactView,
)
from humanoid_ros.viewer.drawing.robot_drawing import RobotDrawing
from humanoid_ros.viewer.drawing.scene_drawing import SceneDrawing
from humanoid_ros.viewer.drawing.trace_drawing import TraceDrawing
from humanoid_ros.viewer.drawing.viewer_contacts import contact_view
from humanoid_ros.viewer.drawing.viewer_markers import coloured_meshes, draw_markers, trace_lines
from humanoid_ros.viewer.gait_studio import GaitStudio
from humanoid_ros.viewer.handles.posture_editor import PostureEditor
from humanoid_ros.viewer.handles.pull_handle import PullHandle, Spring
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.panels.panel import Panel
from humanoid_ros.viewer.panels.request import (
    CancelGait,
    GenerateGait,
    LoadScene,
    Pause,
    PickLink,
    Push,
    Request,
    Reset,
    ResetPosture,
    SetPostureOptions,
    Show,
    ShowGait,
    ShowPosture,
    Step,
    UsePlace,
)
from humanoid_ros.viewer.panels.status_text import SimulationView
from humanoid_ros.viewer.transform_tree import TransformTree

LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
TRANSFORMS = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
STATIC_TRANSFORMS = QoSProfile(
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

PANEL_PERIOD = 0.2
"""Period of the panel's text and plot [s]: more is not readable."""
GRAPH_PERIOD = 1.0
"""Period of looking for new robots among the topics [s]."""
BODIES_SIZE = 0.6
"""Part of the extent of a scene without robots that fills the picture: what lies flat is seen from the side."""
PLAIN_SCENE = "stand"
SOLVER_WORDS = {
    SolverStatus.CONVERGED: "converged",
    SolverStatus.MAX_ITERATIONS: "out of iterations",
    SolverStatus.TIME_BUDGET: "out of time",
    SolverStatus.NO_CONTACT: "no contact",
    SolverStatus.FAILED: "failed",
    SolverStatus.APPROXIMATE: "approximate law",
}


@dataclass
class _Robot:
    """A robot on the page and what is needed to place it.

    Attributes:
        prefix: What precedes its links' names in /tf and in the simulator's body names; empty
            when the robot is alone.
    """

    prefix: str
    drawing: RobotDrawing
    balance: BalanceDrawing
    text: str
    placements: dict[str, pin.SE3] = field(default_factory=dict)


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
        self.page = Page(text(self, "host"), whole(self, "port"))
        self.get_logger().info(f"the page is at {self.page.address}")
        server = self.page.server
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._panel = Panel(
            server.gui,
            self._requests.put,
            texts(self, "scenes"),
            number(self, "plot_window"),
        )
        self._scene = SceneDrawing(server.scene)
        self._contacts = ContactDrawing(server.scene, number(self, "cone_scale"), number(self, "arrow_scale"))
        self._soles = ColouredMeshDrawing(server.scene)
        self._sole_bytes: bytes | None = None
        self._traces = TraceDrawing(server.scene)
        self._pull = PullHandle(server.scene)
        server.on_client_disconnect(lambda client: self._pull.client_left(client.client_id))
        self._robots: dict[str, _Robot] = {}
        self._stamp = 0.0
        self._descriptions: dict[str, str] = {}
        self._tree = TransformTree(text(self, "fixed_frame"))
        self._fresh: dict[str, TransformStamped] = {}
        self._contact_view = ContactView.empty()
        self._contact_bytes: bytes | None = None
        self._shown = {"robot": True, "balance": True, "floor": True}
        self._status: SimulationStatus | None = None
        self._last_heard = -np.inf
        self._aimed = False
        self._view: SceneCamera | None = None
        self._picked = ""
        self._pulling: Future | None = None
        self._pull_last: tuple[float, np.ndarray] | None = None
        self._said = 0.0

        self.create_subscription(TFMessage, "/tf", self._on_transforms, TRANSFORMS)
        self.create_subscription(TFMessage, "/tf_static", self._on_static_transforms, STATIC_TRANSFORMS)
        # Contacts come as bytes: of the many that come between two drawings, one is decoded.
        self.create_subscription(ContactForces, "contacts", self._on_contacts, LATEST, raw=True)
        self.create_subscription(MarkerArray, "sole_markers", self._on_soles, LATEST, raw=True)
        self.create_subscription(MarkerArray, "traces", self._on_traces, LATEST)
        self.create_subscription(MarkerArray, "scene_markers", self._on_scene, LATCHED)
        self.create_subscription(MarkerArray, "scene_view", self._on_view, LATCHED)
        self.create_subscription(SimulationStatus, "status", self._on_status, LATCHED)
        self._callers: dict[type, Client] = {
            Pause: self.create_client(SetBool, "pause"),
            Step: self.create_client(StepSimulation, "step"),
            Reset: self.create_client(Trigger, "reset"),
            LoadScene: self.create_client(LoadSceneService, "load_scene"),
            Push: self.create_client(ApplyWrench, "apply_wrench"),
        }
        self._editor = PostureEditor(
            server.scene,
            self._panel.posture,
            self.create_client(GeneratePosture, "generate_posture"),
            period=1.0 / number(self, "posture_rate"),
            time_limit=number(self, "posture_time_limit"),
            cone_scale=number(self, "cone_scale"),
            arrow_scale=number(self, "arrow_scale"),
        )
        self._studio = GaitStudio(
            self,
            self.page,
            self._panel.gait,
            arrow_scale=number(self, "gait_arrow_scale"),
            time_limit=number(self, "gait_time_limit"),
        )
        self.create_timer(1.0 / number(self, "rate"), self._draw)
        self.create_timer(PANEL_PERIOD, self._refresh_panel)
        self.create_timer(GRAPH_PERIOD, self._find_robots)
        self._find_robots()

    # Parameters -----------------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        words, bounded = partial(declare_text, self, read_only=True), partial(declare_number, self, read_only=True)
        words("host", "127.0.0.1", "Address the page listens on; the default is this machine only")
        declare_whole(self, "port", 8080, 0, 65535, "TCP port of the page; 0 takes any free one", read_only=True)
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
        bounded("posture_rate", 10.0, 0.1, 60.0, "Largest rate of posture requests while handles are moved [Hz]")
        bounded("posture_time_limit", 2.0, 0.01, 600.0, "Wall-clock time that the search of a posture may take [s]")
        bounded("gait_arrow_scale", 0.0006, 1e-6, 1.0, "Length of an arrow under a gait's feet per force [m/N]")
        bounded("gait_time_limit", 120.0, 0.1, 86400.0, "Wall-clock time that the search of a gait may take [s]")

    # Messages in ----------------------------------------------------------------------------------

    def _find_robots(self) -> None:
        """Listen to every `robot_description` at or below this node's namespace.

        A robot whose description nobody publishes any more left the scene, if there is a simulator
        to say so; a simulator that is silent may come back with it.
        """
        if self._simulator_is_heard():
            for topic, prefix in self._descriptions.items():
                if prefix in self._robots and self.count_publishers(topic) == 0:
                    self._remove_robot(prefix)
        base = self.get_namespace().rstrip("/")
        for topic, types in self.get_topic_names_and_types():
            if "std_msgs/msg/String" not in types or not topic.startswith(f"{base}/"):
                continue
            prefix, _, name = topic[len(base) + 1 :].rpartition("/")
            if name != "robot_description" or topic in self._descriptions:
                continue
            self._descriptions[topic] = prefix
            self.create_subscription(String, topic, partial(self._on_description, prefix), LATCHED)
            joints = topic.removesuffix(name) + "joint_states"
            self.create_subscription(JointState, joints, partial(self._on_joints, prefix), LATEST, raw=True)

    def _remove_robot(self, prefix: str) -> None:
        robot = self._robots.pop(prefix)
        robot.drawing.remove()
        robot.balance.remove()
        self._aimed = False

    def _simulator_is_heard(self) -> bool:
        return time.monotonic() - self._last_heard <= number(self, "silence")

    def _on_description(self, prefix: str, message: String) -> None:
        old = self._robots.get(prefix)
        if old is not None and old.text == message.data:
            return
        try:
            description = read_urdf(message.data)
        except InputError as error:
            self._complain(f"robot_description can't be read: {error}")
            return
        if old is not None:
            self._remove_robot(prefix)
        name = prefix or description.name
        scene = self.page.server.scene
        drawing = RobotDrawing(scene, name, description)
        for problem in drawing.problems:
            self._complain(problem)
        robot = _Robot(f"{prefix}/" if prefix else "", drawing, BalanceDrawing(scene, name), message.data)
        drawing.visible = self._shown["robot"]
        robot.balance.visible = self._shown["balance"]
        self._robots[prefix] = robot
        self._aimed = False

    def _on_static_transforms(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._fresh[transform.child_frame_id] = transform

    def _on_transforms(self, message: TFMessage) -> None:
        self._on_static_transforms(message)
        if message.transforms:
            stamp = message.transforms[-1].header.stamp
            self._stamp = stamp.sec + 1e-9 * stamp.nanosec

    def _on_contacts(self, message: bytes) -> None:
        self._contact_bytes = message

    def _take_contacts(self) -> None:
        """Decode the newest contacts for drawing and plot."""
        if self._contact_bytes is None:
            return
        message = deserialize_message(self._contact_bytes, ContactForces)
        self._contact_bytes = None
        self._contact_view = contact_view(message)
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self._panel.plot.history.append(stamp, self._contact_view.normal_force_by_body())

    def _on_soles(self, message: bytes) -> None:
        self._sole_bytes = message

    def _take_soles(self) -> None:
        """Decode the newest soles for drawing."""
        if self._sole_bytes is None:
            return
        message = deserialize_message(self._sole_bytes, MarkerArray)
        self._sole_bytes = None
        try:
            self._soles.set(coloured_meshes(message))
        except InputError as error:
            self._complain(f"sole_markers: {error}")

    def _on_traces(self, message: MarkerArray) -> None:
        self._traces.set(trace_lines(message))

    def _on_joints(self, prefix: str, message: bytes) -> None:
        robot = self._robots.get(prefix)
        if robot is not None and robot is self._first_robot():
            self._editor.set_joints(message)

    def _first_robot(self) -> _Robot | None:
        """The robot that was on the page first, which is the one whose postures are looked for."""
        return next(iter(self._robots.values()), None)

    def _on_scene(self, message: MarkerArray) -> None:
        for problem in draw_markers(self._scene, message):
            self._complain(problem)
        if not self._robots:
            self._aimed = False  # another scene, maybe
        self._show_grid()

    def _on_view(self, message: MarkerArray) -> None:
        try:
            camera, lights = read_view(message)
        except InputError as error:
            self._complain(str(error))
            return
        self.page.lights.set(lights)
        if camera != self._view:
            self._view = camera
            self._aimed = False

    def _show_grid(self) -> None:
        """Show the grid on a floor at height 0, and where no scene is told."""
        fits = len(self._scene) == 0 or self._scene.has_level_ground(self._tree.root)
        self.page.show_floor = self._shown["floor"] and fits

    def _on_status(self, message: SimulationStatus) -> None:
        self._status = message
        self._last_heard = time.monotonic()

    def _complain(self, problem: str) -> None:
        self.get_logger().warning(problem)
        self._say(problem)

    def _say(self, message: str) -> None:
        self._panel.say(message)
        self._said = time.monotonic()

    # Drawing --------------------------------------------------------------------------------------

    def _draw(self) -> None:
        self._answer_requests()
        fresh, self._fresh = self._fresh, {}
        for child, stamped in fresh.items():
            move, turn = stamped.transform.translation, stamped.transform.rotation
            pose = np.array([move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w])
            norm = np.linalg.norm(pose[3:])
            if not np.isfinite(norm) or norm == 0.0 or not np.isfinite(pose).all():
                continue
            pose[3:] /= norm
            self._tree.set(stamped.header.frame_id.lstrip("/"), child.lstrip("/"), pin.XYZQUATToSE3(pose))
        self._take_contacts()
        with self.page.server.atomic():
            for robot in self._robots.values():
                if fresh:
                    self._place(robot)
                com = centre_of_mass(robot.drawing.description, robot.placements)
                robot.balance.update(com, self._contacts_of(robot))
            self._contacts.update(self._contact_view)
            self._scene.update(self._tree.placement)
            self._take_soles()
            self._soles.update(self._tree.placement)
            self._update_pull()
            self._update_editor()
            self._studio.update(time.monotonic())
        if not self._aimed:
            self._aim()

    def _place(self, robot: _Robot) -> None:
        for link in robot.drawing.description.links:
            placement = self._tree.placement(robot.prefix + link)
            if placement is not None:
                robot.placements[link] = placement
        robot.drawing.update(robot.placements)

    def _contacts_of(self, robot: _Robot) -> ContactView:
        """The contacts that a robot stands on."""
        if not robot.prefix:
            return self._contact_view
        return self._contact_view.of_robot(robot.prefix.rstrip("/"))

    def _aim(self) -> None:
        """Put the camera where the scene has it.

        Without one it looks at the first robot, once all of it is placed, or at the bodies of a scene without robots.
        """
        for robot in self._robots.values():
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

    def _look_at(self, extent: np.ndarray, part: float) -> None:
        """See a part of a box, (2, 3) lowest and highest corner [m], or what the scene's camera sees."""
        centre = extent.mean(axis=0)
        if self._view is not None:
            self.page.look_through(Camera.placed(self._view.placement, centre))
        else:
            height = max(part * float(np.ptp(extent, axis=0).max()), 0.1)
            self.page.look_through(Camera.framing(centre, height))

    def _refresh_panel(self) -> None:
        status = self._status if self._simulator_is_heard() else None
        mass = sum(robot.drawing.description.total_mass for robot in self._robots.values())
        weight = mass * number(self, "gravity") if mass > 0.0 else None
        self._panel.plot.weight = weight
        self._panel.show_status(
            None if status is None else simulation_view(status),
            float(self._contact_view.normal_force.sum()),
            weight,
        )
        self._panel.plot.refresh()
        if self._said and time.monotonic() - self._said > 8.0:
            self._panel.say("")
            self._said = 0.0

    # What a person asks for -----------------------------------------------------------------------

    def _answer_requests(self) -> None:
        while True:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                return
            if isinstance(request, Show):
                self._show(request)
            elif isinstance(request, PickLink):
                self._picked = request.link
                self._pull.release()
            elif isinstance(request, ShowPosture | ResetPosture | UsePlace | SetPostureOptions):
                self._editor.answer(request)
            elif isinstance(request, GenerateGait | CancelGait | ShowGait):
                self._studio.answer(request)
            else:
                self._call(request)

    def _show(self, request: Show) -> None:
        if request.part == "forces":
            self._contacts.show_forces = request.visible
        elif request.part == "cones":
            self._contacts.show_cones = request.visible
        elif request.part == "soles":
            self._soles.visible = request.visible
        elif request.part == "traces":
            self._traces.visible = request.visible
        elif request.part == "floor":
            self._shown["floor"] = request.visible
            self._show_grid()
        else:
            self._shown[request.part] = request.visible
            for robot in self._robots.values():
                robot.drawing.visible = self._shown["robot"]
                robot.balance.visible = self._shown["balance"]

    def _call(self, request: Pause | Step | Reset | LoadScene | Push) -> None:
        if isinstance(request, Pause):
            message = SetBool.Request(data=request.paused)
        elif isinstance(request, Step):
            message = StepSimulation.Request(steps=request.steps)
        elif isinstance(request, LoadScene):
            message = LoadSceneService.Request(scene=request.scene)
        elif isinstance(request, Push):
            message = wrench_request(request.body, request.force, None, request.duration)
        else:
            message = Trigger.Request()
        self._send(self._callers[type(request)], message)

    def _send(self, client: Client, message: object) -> Future | None:
        """Call a service; its complaint, or its absence, is said on the page."""
        if not client.service_is_ready():
            self._say(f"No simulator offers {client.srv_name}.")
            return None

        def on_answer(future: Future) -> None:
            answer = future.result()
            if answer is not None and not answer.success:
                self._say(f"{client.srv_name}: {answer.message}")

        future = client.call_async(message)
        future.add_done_callback(on_answer)
        return future

    def _update_pull(self) -> None:
        """Let the handle ride on the picked link, and pull the link while it is dragged."""
        found = self._find_link(self._picked)
        if found is None:
            self._pull.update(None)
            self._pull_last = None
            return
        body, point, mass = found
        self._pull.update(point)
        now = self._stamp
        last, self._pull_last = self._pull_last, (now, point)
        if not self._pull.dragging or last is None:
            return
        span = now - last[0]
        if not 0.0 < span < 0.5:
            return  # paused, or reset
        if self._pulling is not None and not self._pulling.done():
            self._pull_last = last  # the next call makes up for this one
            return
        spring = Spring(number(self, "pull_stiffness"), mass, number(self, "pull_max_force"))
        force = spring.force(self._pull.position, point, (point - last[1]) / span)
        x, y, z = force.tolist()
        self._pulling = self._send(self._callers[Push], wrench_request(body, (x, y, z), point, span))

    def _update_editor(self) -> None:
        robot = self._first_robot()
        if robot is None:
            self._editor.set_robot("", {})
        else:
            self._editor.set_robot(robot.drawing.description.name, robot.placements)
        self._editor.set_scene("" if self._status is None else self._status.scene)
        self._editor.update(time.monotonic())

    def _find_link(self, body: str) -> tuple[str, np.ndarray, float] | None:
        """Name, centre of mass (world) and mass of a link with mass, if it is placed."""
        for robot in self._robots.values():
            if not body.startswith(robot.prefix):
                continue
            link = robot.drawing.description.links.get(body[len(robot.prefix) :])
            if link is None or link.inertial is None or link.inertial.mass <= 0.0:
                continue
            placement = robot.placements.get(link.name)
            if placement is not None:
                com = placement.act(link.inertial.placement_link_com.translation)
                return body, com, link.inertial.mass
        return None

    def destroy_node(self) -> None:
        """Close the page and leave the graph."""
        self.page.close()
        super().destroy_node()


def _known_scenes() -> list[str]:
    """Names of the stack's scenes, the plainest first."""
    names = list_resources("config/scenes", (".yaml", ".xml"))
    return sorted(names, key=lambda name: (name != PLAIN_SCENE, name)) or [PLAIN_SCENE]


def simulation_view(status: SimulationStatus) -> SimulationView:
    """A status message in the panel's terms."""
    solver = status.solver
    words = SOLVER_WORDS.get(solver.status, f"status {solver.status}")
    if solver.iterations:
        words += f", {solver.iterations} iteration{'s' if solver.iterations > 1 else ''}"
    return SimulationView(
        scene=status.scene,
        time=status.time,
        paused=status.paused,
        pause_reason=status.pause_reason,
        real_time_factor=status.real_time_factor,
        step_seconds=status.step_seconds,
        kinetic_energy=status.kinetic_energy,
        potential_energy=status.potential_energy,
        solver=f"{solver.method}: {words}" if solver.method else words,
        solver_ok=solver.status in (SolverStatus.CONVERGED, SolverStatus.NO_CONTACT),
    )


def wrench_request(
    body: str, force: tuple[float, float, float], point: np.ndarray | None, duration: float
) -> ApplyWrench.Request:
    """Request for a force on a body, at a point or at its centre of mass (None)."""
    x, y, z = force
    request = ApplyWrench.Request(body=body, at_point=point is not None)
    request.wrench.force = Vector3(x=x, y=y, z=z)
    if point is not None:
        request.point = Point(x=float(point[0]), y=float(point[1]), z=float(point[2]))
    seconds, nanoseconds = divmod(round(1e9 * duration), 10**9)
    request.duration = Duration(sec=seconds, nanosec=nanoseconds)
    return request


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM.

    Signals only set a flag: rclpy's own handlers would end the context in the middle of taking a message.
    """
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    stop = threading.Event()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: stop.set())
    try:
        node = ViewerNode()
    except (InputError, ParameterException) as error:
        rclpy.logging.get_logger("viewer").fatal(str(error))
        rclpy.try_shutdown()
        return 1
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    node.destroy_node()
    rclpy.try_shutdown()
    return 0
