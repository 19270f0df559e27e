# SPDX-License-Identifier: Apache-2.0
"""A contact solver: steps along the velocities, each projected onto the friction cones.

After ``register()``, ``solve_contacts(problem, method="projected_gradient")`` and
``Simulation(scene, method="projected_gradient")`` use it. What runs at each step is better compiled: a function under
numba's ``njit`` is registered likewise.
"""

import numpy as np

from humanoid_sim import contact_residuals, register_solver


def projected_gradient(W, v_free, mu, f, tolerance, max_iterations, v, residuals):
    """Solve from forces f (3m,), rows n, t1, t2; overwrites them, velocities v (3m,) and residuals (5,)."""
    step = 1.0 / np.linalg.eigvalsh(W)[-1]
    for iteration in range(max_iterations):
        contact_residuals(W, v_free, mu, f, v, residuals)
        if residuals[0] <= tolerance:
            return iteration
        n, t1, t2 = v.reshape(-1, 3).T
        corrected = np.column_stack([n + mu * np.hypot(t1, t2), t1, t2])
        f[:] = project(f.reshape(-1, 3) - step * corrected, mu).reshape(-1)
    contact_residuals(W, v_free, mu, f, v, residuals)
    return max_iterations


def project(forces, mu):
    """Return the nearest forces (m, 3) in the cones of coefficients mu (m,)."""
    n, t = forces[:, 0], np.hypot(forces[:, 1], forces[:, 2])
    normal = np.where(t <= mu * n, n, np.maximum(n + mu * t, 0.0) / (1.0 + mu**2))
    share = np.minimum(mu * normal / np.maximum(t, 1e-300), 1.0)
    return np.column_stack([normal, share * forces[:, 1], share * forces[:, 2]])


def register():
    """Make it known; for the nodes a package has it as an entry point ``humanoid_stack.contact_solvers``."""
    register_solver("projected_gradient", projected_gradient, anytime=True)
