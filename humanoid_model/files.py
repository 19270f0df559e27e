# SPDX-License-Identifier: Apache-2.0
"""Files: those that come with the stack, those that users name, and how much of them may be read.

What isn't a plain file is refused before it is opened: reading it might block. All files may be read, or, where a
stranger names them, those of some folders. A few words can ask for more than any machine has: bounds hold for what is
read from files and texts, and are looked at before anything is built. Who builds a
:class:`~humanoid_model.scene.Scene`, a :class:`~humanoid_model.description.HeightField` or
:func:`~humanoid_model.height_field.grains` in Python has none. What was read is kept as long as the files stay the same
and there is room (:class:`Shelf`).
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import unquote

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def resource_folders() -> list[Path]:
    """Return folders that hold ``urdf/`` and ``config/``, the first to be searched first.

    They are the folders of HUMANOID_STACK_PATH, the checkout that the package lies in, and
    ``share/humanoid_stack`` of each prefix of AMENT_PREFIX_PATH and of the Python installation.
    """
    named = [Path(place) for place in os.environ.get("HUMANOID_STACK_PATH", "").split(os.pathsep) if place]
    prefixes = [place for place in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if place]
    shares = [Path(prefix) / "share" / "humanoid_stack" for prefix in (*prefixes, sys.prefix)]
    return [*named, Path(__file__).resolve().parent.parent, *shares]


def package_places() -> list[Path]:
    """Return folders of packages: ``share`` of AMENT_PREFIX_PATH, and ROS_PACKAGE_PATH, which may name packages too."""
    prefixes = [place for place in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if place]
    sources = [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
    return [*(Path(prefix) / "share" for prefix in prefixes), *sources]


def wheel_places() -> list[Path]:
    """Return folders of packages that wheels by cmeel have installed into this Python."""
    return [Path(place) / "cmeel.prefix" / "share" for place in sys.path if place]


def find_resource(relative: str | Path) -> Path:
    """Return the path of a file that comes with the stack, for example ``urdf/hrp2.urdf``.

    Raises:
        InputError: no resource folder holds it.
    """
    folders = resource_folders()
    for folder in folders:
        if (folder / relative).is_file():
            return folder / relative
    raise InputError(
        f"file '{relative}' is in none of {', '.join(str(folder) for folder in folders)}",
        remedy="Install the stack, or set HUMANOID_STACK_PATH to the folder that holds urdf/ and config/",
    )


def list_resources(folder: str | Path, suffixes: Iterable[str]) -> list[str]:
    """Names without suffix of the files of a resource folder, sorted, for example the robots of ``urdf``."""
    known = tuple(suffixes)
    return sorted(
        {
            path.stem
            for place in resource_folders()
            if (place / folder).is_dir()
            for path in (place / folder).iterdir()
            if path.suffix in known
        }
    )


BOUNDS = {
    "bytes": 100_000_000,  # of text, with all that is included
    "bytes of arrays": 500_000_000,  # of an archive, unpacked
    "elements": 100_000,  # of XML, with what is included and replicated
    "attributes": 2_000_000,  # of XML, with what classes give
    "attributes of one element": 1_000,
    "values": 200_000,  # of YAML, an alias counts whenever it is followed
    "levels inside one another": 100,
    "included files": 1_000,
    "robots": 100,
    "bodies": 5_000,
    "moving coordinates": 12_000,  # velocities of a scene; 2000 free bodies take 0.3 GB
    "shapes": 20_000,
    "shapes of a robot": 2_000,  # Pinocchio takes time that grows with their cube
    "points of height fields": 250_000,  # 16 s until a simulation of them stands
    "vertices": 1_000,  # of a polygon
    "surfaces": 5_000,
    "loops": 500,
    "lights": 100,
    "rules of pairs": 1_000,
    "pairs that don't touch": 20_000,
    "positions of keyframes": 1_000_000,
    "cells of a sole": 2_000,  # whose surface has a full matrix
    "pixels": 20_000_000,  # of a camera or a texture
    "samples of delay": 100_000,
    "triangles": 2_000_000,  # of a mesh
    "points of a mesh": 20_000_000,
    "bytes of a mesh with its copies": 1_000_000_000,
    "words of VRML": 4_000_000,
    "numbers of faces": 4_000_000,  # of VRML, a shape that is used again counts again
    "words of MAD": 300_000,
    "characters of MAD": 10_000_000,
}
"""What a text may become at most."""


def check_size(count: float, what: str, fail: Callable[[str, str], InputError]) -> None:
    """Refuse what would become too much.

    Args:
        count: of what the text would become.
        what: key of :data:`BOUNDS`.
        fail: makes the error, which names file and place, of problem and remedy.

    Raises:
        InputError: it is more than the bound.
    """
    if count > BOUNDS[what]:
        raise fail(
            f"comes to {min(count, 1e300):.12g}, more than {BOUNDS[what]} {what}",
            "Give less, or parts in texts of their own",
        )


class Growth:
    """What a text has become so far, all its parts together."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._counts: Counter[str] = Counter()

    def add(self, count: int, what: str, fail: Callable[[str, str], InputError]) -> None:
        """Count more of something, before it is made; arguments and errors are those of :func:`check_size`."""
        self._counts[what] += count
        check_size(self._counts[what], what, fail)


