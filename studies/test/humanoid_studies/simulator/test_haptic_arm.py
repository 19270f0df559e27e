# SPDX-License-Identifier: Apache-2.0
"""Experiment E10 of specification 000 §27: what happens when, and that nothing but contact holds the object."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.scene import PairRule
from humanoid_sim import Simulation
from humanoid_studies.simulator import haptic_arm
from humanoid_studies.simulator.gripping_hand import CENTRE, HALF_OPENING, JAWS, hrp2_with_jaws

WEIGHT = 1.75 * 9.8


def test_jaws_are_all_that_is_new_on_the_hand() -> None:
    robot, plain = hrp2_with_jaws(), load_robot("hrp2")
    assert [joint for joint in robot.joint_names if joint not in plain.joint_names] == list(JAWS)
    mass, plain_mass = (sum(inertia.mass for inertia in r.model.inertias) for r in (robot, plain))
    assert mass == pytest.approx(plain_mass + 0.12, abs=1e-9)


def test_open_jaws_are_around_the_middle_and_meet_there() -> None:
    """The pads are as far apart as they say, and a travel of half of it each brings them together."""
    robot = Simulation(haptic_arm.scene()).robots["hrp2"]
    hand = robot.placement("RARM_LINK6")
    pads = [hand.actInv(robot.placement(f"RARM_JAW_LINK{i}")).translation for i in (0, 1)]
    assert_allclose([pad[0] - CENTRE[0] for pad in pads], [HALF_OPENING, -HALF_OPENING], atol=1e-9)
    q, _ = robot.place_joints(robot.q, robot.v, [0.02, 0.02], joints=JAWS)
    robot.set_state(q)
    pads = [hand.actInv(robot.placement(f"RARM_JAW_LINK{i}")).translation for i in (0, 1)]
    assert pads[0][0] - pads[1][0] == pytest.approx(2.0 * (HALF_OPENING - 0.02), abs=1e-9)


def test_the_object_rests_on_the_table_and_its_handle_is_where_the_user_goes() -> None:
    simulation = Simulation(haptic_arm.scene())
    simulation.run(0.3)
    object_ = simulation.bodies["object"].placement_world_body
    assert_allclose(object_.act(np.array([-0.11, 0.0, 0.0])), haptic_arm.HANDLE, atol=1e-4)
    contacts = simulation.contacts
    carried = sum(
        float(force[2]) * (1.0 if pair[0] == "object" else -1.0)
        for pair, force in zip(contacts.bodies, contacts.force, strict=True)
        if set(pair) == {"object", "table"}
    )
    assert carried == pytest.approx(WEIGHT, rel=0.01)


@pytest.mark.feature("000-F163")
@pytest.mark.slow
def test_hand_is_led_jaws_close_object_is_lifted_and_swings_die_out(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions: list[haptic_arm.Session] = []
    plain = haptic_arm.session

    def kept(*, progress: bool = False) -> haptic_arm.Session:
        sessions.append(plain(progress=progress))
        return sessions[0]

    monkeypatch.setattr(haptic_arm, "session", kept)
    result = haptic_arm.run()
    assert result.passes, result.table()
    (s,) = sessions

    # Impulse of the contact forces and of gravity is the change of momentum: nothing else acts on the object.
    velocity = np.gradient(s.object[:, 2], s.time)
    dt = s.time[1] - s.time[0]
    for begin in np.arange(18.8, 22.0, 0.4):
        inside = (s.time > begin) & (s.time <= begin + 0.4)
        impulse = float((s.jaws[inside, 2] + s.support[inside] - WEIGHT).sum() * dt)
        ends = np.flatnonzero(inside)[[0, -1]]
        change = 1.75 * (velocity[ends[1]] - velocity[ends[0]])
        assert impulse == pytest.approx(change, abs=0.1), begin

    # In the air both jaws press, and only they touch.
    late = s.time > 20.0
    assert s.grip[late].min() > 50.0
    assert s.support[late].max() == 0.0

    # Extremes of the force along x after the lift become smaller one by one.
    x = s.force[s.time > haptic_arm.LIFTED + 0.15, 0]
    turns = np.flatnonzero(np.diff(np.sign(np.diff(x))) != 0) + 1
    swings = np.abs(np.diff(x[turns]))
    swings = swings[swings > 1.0]
    largest = int(np.argmax(swings))
    assert largest <= 1, swings  # at most a ripple of the lift's end is before it
    swings = swings[largest:]
    assert len(swings) >= 3
    assert (np.diff(swings) < 0.0).all(), swings

    # The measure sees a swing that does not die out.
    kept_up = s.force.copy()
    kept_up[:, 0] = 3.0 * np.sin(2.0 * np.pi * 3.0 * s.time)
    steady = haptic_arm.amplitudes(replace(s, force=kept_up))
    assert steady[1:] == pytest.approx(6.0, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["jaws stay open", "pads are slippery"])
def test_without_a_firm_grip_the_object_stays_on_the_table(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open, the lower jaw only props the nearer handle up; slippery, the handle gets away. So nothing glues them."""
    if how == "jaws stay open":
        monkeypatch.setattr(haptic_arm, "CLOSED", 0.0)
    else:
        made = haptic_arm.scene()
        slippery = replace(made, rules=(*made.rules, PairRule("hrp2/RARM_JAW_*", "object", friction=0.0)))
        monkeypatch.setattr(haptic_arm, "scene", lambda: slippery)
    monkeypatch.setattr(haptic_arm, "BENT", 1.0)
    result = haptic_arm.run()
    assert not result.passes
    assert result.row("object leaves the table at").ours == pytest.approx(haptic_arm.END, abs=0.01)
    assert result.row("all else carries").ours > 5.0
    assert result.row("jaws carry").ours < 0.7 * WEIGHT
