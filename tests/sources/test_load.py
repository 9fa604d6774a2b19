"""Files into documents: every format, and every way in which a file can be unusable."""

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docx
import mammoth  # type: ignore[import-untyped]  # publishes no types
import pytest
from hostile_files import zipped
from hypothesis import given, settings
from hypothesis import strategies as st
from made_pdf import pdf, typeset
from pypdf import PdfReader, PdfWriter

from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.concurrency.workers import BoundedCalls, LocalWorkers, bounded_calls
from kgplatform.errors import DocumentError, InputError, StoppedError
from kgplatform.records import Document, SkippedFile
from kgplatform.settings import load_settings
from kgplatform.sources import load as of_load
from kgplatform.sources.corpus_file import HARMLESS_BYTES, USUAL, Fields
from kgplatform.sources.cut import cut_document
from kgplatform.sources.files import pdf as of_pdf
from kgplatform.sources.files.pdf import read_pdf, to_read_scans
from kgplatform.sources.load import cut_by, described, find_files, load, load_by
from kgplatform.text import node_id


def one(path: Path, content: bytes | str) -> Document | SkippedFile:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    results = [each for each in load([path]) if not (isinstance(each, SkippedFile) and "a guess" in each.reason)]
    assert len(results) == 1, results
    return results[0]


def document(path: Path, content: bytes | str) -> Document:
    result = one(path, content)
    assert isinstance(result, Document), result
    return result


def reason(path: Path, content: bytes | str) -> str:
    result = one(path, content)
    assert isinstance(result, SkippedFile), result
    assert result.path == str(path)
    return result.reason


def test_finds_files_in_folders_sorted_once_and_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b/z.txt", "b/a.txt", "a.txt", ".hidden.txt", ".git/config", "b/.cache/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = list(find_files([tmp_path, tmp_path / "b", str(tmp_path / "a.txt")]))
    assert found == [tmp_path / "a.txt", tmp_path / "b/a.txt", tmp_path / "b/z.txt"]
    assert list(find_files([tmp_path / ".hidden.txt"])) == [tmp_path / ".hidden.txt"]
    assert list(find_files(str(tmp_path))) == found, "one path alone is no sequence of letters"


