"""DESIGN §4 and §11, where a machine can judge them, by reading the code and the contracts."""

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets import settings
from lakehouse_assets.definitions import tables

PACKAGE = settings.ROOT / "lakehouse_assets"
TESTS = settings.ROOT / "lakehouse_assets_tests"
LAYERS = ("raw", "staging", "semantic", "analytics", "marts", "metadata")
MAX_FUNCTION, MAX_FILE, MAX_LINE = 40, 250, 100  # lines, lines, characters
# Lines of code: not blank, not comment, not docstring.
CODE_LINES = {"lake": 2_000, "topics": 440, "looks": 250, "orchestration": 900, "landing": 700,
              "serving": 350, "pages": 1_050, "lineage": 900, "upkeep": 150}  # fmt: skip

# Shared by the tables of a layer, none themselves.
HELPERS = {"raw/change.py", "raw/spelled.py", "raw/webhook.py", "staging/clean.py",
           "staging/entries.py", "staging/storefront.py", "staging/vendors.py",
           "semantic/contact.py", "semantic/matching.py", "semantic/shop.py", "semantic/spans.py",
           "semantic/vocabulary.py"}  # fmt: skip
BY_ENTRY = "staging.stg_storefront_"  # DESIGN's one exception: a YAML file tells these tables
# What is over a bound on purpose, with the reason. Empty is best.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}

FILES = sorted(p for top in (PACKAGE, TESTS) for p in top.rglob("*.py"))
CODE = [p for p in FILES if PACKAGE in p.parents]


def short(path: Path) -> str:
    return str(path.relative_to(PACKAGE if PACKAGE in path.parents else settings.ROOT))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def table_files() -> list[Path]:
    found = [p for layer in LAYERS for p in sorted((PACKAGE / layer).glob("*.py"))]
    return [p for p in found if p.name != "__init__.py" and short(p) not in HELPERS]


def engine() -> list[Path]:
    return [p for room in ("lake", "topics", "looks") for p in (PACKAGE / room).glob("*.py")]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def parts_of_us(path: Path) -> set[str]:
    """The subpackages of lakehouse_assets that a file imports from."""
    ours = [n.split(".") for n in imported(path) if n.startswith("lakehouse_assets.")]
    return {names[1] for names in ours}


@pytest.mark.parametrize("path", table_files(), ids=short)
def test_a_table_file_is_named_like_its_table_and_says_what_a_row_is(path: Path) -> None:
    name = f"{path.parent.name}.{path.stem}"
    assert name in tables(), f"{short(path)} defines no table {name}"
    doc = ast.get_docstring(tree(path)) or ""
    assert doc.startswith(f"{name}: one row per "), doc.splitlines()[:1]
    assert len(doc.splitlines()) > 2, "say also why it exists and what it refuses to do"


@pytest.mark.parametrize("path", table_files(), ids=short)
def test_a_table_file_has_its_test_file(path: Path) -> None:
    assert (TESTS / path.parent.name / f"test_{path.name}").exists()


@pytest.mark.parametrize("name", tables())
def test_a_table_has_a_key_and_a_phrase_for_every_column(name: str) -> None:
    contract = tables()[name].contract
    assert contract.key()
    for column, c in contract.columns.items():
        assert len(c.doc) > 5 and c.doc.endswith((".", "…")), f"{name}.{column}: {c.doc!r}"
    file = "staging.storefront_tables" if name.startswith(BY_ENTRY) else name
    ending = "yaml" if file != name else "py"
    assert contract.name == name and (PACKAGE / f"{file.replace('.', '/')}.{ending}").exists()


@pytest.mark.parametrize("name", tables())
def test_instants_end_in_at_dates_in_on_and_money_is_decimal(name: str) -> None:
    # Names of DESIGN or a seed.
    seeds = {"ingest_hour", "last_sync_timestamp", "order_date", "event_date", "window_start",
             "window_end", "commit_timestamp"}  # fmt: skip
    for column, c in tables()[name].contract.columns.items():
        if c.type == "timestamp":
            assert column.endswith("_at") or column in seeds | {"at"}, f"{name}.{column}"
        if c.type == "date":
            assert column.endswith("_on") or column in seeds, f"{name}.{column}"
        if c.type == "boolean":
            assert column.startswith("is_"), f"{name}.{column}"
        if "amount" in column:
            kind = "bigint" if column.endswith("_minor") else "decimal"  # never a float
            assert c.type.startswith(kind), f"{name}.{column}"


def test_a_layer_imports_only_the_layers_before_it() -> None:
    for path in table_files():
        later = set(LAYERS[LAYERS.index(path.parent.name) + 1 :])
        assert not parts_of_us(path) & later, short(path)


