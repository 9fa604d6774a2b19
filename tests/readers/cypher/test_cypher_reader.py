"""The reader ``cypher``: what it shows a model of the graph, what it lets a statement do, and what its answers cite."""

import json
import os.path
import re
from dataclasses import replace
from typing import Any

import pytest
from conftest import EXAMPLES
from cypher_runs import QUESTION, asked, cited_words, named, said, statement
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.statement_guard import why_refused
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.cypher.reader import NOT_RUN
from kgplatform.testing import ScriptedChat
from kgplatform.text import count_tokens

FOUNDERS = "MATCH (p:Person)-[r:FOUNDED]->(o:Organization {name: $name}) RETURN p.name AS name, r.fact AS sources"
COMPANY = {"name": "Atlantic Telegraph Company"}


@pytest.fixture(scope="module")
def graph(shared_kg: KnowledgeGraph) -> KnowledgeGraph:
    """The sample corpus, which no test here may change."""
    shared_kg.ingest(EXAMPLES / "corpus", recorded=EXAMPLES / "extraction.jsonl")
    return shared_kg


def test_rows_with_the_ids_of_facts_are_cited_to_the_character(graph: KnowledgeGraph) -> None:
    done, chat = asked(graph, statement(FOUNDERS, **COMPANY), said("Cyrus Field founded it [1]."))
    (rows,) = [run for step in named(done, "run") for run in step.queries]
    assert (rows.statement, rows.parameters) == (FOUNDERS, COMPANY)
    assert (done.text or "").startswith("Cyrus Field founded it [1]")
    fact = done.evidence.facts[0]
    assert replace(done.citations[0], text="") in fact.citations
    assert done.citations[0].text == " ".join(cited_words(graph, done)[0].split())
    assert done.statements[0].citations == (1,)
    assert all(each.found for each in done.citations)
    assert "Cyrus Field" in cited_words(graph, done)[0]
    assert FOUNDERS in done.note
    assert "$name = 'Atlantic Telegraph Company'" in done.note
    (traced,) = named(done, "trace back")
    assert traced.facts == tuple(each.id for each in done.evidence.facts)
    assert set(traced.passages) == {each.id for each in done.evidence.passages} >= {done.citations[0].passage}
    shown = chat.calls[1].messages[1]["content"]
    assert ":\nname\n[1.1] " in shown
    assert fact.id not in shown, "ids are of no use to a model"


@pytest.mark.parametrize("returns", ["p.name AS name", "{who: p.name, what: [o]} AS found", "p.id, o.id", "path"])
def test_rows_without_ids_are_traced_back_by_what_they_name(graph: KnowledgeGraph, returns: str) -> None:
    text = f"MATCH path = (p:Person)-[r:FOUNDED]->(o:Organization {{name: $name}}) RETURN {returns} ORDER BY p.name"
    done, _ = asked(graph, statement(text, **COMPANY), said("Cyrus Field and others founded it [1]."))
    assert done.evidence.facts
    assert all("founded" in each.text for each in done.evidence.facts)
    assert done.citations
    assert replace(done.citations[0], text="") in [place for fact in done.evidence.facts for place in fact.citations]


def test_marks_of_rows_that_are_not_there_are_taken_out(graph: KnowledgeGraph) -> None:
    done, _ = asked(graph, statement(FOUNDERS, **COMPANY), said("Cyrus Field [1.1][1.77] founded it [99]."))
    assert "77" not in (done.text or "77")
    assert "99" not in (done.text or "99")
    assert len(done.citations) == 1
    assert "2 of the model's citations were left out" in done.note


def test_a_count_stands_on_its_statement(graph: KnowledgeGraph) -> None:
    text = "MATCH (p:Person) RETURN count(p) AS number"
    number = graph.cypher(text).rows[0][0]
    done, _ = asked(graph, statement(text), said(f"There are {number} of them [1]."), question="How many people?")
    assert done.text == f"There are {number} of them."
    assert done.citations == ()
    assert text in done.note


def test_a_count_with_the_ids_of_its_facts_is_cited(graph: KnowledgeGraph) -> None:
    text = "MATCH (:Person)-[r:FOUNDED]->(:Organization) RETURN count(r) AS number, collect(r.fact)[..20] AS sources"
    number = graph.cypher(text).rows[0][0]
    done, _ = asked(graph, statement(text), said(f"{number} times [1]."), question="How often was one founded?")
    assert 1 < len(done.citations) <= 3
    assert done.text == f"{number} times {''.join(f'[{n}]' for n, _ in enumerate(done.citations, 1))}."


