# SPDX-License-Identifier: Apache-2.0
"""A guide by a probabilistic roadmap of stable configurations near contacts (specification 001 Alg. 10 and 11).

Configurations are drawn so that they look like those of a robot at work (section 7.6.3), and kept where they are free,
near to contacts and stable (sections 7.6.1 and 7.6.4).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.stats import vonmises_fisher

from humanoid_model.checks import check_array, check_known, check_number
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.contact import Contact, ContactLocation, Surface, SurfaceForm
from humanoid_model.errors import InputError
from humanoid_model.extensions import optional_library
from humanoid_model.progress import CancelledWorkError, Progress, ProgressCallback, Watch
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.equilibrium import ContactPoints
from humanoid_planner.equilibrium.force_distribution import in_equilibrium
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.motion.guide import RADIAN


class GuideSampler:
    """Position, orientation and posture drawn independently of each other (6.13).

    Positions are uniform in a box, or of a Gaussian where ``spread`` is given. Orientations are of the law of von Mises
    and Fisher on unit quaternions (6.14), postures uniform in the simplex that key postures span (6.16, 6.17).
    """

    def __init__(
        self,
        robot: Robot,
        postures: Sequence[ArrayLike],
        position: tuple[ArrayLike, ArrayLike],
        *,
        gaussian: bool = False,
        upright: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        concentration: float = 100.0,
    ) -> None:
        """Take the laws.

        Args:
            robot: with a floating base.
            postures: (nq,) key postures; their joints count.
            position: (3,) corners of the box of the base's position [m]; of a Gaussian mean and standard deviations.
            gaussian: read ``position`` as that of a Gaussian.
            upright: (4,) orientation q0 about which orientations are drawn, x, y, z, w.
            concentration: kappa; 0 is uniform.

        Raises:
            InputError: no floating base or no posture, or numbers that can't be used.
        """
        if robot.base_joint is None:
            raise InputError(f"robot '{robot.name}' has no floating base", element="guide", remedy="Give one that has")
        if not len(postures):
            raise InputError("are missing", element="key postures of the guide", remedy="Give at least one")
        self._keys = np.array([np.asarray(q, dtype=float) for q in postures])
        if self._keys.shape[1:] != (robot.model.nq,) or not np.isfinite(self._keys).all():
            raise InputError(
                f"have shape {self._keys.shape[1:]}",
                element="key postures",
                remedy=f"Give {robot.model.nq} numbers each",
            )
        self._low, self._high = (check_array(one, "position of the guide's samples") for one in position)
        if not gaussian and not (self._low <= self._high).all():
            raise InputError(
                f"{self._low} is above {self._high}", element="box of positions", remedy="Swap the corners"
            )
        self._gaussian = gaussian
        self._concentration = check_number(concentration, "concentration of orientations")
        self._upright = np.asarray(upright, dtype=float) / np.linalg.norm(upright)

    def draw(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """(nq,) a configuration."""
        shares = rng.dirichlet(np.ones(len(self._keys)))
        q = np.asarray(shares @ self._keys)
        q[:3] = rng.normal(self._low, self._high) if self._gaussian else rng.uniform(self._low, self._high)
        q[3:7] = self.orientation(rng)
        return q

    def orientation(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """(4,) unit quaternion x, y, z, w, that of the two of its rotation with the larger w."""
        if self._concentration == 0.0:
            found = rng.normal(size=4)
            found /= np.linalg.norm(found)
        else:
            found = vonmises_fisher(self._upright, self._concentration).rvs(1, random_state=rng)[0]
        return np.asarray(found if found[3] >= 0 else -found)


#: epsilon_contact (specification 001 Appendix B) [m].
THICKNESS = 0.05
#: How far below a surface a contact may be: those of start and end touch it [m].
_TOUCHING = 2e-3
_ITERATIONS = 20
#: Any direction, where a place's angle isn't asked for.
_AHEAD = np.array([1.0, 0.0, 0.0])

#: A location that comes near, and the surface.
Near = tuple[ContactLocation, Surface]


class GuideSpace:
    """C_guide: nothing in the scene's bodies, and forces at what is near the surfaces carry the robot.

    A location is near a surface where all vertices of its patch are within the thickness above it: of a curved one
    above the tangent plane at the nearest place, where what would touch it bears. The robot's own links may pass
    through each other, and torques have no limits: a guide is a rough way.

    Attributes:
        kinematics: of the robot.
        thickness: epsilon_contact [m].
        watch: of :func:`find_guide`; projections raise a ``CancelledWorkError`` where it ends.
    """

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        locations: Sequence[str],
        *,
        thickness: float = THICKNESS,
        relaxation: float = 0.0,
        redundant: bool = False,
    ) -> None:
        """Take what may come near to what.

        Args:
            robot: that moves.
            scene: around it; its surfaces bear.
            locations: names of the robot's locations.
            thickness: epsilon_contact [m].
            relaxation: how deep links may be in bodies [m].
            redundant: let one location more come near than the robot needs.

        Raises:
            InputError: an unknown location, no surface, or numbers that can't be used.
        """
        if not scene.surfaces:
            raise InputError(f"scene '{scene.name}' has none", element="surfaces", remedy="Give a scene with surfaces")
        for name in locations:
            check_known(name, list(robot.contacts), "guide", "location")
        self.kinematics = RobotKinematics(robot)
        self.watch = Watch()
        self.thickness = check_number(thickness, "thickness of contacts", lower=1e-6)
        self._scene, self._redundant = scene, redundant
        self._locations = [robot.contacts[name] for name in locations]
        bodies = {body.name: body.placement_world_body for body in scene.bodies}
        self._surfaces = [(one, bodies[one.body] * one.placement_body_surface) for one in scene.surfaces]
        self._patches = [
            np.array([one.placement_link_patch.act(np.array([x, y, 0.0])) for x, y in one.patch])
            for one in self._locations
        ]
        self._data, self._links = robot.model.createData(), robot.collision_model.createData()
        self._shapes = [
            (coal_geometry(one.shape), coal.Transform3s(place.rotation, place.translation))
            for body in scene.bodies
            for one in body.geometries
            for place in [body.placement_world_body * one.placement]
        ]
        self._request = coal.CollisionRequest()
        self._request.security_margin = -check_number(relaxation, "relaxation of collisions")

    def contains(self, q: NDArray[np.float64]) -> bool:
        """Return whether a configuration (nq,) is free and stable."""
        return self.free(q) and self.stable(q)

    def free(self, q: NDArray[np.float64]) -> bool:
        """Return whether no link is in a body of the scene."""
        robot = self.kinematics.robot
        pin.updateGeometryPlacements(robot.model, self._data, robot.collision_model, self._links, q)
        result = coal.CollisionResult()
        for item, place in zip(robot.collision_model.geometryObjects, self._links.oMg, strict=True):
            where = coal.Transform3s(place.rotation, place.translation)
            for shape, there in self._shapes:
                result.clear()
                if coal.collide(item.geometry, where, shape, there, self._request, result):
                    return False
        return True

    def near(self, q: NDArray[np.float64]) -> list[Near]:
        """Locations that are near a surface, with it (6.10)."""
        self.kinematics.set(self.kinematics.coordinates(q))
        return [(self._locations[index], self._surfaces[number][0]) for index, number in self._near()]

    def _near(self) -> Iterator[tuple[int, int]]:
        """Yield indices of locations and of the surfaces that they are near."""
        for index in range(len(self._locations)):
            gap = self._gap(index)
            if gap is not None and self._in_layer(gap[1]):
                yield index, gap[0]

    def stable(self, q: NDArray[np.float64]) -> bool:
        """Return whether forces in the friction cones at what is near carry the weight (6.11, 6.12)."""
        kinematics = self.kinematics
        kinematics.set(kinematics.coordinates(q))
        points: list[NDArray[np.float64]] = []
        normals: list[NDArray[np.float64]] = []
        friction: list[float] = []
        for index, number in self._near():
            surface = self._surfaces[number][0]
            frame, touching = self._tangent(index, number)
            pair = self._scene.pairs(f"{kinematics.robot.name}/{self._locations[index].link}", surface.body)
            points += list(touching)
            normals += [frame.rotation[:, 2]] * len(touching)
            friction += [pair.friction] * len(touching)
        if not points:
            return False
        contacts = ContactPoints.of_normals(points, normals, friction)
        return in_equilibrium(contacts, kinematics.total_mass, kinematics.centre_of_mass(), gravity=self._scene.gravity)

    def project(self, q: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return a stable configuration near another one, with as few locations near surfaces as it takes (Fig. 6.9).

        The locations nearest to surfaces come first; those that can't be brought there are left out.

        Args:
            q: (nq,) to begin with.
        """
        kinematics = self.kinematics
        x = kinematics.coordinates(q)
        kinematics.set(x)
        gaps = [(index, self._gap(index)) for index in range(len(self._locations))]
        order = sorted((float(np.abs(gap[1]).max()), index, gap[0]) for index, gap in gaps if gap is not None)
        active: list[tuple[int, int]] = []
        spare = self._redundant
        for _, index, surface in order:
            moved = self._newton(x, [*active, (index, surface)])
            if moved is None:
                continue
            active.append((index, surface))
            x = moved
            found = kinematics.configuration(x)
            if self.stable(found):
                if not spare:
                    return found
                spare = False
        found = kinematics.configuration(x)
        return found if active and self.stable(found) else None

    def _newton(self, x: NDArray[np.float64], active: Sequence[tuple[int, int]]) -> NDArray[np.float64] | None:
        """Bring locations into the middle of the layer above their surfaces, the first with priority (6.18)-(6.22)."""
        kinematics, x = self.kinematics, x.copy()
        for _ in range(_ITERATIONS):
            self.watch.check()
            kinematics.set(x)
            step, null, done = np.zeros(kinematics.size), np.eye(kinematics.size), True
            for index, surface in active:
                frame, _ = self._tangent(index, surface)
                normal = frame.rotation[:, 2]
                heights = (self._vertices(index) - frame.translation) @ normal
                done = done and self._in_layer(heights)
                link = self._locations[index].link
                J = np.array([normal @ kinematics.point_jacobian(link, point) for point in self._patches[index]])
                inverse = np.linalg.pinv(J @ null, rcond=1e-4)
                step += inverse @ (0.5 * self.thickness - heights - J @ step)
                null -= inverse @ (J @ null)
            if done:
                return x
            x = np.clip(x + step, kinematics.lower, kinematics.upper)
        return None

    def _vertices(self, index: int) -> NDArray[np.float64]:
        R, p = self.kinematics.placement(self._locations[index].link)
        return np.asarray(self._patches[index] @ R.T + p)

    def _tangent(self, index: int, number: int) -> tuple[pin.SE3, NDArray[np.float64]]:
        """Return a surface's frame at the place nearest to a location, and what would bear there (k, 3), in the world.

        A plane's frame is its own and the patch bears where it is; a curved surface touches a flat patch along a line
        or at a point.
        """
        surface, place = self._surfaces[number]
        if surface.form is SurfaceForm.PLANE:
            return place, self._vertices(index)
        location = self._locations[index]
        here = place.actInv(pin.SE3(*self.kinematics.placement(location.link)) * location.placement_link_patch)
        contact = Contact(location, surface, *surface.coordinates(here.translation, here.rotation[:, 0]))
        frame = place * contact.placement_surface_patch
        flat = np.column_stack([contact.touching, np.zeros(len(contact.touching))])
        return frame, flat @ frame.rotation.T + frame.translation

    def _gap(self, index: int) -> tuple[int, NDArray[np.float64]] | None:
        """Return the surface nearest to a location that the location is over, and its vertices' heights above it."""
        best: tuple[int, NDArray[np.float64]] | None = None
        vertices = self._vertices(index)
        for number, (surface, place) in enumerate(self._surfaces):
            frame, touching = self._tangent(index, number)
            ends = (touching - place.translation) @ place.rotation
            if surface.form is not SurfaceForm.PLANE:
                ends = np.array([surface.coordinates(end, _AHEAD) for end in ends]).reshape(-1, 3)
            if surface.polygon is not None and not _over(ends[:, :2], np.asarray(surface.polygon, dtype=float)):
                continue
            heights = (vertices - frame.translation) @ frame.rotation[:, 2]
            if best is None or np.abs(heights).max() < np.abs(best[1]).max():
                best = number, heights
        return best

    def _in_layer(self, heights: NDArray[np.float64]) -> bool:
        return bool(heights.min() >= -_TOUCHING and heights.max() < self.thickness)


