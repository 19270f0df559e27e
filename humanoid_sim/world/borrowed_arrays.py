# SPDX-License-Identifier: Apache-2.0
"""Records of arrays that compiled code uses without counting who uses them.

Numba counts the references to an array's memory at each access to a field of a record and at each row that is looked
at: in kernels of microseconds that is a good part of the time. Arrays of these records have no owner, which numba
knows at compile time, so that nothing is left of the counting. Whoever makes a record must keep the arrays alive as
long as the record.

A record is written from here as memory, and compiled code is handed its address: a compiled function that took a
hundred arrays and put them together took seconds to compile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, unbox
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import Self


_Record = TypeVar("_Record", bound=tuple[Any, ...])


def smallest(record: type[_Record], **dimensions: int) -> _Record:
    """Return a record of arrays of one element each.

    Args:
        record: named tuple whose fields are whole numbers, or arrays of the type that their annotation says.
        dimensions: of the fields that are not vectors, by name.
    """
    fields: dict[str, Any] = {}
    for name, kind in get_type_hints(record).items():
        if kind is int:
            fields[name] = 1
        else:
            element = get_args(get_args(kind)[1])[0]
            fields[name] = np.zeros((1,) * dimensions.pop(name, 1), dtype=element)
    assert not dimensions, f"{record.__name__} has no {', '.join(dimensions)}"
    return cast(Callable[..., _Record], record)(**fields)


class BorrowedType(types.Type):
    """Numba's type of a record.

    Attributes:
        fields: numba's types of its fields, named tuples of arrays and whole numbers.
    """

    def __init__(self, name: str, examples: Mapping[str, tuple[Any, ...]]) -> None:
        """Read the types of the fields off examples."""
        self.fields = {field: types.unliteral(numba.typeof(example)) for field, example in examples.items()}
        content = hashlib.sha1(str(self.fields).encode()).hexdigest()[:12]
        super().__init__(f"{name}_{content}")  # types of one name are the same


register_default(BorrowedType)(models.OpaqueModel)


class BorrowedRecord:
    """Memory of a record: its fields one after the other, the arrays as numba has them.

    Attributes:
        address: where it is.
    """

    def __init__(self, kind: BorrowedType, records: Mapping[str, tuple[Any, ...]]) -> None:
        """Write it.

        Args:
            kind: its type.
            records: its fields by name, which are shared, not copied.

        Raises:
            TypeError: a field is not of the type that the record has there.
        """
        self._write(kind, {name: _words(name, records[name], wanted) for name, wanted in kind.fields.items()})

    def _write(self, kind: BorrowedType, words: Mapping[str, NDArray[np.int64]]) -> None:
        self._numba_type_ = kind
        self._of_fields = words
        self._words = np.concatenate(list(words.values()))
        self.address = self._words.ctypes.data

    def with_fields(self, **records: tuple[Any, ...]) -> Self:
        """Return another record with some fields replaced; looking at all types anew would take a millisecond.

        Args:
            records: these fields by name, which are shared, not copied.

        Raises:
            TypeError: a field is not of the type that the record has there.
        """
        twin = object.__new__(type(self))
        fields = self._numba_type_.fields
        changed = {name: _words(name, record, fields[name]) for name, record in records.items()}
        twin._write(self._numba_type_, {**self._of_fields, **changed})
        return twin


def _words(name: str, record: tuple[Any, ...], wanted: Any) -> NDArray[np.int64]:
    given = numba.typeof(record)
    if given != wanted:
        raise TypeError(f"'{name}' is {given}, not {wanted}")
    words: list[int] = []
    for value in record:
        if isinstance(value, np.ndarray):  # owner, parent, sizes, address, shape, strides
            words += [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
        else:
            words.append(int(value))
    return np.array(words, dtype=np.int64)


@unbox(BorrowedType)
def _unbox(kind: BorrowedType, record: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(record, "address")
    value = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(value)


@infer_getattr
class _Fields(AttributeTemplate):
    key = BorrowedType

    def generic_resolve(self, kind: BorrowedType, name: str) -> Any:  # type: ignore[override]
        return kind.fields.get(name)


@lower_getattr_generic(BorrowedType)
def _read(context: Any, builder: Any, kind: BorrowedType, record: Any, name: str) -> Any:
    """Read a field: its arrays have no owner, and what is read once holds, as a record never changes."""
    memory = ir.LiteralStructType([context.get_value_type(field) for field in kind.fields.values()])
    place = list(kind.fields).index(name)
    field = cgutils.gep_inbounds(builder, builder.bitcast(record, memory.as_pointer()), 0, place)

    def read(place: Any, *path: int) -> Any:
        value = builder.load(cgutils.gep_inbounds(builder, place, 0, *path))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    members = []
    for i, member in enumerate(kind.fields[name]):
        if not isinstance(member, types.Array):
            members.append(read(field, i))
            continue
        array = context.make_array(member)(context, builder)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        array.nitems, array.data = read(field, i, 2), read(field, i, 4)
        array.itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(member.dtype)))
        array.shape = cgutils.pack_array(builder, [read(field, i, 5, axis) for axis in range(member.ndim)])
        array.strides = cgutils.pack_array(builder, [read(field, i, 6, axis) for axis in range(member.ndim)])
        members.append(array._getvalue())
    return context.make_tuple(builder, kind.fields[name], members)
