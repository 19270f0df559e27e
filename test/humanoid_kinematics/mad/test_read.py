# SPDX-License-Identifier: Apache-2.0
"""MAD files read as what they say, and wrong ones are refused with line, column, value and remedy."""

import dataclasses
import random
import re
import warnings

import pytest
from fixtures.mad_files import FOLDER, THESIS, mad_link, mad_robot, mad_text

from humanoid_kinematics.mad.grammar import Extension
from humanoid_kinematics.mad.load import EXTENSIONS
from humanoid_kinematics.mad.read import parse_mad, read_mad
from humanoid_kinematics.mad.syntax import MadClosure, MadError, MadStatement, MadTracking
from humanoid_kinematics.mad.write import write_mad
from humanoid_model import InputError, RobotError, RobotWarning

#: Without the line of its licence.
HYBRID = mad_text("planar_hybrid").split("\n", 1)[1]


def refused(text, **options):
    with pytest.raises(MadError) as caught:
        parse_mad(text, "x.mad", **options)
    return str(caught.value)


@pytest.mark.feature("002-F034")
@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.mad")))
def test_what_is_written_reads_back_as_the_same(name):
    scene = read_mad(FOLDER / f"{name}.mad", extensions=EXTENSIONS)
    again = parse_mad(write_mad(scene), extensions=EXTENSIONS)
    assert again == scene
    assert write_mad(again) == write_mad(scene)


@pytest.mark.feature("002-F002", "002-F003")
def test_header_needs_no_version():
    assert parse_mad(HYBRID.replace("RAFF v1.1", "RAFF")).version is None
    assert parse_mad("// before\nRAFF v1.1 name").version == "1.1"
    with pytest.warns(RobotWarning, match=r"line 1:6: version v9.0 unknown.*v1.0, v1.1|x.mad:1:6"):
        assert parse_mad("RAFF v9.0 name", "x.mad").name == "name"


@pytest.mark.feature("002-F004", "002-F005")
@pytest.mark.parametrize("name", THESIS)
def test_layout_and_comments_are_free(name):
    text = mad_text(name)
    pieces = re.findall(r'"[^"]*"|[{}()]|[^\s{}()]+', re.sub(r"//.*", "", text))
    one_line, spread = " ".join(pieces), "\n/* a\n * b */\n".join(pieces)
    assert parse_mad(one_line) == parse_mad(spread) == parse_mad(text)


def test_keywords_may_touch_their_numbers_with_a_warning():
    with pytest.warns(RobotWarning, match=r"x.mad:8:25: link 2: no space in 'theta51'.*'theta 51'"):
        glued = parse_mad(HYBRID.replace("theta 51", "theta51"), "x.mad")
    assert glued == parse_mad(HYBRID)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_mad(HYBRID.replace("theta -120", "theta-120"), strict=False) == glued


@pytest.mark.feature("002-F015", "002-F027")
def test_order_within_blocks_and_of_members_is_free():
    turned = HYBRID.replace("theta 51 r 0 alpha 0 d 500", "d 500 r 0 theta 51 alpha 0")
    turned = turned.replace("constraint { link 7 frame 8 }", "constraint { frame 8 link 7 }")
    turned = turned.replace("frame 9 sensor ( 0 1 )", "sensor ( 0 1 ) frame 9")
    turned = turned.replace('path "models/"', "").replace("// tool point", 'path\n "models/"')
    assert parse_mad(turned) == parse_mad(HYBRID)
    assert parse_mad(HYBRID.replace(" r 0", " rpara 0").replace(" d 5", " dpara 5")) == parse_mad(HYBRID)


def test_nodes_may_be_declared_in_any_order():
    forward = parse_mad(mad_robot(mad_link(1, 0), mad_link(2, 1)))
    backward = parse_mad(mad_robot(mad_link(2, 1), mad_link(1, 0)))
    assert backward.robots[0].nodes == forward.robots[0].nodes[::-1]


