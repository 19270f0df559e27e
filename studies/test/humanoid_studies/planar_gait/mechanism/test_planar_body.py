# SPDX-License-Identifier: Apache-2.0
"""Bodies of planar trees: conversion of inertias and what is refused."""

import re

import pytest

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody


def test_inertia_about_the_axis_is_moved_to_the_centre():
    body = PlanarBody.about_axis("foot", None, 0.0, 2.34, 0.143 + 0.042j, 0.1)
    assert body.inertia == pytest.approx(0.0480216, abs=1e-7)  # Table III-3, specification 003 section 3.4
    with pytest.raises(InputError, match=re.escape("foot.inertia: inertia 0.01 about the axis is less")):
        PlanarBody.about_axis("foot", None, 0.0, 2.34, 0.143 + 0.042j, 0.01)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "without a name"),
        ({"mass": -1.0}, "a.mass: is -1.0"),
        ({"mass": float("nan")}, "a.mass: is nan"),
        ({"inertia": float("inf")}, "a.inertia: is inf"),
        ({"centre": complex("nan")}, "a.centre: is"),
        ({"origin": complex("inf")}, "a.origin: is"),
        ({"welded": True}, "a: is welded to nothing"),
    ],
)
def test_what_no_body_has(changes, message):
    values = {"name": "a", "parent": None, "origin": 0.0, "mass": 1.0, "centre": 0.1, "inertia": 0.1, **changes}
    with pytest.raises(InputError, match=re.escape(message)):
        PlanarBody(**values)
