# SPDX-License-Identifier: Apache-2.0
"""Functions of a shared object: compiled once by the system's C compiler, kept on disk, called as builtins of Python.

An object is code that will run, so it is taken only from a folder and a file that belong to this user and that no other
user may write to. A digest at the end of each file shows that the object is complete.

Asking four numpy arrays for their addresses and calling by ctypes takes 5 µs, many times the dynamics themselves. The
shared object therefore holds a function of CPython's own calling convention that reads arrays by the buffer protocol.
It needs no header of Python: what it calls is handed over as a table of addresses, and all of it is in the stable
interface.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from humanoid_model import archive

#: Nothing here changes a result by more than rounding, and NaN stays NaN. Looking for statements that could share a
#: vector takes two thirds of the time of long functions, and what is found is no faster.
_FLAGS = (
    "-std=c99",
    "-O2",
    "-shared",
    "-fPIC",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-slp-vectorize",
)


class CompilerError(Exception):
    """The compiler doesn't take the text, or what it made can't be loaded."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler on this machine.

    Attributes:
        command: with the options that the environment variable ``CC`` gives.
        target: options that choose this machine's instructions, empty where the compiler knows none.
        identity: version and instructions: objects of equal identity and source are equal.
    """

    command: tuple[str, ...]
    target: tuple[str, ...]
    identity: str

    @property
    def flags(self) -> tuple[str, ...]:
        """Options of every compilation."""
        return (*_FLAGS, *self.target)

    def compile(self, source: str, target: Path) -> None:
        """Make a shared object.

        Args:
            source: C text.
            target: file to write, in a folder of one's own.

        Raises:
            CompilerError: the compiler refuses.
        """
        command = [*self.command, *self.flags, "-x", "c", "-o", str(target), "-", "-lm"]
        done = _run(command, source)
        if done.returncode != 0 or not target.exists():
            raise CompilerError(f"{shlex.join(self.command)} fails: {done.stderr.strip()[-500:]}")


def find_compiler() -> Compiler | None:
    """Return the compiler that ``CC`` names, else cc, gcc or clang; None where there is none that works."""
    chosen = os.environ.get("CC", "").strip()
    candidates = [tuple(shlex.split(chosen))] if chosen else [("cc",), ("gcc",), ("clang",)]
    for command in candidates:
        path = shutil.which(command[0])
        if path is not None:
            compiler = _examine((path, *command[1:]))
            if compiler is not None:
                return compiler
    return None


@cache
def _examine(command: tuple[str, ...]) -> Compiler | None:
    """Ask for version and predefined macros; the latter tell the instructions that may be used."""
    version = _run([*command, "--version"], "")
    if version.returncode != 0:
        return None
    for target in (("-march=native",), ("-mcpu=native",), ()):
        macros = _run([*command, *target, "-dM", "-E", "-x", "c", "-"], "")
        if macros.returncode == 0:
            identity = "\n".join((*command, version.stdout, platform.platform(), macros.stdout))
            return Compiler(command, target, identity)
    return None


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as problem:
        return subprocess.CompletedProcess(command, 1, "", str(problem))


_DIGEST = 32


def cached_object(source: str, compiler: Compiler) -> Path:
    """Return the shared object of a source; compiled when there is none yet.

    Raises:
        CompilerError: the compiler refuses.
    """
    folder = cache_folder()
    what = "\0".join((compiler.identity, *compiler.flags, source))
    path = folder / f"{hashlib.sha256(what.encode()).hexdigest()}.so"
    if not _is_whole(path):
        with tempfile.TemporaryDirectory(dir=folder, prefix="compiling-") as work:
            made = Path(work) / "object.so"
            compiler.compile(source, made)
            content = made.read_bytes()
            made.write_bytes(content + hashlib.sha256(content).digest())
            made.chmod(0o700)
            made.replace(path)  # whole or not at all, also when another process does the same
    return path


def cache_folder() -> Path:
    """Return the folder of the shared objects, one of this user's own; a temporary one where that can't be had."""
    folder = archive.cache_folder("compiled")
    problem = _claim(folder)
    return folder if problem is None else _temporary_folder(str(folder), problem)


def _claim(folder: Path) -> str | None:
    """Make the folder and return what is wrong with it, if anything."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.lstat()
    except OSError as problem:
        return problem.strerror or str(problem)
    if not stat.S_ISDIR(status.st_mode):
        return "isn't a folder"
    if not _is_own(status):
        return "others may write to it"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "can't be written to"
    return None


@cache
def _temporary_folder(wanted: str, problem: str) -> Path:
    warnings.warn(
        f"{wanted}: {problem}. Compiled functions are kept until this program ends; set XDG_CACHE_HOME to a folder "
        "of your own to keep them.",
        RuntimeWarning,
        stacklevel=2,
    )
    _TEMPORARY.append(tempfile.TemporaryDirectory(prefix="humanoid_stack-"))
    return Path(_TEMPORARY[-1].name)


_TEMPORARY: list[tempfile.TemporaryDirectory[str]] = []


def _is_own(status: os.stat_result) -> bool:
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_whole(path: Path) -> bool:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or not _is_own(status):
            return False
        content = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-_DIGEST]).digest() == content[-_DIGEST:]


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
