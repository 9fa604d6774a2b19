"""Texts in old encodings, mails, front matter and lines of code: read as they are, or told."""

from pathlib import Path

import pytest

from kgplatform.errors import SettingError
from kgplatform.records import Document, SkippedFile
from kgplatform.settings import load_settings
from kgplatform.sources.corpus_file import Fields
from kgplatform.sources.load import load

POLISH = "Fabryka Żółw w Łodzi zatrudnia źrebięta. Dyrektor Święta Jadwiga podpisała umowę z bankiem."
TEXTS = {
    "cp1250": POLISH,
    "iso-8859-2": POLISH,
    "cp852": POLISH,
    "cp1251": "Завод открыл филиал в Казани. Директор подписал договор с банком.",
    "cp866": "Завод открыл филиал в Казани. Директор подписал договор с банком.",
    "iso-8859-7": "Το εργοστάσιο άνοιξε υποκατάστημα στη Θεσσαλονίκη το περασμένο φθινόπωρο.",
    "cp1254": "Fabrika geçen sonbaharda İzmir'de bir şube açtı. Müdür bankayla sözleşme imzaladı.",
    "cp1256": "افتتح المصنع فرعا في مدينة الإسكندرية في الخريف الماضي ووقع المدير عقدا مع البنك.",
    "cp874": "โรงงานเปิดสาขาที่เชียงใหม่เมื่อฤดูใบไม้ร่วงที่แล้ว ผู้อำนวยการลงนามในสัญญากับธนาคาร",
    "cp932": "山田商店は去年の秋に大阪に工場を建設した。①髙橋社長は銀行と契約を結んだ。",
    "iso-2022-jp": "山田商店は去年の秋に大阪に工場を建設した。社長は銀行と契約を結んだ。",
    "cp949": "푸른바다 회사는 부산에 새로운 연구소를 열었다. 소장은 대학교와 협약을 맺었다고 밝혔다.",
    "big5": "藍海公司去年秋天在高雄開設了研究所，董事長與銀行簽訂了合約。",
    "mac-roman": "L’usine a ouvert une succursale à Liège l’été dernier, où le directeur a signé.",
}


def loaded(path: Path, content: bytes, encoding: str = "") -> tuple[list[Document], list[str]]:
    """The documents in a file of ``content``, and what is told of it."""
    path.write_bytes(content)
    found = list(load([path], fields=Fields(encoding=encoding)))
    return [each for each in found if isinstance(each, Document)], [
        each.reason for each in found if isinstance(each, SkippedFile)
    ]


@pytest.mark.parametrize("encoding", TEXTS)
def test_an_encoding_is_guessed_and_the_guess_is_told_or_it_is_declared_or_given(tmp_path: Path, encoding: str) -> None:
    text = TEXTS[encoding]
    (document,), told = loaded(tmp_path / "a.txt", text.encode(encoding))
    assert document.text == text
    assert len(told) == 1 and "a guess" in told[0]

    page = f'<html><head><meta charset="{encoding}"></head><body><p>{text}</p></body></html>'
    (document,), told = loaded(tmp_path / "a.html", page.encode(encoding))
    assert (document.text, told) == (text, [])

    data = f'<?xml version="1.0" encoding="{encoding}"?>\n<note>{text}</note>'
    (document,), told = loaded(tmp_path / "a.xml", data.encode(encoding))
    assert (document.text, told) == (data, [])

    (document,), told = loaded(tmp_path / "a.csv", f"Name;Text\nx;{text}\n".encode(encoding), encoding)
    assert (document.text, told) == (f"Name: x | Text: {text}", [])


@pytest.mark.parametrize(
    ("declared", "encoding", "text"),
    [
        ("iso-8859-1", "cp1252", "Müller zahlt 100 € – „billig“."),
        ("iso-8859-2", "cp1250", "„Źródło” – święta Jadwiga i ąkęż."),
        ("iso-8859-5", "cp1251", "Завод «Север» – „филиал“ в Казани…"),
        ("iso-8859-9", "cp1254", "Şirket “ucuz” – 100 €."),
        ("gb2312", "gb18030", "镕基在青岛开设研究所。"),
        ("Shift_JIS", "cp932", "①髙橋は大阪に工場を建設した。"),
        ("ks_c_5601-1987", "cp949", "똠방각하는 부산에 있다."),
        ("utf-8", "cp1252", "Die Größe der Straße ist für Jürgen natürlich schön."),
        ("no-such-charset", "cp1252", "Die Größe der Straße ist für Jürgen natürlich schön."),
        ("iso-8859-1", "utf-8", "Größe 🚢"),
    ],
)
def test_a_page_is_read_as_browsers_read_it_under_a_wrong_label(
    tmp_path: Path, declared: str, encoding: str, text: str
) -> None:
    page = f'<html><head><meta http-equiv="Content-Type" content="text/html; charset={declared}"></head><p>{text}</p>'
    (document,), _ = loaded(tmp_path / "a.html", page.encode(encoding))
    assert document.text == text


