# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from examples.lagrange_cost import ARMS, main, newton_euler, raw_lagrange, shared_lagrange


def operations(method, pattern, joints):
    return np.array([method([pattern[k % 2] for k in range(n)]) for n in joints])


@pytest.mark.feature("004-F54")
@pytest.mark.parametrize("pattern", ARMS.values(), ids=ARMS)
def test_newton_euler_grows_linearly_with_the_joints(pattern):
    steps = np.diff(operations(newton_euler, pattern, range(2, 13, 2)))
    assert np.ptp(steps) <= 0.01 * steps.mean()


@pytest.mark.feature("004-F54")
@pytest.mark.parametrize("pattern", ARMS.values(), ids=ARMS)
def test_lagrange_grows_faster_than_linearly_even_on_shared_expressions(pattern):
    counts = operations(shared_lagrange, pattern, range(2, 7))
    steps = np.diff(counts)
    assert np.all(steps[1:] > 1.3 * steps[:-1])
    assert counts[-1] > 7 * operations(newton_euler, pattern, [6])[0]


@pytest.mark.parametrize("pattern", ARMS.values(), ids=ARMS)
def test_lagrange_without_sharing_explodes(pattern):
    counts = operations(raw_lagrange, pattern, (2, 3, 4))
    assert np.all(counts[1:] > 4 * counts[:-1])
    assert counts[-1] > 10 * operations(shared_lagrange, pattern, [4])[0]


@pytest.mark.slow
def test_example_prints_its_table_and_draws_its_picture(tmp_path, capsys):
    main(str(tmp_path / "cost.png"))
    assert (tmp_path / "cost.png").read_bytes().startswith(b"\x89PNG")
    assert "Newton-Euler" in capsys.readouterr().out