def test_links_that_form_a_loop_are_entered_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.txt").write_text("x")
    (tmp_path / "a/up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert list(find_files([tmp_path])) == [tmp_path / "a/x.txt"]


def test_what_links_lead_to_is_found_once_and_in_its_own_place(tmp_path: Path) -> None:
    for name in ("docs/z.txt", "docs/sub/s.txt", "docs/.hidden/h.txt", "out/o.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    docs = tmp_path / "docs"
    links = {
        "a.txt": docs / "z.txt",
        "asub": docs / "sub",
        "b.txt": tmp_path / "out/o.txt",
        "c.txt": tmp_path / "out/o.txt",
    }
    for name, target in {**links, "out": tmp_path / "out", "shown": docs / ".hidden"}.items():
        (docs / name).symlink_to(target)
    (tmp_path / "alink").symlink_to(docs)
    found = [docs / name for name in ("b.txt", "shown/h.txt", "sub/s.txt", "z.txt")]
    assert list(find_files([docs])) == list(find_files([tmp_path / "alink", docs])) == found


def test_a_missing_path_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt: no such file or folder"):
        load([tmp_path / "nowhere.txt"])


def test_relative_paths_and_dots_give_the_same_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "my notes#1.txt").write_text("Text.")
    monkeypatch.chdir(tmp_path)
    loaded = list(load(["my notes#1.txt", "sub/../my notes#1.txt", tmp_path / "my notes#1.txt"]))
    assert [d.uri for d in loaded if isinstance(d, Document)] == [(tmp_path / "my notes#1.txt").as_uri()]


def test_loading_is_lazy_and_in_sorted_order(tmp_path: Path) -> None:
    for name in ("c.txt", "a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    results = load([tmp_path])
    assert next(results).title == "a"  # type: ignore[union-attr]  # documents all
    (tmp_path / "b.txt").write_text("changed meanwhile")
    assert [d.text for d in results if isinstance(d, Document)] == ["changed meanwhile", "c.txt"]


def test_a_broken_link_and_a_pipe_are_reported(tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(tmp_path / "gone.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    assert [r.reason for r in load([tmp_path]) if isinstance(r, SkippedFile)] == [
        "a link to a file that does not exist",
        "not a regular file",
    ]


@pytest.fixture
def without_rights() -> Iterator[Path]:
    """A folder that anybody may enter, while this process is nobody in particular."""
    identity = os.geteuid()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        if identity == 0:
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if identity == 0:
                os.seteuid(0)


def test_closed_files_and_folders_are_reported(without_rights: Path) -> None:
    closed = without_rights / "closed"
    closed.mkdir()
    (closed / "inner.txt").write_text("x")
    closed.chmod(0)
    secret = without_rights / "secret.txt"
    secret.write_text("x")
    secret.chmod(0)
    (without_rights / "zebra.txt").write_text("Open.")
    first, second, third = load([without_rights])
    assert first == SkippedFile(str(closed), "cannot be read: permission denied")
    assert second == SkippedFile(str(secret), "cannot be read: permission denied")
    assert isinstance(third, Document) and third.text == "Open."
    with pytest.raises(DocumentError, match="permission denied"):
        find_files([closed / "inner.txt"])
    closed.chmod(0o700)


def test_a_text_file_has_its_uri_identity_name_and_digest(tmp_path: Path) -> None:
    path = tmp_path / "annual_report-of-Ada 2020-05.txt"
    found = document(path, "First line.\r\nSecond\rThird\n")
    assert found.text == "First line.\nSecond\nThird\n"
    assert found.uri == found.source == path.as_uri()
    assert found.id == node_id("document", path.as_uri())
    assert found.sha256 == hashlib.sha256(found.text.encode()).hexdigest()
    assert found.title == "annual report of Ada 2020-05"
    assert [each.label for each in found.locations] == ["line 1", "line 2", "line 3"]


def test_text_is_not_composed_but_freed_of_nul(tmp_path: Path) -> None:
    assert document(tmp_path / "a.txt", "e\u0301" + "x" * 100 + "\0y").text == "e\u0301" + "x" * 100 + "y"


@pytest.mark.parametrize("suffix", ["", ".unheard-of", ".TXT"])
def test_text_of_any_suffix_is_read(tmp_path: Path, suffix: str) -> None:
    assert document(tmp_path / f"a{suffix}", "Name,born\nAda,1815\n").text == "Name,born\nAda,1815\n"


WRITINGS = {
    "cp1252": "Les élèves français étaient très fatigués après l’école. Où est passée la forêt ?",
    "shift_jis": "これは日本語の文章です。東京は日本の首都であり、世界最大の都市の一つです。",
    "gb18030": "北京是中华人民共和国的首都，位于华北平原的北部。它是全国的政治和文化中心，历史悠久。",
    "euc_kr": "서울은 대한민국의 수도이며 한강을 끼고 있는 세계적인 대도시이다. 역사가 깊은 도시이다.",
    "koi8_r": "Москва - столица России, город федерального значения. Крупнейший по численности населения город.",
    "cp1256": "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها وأهمها من حيث السكان.",
    "utf-8-sig": "Grüße aus Köln – и из Москвы, 北京。",
    "utf-16": "Grüße aus Köln – и из Москвы, 北京。",
    "utf-16-be": "Les élèves français étaient très fatigués.",
}


LATE = "A plain line of English text.\n" * 5000 + "The café is closed.\n"
"""Its accent comes late."""
WRITTEN = [*WRITINGS.items(), *((each, WRITINGS["gb18030"]) for each in ("utf-16-le", "utf-16-be")), ("cp1252", LATE)]


@pytest.mark.parametrize(("encoding", "text"), WRITTEN, ids=[encoding for encoding, _ in WRITTEN])
def test_encodings_are_recognised(tmp_path: Path, encoding: str, text: str) -> None:
    assert document(tmp_path / "a.txt", text.encode(encoding)).text == text


@settings(max_examples=25, deadline=None)
@given(st.binary(min_size=1, max_size=400))
def test_no_bytes_make_loading_fail(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    for suffix in ("txt", "md", "html", "json", "jsonl", "pdf", "docx"):
        (folder / f"a.{suffix}").write_bytes(content)
    for result in load([folder]):
        assert isinstance(result, (Document, SkippedFile))
        if isinstance(result, Document):
            result.text.encode()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", b"", "empty file"),
        ("a.txt", b" \n\t\r\n", "has no text, only white space"),
        ("a.html", b"<html><body><script>x()</script></body></html>", "has no readable text"),
        ("a.gif", b"GIF89a" + bytes(64), "an image (GIF)"),
        ("a.mp4", b"\0\0\0\x18ftypmp42" + bytes(32), "a video or sound recording"),
        ("a", b"\x7fELF\2\1\1" + bytes(64), "a program"),
        ("a.bin", bytes(range(256)) * 20, "binary data, not text"),
        ("a.pdf", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
        ("a.pdf", b"<!doctype html><html><body>404 Not found</body></html>", "not a PDF file"),
    ],
)
def test_what_is_no_text_is_reported_with_the_reason(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    assert expected in reason(tmp_path / name, content)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"Ring the bell\a now.", "Ring the bell\a now."),
        (b"One\0 slip.", "One slip."),
        (b"Hi\a!\a", ""),
        (b"%PDF is a format name.", "%PDF is a format name."),
        (b"\x1b[31mERROR\x1b[0m disk full\n" * 20, "\x1b[31mERROR\x1b[0m disk full\n" * 20),
    ],
)
def test_what_looks_binary_at_a_glance_is_text(tmp_path: Path, content: bytes, text: str) -> None:
    if text:
        assert document(tmp_path / "a.txt", content).text == text
    else:
        assert reason(tmp_path / "a.txt", content) == "binary data, not text"


PEP = (
    "PEP: 8\nTitle: Style Guide\n for Python\nAuthor: Ada Quill <ada@example.org>,\n        Bo Lund\nPost-History:\n\n"
)


def test_a_title_among_the_fields_of_a_head_is_the_title(tmp_path: Path) -> None:
    assert document(tmp_path / "pep-0008.rst", f"{PEP}Introduction\n").title == "Style Guide for Python"
    for name, other in (("a", "Title: alone\n\nText."), ("b", "Some text.\nTitle: no field\n\nText."), ("c", PEP[7:9])):
        assert document(tmp_path / f"{name}.txt", other).title == name


MARKDOWN = """---
title: "Front: title"
tags: [a]
---
# Ada *Lovelace*

Ada was a [mathematician](https://example.org/a_b_c) and
wrote **notes**. ![portrait](ada.png)

- first item
- second `item`
  1. nested

| Year | Event |
|------|-------|
| 1815 | born  |

```python
x = 1
```

<!-- comment --><div>Boxed &amp; framed</div>

Last.
"""


def test_markdown_is_read_as_a_reader_sees_it(tmp_path: Path) -> None:
    found = document(tmp_path / "a.md", MARKDOWN)
    assert found.title == "Front: title"
    assert found.text.startswith(
        "Ada Lovelace\n\nAda was a mathematician and wrote notes. portrait\n\n- first item\n- "
    )
    assert "Year: 1815 | Event: born\n\nx = 1\n\n" in found.text
    assert "1. nested" in found.text and found.text.endswith("Last.")
    for mark in ("**", "```", "https", "tags", "comment", "<div>"):
        assert mark not in found.text


def test_markdown_names_come_from_front_matter_heading_or_file_and_a_rule_is_no_front_matter(tmp_path: Path) -> None:
    assert document(tmp_path / "a.md", "+++\ntitle = 'Toml'\n+++\nText.").title == "Toml"
    assert document(tmp_path / "a.md", "Intro.\n\nThe heading\n===\n\nText.").title == "The heading"
    assert document(tmp_path / "my_file.md", "Only text.").title == "my file"
    assert document(tmp_path / "a.md", "---\n\nText one.\n\n---\n\nText two.").text == "Text one.\n\nText two."


PROSE = "Ada Lovelace wrote the first program, for a machine that nobody had built, and published it in 1843."
SITE = """<html><body>
<header><a href="/">Site</a> Motto of the site</header>
<div class="main-nav"><ul><li><a href="/a">News</a></li><li><a href="/b">Sport</a></li></ul></div>
<div class="with-sidebar"><div id="page-content" class="modal-root">{text}</div>
<div class="sidebar"><p>Subscribe to our letter, which we send to all who asked for it, each Monday.</p></div></div>
<div class="see"><p><a href="/x">Ten machines that nobody built, and why they are dear to us</a></p></div>
<section id="comments"><p>I have always said so, and my uncle too, who knew a man who knew the man.</p></section>
<div style="display: none">Nobody sees this</div><div role="contentinfo">All rights reserved</div></body></html>"""


def test_html_loses_what_stands_around_its_text(tmp_path: Path) -> None:
    text = "".join(f"<{tag}>{PROSE}</{tag}>" for tag in ("p", "div", "blockquote"))
    assert document(tmp_path / "a.html", SITE.format(text=text)).text == "\n\n".join([PROSE] * 3)


def test_html_keeps_headings_lists_tables_and_code(tmp_path: Path) -> None:
    text = (
        f"<header><h1>Engine</h1></header><p>{PROSE}</p><h2>Parts</h2><ol><li>mill<li>store</ol>"
        "<dl><dt>mill</dt><dd>computes</dd></dl><table><tr><th>part</th><th>wheels</th></tr><tr><td>mill</td><td>9</td>"
        f"</tr></table><pre>engine --run x</pre><p>{PROSE} See <a href='c'>the notes</a>.</p>"
    )
    blocks = ["Engine", PROSE, "Parts", "- mill\n- store", "mill", "computes", "part: mill | wheels: 9"]
    found = document(tmp_path / "a.html", SITE.format(text=f"<article>{text}</article>"))
    assert found.text == "\n\n".join([*blocks, "engine --run x", f"{PROSE} See the notes."])


def test_html_of_links_alone_keeps_its_list(tmp_path: Path) -> None:
    links = "".join(
        f"<li><a href='{number}'>Chapter {number} of the notes on the engine</a></li>" for number in range(9)
    )
    found = document(tmp_path / "a.html", f"<nav>Up</nav><h1>Contents</h1><ul>{links}</ul><p>{PROSE[:60]}</p>")
    assert found.text.startswith("Contents\n\n- Chapter 0 of the notes") and found.text.endswith(PROSE[:60])


def test_html_that_is_text_under_a_name_of_something_else_is_kept(tmp_path: Path) -> None:
    for name in ("related-links", "advert", "comments"):
        assert document(tmp_path / "a.html", f'<div class="{name}"><p>{PROSE}</p></div><p>Menu</p>').text == PROSE
    aside = f"<aside><p>{PROSE}</p></aside>"
    assert document(tmp_path / "b.html", f"<body>{aside}<footer>Imprint</footer></body>").text == PROSE


@pytest.mark.parametrize(
    "part", ["section id='sharing-with-others'", "div class='elementor-widget elementor-widget-text'"]
)
def test_html_keeps_parts_whose_names_are_made_of_headings_or_by_builders(tmp_path: Path, part: str) -> None:
    inside = f"<{part}><p>Ada shared the notes on the engine with all.</p></{part.split()[0]}>"
    page = f"<main><p>{PROSE} {PROSE}</p>{inside}</main>"
    assert "Ada shared the notes" in document(tmp_path / "a.html", page).text


def test_html_without_main_text_falls_back_on_what_is_visible(tmp_path: Path) -> None:
    found = document(tmp_path / "menu.html", "<div>One</div><ul><li>Two<li>Three</ul><script>no</script>")
    assert [word for word in ("One", "Two", "Three") if word in found.text] == ["One", "Two", "Three"]
    assert "no" not in found.text
    assert found.title == "menu"


def test_html_believes_its_declared_charset_if_it_is_not_utf8(tmp_path: Path) -> None:
    page = '<html><head><meta charset="windows-1251"><title>Мир</title></head><body><p>Это мир.</p></body></html>'
    found = document(tmp_path / "a.html", page.encode("cp1251"))
    assert found.title == "Мир" and found.text == "Это мир."
    wrong = page.replace("windows-1251", "iso-8859-1")
    assert document(tmp_path / "b.html", wrong).text == "Это мир."


def protected(content: bytes, user: str, owner: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    writer.encrypt(user, owner, algorithm=algorithm)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_pdf_pages_have_spans(tmp_path: Path) -> None:
    found = document(tmp_path / "a.pdf", pdf(["First page.", "Second page\nhas lines.", "", "Fourth."], "The Engine"))
    assert found.title == "The Engine"
    assert [page.label for page in found.locations] == ["page 1", "page 2", "page 4"]
    assert [found.text[page.start : page.end] for page in found.locations] == found.text.split("\n\n")
    assert found.text.startswith("First page.\n\nSecond page")


def test_words_that_are_placed_one_by_one_are_apart_and_broken_ones_are_whole(tmp_path: Path) -> None:
    found = document(tmp_path / "a.pdf", typeset(["The cable was laid in one summer.", "Ships carried it."]))
    assert found.text.split("\n") == ["The cable was laid in one summer.", "Ships carried it."]
    found = document(tmp_path / "a.pdf", typeset(["Such a thing is an environ-", "ment, and it goes on."]))
    assert found.text == "Such a thing is an environment, and it goes on."


def test_pdf_files_are_read_by_several_threads(tmp_path: Path) -> None:
    """PDFium itself must not be."""
    content = pdf([f"Page {number} of the report." for number in range(40)])
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(lambda _: read_pdf("a.pdf", io.BytesIO(content)).text, range(32)))
    assert set(texts) == {"\n\n".join(f"Page {number} of the report." for number in range(40))}


@pytest.mark.parametrize("title", ["", "Microsoft Word - thesis_final.doc", "1234"])
def test_meaningless_pdf_titles_give_way_to_the_file_name(tmp_path: Path, title: str) -> None:
    assert document(tmp_path / "my_paper.pdf", pdf(["Text."], title)).title == "my paper"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_encrypted_pdf_is_reported_but_read_if_it_opens_without_password(tmp_path: Path, algorithm: str) -> None:
    content = pdf(["Secret text."])
    assert reason(tmp_path / "a.pdf", protected(content, "word", "owner", algorithm)).startswith(
        "encrypted PDF: remove"
    )
    assert document(tmp_path / "b.pdf", protected(content, "", "owner", algorithm)).text == "Secret text."


def test_scans_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_pdf, "can_read_scans", lambda: False)  # as where the extra is not installed
    assert to_read_scans() in reason(tmp_path / "a.png", b"\x89PNG\r\n\x1a\n" + bytes(64))
    assert reason(tmp_path / "a.pdf", pdf([None, None])) == "is a scan, without text: " + to_read_scans()
    (tmp_path / "b.pdf").write_bytes(pdf(["Text.", None]))
    found, fault = load([tmp_path / "b.pdf"])
    assert isinstance(found, Document) and found.text == "Text."
    told = f"page 2 is a scan, without text: {to_read_scans()}"
    assert fault == SkippedFile(str(tmp_path / "b.pdf"), told, in_part=True)


