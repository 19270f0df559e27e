# SPDX-License-Identifier: Apache-2.0
"""Functions compiled for this machine, called from Python and numba without copies.

Example::

    from humanoid_codegen.compiled import compile_functions
    from humanoid_codegen.dynamics.dynamic_model import DynamicModel

    model = compile_functions(DynamicModel("hrp2").function("inverse_dynamics"))
    tau = model.inverse_dynamics(q, v, a)  # one state, or N states with a leading dimension
    model.inverse_dynamics(q, v, a, out=tau)  # in place

From numba's code: :func:`call_compiled`.
"""

from humanoid_codegen.compiled.compiled_function import call_compiled
from humanoid_codegen.compiled.compiled_model import compile_functions

__all__ = ["call_compiled", "compile_functions"]
