# SPDX-License-Identifier: Apache-2.0
"""Contact forces as arrows, and friction cones whose height tells the normal force."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import viser

CONE_SCALE = 0.0016
"""Usual height of a cone per normal force [m/N]."""
ARROW_SCALE = 0.0018
"""Usual length of an arrow per force [m/N]."""
CONE_COLOUR = (205, 0, 0)
STICK_COLOUR = (255, 176, 0)
SLIP_COLOUR = (190, 30, 200)
RESULTANT_COLOUR = (20, 110, 220)
HEAD = 5.0
"""Length of an arrow's head per radius of its shaft."""
THINNER = (1.0, 0.5, 0.25, 0.1)
"""Thicknesses of arrows, as parts of the usual one."""
SEGMENTS = 28
MIN_FORCE = 1e-3
"""Contacts that carry less than this are not drawn [N]."""
MOVED = 5e-4
"""A drawing is sent again once one of its points moved by this much [m]."""


@dataclass(frozen=True)
class ContactView:
    """What the page needs of the contacts at one instant; m contacts, world frame.

    Attributes:
        position: (m, 3) contact points [m].
        normal: (m, 3) unit normals, from body b into body a.
        force: (m, 3) forces on body a [N].
        friction: (m,) friction coefficients.
        slipping: (m,) whether the contact slides.
        bodies: (body a, body b) of each contact.
    """

    position: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    friction: np.ndarray
    slipping: np.ndarray
    bodies: tuple[tuple[str, str], ...]

    @classmethod
    def empty(cls) -> ContactView:
        """No contact at all."""
        none = np.zeros((0, 3))
        return cls(none, none, none, np.zeros(0), np.zeros(0, dtype=bool), ())

    @property
    def normal_force(self) -> np.ndarray:
        """(m,) normal components of the forces [N]."""
        return np.einsum("ij,ij->i", self.force, self.normal)

    def of_robot(self, name: str) -> ContactView:
        """Return the contacts of the bodies of one robot, `<name>/<link>`."""
        mine = np.array([a.startswith(f"{name}/") for a, _ in self.bodies], dtype=bool)
        return ContactView(
            self.position[mine],
            self.normal[mine],
            self.force[mine],
            self.friction[mine],
            self.slipping[mine],
            tuple(pair for pair, of_robot in zip(self.bodies, mine, strict=True) if of_robot),
        )

    def normal_force_by_body(self) -> dict[str, float]:
        """Return the sum of the normal forces on each body a [N]."""
        total: dict[str, float] = {}
        for (body, _), force in zip(self.bodies, self.normal_force, strict=True):
            total[body] = total.get(body, 0.0) + float(force)
        return total


def unit_cone() -> tuple[np.ndarray, np.ndarray]:
    """Return the cone of height 1 and radius 1 that opens along +z from its apex at the origin.

    Returns:
        Vertices (v, 3) and faces (f, 3), outside visible; the top is left open.
    """
    angle = np.linspace(0.0, 2.0 * np.pi, SEGMENTS, endpoint=False)
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.ones(SEGMENTS)])
    first = 1 + np.arange(SEGMENTS)
    second = 1 + (np.arange(SEGMENTS) + 1) % SEGMENTS
    faces = np.column_stack([np.zeros(SEGMENTS, dtype=int), second, first])
    return np.vstack([np.zeros(3), rim]), faces


def rotation_to(direction: np.ndarray) -> np.ndarray:
    """Smallest rotations that bring the z axis onto unit vectors.

    Args:
        direction: (m, 3) unit vectors.

    Returns:
        (m, 4) unit quaternions w, x, y, z.
    """
    # The quaternion of the rotation from z to d is (1 + z.d, z x d), normalised; where d = -z
    # that vanishes and any half turn about a horizontal axis will do.
    x, y, z = direction.T
    quaternion = np.column_stack([1.0 + z, -y, x, np.zeros_like(x)])
    norm = np.linalg.norm(quaternion, axis=1)
    opposite = norm < 1e-9
    quaternion[opposite] = (0.0, 1.0, 0.0, 0.0)
    norm[opposite] = 1.0
    return quaternion / norm[:, None]


