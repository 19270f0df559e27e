# SPDX-License-Identifier: Apache-2.0
"""The thesis' start-up file: two keywords choose the contact solver (specification 000 §10, Table 5.1).

One line with the family and the method, or one line for each; ``#`` begins a comment::

    # solver.txt
    NSGS AMELIFGSNEWTON
"""

from __future__ import annotations

from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_model.input_file import read_text

KEYWORDS: dict[str, dict[str, str]] = {
    "NSGS": {
        "AMELIFGS": "gauss_seidel_projected",
        "AMELIFGSNEWTON": "nsgs",
        # "Same as the previous one", done by Siconos' Numerics: there the name is that of Newton on all contacts.
        "AC": "alart_curnier_global",
        "FIXEDPOINT": "fixed_point",
        "PROJECTION": "projection",
    },
    "LCP": {
        "AMELIFLCP": "lemke_faceted",
        "LEMKE": "lemke_faceted",
        # The equivalent quadratic programme exists without friction only; with it, programmes in turns.
        "QP": "staggered_projections",
    },
}
"""Our solver for each family (exact cone, faceted cone) and method of the thesis."""


def read_solver_file(path: str | Path) -> str:
    """Read which contact solver a start-up file asks for.

    Args:
        path: the text file.

    Returns:
        The name of the solver, for :func:`~humanoid_sim.contact.solve.solve_contacts` and simulations.

    Raises:
        InputError: the file can't be read, a keyword is missing or unknown, a method belongs to the other family,
            something follows the two keywords.
    """
    source = Path(path)
    text = read_text(source, remedy="Give a text file")
    words = [
        (number, word)
        for number, line in enumerate(text.splitlines(), start=1)
        for word in line.split("#", 1)[0].split()
    ]
    families = " or ".join(KEYWORDS)
    if not words:
        raise InputError("there is no keyword", source=source, remedy=f"Give a family, {families}, and a method")
    line, family = words[0]
    if family not in KEYWORDS:
        raise InputError(
            f"the family is '{family}'", source=source, line=line, element="family", remedy=f"Give {families}"
        )
    methods = KEYWORDS[family]
    choice = f"Give one of {', '.join(methods)}"
    if len(words) == 1:
        raise InputError(f"family {family} without a method", source=source, line=line, element="method", remedy=choice)
    line, method = words[1]
    if method not in methods:
        other = next((name for name, theirs in KEYWORDS.items() if method in theirs), None)
        problem = f"the method '{method}' is not one of family {family}"
        raise InputError(
            problem if other is None else f"{problem} but of {other}",
            source=source,
            line=line,
            element="method",
            remedy=choice,
        )
    if len(words) > 2:
        line, word = words[2]
        raise InputError(
            f"'{word}' follows the method", source=source, line=line, remedy="Give two keywords, family and method"
        )
    return methods[method]
