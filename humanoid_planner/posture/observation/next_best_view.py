# SPDX-License-Identifier: Apache-2.0
"""The posture from which a camera sees most of what isn't known of an object yet (F097, thesis section 3.6.2.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_known
from humanoid_model.contact import Contact, ContactKind, Stance, Surface
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture.generate import DEFAULT_SOLVER, solve_problem
from humanoid_planner.posture.observation.unknown_area import SmoothUnknownArea, unknown_area
from humanoid_planner.posture.observation.voxel_model import PinholeCamera, VoxelModel, look_at
from humanoid_planner.posture.posture_result import PostureResult
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import Criterion, NearReference, WeightedSum
from humanoid_planner.posture.tasks.link_tasks import gaze
from humanoid_planner.posture.tasks.state import PostureState

#: Weight of the distance to a reference posture [rad^2] beside the share of the image.
_REFERENCE_WEIGHT = 1e-4
#: Rows of the image in which the smooth area is computed; one has some thirty voxels across.
_ROWS = 24


@dataclass(frozen=True, eq=False)
class MountedCamera:
    """A camera on a robot.

    Attributes:
        camera: its image.
        link: that carries it.
        placement_link_camera: its optical frame: z along the view, x to the right of the image, y down.
    """

    camera: PinholeCamera
    link: str
    placement_link_camera: pin.SE3

    def placement(self, kinematics: RobotKinematics) -> pin.SE3:
        """Optical frame in the world."""
        R, p = kinematics.placement(self.link)
        return pin.SE3(R, p) * self.placement_link_camera


class UnknownArea(Criterion):
    """K11: share of the image that unknown voxels take, smoothed, with its sign turned so that least is best."""

    def __init__(self, model: VoxelModel, mounted: MountedCamera) -> None:
        """Take what is known of the object now, and the camera."""
        camera = mounted.camera
        rows = min(_ROWS, camera.height)
        factor = rows / camera.height
        coarse = PinholeCamera(max(round(camera.width * factor), 1), rows, camera.focal * factor)
        self._area = SmoothUnknownArea(model, coarse)
        self._mounted = mounted
        self._version = -1
        self._value = 0.0
        self._gradient = np.zeros(0)

    def _update(self, state: PostureState) -> None:
        if self._version == state.version:
            return
        kinematics, mounted = state.kinematics, self._mounted
        area, by_frame = self._area.evaluate(mounted.placement(kinematics))
        place = mounted.placement_link_camera
        axes, origin = (
            kinematics.pre_gradients(mounted.link)[:3],
            kinematics.point_jacobian(mounted.link, place.translation),
        )
        gradient = np.zeros(state.size)
        gradient[: state.first_force] = by_frame[3] @ origin
        for column in range(3):
            along = np.tensordot(place.rotation[:, column], axes, axes=1)
            gradient[: state.first_force] += by_frame[column] @ along
        self._value, self._gradient, self._version = -area, -gradient, state.version

    def value(self, state: PostureState) -> float:
        """Minus the share of the image."""
        self._update(state)
        return self._value

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Its gradient, by the pre-gradients of the camera's frame."""
        self._update(state)
        return self._gradient.copy()


@dataclass(frozen=True, eq=False)
class NextBestView:
    """A posture and what it shows.

    Attributes:
        result: the posture; when none was found, the last one tried.
        placement_world_camera: optical frame there.
        area: share of the image that unknown voxels take there.
        started_from: the same for the view that the search started from.
        tried: number of views that the search was started from.
    """

    result: PostureResult
    placement_world_camera: pin.SE3
    area: float
    started_from: float
    tried: int


@dataclass(frozen=True, eq=False)
class SlidingFeet:
    """Two feet that slide freely on the ground.

    Attributes:
        ground: horizontal surface that they stand on.
        first: name of a contact location.
        second: of the other one.
        margin: smallest distance of the centre of mass to the middles of the feet, along the line between them [m].
    """

    ground: Surface
    first: str
    second: str
    margin: float = 0.0

    def stance(self, robot: Robot) -> Stance:
        """Return contacts of a robot.

        Raises:
            InputError: the robot has no such locations.
        """
        contacts = []
        for name in (self.first, self.second):
            check_known(name, robot.contacts, f"robot '{robot.name}'", "contact location")
            contacts.append(Contact(robot.contacts[name], self.ground, 0.0, 0.0, 0.0, kind=ContactKind.SLIDING))
        return Stance(tuple(contacts))


@dataclass(frozen=True, eq=False)
class ViewSearch:
    """Views around an object that a search starts from.

    Attributes:
        distance: smallest distance from the camera to the middle of the voxels [m]; None takes the one at which all
            of them are in the image.
        heights: of the views [m]; none takes that of the camera in the reference posture, and 0.2 m below it.
        azimuths: number of directions around the object.
        tries: number of the best of these views that postures are generated from.

    Raises:
        InputError: a number below 1.
    """

    distance: float | None = None
    heights: ArrayLike = ()
    azimuths: int = 8
    tries: int = 3

    def __post_init__(self) -> None:
        for name in ("azimuths", "tries"):
            if getattr(self, name) < 1:
                raise InputError(f"is {getattr(self, name)}", element=name, remedy="Give at least 1")


