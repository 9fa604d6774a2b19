"""Finding words, statements and names in texts of several scripts."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgplatform.text.matching import Place, find_names, find_statement, find_words, fold, fold_words, is_bounded

SHELLEY = (
    "Mary Shelley’s novel “Frankenstein” appeared in 1818. It was written\n  near  Geneva — in the wet summer of 1816."
)


def found(words: str, text: str) -> str | None:
    place = find_words(words, text)
    return text[place.start : place.end] if place else None


def test_words_to_the_letter() -> None:
    assert find_words("appeared in 1818", SHELLEY) == Place(36, 52, True)
    assert find_words("  appeared in 1818\n", SHELLEY) == Place(36, 52, True)
    assert find_words("", SHELLEY) is None
    assert find_words("  ", SHELLEY) is None
    assert find_words("Geneva", "") is None


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        ('Mary Shelley\'s novel "Frankenstein"', SHELLEY, "Mary Shelley’s novel “Frankenstein"),
        ("NEAR GENEVA - IN THE WET", SHELLEY, "near  Geneva — in the wet"),
        ("person-centered therapy", "Person - centered therapy helps.", "Person - centered therapy"),
        ("an inbuilt growth", "``an inbuilt growth ''", "an inbuilt growth"),
        ("Bjork Gudmundsdottir", "singt Björk Guðmundsdóttir?", "Björk Guðmundsdóttir"),
        ("Björk sang", "dass Bjo\u0308rk sang.", "Bjo\u0308rk sang"),
        ("the cafe", "in the cafe\u0301 now", "the cafe\u0301"),
        ("STRASSE", "an der Straße", "Straße"),
        ("ﬁnal ofﬁce", "the final office", "final office"),
        ("120 km2", "about 120\u00a0km² wide", "120\u00a0km²"),
        ("co\u00adoperate", "they cooperate", "cooperate"),
        ("鲁迅写了《狂人日记》", "一九一八年，鲁迅写了《狂人日记》。", "鲁迅写了《狂人日记》"),
        ("ＡＢＣ株式会社", "東京のABC株式会社は", "ABC株式会社"),
        ("محمد في القاهرة", "وُلِدَ مُحَمَّد فِي القاهرة عام", "مُحَمَّد فِي القاهرة"),
        ("İstanbul'da", "o istanbul’da doğdu", "istanbul’da"),
        ("हिन्दी लेखक", "वह हिन्दी  लेखक थे", "हिन्दी  लेखक"),
    ],
)
def test_words_up_to_form(words: str, text: str, expected: str | None) -> None:
    assert found(words, text) == expected
    if expected:
        place = find_words(words, text)
        assert place is not None
        assert place.exact == (words == expected)


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        ("It was writen near Geneva", SHELLEY, "It was written\n  near  Geneva"),
        ("novel Frankenstein has appeared in 1818", SHELLEY, "s novel “Frankenstein” appeared in 1818"),
        ("novel Frankenstein has appeared in 1819", SHELLEY, None),
        ("鲁迅写下了《狂人日记》", "一九一八年，鲁迅写了《狂人日记》。", "鲁迅写了《狂人日记"),
        ("Genevva", SHELLEY, None),
    ],
)
def test_words_nearly(words: str, text: str, expected: str | None) -> None:
    assert found(words, text) == expected


def test_near_places_are_whole_words() -> None:
    text = "She was the uncontested representative of the northern constituencies for years."
    words = "the uncontested representatives of the northern constituencies"
    assert found(words, text) == "the uncontested representative of the northern constituencies"


def test_omissions() -> None:
    assert found("Mary Shelley's novel ... appeared in 1818", SHELLEY) == SHELLEY[:52]
    assert found("Frankenstein […] near Geneva", SHELLEY) == SHELLEY[SHELLEY.index("Frank") : SHELLEY.index(" — ")]
    assert found("near Geneva ... appeared in 1818", SHELLEY) is None


def test_whole_words_come_first_and_letters_alone_do_not_count() -> None:
    assert find_words("art", "party art") == Place(6, 9, True)
    assert find_words("art", "a party") is None
    assert find_words("party", "counterparty") == Place(7, 12, True)


def test_a_cut_through_one_character_is_no_place() -> None:
    assert find_words("하나", "한나 하나") == Place(3, 5, True)
    assert find_words("하", "한") is None
    assert find_words("f", "ﬁ") is None


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80), st.data())
def test_any_part_of_a_text_is_found_where_it_says(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    words = text[start : data.draw(st.integers(start, len(text)))].strip()
    place = find_words(words, text)
    following = text[start + len(words) :] if text[start:].startswith(words) else text
    whole = not following or unicodedata.category(following[0])[0] != "M"
    if len(words) >= 4 and whole and any(letter.isalnum() for letter in words):
        assert place is not None
        assert place.exact
    if place:
        assert 0 <= place.start < place.end <= len(text)
        assert text[place.start : place.end] == words or not place.exact


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60))
def test_folding_leads_back(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.origins)
    assert list(folded.origins) == sorted(folded.origins)
    assert fold_words(text) == " ".join(folded.text.split())
    spans = [folded.source_span(at, at + 1) for at in range(len(folded.text))]
    assert all(
        span is None or fold(text[slice(*span)]).text.strip() == folded.text[at].strip()
        for at, span in enumerate(spans)
    )


def names(name: str, text: str) -> list[str]:
    return [text[place.start : place.end] for place in find_names(name, text)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Ada", "Ada, Adam and Ada's Canada; ADA", ["Ada", "Ada"]),
        ("ada lovelace", "ADA LOVELACE, or Ada  Lovelace", ["ADA LOVELACE", "Ada  Lovelace"]),
        ("IT", "it was IT", ["IT"]),
        ("WHO", "Who is who at the Who?", ["Who", "Who"]),
        ("C++", "C++ and C", ["C++"]),
        ("北京", "他在北京大学。北京很大。", ["北京", "北京"]),
        ("서울", "서울은 크다. 서울", ["서울", "서울"]),
        ("Toyota", "Toyota自動車とToyotas", ["Toyota"]),
        ("باريس", "سافر إلى باريس وباريس لباريس", ["باريس", "باريس", "باريس"]),
        ("مصر", "مصري ومصر", ["مصر"]),
        ("José Martí", "Jose Marti y José Martí", ["José Martí"]),
        ("José Martí", "Jose Marti", ["Jose Marti"]),
        ("aa", "aa aaa aa-aa", ["aa", "aa", "aa"]),
        ("", "x", []),
        ("'", "it's", []),
    ],
)
def test_names(name: str, text: str, expected: list[str]) -> None:
    assert names(name, text) == expected


def test_marks_belong_to_words() -> None:
    assert not is_bounded("क्षि", 0, 1)
    assert is_bounded("भाषा हिन्दी", 0, 4)
    assert names("ক", "কি ক") == ["ক"]


TURING = (
    "Alan Turing was born in London. Dr. M. Newman taught him at Cambridge, where Turing read Newman.\n\n"
    "Later Turing went to Princeton! There Alonzo Church was waiting."
)


def stated(quote: str | None, names: tuple[str, ...], text: str = TURING, title: tuple[str, ...] = ()) -> str | None:
    place = find_statement(quote, names, text, title)
    return text[place.start : place.end] if place else None


def test_a_quote_goes_before_names() -> None:
    assert stated("taught him at  Cambridge", ("Alan Turing", "London")) == "taught him at Cambridge"
    assert stated("not said anywhere here", ("Alan Turing", "London")) == "Alan Turing was born in London."
    assert stated("", ("Alan Turing", "London")) == "Alan Turing was born in London."


def test_the_shortest_sentence_with_all_names() -> None:
    assert stated(None, ("Turing", "Princeton")) == "Later Turing went to Princeton!"
    assert stated(None, ("Turing",)) == "Alan Turing was born in London."
    assert stated(None, ("Cambridge", "Newman")) == TURING[32:96]


def test_names_in_no_common_sentence() -> None:
    assert stated(None, ("Princeton", "Alonzo Church")) == "Princeton! There Alonzo Church"
    assert stated(None, ("London", "Church", "London")) == TURING[TURING.index("London") : TURING.index(" was waiting")]
    assert stated(None, ("Princeton", "Gödel")) is None
    assert stated(None, ()) is None
    assert stated(None, ("", "Turing")) is None


def test_the_title_may_be_understood() -> None:
    assert stated(None, ("Enigma", "Princeton"), title=("Enigma",)) == "Later Turing went to Princeton!"
    assert stated(None, ("ENIGMA", "Princeton"), title=("Enigma",)) == "Later Turing went to Princeton!"
    assert stated(None, ("Enigma",), title=("Enigma",)) is None
    assert stated(None, ("London", "Turing"), title=("Turing",)) == "Alan Turing was born in London."


def test_statements_in_other_scripts() -> None:
    chinese = "鲁迅生于绍兴。他在北京写了《狂人日记》！后来鲁迅去了上海。"
    assert stated(None, ("鲁迅", "上海"), chinese) == "后来鲁迅去了上海。"
    arabic = "ولد نجيب محفوظ في القاهرة. هل سافر محفوظ إلى باريس؟ نعم."
    assert stated(None, ("محفوظ", "باريس"), arabic) == "هل سافر محفوظ إلى باريس؟"


def test_nasty_texts() -> None:
    long = "a" * 10_000
    assert find_words("a" * 7_500 + "b", long) is None
    assert find_words("a" * 990 + "b" * 9, long) is not None
    assert find_names("a", long) == []
    text = "x " * 10_000 + "y"
    assert find_statement(None, ("x", "y"), text) is not None
    assert find_words("...", "a ... b") is None
    assert find_names("—", "a — b") == []
    assert find_words("a" + "\u0301" * 500, "b") is None
