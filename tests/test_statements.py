"""The example statements of the pages and the saved queries show something on graphs that no model helped to make.

One is of the sample corpus, one of other texts: what a page says without a proviso holds for a user's own documents.
"""

import re
import shlex
from collections.abc import Iterator

import pytest
from conftest import EXAMPLES, ROOT, emptied
from corpora import put
from doc_pages import page
from test_cypher_files import OF_RUNS

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Connection
from kgplatform.query import query_names

PAGES = ("cypher-recipes.md", "graph-model.md", "commands.md", "tree.md")
NAMED = ("Cyrus Field", "William Thomson", "cable")
"""Names of the sample corpus, for which the pages say to put one's own, and a word to search for."""
OWN_NAMES = ("Greta Holm", "Lunden Bridge", "bridge")
OWN = {
    "Greta Holm.txt": """Greta Holm was born in Aarhus in 1871. She designed the Lunden Bridge of 1904.
The Lunden Bridge joins Lunden and Skagen. Greta Holm founded Holm and Sons with her brother Niels Holm. The Lunden
Bridges Board paid for it.""",
    "railway.txt": """The Skagen Railway reached Lunden in 1899. Its director was Niels Holm, a brother of Greta Holm.
Niels Holm was born in Aarhus. The Skagen Railway ran over the Lunden Bridge from 1905.""",
    "town.txt": """Lunden is a town in Jutland. Greta Holm died in Lunden in 1950. The Lunden Museum keeps drawings by
G. Holm. The museum was founded by Niels Holm. The Lunden Bridge Board meets in the Lunden Museum.""",
}


def statements() -> Iterator[tuple[str, str]]:
    """Each statement of a page that needs nothing else, with the page's name; and the saved queries."""
    for name in PAGES:
        text = page(name)
        for found in re.finditer(r"([^\n]*\n[^\n]*)\n\n```cypher\n(.*?)^```", text, re.M | re.S):
            if "needs" not in found[1]:
                yield name, found[2]
        for line in re.findall(r"^kgplatform cypher .+$", text, re.M):
            yield name, shlex.split(line)[2].replace("$name", f"'{NAMED[0]}'")
    for name in query_names("saved"):
        if name.removeprefix("saved/") not in OF_RUNS:
            yield name, (ROOT / "cypher" / f"{name}.cypher").read_text("utf-8")


STATEMENTS = [each for each in statements() if "…" not in each[1]]


@pytest.fixture(scope="module", params=["the sample corpus", "a user's own texts"])
def graph(
    request: pytest.FixtureRequest, neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """Read by the rules, with its tree."""
    folder = tmp_path_factory.mktemp("graph")
    texts = EXAMPLES / "corpus" if request.param == "the sample corpus" else put(folder / "texts", OWN)
    with emptied(neo4j_server, folder / "home") as graph:
        graph.ingest(texts, extractor="local")
        graph.build_tree()
        yield graph


def test_statements_have_rows(graph: KnowledgeGraph) -> None:
    assert len(STATEMENTS) > 20
    assert {name for name, _ in STATEMENTS} >= {*PAGES}
    is_sample = graph.cypher("MATCH (e:Entity {name: $name}) RETURN e", {"name": NAMED[0]}).rows
    for name, statement in STATEMENTS:
        asked = statement
        for theirs, mine in zip(NAMED, OWN_NAMES, strict=True):
            asked = asked if is_sample else asked.replace(f"'{theirs}'", f"'{mine}'")
        assert graph.cypher(asked).rows, (name, asked)