def _over(points: NDArray[np.float64], polygon: NDArray[np.float64]) -> bool:
    """Return whether points (k, 2), one at least, are in a convex polygon."""
    if not len(points):
        return False
    edges = np.roll(polygon, -1, axis=0) - polygon
    away = points[:, None, :] - polygon
    return bool((edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]).min() >= -1e-9) and math.isfinite(
        points.sum()
    )


#: Steps of a direct way, and how far its projection may be from the straight line (specification 001 Appendix B).
RESOLUTION, ASIDE = 0.1, 0.3
_NEIGHBOURS = 10


@dataclass(frozen=True, eq=False)
class AutomaticGuide:
    """What the roadmap found.

    Attributes:
        success: whether start and end are joined.
        postures: (nq,) each, key postures from the start to the end; empty without success.
        samples: configurations that were drawn.
        nodes: of the roadmap.
        time: [s].
    """

    success: bool
    postures: tuple[NDArray[np.float64], ...]
    samples: int
    nodes: int
    time: float


def find_guide(
    space: GuideSpace,
    sampler: GuideSampler,
    start: ArrayLike,
    end: ArrayLike,
    *,
    seed: int = 0,
    max_samples: int = 2000,
    reach: float = 2.0,
    time_limit: float = math.inf,
    progress: ProgressCallback | None = None,
) -> AutomaticGuide:
    """Join two configurations by stable ones near contacts.

    Samples are projected to the space and joined to the nearest nodes by straight ways, whose points are projected
    too: the thesis asks that they lie in the layer as they are, which a leg that bends hardly does. Those that join
    nothing stay, as usual with roadmaps. The first way ends the search; its shortest is the guide.

    Args:
        space: of configurations.
        sampler: of them.
        start: (nq,) of the guide.
        end: (nq,) likewise.
        seed: the guide is the same for a seed.
        max_samples: to draw.
        reach: longest direct way; a radian counts as ``RADIAN`` metres [m].
        time_limit: wall-clock time [s]; it ends without success.
        progress: told before each sample, and now and then meanwhile; returns True to cancel, likewise.

    Raises:
        InputError: start or end isn't near the space.
    """
    networkx = optional_library("networkx", "planner")
    began, rng = time.perf_counter(), np.random.default_rng(seed)
    graph, nodes = networkx.Graph(), []
    for name, q in (("start", start), ("end", end)):
        nodes.append(_end_of(space, name, np.asarray(q, dtype=float)))
        graph.add_node(len(nodes) - 1)
    drawn, space.watch = 0, Watch(progress, time_limit)
    try:
        _join(space, graph, nodes, 1, reach)
        while not networkx.has_path(graph, 0, 1) and drawn < max_samples:
            space.watch.tell(Progress(f"{drawn} samples, {len(nodes)} nodes", drawn / max_samples, nodes=len(nodes)))
            drawn += 1
            # Whether the sample itself is free, as Alg. 11 asks, says little about its projection.
            projected = space.project(sampler.draw(rng))
            if projected is None or not space.free(projected):
                continue
            nodes.append(projected)
            graph.add_node(len(nodes) - 1)
            _join(space, graph, nodes, len(nodes) - 1, reach)
    except CancelledWorkError:
        pass
    finally:
        space.watch = Watch()
    if not networkx.has_path(graph, 0, 1):
        return AutomaticGuide(False, (), drawn, len(nodes), time.perf_counter() - began)
    way = networkx.shortest_path(graph, 0, 1, weight="length")
    postures = [nodes[0]]
    for one, other in itertools.pairwise(way):
        between = graph.edges[one, other]["between"]
        postures += between if graph.edges[one, other]["first"] == one else between[::-1]
        postures.append(nodes[other])
    return AutomaticGuide(True, tuple(postures), drawn, len(nodes), time.perf_counter() - began)


