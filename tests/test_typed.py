"""What a type checker, and so an editor, shows of the public names in a program that uses them."""

import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

from kgplatform.readers.readers import READERS, GivenOptions

PROGRAM = """
from kgplatform import Chat, Extractor, Schema, Text, connect, connect_async
from kgplatform.records import Document, Extraction, Passage


class Parrot:
    model = "parrot"

    def send(self, messages: object) -> str:
        return "…"


class Nothing:
    name = "nothing"

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        return Extraction()


with connect(home="x", chat=lambda messages: "…", embedder="auto") as kg:
    reveal_type(kg.ingest([Text("x")]))  # kgplatform.ingest.pipeline.IngestReport
    found = kg.search("Who?", top_k=3, where={"author": "Verne"})
    reveal_type(found)  # kgplatform.records.SearchResult
    reveal_type([passage.metadata for passage in found][0].get("year"))  # VALUE
    reveal_type(kg.ask("Who?").citations[0].start)  # int
    reveal_type(list(kg.cypher("RETURN 1")))  # list[dict[str, Any]]
    reveal_type(list(kg.stream("Who?")))  # list[kgplatform.records.Step | str | kgplatform.records.Answer]
    reveal_type(kg.documents()[0].metadata.get("year"))  # VALUE
    kg.ask("Who?", top_k=3, options={"own": 1})
    kg.ask("Who?", readr="youtu")  # error: Unexpected keyword argument "readr" for "ask" of "KnowledgeGraph"
    kg.chat().ask("Who?", top_k="3")  # error: Argument "top_k" to "ask" of "ChatThread" has incompatible type "str"
    kg.search(3)  # error: Argument 1 to "search" of "KnowledgeGraph" has incompatible type "int"; expected "str"
    connect(chat=Parrot())  # error: Argument "chat" to "connect" has incompatible type "Parrot"
    connect(nonsense=3)  # error: Unexpected keyword argument "nonsense" for "connect"
    connect(token_budget="3")  # error: Argument "token_budget" to "connect" has incompatible type "str"
    kg.ingest("x", extractor=Nothing())


async def reply(messages: list[dict[str, str]]) -> str:
    return "…"


connect_async(home="x", chat=reply, chat_model="x")

async def main() -> None:
    async with connect_async(home="x") as kg:
        reveal_type(await kg.search("Who?", top_k=3))  # kgplatform.records.SearchResult
        await kg.search(3)  # error: Argument 1 has incompatible type "int"; expected "str"
        await kg.search("Who?", tpo_k=3)  # error: Unexpected keyword argument "tpo_k"
        async for event in kg.stream("Who?"):
            reveal_type(event)  # kgplatform.records.Step | str | kgplatform.records.Answer
        reveal_type((await kg.look.find("x"))[0].name)  # str
        reveal_type((await (await kg.chat()).ask("Who?")).text)  # str | None
""".replace("VALUE", "str | int | float | list[str] | list[int] | list[float] | list[bool] | None")


def test_a_user_sees_true_types(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    quick = (
        *("--strict", "--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir"),
        str(tmp_path),
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", *quick, str(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    said: dict[int, str] = {}
    for number, kind, text in re.findall(r"program\.py:(\d+): (note|error): (.*)", done.stdout):
        said[int(number)] = said.get(int(number), "") + f"{kind}: {text}\n"
    expected = {
        number: line.partition("  # ")[2] for number, line in enumerate(PROGRAM.split("\n"), start=1) if "  # " in line
    }
    assert said.keys() == expected.keys(), done.stdout
    for number, wanted in expected.items():
        assert (wanted if wanted.startswith("error") else f'Revealed type is "{wanted}"') in said[number], said[number]


def test_it_knows_all_options_of_readers() -> None:
    assert GivenOptions.__annotations__.keys() == {option.name for reader in READERS for option in reader.options}
