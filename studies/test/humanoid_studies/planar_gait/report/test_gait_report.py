# SPDX-License-Identifier: Apache-2.0
import json
import math

import numpy as np
import pytest
from fixtures.gait_oracles import ORACLES

from humanoid_model.violation import ViolationKind
from humanoid_studies.planar_gait.report.gait_report import gait_report
from humanoid_studies.planar_gait.report.remedies import REMEDIES
from humanoid_studies.planar_gait.trajectory.gait_series import gait_series


@pytest.fixture(scope="module")
def report(bip_gait):
    return gait_report(bip_gait)


def test_totals(report):
    """Two cycles: 0.746 m/s and the reference solutions' energies."""
    double, single = ORACLES["bip_dsp_cyclic"], ORACLES["bip_ssp_cyclic"]
    energy = 2.0 * (double["E_abs"] + single["E_abs"])
    assert report.converged
    assert report.duration == pytest.approx(1.34)
    assert report.distance == pytest.approx(1.0)
    assert report.mean_speed == pytest.approx(0.746, abs=5e-4)
    assert report.weight == pytest.approx(104.81 * 9.81)
    assert report.energy == pytest.approx(energy, rel=5e-3)
    assert report.energy == pytest.approx(report.energy_positive - report.energy_negative, rel=1e-3)
    assert report.mean_power == pytest.approx(energy / 1.34, rel=5e-3)
    assert report.cost_of_transport == pytest.approx(energy / (104.81 * 9.81), rel=5e-3)
    assert report.cost == pytest.approx(2.0 * (double["J_pmp"] + single["J_pmp"]), rel=1e-3)
    assert report.closure_mm == pytest.approx(0.97, abs=0.02)
    assert report.hamiltonian_spread < 1e-4
    assert report.min_normal == pytest.approx(-366.0, rel=0.05)
    assert math.degrees(report.trunk_lean) == pytest.approx(2.7, abs=0.2)
    assert -1e-3 < report.clearance < 1e-9  # the ends are on the ground
    assert report.seconds > 0.0


def test_phases(report):
    assert [phase.kind for phase in report.phases] == ["double_support", "single_support"] * 2
    assert [phase.bears for phase in report.phases] == [
        ("left", "right"),
        ("right",),
        ("right", "left"),
        ("left",),
    ]
    assert [phase.distance for phase in report.phases] == pytest.approx([0.13, 0.37, 0.13, 0.37])
    assert report.phases[1].mean_speed == pytest.approx(0.74)
    assert report.phases[0].min_normal["right"] == pytest.approx(6.0, abs=1e-3)
    assert (report.phases[0].torque.joint, report.phases[2].torque.joint) == ("left_ankle", "right_ankle")
    assert abs(report.phases[0].torque.value) == pytest.approx(167.4, abs=0.5)
    assert [phase.start for phase in report.phases] == pytest.approx([0.0, 0.17, 0.67, 0.84])


def test_peaks_are_where_they_are_said_to_be(bip_gait, report):
    series = gait_series(bip_gait)
    for peaks, values in ((report.torques, series.torques), (report.rates, series.rates)):
        for j, peak in enumerate(peaks):
            assert peak.joint == series.joints[j]
            assert abs(peak.value) == np.abs(values[:, j]).max()
            assert peak.value in values[series.t == peak.time, j]


def test_transitions(report):
    assert len(report.transitions) == 3
    for jump in report.transitions:
        assert max(jump.place, jump.velocity, jump.rate) < 1e-8
        assert jump.torque > 10.0  # each phase is optimal by itself
    assert report.transitions[0].time == pytest.approx(0.17)


def test_findings_name_what_to_do(report):
    """The stance heel pulls, and the sole goes below the ground; each is told once, with the phase's first turn."""
    assert {finding.phase for finding in report.findings} == {1, 2}
    heel = next(finding for finding in report.findings if "stance heel" in finding.what)
    assert "min_root_force" in heel.first
    assert 0.17 <= heel.time <= 0.67
    sole = next(finding for finding in report.findings if "below the ground" in finding.what)
    assert sole.phase == 1
    assert "7.8 mm" in sole.what
    assert "penalties.slap" in sole.first


def test_text_has_every_phase_and_joint(report):
    text = report.text()
    lines = text.splitlines()
    assert "0.746 m/s (2.69 km/h)" in lines[0]
    assert sum(line.startswith("2 single_support") for line in lines) == 2
    for joint in ("left_hip", "right_ankle"):
        assert any(line.startswith(joint) for line in lines)
    assert sum(line.startswith("!") for line in lines) == len(report.findings)
    assert max(len(line) for line in lines if not line.startswith("!")) <= 180


def test_numbers_survive_json(report):
    content = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert content["mean_speed"] == report.mean_speed
    assert content["phases"][1]["report"]["status"] == "contact violation"
    assert content["phases"][0]["bears"] == ["left", "right"]


def test_gait_that_was_stopped_has_a_report_too(stopped_gait):
    report = gait_report(stopped_gait)
    assert not report.converged
    assert [finding.what for finding in report.findings if "stopped" in finding.what] == ["stopped", "stopped"]
    assert "NOT CONVERGED" in report.text()
    json.dumps(report.as_dict(), allow_nan=False)


def test_every_limit_has_its_remedies():
    assert set(REMEDIES) == set(ViolationKind)
    assert all(first and second for first, second in REMEDIES.values())