def test_damaged_pdf_is_reported_and_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    good = pdf(["Some text."] * 3)
    assert reason(tmp_path / "a.pdf", good[: len(good) // 3]).startswith("damaged PDF")
    assert reason(tmp_path / "b.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 4).startswith("damaged PDF")
    list(load([tmp_path]))
    one(tmp_path / "c.pdf", good.replace(b"startxref", b"startxxxx"))
    assert capfd.readouterr() == ("", "")


def word(*paragraphs: str, title: str = "") -> bytes:
    made = docx.Document()
    made.core_properties.title = title
    made.add_heading("The heading", 1)
    for paragraph in paragraphs:
        made.add_paragraph(paragraph)
    table = made.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def test_docx_keeps_headings_and_paragraphs(tmp_path: Path) -> None:
    found = document(tmp_path / "a.docx", word("One paragraph.", "Another – with “quotes”.", title="Core title"))
    assert found.title == "Core title"
    assert found.text.startswith("The heading\n\nOne paragraph.\n\nAnother – with “quotes”.\n\n")
    assert "left" in found.text and "right" in found.text
    assert document(tmp_path / "my_file.docx", word("Text.")).title == "my file"


def test_docx_without_its_style_sheets_has_the_same_text(tmp_path: Path) -> None:
    """Styles are left out for their size: a heading, a list, a table and a run of another style stay as they are."""
    made = docx.Document()
    made.add_heading("A heading", level=2)
    made.add_paragraph("first point", style="List Number").add_run(" in italics").italic = True
    made.add_table(rows=1, cols=2, style="Table Grid").rows[0].cells[1].text = "in a cell"
    made.save(str(tmp_path / "a.docx"))
    with (tmp_path / "a.docx").open("rb") as stream:
        whole = mammoth.extract_raw_text(stream).value
    found = document(tmp_path / "a.docx", (tmp_path / "a.docx").read_bytes()).text
    assert set(found.split()) - {"-", "1."} == set(whole.split())
    assert "first point in italics" in found and "in a cell" in found


def test_formats_are_recognised_by_content_under_another_name(tmp_path: Path) -> None:
    page = f"<!doctype html><html><head><title>Ada &ndash; page</title></head><body><p>{PROSE}</p></body></html>"
    assert document(tmp_path / "page.txt", page).title == "Ada – page"
    assert document(tmp_path / "notes.txt", pdf(["Hello there."])).text == "Hello there."
    assert "One paragraph." in document(tmp_path / "notes.txt", word("One paragraph.")).text


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("ppt/presentation.xml", "damaged: open it in its program and save it again"),
        ("content.xml", "format not supported: an OpenDocument file that is no text, presentation or workbook"),
        ("META-INF/MANIFEST.MF", "format not supported: a Java archive"),
        ("photo.jpg", "format not supported: an archive (ZIP): unpack it"),
    ],
)
def test_other_zip_files_are_named(tmp_path: Path, part: str, expected: str) -> None:
    assert reason(tmp_path / "a.docx", zipped({part: b"x"})) == expected


def test_damaged_and_malicious_docx_are_reported(tmp_path: Path) -> None:
    good = word("Text.")
    assert reason(tmp_path / "a.docx", good[: len(good) // 2]).startswith("damaged")
    assert reason(tmp_path / "b.docx", zipped({"word/document.xml": b"<not xml"})).startswith("damaged")
    bomb = zipped({"word/document.xml": bytes(80 << 20)})
    assert "unpacks to 80 MB" in reason(tmp_path / "c.docx", bomb)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("EncryptedPackage", "password-protected Office document"),
        ("WordDocument", "old Word format (.doc): save it as .docx"),
        ("PowerPoint Document", "old PowerPoint format (.ppt): save it as .pptx"),
        ("Something", "an old Office file"),
    ],
)
def test_ole_containers_are_named_by_what_they_hold(tmp_path: Path, stream: str, expected: str) -> None:
    content = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1024) + stream.encode("utf-16-le") + bytes(512)
    assert expected in reason(tmp_path / "a.docx", content)


