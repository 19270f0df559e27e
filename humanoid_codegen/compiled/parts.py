# SPDX-License-Identifier: Apache-2.0
"""Long lists of statements cut into C functions of bounded length.

A compiler's time grows with the square of a function's length: a minute for the derivatives of a humanoid's dynamics
in one piece. What one part computes and another needs goes through an array, where most of it would be spilt anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Statements that are left in one piece: cutting costs a few per cent of the speed.
_WHOLE = 1500
#: Statements of a part.
_LENGTH = 400
_STATEMENT = re.compile(r"(?:const (?:double|lanes) (t\d+) = |g?r\d+\[|x\d+\[)")
_VALUE = re.compile(r"\bt\d+\b")


def cut(lines: Sequence[str], name: str, kind: str, arrays: Sequence[str]) -> tuple[list[str], list[str]]:
    """Cuts a body if it is long.

    Args:
        lines: statements, each value assigned once, and lines that declare or call.
        name: prefix of the parts' names.
        kind: ``double`` or ``lanes``.
        arrays: names of the arrays that statements read or write, all of that kind.

    Returns:
        Lines of the parts, and lines of the body that calls them.
    """
    matches = [_STATEMENT.match(line) for line in lines]
    if sum(match is not None for match in matches) <= _WHOLE:
        return [], list(lines)
    groups: list[list[int]] = []
    for k, match in enumerate(matches):
        if match is None:
            continue
        if not groups or len(groups[-1]) == _LENGTH or groups[-1][-1] != k - 1:
            groups.append([])
        groups[-1].append(k)
    home = {match[1]: part for part, group in enumerate(groups) for k in group if (match := matches[k]) and match[1]}
    used = [dict.fromkeys(value for k in group for value in _VALUE.findall(lines[k])) for group in groups]
    slots: dict[str, int] = {}
    for part, values in enumerate(used):
        for value in values:
            if home[value] != part:
                slots.setdefault(value, len(slots))
    parts: list[str] = []
    calls: dict[int, str] = {}
    for part, group in enumerate(groups):
        text = "\n".join(lines[k] for k in group)
        known = [array for array in arrays if re.search(rf"\b{array}\[", text)]
        parameters = [f"{'' if array.lstrip('g')[0] in 'rx' else 'const '}{kind} *restrict {array}" for array in known]
        parts.append(f"PART void {name}_{part}({', '.join([*parameters, f'{kind} *restrict w'])})")
        parts.append("{")
        parts += [f"const {kind} {value} = w[{slots[value]}];" for value in used[part] if home[value] != part]
        for k in group:
            parts.append(lines[k])
            match = matches[k]
            if match is not None and match[1] in slots:
                parts.append(f"w[{slots[match[1]]}] = {match[1]};")
        parts.append("}")
        calls[group[0]] = f"{name}_{part}({', '.join([*known, 'w'])});"
    body = [f"{kind} w[{len(slots) + 1}];"]
    for k, line in enumerate(lines):
        if matches[k] is None:
            body.append(line)
        elif k in calls:
            body.append(calls[k])
    return parts, body
