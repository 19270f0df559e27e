# SPDX-License-Identifier: Apache-2.0
import keyword

from humanoid_studies.script.identifiers import identifiers


def test_legal_names_stay():
    names = ["joint1", "WJ_px", "épaule", "class", "1st"]
    assert identifiers(names) == {name: name for name in names}


def test_what_no_identifier_may_have_becomes_an_underscore():
    assert identifiers(["left arm/joint-1"]) == {"left arm/joint-1": "left_arm_joint_1"}


def test_every_result_makes_an_identifier_behind_a_prefix():
    names = ["class", "1", "", "a b", "a\nb", "日本", "x;import os", "²", *keyword.kwlist]
    assert all(f"gv_position_{name}".isidentifier() for name in identifiers(names).values())


def test_names_that_would_become_one_are_told_apart():
    names = ["a-b", "a b", "a_b", "a_b_2"]
    found = identifiers(names)
    assert found["a_b"] == "a_b"
    assert found["a_b_2"] == "a_b_2"
    assert len(set(found.values())) == 4


def test_names_that_python_reads_as_one_are_told_apart():
    # Python normalises identifiers: a ligature fi is the letters f and i to it.
    found = identifiers(["ﬁn", "fin"])
    namespace: dict = {}
    exec("\n".join(f"p_{found[name]} = {value}" for value, name in enumerate(found)), namespace)
    assert len([name for name in namespace if name.startswith("p_")]) == 2
