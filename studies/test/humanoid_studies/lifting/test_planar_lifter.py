# SPDX-License-Identifier: Apache-2.0
"""The planar robot against Pinocchio's in three dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.lifting import LoadedRobot, hrp2

from humanoid_model.errors import InputError
from humanoid_studies.lifting.planar_lifter import SIDES, HeldObject, PlanarLifter


def lifter(mass: float = 8.4) -> PlanarLifter:
    return PlanarLifter(hrp2(), HeldObject(mass, 0.15, 0.3))


def test_static_loads_are_those_of_the_whole_robot() -> None:
    """(5.27): torques, the wrist's wrench and the centre of mass, which is where the zero-moment point is at rest."""
    planar = lifter()
    whole, still = LoadedRobot(planar), np.zeros(7)
    generator = np.random.default_rng(0)
    for _ in range(5):
        q = generator.uniform(planar.lower, planar.upper)
        load, right = planar.static_load(q), whole.wrenches(q, still, still)
        # The ankle's torque is about the whole weight: a foot's centre of pressure moves both alike.
        np.testing.assert_allclose(load.torques, right.torques, atol=2e-6)
        np.testing.assert_allclose(load.sensor, right.wrist, atol=1e-6)
        assert load.centre_x == pytest.approx(right.zero_moment_point, abs=1e-8)


def test_postures_put_hip_trunk_and_object_where_they_are_asked_for() -> None:
    """The thesis' start and end postures (5.2.2.3): in them its robot, and ours, balances below nominal torques."""
    planar = lifter()
    for hip, shoulder, grip, angle in (
        (-0.1 + 0.63j, -0.039 + 1.156j, 0.26 + 0.65j, 0.5 * np.pi),
        (-0.12 + 0.30j, -0.043 + 0.824j, 0.20 + 1.30j, -0.5 * np.pi),
    ):
        q = planar.posture(hip, shoulder, grip, angle)
        theta = planar.absolute @ q
        np.testing.assert_allclose(planar.point("waist").position(theta), [hip.real, hip.imag], atol=1e-12)
        np.testing.assert_allclose(planar.grip.position(theta), [grip.real, grip.imag], atol=1e-12)
        assert planar.angle_of_object(q) == pytest.approx(angle)
        # The thesis' trunk is 0.5295 m long, ours 4 mm longer.
        np.testing.assert_allclose(planar.point("upper_arm").position(theta), [shoulder.real, shoulder.imag], atol=5e-3)
        load = planar.static_load(q)
        assert (np.abs(load.torques) < planar.nominal).all()
        assert planar.sole[0] < load.centre_x < planar.sole[1]
    with pytest.raises(InputError, match=r"wrist: is 1\.\d+ m away"):
        planar.posture(-0.1 + 0.63j, -0.04 + 1.15j, 1.2 + 0.65j, 0.0)
    with pytest.raises(InputError, match=r"object\.mass"):
        HeldObject(-1.0, 0.1, 0.1)
    assert planar.total_mass == pytest.approx(58.0 + 8.4)
    assert SIDES.sum() == 13.0
