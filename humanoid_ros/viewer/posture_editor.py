# SPDX-License-Identifier: Apache-2.0
"""The posture editor of the embedded view: handles in, requests to `generate_posture`, a second robot that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import viser
from humanoid_stack.msg import Contact, ContactForces, Posture, Surface
from humanoid_stack.srv import GeneratePosture
from rclpy.node import Node
from rclpy.task import Future

from humanoid_model import Robot
from humanoid_model.errors import HumanoidError
from humanoid_ros.messages.conversions import array, duration, fill_pose
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.messages.stance_messages import WORLD
from humanoid_ros.node.parameter_declaration import declare_number, number
from humanoid_ros.viewer.controls import FeaturePanel, Later, show_folder
from humanoid_ros.viewer.drawing.drawn_messages import contact_view
from humanoid_ros.viewer.drawing.handles import PlaceHandles, snap
from humanoid_ros.viewer.drawing.posture_drawing import PostureDrawing, PostureView
from humanoid_ros.viewer.feature import Feature, View

FREE, HOLD, GRASP, TOUCH = "free", "holds", "grasps", "touches"
USES = (FREE, HOLD, GRASP, TOUCH)
"""What a place of the robot does: nothing, it pushes on what it is held on, it may also pull, it bears no force."""
NO_BALANCE, POLYGON, FORCES, POLYTOPE = "none", "support polygon", "contact forces", "force polytope"
NEAR, ANY, CENTRED, LEAST_TORQUE = "near the robot's", "any", "well balanced", "least torque"
PATH = "/posture"
BALANCES = {
    FORCES: GeneratePosture.Request.CONTACT_FORCES,
    POLYGON: GeneratePosture.Request.SUPPORT_POLYGON,
    POLYTOPE: GeneratePosture.Request.FORCE_POLYTOPE,
    NO_BALANCE: GeneratePosture.Request.NO_STABILITY,
}
"""How equilibrium is tested, the usual way first."""
CRITERIA = {
    NEAR: GeneratePosture.Request.NEAR_REFERENCE,
    ANY: GeneratePosture.Request.NO_CRITERION,
    CENTRED: GeneratePosture.Request.CENTRE_IN_WRENCHES,
    LEAST_TORQUE: GeneratePosture.Request.LEAST_TORQUE,
}
"""Which posture is wanted among those that do, the usual one first."""
PATIENCE = 2.0
"""Time beyond the time limit that an answer may take [s]."""


class PosturePanel(FeaturePanel):
    """Folder of the panel.

    Args:
        gui: GUI of the page.

    Attributes:
        folder: All of it.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self._gui = gui
        self._shown = False
        self._uses: dict[str, viser.GuiDropdownHandle[str]] = {}
        self._use: Callable[[str, str], None] = lambda place, use: None
        self.folder = gui.add_folder("Posture", expand_by_default=False)
        with self.folder:
            self._show = gui.add_button("Show posture", icon=viser.Icon.WALK, hint="A second robot follows handles")
            self._reset = gui.add_button("Reset handles", icon=viser.Icon.REFRESH, color="gray", visible=False)
            self._result = gui.add_html("", visible=False)
            self._places = gui.add_folder("Places", visible=False)
            self._others = gui.add_folder("More places", visible=False, expand_by_default=False)
            self._balance = gui.add_dropdown("Balance", tuple(BALANCES), visible=False)
            self._criterion = gui.add_dropdown("Posture", tuple(CRITERIA), visible=False)
            self._torques = gui.add_checkbox("Torque limits", False, visible=False)
            self._collisions = gui.add_checkbox("Avoid collisions", False, visible=False)

    def connect(self, editor: PostureEditor, later: Later) -> None:
        """Let what a person does be done later."""
        self._use = lambda place, use: later(editor.use, place, use)
        self._show.on_click(lambda _: later(editor.show, not self._shown))
        self._reset.on_click(lambda _: later(editor.reset))
        for control in (self._balance, self._criterion, self._torques, self._collisions):
            control.on_update(lambda _: later(editor.seek, *self.options))

    @property
    def options(self) -> tuple[str, str, bool, bool]:
        """How postures are looked for, see :meth:`PostureEditor.seek`."""
        return self._balance.value, self._criterion.value, bool(self._torques.value), bool(self._collisions.value)

    @property
    def shown(self) -> bool:
        """Whether the editor is shown."""
        return self._shown

    @shown.setter
    def shown(self, shown: bool) -> None:
        self._shown = shown
        self._show.label = "Hide posture" if shown else "Show posture"
        options = self._balance, self._criterion, self._torques, self._collisions
        for control in (self._reset, self._places, *options):
            control.visible = shown
        self._others.visible = shown and bool(self._uses)
        self._result.visible = shown and bool(self._result.content)

    def set_places(self, first: Sequence[str], others: Sequence[str]) -> None:
        """Offer these places in place of the last ones.

        Args:
            first: Names of the places that are used most, feet and hands.
            others: Names of the rest, in a folder of their own that is closed at first.
        """
        for control in self._uses.values():
            control.remove()
        self._uses = {}
        for folder, names in ((self._places, first), (self._others, others)):
            with folder:
                for name in names:
                    control = self._gui.add_dropdown(name.replace("_", " "), USES)
                    control.on_update(partial(self._choose_use, name))
                    self._uses[name] = control
        self.shown = self._shown

    def _choose_use(self, place: str, event: viser.GuiEvent) -> None:
        self._use(place, event.target.value)

    def set_use(self, place: str, use: str) -> None:
        """Show what a place does."""
        self._uses[place].value = use  # type: ignore[misc]  # viser's setter is real

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell what came of it, where the editor is shown."""
        super().say(message, good)
        self._result.visible = self._shown and bool(message)


class PostureEditor(Feature):
    """Looks for the posture that the handles ask for, again and again while they move.

    One request is under way at a time, and the next one tells the newest state of the handles: a person who drags never
    waits for postures that are out of date. Everything but the handles' own moves happens in the node's executor.
    """

    name = "posture"

    @staticmethod
    def declare_parameters(node: Node) -> None:
        """Declare times and sizes."""
        for name, default, low, high, meaning in (
            ("posture_rate", 10.0, 0.1, 60.0, "Largest rate of posture requests while handles are moved [Hz]"),
            ("posture_time_limit", 2.0, 0.01, 600.0, "Wall-clock time that the search of a posture may take [s]"),
        ):
            declare_number(node, name, default, low, high, meaning, read_only=True)

    def __init__(self, view: View) -> None:
        """Add the folder."""
        node, scene, panel = view.node, view.scene, PosturePanel(view.gui)
        self._page_scene = scene
        self._panel = panel
        self._present = view.present
        self._client = node.create_client(GeneratePosture, "generate_posture")
        self._period = 1.0 / number(node, "posture_rate")
        self._time_limit = number(node, "posture_time_limit")
        self._scales = number(node, "cone_scale"), number(node, "arrow_scale")
        self._root = scene.add_frame(PATH, show_axes=False, visible=False)
        self._handles = PlaceHandles(scene, f"{PATH}/handles")
        self._drawing: PostureDrawing | None = None
        self._robot: Robot | None = None
        self._robot_name = ""
        self._scene_name = ""
        self._uses: dict[str, str] = {}
        self._balance, self._criterion, self._torque_limits, self._collisions = panel.options
        self._placed = False
        self._found: Posture | None = None
        self._wanted = 0
        self._asked: tuple[int, int] | None = None
        self._pending: Future | None = None
        self._last_sent = -np.inf
        panel.connect(self, view.later)

    def offer(self, alone: bool) -> None:
        """Show the folder where there may be a robot."""
        show_folder(self._panel.folder, not alone)

    def show(self, shown: bool) -> None:
        """Show the posture editor, or put it away."""
        self._show(shown)
        self._wanted += 1

    def reset(self) -> None:
        """Put handles and uses back to how the robot stands."""
        self._reset()
        self._wanted += 1

    def use(self, place: str, use: str) -> None:
        """Use a place of the robot as one of USES; the panel says again what a reset has set."""
        if self._uses.get(place) != use:
            self._use(place, use)
            self._wanted += 1

    def seek(self, balance: str, criterion: str, torque_limits: bool, collisions: bool) -> None:
        """Look for postures in another way.

        Args:
            balance: one of BALANCES.
            criterion: one of CRITERIA.
            torque_limits: whether joint torques stay within their limits.
            collisions: whether collisions are avoided.
        """
        self._balance, self._criterion = balance, criterion
        self._torque_limits, self._collisions = torque_limits, collisions
        self._wanted += 1

    def update(self, now: float) -> None:
        """Ask for the posture that the handles want, if it isn't asked for yet and the last one is there.

        Args:
            now: Monotonic time [s].
        """
        if self._present.name != self._robot_name:
            self._robot_name = self._present.name
            self._leave_robot()
        if self._present.scene_name != self._scene_name:  # handles near its surfaces are meant for them
            self._scene_name = self._present.scene_name
            self._wanted += 1
        if not self._panel.shown or self._robot is None:
            return
        if not self._placed:
            self._reset()
            if not self._placed:
                return
        if self._pending is not None and now - self._last_sent > self._time_limit + PATIENCE:
            # Who was asked is gone, or was started again: whoever is there now may be asked.
            self._client.remove_pending_request(self._pending)
            self._pending = self._asked = None
        state = self._wanted, self._handles.moves
        if state == self._asked or self._pending is not None or now - self._last_sent < self._period:
            return
        if not self._client.service_is_ready():
            self._panel.say(f"No node offers {self._client.srv_name}.")
            return
        self._asked, self._last_sent = state, now
        self._pending = self._client.call_async(self.request())
        self._pending.add_done_callback(self._on_answer(self._robot, self._balance))

    # Requests -----------------------------------------------------------------------------------------------------

    def request(self) -> GeneratePosture.Request:
        """Return the request that handles and panel mean now; a robot has to be there."""
        assert self._robot is not None
        request = GeneratePosture.Request(
            robot=self._robot_name,
            scene=self._scene_name if self._present.scene is not None else "",
            stability=BALANCES[self._balance],
            criterion=CRITERIA[self._criterion],
            torque_limits=self._torque_limits,
            collisions=self._collisions,
            time_limit=duration(self._time_limit),
        )
        for place in self._handles.names:
            contact, surface = self._contact(place)
            request.stance.contacts.append(contact)
            if surface is not None:
                request.surfaces.append(surface)
        request.reference = self._present.posture
        request.initial = request.reference if self._found is None else self._found
        return request

    def _contact(self, place: str) -> tuple[Contact, Surface | None]:
        """Return contact that a handle means: on a surface of the scene when it is near one, else on one of its own."""
        use = self._uses[place]
        contact = Contact(location=place, bilateral=use == GRASP)
        contact.kind = Contact.RELEASED if use == TOUCH else Contact.FIXED
        placement = self._handles.placement(place)
        scene = self._present.scene
        snapped = None if scene is None else snap(placement, scene)
        if snapped is not None:
            contact.surface = snapped.surface.name
            contact.x, contact.y, contact.theta = snapped.x, snapped.y, snapped.theta
            return contact, None
        contact.surface = f"handle of {place}"
        surface = Surface(name=contact.surface, body=WORLD)
        fill_pose(surface.pose, placement)
        return contact, surface

    # Answers ------------------------------------------------------------------------------------------------------

    def _on_answer(self, robot: Robot, balance: str) -> Callable[[Future], None]:
        def draw(future: Future) -> None:
            self._pending = None
            answer = future.result()
            if robot is self._robot and self._panel.shown and answer is not None:
                self._draw(robot, balance, answer)

        return draw

    def _draw(self, robot: Robot, balance: str, answer: Any) -> None:
        assert self._drawing is not None
        report, posture = answer.report, answer.posture
        if not answer.success and not posture.posture.joint_names:
            self._panel.say(answer.message, False)
            self._drawing.update(None)
            return
        if answer.success:
            self._found = posture.posture
        q = configuration(posture.posture, robot, "posture")
        self._drawing.update(
            PostureView(
                placements=robot.link_placements(q),
                contacts=contact_view(ContactForces(contacts=posture.forces)),
                centre_of_mass=array(posture.centre_of_mass),
                support_polygon=np.array([array(vertex) for vertex in answer.support_polygon]).reshape(-1, 3),
                found=answer.success,
            )
        )
        figures = f"{1e3 * report.time:.0f} ms, {report.iterations} iterations of {report.solver}"
        if answer.success:
            unit = "m" if balance == POLYGON else "N"
            margin = "" if balance == NO_BALANCE else f", stability margin {posture.stability_margin:.3g} {unit}"
            self._panel.say(f"Found: {figures}{margin}.", True)
        else:
            self._panel.say(f"{answer.message} ({figures})", False)

    # Panel --------------------------------------------------------------------------------------------------------

    def _show(self, shown: bool) -> None:
        self._panel.shown = shown
        self._root.visible = shown
        if not shown:
            return
        if self._robot is None:
            self._load_robot()
            self._reset()

    def _load_robot(self) -> None:
        try:
            self._robot = self._present.robot
        except HumanoidError as error:
            self._panel.say(f"The places of the robot on the page aren't known: {error}")
            return
        places = self._robot.contacts.values()
        feet = [place.name for place in places if place.support]
        hands = [place.name for place in places if not place.support and "hand" in place.name]
        others = [place.name for place in places if place.name not in (*feet, *hands)]
        self._panel.set_places([*feet, *hands], others)
        self._drawing = PostureDrawing(self._page_scene, PATH, self._robot.description, *self._scales)

    def _leave_robot(self) -> None:
        """Forget the robot that left the page; the next one is read when it is needed."""
        self._robot = None
        self._found = None
        self._handles.clear()
        self._uses = {}
        self._panel.set_places((), ())
        if self._drawing is not None:
            self._drawing.remove()
            self._drawing = None
        if self._panel.shown:
            self._show(True)

    def _reset(self) -> None:
        """Feet hold, all else is free, handles are where the robot's places are, once that is known."""
        self._found = None
        if self._robot is None:
            return
        self._handles.clear()
        self._placed = self._present.stands
        if not self._placed:
            self._panel.say("Nothing tells yet how the robot stands.")
            return
        for place in self._robot.contacts.values():
            use = HOLD if place.support else FREE
            self._panel.set_use(place.name, use)
            self._use(place.name, use)

    def _use(self, name: str, use: str) -> None:
        if self._robot is None or name not in self._robot.contacts:
            return
        self._uses[name] = use
        if use == FREE:
            self._handles.remove(name)
        elif name not in self._handles.names:
            place = self._robot.contacts[name]
            # Where it is on the posture that was found last, else on the robot itself.
            self._handles.add(name, self._present.placement(place, self._found), place.patch)
