# SPDX-License-Identifier: Apache-2.0
"""Records of arrays that compiled code uses without counting who uses them.

Numba counts the references to an array's memory with atomic operations, at each access to a field of a record and at
each row that is looked at: in kernels of microseconds that is a good part of the time. Arrays without an owner are not
counted. Whoever makes a record of them must keep the arrays alive as long as the record.

The record is written from here as memory: a compiled function that took a hundred arrays and put them together took
seconds to compile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray


def borrowed_words(kind: types.StructRef, records: Iterable[tuple[Any, ...]]) -> NDArray[np.int64]:
    """Return the memory of a record of named tuples, as 64-bit words.

    Args:
        kind: numba's type of the record.
        records: its fields in their order, named tuples of arrays and whole numbers.

    Returns:
        The words, for :func:`record_of_words`.

    Raises:
        TypeError: a field is not of the type that the record has there.
    """
    words: list[int] = []
    for (name, wanted), record in zip(kind.field_dict.items(), records, strict=True):
        given = numba.typeof(record)
        if given != wanted:
            raise TypeError(f"'{name}' is {given}, not {wanted}")
        for value in record:
            if isinstance(value, np.ndarray):  # owner, parent, sizes, address, shape, strides
                words += [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
            else:
                words.append(int(value))
    return np.array(words, dtype=np.int64)


@intrinsic
def record_of_words(typing_context: Any, kind: Any, words: Any) -> Any:
    """Return a record of a type whose memory is a copy of an array's.

    Args:
        typing_context: numba's.
        kind: the type.
        words: see :func:`borrowed_words`.

    Returns:
        What numba needs to compile a call.
    """
    record = kind.instance_type

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory_type = context.data_model_manager[record.get_data_type()].get_value_type()
        size = context.get_constant(types.uintp, context.get_abi_sizeof(memory_type))
        given = context.make_array(words)(context, builder, value=arguments[1])
        with cgutils.if_unlikely(builder, builder.icmp_unsigned("!=", builder.mul(given.nitems, given.itemsize), size)):
            context.call_conv.return_user_exc(builder, ValueError, ("the words are not those of the record",))
        made = context.make_helper(builder, record)
        made.meminfo = context.nrt.meminfo_alloc(builder, size)  # without an owner, the arrays need no farewell
        cgutils.raw_memcpy(builder, context.nrt.meminfo_data(builder, made.meminfo), given.data, size, 1)
        return made._getvalue()

    return record(kind, words), generate