@pytest.mark.parametrize(
    ("name", "content", "text", "what"),
    [
        ("a.txt", "Größe aus Köln, schöne Straße.\n".encode() + b"caf\xe9 noir\n", "caf\ufffd noir", "utf-8"),
        (
            "a.html",
            b'<meta charset="windows-1252"><p>A na\xefve f\x81te \xe9t\xe9 \xe0 Li\xe8ge</p>',
            "f\ufffdte",
            "1252",
        ),
        (
            "a.json",
            '[{"text": "Größe über für "}]'.encode().replace(b"f\xc3\xbcr", b"f\xc3\xbcr \xff"),
            "\ufffd",
            "utf-8",
        ),
    ],
)
def test_a_bad_byte_is_replaced_counted_and_told(
    tmp_path: Path, name: str, content: bytes, text: str, what: str
) -> None:
    (document,), told = loaded(tmp_path / name, content)
    assert text in document.text
    assert any(each.startswith("1 place") and what in each for each in told)


def test_an_encoding_that_does_not_exist_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no encoding 'cp9999'"):
        Fields.of(load_settings(home=tmp_path, encoding="cp9999"))
    assert Fields.of(load_settings(home=tmp_path, encoding="Windows-31J")).encoding == "Windows-31J"


def test_an_unreadable_line_of_a_corpus_leaves_its_other_documents(tmp_path: Path) -> None:
    documents, told = loaded(tmp_path / "c.jsonl", b'{"title": "One", "text": "caf\xe9 one"}\n{"title": "Two", "te\n')
    assert [each.text for each in documents] == ["café one"]
    assert any("a guess" in each for each in told) and any(each.startswith("line 2") for each in told)


HEAD = "From: =?utf-8?B?Wm/DqyDDhXN0csO2bQ==?= <zoe@x.example>\nTo: tor@y.example\n"
ALTERNATIVES = (
    "Subject: s\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=B\n\n"
    "--B\nContent-Type: text/plain\n\n \n--B\nContent-Type: text/html\n\n<p>Only html by Ida Prim.</p>\n--B--\n"
)
WRONG_BOUNDARY = (
    "Subject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=OTHER\n\n"
    "--B\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    "R3LDvMOfZSBhdXMgS8O2bG4u\n--B--\n"
)


@pytest.mark.parametrize(
    ("mail", "words", "is_guess"),
    [
        ((HEAD + "Subject: s\n\nMüller pays in Köln.").encode("cp1252"), "Müller pays in Köln.", True),
        ((HEAD + "Subject: s\n\nMüller pays 🚢.").encode(), "Müller pays 🚢.", False),
        (
            (HEAD + "Subject: s\nContent-Type: text/plain; charset=iso-8859-1\n\nPrice “low” – 100 €").encode("cp1252"),
            "Price “low” – 100 €",
            False,
        ),
        ((HEAD + ALTERNATIVES).encode(), "Only html by Ida Prim.", False),
        (
            (HEAD + "Subject: s\nContent-Type: multipart/mixed; boundary=NONE\n\nWords by Finn.").encode(),
            "Words by Finn.",
            False,
        ),
        ((HEAD + WRONG_BOUNDARY).encode(), "Grüße aus Köln.", False),
        (b"\xef\xbb\xbf" + (HEAD + "Subject: s\n\nBom words.").encode(), "Bom words.", False),
        (
            (HEAD + "Subject: s\nContent-Type: text/plain; charset=no-such\n\nPlain words.").encode(),
            "Plain words.",
            False,
        ),
    ],
)
def test_the_words_of_a_mail_are_read_however_it_is_declared(
    tmp_path: Path, mail: bytes, words: str, is_guess: bool
) -> None:
    (document,), told = loaded(tmp_path / "a.eml", mail)
    assert "From: Zoë Åström <zoe@x.example>" in document.text
    assert document.text.endswith(f"\n\n{words}")
    assert [("a guess" in each) for each in told] == [True] * is_guess


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_headers_may_have_letters_that_nobody_declared(tmp_path: Path, encoding: str) -> None:
    (document,), _ = loaded(tmp_path / "a.eml", "Subject: Größe der Straße für Jürgen\n\nWords.".encode(encoding))
    assert document.title == "Größe der Straße für Jürgen"


def test_a_part_that_no_reader_can_use_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    parts = (
        "Subject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\nFirst words.\n"
        "--B\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\nAAECAwQFBgcICQ==\n"
        "--B\nContent-Type: message/rfc822\n\nSubject: inner\n\nInner words.\n--B--\n"
    )
    (document,), told = loaded(tmp_path / "a.eml", parts.encode())
    assert "First words." in document.text and "Inner words." in document.text
    assert told == ["attachment unnamed: binary data, not text"]


