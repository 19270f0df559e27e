# SPDX-License-Identifier: Apache-2.0
"""MATLAB files up to version 7, read with errors that name file, field, value and remedy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from humanoid_model.errors import InputError
from humanoid_model.files import require_file

_HDF5 = (b"\x89HDF", b"MATLAB 7.3")


class MatFile:
    """Structs and arrays of one MATLAB file, addressed as in MATLAB: ``motion.trajectory.q``.

    Args:
        path: of the file.
        names: variables to load, the others are skipped; all when None.

    Raises:
        InputError: the file is missing, is no MATLAB file, or is of version 7.3 (HDF5), which scipy can't read.
    """

    def __init__(self, path: str | Path, names: Sequence[str] | None = None) -> None:
        self.path = Path(path)
        require_file(path, remedy="Give the path of a MATLAB file (.mat)")
        with self.path.open("rb") as file:
            head = file.read(16)
        if head.startswith(_HDF5):
            raise InputError(
                "is a MATLAB 7.3 file (HDF5), which scipy can't read",
                source=path,
                remedy="In MATLAB or Octave: s = load('file.mat'); save('file_v7.mat', '-struct', 's', '-v7')",
            )
        try:
            self._tree: dict[str, Any] = scipy.io.loadmat(self.path, simplify_cells=True, variable_names=names)
        except Exception as problem:  # scipy's readers raise whatever a broken byte leads them to
            raise InputError(
                f"is not a MATLAB file, or a damaged one ({type(problem).__name__}: {problem})".rstrip(". "),
                source=path,
                remedy="Download it anew, or save it from MATLAB with -v7",
            ) from None

    def get(self, field: str) -> Any:
        """Return the value of a field; None where there is none (an empty struct or matrix counts as none)."""
        value: Any = self._tree
        for part in field.split("."):
            if not isinstance(value, dict) or part not in value:
                return None
            value = value[part]
        return None if isinstance(value, np.ndarray) and value.size == 0 else value

    def need(self, field: str) -> Any:
        """Return the value of a field that must be there.

        Raises:
            InputError: it isn't.
        """
        value = self.get(field)
        if value is None:
            found = self.get(field.rpartition(".")[0]) if "." in field else self._tree
            names = sorted(name for name in found if not name.startswith("__")) if isinstance(found, dict) else []
            here = ", ".join(names) or "no fields"
            raise self.fail(field, "missing", f"Give a processed HuMoD file; this one has {here}")
        return value

    def array(self, field: str) -> np.ndarray:
        """Return the array of floats; not a number (NaN) is let through.

        Raises:
            InputError: missing, or not numeric.
        """
        value = self.need(field)
        try:
            if np.iscomplexobj(value):
                raise TypeError
            return np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise self.fail(field, f"is not an array of real numbers but {type(value).__name__}") from None

    def matrix(self, field: str, rows: int, columns: int | None = None) -> np.ndarray:
        """Return the matrix of ``rows`` rows, turned upright where the file holds it the other way round.

        Raises:
            InputError: missing, not numeric, or of another size.
        """
        value = self.array(field)
        if value.ndim == 1:  # what simplify_cells makes of a single column
            value = value[:, np.newaxis]
        if value.ndim == 2 and value.shape[0] != rows and value.shape[1] == rows:
            value = value.T
        if value.ndim != 2 or value.shape[0] != rows or columns not in (None, value.shape[1]):
            expected = f"{rows} × {'frames' if columns is None else columns}"
            raise self.fail(
                field,
                f"has size {' × '.join(map(str, value.shape))}, not {expected}",
                "HuMoD's files from version 1.2 on (2016) are needed: 36 coordinates, 13 joints",
            )
        return value

    def vector(self, field: str, size: int) -> np.ndarray:
        """Finite numbers, (size,).

        Raises:
            InputError: missing, not numeric, of another size, or not finite.
        """
        value = self.array(field).reshape(-1)
        if value.size != size:
            raise self.fail(field, f"has {value.size} numbers, not {size}")
        if not np.isfinite(value).all():
            raise self.fail(field, f"is {', '.join(f'{x:g}' for x in value)}", "Give finite numbers")
        return value

    def positive(self, field: str) -> float:
        """One positive number.

        Raises:
            InputError: missing, not a number, or not above 0.
        """
        value = float(self.vector(field, 1)[0])
        if value <= 0:
            raise self.fail(field, f"is {value:g}", "Give a number above 0")
        return value

    def text(self, field: str) -> str:
        """Return a text.

        Raises:
            InputError: missing, or not a text.
        """
        value = self.need(field)
        if not isinstance(value, str):
            raise self.fail(field, f"is {value!r:.60}, not a text")
        return value

    def labels(self, field: str) -> list[str]:
        """Return a cell array of texts.

        Raises:
            InputError: missing, or something else.
        """
        value = self.need(field)
        names = np.atleast_1d(np.asarray(value, dtype=object)).ravel().tolist()
        if not all(isinstance(name, str) for name in names):
            raise self.fail(field, f"is {value!r:.60}, not a cell array of texts")
        return names

    def fail(self, field: str, problem: str, remedy: str | None = None) -> InputError:
        """Error about a field of this file."""
        return InputError(problem, source=self.path, element=field, remedy=remedy)
