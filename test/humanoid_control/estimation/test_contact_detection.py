# SPDX-License-Identifier: Apache-2.0
"""Wrenches at contacts against Pinocchio's, and what makes a contact."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.estimation import EstimatorSettings
from humanoid_control.estimation.contact_detection import ContactDetector, centre_of_pressure, external_wrench
from humanoid_model import load_robot
from humanoid_model.convex_polygon import polygon_margin

SETTINGS = EstimatorSettings()
HRP2 = load_robot("hrp2")
WEIGHT = 9.81 * HRP2.total_mass


def rows(placement: pin.SE3) -> np.ndarray:
    return np.vstack([placement.rotation, placement.translation])


def detector(name: str = "left_sole") -> ContactDetector:
    return ContactDetector(HRP2.contacts[name], WEIGHT, SETTINGS)


def test_what_a_sensor_reads_less_the_weight_on_it_is_the_wrench_at_the_contact() -> None:
    rng = np.random.default_rng(2)
    sensor, contact, wrench = pin.SE3.Random(), pin.SE3.Random(), pin.Force(rng.normal(size=6))
    gravity, mass, com, out = rng.normal(size=3), 2.5, rng.normal(size=3), np.empty(6)
    weight = mass * sensor.rotation.T @ gravity
    read = sensor.actInv(contact.act(wrench)) + pin.Force(weight, np.cross(com, weight))
    external_wrench(rows(contact), rows(sensor), np.array(read.vector), np.array([mass, *com]), gravity, out)
    assert np.abs(out - wrench.vector).max() < 1e-12


def test_the_centre_of_pressure_is_where_a_force_alone_presses() -> None:
    wrench = np.concatenate([[3.0, -2.0, 50.0], np.cross([0.04, -0.02, 0.0], [3.0, -2.0, 50.0])])
    assert centre_of_pressure(wrench) == pytest.approx((0.04, -0.02))
    assert all(math.isnan(x) for x in centre_of_pressure(-wrench))
    assert all(math.isnan(x) for x in centre_of_pressure(np.full(6, math.nan)))


def test_a_sole_rolls_from_where_the_centre_of_pressure_is_near_its_edge() -> None:
    own, patch = detector(), HRP2.contacts["left_sole"].patch
    for point in np.random.default_rng(3).uniform(-0.15, 0.15, size=(200, 2)):
        margin = polygon_margin(patch, point)
        wanted = min(max(1.0 - margin / SETTINGS.edge_width, 0.0), 1.0)
        assert own.rolls(*point.tolist()) == pytest.approx(wanted)
    assert own.rolls(math.nan, math.nan) == 0.0


def test_force_speed_and_what_is_told_make_a_contact() -> None:
    own, heavy, share = detector(), 0.4 * WEIGHT, SETTINGS.contact_load * WEIGHT
    assert own.odds(share, 0.0, None) == pytest.approx(0.0)
    assert own.odds(share + SETTINGS.load_scale * WEIGHT, 0.0, None) == pytest.approx(1.0)
    assert own.odds(share, 0.0, 0.8) == pytest.approx(math.log(4.0))
    assert own.odds(heavy, 0.0, 0.0) > 2.2  # a switch alone isn't believed against a force
    assert own.odds(heavy, 1.0, 1.0) < 0.0  # what bears doesn't run
    assert own.odds(0.0, 0.0, 1.0) < 0.0
    held, free = SETTINGS.contact_speed, SETTINGS.free_speed
    density = [math.exp(-0.5 * (0.3 / s) ** 2) / s**3 for s in (held, free)]
    assert own.odds(math.nan, 0.3, None) == pytest.approx(math.log(density[0] / density[1]))
    assert own.odds(heavy, 0.3, None) == pytest.approx(10.0 + math.log(density[0] / density[1]))


def test_contacts_neither_begin_nor_end_by_chance() -> None:
    own = detector()
    assert [own.holds(odds, held) for odds in (-0.1, 0.1, 2.3) for held in (False, True)] == [
        False, False, False, True, True, True,
    ]  # fmt: skip
