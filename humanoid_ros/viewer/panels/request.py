# SPDX-License-Identifier: Apache-2.0
"""What a person asks for on the page. The node turns each into a service call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from humanoid_kinematics import LinkChange


@dataclass(frozen=True)
class Pause:
    """Stop simulated time, or let it run."""

    paused: bool


@dataclass(frozen=True)
class Step:
    """Advance a paused simulation by some steps."""

    steps: int


@dataclass(frozen=True)
class Reset:
    """Start the scene anew."""


@dataclass(frozen=True)
class LoadScene:
    """Replace the scene by another, given by name or path."""

    scene: str


@dataclass(frozen=True)
class Push:
    """Apply a force to a body's centre of mass.

    Attributes:
        body: Link or free body, as the simulator names it.
        force: (x, y, z) in the world frame [N].
        duration: Simulated time [s].
    """

    body: str
    force: tuple[float, float, float]
    duration: float


@dataclass(frozen=True)
class PickLink:
    """Put the pulling handle on a link; an empty name takes it away."""

    link: str


@dataclass(frozen=True)
class Show:
    """Show or hide a part of the drawing: robot, forces, cones, balance, soles, traces or floor.

    Of the part `panel.FOLLOW`, whether the camera goes with the robot.
    """

    part: str
    visible: bool


@dataclass(frozen=True)
class ShowPosture:
    """Show the posture editor, or put it away."""

    shown: bool


@dataclass(frozen=True)
class ResetPosture:
    """Put handles and uses of the posture editor back to how the robot stands."""


@dataclass(frozen=True)
class UsePlace:
    """Use a place of the robot in the posture that is looked for.

    Attributes:
        place: Name of a contact location.
        use: What it does, one of `posture_panel.USES`.
    """

    place: str
    use: str


@dataclass(frozen=True)
class SetPostureOptions:
    """How postures are looked for.

    Attributes:
        balance: One of `posture_panel.BALANCES`.
        criterion: One of `posture_panel.CRITERIA`.
        torque_limits: Whether joint torques stay within their limits.
        collisions: Whether collisions are avoided.
    """

    balance: str
    criterion: str
    torque_limits: bool
    collisions: bool


@dataclass(frozen=True)
class GenerateGait:
    """Generate the step of a walking model that is best at a speed, or the walk of a whole robot.

    Attributes:
        model: Name of a walking model or a robot.
        speed: Mean speed [m/s].
        step_length: [m]; 0 leaves it to the optimum.
        steps: How many of them are shown; steady ones of a whole robot.
        proof: Whether Pontryagin's conditions are solved as well, which takes longer.
        whole: Whether the whole robot walks its level walk from rest to rest, which has a speed and length of its own.
    """

    model: str
    speed: float
    step_length: float
    steps: int
    proof: bool
    whole: bool


@dataclass(frozen=True)
class CancelGait:
    """Give up the gait that is being generated."""


@dataclass(frozen=True)
class ShowGait:
    """How the gait is shown.

    Attributes:
        figure: One of `gait_panel.FIGURES`.
        forces: Whether with the forces under the feet.
        aside: How far from the middle of the scene, to the left [m].
    """

    figure: str
    forces: bool
    aside: float


@dataclass(frozen=True)
class SetGoal:
    """What a contact plan is to bring to the goal, and whether the handle that says where is shown.

    Attributes:
        of: `plan_panel.CENTRE`, or the name of a place of the robot.
        shown: Whether the handle is there.
    """

    of: str
    shown: bool


@dataclass(frozen=True)
class PlaceGoal:
    """Put the goal where a ray from the eye first meets a surface.

    Attributes:
        origin: (x, y, z) of the eye [m].
        direction: Of the ray.
    """

    origin: tuple[float, float, float]
    direction: tuple[float, float, float]


@dataclass(frozen=True)
class PlanContacts:
    """Plan contacts from how the robot stands to the goal.

    Attributes:
        hands: Whether hands may hold, too.
        collisions: Whether collisions are avoided.
    """

    hands: bool
    collisions: bool


@dataclass(frozen=True)
class CancelPlan:
    """Give up the plan that is being sought; the path to the best stance stays."""


@dataclass(frozen=True)
class ShowPlan:
    """How the plan is shown.

    Attributes:
        shown: Whether at all.
        tree: Whether with the tree of the search.
        step: Whose posture is shown, from 0.
    """

    shown: bool
    tree: bool
    step: int


@dataclass(frozen=True)
class MakeMotion:
    """Make a motion of the plan that is shown.

    Attributes:
        collisions: Whether it keeps clear of the robot itself and of the scene.
    """

    collisions: bool


@dataclass(frozen=True)
class CancelMotion:
    """Give up making the motion, or stop the robot that plays it."""


@dataclass(frozen=True)
class BeginMotion:
    """Put the simulated robot where the motion begins.

    Attributes:
        play: Whether it plays the motion then.
    """

    play: bool


@dataclass(frozen=True)
class RunMotion:
    """Let the controller bridge run the motion.

    Attributes:
        speed: As a share of the motion's own, in (0, 1].
        browser: Whose person asks; the robot stops when it leaves.
    """

    speed: float
    browser: int | None


@dataclass(frozen=True)
class LoadMechanism:
    """Put the mechanisms of a file in the place of those that are there; given by name or path."""

    path: str


@dataclass(frozen=True)
class ChooseMechanism:
    """Let the panel be about one of the mechanisms of the file."""

    name: str


@dataclass(frozen=True)
class MoveJoint:
    """Bring a joint of the mechanism to a position: direct operation.

    Attributes:
        joint: name.
        position: [rad or m].
    """

    joint: str
    position: float


@dataclass(frozen=True)
class DragPart:
    """Bring the point at which a person holds a part under the pointer.

    Attributes:
        part: link of the mechanism.
        hold: (3,) where the point is held, world frame [m].
        to: (3,) where the pointer is [m].
        eye: (3,) where it is seen from [m].
        phase: ``start``, ``update`` or ``end``.
    """

    part: str
    hold: tuple[float, float, float]
    to: tuple[float, float, float]
    eye: tuple[float, float, float]
    phase: str


@dataclass(frozen=True)
class SetToolMode:
    """How a tool is moved.

    Attributes:
        tool: name.
        mode: one of `mechanism_panel.MODES`.
    """

    tool: str
    mode: str


@dataclass(frozen=True)
class StepTool:
    """Move a tool by a step along an axis or about it.

    Attributes:
        tool: name.
        motion: (6,) translation [m] and rotation vector [rad].
        frame: axes of the motion: ``world``, ``tool`` or ``view``.
        browser: whose view it is; None for the first.
    """

    tool: str
    motion: tuple[float, ...]
    frame: str
    browser: int | None = None


@dataclass(frozen=True)
class DriveTool:
    """Move a tool along an axis or about it while a button is held.

    Attributes:
        tool: name.
        velocity: (6,) [m/s], [rad/s].
        frame: as of `StepTool`.
        browser: as of `StepTool`.
    """

    tool: str
    velocity: tuple[float, ...]
    frame: str
    browser: int | None = None


@dataclass(frozen=True)
class MoveBase:
    """Bring the base of the mechanism elsewhere.

    Attributes:
        pose: (6,) position [m] and roll, pitch, yaw [rad] in the world.
    """

    pose: tuple[float, ...]


@dataclass(frozen=True)
class ShowStereo:
    """Let a second browser show what the right eye sees of the first one's view, or end that."""

    shown: bool


