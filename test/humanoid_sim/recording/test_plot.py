# SPDX-License-Identifier: Apache-2.0
"""Pictures hold the curves that the log holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim.recording import plot_log
from humanoid_sim.recording.log import PLOTS, Columns


def made_log() -> dict[str, Columns]:
    """Two feet with three contact points over five instants, one joint, one stage."""
    times = np.arange(5.0)
    contacts: Columns = {
        "time": np.repeat(times, 3),
        "body_a": np.tile(["r/left", "r/left", "r/right"], 5),
        "body_b": np.tile(["floor"] * 3, 5),
        "force_z": np.tile([1.0, 2.0, 4.0], 5),
        "normal_z": np.ones(15),
    }
    for x in "xy":
        contacts[f"force_{x}"] = contacts[f"normal_{x}"] = np.zeros(15)
    joints: Columns = {"time": times, "robot": np.array(["r"] * 5), "joint": np.array(["knee"] * 5), "effort": times}
    profile: Columns = {"time": times, "stage": np.array(["contacts"] * 5), "seconds": 1e-6 * times}
    return {"contacts": contacts, "joints": joints, "profile": profile}


@pytest.mark.feature("000-F024")
def test_pictures_are_written_in_the_kind_of_their_ending(tmp_path: Path) -> None:
    plot_log(made_log(), tmp_path / "picture.png")
    plot_log(made_log(), tmp_path / "picture.pdf", ["forces"])
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF")


def test_forces_are_summed_by_pair() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    PLOTS["forces"][1](axes, made_log()["contacts"])
    curves = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert set(curves) == {"r/left on floor", "r/right on floor", "all"}
    for name, value in {"r/left on floor": 3.0, "r/right on floor": 4.0, "all": 7.0}.items():
        assert_allclose(curves[name], value)


def test_what_the_log_does_not_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no balance, from which 'zmp' is drawn"):
        plot_log(made_log(), tmp_path / "picture.png", ["zmp"])
    with pytest.raises(InputError, match="no curves 'force'"):
        plot_log(made_log(), tmp_path / "picture.png", ["force"])
    with pytest.raises(InputError, match="can't be written"):
        plot_log(made_log(), tmp_path / "picture.xyz")
    with pytest.raises(InputError, match="energy only"):
        plot_log({"energy": {}}, tmp_path / "picture.png")
