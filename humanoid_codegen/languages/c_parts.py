# SPDX-License-Identifier: Apache-2.0
"""Long C functions cut into several, since a compiler's time grows with the square of a function's length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Statements of a function that stays whole, and of a part.
WHOLE = 1500
MAX_STATEMENTS = 300
_IDENTIFIER = re.compile(r"\b[^\W\d]\w*\b")


@dataclass(frozen=True)
class Step:
    """Lines that belong together.

    Attributes:
        defines: identifier that they give a value to, empty if none.
        lines: of C.
    """

    defines: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """One of the functions that a long one is cut into.

    Attributes:
        lines: inside its braces.
        arrays: of the whole function's, those it uses.
    """

    lines: tuple[str, ...]
    arrays: tuple[str, ...]


def identifiers(text: str) -> list[str]:
    """Return words of C in a text, in order; those of comments too."""
    return _IDENTIFIER.findall(text)


def cut(
    steps: Sequence[Step], loads: dict[str, str], arrays: Sequence[str], workspace: str
) -> tuple[list[Part], int]:
    """Cuts steps into parts that hand values on through an array.

    Args:
        steps: in order; each value is given once.
        loads: by identifier, the line that reads an entry of an argument.
        arrays: identifiers of arguments and results.
        workspace: identifier of the array for what one part computes and another uses.

    Returns:
        The parts, and the length of the workspace.
    """
    groups = [steps[k : k + MAX_STATEMENTS] for k in range(0, len(steps), MAX_STATEMENTS)]
    home = {step.defines: k for k, group in enumerate(groups) for step in group if step.defines}
    used = [
        dict.fromkeys(word for step in group for line in step.lines for word in identifiers(line)) for group in groups
    ]
    slots: dict[str, int] = {}
    for k, words in enumerate(used):
        for word in words:
            if home.get(word, k) != k:
                slots.setdefault(word, len(slots))
    parts = []
    for k, group in enumerate(groups):
        lines = [loads[word] for word in used[k] if word in loads]
        lines += [
            f"const double {word} = {workspace}[{slots[word]}];" for word in used[k] if home.get(word, k) != k
        ]
        for step in group:
            lines += step.lines
            if step.defines in slots:
                lines.append(f"{workspace}[{slots[step.defines]}] = {step.defines};")
        text = " ".join(lines)
        parts.append(Part(tuple(lines), tuple(array for array in arrays if re.search(rf"\b{array}\[", text))))
    return parts, len(slots)
