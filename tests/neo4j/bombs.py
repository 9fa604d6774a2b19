"""Statements that would end or block a server: what they cost is in time, in memory, or in planning.

Written for a graph like that of ``fill``: a clique of 60, 20,000 nodes with texts, and 2,000 passages with vectors.
"""

from dataclasses import dataclass, field
from typing import Any

FILL = (
    "UNWIND range(1, 60) AS i CREATE (:Dense {i: i})",
    "MATCH (a:Dense), (b:Dense) WHERE a <> b CREATE (a)-[:NEAR {w: a.i * b.i}]->(b)",
    "UNWIND range(1, 20000) AS i CREATE (:Entity {id: 'entity ' + i, name: 'Name ' + i + ' of ' + (i % 97), i: i})",
    "UNWIND range(1, 2000) AS i CREATE (:Chunk {id: 'chunk ' + i, name: 'Passage ' + i, embedding: "
    "[x IN range(1, 64) | sin(x * i)], text: reduce(s = '', x IN range(1, 60) | s + 'word' + (x * i % 991) + ' ')})",
)
"""Statements that write the graph."""

_WIDE = "word " * 180_000
_KEYS = {f"key{i}": i for i in range(60_000)}


@dataclass(frozen=True, slots=True)
class Bomb:
    """``write``: it needs the right to change the graph."""

    name: str
    statement: str
    parameters: dict[str, Any] = field(default_factory=dict)
    write: bool = False


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _many(template: str, number: int, joint: str = ", ") -> str:
    return joint.join(template.replace("#", str(i)) for i in range(number))


def _within(opening: str, inner: str, closing: str, depth: int) -> str:
    return opening * depth + inner + closing * depth


GROWING = (
    Bomb("nested toLower", f"RETURN {_within('toLower(', '$s', ')', 4000)}", {"s": _WIDE}),
    Bomb("split in a loop", "RETURN [x IN split($s, ' ') | split($s, ' ')]", {"s": _WIDE}),
    Bomb("many splits collected", "MATCH (e:Entity) RETURN collect(split($s, ' '))", {"s": _WIDE}),
    Bomb("doubled in reduce", "RETURN reduce(s = 'x', i IN range(1, 40) | s + s)"),
    Bomb("doubled by WITH", "WITH 'xx' AS s " + "WITH s + s AS s " * 60 + "RETURN size(s)"),
    Bomb("growing replace", "RETURN size(replace(replace(replace(replace($s, 'w', $s), 'o', $s), 'r', $s), 'd', $s))",
         {"s": "word " * 2000}),
    Bomb("texts of lists", "WITH range(1, 3000000) AS l RETURN [x IN range(1, 200) | toStringList(l)[x]]"),
    Bomb("a long range", "RETURN size([x IN range(1, 200000000) | x])"),
    Bomb("nested comprehensions", "RETURN [a IN range(1, 3000) | [b IN range(1, 3000) | [c IN range(1, 9) | c]]]"),
    Bomb("a wide projection", "MATCH (e:Entity) RETURN collect(e {" + _many("k#: [e.name, e.name, e.i]", 400) + "})"),
)  # fmt: skip

PRODUCTS = (
    Bomb("products of ranges", "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b UNWIND range(1, 99) AS c "
         "RETURN sum(a * b % 3)"),
    Bomb("everything collected, twice", "MATCH (a) WITH collect(a) AS all MATCH (b) RETURN collect([b, all + [b]])"),
    Bomb("a product in order", "MATCH (a:Entity), (b:Entity) RETURN a.name + b.name AS n ORDER BY n"),
    Bomb("distinct of a product", "MATCH (a:Entity), (b:Entity) RETURN DISTINCT a.name + b.name"),
    Bomb("a product in order, limited", "MATCH (a:Entity), (b:Entity), (c:Entity) RETURN a.i ORDER BY rand() LIMIT 9"),
    Bomb("percentiles of a product", "MATCH (a:Entity), (b:Entity) RETURN percentileCont(a.i * b.i, 0.5)"),
    Bomb("counted in subqueries", "MATCH (a:Entity) WHERE COUNT { MATCH (b:Entity), (c:Entity) WHERE b.i + c.i > a.i } "
         "< 0 RETURN a"),
    Bomb("a call for each", "MATCH (a:Entity) CALL (a) { MATCH (b:Entity), (c:Entity) RETURN sum(b.i * c.i) AS s } "
         "RETURN sum(s)"),
    Bomb("unions of products", _many("MATCH (a:Entity), (b:Entity) RETURN a.i * # + b.i AS n", 20, " UNION ")),
)  # fmt: skip

