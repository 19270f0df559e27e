# SPDX-License-Identifier: Apache-2.0
"""Errors of MAD files."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_model import RobotError

_LONGEST = 4000
"""Characters of a message that has several lines, about; the problems beyond are counted."""


class MadError(RobotError):
    """A MAD file can't be used; the message has one line for each problem, with line, column and code (§2.6).

    Attributes:
        problems: all that was found, in the order of the file; the error's own fields are those of the first.
    """

    def __init__(self, problems: Sequence[RobotError]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(
            first.problem, source=first.source, line=first.line, column=first.column, element=first.element,
            remedy=first.remedy,
        )  # fmt: skip

    def _message(self) -> str:
        lines: list[str] = []
        for line in map(str, self.problems):
            if lines and sum(map(len, lines)) + len(line) > _LONGEST:
                lines.append(f"{len(self.problems) - len(lines)} more")
                break
            lines.append(line)
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return MadError, (self.problems,)
