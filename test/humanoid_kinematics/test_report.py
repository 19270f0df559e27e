# SPDX-License-Identifier: Apache-2.0
"""The report of a mechanism, and the command that prints it."""

import numpy as np
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.__main__ import main
from humanoid_kinematics.report import report
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")


@pytest.mark.feature("002-F169")
def test_report_of_the_cross_delta_says_what_the_specification_counts():
    cross = MechanismSolver(load_mechanism("cross"))
    cross.lock("joint_3")
    text = report(cross, ("joint_1", "joint_6", "joint_11"))
    assert "15 joints, 2 loops" in text
    assert "mobility 3: 15 joint velocities, rank of the loops 12; counting gives 3, so 0 rows" in text
    assert "3 drives, as many as freedoms" in text
    assert "loops closed in 3 iterations" in text
    assert "rank 3, dexterity (largest by smallest) 1.713" in text
    rows = {line.split()[0]: line for line in text.splitlines() if line.startswith("joint_")}
    assert rows["joint_1"].endswith("driven")
    assert "slides m" in rows["joint_1"]
    assert rows["joint_3"].endswith("locked")
    assert rows["joint_2"].split()[-2:] == ["90.5", "160"]


def test_report_of_a_singular_mechanism_says_so():
    hpr = MechanismSolver(load_mechanism("hpr"))
    hpr.close(np.radians([0, 0, 0, 0, 90, 180, -180, 0]))
    assert "SINGULAR here: 6 freedoms to first order, 5 nearby" in report(hpr)


def test_command_prints_modes_and_a_section_with_its_picture(tmp_path, capsys):
    drives = ["joint_2", "joint_5", "joint_8"]
    assert main(["innocenti", "--drives", *drives, "--modes", "60"]) == 0
    assert "assembly modes with the drives where they are, of 60" in capsys.readouterr().out
    path = tmp_path / "section.png"
    assert main(["syntaxeur_delta", "--section", "z", "--step", "0.02", "--picture", str(path)]) == 0
    told = capsys.readouterr().out
    assert "workspace of frame_103 at z = 0.195378 m" in told
    assert f"written: {path}\n" in told
    assert path.stat().st_size > 5000


def test_command_refuses_what_is_not_there_and_tells_of_loops_that_do_not_close(tmp_path, capsys):
    assert main(["nothing"]) == 2
    assert "unknown mechanism 'nothing'" in capsys.readouterr().err
    path = tmp_path / "open.mad"
    path.write_text(
        "RAFF v1.1 open\nsensor 0 { }\nrobot open { base { }\n"
        "link 1 { parameters { theta 0 r 0 alpha 0 d 0 } type 2 pred 0 filename ( ) }\n"
        "link 2 { parameters { theta 10 r 0 alpha 0 d 100 } type 2 pred 1 filename ( ) }\n"
        "frame 3 { pos { 500 0 0 } ori { 0 0 0 } pred 0 filename ( ) }\nconstraint { link 2 frame 3 } }\n"
    )
    assert main([str(path)]) == 1
    out = capsys.readouterr().out
    assert "loops NOT CLOSED" in out
    assert "open by 0.4" in out
