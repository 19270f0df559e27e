# SPDX-License-Identifier: Apache-2.0
"""The demo's numbers are told completely, and forces that don't carry the weight are a fault."""

from dataclasses import replace

from humanoid_ros.demo.demo_report import DemoNumbers, markdown_report, text_table

NUMBERS = DemoNumbers(
    robot="hrp2",
    scene="stand",
    mass=58.0,
    weight=568.98,
    standing={"left foot": 284.0, "right foot": 284.98},
    standing_after={"left foot": 284.49, "right foot": 284.49},
    squats=2,
    squat_depth=0.131,
    squat_forces=(540.0, 590.0),
    foot_move={"left foot": 1e-6, "right foot": 3e-6},
    foot_turn={"left foot": 2e-6, "right foot": 1e-6},
    tracking_error=0.012,
    push_body="CHEST_LINK1",
    push_force=(100.0, 0.0, 0.0),
    push_duration=0.1,
    push_sway=0.021,
    push_rest=0.0004,
    push_settling=1.23,
    blow_force=(300.0, 100.0, 0.0),
    blow_duration=0.1,
    blow_steps=2,
    blow_move=0.17,
    real_time_factor=0.998,
    step_seconds=3.4e-4,
    stages={"detection": 1e-5, "solve": 2e-4},
)


def test_good_numbers_have_no_fault() -> None:
    assert NUMBERS.faults() == []


def test_forces_that_do_not_carry_the_weight_are_a_fault() -> None:
    faults = replace(NUMBERS, standing={"left foot": 280.0, "right foot": 280.0}).faults()
    assert len(faults) == 1
    assert "before" in faults[0]
    assert "560.00 N" in faults[0]
    assert len(replace(NUMBERS, standing_after={}).faults()) == 1


def test_a_hard_push_without_a_step_is_a_fault() -> None:
    (fault,) = replace(NUMBERS, blow_steps=0).faults()
    assert "took none" in fault


def test_table_is_straight_and_complete() -> None:
    text = text_table(NUMBERS.rows())
    assert len({len(line) for line in text.splitlines()}) == 1
    words = ("284.98 N", "1.000000", "131.0 mm", "3.00 µm", "21.0 mm", "(300, 100, 0) N", "170 mm", "0.998", "340 µs")
    for word in words:
        assert word in text


def test_report_names_the_picture_and_the_stages() -> None:
    text = markdown_report(NUMBERS, "demo.png", "Drawn by chromium.")
    assert "](demo.png)" in text
    assert "Drawn by chromium." in text
    assert "| solve | 200.0 |" in text
    assert "58.000 kg" in text
