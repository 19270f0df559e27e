# SPDX-License-Identifier: Apache-2.0
"""XML elements with their lines: what is read, what is refused, and the text written back."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.errors import InputError, SceneError
from humanoid_model.xml_element import XmlElement, XmlField, parse_xml

TEXT = """<?xml version="1.0"?>
<!-- a comment -->
<robot name="r">
  <link name="a">
    <mass value="2.5"/>
    <origin xyz="1 -2e-1
                 3"/>
  </link>
  <gazebo:plugin file="x"/>
  <link name="b"> 1 2 <!-- between --> 3 </link>
</robot>
"""


def parsed(text: str = TEXT) -> XmlElement:
    return parse_xml(text, "r.urdf", SceneError)


def test_lines_are_those_of_the_opening_tags() -> None:
    lines = [(element.tag, element.line) for element in parsed().walk()]
    assert lines == [
        ("robot", 3), ("link", 4), ("mass", 5), ("origin", 6), ("gazebo:plugin", 9), ("link", 10),
    ]  # fmt: skip


def test_children_by_tag_and_values() -> None:
    robot = parsed()
    a, b = robot.all("link")
    assert a.need("mass").number("value") == 2.5
    assert_allclose(a.need("origin").numbers("xyz", 3), (1, -0.2, 3))
    assert_allclose(b.text_numbers(3), (1, 2, 3))
    assert robot.first("joint") is None
    assert a.need("mass").number("factor", 7.0) == 7.0
    assert_allclose(a.need("origin").numbers("rpy", 3, (0, 0, 1)), (0, 0, 1))
    assert robot.attribute("name") == "r"


@pytest.mark.parametrize(
    ("element", "expected"),
    [("<joint name='j' type='t'/>", "<joint name='j'>"), ("<Body id='3'/>", "<Body id='3'>"), ("<mass/>", "<mass>")],
)
def test_elements_are_called_by_what_identifies_them(element: str, expected: str) -> None:
    assert str(parsed(element)) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<a x=""/>', "attribute 'x' is missing or empty"),
        ("<a/>", "attribute 'x' is missing or empty"),
        ('<a x="1 2"/>', "'1 2', 2 values"),
        ('<a x="1 2 3 4"/>', "4 values"),
        ('<a x="1 two 3"/>', "'two' is not a number"),
        ('<a x="1 nan 3"/>', "nan is not finite"),
        ('<a x="1 2 -inf"/>', "-inf is not finite"),
        ('<a x="1 2 1e400"/>', "1e400 is not finite"),
    ],
)
def test_bad_numbers_are_refused_with_line_and_value(text: str, problem: str) -> None:
    with pytest.raises(SceneError) as caught:
        parsed("\n" + text).numbers("x", 3)
    assert problem in str(caught.value)
    assert caught.value.line == 2
    assert caught.value.source == "r.urdf"
    assert caught.value.remedy


def test_missing_and_repeated_children_are_refused() -> None:
    with pytest.raises(SceneError, match="has no <mass>"):
        parsed("<link/>").need("mass")
    with pytest.raises(SceneError, match="second <mass>") as caught:
        parsed("<link>\n<mass/>\n<mass/></link>").first("mass")
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("no xml", 1),
        ("<a>\n<b>\n</a>", 3),
        ("<a>\n<b x=1/></a>", 2),
        ("<a/>\n<a/>", 2),
        ("<a>&unknown;</a>", 1),
    ],
    ids=["empty", "text", "wrong closing tag", "no quotes", "two roots", "unknown entity"],
)
def test_broken_xml_is_refused_at_its_line(text: str, line: int) -> None:
    with pytest.raises(SceneError, match="not well-formed XML") as caught:
        parsed(text)
    assert caught.value.line == line


def test_absurd_nesting_is_refused() -> None:
    with pytest.raises(InputError, match="inside one another"):
        parsed("<a>" * 200 + "</a>" * 200)


def test_absurdly_many_elements_are_refused_soon() -> None:
    with pytest.raises(InputError, match=r"r\.urdf:100000: <link name='l100000'>: .*more than 100000 elements"):
        parsed('<robot name="r">' + "\n".join(f'<link name="l{i}"/>' for i in range(1, 300_000)) + "</robot>")


def test_text_written_back_says_the_same_to_another_parser() -> None:
    text = '<a x="1 &lt; 2 &quot;q&quot;"><b>3 &amp; 4</b><c y="é"><d/></c></a>'

    def flat(element: ElementTree.Element) -> list[tuple[str, dict[str, str], str]]:
        return [(e.tag, dict(e.attrib), (e.text or "").strip()) for e in element.iter()]

    assert flat(ElementTree.fromstring(parsed(text).to_text())) == flat(ElementTree.fromstring(text))
    assert np.all([e.tag for e in parsed(parsed(text).to_text()).walk()] == np.array(["a", "b", "c", "d"]))


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
