# SPDX-License-Identifier: Apache-2.0
"""Lights of a scene on the page, in place of the page's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import viser

from humanoid_model.scene import Light

FULL = np.pi
"""Intensity at which a white surface that faces a light is white, as in OpenGL: reflection divides by pi here."""
FAR = 100.0
"""Distance of a light that only has a direction [m]: it shines towards the origin. Shadows reach 500 m from it."""


class Lights:
    """The page's own light, or the lights of a scene with OpenGL's law: no loss over the distance.

    The first one casts shadows, as in pictures of the simulator; one that only has a direction does within 5 m of the
    origin. What the page's renderer has no place for: the specular colour (a surface reflects the diffuse one by its
    roughness) and the opacity of a light.

    Args:
        scene: Scene of the page.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene = scene
        self._drawn: list[viser.SceneNodeHandle] = []
        self.set(())

    def set(self, lights: Sequence[Light]) -> None:
        """Light the page with some lights, or with its own if there are none."""
        for handle in self._drawn:
            handle.remove()
        self._drawn = []
        own = not lights
        self._scene.configure_default_lights(enabled=own, cast_shadow=True)
        self._scene.configure_environment_map("studio" if own else None, environment_intensity=0.35)
        for number, light in enumerate(lights):
            ambient, ambient_intensity = colour_and_intensity(light.ambient)
            diffuse, diffuse_intensity = colour_and_intensity(light.diffuse)
            path = f"/light_{number}"  # of its own, so that nothing is left of it
            self._drawn.append(
                self._scene.add_light_ambient(f"{path}_ambient", color=ambient, intensity=ambient_intensity)
            )
            if light.position[3] == 0.0:
                direction = light.position[:3] / np.linalg.norm(light.position[:3])
                self._drawn.append(
                    self._scene.add_light_directional(
                        f"{path}_diffuse",
                        color=diffuse,
                        intensity=diffuse_intensity,
                        cast_shadow=number == 0,
                        position=tuple((FAR * direction).tolist()),
                    )
                )
            else:
                place = light.position[:3] / light.position[3]
                self._drawn.append(
                    self._scene.add_light_point(
                        f"{path}_diffuse",
                        color=diffuse,
                        intensity=diffuse_intensity,
                        decay=0.0,
                        cast_shadow=number == 0,
                        position=tuple(place.tolist()),
                    )
                )


def colour_and_intensity(rgba: np.ndarray) -> tuple[tuple[int, int, int], float]:
    """Return light's colour as bytes, the largest full, and its intensity; (4,) red, green, blue, a."""
    rgb = np.maximum(rgba[:3], 0.0)
    largest = float(rgb.max())
    if largest == 0.0:
        return (0, 0, 0), 0.0
    r, g, b = np.round(255.0 * rgb / largest).astype(int).tolist()
    return (r, g, b), FULL * largest
