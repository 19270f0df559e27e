# SPDX-License-Identifier: Apache-2.0
"""What the panel tells of a lift (000-F158)."""

from __future__ import annotations

from fixtures.lifting import thesis_lift

from humanoid_studies.lift_editor.lift_panel import verdict_html
from humanoid_studies.lifting.judgement import judge
from humanoid_studies.lifting.weight_lift import WeightLift


def test_many_broken_limits_are_told_the_worst_first() -> None:
    told = judge(thesis_lift(), thesis_lift().straight(0.3))
    text = verdict_html(told, 12.34, 0.004)
    names = list(told.violations)
    assert text.count("<li>") == 7
    assert f"also: {', '.join(names[6:])}" in text
    assert "12.34 J in 0.30 s. Judged in 4 ms." in text
    lift = thesis_lift()
    rest = WeightLift(lift.lifter, lift.start, lift.start)
    assert "Feasible: every limit is kept" in verdict_html(judge(rest, rest.straight(1.0)), 1.0, 0.0)
