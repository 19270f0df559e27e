# SPDX-License-Identifier: Apache-2.0
"""Documents of robots whose names are made of what the markups take for their own."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import quoteattr

import pytest

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Module
from humanoid_codegen.report import DOCUMENTS
from humanoid_codegen.report.latex import latex_text
from humanoid_codegen.report.markdown import markdown_text

#: Names of a chain's links and joints.
NAMES = (r"100%_of & {#1} $x$ ~^\alpha", "épaule|α<β>", "*bold* `code` [a](b)", "\\\\ -- _under_ \"q\"")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    text = f"<robot name={quoteattr(NAMES[0])}><link name='world'/>"
    parent = "world"
    for name in NAMES:
        text += (
            f"<joint name={quoteattr('J ' + name)} type='continuous'><parent link={quoteattr(parent)}/>"
            f"<child link={quoteattr(name)}/><origin xyz='0.5 0 0'/><axis xyz='0 0 1'/></joint>"
            f"<link name={quoteattr(name)}><inertial><origin xyz='0.2 0.1 0'/><mass value='1'/>"
            "<inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial></link>"
        )
        parent = name
    path = tmp_path_factory.mktemp("names") / "names.urdf"
    path.write_text(text + "</robot>", encoding="utf-8")
    model = DynamicModel(path)
    functions = tuple(model.function(name) for name in ("inverse_dynamics", "mass_matrix"))
    links = tuple(link.name for link in model.mechanism.links)
    module = Module("names", model.robot.name, functions, model.mechanism.q_names, model.mechanism.v_names, links)
    return {language: write(module, model) for language, write in DOCUMENTS.items()}


def test_markdown_comes_with_its_pictures(files):
    assert sorted(files["markdown"]) == ["names.md", "names_tree.svg", "names_zero.svg"]
    for name in re.findall(r"\]\(([^)]*svg)\)", files["markdown"]["names.md"]):
        assert name in files["markdown"]


def test_pictures_are_xml_with_the_names_as_they_are(files):
    root = ElementTree.fromstring(files["markdown"]["names_tree.svg"])
    words = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for name in NAMES:
        assert name in words


def test_markdown_tables_have_equal_rows(files):
    tables = re.findall(r"(?:^\|.*\n)+", files["markdown"]["names.md"], flags=re.MULTILINE)
    assert len(tables) >= 5
    for table in tables:
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(columns) == 1


def test_markdown_mathematics_is_closed_and_needs_no_escapes(files):
    text = files["markdown"]["names.md"]
    pieces = re.split(r"(?<!\\)\$\$", text)
    assert len(pieces) % 2 == 1
    formulas = pieces[1::2]
    for piece in pieces[::2]:
        between = re.split(r"(?<!\\)\$", piece)
        assert len(between) % 2 == 1
        formulas += between[1::2]
    for formula in formulas:
        assert formula.count("{") == formula.count("}")
        # A Markdown reader would take the backslash for its own before anything but a letter or a line's end.
        assert not re.search(r"\\[^A-Za-z\\]", formula.replace("\\\\\n", ""))


def test_latex_is_ascii_with_balanced_braces_and_environments(files):
    (text,) = files["latex"].values()
    assert text.isascii()
    bare = re.sub(r"\\[{}\\]", "", text)
    assert bare.count("{") == bare.count("}")
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    for table in re.findall(r"\\begin\{longtable\}\{(\w+)\}(.*?)\\end", text, flags=re.DOTALL):
        for row in table[1].split(r"\\")[1:]:
            cells = len(re.findall(r"(?<!\\)&", row))
            assert cells in (0, len(table[0]) - 1)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex: apt install texlive-latex-base")
def test_latex_compiles(files, tmp_path):
    (tmp_path / "names.tex").write_text(files["latex"]["names.tex"], encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "names.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "names.pdf").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("a_b", r"a\_\allowbreak{}b"),
        ("50 % & {x}", r"50 \% \& \{x\}"),
        ("\\alpha~^", r"\textbackslash{}alpha\textasciitilde{}\textasciicircum{}"),
        ("é Å", r"\'{e} \r{A}"),
        ("α\n名", "U+03B1 U+540D"),
        ("a--b", "a-{}-{}b"),
        ("<|>", r"\textless{}\textbar{}\textgreater{}"),
    ],
)
def test_latex_takes_no_character_for_a_command(words, written):
    assert latex_text(words) == written


def test_markdown_takes_no_character_for_markup():
    assert markdown_text("*a* _b_ `c` [d] | $e$ <f> & g\nh") == (
        r"\*a\* \_b\_ \`c\` \[d\] \| \$e\$ &lt;f&gt; &amp; g h"
    )
