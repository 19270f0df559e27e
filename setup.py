# SPDX-License-Identifier: Apache-2.0
"""The libraries for pip, with the robots and scenes they come with; pyproject.toml says the rest."""

from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
SHARE = Path("share/humanoid_stack")


def data_files(folder: str) -> list[tuple[str, list[str]]]:
    """Every file below a folder, grouped by where it is installed: share/humanoid_stack/<folder>/..."""
    groups: dict[str, list[str]] = {}
    for path in sorted((ROOT / folder).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            relative = path.relative_to(ROOT)
            groups.setdefault(str(SHARE / relative.parent), []).append(str(relative))
    return list(groups.items())


setup(
    packages=find_packages(include=["humanoid_*", "humanoid_*.*"]),
    package_data={"": ["py.typed", "*.html", "*.js", "*.css"]},
    data_files=[*data_files("urdf"), *data_files("config"), *data_files("launch"), *data_files("msg")],
)
