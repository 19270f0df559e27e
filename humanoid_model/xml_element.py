# SPDX-License-Identifier: Apache-2.0
"""XML elements that remember the line they come from, and their values, for error messages that a person can act on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from humanoid_model.checks import check_name
from humanoid_model.errors import InputError
from humanoid_model.files import Growth, check_size

#: Attributes that are names, or name what needn't be declared.
_NAMES = ("name", "id", "model", "class", "childclass", "link")

#: What stands for characters that can't be written as they are. Python's `xml.sax.saxutils` imports a client of HTTP.
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_ATTRIBUTE = _IN_TEXT | str.maketrans({'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


@dataclass
class XmlElement:
    """One element.

    Attributes:
        tag: element name.
        attributes: attribute values as written.
        source: file of the document.
        line: line of the opening tag, from 1.
        error: exception class raised by the reading methods.
        children: child elements in document order.
        text: character data directly inside the element, concatenated.
    """

    tag: str
    attributes: dict[str, str]
    source: str
    line: int
    error: type[InputError]
    children: list[XmlElement] = field(default_factory=list)
    text: str = ""

    def fail(self, problem: str, remedy: str | None = None) -> InputError:
        """Return the error to raise for this element."""
        return self.error(problem, source=self.source, line=self.line, element=str(self), remedy=remedy)

    def __str__(self) -> str:
        for key in ("name", "id", "link", "type"):
            if key in self.attributes:
                return f"<{self.tag} {key}='{self.attributes[key]}'>"
        return f"<{self.tag}>"

    def all(self, tag: str) -> list[XmlElement]:
        """Child elements of that tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> XmlElement | None:
        """Return the child element of that tag, None when there is none.

        Raises:
            InputError: there are several.
        """
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].fail(f"second <{tag}> in {self}", f"Keep one <{tag}>")
        return found[0] if found else None

    def need(self, tag: str) -> XmlElement:
        """Return the child element of that tag.

        Raises:
            InputError: there is none or there are several.
        """
        child = self.first(tag)
        if child is None:
            raise self.fail(f"has no <{tag}>", f"Add one <{tag}> element")
        return child

    def attribute(self, name: str) -> str:
        """Return a required attribute.

        Raises:
            InputError: it is missing or empty.
        """
        value = self.attributes.get(name, "").strip()
        if not value:
            raise self.fail(f"attribute '{name}' is missing or empty", f'Give {name}="..."')
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Return a finite number in an attribute; required when ``default`` is None.

        Raises:
            InputError: missing, not a number, or not finite.
        """
        if default is not None and name not in self.attributes:
            return default
        return float(self.numbers(name, 1)[0])

    def numbers(self, name: str, count: int, default: Sequence[float] | np.ndarray | None = None) -> np.ndarray:
        """(count,) finite numbers in an attribute; required when ``default`` is None.

        Raises:
            InputError: missing, wrong count, not numbers, or not finite.
        """
        if default is not None and name not in self.attributes:
            return np.array(default, dtype=float)
        return self._parse(self.attribute(name), f"attribute '{name}'", count)

    def text_numbers(self, count: int) -> np.ndarray:
        """(count,) finite numbers in the element's text.

        Raises:
            InputError: wrong count, not numbers, or not finite.
        """
        return self._parse(self.text, "text", count)

    def _parse(self, text: str, what: str, count: int) -> np.ndarray:
        words = text.split()
        plural = "number" if count == 1 else "numbers"
        if len(words) != count:
            raise self.fail(
                f"{what} is '{text.strip()}', {len(words)} values",
                f"Give {count} {plural} separated by spaces",
            )
        values = np.empty(count)
        for i, word in enumerate(words):
            try:
                values[i] = float(word)
            except ValueError:
                raise self.fail(
                    f"{what} is '{text.strip()}': '{word}' is not a number",
                    f"Give {count} finite {plural}",
                ) from None
            if not math.isfinite(values[i]):
                raise self.fail(
                    f"{what} is '{text.strip()}': {word} is not finite",
                    f"Give {count} finite {plural}",
                )
        return values

    def walk(self) -> Iterator[XmlElement]:
        """Yield this element and all below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def to_text(self, indent: str = "") -> str:
        """XML text of the element and all below it."""
        attributes = "".join(f' {key}="{value.translate(_IN_ATTRIBUTE)}"' for key, value in self.attributes.items())
        inner = "".join(child.to_text(indent + "  ") for child in self.children)
        text = self.text.strip().translate(_IN_TEXT)
        if not inner and not text:
            return f"{indent}<{self.tag}{attributes}/>\n"
        if not inner:
            return f"{indent}<{self.tag}{attributes}>{text}</{self.tag}>\n"
        text = f"{indent}  {text}\n" if text else ""
        return f"{indent}<{self.tag}{attributes}>\n{text}{inner}{indent}</{self.tag}>\n"