def next_best_view(
    robot: Robot,
    feet: SlidingFeet,
    mounted: MountedCamera,
    model: VoxelModel,
    search: ViewSearch | None = None,
    *,
    scene: Scene | None = None,
    reference: ArrayLike | None = None,
    solver: str = DEFAULT_SOLVER,
    options: SolverOptions | None = None,
) -> NextBestView:
    """Look for the posture that shows most of the unknown.

    Both feet slide freely; the centre of mass stays above the line between their middles (F099). The camera
    keeps the object in the image and a distance from it. Views all around the object are ranked by what
    a free camera would see there; from the best of them postures are generated that maximise the smooth area, and the
    one that shows most in truth is returned.

    Args:
        robot: that looks.
        feet: how it stands.
        mounted: camera.
        model: what is known of the object.
        search: views to start from; None for the defaults.
        scene: that the ground belongs to; None puts it into the world.
        reference: (nq,) posture to stay near to where the area doesn't care; None takes the default posture.
        solver: see :func:`humanoid_planner.posture.generate_posture`.
        options: likewise.

    Raises:
        InputError: something can't be used; it names field, value and remedy.
    """
    search = search or ViewSearch()
    stance = feet.stance(robot)
    q = robot.default_posture if reference is None else np.asarray(reference, dtype=float)
    kinematics = RobotKinematics(robot)
    kinematics.set(kinematics.coordinates(q))
    eye = mounted.placement(kinematics)
    centre, radius = model.bounding_ball
    camera = mounted.camera
    half_angle = math.atan(0.5 * min(camera.width, camera.height) / camera.focal)
    distance = radius / math.sin(half_angle) if search.distance is None else search.distance
    levels = np.asarray(search.heights, dtype=float).ravel()
    levels = levels if len(levels) else eye.translation[2] - np.array([0.0, 0.2])
    views = _ranked_views(model, camera, centre, distance, levels, search.azimuths)
    best: NextBestView | None = None
    last: NextBestView | None = None
    for area, view in views[: search.tries]:
        start = _posture_at(robot, q, eye, view)
        place = mounted.placement_link_camera
        task = gaze(
            kinematics, mounted.link, place.translation, place.rotation[:, 2], centre,
            angle_tolerance=0.5 * half_angle, distance=distance, name="object in the image",
        )  # fmt: skip
        criterion = WeightedSum(
            [
                (1.0, UnknownArea(model, mounted)),
                (_REFERENCE_WEIGHT, NearReference(kinematics, q)),
            ]
        )
        problem = PostureProblem(
            robot,
            stance,
            PostureRequirements(
                scene=scene,
                tasks=(task,),
                criterion=criterion,
                stability="polygon",
                stability_margin=feet.margin,
            ),
            start=start,
            kinematics=kinematics,
        )  # fmt: skip
        result = solve_problem(problem, start, solver=solver, options=options, explain=False)
        kinematics.set(kinematics.coordinates(result.q))
        seen = mounted.placement(kinematics)
        last = NextBestView(result, seen, unknown_area(model, camera, seen), area, min(search.tries, len(views)))
        if result.success and (best is None or last.area > best.area):
            best = last
    found = best or last
    assert found is not None
    return found


def _ranked_views(
    model: VoxelModel,
    camera: PinholeCamera,
    centre: NDArray[np.float64],
    distance: float,
    levels: NDArray[np.float64],
    azimuths: int,
) -> list[tuple[float, pin.SE3]]:
    """View around the object and the unknown area in each, the largest first."""
    views = []
    for height in levels:
        rise = float(np.clip(height - centre[2], -0.9 * distance, 0.9 * distance))
        aside = math.sqrt(distance**2 - rise**2)
        for step in range(azimuths):
            angle = 2 * math.pi * step / azimuths
            eye = centre + np.array([aside * math.cos(angle), aside * math.sin(angle), rise])
            view = look_at(eye, centre)
            views.append((unknown_area(model, camera, view), view))
    return sorted(views, key=lambda view: -view[0])


def _posture_at(robot: Robot, q: NDArray[np.float64], eye: pin.SE3, view: pin.SE3) -> NDArray[np.float64]:
    """Return the posture moved along the ground so that its eye is below or above a view and heads the same way."""
    turn = math.atan2(view.rotation[1, 2], view.rotation[0, 2]) - math.atan2(eye.rotation[1, 2], eye.rotation[0, 2])
    R = pin.utils.rotate("z", turn)
    shift = view.translation - R @ eye.translation
    return robot.place_base(q, pin.SE3(R, np.array([shift[0], shift[1], 0.0])) * robot.placement_base(q))
