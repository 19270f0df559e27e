# SPDX-License-Identifier: Apache-2.0
"""Calling a compiled function from numba's code.

The address is an argument, so that numba may keep what it made of the caller (``cache=True``)::

    address = model.inverse_dynamics.address

    @numba.njit(cache=True)
    def work(address, q, v, a, tau, steps):
        for _ in range(steps):
            call_compiled(address, (q, v, a, tau))
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic


@intrinsic
def call_compiled(typingctx: Any, address: Any, arrays: Any) -> Any:
    """Call a compiled function on one state.

    Only type and order of the arrays are checked, when numba compiles the caller; sizes are the caller's care, and
    that arrays don't overlap.

    Args:
        typingctx: numba's own, left out by the caller.
        address: of the function, :attr:`humanoid_codegen.compiled.CompiledFunction.address`.
        arrays: tuple of the arguments, then the results, float64 in C order.
    """
    if not isinstance(address, types.Integer):
        raise TypingError(f"call_compiled takes a function's address, not {address}")
    members = getattr(arrays, "types", None)
    if members is None:
        raise TypingError(f"call_compiled takes a tuple of arrays, not {arrays}")
    for array in members:
        if not isinstance(array, types.Array) or array.dtype != types.float64 or array.layout != "C":
            raise TypingError(f"call_compiled takes float64 arrays in C order, not {array}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointers = []
        for k, array in enumerate(signature.args[1].types):
            value = builder.extract_value(values[1], k)
            pointers.append(context.make_array(array)(context, builder, value).data)
        function = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in pointers])
        builder.call(builder.inttoptr(values[0], function.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(address, arrays), generate