class ContactDrawing:
    """Arrows of the contact forces, of their resultants, and red friction cones.

    A cone stands on its apex at the contact point, opens along the normal with the half-angle
    atan(mu), and its height is proportional to the normal force (specification 000 §1.7): a force
    arrow inside the cone sticks, one on it slides.

    Args:
        scene: Scene of the page.
        cone_scale: Height of a cone per normal force [m/N].
        arrow_scale: Length of an arrow per force [m/N].
        path: Path of the node above them.
    """

    def __init__(self, scene: viser.SceneApi, cone_scale: float, arrow_scale: float, path: str = "/contacts") -> None:
        self.cone_scale = cone_scale
        self.arrow_scale = arrow_scale
        self._scene = scene
        self._path = path
        self._root = scene.add_frame(path, show_axes=False)
        self._cones: viser.BatchedMeshHandle | None = None
        self._capacity = 0
        self._forces = _Arrows(scene, f"{path}/forces", shaft_radius=0.008)
        self._resultants = _Arrows(scene, f"{path}/resultants", shaft_radius=0.013)
        self._sent_cones: np.ndarray = np.zeros((0, 8))
        self._show_cones = True
        self._count = 0

    def update(self, contacts: ContactView) -> None:
        """Draw these contacts in place of the last ones."""
        if len(contacts.force) == 0 == self._count:
            return
        self._count = len(contacts.force)
        loaded = np.linalg.norm(contacts.force, axis=1) > MIN_FORCE
        position = contacts.position[loaded]
        force = contacts.force[loaded]
        self._draw_cones(
            position,
            contacts.normal[loaded],
            self.cone_scale * np.maximum(contacts.normal_force[loaded], 0.0),
            contacts.friction[loaded],
        )
        colours = np.where(contacts.slipping[loaded, None], SLIP_COLOUR, STICK_COLOUR)
        self._forces.update(position, position + self.arrow_scale * force, colours)

        origins, resultants = [], []
        bodies = np.array([f"{a}|{b}" for a, b in contacts.bodies])[loaded]
        normal_force = contacts.normal_force[loaded]
        for pair in dict.fromkeys(bodies.tolist()):
            of_pair = bodies == pair
            weight = normal_force[of_pair]
            if of_pair.sum() < 2 or weight.sum() <= MIN_FORCE:
                continue  # the resultant of one contact is that contact's own arrow
            origins.append(weight @ position[of_pair] / weight.sum())
            resultants.append(force[of_pair].sum(axis=0))
        start = np.array(origins).reshape(-1, 3)
        end = start + self.arrow_scale * np.array(resultants).reshape(-1, 3)
        self._resultants.update(start, end, np.tile(RESULTANT_COLOUR, (len(start), 1)))

    def _draw_cones(self, position: np.ndarray, normal: np.ndarray, height: np.ndarray, friction: np.ndarray) -> None:
        rows = np.column_stack([position, normal, height, friction * height])
        if rows.shape == self._sent_cones.shape and (np.abs(rows - self._sent_cones).max(initial=0.0) < MOVED):
            return
        self._sent_cones = rows
        count = len(position)
        if self._cones is None or count > self._capacity:
            # The node has room for more cones than there are: they come and go at every step of a
            # walk, and a batch of fixed size is an update of a few numbers.
            self._capacity = max(16, 2 * count)
            vertices, faces = unit_cone()
            self._cones = self._scene.add_batched_meshes_simple(
                f"{self._path}/cones",
                vertices,
                faces,
                batched_wxyzs=np.tile((1.0, 0.0, 0.0, 0.0), (self._capacity, 1)),
                batched_positions=np.zeros((self._capacity, 3)),
                batched_scales=np.zeros((self._capacity, 3)),
                batched_colors=CONE_COLOUR,
                opacity=0.6,
                side="double",
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
                visible=self._show_cones,
            )
        positions = np.zeros((self._capacity, 3))
        positions[:count] = position
        quaternions = np.tile((1.0, 0.0, 0.0, 0.0), (self._capacity, 1))
        quaternions[:count] = rotation_to(normal)
        scales = np.zeros((self._capacity, 3))
        scales[:count, 0] = scales[:count, 1] = friction * height
        scales[:count, 2] = height
        self._cones.batched_positions = positions.astype(np.float32)
        self._cones.batched_wxyzs = quaternions.astype(np.float32)
        self._cones.batched_scales = scales.astype(np.float32)

    @property
    def show_forces(self) -> bool:
        """Whether the arrows are shown."""
        return self._forces.visible

    @show_forces.setter
    def show_forces(self, visible: bool) -> None:
        self._forces.visible = visible
        self._resultants.visible = visible

    @property
    def show_cones(self) -> bool:
        """Whether the friction cones are shown."""
        return self._show_cones

    @show_cones.setter
    def show_cones(self, visible: bool) -> None:
        self._show_cones = visible
        if self._cones is not None:
            self._cones.visible = visible


