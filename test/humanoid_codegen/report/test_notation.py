# SPDX-License-Identifier: Apache-2.0
import pytest

from humanoid_codegen.report.notation import LINE_WIDTH, definition, letter, number, visible_width


@pytest.mark.parametrize(
    ("value", "written"),
    [(2.0, "2"), (0.1, "0.1"), (123.4567891, "123.457"), (1.5e-7, r"1.5 \cdot 10^{-7}"), (2e9, r"2 \cdot 10^{9}")],
)
def test_numbers_have_six_digits_and_a_power_of_ten_where_needed(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("name", "written"),
    [("tau", r"\tau"), ("q", "q"), ("com", r"\mathrm{com}"), ("a_b c%", r"\mathrm{a-b-c}"), ("é", r"\mathrm{x}")],
)
def test_names_become_symbols_that_need_no_escapes(name, written):
    assert letter(name) == written


def test_long_sums_go_over_several_lines_of_the_pages_width():
    terms = [(k % 2 == 1, rf"{k}.25 \cos q_{{{k}}} \dot{{q}}_{{{k}}}") for k in range(1, 30)]
    lines = definition([r"\tau_{1}"], terms)
    assert len(lines) > 5
    assert lines[0].startswith(r"\tau_{1} &= -1.25 \cos q_{1}")
    assert all(line.startswith(r"&\quad ") for line in lines[1:])
    assert all(visible_width(line) <= LINE_WIDTH + 4 for line in lines)
    assert " ".join(lines).count(r"\cos") == 29


def test_many_symbols_of_one_value_share_lines_but_none_is_too_long():
    heads = [f"J_{{{k},1,2}}" for k in range(20)]
    lines = definition(heads, [(False, "x")])
    assert lines[0].endswith("&= x")
    assert sorted(head for line in lines for head in line.split(" &= ")[0].split(" = ")) == sorted(heads)
    assert all(visible_width(line) < LINE_WIDTH / 2 for line in lines)


def test_an_empty_sum_is_zero():
    assert definition(["x"], []) == ["x &= 0"]
