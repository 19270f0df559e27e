# SPDX-License-Identifier: Apache-2.0
"""BIP in the sagittal plane: S4 in double, S5 in single support (specification 003 sections 2.10 to 2.12).

Double support has its frame at the rear toe, single support at the stance toe; the stance ankle is at (-b, a).
"""

from __future__ import annotations

import cmath
import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.yaml_node import read_yaml
from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism
from humanoid_studies.planar_gait.mechanism.phase_model import AngleClosure, CutContact, CutForce, PhaseModel
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Link, Pivot, PlanarMechanism
from humanoid_studies.planar_gait.models.foot_triangle import FootTriangle
from humanoid_studies.planar_gait.models.leg_joint import LegJoint, read_leg_joints
from humanoid_studies.planar_gait.models.segment import Segment, read_segment, require_keys

_SOLE_POINTS = 5
"""Between heel and toe: close enough, with the margin of an obstacle's envelope, for none to slip between them."""

SEGMENTS = ("rear_foot", "rear_shank", "rear_thigh", "front_thigh", "front_shank", "front_foot", "trunk")


@dataclass(frozen=True)
class Bip:
    """Its parameters; :func:`load_bip` reads them from a file.

    Attributes:
        segments: S_1 to S_7 by name, as Table III-3 has them: the front foot on an axis from ankle to toe.
        foot: the triangle of both feet.
        gravity: [m/s²].
        joints: ankle, knee and hip.
    """

    segments: Mapping[str, Segment]
    foot: FootTriangle
    gravity: float
    joints: Mapping[str, LegJoint]

    @property
    def mass(self) -> float:
        """Sum of the masses [kg]."""
        return sum(self.segments[name].mass for name in SEGMENTS)

    def with_trunk_mass(self, mass: float) -> Bip:
        """Return the robot with another mass of the trunk, its inertia in proportion (thesis III.4, F-096 and F-098).

        Raises:
            InputError: the mass isn't positive.
        """
        return dataclasses.replace(self, segments={**self.segments, "trunk": self.segments["trunk"].with_mass(mass)})

    def with_foot(self, foot: FootTriangle) -> Bip:
        """Return the robot with another foot, whose ankle-toe side becomes the rear foot's length."""
        rear = dataclasses.replace(self.segments["rear_foot"], length=foot.ankle_toe)
        return dataclasses.replace(self, segments={**self.segments, "rear_foot": rear}, foot=foot)

    def with_legs_exchanged(self) -> Bip:
        """Return the robot whose rear leg has the front leg's masses, and the other way round.

        Each segment is seen from its other end: the chain runs up the rear leg and down the front one.
        """
        turned = dict(self.segments)
        for part in ("foot", "shank", "thigh"):
            rear, front = self.segments[f"rear_{part}"], self.segments[f"front_{part}"]
            # A front foot's length isn't needed elsewhere, and may not be given.
            turned[f"rear_{part}"] = dataclasses.replace(front, length=rear.length).reversed()
            turned[f"front_{part}"] = rear.reversed()
        return dataclasses.replace(self, segments=turned)

    def mechanism(self, step_length: float, step_height: float = 0.0) -> PlanarMechanism:
        """Links and joints in double support: the rear foot pivots on its toe, the front one touches by its heel.

        Args:
            step_length: LPAS, from toe to toe [m].
            step_height: of the ground under the front foot [m].
        """
        foot = self.foot
        links = [self.segments[name].link(name) for name in SEGMENTS]
        # Table III-3 gives the front foot on the axis ankle-toe; here its axis is ankle-heel (erratum ER-16).
        front = links[5]
        links[5] = Link(front.name, front.mass, front.centre * cmath.rect(1.0, foot.ankle_angle), front.inertia)
        r = [self.segments[name].length for name in SEGMENTS]
        gamma, beta = foot.toe_angle, foot.heel_angle
        pivots = (
            self._pivot("rear_ankle", "ankle", "rear_foot", r[0], "rear_shank", "C12", 1, gamma - math.pi / 2),
            self._pivot("rear_knee", "knee", "rear_shank", r[1], "rear_thigh", "C23", 1, 0.0),
            self._pivot("rear_hip", "hip", "rear_thigh", r[2], "trunk", "C37", 1, 0.0),
            self._pivot("front_hip", "hip", "trunk", 0.0, "front_thigh", "C74", -1, -math.pi),
            self._pivot("front_knee", "knee", "front_thigh", r[3], "front_shank", "C45", -1, 0.0),
            self._pivot("front_ankle", "ankle", "front_shank", r[4], "front_foot", "C56", -1, beta - math.pi / 2),
            Pivot("rear_toe", GROUND, 0.0, "rear_foot", contact=True),
            Pivot(
                "front_heel",
                "front_foot",
                foot.ankle_heel,
                GROUND,
                complex(step_length - foot.length, step_height),
                forces=("F_B12", "F_B1"),
                contact=True,
            ),
        )
        return PlanarMechanism("bip_double_support", tuple(links), pivots)

    def double_support(
        self,
        step_length: float,
        friction: float = math.inf,
        min_toe_force: float = 0.0,
        toe_force: bool = True,
        step_height: float = 0.0,
    ) -> PhaseModel:
        """S4: u = (C12, C23, C37, C74, C45, C56, F_B1, F_B2, F_B12), the front foot cut free.

        The distributed action of the ground on the front foot is three scalars (section 2.13.1): vertical forces at
        heel and toe, a horizontal one along the sole.

        Args:
            step_length: LPAS, from toe to toe [m].
            friction: of the front foot, |F_B12| <= friction (F_B1 + F_B2).
            min_toe_force: least F_B2 [N]; the cyclic step of the thesis has 6.
            toe_force: whether F_B2 is a control. The thesis keeps it throughout, though the toe touches only when the
                foot has come down; without it the model is that of the foot coming down on its heel alone.
            step_height: of the ground under the front foot [m].

        Raises:
            InputError: the step isn't finite, or the least force isn't finite and at least zero.
        """
        if not 0.0 <= min_toe_force < math.inf:
            raise InputError(f"is {min_toe_force} N", element="min_toe_force", remedy="Give 0 N or more")
        foot = self.foot
        points = {
            "rear_toe": ("rear_foot", 0j),
            "rear_heel": ("rear_foot", self._heel_from_toe()),
            "rear_ankle": ("rear_shank", 0j),
            "rear_knee": ("rear_thigh", 0j),
            "hip": ("trunk", 0j),
            "front_knee": ("front_shank", 0j),
            "front_ankle": ("front_foot", 0j),
            "front_heel": ("front_foot", complex(foot.ankle_heel)),
            "front_toe": ("front_foot", cmath.rect(foot.ankle_toe, foot.ankle_angle)),
            "trunk_top": ("trunk", complex(self.segments["trunk"].length)),
        }
        model = open_mechanism(self.mechanism(step_length, step_height), ("front_heel",), self.gravity, points)
        toe = (CutForce("F_B2", "front_toe", 1j, lower=min_toe_force),) if toe_force else ()
        return model.replace(
            cut_forces=(
                CutForce("F_B1", "front_heel", 1j, lower=0.0),
                *toe,
                CutForce("F_B12", "front_heel", 1.0 + 0j),
            ),
            contacts=(CutContact("front_foot", ("F_B1", *(force.name for force in toe)), "F_B12", friction),),
            angle_closures=(AngleClosure("front_foot", foot.heel_angle - math.pi),),
        )

    def single_support(self) -> PhaseModel:
        """S5: u = (C01, C12, C26, C63, C34, C45), the stance foot flat and fixed.

        The swing foot's axis goes from ankle to toe. Bodies 1 to 6 are
        S4's 2 to 7: the stance leg has the rear leg's data, the swing leg the front leg's.
        """
        foot = self.foot
        names = {
            "rear_shank": "stance_shank",
            "rear_thigh": "stance_thigh",
            "front_thigh": "swing_thigh",
            "front_shank": "swing_shank",
            "front_foot": "swing_foot",
            "trunk": "trunk",
        }
        links = tuple(self.segments[old].link(new) for old, new in names.items())
        r = {new: self.segments[old].length for old, new in names.items()}
        ankle = complex(-foot.toe_ahead, foot.ankle_height)
        pivots = (
            self._pivot("stance_ankle", "ankle", GROUND, ankle, "stance_shank", "C01", 1, math.pi / 2),
            self._pivot("stance_knee", "knee", "stance_shank", r["stance_shank"], "stance_thigh", "C12", 1, 0.0),
            self._pivot("stance_hip", "hip", "stance_thigh", r["stance_thigh"], "trunk", "C26", 1, 0.0),
            self._pivot("swing_hip", "hip", "trunk", 0.0, "swing_thigh", "C63", -1, -math.pi),
            self._pivot("swing_knee", "knee", "swing_thigh", r["swing_thigh"], "swing_shank", "C34", -1, 0.0),
            self._pivot(
                "swing_ankle",
                "ankle",
                "swing_shank",
                r["swing_shank"],
                "swing_foot",
                "C45",
                -1,
                math.pi / 2 - foot.toe_angle,
            ),
        )
        points = {
            "stance_ankle": ("stance_shank", 0j),
            "stance_knee": ("stance_thigh", 0j),
            "hip": ("trunk", 0j),
            "swing_knee": ("swing_shank", 0j),
            "swing_ankle": ("swing_foot", 0j),
            "swing_heel": ("swing_foot", cmath.rect(foot.ankle_heel, -foot.ankle_angle)),
            "swing_toe": ("swing_foot", complex(foot.ankle_toe)),
            "trunk_top": ("trunk", complex(self.segments["trunk"].length)),
        }
        heel, toe = points["swing_heel"][1], points["swing_toe"][1]
        sole = {
            f"swing_sole_{k}": ("swing_foot", heel + k / (_SOLE_POINTS + 1) * (toe - heel))
            for k in range(1, _SOLE_POINTS + 1)
        }
        points |= sole
        mechanism = PlanarMechanism("bip_single_support", links, pivots)
        model = open_mechanism(mechanism, (), self.gravity, points)
        return model.replace(clearance_points=("swing_heel", "swing_toe"), obstacle_points=tuple(sole))

    def _heel_from_toe(self) -> complex:
        """Return rear heel on the axis from toe to ankle: a flat foot has that axis at pi - gamma_p, its heel at pi."""
        return cmath.rect(self.foot.length, self.foot.toe_angle)

    def _pivot(
        self, name: str, kind: str, parent: str, at: complex, child: str, torque: str, sign: int, offset: float
    ) -> Pivot:
        return self.joints[kind].limit(Pivot(name, parent, at, child, torque=torque), sign, offset)