def test_no_row_is_no_answer(graph: KnowledgeGraph) -> None:
    nobody = statement(FOUNDERS, name="Acme")
    other = statement(FOUNDERS, name="Acme Company")
    done, chat = asked(graph, nobody, other)
    assert done.text == REFUSAL
    assert "The graph does not say" in done.note
    assert "found nothing" in chat.calls[1].messages[-1]["content"]
    done, _ = asked(graph, nobody, other, said("Bell did.", sufficient=False), mode="open")
    assert (done.text, done.citations) == ("Bell did.", ())
    assert done.note.startswith(OWN_KNOWLEDGE)


def test_rows_that_do_not_answer(graph: KnowledgeGraph) -> None:
    found = statement(FOUNDERS, **COMPANY)
    done, _ = asked(graph, found, said("", sufficient=False))
    assert (done.text, done.sufficient) == (REFUSAL, False)
    assert done.note.startswith("The language model found no answer in what it read. 4 rows of the statement: ")
    done, _ = asked(graph, found, said("Bell did.", sufficient=False), mode="open")
    assert done.text == "Bell did."
    assert done.note.startswith(OWN_KNOWLEDGE)


def test_the_model_sees_what_is_in_the_graph_now(graph: KnowledgeGraph) -> None:
    _, chat = asked(graph, statement(FOUNDERS, **COMPANY), said("Cyrus Field [1]."))
    system, user = (each["content"] for each in chat.calls[0].messages)
    people = graph.cypher("MATCH (p:Person) RETURN count(p)").rows[0][0]
    founded = graph.cypher("MATCH (:Person)-[r:FOUNDED]->(:Organization) RETURN count(r)").rows[0][0]
    assert f"Person {people} (" in user
    assert f"FOUNDED: Person -> Organization {founded}, " in user
    assert "birth date 10 (" in user
    assert (
        "Atlantic Telegraph Company (Organization)\n(a:Person)-[r:FOUNDED]-(b:Organization {name: $name}) 4\n" in user
    )
    assert "Western Telegraph Company (Organization)\nSubmarine" in user, "relations of what is named alone"
    assert "$name" in system, "the examples have parameters"
    assert "MATCH (a:Place)-[r:LOCATED_IN]->(b:Place)" in system, "an example is of what there is most of"
    assert "MEMBER_OF" not in user
    assert count_tokens(system) + count_tokens(user) < 1700


def test_the_schema_is_read_again_only_after_a_change(graph: KnowledgeGraph) -> None:
    found = (statement(FOUNDERS, **COMPANY), said("Cyrus Field [1]."))
    asked(graph, *found)
    again, _ = asked(graph, *found)
    (look,) = named(again, "look")
    assert [run.name for run in look.queries] == ["search/graph_counts", "search/names_meant"]


def test_names_that_are_nearly_meant_are_shown(graph: KnowledgeGraph) -> None:
    _, chat = asked(graph, statement("RETURN 'Morse' AS a"), said("Morse."), question="Who was professor Morse?")
    assert "Samuel Morse (Person)" in chat.calls[0].messages[1]["content"]


def test_relations_are_told_with_a_direction_where_labels_do_not_tell_it(graph: KnowledgeGraph) -> None:
    asks = statement("RETURN 1 AS a"), said("One.")
    _, chat = asked(graph, *asks, question="Which siblings did Cyrus Field have, and what did he found?")
    user = chat.calls[0].messages[1]["content"]
    patterns = re.findall(r"^(.*-\[r:.*) (\d+)$", user, re.MULTILINE)
    assert ("(a:Person)-[r:SIBLING_OF]->(b:Person {name: $name})", "2") in patterns
    assert ("(a:Organization)-[r:FOUNDED]-(b:Person {name: $name})", "2") in patterns
    for pattern, number in patterns:
        found = graph.cypher(f"MATCH {pattern} RETURN count(r)", {"name": "Cyrus Field"}).rows
        assert found == [[int(number)]], pattern


