# SPDX-License-Identifier: Apache-2.0
"""Kinds of closed systems, their mobility, and what is no mechanism."""

import re

import pytest
from fixtures.gait_models import BIP, FIVE_BAR, RABBIT
from fixtures.planar_mechanisms import OBJECT_BETWEEN_ARMS, PEDALLING, SKATE_FEET

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Link, Pivot, PlanarMechanism


@pytest.mark.feature("003-F001", "003-F002")
@pytest.mark.parametrize(
    ("mechanism", "kind", "loops", "mobility", "overactuation"),
    [  # F-001 and F-002: specification 003 sections 1.3 and 2.29, thesis I.1 and I.2
        (FIVE_BAR.mechanism(), "bilateral", 1, 2, 3),
        (RABBIT.mechanism(0.45), "unilateral", 1, 3, 1),
        (BIP.mechanism(0.5), "unilateral", 1, 5, 1),
        (PEDALLING, "multi-loop", 2, 3, 3),
        (SKATE_FEET, "unilateral", 1, 3, 3),
        (OBJECT_BETWEEN_ARMS, "unilateral", 1, 3, 1),
    ],
)
def test_classification(mechanism, kind, loops, mobility, overactuation):
    assert mechanism.kind == kind
    assert mechanism.loop_count == len(mechanism.loops()) == loops
    assert mechanism.mobility() == mobility
    assert mechanism.overactuation() == overactuation


def test_open_chain():
    chain = PlanarMechanism("chain", (Link("a", 1.0, 0.1, 0.1),), (Pivot("p", GROUND, 0.0, "a"),))
    assert chain.kind == "open"
    assert chain.shortest_loop() is None
    assert chain.distances() == {GROUND: 0, "a": 1}
    floating = PlanarMechanism("floating", (Link("a", 1.0, 0.1, 0.1),), ())
    assert floating.loop_count == 0
    assert floating.mobility() == 3


A, B = Link("a", 1.0, 0.1, 0.1), Link("b", 1.0, 0.1, 0.1)


@pytest.mark.parametrize(
    ("links", "pivots", "message"),
    [
        ((), (), "no link"),
        ((A, A), (), "link 'a' is given twice"),
        ((Link(GROUND, 1.0, 0.1, 0.1),), (), "link 'ground' is given twice or named like the ground"),
        ((A,), (Pivot("p", GROUND, 0.0, "c"),), "p: unknown link 'c'"),
        ((A,), (Pivot("p", "a", 0.0, "a"),), "p: joins 'a' to itself"),
        ((A, B), (Pivot("p", "a", 0.0, "b"), Pivot("p", "a", 0.1, "b")), "joint 'p' is given twice"),
        ((A,), (Pivot("p", GROUND, complex("nan"), "a"),), "p: has a place that isn't finite"),
    ],
)
def test_no_mechanism(links, pivots, message):
    with pytest.raises(InputError, match=re.escape(message)):
        PlanarMechanism("m", links, pivots)


def test_unknown_joint():
    with pytest.raises(InputError, match="unknown joint 'z'"):
        FIVE_BAR.mechanism().pivot("z")
