"""The reader ``global``: a question is put to all communities, and one cited answer is made of what they say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from corpora import put, put_jsonl
from group_questions import RULES, GroupModel, planted
from model_by_prompt import Line, Model, Prompt

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, InputError, ModelError
from kgplatform.readers.answer import NOT_CITED, PARTIAL
from kgplatform.readers.window import cost
from kgplatform.records import Answer
from kgplatform.testing import ScriptedChat

TOWNS = planted(seed=7, towns=45, valleys=3)
SHARE: dict[str, Any] = {"part_tokens": 1000}
"""About six parts."""


@pytest.fixture(scope="module")
def towns(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """A graph of towns with its tree, without a model."""
    TOWNS.ingest(shared_kg, tmp_path_factory.mktemp("towns"))
    return shared_kg


def asking(kg: KnowledgeGraph, model: Any) -> KnowledgeGraph:
    return KnowledgeGraph(kg.store, kg.settings, embedder=kg.embedder, chat=ScriptedChat(model))


def playing(**rules: Any) -> Model[Prompt]:
    return Model(rules)


def texts_of(kg: KnowledgeGraph, done: Answer) -> list[str]:
    """What stands at the places that are cited."""
    return [kg.look.document(place.document, place.start, place.end).text for place in done.citations]


def says(answer: str, *, evidence: tuple[str, ...] = ()) -> str:
    return json.dumps({"evidence": evidence, "answer": answer, "sufficient": True})


def finds(*points: dict[str, Any], items: tuple[dict[str, Any], ...] = ()) -> str:
    return json.dumps({"points": points, "items": items})


def first_fact(prompt: Prompt) -> str:
    """A point for each part: its first fact."""
    return finds({"point": re.findall(r"^\[1\] (.+)$", prompt.data, re.MULTILINE)[0], "facts": [1], "score": 70})


def several(prompt: Prompt) -> str:
    """A long point for each fact of a part."""
    found = re.findall(r"^\[(\d+)\] (.+)$", prompt.data, re.MULTILINE)
    return finds(*({"point": f"It is told, among much else, that {t}.", "facts": [n], "score": 50} for n, t in found))


def test_questions_over_groups(towns: KnowledgeGraph) -> None:
    """All of these are right, every fact that matters was before the model, and each once."""
    for asked in TOWNS.questions[::3]:
        model = GroupModel()
        done = asking(towns, model).ask(asked.text, "global", **SHARE)
        assert asked.is_right(done), (asked, done.text)
        shown = re.findall(r"^\[\d+\] (.+)$", "\n".join(p.data for p in model.asked if p.kind == "map"), re.MULTILINE)
        assert len(shown) == len(set(shown))
        assert {each.replace(" the ", " ") for each in asked.needs} <= set(shown)


def test_citations_are_the_places_of_the_facts(towns: KnowledgeGraph) -> None:
    asked = next(each for each in TOWNS.questions if each.kind == "which themes")
    done = asking(towns, GroupModel()).ask(asked.text, "global", **SHARE)
    assert {re.search(r"sings of (\w+)", text)[1] for text in texts_of(towns, done)} == asked.answers  # type: ignore[index]
    marks = [int(mark) for mark in re.findall(r"\[(\d+)\]", done.text or "")]
    assert marks == list(range(1, len(done.citations) + 1))
    assert {place.passage for place in done.citations} <= {passage.id for passage in done.evidence.passages}


def test_a_count_is_ours_and_cites_what_was_counted(towns: KnowledgeGraph) -> None:
    """The model writes the number that it is given; each place says of one of the towns that it is so."""
    asked = max((each for each in TOWNS.questions if each.kind == "how many"), key=lambda each: len(each.needs))
    done = asking(towns, GroupModel()).ask(asked.text, "global", **SHARE)
    number = int(next(iter(asked.answers)))
    assert (done.text or "").startswith(f"{number} [1][2]")
    assert f"counted: {number} (" in done.note
    assert done.counts["things"] == number
    assert set(texts_of(towns, done)) <= asked.needs
    model = playing(map=lambda prompt: json.dumps(RULES["global_/map"](prompt)), reduce=says(str(number)))
    assert asked.is_right(asking(towns, model).ask(asked.text, "global", **SHARE)), "without marks too"


def test_what_is_the_same_for_each_question_comes_first(towns: KnowledgeGraph) -> None:
    """System message and communities to the letter, so that a server can reuse them, where everything is read."""
    models = [GroupModel(), GroupModel()]
    for model, asked in zip(models, TOWNS.questions, strict=False):
        asking(towns, model).ask(asked.text, "global", facts=1000, **SHARE)
    one, other = (
        sorted(p.system + p.user.partition("\n\nQuestion: ")[0] for p in m.asked if p.kind == "map") for m in models
    )
    assert one == other
    assert all(p.question == TOWNS.questions[0].text for p in models[0].asked)


def test_all_prompts_and_replies_fit_into_the_window(towns: KnowledgeGraph) -> None:
    model = GroupModel()
    asking(towns, model).ask(TOWNS.questions[0].text, "global", window_tokens=2000)
    assert max(cost(prompt.messages) for prompt in model.asked) <= 0.9 * 2000 - 500


def test_fewer_communities_or_facts(towns: KnowledgeGraph) -> None:
    model = playing(map=first_fact, reduce=says("Told [0.1]."))
    done = asking(towns, model).ask("What is told of the Orrin valley?", "global", communities=2)
    assert len(done.evidence.communities) == len(re.findall("^# ", model.of("map")[0].data, re.MULTILINE)) == 2
    assert re.search(r"2 communities nearest to the question were read, \d+ were left out\.", done.note)
    model = playing(map=first_fact, reduce=says("Told [0.1]."))
    done = asking(towns, model).ask("What is told?", "global", facts=1)
    groups = len(re.findall("^# ", model.of("map")[0].data, re.MULTILINE))
    assert len(re.findall(r"^\[\d+\]", model.of("map")[0].data, re.MULTILINE)) <= groups
    assert "Facts of communities that were left out: " in done.note


def lost(numbers: set[int]) -> Line:
    """The parts of these numbers, in the order of the calls, fail; each other one finds its first fact."""
    made = iter(range(1, 1000))
    return lambda prompt: ModelError("The server is gone.") if next(made) in numbers else first_fact(prompt)


def test_a_part_that_is_lost_is_said(towns: KnowledgeGraph) -> None:
    model = playing(map=lost({2}), reduce=says("Told [0.1]."))
    done = asking(towns, model).ask("What is told?", "global", **SHARE)
    parts = done.counts["parts"]
    assert done.counts["parts.lost"] == 1
    assert f"1 of {parts} parts failed, so their content may be missing; the first error: The server" in done.note
    assert len(model.of("map")) == parts > 3
    assert done.citations


def test_nothing_is_answered_where_all_parts_are_lost(towns: KnowledgeGraph) -> None:
    with pytest.raises(ModelError, match="gone"):
        asking(towns, playing(map=lost(set(range(99))))).ask("What is told?", "global", **SHARE)


@pytest.mark.parametrize("error", [ModelError("The server is gone."), BudgetError("The budget is used up.")])
def test_what_was_found_is_the_answer_where_the_last_call_fails(towns: KnowledgeGraph, error: Exception) -> None:
    done = asking(towns, playing(map=first_fact, reduce=error)).ask("What is told?", "global", **SHARE)
    lines = (done.text or "").splitlines()
    assert len(lines) == done.counts["points"] == len(done.citations)
    assert all(re.fullmatch(r"- .+ \[\d+\]\.?", line) for line in lines)
    assert f"wrote no answer from it, so this is what the parts say. {error}" in done.note


def test_points_that_do_not_fit_are_put_together(towns: KnowledgeGraph) -> None:
    """Every point of a page is behind what remains of it, and so its places are cited in the end."""

    def merged(prompt: Prompt) -> str:
        found = [int(n) for n in re.findall(r"^\[(\d+)\]", prompt.data, re.MULTILINE)]
        return json.dumps({"reasoning": "", "points": [{"point": "Much is told.", "facts": found, "score": 80}]})

    model = playing(map=several, merge=merged, reduce=says("Much is told [0.1][0.2][0.3]."))
    done = asking(towns, model).ask("What is told?", "global", window_tokens=2500)
    assert len(model.of("merge")) > 1
    assert done.counts["calls.merge"] == len(model.of("merge"))
    assert model.of("reduce")[0].data == "Statements:\n- Much is told. [0.1][0.2][0.3]"
    assert len(done.citations) == 3
    model = playing(map=several, merge=ModelError("The server is gone."), reduce=says("Much [0.1]."))
    done = asking(towns, model).ask("What is told?", "global", window_tokens=2500)
    assert any("failed, so the best of" in step.detail for step in done.trace), "and where they cannot be they stay"
    assert done.citations


def test_what_is_nothing_or_not_enough(towns: KnowledgeGraph) -> None:
    model = playing(map=finds({"point": "Nothing of use.", "facts": [1], "score": 0}), answer=says("No idea"))
    refused = asking(towns, model).ask("Who won the regatta?", "global")
    assert (refused.text, refused.citations) == ("The documents do not say.", ())
    assert model.kinds == ["map"]
    none, short = (json.dumps({"answer": said, "sufficient": False}) for said in ("", "Crows did."))
    refused = asking(towns, playing(map=first_fact, reduce=none)).ask("Who won?", "global")
    assert (refused.text, refused.sufficient) == ("The documents do not say.", False)
    partly = asking(towns, playing(map=first_fact, reduce=short)).ask("Who won?", "global")
    assert (partly.text, partly.note) == ("Crows did.", f"{PARTIAL} {NOT_CITED}")
    known = asking(towns, playing(map=first_fact, reduce=short)).ask("Who won?", "global", mode="open")
    assert known.text == "Crows did."
    assert "own knowledge" in known.note


def test_what_names_no_fact_stays_without_a_number_and_is_counted(towns: KnowledgeGraph) -> None:
    """No right answer is lost for want of a number; what is not cited is shown as that."""
    model = playing(
        map=finds(
            {"point": "Atlantis sank in 1871.", "facts": [], "score": 90}, items=({"name": "Atlantis", "facts": [900]},)
        ),
        reduce=says("Atlantis."),
    )
    done = asking(towns, model).ask("Which towns sank?", "global")
    data = model.of("reduce")[0].data
    assert data.endswith("their number is 1:\n- Atlantis\n\nStatements:\n- Atlantis sank in 1871.")
    assert (done.text, done.citations) == ("Atlantis.", ())
    assert NOT_CITED in done.note
    assert "Points and things for which no fact was named: 2." in done.note


def test_things_are_united_by_name(towns: KnowledgeGraph) -> None:
    """One kind under three spellings, in parts of their own."""
    spelt = iter(["bees", "The bees", "BEES", *["bees"] * 99])
    model = playing(map=lambda prompt: finds(items=({"name": next(spelt), "facts": []},)), reduce=says("1"))
    done = asking(towns, model).ask("How many kinds are kept?", "global", **SHARE)
    assert done.counts["things"] == 1
    assert done.counts["parts"] > 3


def test_marks_in_the_answer(towns: KnowledgeGraph) -> None:
    """Several in one pair of brackets are ours, a year in brackets is none, and what no fact has is marked."""
    said = "Much is told [0.1, 0.2] of old [1871]. It all began with Elvis Presley in 1957 [0.2]."
    done = asking(towns, playing(map=first_fact, reduce=says(said))).ask("What is told?", "global", **SHARE)
    assert done.text == "Much is told [1][2] of old [1871]. It all began with Elvis Presley in 1957 [2]."
    assert {"Elvis", "Presley", "1957"} & {word for each in done.statements for word in each.unread}


@pytest.mark.parametrize(
    ("said", "cited"),
    [(says("Bees.", evidence=("0.2",)), 1), (says("Quite a lot is told."), 0), (says("Bees [0.99]."), 0)],
)
def test_an_answer_without_marks(towns: KnowledgeGraph, said: str, cited: int) -> None:
    """What the model says that it rests on is cited; where that is nothing, a note says so."""
    model = playing(map=first_fact, reduce=said)
    done = asking(towns, model).ask("What is told?", "global", **SHARE)
    assert len(done.citations) == cited
    assert (NOT_CITED in done.note) == (not cited)


def test_a_question_that_is_too_long(towns: KnowledgeGraph) -> None:
    with pytest.raises(InputError, match="Ask it in fewer words"):
        asking(towns, playing()).ask("What is told of the towns? " * 300, "global", window_tokens=2000)


# Other graphs, which replace the towns.


def test_without_a_tree(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.ingest(put(tmp_path, {"a.txt": "Arden keeps bees."}), extractor="local")
    for graph in (kg, asking(kg, playing())):
        with pytest.raises(InputError, match="Run `kgplatform tree` first"):
            graph.ask("What is kept?", "global")


def test_what_came_after_the_tree_is_read_too(kg: KnowledgeGraph, tmp_path: Path) -> None:
    corpus = planted(seed=3, towns=6, valleys=1)
    corpus.ingest(kg, tmp_path)
    late = {
        "document": "late.txt",
        "entities": [{"name": "Zeb", "type": "Person"}, {"name": "moles", "type": "Animal"}],
        "triples": [{"subject": "Zeb", "predicate": "fears", "object": "moles", "quote": "Zeb fears moles"}],
        "facts": [{"text": "It rained on Monday.", "key_elements": ["Monday"]}],
    }
    texts = put(tmp_path / "late", {"late.txt": "Zeb fears moles. It rained on Monday."})
    kg.ingest(texts, recorded=put_jsonl(tmp_path / "late.jsonl", [late]), mode="flexible")

    def zeb(prompt: Prompt) -> str:
        number = re.findall(r"^\[(\d+)\] Zeb fears moles", prompt.data, re.MULTILINE)[0]
        return finds({"point": "Zeb fears moles.", "facts": [int(number)], "score": 90})

    model = playing(map=zeb, reduce=says("Moles [0.1]."))
    done = asking(kg, model).ask("What is feared?", "global", facts=1000)
    assert re.search(r"# What is in no community\n(?:\[\d+\] .+\n?){2}$", model.of("map")[0].data)
    assert "Facts in no community were read too: 2" in done.note
    assert texts_of(kg, done) == ["Zeb fears moles"]


def test_levels_of_the_tree(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Two levels: the innermost are read below the outer one, or the outer one with all that is inside it."""
    planted(seed=3, towns=6, valleys=1).ingest(kg, tmp_path)
    put_around = (
        "MATCH (c:Community) SET c.depth = 1 WITH collect(c) AS inner CREATE (o:Community {id: 'outer', level: 4, "
        "depth: 0, size: 9, name: 'Around', summary: 'All of it.', summaryBy: 'model'}) "
        "WITH o, inner UNWIND inner AS c CREATE (c)-[:PARENT]->(o)"
    )
    kg.store.run_statement(put_around, {}, write=True, timeout=60, limit=10)
    found = {}
    for level in (None, 0, 1):
        model = playing(map=first_fact, reduce=says("Told [0.1]."))
        done = asking(kg, model).ask("What is told?", "global", level=level)
        found[level] = model.of("map")[0].data
        assert f"at depth {0 if level == 0 else 1};" in done.trace[0].detail
    assert found[None] == found[1]
    assert found[1].startswith("= Around: All of it.\n# ")
    assert found[0].startswith("# Around, 9 members\n[1] ")
    facts = {level: sorted(re.findall(r"^\[\d+\] (.+)$", data, re.MULTILINE)) for level, data in found.items()}
    assert facts[0] == facts[1]