def test_an_answer_from_one_row_rests_on_it(graph: KnowledgeGraph) -> None:
    text = FOUNDERS.replace("p.name AS name, r.fact", "count(DISTINCT p) AS number, collect(r.fact)")
    done, _ = asked(graph, statement(text, **COMPANY), said("Four [2.1]."))
    assert "[1]" in (done.text or "")
    assert done.citations


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("MATCH (p:Persn)-[r:FOUNDED]->(o) RETURN p.name", "The label `Persn` does not exist. Did you mean Person?"),
        ("MATCH (p:Person)-[r:FOUNDEDD]->(o) RETURN p.name", "type `FOUNDEDD` does not exist. Did you mean FOUNDED?"),
        ("MATCH (p:Person) RETURN p.birthplace", "The property `birthplace` does not exist."),
        ("MATCH (p:Person RETURN p", "Your statement cannot be run: Neo4j cannot run the statement: Invalid input"),
        ("MATCH (p:Person {name: $who}) RETURN p", "Expected parameter(s): who"),
        ("MATCH (p:Person {name: 'Nobody'}) RETURN p", "Your statement ran and found nothing."),
        ("MATCH (p:Person {name: 'Nobody'}) RETURN count(p) AS number", "Your statement ran and found nothing."),
    ],
)
def test_a_statement_is_repaired_once_with_what_is_wrong(graph: KnowledgeGraph, wrong: str, complaint: str) -> None:
    done, chat = asked(graph, statement(wrong), statement(FOUNDERS, **COMPANY), said("Cyrus Field [1]."))
    assert complaint in chat.calls[1].messages[-1]["content"]
    assert wrong in chat.calls[1].messages[-1]["content"]
    first, second = (call.messages[1]["content"] for call in chat.calls[:2])
    assert second.startswith(first), "the prompt begins as the first one"
    assert len(chat.calls[1].messages) == 2, "the statement does not stand as a reply, which would be repeated"
    assert done.citations
    assert [step.name for step in done.trace if step.prompt] == ["write", "repair", "answer"]


PARAMETERS = {"name": "Cyrus Field", "first": "Cyrus Field", "second": "Frederic Gisborne"}


def test_each_example_of_the_prompt_runs(graph: KnowledgeGraph) -> None:
    _, chat = asked(graph, statement(FOUNDERS, **COMPANY), said("Cyrus Field [1]."))
    examples = re.findall(r"^- [^:]+: (MATCH \(.+)$", chat.calls[0].messages[0]["content"], re.MULTILINE)
    assert len(examples) == 8
    for example in examples:
        given = {name: value for name, value in PARAMETERS.items() if f"${name}" in example}
        assert graph.cypher(example, given, guarded=True).columns[-1] == "sources"


def test_prompts_and_replies_fit_into_a_small_window(graph: KnowledgeGraph) -> None:
    every = "MATCH (f:Fact) RETURN f.text AS fact, f.id AS sources ORDER BY f.text"
    chat = ScriptedChat([statement(every), said("Much is told [1].")])
    small = graph.settings.model_copy(update={"context_tokens": 4096})
    KnowledgeGraph(graph.store, small, embedder=graph.embedder, chat=chat).ask("What is told?", "cypher", rows=1000)
    for call in chat.calls:
        assert sum(count_tokens(each["content"]) for each in call.messages) + (call.wanted.tokens or 0) <= 4096


def test_a_statement_that_comes_back_unchanged_is_not_run_again(graph: KnowledgeGraph) -> None:
    nobody = statement(FOUNDERS, name="Acme")
    done, chat = asked(graph, nobody, nobody, statement(FOUNDERS, **COMPANY), said("Cyrus Field [1]."), repairs=2)
    assert "the same as before" in chat.calls[2].messages[-1]["content"]
    assert [bool(step.queries) for step in named(done, "run")] == [True, False, True]
    assert done.citations
    ended, _ = asked(graph, nobody, nobody)
    assert (ended.text, ended.note.partition(":")[0]) == (REFUSAL, "The graph does not say")
    broken = statement("MATCH (p:Person RETURN p")
    failed, _ = asked(graph, broken, broken)
    assert failed.text == NOT_RUN
    assert "Invalid input" in failed.note


