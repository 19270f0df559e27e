# SPDX-License-Identifier: Apache-2.0
"""A page that a test draws on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from humanoid_ros.viewer.page import Page


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page(port=0)
    yield page
    page.close()
