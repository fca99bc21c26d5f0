"""Spark's analyzed plan as text, read back: of what leaves each output column is made.

Every attribute of a plan has a number of its own (`amount#12`), so a column is followed through
renamings, joins and unions without guessing by name. What is read is the tree and, of each node,
what it gives under which number. By what rows are chosen, joined or grouped is no part of it.
"""

import re
from dataclasses import dataclass, field

Sources = frozenset["Source"]
# Of each attribute, by its number, and of each part of one that was put together here.
Known = dict[int | tuple[int, str], Sources]

LEAF = "made_of_"  # and a name: the alias of a frame whose columns are to be followed
_LINE = re.compile(r"^((?:[: ] {2})*)(?:[:+]- )?(.*)$")
_NUMBER = re.compile(r"#(\d+)L?\b")
_END = re.compile(r"#\d+L?(?=, |$)")  # of an item of a list
_NAMED = re.compile(r"^(?P<made>.*) AS (?P<name>[^#]*)#(?P<number>\d+)L?$")
_ATTRIBUTE = re.compile(r"^(?P<name>[^#,]*)#(?P<number>\d+)L?$")
_CAST = re.compile(r"^(?:try_)?cast\(([^()]*#\d+L?) as [^)]*\)?\)$")
_CHOSEN = r"^(?:(?:max|min|first|last|any_value|max_by|min_by)\()?"  # of several, or the only one
_TOGETHER = re.compile(_CHOSEN + r"(?:named_)?struct\(")
_AGAIN = re.compile(_CHOSEN + r"[^#()]*#(\d+)L?(?:$|[,)])")
# Of what is put together: a name and a column, or else whatever stands before the next such pair.
_MEMBER = re.compile(r"(\w+), ([^,()]*#\d+L?)(?=, |\))")
_RECKONED = re.compile(r"(\w+), (.+?)(?=, \w+, [^,()]*#\d+L?(?:, |\)))")
_LITERAL = re.compile(r"^([^()]+|cast\(null as [^()]*\))$")
_PART = re.compile(r"^[^#()]*#(\d+)L?\.`?(\w+)`?$")
_ONE_SIDE = re.compile(r"^(LeftSemi|LeftAnti|ExistenceJoin)")


class NotUnderstood(ValueError):
    """A plan of which it cannot be told what its columns are made of."""


@dataclass(frozen=True, order=True)
class Source:
    """A column of a frame; `is_same`: the value itself, or cast to another type. Without a column:
    a literal, that rows made of this frame bear and others of the same union may not.
    """

    frame: str
    column: str
    is_same: bool
    literal: str = ""


@dataclass
class Node:
    kind: str
    rest: str
    children: "list[Node]" = field(default_factory=list)


Made = dict[str, Sources]  # by a frame's column


def sources(explained: str, cuts: dict[str, Made] | None = None) -> Made:
    """By output column, of what an extended explanation of a plan says that it is made. `cuts`:
    frames that stand for what is known already, by the names of their leaves.
    """
    root = _tree(explained.split("== Analyzed Logical Plan ==")[1].split("\n== ")[0])
    outputs, known = _read(root, "", cuts or {})
    if missing := [name for name, number in outputs if number not in known]:
        raise NotUnderstood(f"no node of the plan gives {missing[0]}; it begins {root.kind}")
    return {name: known[number] for name, number in outputs}