def test_questions_about_one_graph_share_the_beginning_of_their_prompts(graph: KnowledgeGraph) -> None:
    starts = []
    for question in (QUESTION, "Where was Samuel Morse born?"):
        _, chat = asked(graph, statement(FOUNDERS, **COMPANY), said("Cyrus Field [1]."), question=question)
        starts.append("".join(each["content"] for each in chat.calls[0].messages))
    shared = len(os.path.commonprefix(starts))
    assert shared > 0.85 * min(map(len, starts))
    assert all(start.rstrip().endswith(">") and start.rindex("Question: ") > shared for start in starts)


def test_rows_are_kept_where_the_repair_is_worse(graph: KnowledgeGraph) -> None:
    half = "MATCH (p:Person)-[r:FOUNDED]->(o {name: $name}) RETURN p.name AS name, p.birthplace, r.fact AS sources"
    done, _ = asked(graph, statement(half, **COMPANY), statement("MATCH"), said("Cyrus Field [1]."))
    assert half in done.note
    assert done.citations


@pytest.mark.parametrize("dressed", ["```cypher\n{}\n```", "  {} ;\n"])
def test_what_models_put_round_a_statement(graph: KnowledgeGraph, dressed: str) -> None:
    done, _ = asked(graph, statement(dressed.format(FOUNDERS), **COMPANY), said("Cyrus Field [1]."), repairs=0)
    assert done.citations


def test_a_reply_may_leave_out_parameters_and_numbers_and_name_its_evidence_apart(graph: KnowledgeGraph) -> None:
    """The first as SmolLM2-135M writes it."""
    text = "MATCH (p:Person)-[:FOUNDED]->(o {name: 'Atlantic Telegraph Company'}) RETURN p.name, o.name ORDER BY p.name"
    reply = json.dumps({"evidence": ["1.1"], "answer": "It was Cyrus Field, with others.", "sufficient": True})
    done, _ = asked(graph, json.dumps({"statement": text}), reply)
    assert (done.text or "").startswith("It was Cyrus Field, with others [1]")
    assert done.citations


ATTACKS = [
    "RETURN 1 AS a // \nUNION MATCH (n) DETACH DELETE n RETURN 1 AS a",
    "/* RETURN 1 */ MATCH (n) /* only reads */ DETACH /**/ DELETE n",
    "CALL dbms.listConfig() YIELD name, value RETURN name, value",
    "CALL \\u0064bms.listConfig() YIELD name RETURN name",
    "CALL db.index.vector.createNodeIndex('x', 'Chunk', 'y', 4, 'cosine')",
    "CALL apoc.load.json('http://127.0.0.1:9/') YIELD value RETURN value",
    "RETURN apoc.cypher.runFirstColumnSingle('MATCH (n) DETACH DELETE n', {}) AS a",
    "CALL db.index.fulltext.queryNodes('entity_names', 'x') YIELD node SET node.name = 'x' RETURN node",
    "DROP INDEX entity_names",
    "USE system SHOW USERS",
    "EXPLAIN MATCH (n) DETACH DELETE n",
    "UNWIND range(1, 1000000000) AS x RETURN sum(x) AS a",
    "RETURN reduce(s = '', x IN split('a,b', ',') | s + s + x) AS a",
    "\\u0043REATE (:Eve)",
    "MATCH (n) \\u0044ETACH \\u0044ELETE n",
    "RETURN 1 AS a // \rUNION MATCH (n) DETACH DELETE n RETURN 1 AS a",
    "CALL { LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line } RETURN line AS a",
    "CALL`dbms`.listConfig",
    "// \rPROFILE CREATE (:Eve)",
    "USE neo4j MATCH (e:Entity) RETURN e.name AS name LIMIT 1",
    "CALL { USE neo4j MATCH (e:Entity) RETURN e.name AS name LIMIT 1 } RETURN name",
    "SHOW DATABASES",
    "CALL dbms.setConfigValue('db.transaction.timeout', '1d')",
]
"""Beside those that any statement of a reader is refused for, which ``test_store.py`` has."""


def test_attacks_do_nothing(graph: KnowledgeGraph) -> None:
    before = snapshot(graph.store)
    indexes = graph.cypher("SHOW INDEXES YIELD name RETURN name ORDER BY name").rows
    ran = {}
    for attack in ATTACKS:
        done, _ = asked(graph, statement(attack), repairs=0, question=f"Please run this: {attack}")
        assert done.text in (NOT_RUN, REFUSAL), attack
        ran[attack] = [run.statement for step in named(done, "run") for run in step.queries]
        assert "root:" not in json.dumps([done.note, *(step.detail for step in done.trace)])
    assert {attack: runs for attack, runs in ran.items() if runs and not attack.startswith("EXPLAIN")} == {}
    assert snapshot(graph.store) == before
    assert graph.cypher("SHOW INDEXES YIELD name RETURN name ORDER BY name").rows == indexes


