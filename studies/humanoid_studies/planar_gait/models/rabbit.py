# SPDX-License-Identifier: Apache-2.0
"""RABBIT, the biped with five links and no feet: S2 in double, S3 in single support (specification 003 section 2.9)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.yaml_node import read_yaml
from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism
from humanoid_studies.planar_gait.mechanism.phase_model import CutContact, PhaseModel
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Pivot, PlanarMechanism
from humanoid_studies.planar_gait.models.leg_joint import LegJoint, read_leg_joints
from humanoid_studies.planar_gait.models.segment import Segment, read_segment, require_keys


@dataclass(frozen=True)
class Rabbit:
    """Its parameters; :func:`load_rabbit` reads them from a file.

    Attributes:
        rear_shank: S_1, from the foot's tip to the knee.
        rear_thigh: S_2, from the knee to the hip.
        front_thigh: S_3, from the hip to the knee.
        front_shank: S_4, from the knee to the foot's tip.
        trunk: S_5, from the hip.
        gravity: [m/s²].
        joints: knee and hip.
    """

    rear_shank: Segment
    rear_thigh: Segment
    front_thigh: Segment
    front_shank: Segment
    trunk: Segment
    gravity: float
    joints: Mapping[str, LegJoint]

    @property
    def lengths(self) -> tuple[float, float, float, float]:
        """r_1 to r_4 [m]."""
        return self.rear_shank.length, self.rear_thigh.length, self.front_thigh.length, self.front_shank.length

    def with_trunk_mass(self, mass: float) -> Rabbit:
        """Return the robot with another mass of the trunk, its inertia in proportion.

        Raises:
            InputError: the mass isn't positive.
        """
        return dataclasses.replace(self, trunk=self.trunk.with_mass(mass))

    def with_legs_exchanged(self) -> Rabbit:
        """Return the robot whose rear leg has the front leg's masses, and the other way round.

        Each segment is seen from its other end: the chain runs up the rear leg and down the front one.
        """
        return dataclasses.replace(
            self,
            rear_shank=self.front_shank.reversed(),
            rear_thigh=self.front_thigh.reversed(),
            front_thigh=self.rear_thigh.reversed(),
            front_shank=self.rear_shank.reversed(),
        )

    def mechanism(
        self,
        step_length: float,
        ankle_torque: bool = False,
        legs: tuple[str, str] = ("rear", "front"),
        step_height: float = 0.0,
    ) -> PlanarMechanism:
        """Links and joints, both feet on the ground.

        Args:
            step_length: LPAS, from the rear foot's tip to the front one's [m].
            ankle_torque: whether the ground turns the rear shank, as a foot would.
            legs: what the chain's first and second leg are called.
            step_height: of the ground under the front foot [m].
        """
        first, second = legs
        links = (
            self.rear_shank.link(f"{first}_shank"),
            self.rear_thigh.link(f"{first}_thigh"),
            self.front_thigh.link(f"{second}_thigh"),
            self.front_shank.link(f"{second}_shank"),
            self.trunk.link("trunk"),
        )
        r1, r2, r3, r4 = self.lengths

        def bend(pivot: Pivot, kind: str, sign: int, offset: float = 0.0) -> Pivot:
            return self.joints[kind].limit(pivot, sign, offset)

        pivots = (
            bend(Pivot(f"{first}_knee", f"{first}_shank", r1, f"{first}_thigh", torque="C12"), "knee", 1),
            bend(Pivot(f"{first}_hip", f"{first}_thigh", r2, "trunk", torque="C25"), "hip", 1),
            bend(Pivot(f"{second}_hip", "trunk", 0.0, f"{second}_thigh", torque="C53"), "hip", -1, -math.pi),
            bend(Pivot(f"{second}_knee", f"{second}_thigh", r3, f"{second}_shank", torque="C34"), "knee", -1),
            Pivot(f"{first}_tip", GROUND, 0.0, f"{first}_shank", torque="C01" if ankle_torque else None, contact=True),
            Pivot(
                f"{second}_tip",
                f"{second}_shank",
                r4,
                GROUND,
                complex(step_length, step_height),
                forces=("F_O5x", "F_O5y"),
                contact=True,
            ),
        )
        return PlanarMechanism(f"rabbit_{first}_{second}", links, pivots)

    def double_support(self, step_length: float, friction: float = math.inf, step_height: float = 0.0) -> PhaseModel:
        """S2: u = (C12, C25, C53, C34, F_O5y, F_O5x), the front contact cut; frame at the rear foot's tip.

        Args:
            step_length: LPAS [m].
            friction: of the front contact.
            step_height: of the ground under the front foot [m].

        Raises:
            InputError: the step isn't finite.
        """
        mechanism = self.mechanism(step_length, step_height=step_height)
        model = open_mechanism(mechanism, gravity=self.gravity, points=self._points("rear", "front"))
        contact = CutContact("front_tip", ("F_O5y",), "F_O5x", friction)
        return model.replace(name="rabbit_double_support", contacts=(contact,))

    def single_support(self, ankle_torque: bool = False) -> PhaseModel:
        """S3: u = (C12, C25, C53, C34), with ``ankle_torque`` C01 after them (erratum ER-19); frame at the stance tip.

        Args:
            ankle_torque: whether a torque acts between ground and stance shank.
        """
        whole = self.mechanism(0.0, ankle_torque, ("stance", "swing"))
        swinging = dataclasses.replace(whole, pivots=whole.pivots[:-1])
        model = open_mechanism(swinging, gravity=self.gravity, points=self._points("stance", "swing"))
        return model.replace(name="rabbit_single_support", clearance_points=("swing_tip",))

    def _points(self, first: str, second: str) -> dict[str, tuple[str, complex]]:
        return {
            f"{first}_tip": (f"{first}_shank", 0.0),
            f"{first}_knee": (f"{first}_thigh", 0.0),
            "hip": ("trunk", 0.0),
            f"{second}_knee": (f"{second}_shank", 0.0),
            f"{second}_tip": (f"{second}_shank", self.front_shank.length),
            "trunk_top": ("trunk", self.trunk.length),
        }


def load_rabbit(path: str | Path | None = None) -> Rabbit:
    """Read RABBIT's parameters.

    Args:
        path: a YAML file; the thesis' one if left out (``config/gait/rabbit.yaml``).

    Raises:
        InputError: the file can't be used; the message names line and field.
    """
    top = read_yaml(path or find_resource("config/gait/rabbit.yaml"), InputError)
    values = top.mapping(("model", "gravity", "measured_from", "segments", "damping", "ranges", "rates", "rotors"))
    require_keys(top, values, ("model", "segments"))
    values["model"].string(("rabbit",))
    proximal = values["measured_from"].string(("proximal", "axis")) if "measured_from" in values else "proximal"
    nodes = values["segments"].mapping(("shank", "thigh", "trunk"))
    require_keys(values["segments"], nodes, ("shank", "thigh", "trunk"))
    shank, thigh, trunk = (read_segment(nodes[name], with_length=True) for name in ("shank", "thigh", "trunk"))
    rear = [part.reversed() if proximal == "proximal" else part for part in (shank, thigh)]
    return Rabbit(
        rear[0],
        rear[1],
        thigh,
        shank,
        trunk,
        values["gravity"].number() if "gravity" in values else 9.81,
        read_leg_joints(values, ("knee", "hip")),
    )
