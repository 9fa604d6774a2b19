"""What a reader had read, taken from answers of real readers, and from traces by hand where those are rare."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from conftest import wipe
from corpora import put
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.score.metrics import what_was_kept, what_was_read
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.readers.grounding import without_numbers
from kgplatform.records import Answer, FoundFact, FoundPassage, SearchResult, Step, Usage
from kgplatform.settings import load_settings
from kgplatform.testing import ScriptedChat

LAMP = "The lamp of Skerry Point was kept by Mara Voss for nineteen winters."
BORN = "Mara Voss was born in the town of Ostrel, above the salt works."
QUESTION = "In which town was the keeper of the lamp of Skerry Point born?"
FILL = "Gulls nested on the roof of the {} every spring, and nobody drove them away from there."
TEXTS = {
    "tower.txt": "\n\n".join([*(FILL.format(f"shed {n}") for n in range(6)), LAMP]),
    "people.txt": "\n\n".join([BORN, *(FILL.format(f"barn {n}") for n in range(6))]),
}


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """Two texts with facts and gists, by a simulated model. They are only read."""
    folder = tmp_path_factory.mktemp("read")
    settings = load_settings(home=folder / "home", embedder="hash:64", passage_tokens=60)
    with Store(neo4j_server) as store:
        wipe(store)
        kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=ScriptedChat(reply))
        kg.ingest(put(folder / "texts", TEXTS), facts=True)
        kg.gist(min_words=20, max_words=60, uniform=True)
        yield kg


Ask = Callable[..., tuple[Answer, list[Messages]]]


@pytest.fixture
def ask(graph: KnowledgeGraph) -> Ask:
    """An answer of a reader, and the prompts that it sent."""

    def asked(reader: str, **options: object) -> tuple[Answer, list[Messages]]:
        chat = ScriptedChat(reply)
        kg = KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat)
        return kg.ask(QUESTION, reader, **options), [call.messages for call in chat.calls]

    return asked


def test_passages_and_facts_are_what_most_readers_had(ask: Ask) -> None:
    for reader in ("retrieve", "youtu", "fulltext", "chunkread", "longagent"):
        done, _ = ask(reader)
        assert done.evidence.passages, reader
        text = what_was_read(done)
        assert what_was_kept(done) == text
        assert all(each.text in text and each.title in text for each in done.evidence.passages)
        assert all(f"- {each.text}" in text for each in done.evidence.facts)


def test_of_graphreader_the_final_notebooks_are_kept(ask: Ask) -> None:
    """As each walk numbered them: the last prompt has one numbering for all."""
    done, sent = ask("graphreader", nodes=3)
    shown = sent[-1][1]["content"]
    assert sent[-1][0]["content"].startswith("You answer a question from notebooks")
    notebooks = [part.strip() for part in re.split(r"^Notebook \d+:\s*", shown, flags=re.MULTILINE)[1:]]
    notebooks[-1] = notebooks[-1].rpartition("\n</data-")[0]
    filled = [each for each in notebooks if each != "(empty)"]
    assert filled
    assert without_numbers(what_was_kept(done)) == without_numbers("\n\n".join(each.strip() for each in filled))
    assert what_was_read(done).endswith(what_was_kept(done))
    assert done.evidence.passages[0].text in what_was_read(done)


def test_of_readagent_the_pages_that_were_read_again_are_kept(ask: Ask) -> None:
    done, _ = ask("readagent", pages=1)
    again = {id_ for step in done.trace if step.pages for id_ in step.passages}
    pages = [each for each in done.evidence.passages if each.id in again]
    assert pages
    assert what_was_kept(done) == "\n\n".join(f"{each.title}\n{each.text}" for each in pages)
    none, _ = ask("readagent", lookup="none")
    assert what_was_kept(none) == "", "gists alone are no text that was reviewed"


def test_of_chunk_read_with_notes_the_notes_and_the_last_passages_are_kept(ask: Ask) -> None:
    done, sent = ask("chunknotes", window_tokens=1200, answer_style="phrase")
    assert len(sent) > 1, "in a small window the text is read in pieces"
    last = [step for step in done.trace if step.prompt == "baselines/chunk_notes"][-1]
    assert last.notebook
    kept = what_was_kept(done)
    assert kept.endswith(f"\n\n{last.notebook}")
    shown = re.findall(r"^\[[1-9]\d*\.\d+\] (.+)", sent[-1][1]["content"].partition("\n\nNotes on")[0], re.MULTILINE)
    lines = [each for each in kept.removesuffix(last.notebook).split("\n") if each not in ("", "tower", "people")]
    assert sorted(lines) == sorted(shown), "what was before the model at the end, no more"


# ------------------------------------------------------------------------------------------------------------- by hand


def passage(id_: str, text: str) -> FoundPassage:
    return FoundPassage(id_, "d", "note", 0, len(text), None, text, 1.0, ())


def answered(reader: str, *steps: Step, passages: tuple[FoundPassage, ...] = (), facts: tuple[str, ...] = ()) -> Answer:
    found = tuple(FoundFact(f"f{n}", text, 0.0, (), ()) for n, text in enumerate(facts))
    return Answer("Q?", reader, "A.", (), SearchResult("Q?", passages, found, 0.0), steps, Usage())


def noted(notebook: str | None, path: int = 1) -> Step:
    return Step("search_more", "at Petrel", 0.0, prompt="graphreader/chunk", path=path, notebook=notebook)


def test_the_form_of_the_text() -> None:
    done = answered("retrieve", passages=(passage("a", "One."), passage("b", "Two.")), facts=("x is y", "y is z"))
    assert what_was_read(done) == "note\nOne.\n\nnote\nTwo.\n\n- x is y\n- y is z"
    assert what_was_read(answered("retrieve")) == ""


def test_notebooks_are_in_the_order_of_the_paths_and_the_last_of_each_counts() -> None:
    steps = (noted("old", 1), noted("b", 2), noted("new", 1), noted(None, 1), noted(None, 2))
    assert what_was_kept(answered("graphreader", *steps, facts=("x is y",))) == "new\n\nb"
    assert what_was_read(answered("graphreader", *steps, facts=("x is y",))) == "- x is y\n\nnew\n\nb"


def test_steps_without_a_notebook_change_none() -> None:
    broken = Step("termination", "failed", 0.0, prompt="graphreader/facts", reply="I do not know.", path=1)
    final = Step("answer", "", 0.0, prompt="graphreader/answer", reply="Updated Notebook: not one", path=0)
    assert what_was_kept(answered("graphreader", noted("kept"), broken, final)) == "kept"
    assert what_was_kept(answered("graphreader", broken, final)) == ""


def test_of_several_parts_of_a_passage_the_latest_is_kept() -> None:
    prompt = "baselines/chunk_notes"
    steps = [Step("read passage", "", 0.0, prompt=prompt, passages=("b",), notebook="the notes")] * 2
    parts = (passage("a", "One."), passage("b", "Two."), passage("b", "an earlier part"))
    assert what_was_kept(answered("chunknotes", *steps, passages=parts)) == "note\nTwo.\n\nthe notes"


def test_without_a_model_what_was_found_was_read(graph: KnowledgeGraph) -> None:
    alone = KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder)
    for reader in ("retrieve", "graphreader", "readagent", "chunknotes"):
        done = alone.ask(QUESTION, reader)
        assert done.text is None
        assert done.evidence.passages[0].text in what_was_kept(done)