@pytest.mark.feature("002-F006", "002-F007", "002-F009")
def test_sensors_have_ports_types_and_counts():
    text = 'sensor 0 { }\nsensor 3 { translation 3 rotation 0 port "Mover" type panel }'
    null, panel = parse_mad("RAFF s " + text).sensors
    assert (null.number, null.port, null.type, null.translation) == (0, None, None, None)
    assert (panel.number, panel.port, panel.type, panel.translation, panel.rotation) == (3, "Mover", "panel", 3, 0)
    assert [sensor.number for sensor in read_mad(FOLDER / "redont.mad").sensors] == [0, 1, 2]


@pytest.mark.feature("002-F022")
def test_graphics_may_be_absent_empty_automatic_and_files():
    bare, redont = parse_mad(mad_robot(mad_link(1, 0))).robots[0], read_mad(FOLDER / "redont.mad").robots[0]
    assert bare.nodes[0].graphics is None
    assert redont.nodes[-1].graphics == ()
    assert redont.base.graphics == (None, "obstacle.nff")


def test_ball_joints_are_closures_of_points():
    text = mad_robot(mad_link(1, 0), mad_link(2, 0), "rotule { link 2 link 1 }")
    for keyword in ("rotule", "ball", "spherical"):
        assert parse_mad(text.replace("rotule", keyword)).robots[0].closures == (MadClosure((1, 2), ball=True),)


@pytest.mark.feature("002-F026", "002-F041")
def test_every_node_may_track_and_close_with_every_other():
    frame = "frame 3 { pos { 0 0 0 } ori { 0 0 0 } pred 1 }"
    text = mad_robot(mad_link(1, 0), mad_link(2, 0), frame, "constraint { link 1 link 2 }",
                     "constraint { frame 3 link 2 }", "constraint { link 1 sensor ( 0 ) }",
                     sensors="sensor 0 { }")  # fmt: skip
    robot = parse_mad(text).robots[0]
    assert robot.closures == (MadClosure((1, 2)), MadClosure((2, 3)))
    assert robot.trackings == (MadTracking(1, (0,)),)


@pytest.mark.feature("002-F033")
def test_an_extension_adds_a_keyword_beside_the_rules():
    text = mad_robot(mad_link(1, 0), 'colour ( 1 ) "red" 0.5')
    extension = Extension("colour", '"(" NUMBER* ")" STRING FLOAT')
    robot = parse_mad(text, extensions=(extension,)).robots[0]
    assert robot.statements == (MadStatement("colour", ("(", "1", ")", '"red"', "0.5")),)
    scene = parse_mad(text, extensions=(extension,))
    assert parse_mad(write_mad(scene), extensions=(extension,)) == scene
    assert "x.mad:6:1: robot small: 'colour' is not expected here [E12]" in refused(text)


# Refusals ----------------------------------------------------------------------------------------------

