# SPDX-License-Identifier: Apache-2.0
"""The numbers of the packages' structure: layers, import cycles, argument lists, classes, folders, sizes.

``make metrics`` prints them; ``test_structure.py`` holds them to their bounds.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Packages from below: a file imports its own package and those of lower layers. Packages of a layer don't know each
#: other.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"humanoid_model"}),
    frozenset({"humanoid_codegen", "humanoid_kinematics"}),
    frozenset({"humanoid_sim", "humanoid_planner", "humanoid_gait", "humanoid_control"}),
    frozenset({"humanoid_ros"}),
    frozenset({"humanoid_studies"}),
)
ROS, STUDIES = "humanoid_ros", "humanoid_studies"
STUDIES_FOLDER = "studies"
#: ROS 2's libraries and messages, which only the package ``humanoid_ros`` and a page of the studies import.
ROS_MODULE = re.compile(r"rclpy|ament_index_python|launch(_ros)?|humanoid_stack|\w+_msgs|\w+_interfaces")
MAX_ARGUMENTS = 10
#: Parameters and attributes that take a callback which is told how far something is.
PROGRESS = re.compile(r"_?(progress|feedback|watch|tell|report|notify|on_\w+)")
#: When an import is made.
LOADING, CALL, CHECK = "when the file is loaded", "in a function", "for type checkers only"


@dataclass(frozen=True)
class Import:
    """An import of one name.

    Attributes:
        module: dotted name.
        name: what is taken from the module, None for all of it.
        own: name that it gets.
        line: where it stands.
        kind: ``LOADING``, ``CALL`` or ``CHECK``.
    """

    module: str
    name: str | None
    own: str
    line: int
    kind: str

    def file(self, known: Collection[str]) -> str:
        """The module that is loaded, among known ones: ``from a import b`` may mean a file ``a/b.py``."""
        return whole if (whole := f"{self.module}.{self.name}") in known else self.module


@dataclass(frozen=True)
class Sized:
    """A function or a class and its size.

    Attributes:
        size: arguments without self and cls, or lines.
        name: with the classes and functions that it is in.
        path: of the file, from the root.
        line: where it begins.
    """

    size: int
    name: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.size:5}  {self.name}  {self.path}:{self.line}"


@dataclass
class Source:
    """What is told of a file of a package; names are those of the text.

    Attributes:
        path: from the root.
        module: its dotted name, a package's own for ``__init__.py``.
        lines: their number.
        imports: all, from above.
        functions: with the lengths of their argument lists.
        classes: with their lines.
        dataclasses: how many of the classes are dataclasses.
        public: names that ``__all__`` lists.
        callbacks: types that have names: those of functions, and classes whose objects are called.
        array_types: names and types of arrays, with their lines.
        progress: parameters and attributes named as ``PROGRESS`` says, their types and lines.
    """

    path: str
    module: str
    lines: int
    imports: list[Import] = field(default_factory=list)
    functions: list[Sized] = field(default_factory=list)
    classes: list[Sized] = field(default_factory=list)
    dataclasses: int = 0
    public: list[str] = field(default_factory=list)
    callbacks: dict[str, str] = field(default_factory=dict)
    array_types: list[tuple[str, str, int]] = field(default_factory=list)
    progress: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def package(self) -> str:
        """Name of the package."""
        return self.module.split(".")[0]


def read_source(text: str, path: str, module: str) -> Source:
    """Go through the text of a file; what is where in it is told as of a path and of a module."""
    source = Source(path, module, len(text.splitlines()))
    _visit(ast.parse(text), source, (), LOADING)
    return source


def _visit(parent: ast.AST, source: Source, inside: tuple[str, ...], kind: str) -> None:
    for node in ast.iter_child_nodes(parent):
        names, next_kind = inside, kind
        if isinstance(node, ast.Import):
            source.imports += [
                Import(alias.name, None, alias.asname or alias.name, node.lineno, kind) for alias in node.names
            ]
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{source.path}:{node.lineno}: imports are absolute"
            source.imports += [
                Import(node.module, alias.name, alias.asname or alias.name, node.lineno, kind) for alias in node.names
            ]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = (*inside, node.name)
            next_kind = CALL if kind == LOADING else kind
            given = list(_arguments(node))
            count = len(given) - ([own.arg for own in given[:1]] in (["self"], ["cls"]))
            source.functions.append(Sized(count, ".".join(names), source.path, node.lineno))
            for own in given:
                _note_progress(source, own.arg, own.annotation, own.lineno)
        elif isinstance(node, ast.ClassDef):
            names = (*inside, node.name)
            size = (node.end_lineno or 0) - node.lineno + 1
            source.classes.append(Sized(size, ".".join(names), source.path, node.lineno))
            source.dataclasses += any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
            if any(isinstance(part, ast.FunctionDef) and part.name == "__call__" for part in node.body):
                source.callbacks[node.name] = f"{source.module}.{node.name}"
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            _visit(ast.Module(node.body, []), source, inside, CHECK)
            _visit(ast.Module(node.orelse, []), source, inside, kind)
            continue
        elif isinstance(node, ast.Assign) and not inside and isinstance(node.targets[0], ast.Name):
            _note_type(source, node.targets[0].id, node.value)
            if node.targets[0].id == "__all__" and isinstance(node.value, ast.List):
                source.public += [ast.literal_eval(name) for name in node.value.elts]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            _note_progress(source, node.target.id, node.annotation, node.lineno)
        if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            _visit(node, source, names, next_kind)


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.arg]:
    own = node.args
    yield from (*own.posonlyargs, *own.args, *own.kwonlyargs)
    yield from (extra for extra in (own.vararg, own.kwarg) if extra is not None)


def _note_type(source: Source, name: str, value: ast.expr) -> None:
    if isinstance(value, ast.Subscript):
        whole, generic = ast.unparse(value), ast.unparse(value.value)
        if generic in ("NDArray", "np.ndarray"):
            source.array_types.append((name, whole, value.lineno))
        elif generic == "Callable":
            source.callbacks[name] = whole


def _note_progress(source: Source, name: str, annotation: ast.expr | None, line: int) -> None:
    if annotation is not None and PROGRESS.fullmatch(name):
        source.progress.append((name, ast.unparse(annotation).removesuffix(" | None"), line))


@functools.cache
def packages() -> tuple[str, ...]:
    """Packages of the repository, found by their folders."""
    faces = [*ROOT.glob("*/__init__.py"), *(ROOT / STUDIES_FOLDER).glob("*/__init__.py")]
    return tuple(sorted(path.parent.name for path in faces))


def folder_of(package: str) -> Path:
    """Folder of a package: the studies lie next door."""
    return ROOT / STUDIES_FOLDER / package if package == STUDIES else ROOT / package


@functools.cache
def sources() -> Mapping[str, Source]:
    """All files of the packages by module."""
    found = {}
    for package in packages():
        for path in sorted(folder_of(package).rglob("*.py")):
            inside = path.relative_to(folder_of(package).parent)
            module = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
            found[module] = read_source(path.read_text(), str(path.relative_to(ROOT)), module)
    return found


# Imports -------------------------------------------------------------------------------------------------------------


def import_graph(known: Mapping[str, Source], *kinds: str) -> dict[str, dict[str, int]]:
    """Which modules each module imports, with the line.

    A module that is imported from elsewhere brings the faces (``__init__.py``) of the packages around it, since Python
    runs these first. A file's own packages are under way by then: they count only where the file names them.

    Args:
        known: modules that count.
        kinds: of imports that count.
    """
    graph: dict[str, dict[str, int]] = {}
    for module, source in known.items():
        edges = graph.setdefault(module, {})
        for one in source.imports:
            target = one.file(known)
            if one.kind not in kinds or target not in known:
                continue
            around = [target[: dot.start()] for dot in re.finditer(r"\.", target)]
            for name in (target, *(face for face in around if not f"{module}.".startswith(f"{face}."))):
                if name != module and name in known:
                    edges.setdefault(name, one.line)
    return graph


def cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Sets of two or more nodes that all reach each other, the largest first (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for root in graph:
        work = [] if root in index else [(root, iter(graph[root]))]
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
            for other in rest:
                if other not in index:
                    work.append((other, iter(graph[other])))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    place = stack.index(node)
                    if len(stack) > place + 1:
                        found.append(sorted(stack[place:]))
                    del stack[place:]
    return sorted(found, key=lambda component: (-len(component), component))


def mutual_folders(known: Mapping[str, Source]) -> list[tuple[str, str]]:
    """Pairs of folders each of which has a file that imports one of the other when it is loaded."""
    edges = {
        (str(Path(source.path).parent), str(Path(known[target].path).parent))
        for source in known.values()
        for one in source.imports
        if one.kind == LOADING and (target := one.file(known)) in known
    }
    return sorted((a, b) for a, b in edges if a < b and (b, a) in edges)


def layer(package: str) -> int:
    """Layer of a package, from 0.

    Raises:
        KeyError: it has none.
    """
    for number, names in enumerate(LAYERS):
        if package in names:
            return number
    raise KeyError(f"{package} has no layer: write it into LAYERS of test/ground/structure.py")


def layer_faults(known: Mapping[str, Source]) -> list[str]:
    """Imports that go up or across, of whatever kind, and imports of ROS 2 below the top."""
    faults = []
    own_packages = {source.package for source in known.values()}
    for source in known.values():
        height = layer(source.package)
        for one in source.imports:
            package = one.module.split(".")[0]
            place = f"{source.path}:{one.line} imports {one.module} {one.kind}"
            if package in own_packages and package != source.package and layer(package) >= height:
                faults.append(f"{place}: {'across' if layer(package) == height else 'up'}")
            elif ROS_MODULE.fullmatch(package) and source.package not in (ROS, STUDIES):
                faults.append(f"{place}: ROS 2 is imported by {ROS} only")
    return list(dict.fromkeys(faults))


# Sizes ---------------------------------------------------------------------------------------------------------------


def largest(items: Iterable[Sized]) -> list[Sized]:
    """Functions or classes, the largest first."""
    return sorted(items, key=lambda item: (-item.size, item.path, item.line))


def functions() -> list[Sized]:
    """All functions, the longest argument list first."""
    return largest(function for source in sources().values() for function in source.functions)


def classes() -> list[Sized]:
    """All classes, the largest first."""
    return largest(own for source in sources().values() for own in source.classes)


def files_flat(package: str) -> list[str]:
    """Files right in a package's folder, its face excepted."""
    return sorted(path.name for path in (ROOT / package).glob("*.py") if path.name != "__init__.py")


