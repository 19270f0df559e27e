# SPDX-License-Identifier: Apache-2.0
"""Equilibrium of HRP-2 on both soles, whose rectangle and weight are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_model import Contact, Robot, Scene, Stance, load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.body_equilibrium import EquilibriumMethod
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Load, NearReference, StanceEquilibrium, check_stance, generate_posture


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


@pytest.fixture(scope="module")
def stand() -> Scene:
    return load_scene("stand")


@pytest.fixture(scope="module")
def feet(hrp2: Robot, stand: Scene) -> Stance:
    (floor,) = (surface for surface in stand.surfaces if surface.name == "floor")
    sides = (("left", 0.095), ("right", -0.095))
    return Stance(tuple(Contact(hrp2.contacts[f"{side}_sole"], floor, 0.04, y, 0.0) for side, y in sides))


@pytest.fixture(scope="module")
def posture(hrp2: Robot, stand: Scene, feet: Stance) -> np.ndarray:
    criterion = NearReference(RobotKinematics(hrp2), hrp2.default_posture)
    return generate_posture(hrp2, feet, scene=stand, stability="forces", criterion=criterion).q


@pytest.mark.parametrize("method", EquilibriumMethod)
def test_yes_above_the_soles_and_no_before_them(
    hrp2: Robot, stand: Scene, feet: Stance, method: EquilibriumMethod
) -> None:
    def at(x: float) -> StanceEquilibrium:
        return check_stance(hrp2, feet, scene=stand, centre_of_mass=(x, 0.0, 0.8), method=method.value)

    # The soles reach from x = -0.07 to 0.15: 0.11 m about 0.04.
    yes, no = at(0.04), at(0.16)
    assert (yes.equilibrium, no.equilibrium) == (True, False)
    assert yes.margin > 0.0 > no.margin
    assert len(no.forces) == 0
    np.testing.assert_allclose([yes.region[:, 0].min(), yes.region[:, 0].max()], [-0.07, 0.15], atol=2e-3)
    if method is EquilibriumMethod.SUPPORT_POLYGON:
        assert yes.margin == pytest.approx(0.11, abs=1e-9)
    else:
        np.testing.assert_allclose(yes.forces.sum(axis=0), [0.0, 0.0, hrp2.total_mass * 9.81], atol=0.01)
    assert not yes.efforts


def test_acceleration_tips_it_over(hrp2: Robot, stand: Scene, feet: Stance) -> None:
    def holds(forward: float) -> bool:
        return check_stance(
            hrp2, feet, scene=stand, centre_of_mass=(0.04, 0.0, 0.8), acceleration=(forward, 0.0, 0.0)
        ).equilibrium

    # 0.11 m of sole before 0.8 m of height: beyond 1.35 m/s^2 it tips.
    assert holds(-1.3)
    assert not holds(-1.4)


def test_a_load_and_torque_limits_at_a_posture(hrp2: Robot, stand: Scene, feet: Stance, posture: np.ndarray) -> None:
    def loaded(weight: float, **fields: Any) -> StanceEquilibrium:
        loads = [Load("RARM_LINK6", [0.0, 0.0, -weight])]
        return check_stance(hrp2, feet, scene=stand, posture=posture, loads=loads, **fields)

    answer = loaded(20.0, torque_limits=True)
    assert answer.equilibrium
    assert set(answer.efforts) == set(hrp2.joint_names)
    for name, effort in answer.efforts.items():
        assert abs(effort) <= 1.001 * hrp2.limits.effort[hrp2.index_v(name)]
    assert not loaded(3000.0).equilibrium


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"method": "magic"}, "method: is 'magic'. Give one of polygon, forces, polytope"),
        ({"centre_of_mass": None}, "centre_of_mass: is missing. Give it, or the posture"),
        ({"loads": [Load("WAIST")]}, "loads: needs the posture"),
        ({"torque_limits": True}, "torque_limits: needs the posture"),
        ({"method": "polygon", "acceleration": (1.0, 0.0, 0.0)}, "acceleration: is given, but method SUPPORT_POLYGON"),
        ({"posture": 0, "method": "polytope", "torque_limits": True}, "torque_limits: are set, but method FORCE_POLYT"),
        ({"posture": 0, "torque_limits": True, "acceleration": (1.0, 0.0, 0.0)}, "torque_limits: are set, but what an"),
        ({"posture": 1}, "posture: puts 'left_sole' from its contact on 'floor'"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    hrp2: Robot, stand: Scene, feet: Stance, posture: np.ndarray, fields: dict[str, Any], problem: str
) -> None:
    given = {"centre_of_mass": (0.04, 0.0, 0.8), **fields}
    if "posture" in fields:
        given["posture"] = (posture, hrp2.postures["zero"])[fields["posture"]]
    with pytest.raises(InputError) as refused:
        check_stance(hrp2, feet, scene=stand, **given)
    assert problem in str(refused.value)


def test_a_robot_that_is_fixed_needs_no_test(stand: Scene, feet: Stance) -> None:
    with pytest.raises(InputError, match="'robot_2r_a' is fixed to the world"):
        check_stance(load_robot("robot_2r_a"), feet, scene=stand, centre_of_mass=(0.0, 0.0, 1.0))
