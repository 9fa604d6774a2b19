"""A question to some documents alone: of the others no word reaches the model, whichever reader is asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Store
from kgplatform.readers.readers import READERS, find, names
from kgplatform.search.evidence import Evidence
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

Shared = tuple[KnowledgeGraph, OpenAIServer]

# Both tell of the same people, so that every walk leads from one to the other; a word of each tells whose it is.
COPPER = (
    "Cyrus Field founded the Copper Telegraph Company. Samuel Morse advised Cyrus Field about copper. "
    "William Thomson measured the copper of Samuel Morse. Cyrus Field met William Thomson over copper."
)
ZINC = (
    "Cyrus Field founded the Zinc Telegraph Company. Samuel Morse warned Cyrus Field about zinc. "
    "Charles Bright weighed the zinc of Samuel Morse. Charles Bright met William Thomson over zinc."
)
QUESTION = "Which company did Cyrus Field found, and what did Samuel Morse say of it?"
ONLY = {"metal": "copper"}


@pytest.fixture
def shared(store: Store, tmp_path: Path) -> Iterator[Shared]:
    """A graph of two documents, with facts and gists, and a model whose every request is kept."""
    with OpenAIServer(reply) as server:
        settings = load_settings(home=tmp_path, openai_base_url=server.base_url, embedder="hash:64")
        chat = OpenAIChat(settings, Ledger(), None)
        graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
        graph.ingest(
            [
                {"id": "1", "title": "One", "text": COPPER, "metal": "copper"},
                {"id": "2", "title": "Two", "text": ZINC, "metal": "zinc"},
            ],
            extractor="local",
            facts=True,
        )
        graph.gist()
        yield graph, server
        chat.close()


def prompts(server: OpenAIServer, since: int = 0) -> str:
    return "\n".join(str(request.body) for request in server.requests_to("/chat/completions")[since:]).lower()


def test_no_word_of_other_documents_reaches_the_model(shared: Shared) -> None:
    graph, server = shared
    before = len(server.requests_to("/chat/completions"))
    for reader in (each.name for each in READERS if not each.whole_graph):
        since = len(server.requests_to("/chat/completions"))
        answer = graph.ask(QUESTION, reader, where=ONLY)
        assert "copper" in prompts(server, since), reader
        shown = [*answer.evidence.passages, *(place for fact in answer.evidence.facts for place in fact.citations)]
        assert {each.title for each in (*shown, *answer.citations)} == {"One"}, reader
    assert "zinc" not in prompts(server, before)
    graph.ask(QUESTION, "graphreader")
    assert "zinc" in prompts(server, before), "it is as near to the question"
    for reader in (each for each in names() if find(each).whole_graph):
        with pytest.raises(InputError, match=f"The reader {reader} reads the whole graph. With where, choose one of"):
            graph.ask(QUESTION, reader, where=ONLY)
    kept = Evidence(graph.store, graph.embedder, [info.id for info in graph.documents()][:1])
    with pytest.raises(InputError, match="Communities are about all documents and cannot"):
        kept.groups(QUESTION)
    with pytest.raises(InputError, match="A statement is about all documents"):
        kept.statements(QUESTION)