def sizes() -> dict[str, int]:
    """How large things are, by what they are: what whoever takes the stack over has to read."""
    known = sources().values()
    numbers = {}
    for name in sorted({source.package for source in known}):
        own = [source for source in known if source.package == name]
        numbers[f"lines of {name}"] = sum(source.lines for source in own)
        numbers[f"files of {name}"] = len(own)
    return {
        **numbers,
        "dataclasses": sum(source.dataclasses for source in known),
        "public names": sum(len(source.public) for source in known),
        "folders that import each other": len(mutual_folders(sources())),
        "words of docs": sum(len(path.read_text().split()) for path in (ROOT / "docs").glob("*.md")),
    }


# Types ---------------------------------------------------------------------------------------------------------------


def array_types() -> Mapping[str, Sequence[str]]:
    """Array types that have names: the names with their places, by type."""
    found = defaultdict(list)
    for source in sources().values():
        for name, kind, line in source.array_types:
            found[kind].append(f"{name} at {source.path}:{line}")
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def progress_types(known: Mapping[str, Source]) -> Mapping[str, Sequence[str]]:
    """Types of callbacks that are told how far something is: the parameters and attributes that have them."""
    origin = {
        (source.module, one.own): (one.module, one.name or "") for source in known.values() for one in source.imports
    }
    found = defaultdict(list)
    for source in known.values():
        for name, kind, line in source.progress:
            module, own = source.module, kind
            while (module, own) in origin:
                module, own = origin[module, own]
            meaning = known[module].callbacks.get(own) if module in known else None
            if meaning or kind.startswith("Callable["):
                found[meaning or kind].append(f"{name} at {source.path}:{line}")
    return dict(sorted(found.items()))


