# SPDX-License-Identifier: Apache-2.0
"""Output languages: each turns the functions of a module into files."""

from humanoid_codegen.languages import c
from humanoid_codegen.languages.language import Language

#: Languages by name.
LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (Language("c", "C99 with a header; math.h only, no allocation, no state", c.write),)
}

__all__ = ["LANGUAGES", "Language"]