def test_sources_know_neither_the_engine_nor_a_table() -> None:
    for path in (PACKAGE / "sources").rglob("*.py"):
        assert not parts_of_us(path) & {"lake", *LAYERS}, short(path)


def test_the_engine_knows_no_table() -> None:
    for path in engine():
        assert not parts_of_us(path) & {*LAYERS, "sources", "definitions"}, short(path)


def test_what_is_left_for_others_is_known_to_nobody_and_knows_no_table() -> None:
    rooms = ("lake", "topics", "looks", "orchestration", "sources", "services", *LAYERS)
    for path in (p for room in rooms for p in (PACKAGE / room).rglob("*.py")):
        assert "landing" not in parts_of_us(path), short(path)
    for path in (PACKAGE / "landing").glob("*.py"):
        assert not parts_of_us(path) & {*LAYERS, "sources", "definitions", "commands"}, short(path)
        knows = "orchestration" in parts_of_us(path) or "dagster" in set(imported(path))
        assert not knows or path.name == "asset.py", short(path)


def test_what_is_served_to_pages_is_known_to_no_table_and_knows_none() -> None:
    rooms = ("lake", "topics", "looks", "orchestration", "sources", "landing", *LAYERS)
    for path in (p for room in rooms for p in (PACKAGE / room).rglob("*.py")):
        assert "serving" not in parts_of_us(path), short(path)
    for path in (PACKAGE / "serving").glob("*.py"):
        assert not parts_of_us(path) & {*LAYERS, "sources", "definitions", "commands"}, short(path)
        knows = "orchestration" in parts_of_us(path) or "dagster" in set(imported(path))
        assert not knows or path.name == "asset.py", short(path)


def test_what_people_look_at_is_known_to_nobody_but_the_commands_and_starts_no_spark() -> None:
    for path in (p for p in CODE if p.parent.name not in ("pages", "commands", "services")):
        assert "pages" not in parts_of_us(path), short(path)
    for path in (PACKAGE / "pages").glob("*.py"):
        names = set(imported(path))
        assert not [n for n in names if n.startswith("pyspark") or n.endswith("lake.lake")], path


def test_the_engine_does_not_know_dagster() -> None:
    for path in engine():
        assert "orchestration" not in parts_of_us(path), short(path)
        assert not [n for n in imported(path) if n.startswith("dagster")], short(path)


@pytest.mark.parametrize(("room", "bound"), CODE_LINES.items())
def test_the_engine_is_small(room: str, bound: int) -> None:
    counts = {p.name: code_lines(p) for p in sorted((PACKAGE / room).glob("*.py"))}
    assert sum(counts.values()) <= bound, counts


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank lines, no comments, no docstrings."""
    text = path.read_text()
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
               tokenize.ENDMARKER, tokenize.ENCODING)  # fmt: skip
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    held = {n for t in tokens if t.type not in skipped for n in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(tree(path)):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if documented and ast.get_docstring(node):
            held -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(held)


def test_files_functions_and_lines_are_short() -> None:
    over: list[str] = []
    for path in FILES:
        lines = path.read_text().splitlines()
        if len(lines) > MAX_FILE and short(path) not in LONG_FILES:
            over.append(f"{short(path)}: {len(lines)} lines")
        over += [
            f"{short(path)}:{n}: {len(line)} characters"
            for n, line in enumerate(lines, 1)
            if len(line) > MAX_LINE and "# noqa: E501" not in line
        ]
        over += [f"{short(path)}: {long}" for long in long_functions(path)]
    assert not over, f"{len(over)} over their bound:\n" + "\n".join(over)


def long_functions(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION and f"{short(path)}:{node.name}" not in LONG_FUNCTIONS:
                yield f"{node.name} has {length} lines"


def test_dagster_sees_real_annotations() -> None:
    for path in CODE:
        names = set(imported(path))
        if any(n == "dagster" or n.startswith("dagster.") for n in names):
            assert "__future__.annotations" not in names, short(path)


def test_every_module_and_layer_says_what_it_is_for() -> None:
    silent = [short(p) for p in CODE if not ast.get_docstring(tree(p))]
    assert not silent


def test_no_join_is_implicit_and_nothing_is_hidden_by_distinct() -> None:
    for path in table_files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                named = {k.arg for k in node.keywords}
                assert node.func.attr not in ("distinct", "dropDuplicates"), short(path)
                dataframes = node.func.attr == "join" and len(node.args) > 1
                assert not dataframes or "how" in named, f"{short(path)}:{node.lineno}: how="
