# SPDX-License-Identifier: Apache-2.0
"""The scene drawn without a browser: robot and cones, over them arrows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from PIL import Image, ImageDraw

from humanoid_model.description import RobotDescription, Shape
from humanoid_model.errors import InputError
from humanoid_model.shape_triangles import Triangles, triangles
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.drawing.contact_drawing import CONE_COLOUR, STICK_COLOUR, ContactView, rotation_to, unit_cone
from humanoid_sim.imaging.picture import DrawnShapes, take_picture

BACKGROUND, FLOOR_LINE = (250, 251, 252), (196, 200, 205)
CONE_OPACITY = 110


def sketch(
    description: RobotDescription,
    placements_world_link: Mapping[str, pin.SE3],
    contacts: ContactView,
    camera: Camera,
    *,
    cone_scale: float,
    arrow_scale: float,
    size: tuple[int, int] = (1600, 900),
) -> Image.Image:
    """Return the picture of a robot on the floor with its contact forces and friction cones.

    Args:
        description: The robot.
        placements_world_link: Placement per link; links without one are left out.
        contacts: Contact forces.
        camera: Where it is seen from.
        cone_scale: Height of a cone per normal force [m/N].
        arrow_scale: Length of an arrow per force [m/N].
        size: Width and height of the picture [px].
    """
    width, height = size
    image = Image.new("RGB", size, BACKGROUND)
    draw = ImageDraw.Draw(image)
    lines = np.arange(-4.0, 4.01, 0.25)
    for line in lines:
        along = np.linspace(-4.0, 4.0, 65)
        across, ground = np.full(65, line), np.zeros(65)
        for points in ((across, along, ground), (along, across, ground)):
            pixels = camera.project(np.column_stack(points), width, height)
            pixels = pixels[pixels[:, 2] > 0.05]
            draw.line([tuple(p) for p in pixels[:, :2].tolist()], fill=FLOOR_LINE)

    shapes = _robot_and_cones(description, placements_world_link, contacts, cone_scale)
    here = np.eye(3)[None], np.zeros((1, 3))
    colour = take_picture(shapes, *here, camera.scene_camera, size, behind=np.asarray(image) / 255.0)
    image = Image.fromarray(np.round(255.0 * colour).astype(np.uint8))
    draw = ImageDraw.Draw(image)

    tips = contacts.position + arrow_scale * contacts.force
    for start, end in zip(contacts.position, tips, strict=True):
        (x0, y0, _), (x1, y1, _) = camera.project(np.array([start, end]), width, height).tolist()
        draw.line([(x0, y0), (x1, y1)], fill=STICK_COLOUR, width=4)
        shaft = np.array([x1 - x0, y1 - y0])
        length = float(np.linalg.norm(shaft))
        if length > 1.0:
            shaft /= length
            side = np.array([-shaft[1], shaft[0]])
            tip = np.array([x1, y1])
            head = [tip + 10.0 * shaft, tip + 6.0 * side, tip - 6.0 * side]
            draw.polygon([tuple(p) for p in np.array(head).tolist()], fill=STICK_COLOUR)
    return image


def _robot_and_cones(
    description: RobotDescription, placements: Mapping[str, pin.SE3], contacts: ContactView, cone_scale: float
) -> DrawnShapes:
    """Return the links that have a place and the friction cones, all in the world."""
    shapes: list[tuple[int, Shape | Triangles, pin.SE3, np.ndarray]] = []
    for name, link in description.links.items():
        for visual in link.visuals if name in placements else ():
            try:
                triangles(visual.shape)
            except InputError:
                continue  # the page's own drawing reports meshes that can't be read
            shapes.append((0, visual.shape, placements[name] * visual.placement, np.asarray(visual.colour)))
    vertices, faces = unit_cone()
    colour = np.array([*CONE_COLOUR, CONE_OPACITY]) / 255.0
    heights = cone_scale * np.maximum(contacts.normal_force, 0.0)
    for position, (w, x, y, z), h, mu in zip(
        contacts.position, rotation_to(contacts.normal), heights, contacts.friction, strict=True
    ):
        place = pin.SE3(pin.Quaternion(w, x, y, z), position)
        shapes.append((0, Triangles(vertices * [mu * h, mu * h, h], faces), place, colour))
    return DrawnShapes.of(shapes)