Fail = Callable[[str, str], InputError]
"""Makes the error of a problem and its remedy, as the ``fail`` of XML elements and fields does."""

_FOLDERS: ContextVar[tuple[tuple[Path, ...], str] | None] = ContextVar("reading_folders", default=None)


@contextmanager
def reading_only_in(folders: Iterable[Path], remedy: str) -> Iterator[None]:
    """Let readers of this thread refuse, within the block, files that :func:`is_readable` doesn't find in the folders.

    It holds for the file that is read and for all that it names in turn, and nothing of a file is read before. Not
    around an ``await``: what else the thread does meanwhile would be confined too.

    Args:
        folders: that files may be read in.
        remedy: what refusals tell to do.
    """
    token = _FOLDERS.set((tuple(folders), remedy))
    try:
        yield
    finally:
        _FOLDERS.reset(token)


def may_read(path: Path) -> bool:
    """Whether this thread may read a file, which need not be there."""
    confined = _FOLDERS.get()
    return confined is None or is_readable(path, confined[0])


def check_may_read(path: Path, fail: Fail) -> None:
    """Check that this thread may read a file, before anything is asked of it: not even whether it is there.

    Raises:
        InputError: it mayn't.
    """
    confined = _FOLDERS.get()
    if confined is not None and not is_readable(path, confined[0]):
        raise fail(f"'{path}' isn't in a folder that requests may name files of", confined[1])


def is_readable(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies in one of the folders, where the stack has its robots and scenes, or in a package.

    Links count as where they lead, except in packages and the stack's resources: there whoever installed them made
    the links, as ``colcon build --symlink-install`` does.
    """
    if lies_in(path, [*folders, *resource_folders()]):
        return True
    resources = [folder / name for folder in resource_folders() for name in ("config", "urdf")]
    written = path.absolute()
    return ".." not in written.parts and (
        any(written.is_relative_to(folder) for folder in resources) or _lies_in_package(written)
    )


def lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies in one of the folders; links count as where they lead."""
    try:
        found = path.resolve()
        return any(found.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError):  # too long, a null in it, links in a circle
        return False


def _lies_in_package(path: Path) -> bool:
    """Whether a file is of a package: ROS_PACKAGE_PATH may name folders that hold other things too."""
    places = [*package_places(), *wheel_places()]
    return any(
        (folder in places or folder.parent in places) and (folder / "package.xml").is_file() for folder in path.parents
    )


def require_file(path: str | Path, error: type[InputError] = InputError, remedy: str | None = None) -> None:
    """Check that there is a plain file, which ends: pipes wait for a writer, some devices have no end.

    Args:
        path: the file.
        error: exception class of its errors.
        remedy: what would be right.

    Raises:
        InputError: there is none, it is a directory, a pipe, a socket or a device, or its user may not read it, or
            this thread (:func:`reading_only_in`).
    """
    check_may_read(Path(path), lambda problem, confined: error(problem, remedy=confined))
    try:
        mode = Path(path).stat().st_mode
    except OSError as problem:
        raise error(f"can't be read: {problem.strerror}", source=path, remedy=remedy) from None
    except ValueError as problem:  # a zero byte in the path
        raise error(f"can't be read: {problem}", source=path, remedy=remedy) from None
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISDIR, "directory"), (stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))
        kind = next((name for test, name in kinds if test(mode)), "device")
        raise error(f"can't be read: Is a {kind}", source=path, remedy=remedy)
    if not os.access(path, os.R_OK):
        raise error("can't be read: Permission denied", source=path, remedy=remedy)


def read_text(path: str | Path, error: type[InputError] = InputError, remedy: str | None = None) -> str:
    """Return the text of a plain UTF-8 file; a byte order mark is left out.

    Args:
        path: the file.
        error: exception class of its errors.
        remedy: what would be right where the file can't be read.

    Raises:
        InputError: as of :func:`require_file`, or the file is larger than 100 MB or isn't UTF-8.
    """
    require_file(path, error, remedy)
    file = Path(path)
    try:
        size, most = file.stat().st_size, BOUNDS["bytes"]
        if size > most:
            raise error(f"has {size / 1e6:.0f} MB, more than {most / 1e6:.0f} MB", source=path, remedy=remedy)
        return file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise error(f"can't be read: {problem.strerror}", source=path, remedy=remedy) from None
    except UnicodeDecodeError as problem:
        raise error(
            f"is not UTF-8 text (byte {problem.start})",
            source=path,
            remedy="Save it as UTF-8; a .xacro or binary file can't be read",
        ) from None


