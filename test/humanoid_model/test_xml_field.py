# SPDX-License-Identifier: Apache-2.0
"""Values of XML texts and attributes; what is refused in a scene is in test_scene_xml."""

from __future__ import annotations

import pytest
from numpy.testing import assert_array_equal

from humanoid_model.errors import SceneError
from humanoid_model.xml_element import XmlElement
from humanoid_model.xml_field import XmlField


def field(text: str) -> XmlField:
    return XmlField(XmlElement("Mass", {}, "s.xml", 7, SceneError), "<Mass> of <Body>", text)


def test_values() -> None:
    assert field(" 1e-3\n").number() == 0.001
    assert_array_equal(field("1\t2\n  -3.5").numbers(3), [1, 2, -3.5])
    assert_array_equal(field("1 2 3 4").polygon(2), [[1, 2], [3, 4]])
    assert [field("True").boolean(), field(" false ").boolean()] == [True, False]
    assert field("  two words ").string() == "two words"
    assert field("b").string(["a", "b"]) == "b"


def test_attributes_make_one_value_in_the_order_asked_for() -> None:
    element = XmlElement("CoM", {"z": "3", "x": "1", "y": "2"}, "s.xml", 7, SceneError)
    assert_array_equal(XmlField.of_attributes(element, ("x", "y", "z"), "com").numbers(3), [1, 2, 3])


@pytest.mark.parametrize("text", ["", "1 2", "1,0", "0x10", "inf", "nan", "1e999"])
def test_no_number(text: str) -> None:
    with pytest.raises(SceneError, match=r"s\.xml:7: <Mass> of <Body>: "):
        field(text).number()
