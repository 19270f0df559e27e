# SPDX-License-Identifier: Apache-2.0
"""A text that asks for too much is refused before anything is built, and the refusal says what it would become."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from humanoid_kinematics.mad.load import read_scene
from humanoid_model import load_robot, load_scene
from humanoid_model.archive import read_archive
from humanoid_model.checks import check_name
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import HeightField, Mesh
from humanoid_model.errors import InputError
from humanoid_model.files import BOUNDS, Growth, check_size, reading_only_in
from humanoid_model.height_field import grains, read_heights
from humanoid_model.wrl import read_wrl
from humanoid_sim import Simulation
from humanoid_sim.state_file import read_state

# What isn't refused takes hours, or all memory.
pytestmark = [pytest.mark.timeout(120), pytest.mark.feature("000-F008")]

GRAINS = "{{grains: spheres, count: {}, size: [1, 1], radius: [0.01, 0.02]}}"
FIELD = "{{height_field: {}, size: [1, 1], height: 1, wavelength: 1, cells: [{}, {}]}}"
FREE = "<body><freejoint/><geom size='1'/></body>"
COPIES = "<replicate count='300'>" * 5 + FREE + "</replicate>" * 5
CLASSES = "".join(f"<t{k} a='1'/>" for k in range(20_000)) + "".join(f"<default class='c{k}'/>" for k in range(20_000))
BITS = "".join(f"<body><freejoint/><geom size='1' contype='{1 << k % 9}' conaffinity='0'/></body>" for k in range(900))
KEYS = "<body><joint/><geom size='1'/>" + "<joint/>" * 200 + "</body></worldbody><keyframe>" + "<key/>" * 20_000
TEXTS = {
    "grains": (
        "yaml", f"bodies: {{a: {{shapes: [{GRAINS.format('1e9')}]}}}}",
        "count: comes to 1000000000, more than",
    ),
    "grains by and by": (
        "yaml", f"bodies: {{a: {{shapes: [{', '.join([GRAINS.format(9000)] * 3)}]}}}}",
        "27000, more than",
    ),
    "slope": (
        "yaml", f"bodies: {{a: {{shapes: [{FIELD.format('slope', 10_000, 10_000)}]}}}}",
        "cells: comes to 100020001",
    ),
    "waves": (
        "yaml", f"bodies: {{a: {{shapes: [{FIELD.format('waves', '1e308', '1e308')}]}}}}",
        "cells: comes to 1e+300",
    ),
    "fields by and by": (
        "yaml", f"bodies: {{a: {{shapes: [{', '.join([FIELD.format('random', 300, 300)] * 3)}]}}}}",
        "271803",
    ),
    "bodies": (
        "yaml", "bodies:\n" + "".join(f"  b{k}: {{shapes: [{{sphere: 1}}]}}\n" for k in range(5_001)),
        "more than 5000 b",
    ),
    "free bodies": (
        "yaml", "bodies:\n" + "".join(f"  b{k}: {{mass: 1, shapes: [{{sphere: 1}}]}}\n" for k in range(2_001)),
        "comes to 12006, more than 12000 moving coordinates",
    ),
    "aliases": (
        "yaml", "bodies:\n  a: {shapes: &s [" + "{sphere: 1}, " * 300 + "]}\n"
        + "".join(f"  b{k}: {{shapes: *s}}\n" for k in range(4_000)), "more than 20000 shapes",
    ),
    "values": ("yaml", "bodies: [" + "1, " * 200_001 + "]", "more than 200000 values"),
    "vertices": (
        "yaml", "bodies: {a: {shapes: [{sphere: 1}]}}\nsurfaces: {s: {body: a, polygon: [" + "[0, 1], " * 1_001 + "]}}",
        "polygon: comes to 1001, more than 1000 vertices",
    ),
    "rules": (
        "yaml", "bodies: {a: {shapes: [{sphere: 1}]}}\npairs: [" + "{between: ['*', a]}, " * 1_001 + "]",
        "1000 rules",
    ),
    "robots": (
        "yaml", "robots:\n" + "".join(f"  r{k}: {{robot: robot_2r_a}}\n" for k in range(101)),
        "more than 100 robots",
    ),
    "copies": ("xml", f"<mujoco><worldbody>{COPIES}</worldbody></mujoco>", "more than 100000 elements"),
    "copies of geoms": (
        "xml", "<mujoco><worldbody><replicate count='20001'><geom size='1'/></replicate></worldbody></mujoco>",
        "more than 20000 shapes",
    ),
    "free copies": (
        "xml", f"<mujoco><worldbody><replicate count='2001'>{FREE}</replicate></worldbody></mujoco>",
        "more than 12000 moving coordinates",
    ),
    "classes": ("xml", f"<mujoco><default>{CLASSES}</default><worldbody/></mujoco>", "more than 2000000 attributes"),
    "bits": ("xml", f"<mujoco><worldbody>{BITS}</worldbody></mujoco>", "more than 20000 pairs that don't touch"),
    "keyframes": (
        "xml", f"<mujoco><worldbody>{KEYS}</keyframe></mujoco>",
        "more than 1000000 positions of keyframes",
    ),
    "rows": (
        "xml", "<mujoco><asset><hfield name='h' size='1 1 1 1' nrow='1e5' ncol='1e5'/></asset><worldbody>"
        "<geom type='hfield' hfield='h'/></worldbody></mujoco>",
        "<hfield name='h'>: comes to 10000000000, more than 250000",
    ),
    "attributes": (
        "xml", "<mujoco><worldbody><geom " + " ".join(f"a{k}='1'" for k in range(50_000)) + "/></worldbody></mujoco>",
        "comes to 50000, more than 1000 attributes of one element",
    ),
    "universe": (
        "xml", "<Universe><Body id='a'><Grains kind='boxes'><Count>1e9</Count><Size x='1' y='1'/>"
        "<Radius least='1' largest='1'/></Grains></Body></Universe>", "<Count> of <Grains>: comes to 1000000000",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_what_a_scene_would_become_is_told(kind: str, tmp_path: Path) -> None:
    ending, text, told = TEXTS[kind]
    path = tmp_path / f"scene.{ending}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(told)) as caught:
        load_scene(path)
    assert str(caught.value).startswith(str(path))


def test_python_has_no_bounds() -> None:
    place, colour = load_scene("stand").bodies[0].placement_world_body, np.ones(4)
    more = BOUNDS["shapes"] + 1
    assert len(grains("spheres", more, np.ones(2), np.array([0.1, 0.2]), 0.5, 0, place, colour)) == more
    assert HeightField(np.ones(2), np.zeros((600, 600))).heights.size > BOUNDS["points of height fields"]


def test_includes_are_counted_all_together(tmp_path: Path) -> None:
    for level in range(6):
        inner = "".join(f"<include file='{level + 1}_{k}.xml'/>" for k in range(20)) if level < 5 else "<visual/>"
        for k in range(20):
            root = "mujoco" if level == 0 else "mujocoinclude"
            (tmp_path / f"{level}_{k}.xml").write_text(f"<{root}>{inner}</{root}>")
    with pytest.raises(InputError, match="<include>: comes to 1001, more than 1000 included files"):
        load_scene(tmp_path / "0_0.xml")


def test_includes_inside_one_another_end(tmp_path: Path) -> None:
    for k in range(300):
        (tmp_path / f"{k}.xml").write_text(f"<mujoco><include file='{k + 1}.xml'/></mujoco>")
    with pytest.raises(InputError, match="more than 100 levels inside one another"):
        load_scene(tmp_path / "0.xml")


def picture(side: int) -> bytes:
    """A grey picture of a square, which is packed to a thousandth."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = zlib.compressobj()
    body = b"".join(rows.compress(b"\0" * (side + 1)) for _ in range(side)) + rows.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def test_pictures_and_arrays_are_measured_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "h.png").write_bytes(picture(13_000))
    assert (tmp_path / "h.png").stat().st_size < 200_000
    monkeypatch.setattr(Image.Image, "load", lambda _: pytest.fail("was unpacked"))
    with pytest.raises(InputError, match=r"h\.png: comes to 169000000, more than 250000 points"):
        read_heights(tmp_path / "h.png")
    with (tmp_path / "h.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**5, 10**5)})
        file.truncate(8 * 10**10 + 1000)  # sparse
    with pytest.raises(InputError, match=r"h\.npy: comes to 10000000000, more than 250000 points"):
        read_heights(tmp_path / "h.npy")
    (tmp_path / "h.csv").write_text(("1," * 600 + "1\n") * 600)
    with pytest.raises(InputError, match=r"h\.csv: comes to 360600, more than 250000 points"):
        read_heights(tmp_path / "h.csv")


def archive(path: Path, size: int, claimed: tuple[int, ...] = (3,)) -> Path:
    """An archive with an array of zeros of a size, and one that claims a shape."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        with packed.open("array_0.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (size,)})
            for _ in range(size // 10**7):
                member.write(b"\0" * 10**7)
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": claimed})
        packed.writestr("header.npy", head.getvalue() + b"\0" * 24)
    return path


def test_archives_are_measured_before_they_are_unpacked(tmp_path: Path) -> None:
    large = archive(tmp_path / "large.npz", 510_000_000)
    assert large.stat().st_size < 1_000_000
    with pytest.raises(InputError, match=r"large\.npz: comes to 510.*, more than 500000000 bytes of arrays"):
        read_archive(large)
    with pytest.raises(InputError, match="more than 500000000 bytes of arrays"):
        read_state(Simulation(load_scene("stand")), large)
    with pytest.raises(ValueError, match=r"header\.npy is cut short"):
        read_archive(archive(tmp_path / "claims.npz", 10**7, (10**9, 10**9)))


MESHES = {
    "m.nff": ("tess 20\ns 0 0 0 1\n", "more than 2000000 triangles"),
    "m.dae": (
        "<COLLADA>" + "".join(f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>'
                              for k in range(25)) + '<node id="n25"><instance_geometry url="#g"/></node></COLLADA>',
        "more than 20000 shapes",
    ),
    "deep.dae": ("<COLLADA>" + "<node>" * 100_000, "more than 100 levels inside one another"),
    "m.gltf": ('{"nodes": [{"children": [1, 1]}, {"children": []}]}', "a node is in several places"),
    "points.gltf": ('{"accessors": [{"count": 1000000000}]}', "more than 20000000 points of a mesh"),
}  # fmt: skip


@pytest.mark.parametrize("name", MESHES)
def test_meshes_are_measured_before_a_library_reads_them(name: str, tmp_path: Path) -> None:
    text, told = MESHES[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=told):
        coal_geometry(Mesh(tmp_path / name, np.ones(3)))


@pytest.mark.feature("000-F029")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.gltf", '{"buffers": [{"uri": "%2e./b.bin", "byteLength": 4}]}'),
        ("m.gltf", '{"images": [{"uri": "../b.bin"}]}'),
        ("m.glb", "glTF\2\0\0\0\0\0\0\0\x25\0\0\0JSON" + '{"buffers": [{"uri": "../b.bin"}]}    '),
        ("m.obj", "mtllib ../b.bin \nv 0 0 0\n"),
    ],
)
def test_what_a_mesh_names_is_confined_too(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / name).write_text(text)
    named = r"own/\.\./b\.bin' isn't in a folder"
    with reading_only_in([tmp_path / "own"], "Stay there"), pytest.raises(InputError, match=named):
        coal_geometry(Mesh(tmp_path / "own" / name, np.ones(3)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Group { children [ " * 50_000, ":2: comes to 101, more than 100 levels inside one another"),
        ("DEF a Group { children [ USE a ] }", "more than 100 levels inside one another"),
        (
            "DEF g0 Shape {}"
            + "".join(f"DEF g{k} Group {{ children [ {f'USE g{k - 1} ' * 10} ] }}" for k in range(1, 12)),
            "more than 100000 elements",
        ),
    ],
)
def test_vrml_that_uses_itself_or_nests_ends(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "m.wrl").write_text(f"#VRML V2.0 utf8\n{text}")
    with pytest.raises(InputError, match=told):
        read_wrl(tmp_path / "m.wrl")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("foo " * 300_001, "more than 300000 words of MAD"),
        ("robot r { base { } } " * 101, "more than 100 robots"),
        ("robot r {" + "{ ) " * 70_000, "where '{' of line 1 is open"),
    ],
)
def test_mad_is_bounded(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_scene(f"RAFF v1.1 s {text}")


def test_robots_are_bounded() -> None:
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    with pytest.raises(InputError, match="comes to 2001, more than 2000 shapes of a robot"):
        load_robot(f'<robot name="r"><link name="l">{box * 2_001}</link></robot>')
    joint = '<joint name="j{0}" type="fixed"><parent link="l{0}"/><child link="l{1}"/></joint>'
    links = "".join(f'<link name="l{k}"/>' for k in range(20_001))
    ring = "".join(joint.format(k, (k + 1) % 20_000) for k in range(20_000))
    with pytest.raises(InputError, match="the links make a loop"):  # soon
        load_robot(f'<robot name="r">{links}{ring}</robot>')


LONG = "x" * 1_000_000
NAMED = {
    "yaml": 'bodies:\n  ? "{}"\n  : {{shapes: [{{sphere: 1}}]}}\n',
    "label.yaml": 'bodies: {{a: {{label: "{}", shapes: [{{sphere: 1}}]}}}}',
    "name.yaml": 'name: "{}"\nbodies: {{a: {{shapes: [{{sphere: 1}}]}}}}',
    "xml": '<mujoco><worldbody><body name="{}"/></worldbody></mujoco>',
    "universe.xml": '<Universe><Body id="{}"><Sphere radius="1"/></Body></Universe>',
    "urdf": '<robot name="r"><link name="{}"/></robot>',
    "parent.urdf": '<robot name="r"><link name="l"/>'
    '<joint name="j" type="fixed"><parent link="{}"/><child link="l"/></joint></robot>',
    "robot.urdf": '<robot name="{}"><link name="l"/></robot>',
}


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("name", [LONG, "a\nb", "a\u202eb"])
def test_names_that_cant_be_shown_are_refused(kind: str, name: str, tmp_path: Path) -> None:
    ending = kind.split(".")[-1]
    path = tmp_path / f"file.{ending}"
    written = name.replace("\n", "\\n" if ending == "yaml" else "&#10;")
    path.write_text(NAMED[kind].format(written), encoding="utf-8")
    with pytest.raises(
        InputError, match="a name has 1000000 characters" if name == LONG else "that can't be seen"
    ) as caught:
        (load_robot if ending == "urdf" else load_scene)(path)
    assert len(str(caught.value)) < 8_000
    assert str(caught.value).isprintable()


def test_names_of_mad_are_short() -> None:
    for text in (f"RAFF v1.1 {LONG}", f"RAFF v1.1 s robot {LONG} {{ base {{ }} }}"):
        with pytest.raises(InputError, match="a name has 1000000 characters"):
            read_scene(text)
    assert check_name("für 2 Füße", lambda *_: pytest.fail("is a name")) == "für 2 Füße"


def test_parts_count_together() -> None:
    growth = Growth()
    growth.add(BOUNDS["loops"], "loops", InputError)
    with pytest.raises(InputError, match="comes to 501, more than 500 loops"):
        growth.add(1, "loops", lambda problem, remedy: InputError(problem, remedy=remedy))
    check_size(BOUNDS["loops"], "loops", InputError)
