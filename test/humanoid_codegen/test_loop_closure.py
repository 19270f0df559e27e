# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_codegen import read_loops
from humanoid_model import InputError

GOOD = """
loops:
  pin:
    a: {link: coupler, xyz: [1, 0, 0]}
    b: {link: rocker, xyz: [0.8, 0, 0], rpy: [0, 0, 1.5]}
    rows: [x, z]
  ball:
    a: {link: one}
    b: {link: two}
"""


def test_cuts_are_read(tmp_path):
    path = tmp_path / "loops.yaml"
    path.write_text(GOOD)
    pin_joint, ball = read_loops(path)
    assert (pin_joint.name, pin_joint.link_a, pin_joint.link_b) == ("pin", "coupler", "rocker")
    assert pin_joint.rows == ("x", "z")
    np.testing.assert_array_equal(pin_joint.placement_a.translation, [1.0, 0.0, 0.0])
    assert pin_joint.placement_b.rotation[1, 0] == pytest.approx(np.sin(1.5))
    assert ball.rows == ("x", "y", "z")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("link: rocker, ", "", r"loops.yaml:5: loops.pin.b: has no 'link'"),
        ("    b: {link: two}\n", "", r"loops.yaml:8: loops.ball: has no 'b'"),
        ("rows: [x, z]", "rows: [x, w]", r"loops.yaml:6: loops.pin.rows\[1\]: is 'w'"),
        ("rows: [x, z]", "rows: [x, x]", "one twice"),
        ("rows: [x, z]", "rows: []", "holds no row"),
        ("xyz: [1, 0, 0]", "xyz: [1, .nan, 0]", "Give a finite number"),
        ("xyz: [1, 0, 0]", "xyz: [1, 0]", "Give 3 numbers"),
        ("loops:", "cuts:", "unknown key"),
        ("loops:", "loops: [", "not YAML"),
    ],
)
def test_bad_files_are_refused(tmp_path, old, new, message):
    path = tmp_path / "loops.yaml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_loops(path)


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        read_loops(tmp_path / "nothing.yaml")
