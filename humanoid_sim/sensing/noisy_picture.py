# SPDX-License-Identifier: Apache-2.0
"""What a camera's pixels measure: colours and distances with noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.sensor import Noise
from humanoid_sim.sensing.noisy_signal import check_noise

_NONE = Noise()


def check_picture_noises(noises: Mapping[str, Noise]) -> None:
    """Refuse noises of a camera that make no sense.

    Raises:
        InputError: a number is negative or not finite, biases of another number than three for colours and one for
            distances, or a filter, a walk or a latency, which pictures don't have.
    """
    for quantity, noise in noises.items():
        check_noise(noise, 3 if quantity == "colour" else 1)
        for name in ("bias_walk", "time_constant", "latency"):
            if getattr(noise, name):
                raise InputError(
                    f"{name} is {getattr(noise, name)}", element=f"noise.{quantity}",
                    remedy="Leave it out: each pixel of a camera has deviation, bias and resolution",
                )  # fmt: skip


def noisy_colours(
    picture: NDArray[np.uint8], noises: Mapping[str, Noise], generator: np.random.Generator
) -> NDArray[np.uint8]:
    """Return a picture, shape (height, width, 3), with the noise ``colour``, in levels of 0..255."""
    return np.clip(np.round(_disturbed(picture, noises.get("colour", _NONE), generator)), 0, 255).astype(np.uint8)


def noisy_distances(distances: Array, noises: Mapping[str, Noise], generator: np.random.Generator) -> Array:
    r"""Return distances with the noise ``inverse_depth`` [1/m] and then ``depth`` [m]; infinite ones stay.

    Stereo and structured-light cameras measure a disparity :math:`d = b f / z`; an error :math:`\sigma` of
    :math:`1/z` is one of :math:`\sigma z^2` of the distance, and its resolution makes steps that grow likewise
    (K. Khoshelham, S. O. Elberink, Accuracy and resolution of Kinect depth data, 2012). What is lost, with a distance
    that isn't positive, is infinite.

    Args:
        distances: along the optical axis [m], shape (height, width).
        noises: by quantity.
        generator: where random numbers come from; as many are drawn without noise as with it.
    """
    with np.errstate(divide="ignore"):
        inverse = _disturbed(1.0 / distances, noises.get("inverse_depth", _NONE), generator)
        found = _disturbed(1.0 / np.maximum(inverse, 0.0), noises.get("depth", _NONE), generator)
    return np.where(np.isfinite(distances) & (found > 0.0), found, np.inf)


def _disturbed(values: NDArray[np.uint8] | Array, noise: Noise, generator: np.random.Generator) -> Array:
    measured: Array = values + np.asarray(noise.bias) + noise.deviation * generator.standard_normal(values.shape)
    return noise.resolution * np.round(measured / noise.resolution) if noise.resolution > 0.0 else measured
