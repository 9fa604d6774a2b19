"""Presentations, workbooks, e-books, mails and the like into text, and what people call the places in them."""

import io
import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import hostile_files
import openpyxl
import pytest
from conftest import opened
from made_pdf import pdf, ruled, scanned, tiff
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from kgplatform.errors import DocumentError
from kgplatform.neo4j.store import Store
from kgplatform.records import Document, SkippedFile
from kgplatform.sources.cut import label_of_span
from kgplatform.sources.files import pdf as of_pdf
from kgplatform.sources.files.file_text import has_headings, lines, parsing
from kgplatform.sources.files.pdf import Box, read_in_order
from kgplatform.sources.load import load

TEAMS = [["Team", "City", "Cups"], ["Canadiens", "Montréal", 24], ["Bruins", "Boston", 6]]
SCANNED = (
    "The Great Eastern sailed from Valentia in July 1866\n"
    "and laid the whole cable to Heart's Content.\n"
    "Cyrus Field sent the first message home."
)
LINES = ["Team: Canadiens | City: Montréal | Cups: 24", "Team: Bruins | City: Boston | Cups: 6"]


def read(path: Path, content: bytes | str) -> tuple[Document, list[str]]:
    """The document in a file, and the faults beside it."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    found, *faults = load([path])
    assert isinstance(found, Document), found
    assert all(found.text[each.start : each.end].strip() for each in found.locations)
    return found, [each.reason for each in faults if isinstance(each, SkippedFile)]


def located(found: Document) -> dict[str, str]:
    return {each.label: found.text[each.start : each.end] for each in found.locations}


def saved(made: Any) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def presentation() -> bytes:
    made = Presentation()
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text, first.placeholders[1].text = "The cable", "It was laid in 1866."
    first.notes_slide.notes_text_frame.text = "Speak slowly."
    second = made.slides.add_slide(made.slide_layouts[5])
    second.shapes.title.text = "Who won"
    table = second.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for at, row in enumerate(TEAMS):
        for column, cell in enumerate(row):
            table.cell(at, column).text = str(cell)
    data = CategoryChartData()
    data.categories = ["1865", "1866"]
    data.add_series("Miles", (1200, 1852))
    second.shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(4), Inches(4), Inches(2), data)
    return saved(made)


def workbook() -> bytes:
    made = openpyxl.Workbook()
    made.active.title = "Hockey"
    made.active.append(["Cups until today"])
    for row in TEAMS:
        made.active.append(row)
    years = made.create_sheet("Who's born")
    years["B3"], years["C3"], years["B4"], years["C4"] = "Ada", 1815, "Bo", 2.5
    return saved(made)


def mail() -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ada <ada@example.org>", "bo@example.org", "The äther"
    made["Date"] = "Fri, 23 Dec 2022 12:08:48 -0600"
    made.set_content("Yes.\n\n> Did it work?\n>\n> > Yes.\n\nAda\n")
    made.add_alternative("<p>Yes. And in HTML.</p>", subtype="html")
    made.add_attachment(pdf(["Page one.", "Page two."]), maintype="application", subtype="pdf", filename="report.pdf")
    made.add_attachment(b"\x7fELF" + bytes(99), maintype="application", subtype="octet-stream", filename="a.out")
    return made


def test_presentations_have_slides_with_tables_charts_and_notes(tmp_path: Path) -> None:
    found, _ = read(tmp_path / "a.pptx", presentation())
    slides = located(found)
    assert slides["slide 1"] == "The cable\n\nIt was laid in 1866.\n\nNotes: Speak slowly."
    assert slides["slide 2"] == "Who won\n\n" + "\n".join(LINES) + "\n\n1865 | Miles: 1200\n1866 | Miles: 1852"


def test_rows_of_workbooks_and_tables_have_their_headings_and_cells(tmp_path: Path) -> None:
    rows = located(read(tmp_path / "a.xlsx", workbook())[0])
    assert rows == {
        **{"Hockey!A1:C1": "Hockey\n\nCups until today", "Hockey!A3:C3": LINES[0], "Hockey!A4:C4": LINES[1]},
        **{"'Who''s born'!B3:C3": "Who's born\n\nAda | 1815", "'Who''s born'!B4:C4": "Bo | 2.5"},
    }
    table = "\n".join(";".join(map(str, row)) for row in TEAMS)
    for name, text in (("a.csv", table), ("a.tsv", table.replace(";", "\t"))):
        assert located(read(tmp_path / name, text)[0]) == {"row 2": LINES[0], "row 3": LINES[1]}
    assert not has_headings([["Name", "Ada"], ["Born", "1815"], ["Died", "1852"]])
    assert lines([["Name", "Ada"]], first=True) == ["Name | Ada"]
    assert has_headings([["Region", "Revenue"], ["North", "$800K"], ["South", "$600K"]])
    assert has_headings([["Pax", "Change", "Cargo", "Change"], ["7", "1.2", "9", "0.1"], ["8", "2.4", "8", "0.3"]])
    assert not has_headings([["Ada", "London"], ["Bo", "Ulm"], ["Cy", "Bern"], ["Di", "Cork"]])


def test_tables_of_documents_and_pages_have_headings_and_spans(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_paragraph("Who won")
    table = made.add_table(0, 3)
    for row in TEAMS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = str(text)
    assert read(tmp_path / "a.docx", saved(made))[0].text == "Who won\n\n" + "\n".join(LINES)
    page = (
        "<html><body><p>Before.</p><table><thead><tr><th rowspan=2>Team<th colspan=2>Cups<tr><th>won<th>lost</thead>"
        "<tr><td rowspan=2>Bruins<td>6<td><p>14</p><tr><td>7</table><table><tr><td><table><tr><td>Laid out</table>"
        "</table></body></html>"
    )
    text = "Before.\n\nTeam: Bruins | Cups won: 6 | Cups lost: 14\nTeam: Bruins | Cups won: 7\n\nLaid out"
    assert read(tmp_path / "a.html", page)[0].text == text


def test_ruled_tables_of_pdfs_have_headings_spans_and_go_on_over_pages(tmp_path: Path) -> None:
    teams = [[str(cell) for cell in row] for row in TEAMS]
    found, _ = read(tmp_path / "a.pdf", ruled([teams, [["Senators", "Ottawa", "11"], ["Kings", "", "2"]]]))
    more = ["Team: Senators | City: Ottawa | Cups: 11", "Team: Kings | Cups: 2"]
    assert located(found) == {
        f"page {number}": "\n\n".join(("Before.", "\n".join(told), "Behind."))
        for number, told in enumerate((LINES, more), start=1)
    }
    turned, _ = read(tmp_path / "turned.pdf", ruled([teams], upwards=True))
    assert turned.text == located(found)["page 1"]
    spans = ruled([[*teams[:2], ["", "Toronto", "3"], ["Bruins", "Boston", "6"]]], tall=1)
    told = [LINES[0], "Team: Canadiens | City: Toronto | Cups: 3", LINES[1]]
    assert read(tmp_path / "b.pdf", spans)[0].text == "\n\n".join(("Before.", "\n".join(told), "Behind."))
    chart = ruled([[["", ""], ["Sales by year", ""], ["", ""]]])
    assert read(tmp_path / "c.pdf", chart)[0].text == "Before.\nSales by year\nBehind."


def test_a_parser_in_rust_that_panics_is_a_damaged_file() -> None:
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(DocumentError, match="damaged"), parsing("a.xlsb", "damaged"):
        raise panic
    with pytest.raises(KeyboardInterrupt), parsing("a.xlsb", "damaged"):
        raise KeyboardInterrupt


def test_books_have_the_chapters_of_their_table_of_contents(tmp_path: Path) -> None:
    chapter = (
        "<html><body><h1>The Whale</h1><p>Call me.</p><h2 id='b'>The Bag</h2><p>I stuffed a shirt.</p></body></html>"
    )
    contents = (
        "<nav><ol><li><a href='c.html'>1. The Whale</a><ol><li><a href='c.html#b'>The Bag</a></li></ol></li></ol></nav>"
    )
    package = (
        "<p><title>Moby</title><item id='a' href='c.html' media-type='text/html'/>"
        "<item id='n' href='nav.html' media-type='text/html' properties='nav'/>"
        "<itemref idref='n'/><itemref idref='a'/></p>"
    )
    parts = {
        "META-INF/container.xml": "<c><rootfile full-path='o/p.opf'/></c>",
        "o/p.opf": package,
        "o/c.html": chapter,
        "o/nav.html": contents,
    }
    found, _ = read(tmp_path / "a.epub", hostile_files.zipped({name: part.encode() for name, part in parts.items()}))
    assert found.title == "Moby"
    assert located(found) == {
        "1. The Whale": "The Whale\n\nCall me.",
        "1. The Whale · The Bag": "The Bag\n\nI stuffed a shirt.",
    }


def test_mails_have_headers_each_word_once_and_attachments(tmp_path: Path) -> None:
    found, faults = read(tmp_path / "a.eml", mail().as_bytes())
    parts = located(found)
    assert found.title == "The äther"
    assert parts["message"] == (
        "The äther\n\nFrom: Ada <ada@example.org>\nTo: bo@example.org\nDate: Fri, 23 Dec 2022 12:08:48 -0600\n\n"
        "Yes.\n\nDid it work?\n\nAda"
    )
    assert parts["attachment report.pdf, page 2"] == "Page two."
    assert faults == ["attachment a.out: format not supported: a program, not text"]
    (told,) = (each for each in load([tmp_path / "a.eml"]) if isinstance(each, SkippedFile))
    assert told.in_part
    forwarded = EmailMessage()
    forwarded["Subject"] = "Forwarded"
    forwarded.set_content("See below.")
    forwarded.add_attachment(mail())
    parts = located(read(tmp_path / "b.eml", forwarded.as_bytes())[0])
    assert parts["attachment message.eml, attachment report.pdf, page 1"] == "Page one."


def test_open_documents_rich_text_restructured_text_and_captions(tmp_path: Path) -> None:
    note = "<te:note><te:note-citation>1</te:note-citation><te:note-body><te:p>A note.</te:p></te:note-body></te:note>"
    row = "<ta:table-row>{}</ta:table-row>"
    cells = [
        row.format("".join(f"<ta:table-cell><te:p>{cell}</te:p></ta:table-cell>" for cell in each)) for each in TEAMS
    ]
    body = f"<te:h>Head</te:h><te:p>Words{note} go<te:s te:c='2'/>on.</te:p><ta:table>{''.join(cells)}</ta:table>"
    found, _ = read(tmp_path / "a.odt", hostile_files.open_document("text", body.encode()))
    assert found.text == "Head\n\nWords go  on.\n\nA note.\n\n" + "\n".join(LINES)
    rich = r"{\rtf1\ansi{\info{\title The sea}}Caf\'e9 in {\b bold}.{\footnote \pard {\up6\chftn}A note.}\par Next.}"
    found, _ = read(tmp_path / "a.rtf", rich)
    assert (found.title, found.text) == ("The sea", "Café in bold. A note.\n\nNext.")
    source = (
        "The head\n========\n\nSome *words* and :py:class:`~a.B` and a `link <https://x>`_.\n\n"
        ".. versionadded:: 3\n   New here.\n\n"
        ".. include:: /etc/passwd\n\n.. raw:: html\n\n   <b>raw</b>\n\n- one\n- two\n"
    )
    found, _ = read(tmp_path / "a.rst", source)
    assert found.text == "The head\n\nSome words and a.B and a link.\n\n3 New here.\n\n- one\n- two"
    captions = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ada>We laid\n\n1:00:03.000 --> 1:00:04.000\nthe <i>cable</i>.\n"
    found, _ = read(tmp_path / "a.vtt", captions)
    assert found.text == "Ada: We laid the cable." and list(located(found)) == ["at 0:00:01", "at 1:00:03"]


def test_scans_are_read_in_columns_and_told_from_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is simulated here: what it costs to load is no matter for what is done with its words."""
    prose = [
        Box(x, y, x + 90, y + 10, f"column {x} of the paper, line {y}") for x in (0, 100) for y in range(0, 50, 12)
    ]
    assert read_in_order([*prose, Box(0, 80, 190, 90, "below")]).split("\n")[:2] == [prose[0].text, prose[1].text]
    assert read_in_order([Box(0, 0, 50, 10, "Total"), Box(100, 2, 120, 12, "7.50")]) == "Total 7.50"
    monkeypatch.setattr(of_pdf, "can_read_scans", lambda: True)
    monkeypatch.setattr(of_pdf, "words_in", lambda image: f"{image.width} pixels wide")
    found, faults = read(tmp_path / "a.pdf", pdf(["Text.", None]))
    assert located(found) == {"page 1": "Text.", "page 2": "1654 pixels wide"} and not faults
    renewed: list[int] = []
    monkeypatch.setattr(of_pdf, "renew", lambda: renewed.append(1))
    monkeypatch.setattr(of_pdf, "words_in", lambda image: f"{image.width} pixels wide")
    monkeypatch.setattr(of_pdf, "MOST_SCANS", 2)
    found, faults = read(tmp_path / "a.tif", tiff(3))
    assert list(located(found)) == ["page 1", "page 2"] and len(renewed) == 2
    assert faults == ["has more than 2 pages, and no more are read: split it"]


