# SPDX-License-Identifier: Apache-2.0
import os
import shutil

import pytest


@pytest.fixture(scope="session")
def object_folder(tmp_path_factory):
    """Cache of this test session: nothing of the user's own is read or written."""
    return tmp_path_factory.mktemp("objects")


@pytest.fixture(autouse=True)
def _own_cache(object_folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(object_folder))
    monkeypatch.delenv("CC", raising=False)


@pytest.fixture
def hidden_compiler(monkeypatch, tmp_path):
    """No program is found any more."""
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture(params=["c", "numba"])
def backend(request, monkeypatch, tmp_path):
    if request.param == "numba":
        monkeypatch.setenv("PATH", str(tmp_path))
    elif not any(shutil.which(name, path=os.environ["PATH"]) for name in ("cc", "gcc", "clang")):
        pytest.skip("no C compiler")
    return request.param
