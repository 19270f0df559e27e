# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from humanoid_model.errors import InputError
from humanoid_studies.humod.subject import SYNTHETIC_SUBJECT, read_subject, write_subject


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A file of the synthetic subject after a change."""
    write_subject(path, SYNTHETIC_SUBJECT)
    content = scipy.io.loadmat(path, simplify_cells=True)
    change(content)
    scipy.io.savemat(path, {name: value for name, value in content.items() if not name.startswith("__")})
    return path


def test_a_subject_comes_back_from_its_file(tmp_path: Path) -> None:
    write_subject(tmp_path / "Parameters.mat", SYNTHETIC_SUBJECT)
    subject = read_subject(tmp_path / "Parameters.mat")
    assert subject.name == "humod_syn3p33r"
    assert subject.gender == "female"
    assert subject.body_mass == pytest.approx(562 / 9.81)
    assert subject.lengths == pytest.approx(SYNTHETIC_SUBJECT.lengths)
    for joint, offset in SYNTHETIC_SUBJECT.offsets.items():
        np.testing.assert_allclose(subject.offsets[joint], offset, atol=1e-15)
    assert subject.mass_difference() == pytest.approx(0.0, abs=1e-12)


def test_lengths_in_the_file_are_millimetres(tmp_path: Path) -> None:
    write_subject(tmp_path / "Parameters.mat", SYNTHETIC_SUBJECT)
    content = scipy.io.loadmat(tmp_path / "Parameters.mat", simplify_cells=True)
    assert content["thigh_R"]["segmentLengthY"] == pytest.approx(380.0)
    np.testing.assert_allclose(content["pelvis"]["relativePosition"]["HJ_L"], [0.0, -100.0, -80.0])
    assert content["thorax"]["comY"] == pytest.approx(-0.528 * 300.0)
    assert content["thigh_R"]["moiXX"] == pytest.approx(0.11606753065)


def test_the_length_of_a_foot_is_the_norm_of_its_reference(tmp_path: Path) -> None:
    lengths = {"referenceLengthX": 120.0, "referenceLengthY": 50.0, "referenceLengthZ": 0.0}
    path = changed(tmp_path / "p.mat", lambda content: content["foot_R"].update(lengths))
    assert read_subject(path).lengths["foot_R"] == pytest.approx(0.130)


def test_masses_that_differ_from_the_regression_are_seen(tmp_path: Path) -> None:
    path = changed(tmp_path / "p.mat", lambda content: content["head"].update(mass=content["head"]["mass"] + 0.25))
    assert read_subject(path).mass_difference() == pytest.approx(0.25)


def test_a_file_without_masses_will_do(tmp_path: Path) -> None:
    def strip(content: dict[str, Any]) -> None:
        for value in content.values():
            if isinstance(value, dict):
                value.pop("mass", None)

    assert read_subject(changed(tmp_path / "p.mat", strip)).mass_difference() is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["thigh_L"].pop("segmentLengthY"), "thigh_L.segmentLengthY: missing"),
        (lambda c: c.pop("pelvis"), "pelvis.segmentLengthY: missing"),
        (lambda c: c["thigh_L"].update(segmentLengthY=-1.0), "thigh_L.segmentLengthY: is -1. Give a number above 0"),
        (lambda c: c["thigh_L"].update(segmentLengthY=np.nan), "thigh_L.segmentLengthY: is nan"),
        (lambda c: c["foot_R"].update(referenceLengthX=0.0), "foot_R.referenceLengthX: and Y and Z are 0"),
        (lambda c: c["thorax"]["relativePosition"].update(SJ_L=[1.0, 2.0]), "relativePosition.SJ_L: has 2 numbers"),
        (lambda c: c.update(gender="unknown"), "gender: is 'unknown'. Known are female, male"),
        (lambda c: c.update(subject='x"/><link'), "subject: is 'x\"/><link'"),
        (lambda c: c.update(bodyMass=0.0), "bodyMass: is 0"),
    ],
)
def test_a_wrong_parameter_is_named(tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_subject(changed(tmp_path / "p.mat", change))
    assert message in str(caught.value)