def test_the_real_engine_reads_a_scanned_page_word_for_word(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="the extra ocr is not installed")
    found, faults = read(tmp_path / "a.pdf", scanned(SCANNED))
    assert located(found) == {"page 1": SCANNED} and not faults


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["slide 2", "slide 2"], "slide 2"),
        (["page 2", "page 3", "page 4"], "pages 2–4"),
        (["A!B2:C2", "A!B9:C9"], "A!B2:C9"),
        (["'A B'!B2", "'A B'!B9"], "'A B'!B2:B9"),
        (["1. The Whale", "2. The Bag"], "1. The Whale – 2. The Bag"),
    ],
)
def test_several_locations_have_one_label(labels: list[str], expected: str | None) -> None:
    assert label_of_span(labels) == expected


BELOW = {
    "beginning": "The whale\n\nCall me.",
    "Étangs": "Étangs\n\nOf *water*.",
    "2. C++ & co.": "2. C++ & co.\n\nOf code.",
}
"""What stands below each heading."""
MARKED = "# The whale\n\nCall me.\n\n## Étangs\n\nOf \\*water\\*.\n\n2\\. C++ & co.\n---\n\nOf code.\n"
PAGE = (
    "<title>The whale</title><nav><h2>Menu</h2></nav><h1>The whale</h1><p>Call me.<h2 class=x>\n Étangs</h2>"
    "<p>Of *water*.<h3>2. <b>C++</b> &amp; co.</h3><p>Of code."
)
RULED = (
    "The whale\n=========\n\nCall me.\n\nÉtangs\n------\n\nOf \\*water\\*.\n\n2. C++ & co.\n------------\n\nOf code.\n"
)


