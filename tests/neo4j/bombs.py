"""Statements that would end or block a server: what they cost is in time, in memory, or in planning.

Written for a graph like that of ``fill``: a clique of 60, 20,000 nodes with texts, and 2,000 passages with vectors.
"""

from __future__ import annotations

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
    Bomb("a text joined 3,000 times", f"RETURN size({_many('$s', 3000, ' + ')})", {"s": "x" * 300_000}),
    Bomb("nested toLower", f"RETURN {_within('toLower(', '$s', ')', 4000)}", {"s": _WIDE}),
    Bomb("split in a loop", "RETURN [x IN split($s, ' ') | split($s, ' ')]", {"s": _WIDE}),
    Bomb("many splits in a list", f"RETURN [{_many('split($s, $t)', 400)}]", {"s": _WIDE, "t": " "}),
    Bomb("many splits collected", "MATCH (e:Entity) RETURN collect(split($s, ' '))", {"s": _WIDE}),
    Bomb("doubled in reduce", "RETURN reduce(s = 'x', i IN range(1, 40) | s + s)"),
    Bomb("a list doubled in reduce", "RETURN size(reduce(s = [1], i IN range(1, 40) | s + s))"),
    Bomb("doubled by WITH", "WITH 'xx' AS s " + "WITH s + s AS s " * 60 + "RETURN size(s)"),
    Bomb("a list doubled by WITH", "WITH [1, 2] AS s " + "WITH [s, s] AS s " * 60 + "RETURN s"),
    Bomb("growing replace", "RETURN size(replace(replace(replace(replace($s, 'w', $s), 'o', $s), 'r', $s), 'd', $s))",
         {"s": "word " * 2000}),
    Bomb("replaced by WITH", "WITH $s AS s " + "WITH replace(s, 'w', s) AS s " * 8 + "RETURN size(s)", {"s": "www"}),
    Bomb("texts of lists", "WITH range(1, 3000000) AS l RETURN [x IN range(1, 200) | toStringList(l)[x]]"),
    Bomb("a long range", "RETURN size([x IN range(1, 200000000) | x])"),
    Bomb("a list of long ranges", f"RETURN [{_many('range(1, 30000000)', 20)}]"),
    Bomb("nested comprehensions", "RETURN [a IN range(1, 3000) | [b IN range(1, 3000) | [c IN range(1, 9) | c]]]"),
    Bomb("loops inside of all()", "RETURN all(a IN range(1, 9000) WHERE all(b IN range(1, 9000) WHERE all(c IN "
         "range(1, 90) WHERE a + b + c > 0)))"),
    Bomb("a long reduce", "RETURN reduce(n = 0, x IN range(1, 2000000000) | n + x % 7)"),
    Bomb("a wide projection", "MATCH (e:Entity) RETURN collect(e {" + _many("k#: [e.name, e.name, e.i]", 400) + "})"),
)  # fmt: skip

PRODUCTS = (
    Bomb("products of ranges", "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b UNWIND range(1, 99) AS c "
         "RETURN sum(a * b % 3)"),
    Bomb("a product collected", "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN collect([a, b])"),
    Bomb("everything collected", "MATCH (a), (b) RETURN collect([a, b])"),
    Bomb("everything collected, twice", "MATCH (a) WITH collect(a) AS all MATCH (b) RETURN collect([b, all + [b]])"),
    Bomb("a product in order", "MATCH (a:Entity), (b:Entity) RETURN a.name + b.name AS n ORDER BY n"),
    Bomb("distinct of a product", "MATCH (a:Entity), (b:Entity) RETURN DISTINCT a.name + b.name"),
    Bomb("a product in groups", "MATCH (a:Entity), (b:Entity) RETURN a.name + b.name AS n, count(*)"),
    Bomb("a product by chance", "MATCH (a:Entity), (b:Entity), (c:Entity) WHERE rand() < 0.0000000001 RETURN a, b, c"),
    Bomb("a product in order, limited", "MATCH (a:Entity), (b:Entity), (c:Entity) RETURN a.i ORDER BY rand() LIMIT 9"),
    Bomb("a large limit", "MATCH (a:Entity), (b:Entity) RETURN a, b ORDER BY rand() LIMIT 2000000000"),
    Bomb("percentiles of a product", "MATCH (a:Entity), (b:Entity) RETURN percentileCont(a.i * b.i, 0.5)"),
    Bomb("deviation of a product", "MATCH (a:Entity), (b:Entity), (c:Entity) RETURN stDev(a.i * b.i), stDevP(c.i)"),
    Bomb("a distinct sum", "MATCH (a:Entity), (b:Entity) RETURN sum(DISTINCT a.i * 20001 + b.i)"),
    Bomb("counted in subqueries", "MATCH (a:Entity) WHERE COUNT { MATCH (b:Entity), (c:Entity) WHERE b.i + c.i > a.i } "
         "< 0 RETURN a"),
    Bomb("exists in subqueries", "MATCH (a:Entity) WHERE EXISTS { MATCH (b:Entity), (c:Entity) WHERE b.i + c.i < 0 } "
         "RETURN a"),
    Bomb("collected in subqueries", "MATCH (a:Entity) RETURN a, COLLECT { MATCH (b:Entity) RETURN b.name + a.name }"),
    Bomb("a call for each", "MATCH (a:Entity) CALL (a) { MATCH (b:Entity), (c:Entity) RETURN sum(b.i * c.i) AS s } "
         "RETURN sum(s)"),
    Bomb("unions of products", _many("MATCH (a:Entity), (b:Entity) RETURN a.i * # + b.i AS n", 20, " UNION ")),
)  # fmt: skip

