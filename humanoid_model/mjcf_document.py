# SPDX-License-Identifier: Apache-2.0
"""What every element of an MJCF file is read with: includes, defaults, the compiler's settings, placements."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.checks import check_name
from humanoid_model.errors import InputError, RobotWarning
from humanoid_model.files import Growth, check_may_read, check_size, read_text
from humanoid_model.xml_element import XmlElement, parse_xml

#: What only says how things look, are called or are solved in MuJoCo; it doesn't need to be told of.
_QUIET = {
    *("name", "class", "childclass", "user", "group", "material", "rgba", "specular", "shininess", "reflectance"),
    *("emission", "texrepeat", "texuniform", "castshadow", "active", "mode", "target"),
}
_COMPILER = (
    *("angle", "eulerseq", "meshdir", "assetdir", "texturedir", "autolimits", "inertiafromgeom"),
    *("strippath", "coordinate"),
)
_MOST_WARNINGS = 40
"""Kinds of what isn't read that are warned of one by one."""


class MjcfDocument:
    """An MJCF file with all that it includes.

    Attributes:
        top: the element ``<mujoco>``.
        name: of the model.
        degrees: whether angles are in degrees.
        autolimits: whether a range limits a joint without a further word.
        inertia_from_geom: whether masses come from the shapes: ``true``, ``false``, or ``auto`` where none is given.
        growth: what the file has become so far.
    """

    def __init__(self, text: str, source: str, folder: Path, error: type[InputError]) -> None:
        """Parse a document.

        Args:
            text: of the file.
            source: its name, for errors.
            folder: from which other files are looked for.
            error: class of the errors.

        Raises:
            InputError: it is no MJCF, a file that it includes can't be read, or it becomes too much.
        """
        self.folder = folder
        self.growth = Growth()
        self._error = error
        self._unread: dict[tuple[str, str], tuple[XmlElement, int]] = {}
        self.top = self._parse(text, source)
        self._include(self.top, {source}, 1)
        self.name = self.top.attributes.get("model") or Path(source).stem
        compiler: dict[str, str] = {}
        for element in self.top.all("compiler"):
            self.note(element, _COMPILER)
            compiler.update(element.attributes)
            if element.attributes.get("coordinate", "local") != "local":
                raise element.fail("coordinate is 'global', which MuJoCo no longer knows either", "Save it again")
        self._compiler = compiler
        self.degrees = compiler.get("angle", "degree") == "degree"
        self.autolimits = compiler.get("autolimits", "true") == "true"
        self.inertia_from_geom = compiler.get("inertiafromgeom", "auto")
        self._sequence = compiler.get("eulerseq", "xyz")
        self._classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for element in self.top.all("default"):
            self._read_class(element, "main", element.attributes.get("class", "main"))
        self._assets = {
            (child.tag, child.attributes.get("name") or Path(child.attributes.get("file", "")).stem): child
            for group in self.top.all("asset")
            for child in group.children
        }
        self._replicate(self.top)

    def _parse(self, text: str, source: str) -> XmlElement:
        top = parse_xml(text, source, self._error, self.growth)
        if top.tag not in ("mujoco", "mujocoinclude"):
            raise top.fail(f"the document's root is <{top.tag}>, not <mujoco>", "Give an MJCF document")
        return top

    def _include(self, element: XmlElement, known: set[str], level: int) -> None:
        """Put the content of included files in the place of the elements that name them."""
        check_size(level, "levels inside one another", element.fail)
        children = []
        for child in element.children:
            if child.tag != "include":
                self._include(child, known, level + 1)
                children.append(child)
                continue
            path = self.folder / child.attribute("file")
            if str(path) in known:
                raise child.fail(f"includes '{path}' a second time", "Include each file once")
            check_may_read(path, child.fail)
            if not path.is_file():
                raise child.fail(f"there is no file '{path}'", "Give a path from the main file's folder")
            self.growth.add(1, "included files", child.fail)
            text = read_text(path, self._error, "Give the path of an MJCF file")
            self.growth.add(len(text), "bytes", child.fail)
            included = self._parse(text, str(path))
            self._include(included, {*known, str(path)}, level + 1)
            children += included.children
        element.children = children

    def _replicate(self, element: XmlElement) -> int:
        """Put a frame for each copy in the place of elements to be repeated; the number of elements that there are.

        A copy stands to the one before as the first ``offset`` and ``euler`` to the place of all; names get its number.
        """
        children, total = [], 1
        for child in element.children:
            own = self._replicate(child)
            if child.tag != "replicate":
                children.append(child)
                total += own
                continue
            self.note(child, ("count", "offset", "euler", "sep"))
            count = child.number("count")
            if count != int(count) or count < 1:
                raise child.fail(f"count is {count:g}", "Give a whole number, 1 or more")
            self.growth.add(int(count) * own, "elements", child.fail)
            separator = check_name(child.attributes.get("sep", ""), child.fail)
            total += int(count) * own
            step, place = pin.SE3(self.rotation(child), child.numbers("offset", 3, (0, 0, 0))), pin.SE3.Identity()
            for number in range(int(count)):
                x, y, z, w = pin.Quaternion(place.rotation).coeffs()
                pose = {"pos": place.translation, "quat": (w, x, y, z)}
                written = {key: " ".join(repr(float(value)) for value in values) for key, values in pose.items()}
                ending = separator + str(number).zfill(len(str(int(count) - 1)))
                copies = [_renamed(inner, ending) for inner in child.children]
                children.append(dataclasses.replace(child, tag="frame", attributes=written, children=copies))
                place = place * step
        element.children = children
        return total

    def _read_class(self, element: XmlElement, parent: str, name: str) -> None:
        inherited = self._classes[parent]
        self.growth.add(len(inherited) + sum(map(len, inherited.values())), "attributes", element.fail)
        own = {tag: dict(values) for tag, values in inherited.items()}
        self._classes[name] = own
        for child in element.children:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update(child.attributes)
        for child in element.all("default"):
            self._read_class(child, name, child.attribute("class"))

    def of_class(self, element: XmlElement, inherited: str) -> XmlElement:
        """Return the element with what its class, or else the inherited one, says by default.

        Raises:
            InputError: an unknown class.
        """
        name = element.attributes.get("class", inherited)
        if name not in self._classes:
            raise element.fail(f"unknown class '{name}'", f"Classes are {', '.join(self._classes)}")
        given = self._classes[name].get(element.tag, {})
        self.growth.add(len(given), "attributes", element.fail)
        values = {**given, **element.attributes}
        return dataclasses.replace(element, attributes=values)

    def note(self, element: XmlElement, read: Iterable[str]) -> None:
        """Remember the attributes of an element that are neither read nor without effect, to be warned of."""
        for attribute in element.attributes.keys() - _QUIET - set(read):
            first, count = self._unread.get((element.tag, attribute), (element, 0))
            self._unread[element.tag, attribute] = first, count + 1

    def note_all(self, element: XmlElement) -> None:
        """Remember that a whole element is not read, to be warned of."""
        first, count = self._unread.get((element.tag, ""), (element, 0))
        self._unread[element.tag, ""] = first, count + 1

    def warn(self) -> None:
        """Warn (:class:`RobotWarning`) of everything noted, each kind once, with file and line of its first place."""
        unread = sorted(self._unread.items(), key=lambda item: item[1][0].line)
        for (_, attribute), (element, count) in unread[:_MOST_WARNINGS]:
            what = f"{attribute}='{element.attributes.get(attribute, '')}'" if attribute else "the element"
            places = f", as in {count - 1} more places" if count > 1 else ""
            warnings.warn(str(element.fail(f"{what} is not read{places}")), RobotWarning, stacklevel=2)
        if len(unread) > _MOST_WARNINGS:
            problem = f"{len(unread) - _MOST_WARNINGS} more kinds of elements and attributes are not read"
            warnings.warn(str(self.top.fail(problem)), RobotWarning, stacklevel=2)
        self._unread.clear()

    def asset(self, kind: str, name: str, element: XmlElement) -> XmlElement:
        """Return an asset, with what its class says.

        Raises:
            InputError: there is none.
        """
        if (kind, name) not in self._assets:
            known = [found for found_kind, found in self._assets if found_kind == kind]
            raise element.fail(f"names the unknown {kind} '{name}'", f"Known: {', '.join(known) or 'none'}")
        return self.of_class(self._assets[kind, name], "main")

    def asset_path(self, element: XmlElement) -> Path:
        """Return the path of the file of a mesh or a height field.

        Raises:
            InputError: it names none, or none is there.
        """
        if "file" not in element.attributes:
            raise element.fail("has no file", "Save its vertices in a mesh file")
        file = Path(element.attributes["file"])
        if self._compiler.get("strippath", "false") == "true":
            file = Path(file.name)
        path = self.folder / self._compiler.get("meshdir", self._compiler.get("assetdir", "")) / file
        check_may_read(path, element.fail)
        if not path.is_file():
            raise element.fail(f"there is no file '{path}'", "Mend the path, or the compiler's meshdir")
        return path

    def angle(self, value: float) -> float:
        """Return an angle of the file in radians."""
        return math.radians(value) if self.degrees else value

    def placement(self, element: XmlElement) -> pin.SE3:
        """Return the placement that an element's ``pos`` and its orientation, in one of MuJoCo's five ways, say.

        Raises:
            InputError: numbers that are no orientation.
        """
        return pin.SE3(self.rotation(element), element.numbers("pos", 3, (0, 0, 0)))

    def rotation(self, element: XmlElement) -> np.ndarray:
        """(3, 3) orientation of an element; see :meth:`placement`."""
        if "quat" in element.attributes:
            w, x, y, z = self._nonzero(element, "quat", element.numbers("quat", 4))
            return np.asarray(pin.Quaternion(w, x, y, z).toRotationMatrix())
        if "axisangle" in element.attributes:
            *axis, angle = element.numbers("axisangle", 4)
            return np.asarray(pin.exp3(self.angle(angle) * self._nonzero(element, "axisangle", np.array(axis))))
        if "euler" in element.attributes:
            turn = np.eye(3)
            if len(self._sequence) != 3 or set(self._sequence.lower()) - set("xyz"):
                raise element.fail(f"the compiler's eulerseq is '{self._sequence}'", "Give three of x, y, z, X, Y, Z")
            for letter, angle in zip(self._sequence, element.numbers("euler", 3), strict=True):
                step = pin.exp3(self.angle(angle) * np.eye(3)["xyz".index(letter.lower())])
                turn = turn @ step if letter.islower() else step @ turn
            return turn
        if "xyaxes" in element.attributes:
            both = element.numbers("xyaxes", 6)
            x = self._nonzero(element, "xyaxes", both[:3])
            y = self._nonzero(element, "xyaxes", both[3:] - (both[3:] @ x) * x)
            return np.column_stack([x, y, np.cross(x, y)])
        if "zaxis" in element.attributes:
            z = self._nonzero(element, "zaxis", element.numbers("zaxis", 3))
            return np.asarray(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), z).matrix())
        return np.eye(3)

    @staticmethod
    def _nonzero(element: XmlElement, name: str, values: np.ndarray) -> np.ndarray:
        length = float(np.linalg.norm(values))
        if length < 1e-12:
            raise element.fail(f"{name} is '{element.attributes[name]}'", "Give a direction that isn't zero")
        return values / length


def _renamed(element: XmlElement, ending: str) -> XmlElement:
    """Return a copy of an element and all in it, with an ending to all names."""
    named = {}
    if "name" in element.attributes:
        named = {**element.attributes, "name": check_name(element.attributes["name"] + ending, element.fail)}
    children = [_renamed(child, ending) for child in element.children]
    return dataclasses.replace(element, attributes=named or dict(element.attributes), children=children)
