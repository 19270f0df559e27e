# SPDX-License-Identifier: Apache-2.0
"""The optimal control problem of one phase (specification 003 sections 2.16 to 2.20)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree
from humanoid_studies.planar_gait.optimal_control.control_rows import ControlRow, FootForces, cut_foot
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties


@dataclass(frozen=True, eq=False)
class PhaseProblem:
    """Minimise the penalised effort of a phase between two ends, equations (II.16) to (II.18).

    Bounds of single controls are the model's (``model.with_bounds``); its cut contacts with a finite friction
    coefficient are kept within their friction cone.

    Attributes:
        model: dynamics, controls and closures.
        start: state at the beginning.
        end: state at the end.
        duration: of the phase; the first guess if it is free [s].
        effort: the criterion.
        penalties: on closures, ranges, rates and clearances.
        rows: further affine constraints on the controls, as of contacts that aren't cut.
        feet: whose forces are reported and checked; the cut contacts if left out.
        friction: coefficient that the feet are checked against.
        hard_closure: the closures hold exactly, by their accelerations, instead of by penalty.
        hard_angles: so do the closures by an angle: a front foot that is flat stays so.
        hard_inequalities: ranges, rates and clearances hold at the nodes, without penalty; direct transcription alone
            can do that.
        duration_range: least and greatest duration where it is free [s].
        mass_scale: factor on all masses and inertias, gravity acting on the scaled masses (section 2.26.1).
        body_scales: further factors on single bodies, the trunk above all.
    """

    model: PhaseModel
    start: EndState
    end: EndState
    duration: float
    effort: QuadraticEffort = field(default_factory=QuadraticEffort)
    penalties: Penalties = field(default_factory=Penalties)
    rows: tuple[ControlRow, ...] = ()
    feet: tuple[FootForces, ...] | None = None
    friction: float = math.inf
    hard_closure: bool = False
    hard_angles: bool = False
    hard_inequalities: bool = False
    duration_range: tuple[float, float] | None = None
    mass_scale: float = 1.0
    body_scales: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what the user gave.

        Raises:
            InputError: a value that isn't finite or positive, states that don't fit the model, rows of another number
                of controls, or names that the model doesn't have.
        """
        if not (math.isfinite(self.duration) and self.duration > 0.0):
            raise InputError(f"is {self.duration} s", element="duration", remedy="Give a time above 0")
        if self.duration_range is not None:
            least, greatest = self.duration_range
            if not (math.isfinite(least) and math.isfinite(greatest) and 0.0 < least < greatest):
                raise InputError(
                    f"is {self.duration_range} s", element="duration_range", remedy="Give 0 < least < greatest"
                )
        self.start.check(self.model, "start")
        self.end.check(self.model, "end")
        for row in self.rows:
            if len(row.controls) != self.model.control_count:
                raise InputError(
                    f"has {len(row.controls)} controls",
                    element=f"row '{row.name}'",
                    remedy=f"Give {self.model.control_count}, as the model has",
                )
            if not np.isfinite([*row.ground, *row.controls, *row.accelerations, row.constant]).all():
                raise InputError("isn't finite", element=f"row '{row.name}'", remedy="Give finite coefficients")
        if not self.friction > 0.0:
            raise InputError(f"is {self.friction}", element="friction", remedy="Give a coefficient above 0")
        for name, factor in {"mass_scale": self.mass_scale, **self.body_scales}.items():
            if not (math.isfinite(factor) and factor > 0.0):
                raise InputError(f"is {factor}", element=name, remedy="Give a factor above 0")
        bodies = [body.name for body in self.model.tree.bodies]
        for name in self.body_scales:
            if name not in bodies:
                raise InputError(
                    f"unknown body '{name}'", element="body_scales", remedy=f"Use one of {', '.join(bodies)}"
                )
        clear = self.model.points_to_clear(True)
        for name in self.penalties.point_weights:
            if name not in clear:
                raise InputError(
                    f"unknown clearance point '{name}'",
                    element="penalties.point_weights",
                    remedy=f"Use one of {', '.join(clear) or 'none, this model has none'}",
                )
        self.effort.diagonal(self.model)
        if self.hard_angles and not (self.hard_closure and self.model.angle_closures):
            raise InputError(
                "is set without a closure by an angle, or with other closures by penalty",
                element="hard_angles",
                remedy="Set hard_closure too, for a model whose front foot comes down",
            )
        if self.hard_closure and not self.model.point_closures:
            raise InputError("has no closure to hold", element="hard_closure", remedy="Leave it off for this model")

    def replace(self, **changes: object) -> PhaseProblem:
        """Return the problem with some of its attributes changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @cached_property
    def checked_feet(self) -> tuple[FootForces, ...]:
        """Feet whose forces are reported."""
        if self.feet is not None:
            return self.feet
        return tuple(cut_foot(self.model, contact.name) for contact in self.model.contacts)

    @cached_property
    def tree(self) -> PlanarTree:
        """The model's tree with its masses scaled."""
        return scaled_tree(self.model.tree, self.mass_scale, self.body_scales)

    @cached_property
    def scaled_model(self) -> PhaseModel:
        """The model on the scaled tree."""
        return self.model if self.tree is self.model.tree else self.model.replace(tree=self.tree)

    @cached_property
    def all_rows(self) -> tuple[ControlRow, ...]:
        """The given rows and those of friction at the cut contacts."""
        friction: tuple[ControlRow, ...] = ()
        for contact in self.model.contacts:
            if math.isfinite(contact.friction):
                friction += cut_foot(self.model, contact.name).friction(contact.friction)
        return friction + self.rows

    @property
    def free_duration(self) -> bool:
        """Whether the duration is chosen by the optimum."""
        return self.duration_range is not None


def scaled_tree(tree: PlanarTree, factor: float, bodies: Mapping[str, float]) -> PlanarTree:
    """Return a tree with masses and inertias scaled: all and the rotors by ``factor``, single bodies by theirs."""
    if factor == 1.0 and all(value == 1.0 for value in bodies.values()):
        return tree
    scales = [factor * bodies.get(body.name, 1.0) for body in tree.bodies]
    scaled = tuple(
        dataclasses.replace(body, mass=scale * body.mass, inertia=scale * body.inertia)
        for body, scale in zip(tree.bodies, scales, strict=True)
    )
    masses = np.array([body.mass for body in scaled])
    inertia = np.einsum("k,ki,kj->ij", masses, tree.centres.conj(), tree.centres)
    for body in scaled:
        own = tree.coordinate_of(body.name)
        inertia[own, own] += body.inertia
    return dataclasses.replace(
        tree, bodies=scaled, inertia=inertia, moments=masses @ tree.centres, rotors=factor * tree.rotors
    )
