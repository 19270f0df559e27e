# SPDX-License-Identifier: Apache-2.0
"""A biped as the assembly of phases sees it: its two models, their ends, and the map between them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.models.bip import Bip
from humanoid_studies.planar_gait.models.rabbit import Rabbit
from humanoid_studies.planar_gait.optimal_control.control_rows import FootForces, root_point
from humanoid_studies.planar_gait.optimal_control.stance_foot import stance_forces
from humanoid_studies.planar_gait.specification import five_link, seven_link
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.step_data import RestData, StepData


class Walker(Protocol):
    """What walks in steps of double and single support.

    The frame of double support is at the tip or toe of the rear foot, that of single support at the stance foot's.
    """

    def double_support(self, step: StepData) -> PhaseModel:
        """Return the model of double support."""

    def single_support(self) -> PhaseModel:
        """Return the model of single support."""

    def double_support_start(self, step: StepData) -> BoundaryState:
        """State in which the front foot touches."""

    def double_support_end(self, step: StepData) -> BoundaryState:
        """State in which the rear foot leaves."""

    def single_from_double(self, state: BoundaryState) -> BoundaryState:
        """Return an end of double support in the coordinates of the single support after it."""

    def single_from_touch_down(self, state: BoundaryState) -> BoundaryState:
        """Return a beginning of double support in the coordinates of the single support before it."""

    def rest(self, data: RestData) -> BoundaryState:
        """Standing still, in the coordinates of single support."""

    def root_forces(self, model: PhaseModel) -> FootForces:
        """Return forces under the foot at the root, which isn't cut, of either model."""

    def with_legs_exchanged(self) -> Walker:
        """Return the same robot with its legs in each other's parts."""

    @property
    def foot_length(self) -> float:
        """Heel to toe [m]; 0 without feet."""

    @property
    def same_points(self) -> Mapping[str, tuple[str, str]]:
        """Points of single support, and which ones they are in double support after and before it."""


@dataclass(frozen=True)
class BipWalker:
    """BIP on its two feet.

    Attributes:
        bip: its parameters.
        friction: of the front foot in double support.
        min_toe_force: least force of the front toe in double support [N].
        torque_limits: greatest absolute torques, by kind of joint: hip, knee, ankle; those left out aren't limited
            [N m].
    """

    bip: Bip
    friction: float = math.inf
    min_toe_force: float = 0.0
    torque_limits: Mapping[str, float] = field(default_factory=dict)

    def double_support(self, step: StepData) -> PhaseModel:
        """S4."""
        return self._limited(
            self.bip.double_support(
                step.step_length, self.friction, self.min_toe_force, step_height=step.step_height
            )
        )

    def single_support(self) -> PhaseModel:
        """S5."""
        return self._limited(self.bip.single_support())

    def double_support_start(self, step: StepData) -> BoundaryState:
        """Return the front heel touches."""
        return seven_link.double_support_start(self.bip, step)

    def double_support_end(self, step: StepData) -> BoundaryState:
        """Return the rear toe leaves."""
        return seven_link.double_support_end(self.bip, step)

    def single_from_double(self, state: BoundaryState) -> BoundaryState:
        """Return the front leg becomes the stance leg."""
        return seven_link.single_from_double(state)

    def single_from_touch_down(self, state: BoundaryState) -> BoundaryState:
        """Return the stance leg becomes the rear leg."""
        return seven_link.single_from_touch_down(self.bip, state)

    def rest(self, data: RestData) -> BoundaryState:
        """Feet together and flat."""
        return seven_link.rest(self.bip, data)

    @property
    def foot_length(self) -> float:
        """Of the sole [m]."""
        return self.bip.foot.length

    def root_forces(self, model: PhaseModel) -> FootForces:
        """Heel and toe of the stance foot, or the rear toe alone."""
        if model.cut_forces:
            return root_point(model, "rear_toe")
        return stance_forces(self.bip, model)

    def with_legs_exchanged(self) -> BipWalker:
        """As :class:`Walker` says."""
        return dataclasses.replace(self, bip=self.bip.with_legs_exchanged())

    def _limited(self, model: PhaseModel) -> PhaseModel:
        """Return the model with its torques bounded; a joint's torque acts between the same two links."""
        ends = {frozenset((joint.child, joint.parent)): joint.name for joint in model.joints}
        limits = {torque.name: self._limit(ends[frozenset((torque.on, torque.by))]) for torque in model.torques}
        return model.with_bounds(**{name: (-limit, limit) for name, limit in limits.items() if limit < math.inf})

    def _limit(self, joint: str) -> float:
        return next((limit for kind, limit in self.torque_limits.items() if joint.endswith(kind)), math.inf)

    @property
    def same_points(self) -> Mapping[str, tuple[str, str]]:
        """As :class:`Walker` says."""
        return {
            "hip": ("hip", "hip"),
            "trunk_top": ("trunk_top", "trunk_top"),
            "stance_ankle": ("rear_ankle", "front_ankle"),
            "stance_knee": ("rear_knee", "front_knee"),
            "swing_knee": ("front_knee", "rear_knee"),
            "swing_ankle": ("front_ankle", "rear_ankle"),
            "swing_heel": ("front_heel", "rear_heel"),
            "swing_toe": ("front_toe", "rear_toe"),
        }


@dataclass(frozen=True)
class RabbitWalker:
    """RABBIT on the tips of its shanks.

    Attributes:
        rabbit: its parameters.
        ankle_torque: whether the ground turns the stance shank (erratum ER-19).
        friction: of the front tip in double support.
    """

    rabbit: Rabbit
    ankle_torque: bool = False
    friction: float = math.inf

    def double_support(self, step: StepData) -> PhaseModel:
        """S2."""
        return self.rabbit.double_support(step.step_length, self.friction, step.step_height)

    def single_support(self) -> PhaseModel:
        """S3."""
        return self.rabbit.single_support(self.ankle_torque)

    def double_support_start(self, step: StepData) -> BoundaryState:
        """Return the front tip touches."""
        return five_link.double_support_start(self.rabbit, step)

    def double_support_end(self, step: StepData) -> BoundaryState:
        """Return the rear tip leaves."""
        return five_link.double_support_end(self.rabbit, step)

    def single_from_double(self, state: BoundaryState) -> BoundaryState:
        """Return the front leg becomes the stance leg."""
        return five_link.single_from_double(state)

    def single_from_touch_down(self, state: BoundaryState) -> BoundaryState:
        """Return the stance leg becomes the rear leg."""
        return five_link.single_from_touch_down(state)

    def rest(self, data: RestData) -> BoundaryState:
        """Tips together."""
        return five_link.rest(self.rabbit, data)

    @property
    def foot_length(self) -> float:
        """None: 0 m."""
        return 0.0

    def root_forces(self, model: PhaseModel) -> FootForces:
        """Return the rear or stance tip."""
        return root_point(model, "rear_tip" if model.cut_forces else "stance_tip")

    def with_legs_exchanged(self) -> RabbitWalker:
        """As :class:`Walker` says."""
        return dataclasses.replace(self, rabbit=self.rabbit.with_legs_exchanged())

    @property
    def same_points(self) -> Mapping[str, tuple[str, str]]:
        """As :class:`Walker` says."""
        return {
            "hip": ("hip", "hip"),
            "trunk_top": ("trunk_top", "trunk_top"),
            "stance_tip": ("rear_tip", "front_tip"),
            "stance_knee": ("rear_knee", "front_knee"),
            "swing_knee": ("front_knee", "rear_knee"),
            "swing_tip": ("front_tip", "rear_tip"),
        }