PATHS = (
    Bomb("any length", "MATCH p = (:Dense {i: 1})-[*]->(:Dense {i: 2}) RETURN count(p)"),
    Bomb("any length, collected", "MATCH p = (:Dense)-[*1..9]-(:Dense) RETURN collect(p)"),
    Bomb("quantified", "MATCH p = (:Dense {i: 1}) (()-[:NEAR]->())+ (:Dense {i: 2}) RETURN count(p)"),
    Bomb("quantified, in groups", "MATCH ((a:Dense)-[r:NEAR]->(b:Dense)){1,12} RETURN a, collect(r)"),
    Bomb("quantified, repeated", "MATCH (x:Dense) ((a)-[:NEAR]->(b) WHERE a.i < b.i)* (y:Dense) RETURN count(*)"),
    Bomb(
        "all shortest paths",
        "MATCH (a:Dense), (b:Dense) MATCH p = allShortestPaths((a)-[*..15]->(b)) "
        "WHERE all(n IN nodes(p) WHERE n.i < 0) RETURN count(p)",
    ),
    Bomb(
        "a shortest path that is none",
        "MATCH p = shortestPath((a:Dense {i: 1})-[*]->(b:Dense {i: 2})) WHERE length(p) > 50 RETURN p",
    ),
    Bomb("shortest groups", "MATCH p = SHORTEST 9 GROUPS (:Dense)-[:NEAR]->+(:Dense) RETURN count(p)"),
    Bomb("many hops", "MATCH " + "".join(f"(n{i}:Dense)-[:NEAR]->" for i in range(14)) + "(:Dense) RETURN count(*)"),
    Bomb("a pattern comprehension", "MATCH (a:Dense) RETURN [(a)-->()-->()-->()-->(b) | [x IN [(b)-->(c) | c.i] | x]]"),
)

PLANNED = (
    Bomb("brackets", f"RETURN {_within('(', '1', ')', 5000)}"),
    Bomb("lists in lists", f"RETURN {_within('[', '1', ']', 3000)}"),
    Bomb("cases", f"RETURN {_within('CASE WHEN $x THEN 1 ELSE ', '2', ' END', 1500)}", {"x": False}),
    Bomb("negations", f"RETURN {'NOT ' * 20_000}$x", {"x": True}),
    Bomb("exclusive ors", f"MATCH (e:Entity) WHERE {_many('e.i = #', 200, ' XOR ')} RETURN e"),
    Bomb("ors of ands", f"MATCH (e:Entity) WHERE {_many('(e.i = # AND e.name = $x)', 3000, ' OR ')} RETURN e",
         {"x": "x"}),
    Bomb("ands of ors", f"MATCH (e:Entity) WHERE {_many('(e.i = # OR e.name = $x OR e.id = $x)', 40, ' AND ')} "
         "RETURN e", {"x": "x"}),
    Bomb("ors in exists", "MATCH (a:Entity) WHERE " + _many("EXISTS { (a)-->(:L#) }", 400, " OR ") + " RETURN a"),
    Bomb("a list written out", f"MATCH (e:Entity) WHERE e.i IN [{_many('#', 300_000)}] RETURN e"),
    Bomb("a sum written out", f"RETURN {_many('#', 20_000, ' + ')}"),
    Bomb("texts written out and joined", "RETURN " + " + ".join(["'" + "x" * 900 + "'"] * 1000)),
    Bomb("10 MB of a comment", f"/* {'x' * 10_000_000} */ RETURN 1"),
    Bomb("unions", _many("RETURN # AS x", 4000, " UNION ALL ")),
    Bomb("withs", "WITH 1 AS x " + "WITH x + 1 AS x " * 6000 + "RETURN x"),
    Bomb("columns", f"MATCH (e:Entity) RETURN {_many('e.p# AS c#', 20_000)}"),
    Bomb("matches", _many("MATCH (n#:Entity {i: #})", 300, " ") + " RETURN n1"),
    Bomb("one pattern of many nodes", f"MATCH {_many('(n#)-[r#]-(m#), (m#)--(n0)', 40)} RETURN n0"),
    Bomb("optional matches", "MATCH (a:Dense) " + _many("OPTIONAL MATCH (a)-->(n#)-->(m#)", 200, " ") + " RETURN a"),
    Bomb("calls in calls", f"RETURN 1 AS y UNION {_within('CALL () { ', 'RETURN 1 AS y', ' } RETURN y', 60)}"),
    Bomb("a regular expression", "RETURN $s =~ '(x+x+)+y'", {"s": "x" * 40}),
    Bomb("a long regular expression", "MATCH (e:Entity) WHERE e.name =~ $r RETURN e", {"r": "(a|b|c)*" * 20_000}),
    Bomb("names of labels", f"MATCH (n:{_many('L#', 4000, '|')}) RETURN n"),
    Bomb("types of relations", f"MATCH (a:Dense)-[:{_many('T#', 8000, '|')}*1..5]->(b) RETURN b"),
)  # fmt: skip