WRONG = {  # what replaces what in the planar hybrid, and what is told
    "E01 number": ("51 r 0", "51 r 0.1.2", "8:36: link 2: '0.1.2' is not expected here [E01]. Expected a number"),
    "E01 nan": ("theta 60", "theta nan", "10:31: link 4: 'nan' is not a finite number [E01]"),
    "E01 overflow": ("theta 60", "theta 1e999", "10:31: link 4: '1e999' is not a finite number [E01]"),
    "E01 long": ("pred 5", "pred 5555555555", "13:67: link 6: number 5555555555 has 10 digits [E01]"),
    "E01 unclosed": ("base { f", "base { { f", "6:10: base: '{' is not expected here [E01]"),
    "E01 open": ("  constraint { link 7", "  constraint { { link 7", "4:15: 'robot hybride {' is never closed [E01]"),
    "E01 stray": ("frame 8 }", "frame 8 } }", "21:1: '}' closes nothing [E01]"),
    "E01 pair": ("( 0 1 )", "( 0 1 }", "20:37: constraint: '}' where '(' of line 20 is open [E01]. Close that with )"),
    "E01 comment": ("// tool", "/* tool", "17:3: comment doesn't end [E01]. Close it with */"),
    "E01 text": ('"models/"', '"models/', "6:30: text doesn't end [E01]"),
    "E01 missing": ("theta 0 r 0", "r 0", "7:12: link 1: has no theta [E01]. Add what is missing"),
    "E01 no type": ("type 2 pred 5", "pred 5", "13:3: link 6: has no type [E01]"),
    "E02 node": ("link 4", "link 3", "10:3: link 3: number used already in line 9 [E02]"),
    "E02 frame": ("frame 9 { pos", "frame 7 { pos", "18:3: frame 7: number used already in line 14 [E02]"),
    "E02 zero": ("link 1 {", "link 0 {", "7:8: link 0: link has the number 0 [E02]"),
    "E02 sensor": ("sensor 1 {", "sensor 0 {", "3:1: sensor 0: number used already in line 2 [E02]"),
    "E02 twice": ("type 2 pred 5", "type 2 type 2 pred 5", "13:62: link 6: second 'type' [E02]. Keep one"),
    "E03": ("pred 5", "pred 55", "13:3: link 6: pred is 55, which is no node [E03]. Nodes are 0 (the base), 1, 2,"),
    "E04": ("pred 1 range", "pred 3 range", "8:3: link 2: pred goes round: 2 -> 3 -> 2 [E04]"),
    "E04 self": ("pred 6", "pred 7", "14:3: link 7: pred goes round: 7 -> 7 [E04]"),
    "E05 none": ('base { filename ( "base.nff" ) }', "", "4:1: robot hybride: has 0 bases [E05]"),
    "E05 two": ("base {", "base { } base {", "6:12: robot hybride: has 2 bases [E05]"),
    "E06": ("type 2 pred 3", "type 3 pred 3", "10:59: link 4: type is 3 [E06]. Give 1 (prismatic) or 2 (revolute)"),
    "E07": ("pred 1 range", "pred 1 limits { 0 90 } range", "8:84: link 2: has limits and range [E07]"),
    "E09 node": ("link 7 frame 8", "link 7 frame 12", "19:29: constraint: there is no frame 12 [E09]"),
    "E09 kind": ("link 7 frame 8", "link 7 link 8", "19:28: constraint: 8 is a frame [E09]. The links are 1, 2,"),
    "E09 same": ("link 7 frame 8", "link 7 link 7", "19:3: constraint: joins node 7 with itself [E09]"),
    "E09 sensor": ("( 0 1 )", "( 0 4 )", "20:35: constraint: no sensor 4 is declared before [E09]"),
    "E09 sensors": ("frame 9 sensor", "sensor ( 0 ) sensor", "20:3: constraint: joins sensors [E09]"),
    "E12 word": ("theta 51", "teta 51", "8:25: link 2: 'teta' is not expected here [E12]. Expected 'alpha',"),
    "E12 block": ("base {", "bass {", "6:3: robot hybride: 'bass' is not expected here [E12]"),
    "E12 comment": ("tool point", "tool\n point", "18:2: robot hybride: 'point' is not expected here [E12]"),
    "E12 early end": ("pred 4 filename ( ) }", "pred 4 } filename ( )", "18:52: robot hybride: 'filename' is not"),
    "E12 header": ("RAFF", "RAF", "1:1: 'RAF' is not expected here [E12]. Expected 'RAFF'"),
}


@pytest.mark.feature("002-F004", "002-F031")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused_with_line_column_and_remedy(case):
    before, after, told = WRONG[case]
    assert before in HYBRID
    message = refused(HYBRID.replace(before, after, 1))
    assert f"x.mad:{told}" in message
    for line in message.splitlines():
        assert re.fullmatch(r"x\.mad:\d+:\d+: .+ \[E\d\d\]\. .+\.", line)
    first = refused(HYBRID.replace(before, after, 1), stop_at_first=True)
    assert "\n" not in first


