# SPDX-License-Identifier: Apache-2.0
import csv
import dataclasses
from pathlib import Path

import numpy as np

from humanoid_model import load_robot
from humanoid_studies.humod.coordinates import JOINTS
from humanoid_studies.humod.evaluator import pinocchio_evaluator
from humanoid_studies.humod.replay import replay
from humanoid_studies.humod.synthetic import synthetic_recording
from humanoid_studies.humod.tables import write_tables

ROBOT = load_robot("syn3p33r")
RUN = synthetic_recording(ROBOT, duration=0.1)
REPLAY = replay(RUN, pinocchio_evaluator(ROBOT))


def test_tables_hold_the_replay(tmp_path: Path) -> None:
    names = [path.name for path in write_tables(tmp_path, REPLAY)]
    assert names == ["errors.csv", "positions.csv", "efforts.csv"]
    with (tmp_path / "errors.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 13 * 3
    row = next(row for row in rows if (row["against"], row["joint"], row["axis"]) == ("estimated", "LNJ", "y"))
    assert float(row["largest_m"]) == float(f"{REPLAY.largest('estimated')[2, 1]:.6g}")
    assert float(row["rms_m"]) == float(f"{REPLAY.rms('estimated')[2, 1]:.6g}")

    positions = np.genfromtxt(tmp_path / "positions.csv", delimiter=",", names=True)
    np.testing.assert_allclose(positions["LNJ_y_model"], REPLAY.positions[:, 2, 1], rtol=1e-8)
    np.testing.assert_allclose(positions["AJ_L_z_estimated"], RUN.positions["estimated"][:, -1, 2], rtol=1e-7)

    efforts = np.genfromtxt(tmp_path / "efforts.csv", delimiter=",", names=True)
    np.testing.assert_allclose(efforts["time_s"], RUN.time)
    np.testing.assert_allclose(efforts["KJ_R_z"], REPLAY.efforts[:, JOINTS.index("KJ_R_z")], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(efforts["WJ_py_without_ground"], REPLAY.unsupported[:, 1], rtol=1e-7, atol=1e-9)


def test_without_ground_force_there_is_one_base_wrench(tmp_path: Path) -> None:
    result = replay(dataclasses.replace(RUN, ground=None), pinocchio_evaluator(ROBOT))
    write_tables(tmp_path, result)
    header = (tmp_path / "efforts.csv").read_text().splitlines()[0]
    assert header == ",".join(["time_s", *JOINTS])