def with_headings() -> bytes:
    made = docx.Document()
    for level, words in ((1, "The whale"), (0, "Call me."), (2, "Étangs"), (0, "Of *water*."), (3, "2. C++ & co.")):
        made.add_heading(words, level) if level else made.add_paragraph(words)
    made.core_properties.title = "The whale"
    made.add_paragraph("Of code.")
    return saved(made)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", MARKED, BELOW),
        ("a.md", "---\ntitle: The whale\n---\n" + MARKED.replace("\n", "\r\n"), BELOW),
        ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": MARKED}]}), BELOW),
        ("a.html", PAGE, BELOW),
        ("a.rst", RULED, BELOW),
        ("a.docx", with_headings(), BELOW),
        ("a.md", "# The whale\n\nOf its title alone.", {}),
        ("a.md", "## Étangs\n\nOf water.", {}),  # then that is its title
        ("a.txt", "\ufeffOne.\r\n\r\n  Three.\r\rFive.", {"line 1": "One.", "line 3": "Three.", "line 5": "Five."}),
        ("a.log", "Un.\n\n\nÉtang.\n".encode("cp1252"), {"line 1": "Un.", "line 4": "Étang."}),
        ("a.txt", "Of one line alone.\n", {}),
    ],
)
def test_texts_have_lines_or_headings(
    name: str, content: bytes | str, expected: dict[str, str], tmp_path: Path
) -> None:
    assert {label: text.strip() for label, text in located(read(tmp_path / name, content)[0]).items()} == expected