def parse_xml(text: str | bytes, source: str, error: type[InputError], growth: Growth | None = None) -> XmlElement:
    """Parse a document.

    Args:
        text: the document.
        source: name of the file for error messages.
        error: exception class for this document's errors.
        growth: what has been read of all that belongs together; nothing if left out.

    Raises:
        InputError: the text is not well-formed XML, becomes too much, or has a name that can't be shown.
    """
    # Prefixed names (gazebo and xacro files carry some, often undeclared) stay plain names.
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top: list[XmlElement] = []
    stack: list[XmlElement] = []
    texts: list[list[str]] = []  # of the elements of the stack, by pieces: to add them up one by one takes for ever
    growth = Growth() if growth is None else growth

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = XmlElement(tag, attributes, source, parser.CurrentLineNumber, error)
        growth.add(1, "elements", element.fail)
        growth.add(len(attributes), "attributes", element.fail)
        check_size(len(attributes), "attributes of one element", element.fail)
        check_size(len(stack) + 1, "levels inside one another", element.fail)
        for key in _NAMES:
            if key in attributes:
                check_name(attributes[key], element.fail)
        (stack[-1].children if stack else top).append(element)
        stack.append(element)
        texts.append([])

    def end(_tag: str) -> None:
        stack.pop().text = "".join(texts.pop())

    def characters(data: str) -> None:
        texts[-1].append(data)

    def declare(name: str, *_: object) -> None:
        raise error(
            f"declares the entity '{name}'",
            source=source,
            line=parser.CurrentLineNumber,
            remedy="Write what it stands for: entities aren't expanded",
        )

    parser.StartElementHandler = start
    parser.EntityDeclHandler = declare
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(text, True)
    except UnicodeEncodeError:
        raise error("is not Unicode text", source=source, remedy="Save it as UTF-8") from None
    except expat.ExpatError as problem:
        raise error(
            f"not well-formed XML: {expat.ErrorString(problem.code)} in column {problem.offset + 1}",
            source=source,
            line=problem.lineno,
            remedy="Mend the XML there",
        ) from None
    return top[0]


@dataclass(frozen=True)
class XmlField:
    """One value: a word, a number or several numbers.

    Attributes:
        element: element that holds it.
        name: as error messages call it, for example ``<Mass> of <Body id='box'>``.
        text: the value as written.
    """

    element: XmlElement
    name: str
    text: str

    @staticmethod
    def of_attributes(element: XmlElement, attributes: Sequence[str], name: str) -> XmlField:
        """Return the value that several attributes make together, for example x, y and z.

        Raises:
            InputError: an attribute is missing or empty.
        """
        words = []
        for attribute in attributes:
            word = element.attributes.get(attribute, "").strip()
            if not word:
                needed = " and ".join(attributes) if len(attributes) < 3 else ", ".join(attributes)
                raise XmlField(element, name, "").fail(f"attribute '{attribute}' is missing or empty", f"Give {needed}")
            words.append(word)
        return XmlField(element, name, " ".join(words))

    def fail(self, problem: str, remedy: str | None = None) -> InputError:
        """Return the error to raise for this value."""
        return self.element.error(
            problem, source=self.element.source, line=self.element.line, element=self.name, remedy=remedy
        )

    def string(self, choices: Iterable[str] | None = None) -> str:
        """Return a non-empty text.

        Raises:
            InputError: empty, or none of ``choices``.
        """
        text = self.text.strip()
        if not text:
            raise self.fail("is empty", "Give a text")
        known = None if choices is None else tuple(choices)
        if known is not None and text not in known:
            raise self.fail(f"is '{text}'", f"Use one of {', '.join(known)}")
        return text

    def boolean(self) -> bool:
        """Return true or false.

        Raises:
            InputError: neither.
        """
        text = self.text.strip().lower()
        if text not in ("true", "false"):
            raise self.fail(f"is '{text}'", "Give true or false")
        return text == "true"

    def number(self) -> float:
        """Return a finite number.

        Raises:
            InputError: anything else.
        """
        return float(self.numbers(1)[0])

    def numbers(self, count: int) -> np.ndarray:
        """(count,) finite numbers.

        Raises:
            InputError: another count, not numbers, or not finite.
        """
        values = self._values()
        if len(values) != count:
            raise self.fail(
                f"is '{self.text.strip()}', {len(values)} values", f"Give {count} number{'s' * (count > 1)}"
            )
        return values

    def polygon(self, minimum: int) -> np.ndarray:
        """(k, 2) vertices, k at least ``minimum``.

        Raises:
            InputError: too few or half a vertex, not numbers, or not finite.
        """
        values = self._values()
        if len(values) % 2:
            raise self.fail(f"holds {len(values)} numbers", "Give x and y of each vertex")
        if len(values) < 2 * minimum:
            raise self.fail(f"holds {len(values) // 2} vertices", f"Give {minimum} or more")
        check_size(len(values) // 2, "vertices", self.fail)
        return values.reshape(-1, 2)

    def _values(self) -> np.ndarray:
        words = self.text.split()
        values = np.empty(len(words))
        for i, word in enumerate(words):
            try:
                values[i] = float(word)
            except ValueError:
                raise self.fail(f"'{word}' is not a number", "Give finite numbers separated by spaces") from None
            if not math.isfinite(values[i]):
                raise self.fail(f"'{word}' is not finite", "Give finite numbers separated by spaces")
        return values
