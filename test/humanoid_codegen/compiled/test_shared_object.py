# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from humanoid_codegen.compiled import compile_functions, shared_object
from humanoid_codegen.compiled.shared_object import Compiler, find_compiler
from humanoid_codegen.dynamics.dynamic_model import DynamicModel

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module")
def gravity():
    return DynamicModel("robot_2r_a").function("gravity")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "humanoid_stack" / "compiled"


@pytest.fixture
def compilations(monkeypatch):
    """Files that were compiled."""
    made = []
    compile_source = Compiler.compile

    def count(self, source, target):
        made.append(target)
        compile_source(self, source, target)

    monkeypatch.setattr(Compiler, "compile", count)
    return made


def test_second_time_nothing_is_compiled(gravity, folder, compilations):
    first = compile_functions(gravity).gravity(np.array([0.3, 0.2]))
    second = compile_functions(gravity).gravity(np.array([0.3, 0.2]))
    assert len(compilations) == 1
    assert (first == second).all()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.suffix for path in folder.iterdir()] == [".so"]


@pytest.mark.parametrize("damage", [b"", b"no object", None])
def test_torn_object_is_compiled_anew(gravity, folder, compilations, damage):
    expected = compile_functions(gravity).gravity(np.array([0.3, 0.2]))
    (path,) = folder.iterdir()
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[: len(content) // 2] if damage is None else damage)
    path.chmod(0o700)
    assert (compile_functions(gravity).gravity(np.array([0.3, 0.2])) == expected).all()
    assert len(compilations) == 2
    assert shared_object._is_whole(path)


def test_object_that_others_may_write_to_is_not_taken(gravity, folder, compilations):
    compile_functions(gravity)
    (path,) = folder.iterdir()
    path.chmod(0o722)
    compile_functions(gravity)
    assert len(compilations) == 2
    assert path.stat().st_mode & 0o777 == 0o700


def test_link_to_an_object_is_not_taken(gravity, folder, compilations, tmp_path):
    compile_functions(gravity)
    (path,) = folder.iterdir()
    path.rename(tmp_path / "elsewhere.so")
    path.symlink_to(tmp_path / "elsewhere.so")
    compile_functions(gravity)
    assert len(compilations) == 2
    assert not path.is_symlink()


@pytest.mark.parametrize("kind", ["shared", "file", "foreign"])
def test_folder_that_cannot_be_trusted_gives_way_to_a_temporary_one(gravity, folder, monkeypatch, kind):
    folder.parent.mkdir()
    if kind == "file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o777 if kind == "shared" else 0o700)
        if kind == "foreign":
            user = os.getuid()
            monkeypatch.setattr(shared_object.os, "getuid", lambda: user + 1)
            monkeypatch.setattr(shared_object, "_is_whole", lambda path: path.exists())
    shared_object._temporary_folder.cache_clear()
    with pytest.warns(RuntimeWarning, match="until this program ends; set XDG_CACHE_HOME"):
        model = compile_functions(gravity)
    assert model.gravity.backend == "c"
    assert np.isfinite(model.gravity(np.zeros(2))).all()
    assert kind == "file" or list(folder.iterdir()) == []


def test_key_tells_sources_and_machines_apart(folder):
    compiler = find_compiler()
    other = Compiler(compiler.command, compiler.target, compiler.identity + "another version")
    sources = ("int a;", "int b;")
    paths = {shared_object.cached_object(source, which) for source in sources for which in (compiler, other)}
    assert len(paths) == 4


def test_two_processes_at_once_get_the_same(folder, tmp_path):
    script = (
        "import numpy as np\n"
        "from humanoid_codegen.compiled import compile_functions\n"
        "from humanoid_codegen.dynamics.dynamic_model import DynamicModel\n"
        "f = compile_functions(DynamicModel('robot_2r_a').function('gravity')).gravity\n"
        "print(f.backend, f(np.array([0.3, 0.2])).tolist())\n"
    )
    root = Path(__file__).parents[3]
    processes = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(2)
    ]
    told = [process.communicate()[0] for process in processes]
    assert told[0] == told[1]
    assert told[0].startswith("c [")
    assert len(list(folder.iterdir())) == 1


def test_cc_is_honoured(gravity, folder, monkeypatch, tmp_path):
    log = tmp_path / "log"
    compiler = tmp_path / "my-cc"
    compiler.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {find_compiler().command[0]} "$@"\n')
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", f"{compiler} -DCHOSEN")
    assert compile_functions(gravity).gravity.backend == "c"
    assert "-DCHOSEN" in log.read_text().splitlines()[-1]