def test_all_problems_are_told_at_once():
    assert [line.split(":")[1] for line in refused(HYBRID.replace("theta", "teta")).splitlines()] == [
        "7", "8", "9", "10", "12", "13", "14"
    ]  # fmt: skip
    with pytest.raises(MadError) as caught:
        parse_mad(HYBRID.replace("type 2", "type 3"))
    assert len(caught.value.problems) == 7
    assert (caught.value.line, caught.value.column) == (7, 56)


def test_of_very_many_problems_the_first_are_told_and_the_others_counted():
    with pytest.raises(MadError) as caught:
        parse_mad("RAFF v1.1 1 " + "sensor 1 { } " * 500)
    *told, rest = str(caught.value).splitlines()
    assert rest == f"{len(caught.value.problems) - len(told)} more"
    assert told == [str(problem) for problem in caught.value.problems[: len(told)]]
    assert 10 < len(told) < 100


def test_limits_that_are_odd_are_warned_of():
    with pytest.warns(RobotWarning, match=r"link 1: range 160 ... -160 has the larger first, swapped \[E08\]"):
        assert parse_mad(HYBRID.replace("-160 160", "160 -160")) == parse_mad(HYBRID)
    with pytest.warns(RobotWarning, match=r"link 1: initial value 5 is outside 6 ... 7 \[E08\]"):
        parse_mad(mad_robot(mad_link(1, 0, theta=5, limits=(6, 7))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_mad(FOLDER / "macdac.mad")  # starts on three limits


@pytest.mark.feature("002-F031")
def test_lenient_reading_leaves_out_what_it_does_not_know():
    odd = HYBRID.replace("base {", "weight { 3 { 4 } } base {").replace("theta 60", "colour 3 theta 60")
    odd = odd.replace("pred 4 filename ( ) }", "pred 4 } filename ( )")
    with pytest.warns(RobotWarning) as told:
        scene = parse_mad(odd, "x.mad", strict=False)
    assert [re.search(r"'\w+' \w+, left out \[E12\]", str(item.message))[0] for item in told] == [
        "'weight' unknown, left out [E12]", "'colour' unknown, left out [E12]", "'filename' misplaced, left out [E12]"
    ]  # fmt: skip
    assert len(scene.robots[0].nodes) == 9
    broken = HYBRID.replace('"models/"', '"mod\n  els/"')
    assert "text 'mod els/' is broken over lines [E01]" in refused(broken)
    with pytest.warns(RobotWarning, match="broken over lines, joined"):
        assert parse_mad(broken, strict=False) == parse_mad(HYBRID)


@pytest.mark.feature("002-F031")
def test_no_text_makes_the_reader_crash():
    rng = random.Random(5)
    for _ in range(60):
        text = list(mad_text(rng.choice(THESIS)))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 3)] = rng.choice(['"', "{", "}", "(", "/*", "//", "-", "e9", "é", "\0", ""])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for strict in (True, False):
                told = []
                try:
                    parse_mad("".join(text), strict=strict)
                except MadError as problem:
                    told = problem.problems
                assert all(item.line and item.column for item in told)


def test_huge_and_foreign_files_are_refused_quickly(tmp_path):
    many = mad_robot(*(mad_link(number, number - 1) for number in range(1, 10_001)))
    assert "has 10000 links and frames, more than 3000 [E01]" in refused(many)
    foreign = tmp_path / "x.mad"
    foreign.write_bytes(b"RAFF caf\xe9")
    with pytest.raises(RobotError, match=r"x\.mad: is not UTF-8 text \(byte 8\)"):
        read_mad(foreign)
    assert refused("RAFF x" + "{" * 50_000).count("is never closed") == 20
    ring = mad_robot(*(mad_link(number, number % 2000 + 1) for number in range(1, 2001)))
    assert refused(ring).count("pred goes round") == 1


def test_numbers_that_mad_cannot_write_are_refused():
    scene = parse_mad(HYBRID)
    robot = dataclasses.replace(scene.robots[0], path='a"b')
    with pytest.raises(InputError, match="can't be written to MAD"):
        write_mad(dataclasses.replace(scene, robots=(robot,)))
