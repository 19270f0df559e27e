# SPDX-License-Identifier: Apache-2.0
"""Tendons of an MJCF file with what drives them."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping

import numpy as np

from humanoid_model.mjcf.bodies import MjcfBody, MjcfJoint
from humanoid_model.mjcf.document import MjcfDocument
from humanoid_model.mjcf.tree import WORLD, read_drive, read_limits, reference_places
from humanoid_model.tendon import Tendon, TendonDrive, TendonPoint
from humanoid_model.xml_element import XmlElement

_TENDON = ("range", "limited", "stiffness", "damping", "springlength", "width")


def read_tendons(document: MjcfDocument, world: MjcfBody, names: Mapping[str, str]) -> tuple[Tendon, ...]:
    """Return the tendons of a file; drives that are neither motors nor servos are warned of.

    Args:
        document: the file.
        world: all its bodies.
        names: of the bodies in the scene, by those in the file; links as ``robot/link``.

    Raises:
        InputError: a tendon that wraps around shapes, an unknown name, a value that can't be; with file and line.
    """
    return _Reader(document, world, names).read()


class _Reader:
    def __init__(self, document: MjcfDocument, world: MjcfBody, names: Mapping[str, str]) -> None:
        self.document = document
        self.names = names
        self.places, self.sites = reference_places(world)
        self.joints = {
            joint.name: (f"{names[body.name].partition('/')[0]}/{joint.name}", joint)
            for body in world.walk()
            for joint in body.joints
            if joint.type in ("hinge", "slide")
        }

    def read(self) -> tuple[Tendon, ...]:
        found: dict[str, Tendon] = {}
        for given in (child for group in self.document.top.all("tendon") for child in group.children):
            tendon = self.tendon(given, given.attributes.get("name") or f"tendon_{len(found) + 1}")
            if tendon.name in found:
                raise given.fail(f"a second tendon is called '{tendon.name}'", "Give each its own name")
            found[tendon.name] = tendon
        for given in (child for group in self.document.top.all("actuator") for child in group.children):
            element = self.document.of_class(given, "main")
            name = element.attributes.get("tendon")
            if name is None:
                continue
            if name not in found:
                raise given.fail(f"names the unknown tendon '{name}'", f"Tendons are {', '.join(found) or 'none'}")
            drive = None if found[name].drive else read_drive(self.document, element)
            if drive is None:
                self.document.note_all(given)
            else:
                found[name] = dataclasses.replace(found[name], drive=TendonDrive(*drive))
        return tuple(found.values())

    def tendon(self, given: XmlElement, name: str) -> Tendon:
        if given.tag not in ("fixed", "spatial"):
            raise given.fail("is no tendon", "Use fixed and spatial ones")
        as_tendon = self.document.of_class(dataclasses.replace(given, tag="tendon"), "main")  # the defaults' word
        element = dataclasses.replace(as_tendon, tag=given.tag)
        self.document.note(element, _TENDON)
        joints = tuple(self.joint(child) for child in element.children) if given.tag == "fixed" else ()
        if given.tag == "fixed" and not joints:
            raise given.fail("has no joint", "Give it joints with their coef")
        positive = {key: element.number(key, 0.0) for key in ("stiffness", "damping")}
        for key, value in positive.items():
            if value < 0.0:
                raise given.fail(f"{key} is {value:g}", "Give 0 or more")
        tendon = Tendon(
            name, tuple((joint, coefficient) for joint, coefficient, _ in joints),
            self.branches(element) if given.tag == "spatial" else (),
            positive["stiffness"], positive["damping"], limits=read_limits(self.document, element, "range", "limited"),
        )  # fmt: skip
        if tendon.stiffness == 0.0:
            return tendon
        return dataclasses.replace(tendon, rest=self.rest(element, tendon, joints))

    def joint(self, element: XmlElement) -> tuple[str, float, MjcfJoint]:
        name = element.attribute("joint")
        if element.tag != "joint" or name not in self.joints:
            raise element.fail(f"names the unknown joint '{name}'", f"Joints are {', '.join(self.joints) or 'none'}")
        self.document.note(element, ("joint", "coef"))
        return self.joints[name][0], element.number("coef"), self.joints[name][1]

    def branches(self, element: XmlElement) -> tuple[tuple[float, tuple[TendonPoint, ...]], ...]:
        """Return the straight pieces of a spatial tendon; a pulley begins a new branch."""
        parts: list[tuple[float, list[TendonPoint]]] = [(1.0, [])]
        for child in element.children:
            self.document.note(child, ("site", "divisor"))
            if child.tag == "pulley":
                divisor = child.number("divisor")
                if divisor <= 0.0:
                    raise child.fail(f"divisor is {divisor:g}", "Give more than 0")
                parts.append((divisor, []))
            elif child.tag == "site":
                name = child.attribute("site")
                if name not in self.sites:
                    raise child.fail(f"names the unknown site '{name}'", f"Sites are {', '.join(self.sites) or 'none'}")
                body, place = self.sites[name]
                own = "" if body == WORLD else self.names[body]
                parts[-1][1].append(TendonPoint(own, np.array(place.translation)))
            else:
                raise child.fail("wraps the tendon around a shape", "Lead it straight, from site to site")
        if len(parts) > 1 and not parts[0][1]:  # the pulley stands first
            del parts[0]
        for _, points in parts:
            if len(points) < 2:
                raise element.fail(f"has a branch of {len(points)} sites", "Give each branch two sites or more")
        return tuple((divisor, tuple(points)) for divisor, points in parts)

    def rest(
        self, element: XmlElement, tendon: Tendon, joints: tuple[tuple[str, float, MjcfJoint], ...]
    ) -> tuple[float, float]:
        """Lengths without force; where none is given the one with all springs of joints at rest, as in MuJoCo."""
        words = element.attributes.get("springlength", "-1").split()
        values = [float(value) for value in element.numbers("springlength", len(words), (-1,))]
        if len(values) > 2 or (len(values) == 2 and values[0] > values[1]):
            raise element.fail(f"springlength is '{' '.join(words)}'", "Give one length, or two, the shorter first [m]")
        if values[0] != -1.0:
            return values[0], values[-1]
        if tendon.joints:
            length = sum(coefficient * joint.rest for _, coefficient, joint in joints)
            return length, length
        bent = [joint.name for _, joint in self.joints.values() if joint.rest != joint.reference]
        if bent:
            raise element.fail(
                f"has no springlength, and the spring of '{bent[0]}' rests elsewhere than the file places it",
                "Give the springlength [m]",
            )
        length = 0.0
        sites = iter(child.attribute("site") for child in element.children if child.tag == "site")
        for divisor, points in tendon.branches:
            places = [self.places[body].act(place.translation) for body, place in
                      (self.sites[next(sites)] for _ in points)]  # fmt: skip
            length += sum(math.dist(a, b) for a, b in itertools.pairwise(places)) / divisor
        return length, length