def test_a_homes_own_files_are_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in (
        *("neo4j/data/databases/system/a", "neo4j/conf/neo4j.conf", "llm-cache/a.json", "browser.json"),
        *("notes/b.txt", "c.txt"),
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("text")
    assert list(find_files([tmp_path])) == [home / "c.txt", home / "notes" / "b.txt"]
    (home / "neo4j" / "data" / "databases" / "system" / "a").unlink()
    (home / "neo4j" / "data" / "databases" / "system").rmdir()
    assert home / "neo4j" / "conf" / "neo4j.conf" in list(find_files([tmp_path]))


def members(path: Path, content: object) -> list[Document | SkippedFile]:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return list(load([path]))


def test_a_json_corpus_gives_a_document_per_item(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    corpus = [
        {"title": "Ada Lovelace", "text": "One."},
        {"title": "Köln/Rhein;2", "text": "Two."},
        {"title": "Ada Lovelace", "text": "Three.", "extracted_triples": []},
        {"text": "Four."},
        {"title": "", "text": "Five."},
        {"title": 7, "text": "Six."},
    ]
    found = [d for d in members(path, corpus) if isinstance(d, Document)]
    fragments = ["Ada%20Lovelace", "K%C3%B6ln%2FRhein%3B2", "Ada%20Lovelace;2", ";4", ";5", "7"]
    assert [d.uri for d in found] == [f"{path.as_uri()}#{fragment}" for fragment in fragments]
    assert {d.source for d in found} == {path.as_uri()}
    assert [d.text for d in found] == ["One.", "Two.", "Three.", "Four.", "Five.", "Six."]
    assert [d.title for d in found] == ["Ada Lovelace", "Köln/Rhein;2", "Ada Lovelace", "c 4", "c 5", "7"]
    assert all(d.id == node_id("document", d.uri) for d in found)


def test_a_changed_or_emptied_text_leaves_the_uris_alone(tmp_path: Path) -> None:
    before = members(tmp_path / "c.json", [{"title": "A", "text": "1"}, {"title": "A", "text": "2"}])
    after = members(tmp_path / "c.json", [{"title": "A", "text": ""}, {"title": "A", "text": "2 changed"}])
    assert isinstance(after[0], SkippedFile) and after[0].reason == "item 1: has no text (A)"
    assert isinstance(before[1], Document) and isinstance(after[1], Document)
    assert (before[1].id, before[1].text) == (after[1].id, "2") or after[1].text == "2 changed"
    assert before[1].uri == after[1].uri


def test_other_accepted_shapes(tmp_path: Path) -> None:
    (single,) = members(tmp_path / "a.json", {"title": "T", "text": "One."})
    (context,) = members(tmp_path / "b.json", [{"corpus_name": "Medical", "context": "Long text."}])
    assert isinstance(single, Document) and single.title == "T"
    assert isinstance(context, Document) and (context.title, context.text) == ("Medical", "Long text.")
    (within,) = members(tmp_path / "c.json", {"docs": [{"idx": "1", "passage": "One."}], "average": 3})
    assert isinstance(within, Document) and (within.text, within.metadata) == ("One.", {"idx": "1"})
    for key in ("text", "contents", "page_content"):
        (found,) = members(tmp_path / "d.json", [{"title": "T", key: "One."}])
        assert isinstance(found, Document) and (found.title, found.text) == ("T", "One.")


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "long.jsonl"])
def test_keys_that_are_named(tmp_path: Path, name: str) -> None:
    article = "One. " * (HARMLESS_BYTES // 4 if name == "long.jsonl" else 1)
    path = tmp_path / name
    path.write_text(json.dumps({"headline": "H", "article": article, "text": "A summary."}) + "\n")
    keys = load_settings(home=tmp_path / "home", text_field="article", title_field="headline")
    with bounded_calls(keys, NEVER) as calls:
        (found,) = load([path], calls, Fields.of(keys))
    assert isinstance(found, Document)
    assert (found.title, found.text.strip()) == ("H", article.strip())
    (other,) = load([path], fields=Fields(("body",)))
    assert isinstance(other, SkippedFile)
    assert "expected" in other.reason
    assert "{title, body}, found an object with the keys headline, article, text" in other.reason
    assert other.reason.endswith(f"set KGPLATFORM_TEXT_FIELD={'article' if name == 'long.jsonl' else 'text'}")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"a": 1}, "found an object with the keys a"),
        ([{"question": "q", "answer": "a"}], "found a list of objects with the keys question, answer"),
        (["text one"], "found a list of texts"),
        ({"text": 5}, "but the text of its object is 5, and not a string"),
        ([{"text": ["a", "b"]}], "but the text of item 1 is a list of texts, and not a string"),
        ('{"title": "x", ', "not valid JSON ("),
        ("[" * 100000, "nested too deeply"),
        ("9" * 5000, "not valid JSON (a number is too long)"),
    ],
)
def test_json_of_another_shape_is_described(tmp_path: Path, content: object, expected: str) -> None:
    (found,) = members(tmp_path / "a.json", content)
    assert isinstance(found, SkippedFile) and expected in found.reason
    assert expected.startswith("n") or found.reason.startswith("expected a list of {title, text}, ")


