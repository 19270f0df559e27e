# SPDX-License-Identifier: Apache-2.0
"""Functions of a shared object as builtin functions of Python.

Asking four numpy arrays for their addresses and calling by ctypes takes 5 µs, many times the dynamics themselves. The
shared object therefore holds a function of CPython's own calling convention that reads arrays by the buffer protocol.
It needs no header of Python: what it calls is handed over as a table of addresses, and all of it is in the stable
interface.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_NEEDED = (
    "PyObject_GetBuffer",
    "PyBuffer_Release",
    "PyErr_Clear",
    "PyLong_FromLong",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)
_METH_FASTCALL = 0x0080

#: C text; the generated text before it defines ARGUMENTS, RESULTS, arrays, call_one and call_many.
PYTHON_ENTRY = r"""
typedef struct {
    void *data;
    void *owner;
    ptrdiff_t size;
    ptrdiff_t item_size;
    int read_only;
    int dimensions;
    char *format;
    ptrdiff_t *shape;
    ptrdiff_t *strides;
    ptrdiff_t *suboffsets;
    void *internal;
} buffer;

static struct {
    int (*get_buffer)(void *, buffer *, int);
    void (*release_buffer)(buffer *);
    void (*clear_error)(void);
    void *(*number)(long);
    void *(*save_thread)(void);
    void (*restore_thread)(void *);
} python;

void set_python(const void *table)
{
    memcpy(&python, table, sizeof python);
}

/* Whether array i is what is expected; count is -1 for a single state. */
static int fits(const buffer *b, int i, ptrdiff_t count)
{
    const int extra = count >= 0;
    int k;
    if (b->format == NULL || strcmp(b->format, "d") != 0 || ((uintptr_t)b->data & 7) != 0)
        return 0;
    if (b->dimensions != arrays[i].dimensions + extra || (extra && b->shape[0] != count))
        return 0;
    for (k = 0; k < arrays[i].dimensions; k++)
        if (b->shape[k + extra] != arrays[i].shape[k])
            return 0;
    return 1;
}

static int apart(const buffer *a, const buffer *b)
{
    return (const char *)a->data + a->size <= (const char *)b->data
        || (const char *)b->data + b->size <= (const char *)a->data;
}

/* A builtin function of arguments and results. Gives 0 when done, 1 when an array can't be used as it is. */
void *python_call(void *self, void *const *given, ptrdiff_t number)
{
    buffer buffers[ARGUMENTS + RESULTS];
    double *data[ARGUMENTS + RESULTS];
    ptrdiff_t count = -1;
    int held = 0, good = number == ARGUMENTS + RESULTS, i, j;
    (void)self;
    for (i = 0; good && i < ARGUMENTS + RESULTS; i++) {
        /* C order, with format; results writable */
        if (python.get_buffer(given[i], &buffers[i], i < ARGUMENTS ? 0x3c : 0x3d) != 0) {
            python.clear_error();
            good = 0;
            break;
        }
        held++;
        if (i == 0 && buffers[0].dimensions == arrays[0].dimensions + 1)
            count = buffers[0].shape[0];
        good = fits(&buffers[i], i, count);
        data[i] = buffers[i].data;
        for (j = 0; good && i >= ARGUMENTS && j < i; j++)
            good = apart(&buffers[i], &buffers[j]);
    }
    if (good && count < 0) {
        call_one(data);
    } else if (good) {
        void *thread = python.save_thread();
        call_many(count, data);
        python.restore_thread(thread);
    }
    for (i = 0; i < held; i++)
        python.release_buffer(&buffers[i]);
    return python.number(!good);
}
"""


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


@dataclass(frozen=True)
class Builtin:
    """A builtin function and what has to live as long as it.

    Attributes:
        call: takes arguments and results as arrays; gives 0 when done, 1 when one can't be used as it is.
        definition: that Python keeps a pointer to.
        library: with the code.
    """

    call: Callable[..., int]
    definition: Any
    library: ctypes.CDLL


def make_builtin(library: ctypes.CDLL, name: str) -> Builtin:
    """Return the builtin function of a shared object.

    Args:
        library: that :data:`PYTHON_ENTRY` is in.
        name: under which Python shows it.
    """
    table = (ctypes.c_void_p * len(_NEEDED))(
        *(ctypes.cast(getattr(ctypes.pythonapi, needed), ctypes.c_void_p).value for needed in _NEEDED)
    )
    library.set_python(table)
    address = ctypes.cast(library.python_call, ctypes.c_void_p).value
    definition = _MethodDefinition(name.encode(), address, _METH_FASTCALL, None)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return Builtin(make(ctypes.addressof(definition), None, None), definition, library)
