# SPDX-License-Identifier: Apache-2.0
"""The scene drawn without a browser: shaded triangles, far ones first, and arrows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from PIL import Image, ImageDraw

from humanoid_model.description import RobotDescription
from humanoid_model.errors import InputError
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.drawing.contact_drawing import (
    CONE_COLOUR,
    STICK_COLOUR,
    ContactView,
    rotation_to,
    unit_cone,
)
from humanoid_ros.viewer.drawing.shapes import triangles

LIGHT = np.array([0.45, -0.35, 0.82])
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
    draw = ImageDraw.Draw(image, "RGBA")
    lines = np.arange(-4.0, 4.01, 0.25)
    for line in lines:
        along = np.linspace(-4.0, 4.0, 65)
        across, ground = np.full(65, line), np.zeros(65)
        for points in ((across, along, ground), (along, across, ground)):
            pixels = camera.project(np.column_stack(points), width, height)
            pixels = pixels[pixels[:, 2] > 0.05]
            draw.line([tuple(p) for p in pixels[:, :2].tolist()], fill=FLOOR_LINE)

    corners, colours = _robot_triangles(description, placements_world_link)
    cones, cone_colours = _cone_triangles(contacts, cone_scale)
    corners = np.concatenate([corners, cones])
    colours = np.concatenate([colours, cone_colours])
    pixels = camera.project(corners, width, height)
    visible = pixels[..., 2].min(axis=1, initial=np.inf) > 0.05
    for i in np.argsort(-pixels[..., 2].mean(axis=1)):
        if visible[i]:
            draw.polygon([tuple(p) for p in pixels[i, :, :2].tolist()], fill=tuple(colours[i]))

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


def _robot_triangles(description: RobotDescription, placements: Mapping[str, pin.SE3]) -> tuple[np.ndarray, np.ndarray]:
    """(t, 3, 3) corners that face outwards and (t, 4) shaded colours."""
    light = LIGHT / np.linalg.norm(LIGHT)
    all_corners: list[np.ndarray] = [np.zeros((0, 3, 3))]
    all_colours: list[np.ndarray] = [np.zeros((0, 4), dtype=int)]
    for link in description.links.values():
        placement = placements.get(link.name)
        if placement is None:
            continue
        for visual in link.visuals:
            try:
                mesh = triangles(visual.shape)
            except InputError:
                continue  # the page's own drawing reports meshes that can't be read
            place = placement * visual.placement
            corners = (mesh.vertices @ place.rotation.T + place.translation)[mesh.faces]
            normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            norm = np.linalg.norm(normal, axis=1, keepdims=True)
            shade = 0.55 + 0.45 * np.clip(normal / np.maximum(norm, 1e-12) @ light, 0.0, 1.0)
            red_green_blue = 255.0 * np.asarray(visual.colour)[:3] * shade[:, None]
            opacity = np.full((len(corners), 1), 255.0 * float(visual.colour[3]))
            all_corners.append(corners)
            all_colours.append(np.hstack([red_green_blue, opacity]).astype(int))
    return np.concatenate(all_corners), np.concatenate(all_colours)


def _cone_triangles(contacts: ContactView, cone_scale: float) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces = unit_cone()
    cones: list[np.ndarray] = [np.zeros((0, 3, 3))]
    height = cone_scale * np.maximum(contacts.normal_force, 0.0)
    for position, wxyz, h, mu in zip(
        contacts.position, rotation_to(contacts.normal), height, contacts.friction, strict=True
    ):
        w, x, y, z = wxyz
        rotation = pin.Quaternion(w, x, y, z).toRotationMatrix()
        cones.append(((vertices * [mu * h, mu * h, h]) @ rotation.T + position)[faces])
    corners = np.concatenate(cones)
    return corners, np.tile((*CONE_COLOUR, CONE_OPACITY), (len(corners), 1))
