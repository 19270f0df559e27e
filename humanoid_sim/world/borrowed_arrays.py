# SPDX-License-Identifier: Apache-2.0
"""Arrays that compiled code uses without counting who uses them.

Numba counts the references to an array's memory with atomic operations, at each access to a field of a record and at
each row that is looked at: in kernels of microseconds that is a good part of the time. Arrays without an owner are not
counted. Whoever makes a record of them must keep the arrays alive as long as the record.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def borrowed(typing_context: Any, record: Any) -> Any:
    """The same named tuple, whose arrays have no owner.

    Args:
        typing_context: numba's.
        record: a named tuple of arrays and numbers.

    Returns:
        What numba needs to compile a call.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = arguments[0]
        for place, kind in enumerate(record.types):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, value=builder.extract_value(value, place))
                array.meminfo = cgutils.get_null_value(array.meminfo.type)
                array.parent = cgutils.get_null_value(array.parent.type)
                value = builder.insert_value(value, array._getvalue(), place)
        return value

    return record(record), generate