# Summary -------------------------------------------------------------------------------------------------------------


def metrics() -> dict[str, int]:
    """Numbers that are to be small, by what they count."""
    known, lists = sources(), functions()
    own = [item.size for item in classes() if item.name == "Simulation"]
    return {
        f"files flat in {ROS}": len(files_flat(ROS)),
        "longest argument list": lists[0].size,
        f"functions above {MAX_ARGUMENTS} arguments": sum(item.size > MAX_ARGUMENTS for item in lists),
        "lines of the largest class": classes()[0].size,
        "lines of the class Simulation": max(own),
        "files in import cycles": sum(map(len, cycles(import_graph(known, LOADING)))),
        "files in cycles, imports in functions too": sum(map(len, cycles(import_graph(known, LOADING, CALL)))),
        "files in cycles, imports for type checkers too": sum(
            map(len, cycles(import_graph(known, LOADING, CALL, CHECK)))
        ),
        "imports up, across or of ROS 2 below the top": len(layer_faults(known)),
        "types of progress callbacks": len(progress_types(known)),
        "array types named once more": sum(len(places) - 1 for places in array_types().values()),
    }


def main() -> None:
    """Print the numbers and what is behind them."""

    def table(title: str, rows: Iterable[object]) -> None:
        print(f"\n{title}")
        for row in [*rows] or ["none"]:
            print(f"  {row}")

    known = sources()
    table(f"Functions above {MAX_ARGUMENTS} arguments", (item for item in functions() if item.size > MAX_ARGUMENTS))
    table("Largest classes by lines", classes()[:10])
    by_lines = sorted(known.values(), key=lambda source: -source.lines)
    table("Largest files by lines", (f"{source.lines:5}  {source.path}" for source in by_lines[:10]))
    for title, kinds in {
        "Import cycles": (LOADING,),
        "Import cycles, imports in functions too": (LOADING, CALL),
        "Import cycles, imports for type checkers too": (LOADING, CALL, CHECK),
    }.items():
        graph = import_graph(known, *kinds)
        rows = []
        for number, cycle in enumerate(cycles(graph), start=1):
            rows += [
                f"{number}: {known[module].path}:{line} imports {name}"
                for module in cycle
                for name, line in sorted(graph[module].items())
                if name in cycle
            ]
        table(title, rows)
    table("Imports up, across or of ROS 2 below the top", layer_faults(known))
    table(
        "Types of progress callbacks",
        (f"{len(places):3}  {kind}, first {places[0]}" for kind, places in progress_types(known).items()),
    )
    table(
        "Names of array types",
        (f"{len(places):3}  {kind}: {', '.join(sorted({place.split()[0] for place in places}))}"
         for kind, places in array_types().items()),
    )  # fmt: skip
    table("Folders that import each other", (" ".join(pair) for pair in mutual_folders(known)))
    product = [source for source in known.values() if source.package != STUDIES]
    print(f"\n{len(product)} files and {sum(source.lines for source in product)} lines without studies\n")
    for name, value in (metrics() | sizes()).items():
        print(f"{value:6}  {name}")


if __name__ == "__main__":
    main()