def _tree(text: str) -> Node:
    """The first line tells the output's types; nodes follow, three places further in a level."""
    above: list[Node] = []
    for line in text.strip().splitlines()[1:]:
        if match := _LINE.match(line):
            begin = len(line) - len(match[2])
            kind, _, rest = match[2].partition(" ")
            node = Node(kind, rest)
            del above[begin // 3 :]
            if above:
                above[-1].children.append(node)
            above.append(node)
    return above[0]


Outputs = list[tuple[str, int]]  # names and numbers, in their order


def _read(node: Node, leaf: str, cuts: dict[str, Made]) -> tuple[Outputs, Known]:
    """What a node gives, and of what that is made."""
    if node.kind == "SubqueryAlias" and node.rest.startswith(LEAF):
        leaf = node.rest.strip().removeprefix(LEAF)
    parts = [_read(child, leaf, cuts) for child in node.children]
    if not parts:
        return _of_leaf(node, leaf, cuts.get(leaf))
    if node.kind == "Union":
        return _of_union(parts)
    inner = parts if node.kind == "Join" else parts[-1:]  # of others: subqueries come first
    known = {number: made for _, one in parts for number, made in one.items()}
    outputs = [one for given, _ in inner for one in given]
    if node.kind == "Join" and _ONE_SIDE.match(node.rest):
        outputs = inner[0][0]
    if node.kind in ("Project", "Aggregate"):
        outputs = _given(node, known)
    elif node.kind == "Expand":
        outputs = _expanded(node, known)
    elif node.kind in ("Window", "Generate"):
        outputs = [*outputs, *_given(node, known)]
    return outputs, known


def _of_leaf(node: Node, leaf: str, cut: Made | None) -> tuple[Outputs, Known]:
    listed = node.rest.partition("[")[2].removesuffix("]")
    outputs = [(one["name"], int(one["number"])) for one in map(_ATTRIBUTE.match, _items(listed))
               if one]  # fmt: skip
    known: Known = {}
    for name, number in outputs:
        known[number] = frozenset({Source(leaf, name, True)} if leaf else {})
        if cut is not None:
            known[number] = cut[name]
    return outputs, known


def _of_union(parts: list[tuple[Outputs, Known]]) -> tuple[Outputs, Known]:
    """Column by column of all parts, under the first one's numbers."""
    outputs = parts[0][0]
    frames = [{s.frame for one in made.values() for s in one if s.column} for _, made in parts]
    known: Known = {}
    for place, (_, number) in enumerate(outputs):
        every = [made.get(given[place][1], frozenset()) for given, made in parts]
        known[number] = frozenset(
            Source(name, "", False, s.literal) if s.literal and not s.frame else s
            for one, theirs in zip(every, frames, strict=True)
            for s in one
            for name in (theirs if s.literal and not s.frame else [s.frame])
        )
    return outputs, known


def _given(node: Node, known: Known) -> Outputs:
    """What a node gives of its own; `known` comes to know of it."""
    if node.kind == "Generate":
        generator, _, listed = node.rest.rpartition("[")
        items = _items(listed.removesuffix("]"))
        made = _made_of(generator, known)
    elif node.kind == "Aggregate":
        _, groups, of_groups = node.rest.partition("], [")  # of all rows together there are none
        items = _items((of_groups if groups else node.rest[1:]).removesuffix("]"))
    elif node.kind == "Window":
        items = _items(node.rest.partition("], [")[0].removeprefix("["))
    else:
        items = _items(node.rest.removeprefix("[").removesuffix("]"))
    outputs: Outputs = []
    for item in items:
        named = _NAMED.match(item) or _ATTRIBUTE.match(item)
        if not named:
            raise NotUnderstood(f"{node.kind} gives {item[:200]}, which has no number")
        number = int(named["number"])
        if node.kind == "Generate":
            known[number] = made
        elif "made" in named.groupdict():
            known[number] = _of(named["made"], known)
            known |= {(number, part): s for part, s in _together(named["made"], known).items()}
        outputs.append((named["name"], number))
    return outputs


def _expanded(node: Node, known: Known) -> Outputs:
    """Several rows of each one, told one after the other, and then their columns."""
    told, _, listed = node.rest.rpartition("], [")
    outputs = [(i.rpartition("#")[0], int(_NUMBER.findall(i)[-1]))
               for i in _items(listed.removesuffix("]"))]  # fmt: skip
    rows = [row.split(", ") for row in told.strip("[]").split("], [")]
    given = {number: known.get(number) for _, number in outputs}
    for place, (_, number) in enumerate(outputs):
        parts = [row[place] if len(row) == len(outputs) else ", ".join(row) for row in rows]
        known[number] = given[number] or frozenset().union(*(_of(part, known) for part in parts))
    return outputs


def _of(made: str, known: Known) -> Sources:
    """A value is made of values: of which rows, a window's columns decide as a filter's do."""
    made = made.partition(" windowspecdefinition(")[0]
    inner = made.strip()
    if "#" not in inner:
        return frozenset({Source("", "", False, inner)} if _LITERAL.match(inner) else {})
    while cast := _CAST.match(inner):
        inner = cast[1]
    part = _PART.match(inner)
    if part and (int(part[1]), part[2]) in known:
        return known[int(part[1]), part[2]]
    if attribute := _ATTRIBUTE.match(inner):
        return known.get(int(attribute["number"]), frozenset())
    return _made_of(made, known)


def _together(made: str, known: Known) -> dict[str, Sources]:
    """The parts of values that are put together, or were; of several such, one may be taken."""
    if again := _AGAIN.match(made):
        return {k[1]: s for k, s in known.items() if isinstance(k, tuple) and k[0] == int(again[1])}
    found: dict[str, Sources] = {}
    if begin := _TOGETHER.match(made):
        at = begin.end()
        while member := _MEMBER.match(made, at) or _RECKONED.match(made, at):
            found[member[1]] = _of(member[2], known)
            if made[member.end()] == ")":
                return found
            at = member.end() + 2
    return {}


def _made_of(text: str, known: Known) -> Sources:
    found = [known.get(int(number), frozenset()) for number in _NUMBER.findall(text)]
    return frozenset(Source(s.frame, s.column, False) for one in found for s in one if s.column)


def _items(text: str) -> list[str]:
    """A list's items: attributes, or expressions with the name and number that they are given.
    Brackets are no help: those in texts are not told from others.
    """
    items, begin = [], 0
    for end in _END.finditer(text):
        item = text[begin : end.end()]
        is_whole = _ATTRIBUTE.match(item) and item.count("(") == item.count(")")
        if is_whole or _NAMED.match(item):
            items.append(item)
            begin = end.end() + 2
    return items