@dataclass(frozen=True)
class PlaySounds:
    """Let browsers hear limits, loops and obstacles that come into the way, or end that."""

    heard: bool


@dataclass(frozen=True)
class OpenLink:
    """Open the panel of a link."""

    link: str


@dataclass(frozen=True)
class CloseLink:
    """Close the panel of a link."""

    link: str


@dataclass(frozen=True)
class ChangeLink:
    """Change a link of the mechanism while it moves: geometry, type of joint, limits, lock."""

    change: LinkChange


@dataclass(frozen=True)
class HoldLoop:
    """Hold a loop of the mechanism closed, or let go of it."""

    loop: str
    held: bool


@dataclass(frozen=True)
class ShowOfMechanism:
    """Show or hide axes, loops, tools or a preset of marks.

    Attributes:
        part: one of `mechanism_panel.SHOWN`.
        visible: whether it is shown.
    """

    part: str
    visible: bool


@dataclass(frozen=True)
class PlotOfMechanism:
    """Plot a group of values over time, one of `mechanism_panel.PLOTS`."""

    group: str


@dataclass(frozen=True)
class ReadChannels:
    """Show values of the mechanism as a YAML file says."""

    path: str


@dataclass(frozen=True)
class ChooseSolver:
    """Move the mechanism by a solver, one of its profiles."""

    profile: str


@dataclass(frozen=True)
class RecordMotion:
    """Begin to record the mechanism's motion, or end that.

    Attributes:
        recording: whether to begin.
        path: of the file, CSV or MCAP.
        overwrite: whether a file that is there is replaced.
    """

    recording: bool
    path: str
    overwrite: bool = False


@dataclass(frozen=True)
class ReplayMotion:
    """Replay a recorded motion of the mechanism, or stop that.

    Attributes:
        replaying: whether to begin.
        path: of the recording.
    """

    replaying: bool
    path: str


MechanismRequest: TypeAlias = (
    LoadMechanism
    | ChooseMechanism
    | MoveJoint
    | DragPart
    | SetToolMode
    | StepTool
    | DriveTool
    | MoveBase
    | ShowStereo
    | PlaySounds
    | OpenLink
    | CloseLink
    | ChangeLink
    | HoldLoop
    | ShowOfMechanism
    | PlotOfMechanism
    | ReadChannels
    | ChooseSolver
    | RecordMotion
    | ReplayMotion
)
MotionRequest: TypeAlias = MakeMotion | CancelMotion | BeginMotion | RunMotion
PlanRequest: TypeAlias = SetGoal | PlaceGoal | PlanContacts | CancelPlan | ShowPlan
GaitRequest: TypeAlias = GenerateGait | CancelGait | ShowGait
PostureRequest: TypeAlias = ShowPosture | ResetPosture | UsePlace | SetPostureOptions
SimulatorRequest: TypeAlias = Pause | Step | Reset | LoadScene | Push
Request: TypeAlias = (
    SimulatorRequest
    | PickLink
    | Show
    | PostureRequest
    | GaitRequest
    | PlanRequest
    | MotionRequest
    | MechanismRequest
)
