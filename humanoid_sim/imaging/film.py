# SPDX-License-Identifier: Apache-2.0
"""A film of a simulation, drawn by its own camera."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.imaging.pictures import Placements
from humanoid_sim.imaging.viewer import Viewer

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = (".gif", ".webp")
"""Moving pictures that browsers show."""
COLOURS = 256


class Film(Viewer):
    """Pictures of a run at equal times, written when it is closed: see ``Simulation.film``.

    Attributes:
        path: of the file.
        count: of pictures taken so far.
    """

    def __init__(
        self,
        viewers: list[Viewer],
        picture: Callable[[Placements], NDArray[np.uint8]],
        path: str | Path,
        period: int,
        duration: float,
    ) -> None:
        """Check where it goes, before the run is made.

        Args:
            viewers: of the simulation.
            picture: draws the bodies with the joint frames where they are told, (height, width, 3).
            path: of the file.
            period: steps from one picture to the next, 1 or more.
            duration: how long each is shown [s].

        Raises:
            InputError: the file can't be written, or its ending is none of :data:`FORMATS`.
        """
        self.path = check_film(path)
        self._picture, self._duration = picture, duration
        self.count = 0
        self._pictures: list[tuple[bytes, tuple[int, ...]]] = []
        super().__init__(viewers, period)

    def look(self, time: float, joints: Placements) -> None:
        """Take a picture; it is kept packed, as a minute of them would fill the memory."""
        picture = self._picture(joints)
        self.count += 1
        self._pictures.append((zlib.compress(picture.tobytes(), 1), picture.shape))

    def close(self) -> None:
        """Write what was taken.

        Raises:
            InputError: the file can't be written any more.
        """
        super().close()
        if not self._pictures:
            return
        frames = self._frames()
        first = next(frames)
        # Browsers know hundredths of a second in GIF, and slow down what is shown for less than two.
        milliseconds = max(20, 10 * round(100.0 * self._duration))
        try:
            first.save(self.path, save_all=True, append_images=frames, duration=milliseconds, loop=0)
        except OSError as problem:
            raise InputError(
                f"the film can't be written: {problem}", source=self.path, remedy="Give a place with room for it"
            ) from problem
        self._pictures.clear()

    def _frames(self) -> Iterator[Image]:
        from PIL import Image

        def unpack(number: int) -> Image.Image:
            packed, shape = self._pictures[number]
            return Image.fromarray(np.frombuffer(zlib.decompress(packed), np.uint8).reshape(shape))

        if self.path.suffix.lower() != ".gif":
            yield from map(unpack, range(self.count))
            return
        # One palette for all, so that what stands still stays the same and takes no room.
        palette = unpack(self.count // 2).quantize(COLOURS, Image.Quantize.FASTOCTREE)
        for number in range(self.count):
            yield unpack(number).quantize(palette=palette, dither=Image.Dither.NONE)


def check_film(path: str | Path) -> Path:
    """Return the path of a film.

    Raises:
        InputError: its ending is none of :data:`FORMATS`, or it can't be written.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"is '{path}'", element="path", remedy=f"Give a file that ends in {', '.join(FORMATS)}")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError("can't be written", source=path, element="path", remedy="Give a file in a folder that exists")
    return path