def test_bad_items_are_reported_one_by_one(tmp_path: Path) -> None:
    corpus = [
        *({"title": "A", "text": "1"}, "x", {"title": "B"}, {"title": "C", "text": " \n"}, {"title": "D", "text": "4"}),
        {"title": "E", "text": None},
    ]
    found = members(tmp_path / "a.json", corpus)
    assert [r.reason for r in found if isinstance(r, SkippedFile)] == [
        "item 2: expected {title, text}, found a text",
        "item 3: expected {title, text}, found an object with the keys title",
        "item 4: has no text (C)",
        "item 6: its text is null, and not a string",
    ]
    assert [d.title for d in found if isinstance(d, Document)] == ["A", "D"]


def test_surrogates_and_nul_in_json_do_not_survive(tmp_path: Path) -> None:
    (found,) = members(
        tmp_path / "a.json", r'[{"title": "A\ud800\u0000", "text": "x\udfff y\u0000 \ud83d\ude00\r\nz"}]'
    )
    assert isinstance(found, Document) and (found.title, found.text) == ("A", "x y \U0001f600\nz")


def test_jsonl_reports_broken_lines_by_number_and_loads_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        *(b"\xef\xbb\xbf" + b'{"title": "A", "text": "1"}', b"", b"{broken", b'{"text": "2"}', b"[1]"),
        b'{"text": "\xe9"}',
    ]
    path.write_bytes(b"\r\n".join([*lines, b'{"title": "A", "text": "3"}']))
    found = list(load([path]))
    reasons = [r.reason for r in found if isinstance(r, SkippedFile)]
    assert reasons[0].startswith("1 place not in utf-8")
    assert reasons[1].startswith("line 3: not valid JSON (expecting property name")
    assert reasons[2:] == ["line 5: expected {title, text}, found a list of values"]
    fragments = [d.uri.split("#")[1] for d in found if isinstance(d, Document)]
    assert fragments == ["A", ";4", ";6", "A;2"]


