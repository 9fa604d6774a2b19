"""The package of docs/how-to/extend.md, installed into a folder of its own: each of its parts, and broken ones."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_pages import page

from kgplatform import InputError, KnowledgeGraph
from kgplatform.client import extractors
from kgplatform.concurrency import plug_ins
from kgplatform.errors import SettingError
from kgplatform.interfaces.cli.shared import known_extractor
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import make_embedder
from kgplatform.readers import readers
from kgplatform.settings import load_settings

pytestmark = pytest.mark.indexes

PAGE, CODE = page("extend.md"), page("code.md")
BROKEN = """
[kgplatform.extractors]
nowhere = kg_extras.nowhere:Nothing
empty = kg_extras.empty:make

[kgplatform.embedders]
nowhere = kg_extras.nowhere:Nothing
empty = kg_extras.empty:make

[kgplatform.loaders]
.brk = kg_extras.empty:raise_
.odd = kg_extras.empty:make

[kgplatform.readers]
nowhere = kg_extras.nowhere:Nothing
empty = kg_extras.empty:make
"""
EMPTY = """
def make(*given):
    return object()


def raise_(path, stream):
    raise LookupError("no such thing")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's package, and one with faults."""
    site = tmp_path / "site"
    package = site / "kg_extras"
    package.mkdir(parents=True)
    for name, code in re.findall(r"```python\n# kg_extras/(\w+)\.py\n(.*?)```", PAGE, re.S):
        (package / f"{name}.py").write_text(code, "utf-8")
    (recipe,) = re.findall(r"```python\n(from dataclasses.*?bestfact.*?)```", CODE, re.S)
    (package / "bestfact.py").write_text(recipe, "utf-8")
    (package / "empty.py").write_text(EMPTY, "utf-8")
    (project,) = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    named = re.findall(r'\[project\.entry-points\."([\w.]+)"\]\n(.*?)(?=\n\n|\Z)', project.strip(), re.S)
    entries = "\n\n".join(f"[{group}]\n" + lines.replace('"', "") for group, lines in named)
    for name, lines in (("kg_extras", entries), ("kg_faults", BROKEN)):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n", "utf-8"
        )
        (info / "entry_points.txt").write_text(lines, "utf-8")
    before = list(readers.READERS)
    monkeypatch.syspath_prepend(str(site))
    plug_ins.forget()
    readers.add_plug_ins()
    yield
    readers.READERS[:] = before
    readers._BROKEN.clear()
    for name in [name for name in sys.modules if name.startswith("kg_extras")]:
        del sys.modules[name]
    plug_ins.forget()


@pytest.mark.usefixtures("installed")
def test_the_package_of_the_page(kg: KnowledgeGraph, tmp_path: Path) -> None:
    assert "kg_extras.births" not in sys.modules, "it is loaded when it is used"
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nCyrus Field (born 1819) speaks.\n", "utf-8")
    (texts / "bad.brk").write_text("x", "utf-8")
    (texts / "odd.odd").write_text("x", "utf-8")
    report = kg.ingest(texts, extractor="births")
    assert (report.added, report.extractor, report.kept) == (1, "births", 2)
    assert {Path(file.path).name: file.reason for file in report.skipped} == {
        "bad.brk": "The loader .brk of the package kg-faults cannot be used (LookupError: no such thing). Update the "
        "package, or uninstall it",
        "odd.odd": "the loader .odd gave a object and not a text",
    }
    (info,) = kg.documents()
    assert (info.title, dict(info.metadata)) == ("film", {"kind": "subtitles"})
    assert kg.look.document(info.id).text == "Cyrus Field (born 1819) speaks."
    answer = kg.ask("When was Cyrus Field born?", "bestfact")
    assert answer.text == "Cyrus Field birth date: 1819"
    assert known_extractor("births") == "births"
    assert extractors()[:3] == ("llm", "local", "recorded")
    graph = KnowledgeGraph(kg.store, load_settings(embedder="letters"))
    graph.reembed()
    reopened = KnowledgeGraph(kg.store, load_settings())
    assert reopened.embedder.name == "letters"
    assert reopened.search("Cyrus Field").passages


@pytest.mark.usefixtures("installed")
def test_what_is_broken_says_so_when_it_is_asked_for(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Cyrus Field founded a company.", "utf-8")
    blamed = "of the package kg-faults cannot be used"
    for name in ("nowhere", "empty"):
        with pytest.raises(SettingError, match=f"The extractor {name} {blamed}"):
            kg.ingest(tmp_path / "a.txt", extractor=name)
        with pytest.raises(SettingError, match=f"The embedder {name} {blamed}"):
            make_embedder(load_settings(embedder=name), Ledger())
        with pytest.raises(SettingError, match=f"The reader {name} {blamed}"):
            kg.ask("Who?", name)
    with pytest.raises(
        InputError, match='Unknown extractor "magic". Choose one of llm, local, recorded, births, empty'
    ):
        kg.ingest(tmp_path / "a.txt", extractor="magic")
    assert kg.ingest(tmp_path / "a.txt", extractor="local").added == 1
