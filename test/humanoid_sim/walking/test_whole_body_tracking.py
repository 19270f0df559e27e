# SPDX-License-Identifier: Apache-2.0
"""The stabiliser on a robot that stands: pushes, limits, the plan that it is given."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.walking import TrackingGains, WholeBodyMotion, WholeBodyTracking

BIP = load_robot("bip")
STANDING = BIP.postures["standing"]
STILL = np.zeros((2, BIP.model.nv))
BACK = [-350.0, 0.0, 0.0]


def span(foot: str, start: float, end: float, part: str = "sole") -> SimpleNamespace:
    return SimpleNamespace(foot=foot, part=part, start=start, end=end)


BOTH = [span("right_sole", 0.0, 1.0), span("left_sole", 0.0, 1.0)]


def standing() -> WholeBodyMotion:
    return WholeBodyMotion(BIP, [0.0, 1.0], [STANDING, STANDING], STILL, STILL, BOTH)


def stabilised(gains: TrackingGains | None = None) -> Simulation:
    simulation = Simulation("bip_stand")
    simulation.add_module(WholeBodyTracking("bip", standing(), gains))
    return simulation


def height(simulation: Simulation) -> float:
    return float(simulation.robots["bip"].placement_world_base.translation[2])


def test_it_stands_where_it_stood() -> None:
    simulation = stabilised()
    simulation.run(0.4)
    assert simulation.contacts.force[:, 2].sum() == pytest.approx(BIP.total_mass * 9.81, rel=1e-3)
    assert np.abs(simulation.robots["bip"].q - STANDING).max() < 2e-3


def test_a_push_that_topples_stiff_servos_is_taken_up() -> None:
    servos = Simulation("bip_stand")
    servos.apply_wrench("bip/trunk", BACK, duration=0.1)
    while servos.time < 2.0 and height(servos) > 0.6:
        servos.step()
    assert height(servos) < 0.6

    simulation = stabilised()
    bip = simulation.robots["bip"]
    simulation.apply_wrench("bip/trunk", BACK, duration=0.1)
    limits = BIP.limits.effort[[BIP.index_v(name) for name in bip.joint_names]]
    moved, most = 0.0, 0.0

    def watch(simulation: Simulation) -> None:
        nonlocal moved, most
        moved = max(moved, abs(bip.placement_world_base.translation[0] - STANDING[0]))
        most = max(most, float((np.abs(bip.joint_efforts) / limits).max()))

    simulation.run(2.5, watch)
    assert moved > 0.02  # it gives way
    assert most <= 1.0 + 1e-9
    assert np.abs(bip.q - STANDING).max() < 5e-3
    assert np.abs(bip.v).max() < 0.02


def test_it_goes_on_bit_for_bit_from_a_saved_state() -> None:
    simulation = stabilised()
    simulation.apply_wrench("bip/trunk", [0.0, 150.0, 0.0], duration=0.1)
    simulation.run(0.1)
    saved = simulation.save_state()
    simulation.run(0.1)
    q = simulation.q.copy()
    simulation.restore_state(saved)
    simulation.run(0.1)
    np.testing.assert_array_equal(simulation.q, q)


def test_servos_hold_the_robot_when_it_is_taken_away() -> None:
    simulation = stabilised()
    simulation.run(0.05)
    simulation.remove_module("whole_body_tracking/bip")
    simulation.run(0.3)
    assert np.abs(simulation.robots["bip"].q - STANDING).max() < 2e-3


def test_a_motion_runs_straight_between_its_samples_and_stands_beyond_them() -> None:
    moved = pin.integrate(BIP.model, STANDING, np.full(BIP.model.nv, 0.1))
    v = np.vstack([STILL[0], STILL[0] + 0.2])
    motion = WholeBodyMotion(BIP, [0.0, 1.0], [STANDING, moved], v, 2.0 * v, BOTH)
    half = motion.at(0.5)
    np.testing.assert_allclose(half.q, pin.integrate(BIP.model, STANDING, np.full(BIP.model.nv, 0.05)), atol=1e-12)
    np.testing.assert_allclose(half.v, 0.1)
    np.testing.assert_allclose(half.a, 0.2)
    after = motion.at(3.0)
    np.testing.assert_allclose(after.q, moved)
    np.testing.assert_allclose([after.v, after.a], 0.0)
    assert after.bearing == {"right_sole": "sole", "left_sole": "sole"}


def test_a_motion_tells_what_bears_and_what_will() -> None:
    contacts = [span("right_sole", 0.0, 1.0), span("left_sole", 0.0, 0.3), span("left_sole", 0.7, 1.0, "heel")]
    motion = WholeBodyMotion(BIP, [0.0, 1.0], [STANDING, STANDING], STILL, STILL, contacts)
    assert motion.at(0.5).bearing == {"right_sole": "sole"}
    assert motion.at(0.5).landing == {"left_sole": 0.7}
    assert motion.at(0.8).bearing == {"right_sole": "sole", "left_sole": "heel"}
    assert motion.at(0.8).landed == {"right_sole": 0.0, "left_sole": 0.7}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"times": [0.0, math.nan]}, "times"),
        ({"times": [1.0, 0.0]}, "fall"),
        ({"q": [STANDING]}, "shape"),
        ({"v": STILL[:, :3]}, "shape"),
        ({"a": STILL * math.nan}, "finite"),
        ({"contacts": [span("pelvis", 0.0, 1.0)]}, "no sole"),
        ({"contacts": [span("left_sole", 0.0, 1.0, "middle")]}, "part"),
    ],
)
def test_bad_motions_are_refused(changes: dict[str, object], words: str) -> None:
    given = {"times": [0.0, 1.0], "q": [STANDING, STANDING], "v": STILL, "a": STILL, "contacts": BOTH, **changes}
    with pytest.raises(InputError, match=words):
        WholeBodyMotion(BIP, **given)  # type: ignore[arg-type]


def test_bad_gains_and_robots_are_refused() -> None:
    with pytest.raises(InputError, match=r"gains\.centre"):
        TrackingGains(centre=-1.0)
    with pytest.raises(InputError, match=r"gains\.weights"):
        TrackingGains(weights=(1.0, 1.0, 1.0, 1.0, 0.0))
    with pytest.raises(InputError, match="no robot 'bop'"):
        Simulation("bip_stand").add_module(WholeBodyTracking("bop", standing()))
    with pytest.raises(InputError, match="robot of the motion"):
        Simulation("stand").add_module(WholeBodyTracking("hrp2", standing()))
