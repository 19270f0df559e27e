# SPDX-License-Identifier: Apache-2.0
"""Walking models and mechanisms by their names, with the robots that their gaits are trajectories of."""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from pathlib import Path

from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import list_resources
from humanoid_model.yaml_node import read_yaml
from humanoid_studies.planar_gait.lift.level_walk import LAST, START, level_step, with_reserves
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.models.bip import Bip, load_bip
from humanoid_studies.planar_gait.models.five_bar import load_five_bar
from humanoid_studies.planar_gait.models.rabbit import load_rabbit
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection, project_to_sagittal_plane
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind
from humanoid_studies.planar_gait.specification.step_data import RestData, StepData, load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

BIP, RABBIT, FIVE_BAR = "bip", "rabbit", "five_bar"
NAMES = (BIP, RABBIT, FIVE_BAR)
ROBOTS = {BIP: "bip_planar", RABBIT: "rabbit"}
"""Robots that move as the models do."""
YAML = (".yaml", ".yml")
LEG_JOINTS = 6
"""Of legs whose soles can be kept in place and level."""
_WHOLE = "Give bip, or a biped's name or URDF whose base floats and whose legs have six joints; or leave lift false"


@dataclass(frozen=True)
class FootSizes:
    """What the thesis leaves open of walkers' feet.

    Attributes:
        length: of BIP's sole, 0 for that of its file [m].
        ankle_height: of BIP's ankle above the sole, likewise [m].
        ankle_torque: whether the ground turns RABBIT's stance shank as a foot would (erratum ER-19); no robot has an
            actuator there, so that the gait is no trajectory of one.
    """

    length: float = 0.0
    ankle_height: float = 0.0
    ankle_torque: bool = False


@dataclass(frozen=True, eq=False)
class GaitModel:
    """What gaits are generated for.

    Attributes:
        name: as it was asked for.
        walker: None of a mechanism that doesn't walk.
        mechanism: closed mechanism that doesn't walk; None of walkers.
        robot: that the gait becomes a trajectory of; None of mechanisms.
        start_rest: standing before the first step; None where it isn't known.
        stop_rest: standing after the last one, likewise.
        chain: lengths of a mechanism's links [m].
    """

    name: str
    walker: BipWalker | RabbitWalker | None = None
    mechanism: PhaseModel | None = None
    robot: Robot | SagittalProjection | None = None
    start_rest: RestData | None = None
    stop_rest: RestData | None = None
    chain: tuple[float, ...] = ()

    def coordinates(self, kind: PhaseKind) -> int:
        """Return the number of coordinates of a phase."""
        if self.mechanism is not None:
            return self.mechanism.n
        walker = self.walking()
        single = walker.single_support().n
        return single + 1 if kind.double and walker.foot_length > 0.0 else single

    def walking(self) -> BipWalker | RabbitWalker:
        """Return the walker.

        Raises:
            InputError: the model doesn't walk.
        """
        if self.walker is None:
            raise InputError(f"'{self.name}' doesn't walk", element="model", remedy="Give a model with two legs")
        return self.walker

    @property
    def torque_limits(self) -> dict[str, float]:
        """Greatest absolute torques that the robot's leg joints give, by kind: hip, knee, ankle [N m].

        Kinds that the robot has no limit of aren't there; without a robot there are none.
        """
        if self.robot is None:
            return {}
        if isinstance(self.robot, SagittalProjection):
            robot, legs = self.robot.robot, zip(self.robot.rear.joints, self.robot.front.joints, strict=True)
            joints = dict(zip(("hip", "knee", "ankle"), legs, strict=True))
        else:
            robot = self.robot
            names = tuple((f"rear_{kind}", f"front_{kind}", kind) for kind in ("hip", "knee", "ankle"))
            joints = {kind: (rear, front) for rear, front, kind in names if rear in robot.joint_names}
        effort = robot.limits.effort
        limits = {kind: min(float(effort[robot.index_v(j)]) for j in pair) for kind, pair in joints.items()}
        return {kind: limit for kind, limit in limits.items() if limit < math.inf}

    def with_contacts(self, friction: float = math.inf, min_toe_force: float = 6.0) -> GaitModel:
        """Return the model, what its contacts keep to put into its walker.

        Args:
            friction: of the front foot in double support, kept by the controls.
            min_toe_force: least force of the front toe, of robots with feet [N].

        Raises:
            InputError: the model doesn't walk, or values that make no sense.
        """
        if not friction > 0.0:
            raise InputError(f"is {friction}", element="friction", remedy="Give a coefficient above 0")
        if not 0.0 <= min_toe_force < math.inf:
            raise InputError(f"is {min_toe_force}", element="min_toe_force", remedy="Give a force of 0 N or more")
        walker = self.walking()
        if isinstance(walker, BipWalker):
            walker = dataclasses.replace(walker, friction=friction, min_toe_force=min_toe_force)
        else:
            walker = dataclasses.replace(walker, friction=friction)
        return dataclasses.replace(self, walker=walker)

    def check_feet(self, step: StepData, name: str) -> None:
        """Refuse angles of feet that the model doesn't have.

        Args:
            step: data that may have them.
            name: of the step, for errors.

        Raises:
            InputError: there is one.
        """
        if self.walker is not None and self.walker.foot_length > 0.0:
            return
        for own in ("initial_sole_angle", "final_rear_foot_rate"):
            value = getattr(step, own)
            if value != 0.0:
                raise InputError(
                    f"is {value:g}, but '{self.name}' has no feet", element=f"{name}.{own}", remedy="Leave it at 0"
                )


