# SPDX-License-Identifier: Apache-2.0
import csv
import json

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.report.gait_files import write_gait_csv, write_gait_folder, write_gait_json
from humanoid_studies.planar_gait.trajectory.gait_series import gait_series


def test_tables_hold_every_series(bip_gait, tmp_path):
    series = gait_series(bip_gait)
    write_gait_csv(bip_gait, tmp_path / "gait.csv")
    with (tmp_path / "gait.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(series.t)
    assert list(rows[0]) == list(series.columns())
    np.testing.assert_array_equal([float(row["torque.left_knee"]) for row in rows], series.torques[:, 1])
    assert rows[0]["clearance"] == ""  # both feet bear


def test_json_has_report_logs_and_series(bip_gait, tmp_path):
    write_gait_json(bip_gait, tmp_path / "gait.json")
    content = json.loads((tmp_path / "gait.json").read_text())
    assert content["report"]["duration"] == pytest.approx(1.34)
    assert len(content["logs"]) == 4
    assert "transcription" in content["logs"][0][0]
    np.testing.assert_allclose(content["offsets"], bip_gait.plan.offsets)
    assert content["series"]["clearance"][0] is None
    assert content["series"]["hamiltonian"][0] == pytest.approx(bip_gait.phases[0].hamiltonian[0])


@pytest.mark.slow
def test_folder(rabbit_gait, tmp_path):
    report = write_gait_folder(rabbit_gait, tmp_path / "a" / "b", animation=False)
    names = {path.name for path in (tmp_path / "a" / "b").iterdir()}
    phases = {f"phase_{k}_{kind}" for k, kind in ((1, "double_support"), (2, "single_support"))}
    assert {"report.txt", "gait.json", "gait.csv", "gait.png", "strip.png"} <= names
    assert {f"{phase}.{ending}" for phase in phases for ending in ("csv", "json")} <= names
    assert "gait.gif" not in names
    assert (tmp_path / "a" / "b" / "report.txt").read_text() == report.text() + "\n"


def test_folder_that_is_a_file(rabbit_gait, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="can't be written to"):
        write_gait_folder(rabbit_gait, tmp_path / "taken")