PATHS = (
    Bomb("any length", "MATCH p = (:Dense {i: 1})-[*]->(:Dense {i: 2}) RETURN count(p)"),
    Bomb("quantified", "MATCH p = (:Dense {i: 1}) (()-[:NEAR]->())+ (:Dense {i: 2}) RETURN count(p)"),
    Bomb(
        "all shortest paths",
        "MATCH (a:Dense), (b:Dense) MATCH p = allShortestPaths((a)-[*..15]->(b)) "
        "WHERE all(n IN nodes(p) WHERE n.i < 0) RETURN count(p)",
    ),
    Bomb("shortest groups", "MATCH p = SHORTEST 9 GROUPS (:Dense)-[:NEAR]->+(:Dense) RETURN count(p)"),
    Bomb("many hops", "MATCH " + "".join(f"(n{i}:Dense)-[:NEAR]->" for i in range(14)) + "(:Dense) RETURN count(*)"),
    Bomb("a pattern comprehension", "MATCH (a:Dense) RETURN [(a)-->()-->()-->()-->(b) | [x IN [(b)-->(c) | c.i] | x]]"),
)

PLANNED = (
    Bomb("brackets", f"RETURN {_within('(', '1', ')', 5000)}"),
    Bomb("cases", f"RETURN {_within('CASE WHEN $x THEN 1 ELSE ', '2', ' END', 1500)}", {"x": False}),
    Bomb("exclusive ors", f"MATCH (e:Entity) WHERE {_many('e.i = #', 200, ' XOR ')} RETURN e"),
    Bomb("ands of ors", f"MATCH (e:Entity) WHERE {_many('(e.i = # OR e.name = $x OR e.id = $x)', 40, ' AND ')} "
         "RETURN e", {"x": "x"}),
    Bomb("a list written out", f"MATCH (e:Entity) WHERE e.i IN [{_many('#', 300_000)}] RETURN e"),
    Bomb("10 MB of a comment", f"/* {'x' * 10_000_000} */ RETURN 1"),
    Bomb("unions", _many("RETURN # AS x", 4000, " UNION ALL ")),
    Bomb("columns", f"MATCH (e:Entity) RETURN {_many('e.p# AS c#', 20_000)}"),
    Bomb("optional matches", "MATCH (a:Dense) " + _many("OPTIONAL MATCH (a)-->(n#)-->(m#)", 200, " ") + " RETURN a"),
    Bomb("calls in calls", f"RETURN 1 AS y UNION {_within('CALL () { ', 'RETURN 1 AS y', ' } RETURN y', 60)}"),
    Bomb("a regular expression", "RETURN $s =~ '(x+x+)+y'", {"s": "x" * 40}),
    Bomb("a long regular expression", "MATCH (e:Entity) WHERE e.name =~ $r RETURN e", {"r": "(a|b|c)*" * 20_000}),
    Bomb("names of labels", f"MATCH (n:{_many('L#', 4000, '|')}) RETURN n"),
    Bomb("combinations of labels", f"MATCH (n:{_many('(A#|B#|C#)', 20, '&')}) RETURN n"),
    Bomb("labels of many nodes", f"MATCH {_many('(n#:(A|B)&(C|D))', 12, '-->')} RETURN *"),
    Bomb("labels that are not", f"MATCH (n) WHERE {_many('NOT (n:A# AND n:B# AND n:C#)', 20, ' AND ')} RETURN n"),
    Bomb("everything planned", f"CYPHER planner=dp MATCH {_many('(c)-->(n#)', 12)} RETURN count(*)"),
    Bomb("a star", f"MATCH {_many('(c)-->(n#:Dense)', 40)} RETURN count(*)"),
    Bomb("a property of properties", f"MATCH (e:Entity) RETURN e.{_many('a', 2400, '.')}"),
)  # fmt: skip

