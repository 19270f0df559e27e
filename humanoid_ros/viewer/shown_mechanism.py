# SPDX-License-Identifier: Apache-2.0
"""One mechanism on the page: where its node says it is, and what is measured of it there."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pinocchio as pin
import viser

from humanoid_kinematics import LinkChange, MechanismSolver
from humanoid_kinematics.analysis.dexterity import dexterity
from humanoid_kinematics.analysis.recording import DISTANCE_COLOURS, MARGIN_COLOURS, SPEED_SPHERES, Channels, Recording
from humanoid_model.errors import InputError
from humanoid_ros.viewer.drawing.mechanism_drawing import PARTS, PLAIN, WIRE, Mark, MarkDrawing, MechanismDrawing
from humanoid_ros.viewer.drawing.mechanism_drawing import SPHERE as SPHERE_SHAPE
from humanoid_ros.viewer.drawing.scene_drawing import TraceDrawing, TraceLine
from humanoid_ros.viewer.drawing.shapes import RobotDrawing
from humanoid_ros.viewer.link_panel import LinkView
from humanoid_ros.viewer.mechanism_panel import DISTANCES, ELLIPSOIDS, MARGINS, PATHS, SHOWN, SPHERES, JointView

WINDOW = 10.0
"""Values are kept for so long [s]."""
SAMPLES = 300
"""Most points of a curve."""
SPHERE = 0.4
"""Radius of the largest speed sphere over the characteristic length."""
ELLIPSOID_TIME = 0.25
"""Half axes of a velocity ellipsoid are the ways in this time, for drives whose speeds have norm 1 [s]."""
MARK_COLOUR, ELLIPSOID_COLOUR = np.array([0.95, 0.6, 0.1]), np.array([0.2, 0.55, 0.9])
OPACITY = 0.45
PATH_COLOUR = (0.75, 0.1, 0.45)
PATH_TIME = 30.0
"""Paths are those of so long a time [s]."""
PATH_STEP = 0.01
"""Points of a path are so far apart at least, over the characteristic length."""
TURN, SLIDE = np.pi, 2.0
"""Range of a slider whose joint has no limits: an angle [rad], a share of the characteristic length."""


class ShownMechanism:
    """Keeps a copy of a mechanism that runs in a node, draws over its bodies and measures it.

    The copy is measured by the library's own functions; it never moves by itself.

    Args:
        scene: scene of the page.
        path: of the node above what is drawn.
        solver: of the copy.

    Attributes:
        plotted: whether its values are plotted; those that nobody looks at aren't measured.
    """

    def __init__(self, scene: viser.SceneApi, path: str, solver: MechanismSolver) -> None:
        self.solver = solver
        self.recording = Recording()
        self.open_loops: set[str] = set()
        self.joints: dict[str, float] = {}
        self._scene, self._path = scene, path
        self._shown = dict(SHOWN)
        self._own_channels: Channels | None = None
        self._channels = Channels(())
        self.plotted = False
        self._q = solver.q.copy()
        self._at_limit: list[str] = []
        self._ways: dict[str, list[tuple[float, np.ndarray]]] = {}
        self._painted: set[str] = set()
        self._marks = MarkDrawing(scene, f"{path}/marks")
        self._paths = TraceDrawing(scene, f"{path}/paths")
        self._rebuild()

    def _rebuild(self) -> None:
        robot = self.solver.mechanism.robot
        self._joint_of = {joint.child: joint for joint in robot.description.joints.values()}
        self._length = self.solver.length
        self._drawing = MechanismDrawing(self._scene, f"{self._path}/lines", self.solver.mechanism, 0.3 * self._length)
        for part in PARTS:
            self._drawing.show(part, self._shown[part])
        self._choose_channels()

    def replace(self, solver: MechanismSolver) -> None:
        """Go on with a copy that was edited, which has the same joints and loops."""
        self.solver = solver
        self.let_go(self.open_loops)
        self._drawing.remove()
        self._rebuild()

    def remove(self) -> None:
        """Take what is drawn off the page."""
        self._drawing.remove()
        self._marks.remove()
        self._paths.remove()

    # ---- what is shown ----

    def show(self, part: str, visible: bool) -> None:
        """Show or hide lines or marks."""
        self._shown[part] = visible
        if part in PARTS:
            self._drawing.show(part, visible)
        if part == PATHS:
            self._ways.clear()
        self._choose_channels()

    def show_channels(self, channels: Channels | None) -> None:
        """Show values as channels say, in the place of the presets; None brings the presets back."""
        self._own_channels = channels
        self._choose_channels()

    def _choose_channels(self) -> None:
        presets = []
        if self._shown[SPHERES]:
            presets.append(dataclasses.replace(SPEED_SPHERES, upper=1.0, shows=(0.0, SPHERE * self._length)))
        if self._shown[MARGINS]:
            presets.append(MARGIN_COLOURS)
        if self._shown[DISTANCES]:
            presets.append(DISTANCE_COLOURS)
        self._channels = self._own_channels if self._own_channels is not None else Channels(presets)

    def let_go(self, loops: Collection[str]) -> None:
        """Hold all loops but these."""
        if set(loops) == self.open_loops == {
            loop.name for loop in self.solver.mechanism.loops if not self.solver.holds(loop.name)
        }:
            return
        self.open_loops = set(loops)
        for loop in self.solver.mechanism.loops:
            if loop.name in self.open_loops:
                self.solver.open_loop(loop.name)
            elif not self.solver.holds(loop.name):
                self.solver.hold_loop(loop.name)

    def limit(self, change: LinkChange) -> None:
        """Limit the joint of a link as a change says that leaves its geometry as it is."""
        lower, upper = change.limits if change.limits is not None else (-np.inf, np.inf)
        self.solver.set_limits(self._joint_of[change.link].name, lower, upper)

    # ---- where it is ----

    def take(
        self,
        time: float,
        positions: Mapping[str, float],
        locked: Collection[str],
        at_limit: Sequence[str],
        more: Mapping[str, float],
    ) -> None:
        """Take where the mechanism is, and measure it there.

        Args:
            time: of the state [s]; one that isn't after the last is left out.
            positions: by joint [rad, m].
            locked: joints that are held.
            at_limit: joints that are at a limit.
            more: values that its node has measured.
        """
        solver, robot = self.solver, self.solver.mechanism.robot
        for joint, position in positions.items():
            if joint in robot.joint_names:
                self._q[robot.index_q(joint)] = position
        self.joints, self._at_limit = dict(positions), list(at_limit)
        solver.q = self._q.copy()
        solver.unlock(*robot.joint_names)
        solver.lock(*locked)
        solver.scaled_loop_jacobian()  # places its bodies
        looked_at = self.plotted or self._shown[PATHS] or bool(self._channels.channels)
        if not looked_at or (self.recording.times and time < self.recording.times[-1] - 1.0):
            self.recording = Recording()  # or another clock: the node was started again
        if not looked_at or (self.recording.times and time <= self.recording.times[-1]):
            return
        self.recording.add(time, solver, [tool.name for tool in self.solver.mechanism.tools], more)
        old = int(np.searchsorted(self.recording.times, time - WINDOW))
        for kept in (self.recording.times, self.recording.rows, self.recording.configurations):
            del kept[:old]

    def draw(self, placements: Mapping[str, pin.SE3], bodies: RobotDrawing) -> None:
        """Draw over the bodies of the mechanism, where its links are in the world."""
        base = placements.get(self.solver.mechanism.robot.description.root)
        if base is not None and not base.isApprox(self.solver.base, 1e-9):
            self.solver.move_base(base)
        self._drawing.update(placements, self.solver.locked, self._at_limit, self.open_loops)
        times = self.recording.times
        dt = times[-1] - times[-2] if len(times) > 1 else 0.0
        shown = self._channels.update(self.recording.rows[-1], dt) if times else {}
        marks, painted = self._ellipsoids(placements), set()
        for part in dict.fromkeys(name for name, on, _ in shown if on == "mark"):
            place = placements.get(self._link(part))
            if place is not None:
                size = float(shown.get((part, "mark", "size"), 0.1 * self._length))
                colour = np.asarray(shown.get((part, "mark", "colour"), MARK_COLOUR))
                opacity = 1.0 - float(shown.get((part, "mark", "transparency"), 1.0 - OPACITY))
                shape, texture = (str(shown.get((part, "mark", kind), "")) for kind in ("shape", "texture"))
                marks.append(Mark(place, np.full(3, size), colour, opacity, shape or SPHERE_SHAPE, texture or PLAIN))
        for part in dict.fromkeys(name for name, on, _ in shown if on == "part"):
            link = self._link(part)
            painted.add(link)
            look = {kind: value for (name, on, kind), value in shown.items() if (name, on) == (part, "part")}
            bodies.paint(
                link,
                np.asarray(look["colour"]) if "colour" in look else None,
                1.0 - float(look["transparency"]) if "transparency" in look else None,
                wire=look.get("texture") == WIRE,
            )
        for link in self._painted - painted:
            bodies.paint(link, None)
        self._painted = painted
        self._marks.update(marks)
        self._paths.set(self._tool_paths())

    def _tool_paths(self) -> dict[str, TraceLine]:
        """Return where tools were in the time that is kept, thinned out."""
        lines: dict[str, TraceLine] = {}
        if not self._shown[PATHS] or not self.recording.rows:
            return lines
        for tool in (tool.name for tool in self.solver.mechanism.tools):
            points = self._ways.setdefault(tool, [])
            last = self.recording.rows[-1]
            point = np.array([last[f"{axis}/{tool}"] for axis in "xyz"])
            if not points or np.linalg.norm(point - points[-1][1]) > PATH_STEP * self._length:
                points.append((self.recording.times[-1], point))
            while points and points[0][0] < self.recording.times[-1] - PATH_TIME:
                points.pop(0)
            if len(points) > 1:
                lines[tool] = TraceLine(np.array([place for _, place in points]), PATH_COLOUR)
        return lines

    def _link(self, part: str) -> str:
        """Return the link of a joint, a tool or a link."""
        joint = self.solver.mechanism.robot.description.joints.get(part)
        if joint is not None:
            return joint.child
        return next((tool.link for tool in self.solver.mechanism.tools if tool.name == part), part)

    def _ellipsoids(self, placements: Mapping[str, pin.SE3]) -> list[Mark]:
        marks: list[Mark] = []
        if not self._shown[ELLIPSOIDS]:
            return marks
        for tool in self.solver.mechanism.tools:
            if tool.link not in placements:
                continue
            try:
                axes, directions = dexterity(self.solver, tool.name, self.solver.mechanism.driven).velocity_ellipsoid()
            except InputError:
                continue  # at a singularity, where the drives don't decide how the tool moves
            half = np.zeros(3)
            half[: len(axes)] = ELLIPSOID_TIME * axes
            turn = np.linalg.qr(np.column_stack([directions, np.eye(3)]))[0][:, :3]
            turn[:, 2] = np.cross(turn[:, 0], turn[:, 1])
            at = placements[tool.link] * tool.placement
            marks.append(Mark(pin.SE3(turn, at.translation), half, ELLIPSOID_COLOUR, 0.35))
        return marks

    @property
    def q(self) -> np.ndarray:
        """(nq,) configuration that its node has told."""
        return self._q

    def place_of(self, hindrance: str) -> np.ndarray:
        """Return where a thing that is in the way is, (3,) in the world [m]; the base for one that has no place."""
        for joint in self.solver.mechanism.robot.joint_names:
            if hindrance.split()[-1] == joint:
                return np.array(self.solver.placement(self._link(joint)).translation)
        for loop in self.solver.mechanism.loops:
            if hindrance.split()[-1] == loop.name:
                return np.array((self.solver.placement(loop.link_a) * loop.placement_a).translation)
        return np.array(self.solver.base.translation)

    # ---- what the panel shows ----

    def curves(self, group: tuple[str, ...]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return times and values whose names begin as a group's, thinned out; of joints, those that have a slider."""
        recording = self.recording
        if not recording.rows:
            return np.zeros(0), {}
        names = [name for name in recording.rows[-1] if name.startswith(group)]
        if any(name.partition("/")[2] in self.movable for name in names):
            names = [name for name in names if name.partition("/")[2] in self.movable]
        chosen = slice(None, None, max(1, len(recording.times) // SAMPLES))
        rows = recording.rows[chosen]
        return np.array(recording.times[chosen]), {
            name: np.array([row.get(name, np.nan) for row in rows]) for name in names
        }

    @property
    def movable(self) -> tuple[str, ...]:
        """Joints that a slider moves: those with a motor, or all of one coordinate where no motor is known."""
        mechanism = self.solver.mechanism
        return mechanism.driven or tuple(
            joint for joint in mechanism.robot.joint_names if self._limits(joint) is not None
        )

    def joint_views(self) -> list[JointView]:
        """Return the joints that have a slider."""
        views = []
        for joint in self.movable:
            lower, upper = self._limits(joint) or (-np.inf, np.inf)
            prismatic = self._prismatic(joint)
            position = float(self._q[self.solver.mechanism.robot.index_q(joint)])
            room = SLIDE * self._length if prismatic else TURN
            lower = lower if np.isfinite(lower) else min(-room, position)
            upper = upper if np.isfinite(upper) else max(room, position)
            views.append(JointView(joint, prismatic, position, (lower, upper)))
        return views

    @property
    def links(self) -> tuple[str, ...]:
        """Links that a joint of one coordinate moves."""
        joints = self.solver.mechanism.robot.description.joints
        return tuple(joints[name].child for name in self.solver.mechanism.robot.joint_names if self._limits(name))

    def link_view(self, link: str) -> LinkView:
        """Return a link as its panel shows it."""
        mechanism = self.solver.mechanism
        joint = self._joint_of[link].name
        return LinkView(
            link,
            joint,
            self._prismatic(joint),
            mechanism.parameters.get(joint),
            float(self._q[mechanism.robot.index_q(joint)]),
            self._limits(joint) or (-np.inf, np.inf),
            joint in self.solver.locked,
            self._length,
        )

    def _prismatic(self, joint: str) -> bool:
        return self.solver.mechanism.robot.description.joints[joint].type == "prismatic"

    def _limits(self, joint: str) -> tuple[float, float] | None:
        """Return lowest and highest position of a joint of one coordinate."""
        mechanism = self.solver.mechanism
        of_model = mechanism.model.joints[mechanism.robot.parts.joint_ids[joint]]
        if of_model.nq != 1 or of_model.nv != 1 or joint not in mechanism.robot.description.joints:
            return None
        k = of_model.idx_v
        return float(self.solver.lower[k]), float(self.solver.upper[k])