PACKAGE_REMEDY = (
    "Install the package (example-robot-data is on the Python package index), or name the folder that holds it in "
    "ROS_PACKAGE_PATH"
)


def _fail(problem: str, remedy: str) -> InputError:
    return InputError(problem, remedy=remedy)


def resolve_mesh_path(address: str, folder: Path, fail: Fail = _fail) -> Path | None:
    """Return the file that an address names, None when there is no such file.

    ``package://name/rest`` is looked for in ``share/name`` of each prefix of AMENT_PREFIX_PATH, in each folder
    of ROS_PACKAGE_PATH (a package itself or a folder of packages), beside or above ``folder``, then in ``share/name``
    of what wheels by cmeel (example-robot-data's) have installed into this Python. A ``file://`` address and an
    absolute path are taken as they are, a relative path starts from ``folder``.

    Args:
        address: the address as written.
        folder: folder of the file that holds the address.
        fail: makes the error.

    Raises:
        InputError: the address leaves its package, or the folders that this thread may read in
            (:func:`reading_only_in`).
    """
    address = address.strip()
    if address.startswith(("package://", "model://")):
        package, _, rest = unquote(address.split("://", 1)[1]).partition("/")
        inside = os.path.normpath(rest)
        parts = Path(inside).parts
        if rest and (package in ("", ".", "..") or os.path.isabs(rest) or parts[:1] == (os.pardir,)):
            raise fail(f"'{address}' leaves its package", "Give package://<package>/<path> with a path inside")
        candidates = [path for place in _package_folders(package, folder) if may_read(path := place / inside)]
    else:
        if address.startswith("file:"):
            address = unquote(address.removeprefix("file:").removeprefix("//localhost").removeprefix("//"))
        candidates = [folder / address]
        check_may_read(candidates[0], fail)
    found = next((path for path in candidates if _is_file(path)), None)
    # A link of a package may lead where this thread may not read: its own name is the one that it may.
    return None if found is None else found.resolve() if may_read(found.resolve()) else found.absolute()


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name longer than the file system takes, or with a zero byte
        return False


def _package_folders(package: str, folder: Path) -> list[Path]:
    folders = []
    for place in package_places():
        folders.append(place / package)
        if place.name == package:
            folders.append(place)
    for ancestor in (folder.resolve(), *folder.resolve().parents):
        if ancestor.name == package:
            folders.append(ancestor)
        folders.append(ancestor / package)
    return [*folders, *(place / package for place in wheel_places())]


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write a figure into a file.

    Raises:
        InputError: the file can't be written, or matplotlib doesn't know its format.
    """
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"the picture can't be written: {problem}", source=path, remedy="Give a .png in a folder that exists"
        ) from problem


def check_picture(path: str | Path) -> None:
    """Refuse a picture that couldn't be written once all is done.

    Raises:
        InputError: its folder isn't there or can't be written into, or matplotlib doesn't know its format.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    own = Path(path)
    if not own.parent.is_dir():
        problem = f"'{own.parent}' isn't a folder"
    elif own.is_dir():
        problem = "is a folder"
    elif not os.access(own if own.exists() else own.parent, os.W_OK):
        problem = "can't be written"
    elif own.suffix and own.suffix[1:].lower() not in FigureCanvasAgg.get_supported_filetypes():
        problem = f"'{own.suffix}' is no format of pictures"
    else:
        return
    raise InputError(problem, source=own, element="picture", remedy="Give a .png in a folder that exists")


T = TypeVar("T")

Stamp = tuple[tuple[int, int] | None, ...]


@dataclass
class _Kept(Generic[T]):
    """A thing that was read, its files, and what they looked like then."""

    value: T
    files: tuple[Path, ...]
    stamp: Stamp


class Shelf(Generic[T]):
    """The things read last, by name; any thread may ask."""

    def __init__(self, size: int, read: Callable[[str], tuple[T, tuple[Path, ...]]]) -> None:
        """Begin with none.

        Args:
            size: things kept; what was not asked for longest goes first.
            read: reads a thing by its name; returns it with the files that it was read from.
        """
        self._size = size
        self._read = read
        self._kept: OrderedDict[str, _Kept[T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> T:
        """Return a thing by its name, read again when a file of it has changed."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or _stamp(kept.files) != kept.stamp:
                value, files = self._read(name)
                kept = self._kept[name] = _Kept(value, files, _stamp(files))
            self._kept.move_to_end(name)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return kept.value


def _stamp(files: tuple[Path, ...]) -> Stamp:
    """Return the time of change and size of files, None for one that isn't there."""
    return tuple(_file_stamp(file) for file in files)


def _file_stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