GIVEN = (
    Bomb("a map of 60,000", "RETURN $m", {"m": _KEYS}),
    Bomb("a list of five million", "UNWIND $l AS x RETURN sum(x)", {"l": [1] * 5_000_000}),
    Bomb("60 MB of text", "RETURN size($s)", {"s": "word " * 12_000_000}),
    Bomb("lists in lists, too deep", "RETURN $l", {"l": _nested(20_000)}),
    Bomb("wildcards", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN count(node)",
         {"q": " ".join(f"*{a}{b}*" for a in "aeiouwrd" for b in "abcdefghijklmnopqrstuvwxyz") * 40}),
    Bomb("fuzzy words", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN count(node)",
         {"q": " ".join(f"word{i}~2" for i in range(900))}),
    Bomb("regular expressions of Lucene", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN node",
         {"q": "/(w|o|r|d|1|2|3)*" + "(a|b|w)?" * 12 + "[0-9]{1,900}.*(x|y|z|w){1,800}/"}),
    Bomb("brackets of Lucene", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN count(node)",
         {"q": "(" * 60_000 + "word" + ")" * 60_000}),
    Bomb("all vectors", "MATCH (c:Chunk) CALL db.index.vector.queryNodes('chunk_embedding', 2000000000, c.embedding) "
         "YIELD node RETURN collect(node)"),
    Bomb("many dates", "UNWIND range(1, 100000000) AS x RETURN max(date('2020-01-01') + duration({days: x % 999}) "
         "+ duration.between(date('2020-01-01'), date('2024-01-01')))"),
)  # fmt: skip

WRITTEN = (
    Bomb("nested FOREACH", "FOREACH (a IN range(1, 9000) | FOREACH (b IN range(1, 9000) | FOREACH (c IN range(1, 9) | "
         "CREATE (:Bomb {a: a, b: b, c: c}))))", write=True),
    Bomb("products merged", "MATCH (a:Entity), (b:Entity) MERGE (:Bomb {n: a.i * b.i})", write=True),
    Bomb("a product in transactions", "UNWIND range(1, 100000000) AS x CALL (x) { CREATE (:Bomb {x: x}) } IN "
         "TRANSACTIONS OF 1000000 ROWS", write=True),
    Bomb("deleted and made", "MATCH (a:Dense)-[r]-(b:Dense)-[s]-(c:Dense)-[t]-(d:Dense) CREATE (a)-[:BOMB]->(d)",
         write=True),
    Bomb("10 million labels and types", "UNWIND range(1, 3000000) AS x CREATE (n:$('Bomb' + x))", write=True),
)  # fmt: skip

BOUNDED = (
    Bomb("as many operators as there may be", f"MATCH (e:Entity) WHERE {_many('e.i = # OR e.id = $x', 90, ' AND ')} "
         "RETURN e", {"x": "x"}),
    Bomb("as deep as there may be", f"RETURN {_within('(', _within('toLower(', '$s', ')', 14), ')', 15)} AS x",
         {"s": _WIDE}),
    Bomb("as many columns as there may be", f"MATCH (e:Entity) RETURN {_many('e.p# AS c#', 800)}"),
    Bomb("as many labels as there may be", f"MATCH (n:{_many('L#', 2200, '|')}) RETURN n"),
    Bomb("as many clauses as there may be", "MATCH (a:Dense) " + _many("OPTIONAL MATCH (a)-->(n#)", 55, " ")
         + " RETURN count(*)"),
    Bomb("as many values as there may be", "UNWIND $l AS a UNWIND $l AS b UNWIND $l AS c RETURN collect(a + b + c)",
         {"l": [1] * 90_000}),
    Bomb("ranges as long as there may be, collected", "UNWIND range(1, 10000) AS a UNWIND range(1, 10000) AS b "
         "RETURN collect([a, b])"),
    Bomb("as many copies as there may be", f"WITH split($s, ' ') AS l RETURN {_many('l', 30, ' + ')} AS x",
         {"s": _WIDE}),
    Bomb("as many searches as there may be", "UNWIND $l AS x CALL db.index.fulltext.queryNodes('chunk_text', '*' + x + "
         "'*') YIELD node RETURN count(node)", {"l": ["w"] * 90_000}),
    Bomb("as many words as there may be", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN "
         "count(node)", {"q": "*ord* " + _many("word#", 220, " ") + " *o*r*d* word~2"}),
)  # fmt: skip
"""Just within the bounds for statements of others."""

_BYTES = 900_000
ENDING = (
    Bomb("normal forms", f"RETURN {_many('normalize($s, NFKD) AS c#', 200)}", {"s": "\ufdfa" * (_BYTES // 3)}),
    Bomb("texts cut, in order", "UNWIND range(1, 9000) AS i RETURN i ORDER BY split($s, ' ')", {"s": _WIDE}),
    Bomb("texts cut, in columns", f"RETURN {_many('split($s, $none) AS c#', 300)}",
         {"s": "\xe9" * (_BYTES // 2), "none": ""}),
)  # fmt: skip
"""What no bound keeps from filling the heap: Neo4j does not count it."""

BOMBS = (*GROWING, *PRODUCTS, *PATHS, *PLANNED, *GIVEN, *BOUNDED, *WRITTEN)