def load_bip(path: str | Path | None = None) -> Bip:
    """Read BIP's parameters.

    Args:
        path: a YAML file; the thesis' one if left out (``config/gait/bip.yaml``).

    Raises:
        InputError: the file can't be used; the message names line and field.
    """
    top = read_yaml(path or find_resource("config/gait/bip.yaml"), InputError)
    values = top.mapping(("model", "gravity", "foot", "offsets", "segments", "damping", "ranges", "rates", "rotors"))
    require_keys(top, values, ("model", "foot", "segments"))
    values["model"].string(("bip",))
    nodes = values["segments"].mapping(SEGMENTS)
    require_keys(values["segments"], nodes, SEGMENTS)
    segments = {name: read_segment(nodes[name], with_length=name != "front_foot") for name in SEGMENTS}
    if "offsets" in values and values["offsets"].string(("full", "thesis")) == "thesis":
        for name in SEGMENTS:
            if not name.endswith("foot"):
                segments[name] = dataclasses.replace(segments[name], centre=complex(segments[name].centre.real))
    foot = values["foot"].mapping(("length", "ankle_height", "ankle_heel"))
    require_keys(values["foot"], foot, ("ankle_height",))
    if ("length" in foot) == ("ankle_heel" in foot):
        raise values["foot"].fail("has both or none of length and ankle_heel", "Give one of them")
    height = foot["ankle_height"].number()
    ankle_toe = segments["rear_foot"].length
    try:
        triangle = (
            FootTriangle(ankle_toe, foot["length"].number(), height)
            if "length" in foot
            else FootTriangle.from_sides(ankle_toe, foot["ankle_heel"].number(), height)
        )
    except InputError as problem:
        raise values["foot"].fail(f"{problem.element}: {problem.problem}", problem.remedy) from None
    return Bip(
        segments,
        triangle,
        values["gravity"].number() if "gravity" in values else 9.81,
        read_leg_joints(values, ("ankle", "knee", "hip")),
    )
