# SPDX-License-Identifier: Apache-2.0
import pytest

from humanoid_model.errors import RobotError
from humanoid_studies.script.link import Link


def test_record_becomes_source_text():
    link = Link(["arm", "4 1 5", "0 0 0.5", "2", "1", "2e-1", "3", "4", "5", "6"])
    assert link.xyz == "[4.0, 1.0, 5.0]"
    assert link.rpy == "[0.0, 0.0, 0.5]"
    assert link.mass == 2.0
    assert link.inertia == ["[1.0, 0.2, 3.0]", "[0.2, 4.0, 5.0]", "[3.0, 5.0, 6.0]"]
    assert link.is_shifted
    assert link.is_turned
    assert not link.is_empty


@pytest.mark.feature("004-F17")
@pytest.mark.parametrize("record", [["arm"], ["arm", "1 0 0", "0 0 0", *["0"] * 7]])
def test_link_without_mass_and_inertia_is_empty(record):
    assert Link(record).is_empty


@pytest.mark.feature("004-F17")
def test_rotor_without_mass_is_not_empty():
    assert not Link(["rotor", "0 0 0", "0 0 0", "0", "0", "0", "0", "0", "0", "0.1"]).is_empty


def test_record_of_another_length_is_refused():
    with pytest.raises(RobotError, match="record of a link has 2 entries"):
        Link(["arm", "0 0 0"])
