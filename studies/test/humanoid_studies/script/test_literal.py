# SPDX-License-Identifier: Apache-2.0
import ast

import pytest

from humanoid_model.errors import RobotError
from humanoid_studies.script.literal import literal, numbers, quoted, shown

NAMES = ["arm", "l'épaule", 'the "left" one', "a\\b", "line\nbreak", '"""', "both ' and \"", "\u202e\u2028", "\ud83d"]


@pytest.mark.feature("004-F33")
def test_attribute_text_becomes_a_list_of_floats():
    assert literal("4 1 5") == "[4.0, 1.0, 5.0]"
    assert literal("  1e-3\n -2 0.1 ") == "[0.001, -2.0, 0.1]"


def test_no_digit_of_a_number_is_lost():
    assert float(literal(0.1 + 0.2)) == 0.1 + 0.2
    assert ast.literal_eval(literal([1 / 3, 2e-300])) == [1 / 3, 2e-300]


def test_minus_zero_is_zero():
    assert literal("-0 0 0") == "[0.0, 0.0, 0.0]"


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "x", "1,5"])
def test_word_that_is_no_finite_number_is_named(word):
    with pytest.raises(RobotError, match=f"'{word}' in '1 {word} 2' is not a finite number"):
        numbers(f"1 {word} 2")


@pytest.mark.parametrize("name", NAMES)
def test_quoted_name_is_a_literal_of_the_very_name(name):
    assert ast.literal_eval(quoted(name)) == name
    assert "\n" not in quoted(name)


def test_plain_names_are_in_double_quotes():
    assert quoted("joint1") == '"joint1"'


@pytest.mark.parametrize("name", NAMES)
def test_shown_name_ends_neither_comment_nor_docstring(name):
    source = f'"""About {shown(name)}."""\nx = 1  # {shown(name)}\n'
    assert [type(node) for node in ast.parse(source).body] == [ast.Expr, ast.Assign]
