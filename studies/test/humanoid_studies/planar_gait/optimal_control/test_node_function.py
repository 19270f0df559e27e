# SPDX-License-Identifier: Apache-2.0
from concurrent.futures import ThreadPoolExecutor

import casadi
import numpy as np
import pytest

from humanoid_studies.planar_gait.optimal_control.node_function import NodeFunction


def outer(size: int = 3) -> NodeFunction:
    a, b, p = casadi.SX.sym("a", size), casadi.SX.sym("b", 2), casadi.SX.sym("p", 1)
    return NodeFunction("outer", [a, b], p, [p * casadi.mtimes(a, b.T), casadi.sin(a)])


@pytest.mark.parametrize("nodes", [1, 7, 8, 9, 64, 65, 200])
def test_any_number_of_nodes(nodes):
    rng = np.random.default_rng(nodes)
    a, b = rng.normal(size=(nodes, 3)), rng.normal(size=(nodes, 2))
    product, sine = outer()(a, b, np.array([2.5]))
    np.testing.assert_allclose(product, 2.5 * a[:, :, None] * b[:, None, :], rtol=1e-15)
    np.testing.assert_allclose(sine, np.sin(a), rtol=1e-15)


def test_threads_do_not_mix_their_values():
    function = outer()

    def run(seed: int) -> bool:
        a = np.full((150, 3), float(seed))
        return all((function(a, np.ones((150, 2)), np.array([1.0]))[0] == seed).all() for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))