def distance(space: GuideSpace, one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the length of the straight line between configurations (nq,), radians as ``RADIAN`` metres."""
    change = space.kinematics.coordinates(other) - space.kinematics.coordinates(one)
    change[3:] *= RADIAN
    return float(np.linalg.norm(change))


def _end_of(space: GuideSpace, name: str, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a start or an end in the space: what touches its surfaces is lifted into the layer above them."""
    projected = q if space.contains(q) else space.project(q)
    if projected is None or distance(space, q, projected) > ASIDE or not space.contains(projected):
        why = "in a body" if not space.free(q) else "not stable on what is near surfaces"
        raise InputError(f"is {why}", element=f"{name} of the guide", remedy="Give one that stands")
    return projected


def _join(space: GuideSpace, graph: object, nodes: list[NDArray[np.float64]], new: int, reach: float) -> None:
    """Add the ways from a new node to the nearest ones."""
    lengths = sorted((distance(space, nodes[new], q), index) for index, q in enumerate(nodes[:new]))
    for length, index in lengths[:_NEIGHBOURS]:
        if length > reach:
            break
        between = _way(space, nodes[index], nodes[new], length)
        if between is not None:
            graph.add_edge(index, new, length=length, between=between, first=index)  # type: ignore[attr-defined]


def _way(
    space: GuideSpace, one: NDArray[np.float64], other: NDArray[np.float64], length: float
) -> list[NDArray[np.float64]] | None:
    """Return projected points of the straight line between two configurations; None where one isn't in the space."""
    kinematics = space.kinematics
    a, b = kinematics.coordinates(one), kinematics.coordinates(other)
    found = []
    for part in np.linspace(0.0, 1.0, max(int(np.ceil(length / RESOLUTION)), 1) + 1)[1:-1]:
        space.watch.check()
        straight = kinematics.configuration((1 - part) * a + part * b)
        q = straight if space.stable(straight) else space.project(straight)
        if q is None or distance(space, straight, q) > ASIDE or not space.free(q):
            return None
        found.append(q)
    return found
