# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, ContactKind, Surface, load_robot
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory

BIP = load_robot("bip", geometry=False)
STANDING = BIP.postures["standing"]
STILL = np.zeros((2, BIP.model.nv))
GROUND = Surface("ground", "ground", pin.SE3.Identity())


def span(
    name: str, start: float, end: float, part: str = "sole", kind: ContactKind = ContactKind.FIXED
) -> ContactSpan:
    return ContactSpan(Contact(BIP.contacts[name], GROUND, 0.0, 0.0, 0.0, kind), start, end, part)


BOTH = [span("right_sole", 0.0, 1.0), span("left_sole", 0.0, 1.0)]


def test_a_motion_runs_straight_between_its_samples_and_stands_beyond_them() -> None:
    moved = pin.integrate(BIP.model, STANDING, np.full(BIP.model.nv, 0.1))
    v = np.vstack([STILL[0], STILL[0] + 0.2])
    motion = WholeBodyTrajectory(BIP, [0.0, 1.0], [STANDING, moved], v, 2.0 * v, BOTH, tau=10.0 * v)
    half = motion.at(0.5)
    np.testing.assert_allclose(half.q, pin.integrate(BIP.model, STANDING, np.full(BIP.model.nv, 0.05)), atol=1e-12)
    np.testing.assert_allclose(half.v, 0.1)
    np.testing.assert_allclose(half.a, 0.2)
    np.testing.assert_allclose(half.tau, 1.0)
    after = motion.at(3.0)
    np.testing.assert_allclose(after.q, moved)
    np.testing.assert_allclose([after.v, after.a], 0.0)
    np.testing.assert_allclose(after.tau, 2.0)
    assert after.bearing == {"right_sole": "sole", "left_sole": "sole"}


def test_a_motion_tells_what_bears_and_what_will() -> None:
    contacts = [
        span("right_sole", 0.0, 1.0),
        span("left_sole", 0.0, 0.3),
        span("left_sole", 0.3, 0.4, kind=ContactKind.RELEASED),
        span("left_sole", 0.7, 1.0, "heel"),
    ]
    motion = WholeBodyTrajectory(BIP, [0.0, 1.0], [STANDING, STANDING], STILL, STILL, contacts)
    assert motion.at(0.35).bearing == motion.at(0.5).bearing == {"right_sole": "sole"}
    assert [item.location for item in motion.held(0.35)] == ["right_sole", "left_sole"]
    assert motion.at(0.5).landing == {"left_sole": 0.7}
    assert motion.at(0.8).bearing == {"right_sole": "sole", "left_sole": "heel"}
    assert motion.at(0.8).landed == {"right_sole": 0.0, "left_sole": 0.7}
    assert motion.at(1.0).bearing == {"right_sole": "sole", "left_sole": "heel"}


def test_of_a_time_that_is_there_twice_the_later_sample_is_kept() -> None:
    motion = WholeBodyTrajectory(
        BIP, [0.0, 0.5, 0.5, 1.0], [STANDING] * 4, np.zeros((4, BIP.model.nv)), np.zeros((4, BIP.model.nv)), BOTH
    )
    assert motion.increasing.tolist() == [0, 2, 3]


def test_joints_are_those_that_a_controller_drives() -> None:
    motion = WholeBodyTrajectory(BIP, [0.0, 1.0], [STANDING, STANDING], STILL, STILL, BOTH)
    assert set(motion.joint_names) == set(BIP.actuators)
    np.testing.assert_array_equal(motion.positions[1], [STANDING[BIP.index_q(name)] for name in motion.joint_names])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"times": [0.0, math.nan]}, "times"),
        ({"times": [1.0, 0.0]}, "fall"),
        ({"q": [STANDING]}, "q: has the shape"),
        ({"q": [STANDING, 2.0 * STANDING]}, "rotation"),
        ({"v": STILL[:, :3]}, "shape"),
        ({"a": STILL * math.nan}, "finite"),
        ({"tau": STILL[:1]}, "tau"),
        ({"zero_moment_point": [[0.0, 0.0, math.inf]] * 2}, "zero_moment_point"),
        ({"forces": [[]]}, "forces"),
        ({"contacts": [span("left_sole", 0.0, 1.0, "middle")]}, r"contacts\[0\]: part"),
        ({"contacts": [span("left_sole", 1.0, 1.0)]}, "from 1 to 1 s"),
    ],
)
def test_bad_motions_are_refused(changes: dict[str, object], words: str) -> None:
    given = {"times": [0.0, 1.0], "q": [STANDING, STANDING], "v": STILL, "a": STILL, "contacts": BOTH, **changes}
    with pytest.raises(InputError, match=words):
        WholeBodyTrajectory(BIP, **given)  # type: ignore[arg-type]


@pytest.mark.feature("001-F232")
def test_backwards_it_goes_the_same_way() -> None:
    moved = pin.integrate(BIP.model, STANDING, np.full(BIP.model.nv, 0.1))
    v = np.vstack([STILL[0], STILL[0] + 0.2])
    contacts = [span("right_sole", 0.0, 1.0), span("left_sole", 0.0, 0.3)]
    motion = WholeBodyTrajectory(BIP, [0.0, 1.0], [STANDING, moved], v, v + 1.0, contacts, tau=v)
    back = motion.reversed()
    for time in (0.0, 0.2, 0.75, 1.0):
        one, other = motion.at(time), back.at(1.0 - time)
        np.testing.assert_allclose(one.q, other.q, atol=1e-12)
        np.testing.assert_allclose(one.v, -other.v)
        np.testing.assert_allclose(one.a, other.a)
        np.testing.assert_allclose(one.tau, other.tau)
    assert motion.at(0.1).bearing == back.at(0.9).bearing
    assert [item.location for item in back.held(0.5)] == ["right_sole"]
