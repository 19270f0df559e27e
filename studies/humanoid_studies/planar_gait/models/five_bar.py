# SPDX-License-Identifier: Apache-2.0
"""The five-bar mechanism S1 (specification 003 section 2.8.2; thesis III.2): four bars, a base, a load at the apex."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.yaml_node import read_yaml
from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Link, Pivot, PlanarMechanism
from humanoid_studies.planar_gait.mechanism.two_link_leg import leg_angles
from humanoid_studies.planar_gait.models.segment import Segment, read_segment, require_keys


@dataclass(frozen=True)
class FiveBar:
    """Its parameters; :func:`load_five_bar` reads them from a file.

    Attributes:
        bars: S_1 to S_4.
        base: length L from O_1 to O_5 [m].
        load: point mass at O_3 [kg].
        gravity: [m/s²].
        damping: of the five joints [N m s/rad].
    """

    bars: tuple[Segment, Segment, Segment, Segment]
    base: float
    load: float
    gravity: float
    damping: tuple[float, ...]

    def mechanism(self) -> PlanarMechanism:
        """Links and joints; torque i <= 4 acts from S_{i-1} on S_i, torque 5 from S_4 on the base."""
        links = [bar.link(f"bar_{i}") for i, bar in enumerate(self.bars, start=1)]
        links.append(Link("load", self.load, 0j, 0.0))
        ends = [GROUND, *(f"bar_{i}" for i in range(1, 5)), GROUND]
        places = [0.0, *(bar.length for bar in self.bars)]
        pivots = [
            Pivot(
                f"O{i + 1}",
                ends[i],
                places[i],
                ends[i + 1],
                self.base if i == 4 else 0.0,
                torque=f"C{i + 1}",
                forces=(f"F_O{i + 1}x", f"F_O{i + 1}y"),
                damping=self.damping[i],
            )
            for i in range(5)
        ]
        pivots.append(Pivot("load_weld", "bar_2", self.bars[1].length, "load", weld=True))
        return PlanarMechanism("five_bar", tuple(links), tuple(pivots))

    def phase(self, cut: str = "O5") -> PhaseModel:
        """Return the model with u = (C1, .., C5, F_y, F_x).

        Args:
            cut: joint that is opened: the base joint O5 as in the thesis' example; O3 is what rule B would choose.

        Raises:
            InputError: there is no such joint.
        """
        return open_mechanism(self.mechanism(), (cut,), self.gravity, points={"apex": ("load", 0j)})

    def posture(self, apex: complex) -> NDArray[np.float64]:
        """(4,) absolute angles that put the apex at a place, knees outward [rad].

        Raises:
            InputError: the bars don't reach it, or only when stretched.
        """
        r = [bar.length for bar in self.bars]
        left = leg_angles(apex, r[0], r[1], -1, "left bars")
        right = leg_angles(self.base - apex, r[2], r[3], -1, "right bars")
        return np.array([*left, *right])


def load_five_bar(path: str | Path | None = None) -> FiveBar:
    """Read the parameters of a five-bar mechanism.

    Args:
        path: a YAML file; the thesis' one if left out (``config/gait/five_bar.yaml``).

    Raises:
        InputError: the file can't be used; the message names line and field.
    """
    top = read_yaml(path or find_resource("config/gait/five_bar.yaml"), InputError)
    values = top.mapping(("model", "gravity", "base", "bars", "load", "damping"))
    require_keys(top, values, ("model", "base", "bars", "load"))
    values["model"].string(("five_bar",))
    bars = values["bars"].items()
    if len(bars) != 4:
        raise values["bars"].fail(f"holds {len(bars)} bars", "Give four")
    damping = values["damping"].numbers(5) if "damping" in values else np.zeros(5)
    first, second, third, fourth = (read_segment(bar, with_length=True) for bar in bars)
    return FiveBar(
        (first, second, third, fourth),
        values["base"].number(above=0.0),
        values["load"].number(lowest=0.0),
        values["gravity"].number() if "gravity" in values else 9.81,
        tuple(float(value) for value in damping),
    )