GIVEN = (
    Bomb("a map of 60,000", "RETURN $m", {"m": _KEYS}),
    Bomb("a list of five million", "UNWIND $l AS x RETURN sum(x)", {"l": [1] * 5_000_000}),
    Bomb("60 MB of text", "RETURN size($s)", {"s": "word " * 12_000_000}),
    Bomb("lists in lists, given", "RETURN $l", {"l": _nested(900)}),
    Bomb("lists in lists, too deep", "RETURN $l", {"l": _nested(20_000)}),
    Bomb("thousands of parameters", f"RETURN {_many('$p#', 9000, ' + ')}", {f"p{i}": i for i in range(9000)}),
    Bomb("wildcards", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN count(node)",
         {"q": " ".join(f"*{a}{b}*" for a in "aeiouwrd" for b in "abcdefghijklmnopqrstuvwxyz") * 40}),
    Bomb("fuzzy words", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN count(node)",
         {"q": " ".join(f"word{i}~2" for i in range(900))}),
    Bomb("regular expressions of Lucene", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN node",
         {"q": "/(w|o|r|d|1|2|3)*" + "(a|b|w)?" * 12 + "[0-9]{1,900}.*(x|y|z|w){1,800}/"}),
    Bomb("clauses of Lucene", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN count(node)",
         {"q": " OR ".join(f"(word{i} AND (word{i + 1} OR NOT word{i + 2}))" for i in range(30_000))}),
    Bomb("brackets of Lucene", "CALL db.index.fulltext.queryNodes('chunk_text', $q) YIELD node RETURN count(node)",
         {"q": "(" * 60_000 + "word" + ")" * 60_000}),
    Bomb("all vectors", "MATCH (c:Chunk) CALL db.index.vector.queryNodes('chunk_embedding', 2000000000, c.embedding) "
         "YIELD node RETURN collect(node)"),
    Bomb("as many vectors as there may be", "MATCH (c:Chunk) CALL db.index.vector.queryNodes('chunk_embedding', $k, "
         "c.embedding) YIELD node RETURN collect(node)", {"k": 10_000}),
    Bomb("many dates", "UNWIND range(1, 100000000) AS x RETURN max(date('2020-01-01') + duration({days: x % 999}) "
         "+ duration.between(date('2020-01-01'), date('2024-01-01')))"),
    Bomb("many points", "MATCH (a:Entity), (b:Entity) RETURN max(point.distance(point({x: a.i, y: b.i}), "
         "point({x: b.i, y: a.i})))"),
)  # fmt: skip

WRITTEN = (
    Bomb("nested FOREACH", "FOREACH (a IN range(1, 9000) | FOREACH (b IN range(1, 9000) | FOREACH (c IN range(1, 9) | "
         "CREATE (:Bomb {a: a, b: b, c: c}))))", write=True),
    Bomb("products merged", "MATCH (a:Entity), (b:Entity) MERGE (:Bomb {n: a.i * b.i})", write=True),
    Bomb("products joined", "MATCH (a:Entity), (b:Entity) CREATE (a)-[:BOMB {text: a.name + b.name}]->(b)", write=True),
    Bomb("a product in transactions", "UNWIND range(1, 100000000) AS x CALL (x) { CREATE (:Bomb {x: x}) } IN "
         "TRANSACTIONS OF 1000000 ROWS", write=True),
    Bomb("a long property", "MATCH (e:Entity) SET e.bomb = $s", {"s": _WIDE}, write=True),
    Bomb("all set in a loop", "MATCH (a:Entity), (b:Entity) SET a.bomb = b.i, b.bomb = a.name", write=True),
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
    Bomb("as many types as there may be", f"MATCH (a:Dense)-[:{_many('T#', 2000, '|')}*1..5]->(b) RETURN b"),
    Bomb("as many clauses as there may be", "MATCH (a:Dense) " + _many("OPTIONAL MATCH (a)-->(n#)", 55, " ")
         + " RETURN count(*)"),
    Bomb("as many unions as there may be", _many("MATCH (a:Dense)-->(b) RETURN a.i * # + b.i AS x", 20, " UNION ")),
    Bomb("as many values as there may be", "UNWIND $l AS a UNWIND $l AS b UNWIND $l AS c RETURN collect(a + b + c)",
         {"l": [1] * 90_000}),
    Bomb("ranges as long as there may be", "UNWIND range(1, 10000) AS a UNWIND range(1, 10000) AS b "
         "UNWIND range(1, 10000) AS c RETURN sum(a * b % c)"),
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

BOMBS = (*GROWING, *PRODUCTS, *PATHS, *PLANNED, *GIVEN, *BOUNDED, *WRITTEN)
