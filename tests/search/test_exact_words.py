"""What is typed is found as it is typed: identifiers, amounts, addresses and names among many near ones."""

from pathlib import Path

import pytest
from corpora import put

from kgplatform.client import KnowledgeGraph
from kgplatform.explore.look import Look
from kgplatform.ingest.graph_state import FORMAT_VERSION
from kgplatform.text.languages import exact_words, spellings_of

NEAR = 100
ODD = {
    "ireland": "Aoife O’Neill keeps the keys of the harbour office.",
    "cafe": "The Café Łódź opens at seven and bakes its own bread.",
    "languages": "The controller was written in C++, its console in .NET and its tests in C#.",
    "soft": "The hy\u00addro\u00adphone hangs below the pier, and its ﬁlter is cleaned weekly.",
    "wide": "The part ＡＢＣ－９９１ was ordered twice.",
    "call": "Call the warden at +47 22 33 44 55, or (212) 555-0199 from abroad.",
    "thin": "The crane cost 4\u202f771\u202f019,50 crowns and the winch 88 512 crowns.",
    "path": r"The log is C:\winch\logs\boot-7.log and the key /etc/keel/id_rsa.pub, as #keelhaul says.",
    "pep": "The council rejected PEP 649 and mentioned gh-96975.",
    "hindi": "जहाज़ का क्रमांक IND-4471 है और 船の番号は JPN-5582 です。",
}
ASKED = {
    "10.20.0.31": "machine 31",
    "Which machine has the address 10.20.0.4?": "machine 4",
    "winch7.conf": "machine 7",
    "Who looks after the machine with winch17.conf?": "machine 17",
    "v2.13.1": "machine 13",
    "Which machine runs driver v2.14.1?": "machine 14",
    "1,019.50": "machine 19",
    "1019.50": "machine 19",
    "Which machine cost 1 021.50 crowns?": "machine 21",
    "host-22@keel.example": "machine 22",
    "Whose mail is host-23@keel.example?": "machine 23",
    "O'Neill": "ireland",
    "ONeill": "ireland",
    "What does O‘Neill keep?": "ireland",
    "Lodz": "cafe",
    "cafe": "cafe",
    "What was written in C++?": "languages",
    ".NET": "languages",
    "C#": "languages",
    "hydrophone": "soft",
    "filter": "soft",
    "ABC-991": "wide",
    "How often was abc‑991 ordered?": "wide",
    "22334455": "call",
    "Whose number is 212-555-0199?": "call",
    "4771019.50": "thin",
    "88,512": "thin",
    r"C:\winch\logs\boot-7.log": "path",
    "What is in boot-7.log?": "path",
    "id_rsa.pub": "path",
    "#keelhaul": "path",
    "What was decided about PEP 649?": "pep",
    "gh-96975": "pep",
    "IND-4471": "hindi",
    "JPN-5582": "hindi",
}


@pytest.fixture(scope="module")
def graph(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> KnowledgeGraph:
    """Texts that differ by what is typed alone, and some of many kinds."""
    texts = {
        f"machine {i}.txt": f"Machine {i} has the address 10.20.0.{i} and the file winch{i}.conf. It runs driver "
        f"v2.{i}.1, writes to host-{i}@keel.example and cost 1,{i:03}.50 crowns. PEP {i} tells more."
        for i in range(NEAR)
    }
    files = put(tmp_path_factory.mktemp("typed"), texts | {f"{name}.txt": text for name, text in ODD.items()})
    shared_kg.ingest(files, extractor="local")
    return shared_kg


@pytest.mark.parametrize("route", ["all", "bm25"])
def test_what_is_typed_is_first(graph: KnowledgeGraph, route: str) -> None:
    firsts = {question: graph.search(question, route=route, top_k=3).passages for question in ASKED}
    found = {question: passages[0].title if passages else "" for question, passages in firsts.items()}
    assert found == ASKED


def test_the_best_passage_of_a_name_that_many_have_is_among_the_first_three(graph: KnowledgeGraph) -> None:
    found = graph.search("Which crowns, drivers, addresses and files does Machine 50 have?", top_k=3).passages
    assert "machine 50" in [each.title for each in found]


def test_the_find_box_folds_the_same(graph: KnowledgeGraph) -> None:
    look = Look(graph.store)
    for typed, wanted in {"oneill": "Aoife O’Neill", "o'nei": "Aoife O’Neill", "aoife oneill": "Aoife O’Neill"}.items():
        assert wanted in [node.name for node in look.find(typed)], typed
    assert look.find("oneill zebra") == ()


def test_a_graph_of_before_gets_its_words(graph: KnowledgeGraph, tmp_path: Path) -> None:
    graph.cypher("MATCH (c:Chunk) REMOVE c.exact", write=True)
    graph.cypher("MATCH (g:Graph) SET g.format = 4", write=True)
    assert graph.search("winch7.conf").passages, "by the words of before"
    graph.ingest(put(tmp_path, {"more.txt": "The keel was laid."}), extractor="local")
    assert graph.state()["format"] == FORMAT_VERSION
    assert graph.search("hydrophone", route="bm25").passages[0].title == "soft"


def test_one_spelling() -> None:
    alike = [
        *(
            ("Ｂｊörk’s", "bjork"),
            ("ﬁsh", "FISH"),
            ("Tromsø", "tromso"),
            ("STRASSE", "straße"),
            ("e\u0301tude", "ÉTUDE"),
        ),
        *(("1’019.50", "1,019.50"), ("1.019,50", "1019.50"), ("1\u00a0019,5", "1,019.5"), ("−7", "-7")),
        *(("O`Neill", "O'Neill"), ("co\u00adop", "coop")),
    ]
    for one, other in alike:
        assert spellings_of(one) == spellings_of(other), (one, other)
    assert spellings_of("-7") != spellings_of("7")
    assert exact_words("see (https://keel.example/a).").split()[:2] == ["see", "https://keel.example/a"]