def load_gait_model(name: str, feet: FootSizes | None = None, field: str = "model") -> GaitModel:
    """Return a model by its name, the path of its file, or a robot to be walked in its sagittal plane.

    Args:
        name: of :data:`NAMES`, a path, or a robot's name.
        feet: where they are open; those of the files if left out.
        field: that gives the name, for errors.

    Raises:
        InputError: there is no such model, its file can't be used, or the robot can't walk in the plane.
    """
    if not name.strip():
        raise InputError("is empty", element=field, remedy=_known())
    files = (Path(name), Path(name).with_suffix(".yaml")) if Path(name).suffix else ()
    return _load(name, feet or FootSizes(), field, tuple(_changed(file) for file in files))


@functools.lru_cache(8)
def _load(name: str, feet: FootSizes, field: str, _: tuple[int, ...]) -> GaitModel:
    """Keep the last models until their files change."""
    kind, path = name, None
    if Path(name).suffix in YAML:
        path = Path(name)
        values = read_yaml(path, InputError).mapping()
        if "model" not in values:
            raise InputError("'model' is missing", source=path, element=field, remedy=f"Give {', '.join(NAMES)}")
        kind = values["model"].string(NAMES)
    if kind == FIVE_BAR:
        bars = load_five_bar(path)
        return GaitModel(name, mechanism=bars.phase(), chain=tuple(bar.length for bar in bars.bars))
    if kind == RABBIT:
        rabbit = RabbitWalker(load_rabbit(path), feet.ankle_torque)
        return GaitModel(name, rabbit, robot=None if feet.ankle_torque else load_robot(ROBOTS[RABBIT]))
    if kind == BIP:
        walker = BipWalker(_with_feet(load_bip(path), feet))
        rests = load_walk("bip_cyclic").rest, load_walk("bip_braking").rest
        return GaitModel(name, walker, None, load_robot(ROBOTS[BIP]), *rests)
    projection = _project(name, field)
    return GaitModel(name, BipWalker(projection.bip), robot=projection)


def load_whole_model(name: str, field: str = "model") -> GaitModel:
    """Return the whole robot of a name, whose gaits can be lifted; ``bip`` is BIP2000 itself, not the planar model.

    Its joints keep the reserves in the plane that a lift takes.

    Args:
        name: of a robot, or the path of its URDF.
        field: that gives the name, for errors.

    Raises:
        InputError: there is no such robot, or its gaits can't be lifted.
    """
    if name in (RABBIT, FIVE_BAR) or Path(name).suffix in YAML:
        raise InputError(f"'{name}' is no whole robot that a gait could be lifted to", element=field, remedy=_WHOLE)
    files = (Path(name), Path(name).with_suffix(".yaml")) if Path(name).suffix else ()
    return _load_whole(name, field, tuple(_changed(file) for file in files))


@functools.lru_cache(8)
def _load_whole(name: str, field: str, _: tuple[int, ...]) -> GaitModel:
    """Keep the last robots until their files change."""
    projection = _project(name, field)
    robot = projection.robot
    if robot.base_joint is None:
        raise InputError(f"'{name}' moves in the plane alone", element=field, remedy=_WHOLE)
    for leg in (projection.rear, projection.front):
        limb, joints = next(item for item in robot.limbs.items() if leg.joints[2] in item[1])
        if len(joints) != LEG_JOINTS:
            raise InputError(f"limb '{limb}' of '{name}' has {len(joints)} joints", element=field, remedy=_WHOLE)
    projection = with_reserves(projection)
    rests = level_step(START, projection).rest, level_step(LAST, projection).rest
    return GaitModel(name, BipWalker(projection.bip), None, projection, *rests)


def _project(name: str, field: str) -> SagittalProjection:
    """Return a robot by its name or path, in its sagittal plane."""
    if Path(name).suffix != ".urdf" and name not in list_resources("urdf", (".urdf", ".yaml")):
        raise InputError(f"there is no model or robot '{name}'", element=field, remedy=_known())
    try:
        return project_to_sagittal_plane(load_robot(name))
    except InputError as error:
        raise InputError(
            f"'{name}' can't be walked in its sagittal plane: {error}", element=field, remedy="Give another robot"
        ) from error


def _with_feet(bip: Bip, feet: FootSizes) -> Bip:
    changes = {"length": feet.length, "ankle_height": feet.ankle_height}
    given = {key: value for key, value in changes.items() if value > 0.0}
    return bip.with_foot(dataclasses.replace(bip.foot, **given)) if given else bip


def _changed(file: Path) -> int:
    """When a file was changed last [ns]; 0 if there is none."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _known() -> str:
    return f"Give {', '.join(NAMES)}, the path of such a model's YAML file, or the name or path of a biped's URDF"