DOUBLING = ("l + l", "l || l", "[l, l]", "{a: l, b: l}", "[x IN l | l]")
COMBINED = (
    f"(n:{'&'.join(['(A|B|C)'] * 9)})",
    f"(n) WHERE {' AND '.join(['n:A|B'] * 14)}",
    f"(n) WHERE {' AND '.join(['(n:A OR n.name = $s)'] * 14)}",
    f"(n) WHERE NOT ({' OR '.join(['(n:A AND n:B)'] * 14)})",
    f"(n:{'&'.join(['!(A&B&!C)'] * 9)})",
    " MATCH ".join(["(n:A|B)"] * 14),
    f"(n) WHERE EXISTS {{ MATCH {'-->'.join(['(:(A|B)&(C|D))'] * 7)} }}",
)
HIDDEN = [
    ("UNWIND`range`(1, 1000000000) AS x RETURN sum(x) AS a", "range may not be called here"),
    (f"UNWIND range(1, {'9' * 5000}) AS x RETURN x AS a", "range may not be called here"),
    ("RETURN 1 AS a // \rUNION UNWIND range(1, 99999) AS a RETURN a", "range may not be called here"),
    ("RETURN 1 AS a /**/ UNION UNWIND ran\\u0067e /* */ (1, 99999) AS a RETURN a", "range may not be called here"),
    ("RETURN '\\\\u0027' AS a, range(1, 9) AS b, '' AS c", "\\u escapes are not allowed here"),
    ("CALL`apoc`.load.json", "apoc.load.json may not be called here."),
    ("CALL apoc /* */ . // \r load . `json`", "apoc.load.json may not be called here."),
    ("RETURN 'a' =~ '(.*a){25}b' AS a", "Regular expressions (=~) may not be used here"),
    ("RETURN all(a IN $l WHERE any(b IN $l WHERE a = b)) AS a", "Nested loops over lists are not allowed"),
    ("RETURN [a IN $l | size([b IN $l | a])] AS a", "Nested loops over lists are not allowed"),
    ("RETURN replace(replace($s, 'a', $s), 'a', $s) AS a", "replace may not be called here."),
    (f"RETURN {'(' * 1000}1{')' * 1000} AS a", "nested too deeply"),
    (f"RETURN {'COUNT { RETURN ' * 40}1 AS x{' } AS x' * 40}", "nested too deeply"),
    (f"MATCH (e:Entity) WHERE {' XOR '.join(['e.name = $s'] * 30)} RETURN e", "The statement has too many XORs."),
    ("EXPLAIN CYPHER planner=dp MATCH (a)-->(b) RETURN a", "Options of the planner"),
    *((f"MATCH {many} RETURN n", "combined in more than 10,000 ways") for many in COMBINED),
    *(
        (f"WITH $l AS l {f'WITH {each} AS l ' * 27} RETURN all(x IN l WHERE x > 0) AS a", "too often")
        for each in DOUBLING
    ),
    (f"WITH $l AS ends {'WITH ends + ends AS ends ' * 27} RETURN size(ends) AS a", "too often"),
    (f"WITH $l AS limit {'WITH limit + limit AS limit ' * 27} RETURN size(limit) AS a", "too often"),
    (f"WITH $l AS l {'CALL (l) { RETURN l + l AS m } WITH m AS l ' * 19} RETURN size(l) AS a", "too often"),
]
"""Statements that read, and whose names are hidden, or whose work the server does not end at a time-out."""


@pytest.mark.parametrize(("text", "why"), HIDDEN, ids=[str(n) for n, _ in enumerate(HIDDEN)])
def test_what_has_no_end_is_refused_before_it_is_planned(text: str, why: str) -> None:
    assert why in why_refused(text, {})


