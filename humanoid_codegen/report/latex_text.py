# SPDX-License-Identifier: Apache-2.0
"""Any text as LaTeX source that pdfLaTeX sets with its standard fonts."""

from __future__ import annotations

import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_\allowbreak{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "-": "-{}",
    "\N{EN DASH}": "--",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{INFINITY}": r"$\infty$",
    "\N{MINUS SIGN}": "$-$",
    "\N{SUPERSCRIPT TWO}": "$^2$",
    "\N{MIDDLE DOT}": r"$\cdot$",
}

#: Combining characters and the accent commands for them.
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c", "\u0328": "k",
}  # fmt: skip

_LETTERS = {"ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}"}


def latex_text(text: str) -> str:
    """Return the text in pure ASCII; what the standard fonts don't have is written as its code point, U+03B1."""
    return "".join(_character(character) for character in text)


def _character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character in _LETTERS:
        return _LETTERS[character]
    if character.isspace() or unicodedata.category(character).startswith("C"):
        return " "
    if character.isascii():
        return character
    base, *marks = list(unicodedata.normalize("NFD", character))
    if base.isascii() and len(marks) == 1 and marks[0] in _ACCENTS:
        return f"\\{_ACCENTS[marks[0]]}{{{base}}}"
    return f"U+{ord(character):04X}"