def test_an_attached_text_keeps_its_lines(tmp_path: Path) -> None:
    made = EmailMessage()
    made.set_content("See below.")
    made.add_attachment("One.\nTwo.\n\nFour.\n", filename="notes.txt")
    found, _ = read(tmp_path / "a.eml", made.as_bytes())
    assert found.text.endswith("One.\nTwo.\n\nFour.")
    assert located(found)["attachment notes.txt, line 4"] == "Four."


def test_search_facts_and_citations_say_where_and_graphs_made_before_say_the_page(store: Store, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.pptx").write_bytes(presentation())
    (files / "b.pdf").write_bytes(pdf(["Ada Lovelace was born in London.", "Charles Babbage was born in London."]))
    with opened(store, tmp_path, passage_tokens=400) as graph:
        graph.ingest(files, extractor="local")
        found = {each.title: each for each in graph.search("Who was born in London?").passages}
        assert found["a"].location == "slides 1–2" and found["a"].locations[0] == (0, "slide 1")
        assert (found["b"].location, found["b"].page) == ("pages 1–2", 1)
        cited = [each for fact in graph.search("Charles Babbage born").facts for each in fact.citations]
        assert (
            {("page 2", 2), ("page 1", 1)}
            >= {(each.location, each.page) for each in cited if each.title == "b"}
            > set()
        )
        assert any(each.location == "page 2" for each in cited)
        graph.cypher("MATCH (c:Chunk) REMOVE c.location, c.locations, c.locationStarts", write=True)
        before = {each.title: each for each in graph.search("Who was born in London?").passages}
        assert (before["a"].location, before["b"].location, before["b"].locations) == (None, "page 1", ())