def test_few_labels_and_many_properties_may_be_combined() -> None:
    alternatives = " AND ".join(["(e.name = $word OR e.key = $word)"] * 20)
    assert why_refused(f"MATCH (e:Person|Place) WHERE {alternatives} RETURN e.name", {}) == ""
    many = "|".join(f"L{number}" for number in range(99))
    assert why_refused(f"MATCH (e:{many})-[:{many}]->(:A)-[:{many}]->() RETURN [x IN $l | x] AS x", {}) == ""


@pytest.mark.parametrize("broken", ["/*" * 10_000, "'\\" * 10_000, "`" * 9_999, "[" * 10_000, "$" * 10_000, "\ud800 ("])
def test_a_statement_that_does_not_end_is_the_servers_to_refuse(broken: str) -> None:
    assert isinstance(why_refused(broken, {}), str)


def test_what_reads_is_not_refused(graph: KnowledgeGraph) -> None:
    for text in (
        "CALL db.index.fulltext.queryNodes('entity_names', $word) YIELD node RETURN node.name AS name",
        "MATCH (e:Entity) WHERE EXISTS { (e)-[:FROM_CHUNK]->() } AND e.name IN ['Samuel Morse'] RETURN e.name AS name",
        "MATCH (e:Entity) CALL (e) { RETURN e.name AS name } RETURN name ORDER BY name DESC",
        "RETURN 'apoc.load.json(x) CALL dbms.x()' AS name, date.truncate('year', date('1858-08-05')) AS year",
        "MATCH (a:Person)-[r]->() WITH a, count(r) AS out OPTIONAL MATCH (a)<-[s]-() WITH a, out, count(s) AS limit "
        "RETURN a.name AS name, out + limit AS degree ORDER BY degree DESC LIMIT 3",
        "MATCH p = (:Person)-[:FOUNDED]->() RETURN [n IN nodes(p) | n.name] AS names, [r IN relationships(p) | r.fact]",
        "MATCH (e:Person) WITH e, [(e)<-[:SUBJECT|OBJECT]-(f:Fact) | f.text] AS facts "
        "RETURN {name: e.name, said: facts[..3]} AS found, size(facts) + 1 AS number",
        "UNWIND range(1, 5000) AS x UNWIND RANGE(0, 10, 2) AS y RETURN sum(x * y) AS sum",
        "RETURN toInteger(replace('1,866', ',', '')) AS year, 'a' STARTS WITH $word + 'b' AS use",
    ):
        done, _ = asked(graph, statement(text, word="Morse"), said("", sufficient=False), repairs=0)
        assert named(done, "run")[0].queries, named(done, "run")[0].detail


def test_an_endless_statement_ends(graph: KnowledgeGraph) -> None:
    text = "MATCH (a), (b), (c), (d), (e) WHERE a.name + b.name = c.name + d.name + e.name RETURN count(*) AS number"
    done, _ = asked(graph, statement(text), repairs=0, timeout=0.2)
    assert done.text == NOT_RUN
    assert "timeout" in done.note


@pytest.mark.parametrize("value", [-(2**64), {"a": [2**64]}])
def test_a_parameter_that_the_database_cannot_hold_is_told(graph: KnowledgeGraph, value: Any) -> None:
    wrong = statement("RETURN $value AS value", value=value)
    done, chat = asked(graph, wrong, statement(FOUNDERS, **COMPANY), said("Cyrus Field [1]."))
    assert "A parameter has a number or a character that Neo4j cannot hold." in chat.calls[1].messages[-1]["content"]
    assert done.citations


def test_a_note_is_short_and_one_line(graph: KnowledgeGraph) -> None:
    done, _ = asked(graph, statement("MATCH (p:Person RETURN p", word="x" * 100_000), repairs=0)
    assert "\n" not in done.note
    assert "The last statement was: MATCH (p:Person RETURN p with $word = 'xxx" in done.note
    assert len(done.note) < 2000


def test_more_rows_than_anyone_reads(graph: KnowledgeGraph) -> None:
    text = "MATCH (a:Entity), (b:Entity), (c:Entity) RETURN a.name AS a, b.name AS b, c.name AS c"
    done, chat = asked(graph, statement(text), said("", sufficient=False), repairs=0, rows=200)
    (run,) = named(done, "run")
    assert run.detail == "200 rows, and there are more"
    assert "; there are more):" in chat.calls[1].messages[1]["content"]
    assert count_tokens(chat.calls[1].messages[1]["content"]) < 3500