class _Arrows:
    """A set of arrows, sent when one of them moved.

    A node of the page has arrows of one thickness. One shorter than its head would be drawn as a cone that sticks out
    behind its start, so there is a node per thickness of ``THINNER``, and each arrow is in the thickest that fits.
    """

    def __init__(self, scene: viser.SceneApi, name: str, shaft_radius: float) -> None:
        self._sizes = [
            _ArrowsOfOneSize(scene, f"{name}/{i}", factor * shaft_radius) for i, factor in enumerate(THINNER)
        ]
        self.count = 0

    def update(self, start: np.ndarray, end: np.ndarray, colours: np.ndarray) -> None:
        self.count = len(start)
        lengths = np.linalg.norm(end - start, axis=1)
        fits = np.array([lengths >= size.shortest for size in self._sizes])
        fits[-1] = True
        chosen = np.argmax(fits, axis=0)
        for i, size in enumerate(self._sizes):
            size.update(start[chosen == i], end[chosen == i], colours[chosen == i])

    @property
    def visible(self) -> bool:
        return self._sizes[0].visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        for size in self._sizes:
            size.visible = visible


class _ArrowsOfOneSize:
    def __init__(self, scene: viser.SceneApi, name: str, shaft_radius: float) -> None:
        self._scene = scene
        self._name = name
        self._radius = shaft_radius
        self._node: viser.ArrowsHandle | None = None
        self._sent: np.ndarray = np.zeros((0, 3, 3))
        self._visible = True

    def update(self, start: np.ndarray, end: np.ndarray, colours: np.ndarray) -> None:
        rows = np.stack([start, end, colours], axis=1)
        if rows.shape == self._sent.shape and np.abs(rows - self._sent).max(initial=0.0) < MOVED:
            return
        same_count = rows.shape == self._sent.shape
        self._sent = rows
        points = rows[:, :2].astype(np.float32)
        if self._node is not None and same_count:
            self._node.points = points
            self._node.colors = colours.astype(np.uint8)
            return
        if self._node is not None:
            self._node.remove()
            self._node = None
        if len(rows):
            self._node = self._scene.add_arrows(
                self._name,
                points,
                colours.astype(np.uint8),
                shaft_radius=self._radius,
                head_radius=2.2 * self._radius,
                head_length=HEAD * self._radius,
                visible=self._visible,
            )

    @property
    def shortest(self) -> float:
        """Length of the shortest arrow that has a shaft to be seen [m]."""
        return 1.4 * HEAD * self._radius

    @property
    def visible(self) -> bool:
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        if self._node is not None:
            self._node.visible = visible
