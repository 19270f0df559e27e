# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_model.inertia import inertia_problem
from humanoid_studies.humod.regression import SEGMENTS, TABLES, segment_inertias
from humanoid_studies.humod.subject import SYNTHETIC_SUBJECT

LENGTHS = SYNTHETIC_SUBJECT.lengths


def test_mass_shares_add_up_to_almost_the_whole_body() -> None:
    # Specification 004 section 3.3: 0.999 for the woman.
    sums = {}
    for gender, table in TABLES.items():
        share = {kind: row.mass for kind, row in table.segments.items()}
        single = sum(share.pop(kind) for kind in ("head", "thorax", "abdomen", "pelvis"))
        sums[gender] = single + 2 * (sum(share.values()) + table.hand)
    assert sums["female"] == pytest.approx(0.999, abs=1e-12)
    assert sums["male"] == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("gender", TABLES)
def test_every_segment_is_a_possible_body(gender: str) -> None:
    for segment, part in segment_inertias(gender, 60.0, LENGTHS).items():
        assert part.mass > 0
        assert np.linalg.eigvalsh(part.inertia).min() > 0, segment
        assert inertia_problem(part.inertia) is None, segment


@pytest.mark.parametrize("gender", TABLES)
def test_left_mirrors_right(gender: str) -> None:
    parts = segment_inertias(gender, 60.0, LENGTHS)
    mirror = np.diag([1.0, 1.0, -1.0])
    for segment in (name for name in SEGMENTS if name.endswith("_R")):
        right, left = parts[segment], parts[segment.replace("_R", "_L")]
        assert left.mass == right.mass
        np.testing.assert_array_equal(left.com, mirror @ right.com)
        np.testing.assert_array_equal(left.inertia, mirror @ right.inertia @ mirror)


def test_a_longer_thigh_is_heavier_and_the_pair_weighs_the_same() -> None:
    lengths = dict(LENGTHS) | {"thigh_R": 0.40, "thigh_L": 0.36}
    parts, even = segment_inertias("female", 60.0, lengths), segment_inertias("female", 60.0, LENGTHS)
    assert parts["thigh_R"].mass / parts["thigh_L"].mass == pytest.approx(0.40 / 0.36)
    assert parts["thigh_R"].mass + parts["thigh_L"].mass == pytest.approx(2 * even["thigh_R"].mass)


def test_the_hand_is_a_point_at_the_wrist() -> None:
    # Specification 004 section 3.3 (b), by hand: L = 0.24 m, 60 kg.
    part = segment_inertias("female", 60.0, LENGTHS)["lowerArm_R"]
    m, m_hand, L = 0.013 * 60, 0.005 * 60, 0.24
    assert part.mass == pytest.approx(m + m_hand)
    assert part.com[1] == pytest.approx((-0.411 * L * m - L * m_hand) / (m + m_hand))
    assert part.com[2] == pytest.approx(0.019 * L)
    assert part.inertia[0, 0] == pytest.approx((0.26 * L) ** 2 * m + m_hand * L**2)
    assert part.inertia[1, 1] == pytest.approx((0.14 * L) ** 2 * m)
    assert part.inertia[1, 2] == pytest.approx(-((0.13 * L) ** 2) * m)