def test_json_and_jsonl_under_each_others_name(tmp_path: Path) -> None:
    lines = members(tmp_path / "a.json", '{"title": "A", "text": "1"}\n{"title": "B", "text": "2"}\n')
    listed = members(tmp_path / "b.jsonl", '[\n  {"title": "A", "text": "1"},\n  {"title": "B", "text": "2"}\n]\n')
    for found in (lines, listed):
        assert [(d.title, d.text) for d in found if isinstance(d, Document)] == [("A", "1"), ("B", "2")]


def test_a_title_is_no_longer_than_a_name(tmp_path: Path) -> None:
    (found,) = members(tmp_path / "a.json", [{"title": "Ada " * 100_000, "text": "One."}])
    assert isinstance(found, Document) and len(found.title) == 500 and len(found.uri) < 2000
    page = "<html><title>" + "Ada " * 100_000 + "</title><p>Text.</p></html>"
    assert len(document(tmp_path / "a.html", page).title) == 500


def test_a_notebook_is_read_by_its_cells(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# The river\n", "\n", "It *runs*."]},
        {"cell_type": "code", "source": "x = 1\nprint(x)", "outputs": [{"text": ["an output"]}]},
        {"cell_type": "raw", "source": "raw"},
    ]
    found = document(tmp_path / "a.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
    assert (found.title, found.text) == ("The river", "The river\n\nIt runs.\n\nx = 1\nprint(x)")
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["y = 2"]}]}]}
    assert document(tmp_path / "b.ipynb", json.dumps(old)).text == "y = 2"
    for content in ("{", "[]", '{"cells": [1]}', "{}"):
        assert reason(tmp_path / "c.ipynb", content) == "damaged notebook: save it again from Jupyter"


