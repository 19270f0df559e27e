# SPDX-License-Identifier: Apache-2.0
import pytest

from humanoid_codegen.languages.language import MAX_LENGTH, Identifiers, legal_identifier


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("q_knee", "q_knee"),
        ("épaule 2-g", "epaule_2_g"),
        ("2nd", "x_2nd"),
        ("腕", "x_"),
        ("", "x_"),
        ("__a__b", "a_b"),
        ("_Bool", "Bool"),
        ("a.b/c", "a_b_c"),
        ("x" * 80, "x" * MAX_LENGTH),
    ],
)
def test_any_text_becomes_an_identifier(name: str, legal: str) -> None:
    assert legal_identifier(name) == legal
    assert legal.isidentifier()


def test_identifiers_are_given_once_and_never_reserved_ones() -> None:
    names = Identifiers({"sin", "a_b_2"})
    assert [names.new(name) for name in ("sin", "a b", "a_b", "a-b")] == ["sin_2", "a_b", "a_b_3", "a_b_4"]


def test_long_names_stay_within_the_limit_when_numbered() -> None:
    names = Identifiers()
    given = [names.new("x" * 100 + str(k)) for k in range(12)]
    assert len(set(given)) == 12
    assert max(map(len, given)) == MAX_LENGTH