def test_a_mail_whose_words_are_no_text_keeps_its_attachments(tmp_path: Path) -> None:
    parts = (
        "Subject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/plain\n"
        "Content-Transfer-Encoding: base64\n\nAAECAwQFBgcICQ==\n--B\nContent-Type: text/plain\n"
        "Content-Disposition: attachment; filename=a.txt\n\nAttached words.\n--B--\n"
    )
    (document,), told = loaded(tmp_path / "a.eml", parts.encode())
    assert "Attached words." in document.text
    assert told == ["its words: binary data, not text"]


def test_each_message_of_a_mailbox_is_a_document(tmp_path: Path) -> None:
    messages = [
        "Message-ID: <1@x>\nSubject: One\n\nFirst.\n>From now on it is quoted.\nFrom here it goes on.\n",
        "Message-ID: <1@x>\nSubject: Two\n\nSecond.\n",
        "Subject: Größe\n\nThird.\n",
    ]
    content = "\n".join(f"From a@b Tue Mar  5 10:00:00 2024\n{HEAD}{each}" for each in messages).encode()
    for name in ("a.mbox", "mails"):
        path = tmp_path / name
        documents, told = loaded(path, content)
        assert [each.title for each in documents] == ["One", "Two", "Größe"]
        assert documents[0].text.endswith("First.\nFrom now on it is quoted.\nFrom here it goes on.")
        assert [each.uri.partition("#")[2] for each in documents] == ["1%40x", "1%40x;2", ";3"]
        assert {each.source for each in documents} == {path.as_uri()} and told == []


def test_a_web_archive_is_its_page(tmp_path: Path) -> None:
    archive = (
        "From: <Saved by Blink>\nSubject: Port\nMIME-Version: 1.0\n"
        'Content-Type: multipart/related; type="text/html"; boundary="B"\n\n'
        "--B\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
        '<html><head><meta charset=3D"utf-8"><title>The port</title></head><p>K=C3=B6ln has a port.</p></html>\n'
        "--B\nContent-Type: text/css\n\np { color: red }\n--B--\n"
    )
    (document,), told = loaded(tmp_path / "a.mhtml", archive.encode())
    assert (document.title, document.text, told) == ("The port", "Köln has a port.", [])


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<pre><code>for x in xs:\n    if x:\n        print(x)\n</code></pre>",
            "for x in xs:\n    if x:\n        print(x)",
        ),
        ("<pre>\n  Roses  are red,\n\n\n    violets\tblue\n</pre>", "  Roses  are red,\n\n\n    violets\tblue"),
        (
            "<pre><span>def</span> f():\n<span>    return</span> 1<!-- c -->\n\n    # x</pre>",
            "def f():\n    return 1\n\n    # x",
        ),
        ("<div style='white-space: pre-wrap'>one\n  two</div>", "one\n  two"),
        ("<p>one<br>two  three\n four</p>", "one\ntwo three four"),
    ],
)
def test_lines_that_a_page_keeps_are_kept(tmp_path: Path, body: str, text: str) -> None:
    (document,), _ = loaded(
        tmp_path / "a.html", f"<html><body><p>Before  it.</p>{body}<p>After.</p></body></html>".encode()
    )
    assert document.text == f"Before it.\n\n{text}\n\nAfter."


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        *(
            (each, each)
            for each in ("01234", "no", "yes", "on", "12:30", "1.10", "1e3", "0x1F", "1_000", ".nan", "1.2.3", "+5")
        ),
        *((f'"{each}"', each) for each in ("5", "true", "2024-05-01")),
        ("5", 5),
        ("-7", -7),
        ("1.5", 1.5),
        ("true", True),
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T10:00:00+02:00", "2024-05-01T10:00:00+02:00"),
        ("[a, b]", ["a", "b"]),
        ("@verne", "@verne"),
        ("Orlova: a ship's story", "Orlova: a ship's story"),
        ("2024-02-31", "2024-02-31"),
        ("*nobody", "*nobody"),
        ("~", None),
    ],
)
def test_front_matter_is_kept_as_it_is_written(tmp_path: Path, value: str, kept: object) -> None:
    (document,), _ = loaded(tmp_path / "a.md", f"---\nfirst: 1\nvalue: {value}\nlast: end\n---\nWords.".encode())
    wanted = {"first": 1, "value": kept, "last": "end"}
    assert dict(document.metadata) == {name: each for name, each in wanted.items() if each is not None}


def test_a_line_of_front_matter_that_is_no_yaml_costs_nothing_else_and_is_told(tmp_path: Path) -> None:
    head = "---\ntitle: Port\nauthor: @verne\ntags:\n  - a\n  - b\nwho: {name: {first: Jo}}\n---\nWords."
    (document,), told = loaded(tmp_path / "a.md", head.encode())
    assert (document.title, dict(document.metadata)) == ("Port", {"author": "@verne", "tags": ["a", "b"]})
    assert [each.partition(" ")[0] for each in told] == ["line", "who"]