def test_a_page_nested_very_deeply_keeps_its_text(tmp_path: Path) -> None:
    deep = f"{'<div>' * 20_000}Deep.{'</div>' * 20_000}"
    found = document(tmp_path / "a.html", f"<html><title>T</title><script>x()</script><p>First.{deep}<p>Last.</html>")
    assert (found.title, found.text) == ("T", "First.\n\nDeep.\n\nLast.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of all kinds, good and bad, whose names are in no order of kinds."""
    place = tmp_path / "files"
    place.mkdir()
    for number in range(8):
        pages = [f"Report {number}.", *["More."] * (60 if number == 4 else 0), "The end."]  # one is slow to read
        (place / f"{number:02}.pdf").write_bytes(pdf(pages, f"Report {number}"))
        (place / f"{number:02}.html").write_text(f"<html><title>Page {number}</title><p>A river runs here.</p></html>")
        (place / f"{number:02}.txt").write_text(f"Note {number}.")
    word = docx.Document()
    word.add_paragraph("A letter.")
    word.save(str(place / "03-letter.docx"))
    lines = (json.dumps({"title": str(number), "text": f"Item {number}."}) for number in range(5))
    (place / "05-items.jsonl").write_text("\n".join(lines))
    (place / "07-damaged.pdf").write_bytes(b"%PDF-1.4\nrubbish")
    (place / "08-empty.html").write_text("")
    (place / "09-dead.pdf").symlink_to(place / "nothing.pdf")
    (place / "10-folder.pdf").mkdir()
    return place


def test_workers_give_what_this_process_gives_and_cut_as_it_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = list(load([folder]))
    assert len([each for each in wanted if isinstance(each, Document)]) == 8 * 3 + 1 + 5
    with LocalWorkers(2) as workers, BoundedCalls(60, 2000) as calls:
        for bytes_ahead in (100_000_000, 1_000):  # all are sent, or large ones are read here
            monkeypatch.setattr(of_load, "_BYTES_AHEAD", bytes_ahead)
            assert list(described(load_by(workers, [folder], USUAL, calls, NEVER))) == wanted
        with pytest.raises(DocumentError, match="no such file"):
            next(load_by(workers, [folder / "nothing"], USUAL, calls, NEVER))
        monkeypatch.setattr(of_load, "_CUT_AT_ONCE", 60)
        parts = [(item, cut_document(item, 20)) if isinstance(item, Document) else item for item in wanted]
        assert list(cut_by(workers, wanted, 20, NEVER)) == parts


def test_workers_read_in_the_encoding_that_is_given(tmp_path: Path) -> None:
    for name in ("a.md", "b.csv", "c.html", "d.txt"):
        (tmp_path / name).write_bytes("Źrebię;Żółw\nŁódź;Święta\n".encode("cp852"))
    fields = Fields(encoding="cp852")
    with LocalWorkers(2) as workers, BoundedCalls(60, 2000) as calls:
        found = list(described(load_by(workers, [tmp_path], fields, calls, NEVER)))
    assert found == list(load([tmp_path], fields=fields))
    assert all(isinstance(each, Document) and "Łódź" in each.text for each in found)


def test_it_can_be_stopped(folder: Path) -> None:
    stop = Stop()
    with LocalWorkers(2) as workers, BoundedCalls(60, 2000, stop) as calls:
        items = load_by(workers, [folder], USUAL, calls, stop)
        next(items)
        stop.set()
        with pytest.raises(StoppedError):
            list(items)
