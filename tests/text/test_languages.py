"""The language of texts and questions, and their words as a search compares them."""

import pytest

from kgplatform.text.languages import NAMES, full_text_query, language_of, search_terms

SAID = {
    "en": "Who founded the company that made the cable?",
    "de": "Wer gründete die Gesellschaft, die das Kabel herstellte?",
    "fr": "Quelle société a fabriqué le câble ?",
    "es": "¿Qué empresa fabricó el cable que cruzó el océano?",
    "pt": "Quem fundou a empresa que não fez o cabo?",
    "pl": "Kto założył firmę, która wyprodukowała kabel?",
    "tr": "Kabloyu yapan şirketi kim kurdu ve nerede?",
    "vi": "Công ty nào đã làm ra sợi cáp?",
    "ru": "Кто основал компанию, которая изготовила кабель?",
    "uk": "Хто заснував компанію, яка виготовила кабель?",
    "el": "Ποιος ίδρυσε την εταιρεία που κατασκεύασε το καλώδιο;",
    "ar": "من أسس الشركة التي صنعت الكابل؟",
    "fa": "چه کسی شرکتی را که کابل ساخت تأسیس کرد؟",
    "hi": "केबल बनाने वाली कंपनी की स्थापना किसने की?",
    "he": "מי ייסד את החברה שייצרה את הכבל?",
    "zh": "谁创立了制造这条电缆的公司？",
    "ja": "ケーブルを作った会社を設立したのは誰ですか。",
    "ko": "케이블을 만든 회사를 누가 설립했습니까?",
    "th": "ใครก่อตั้งบริษัทที่ผลิตสายเคเบิล",
}


@pytest.mark.parametrize("code", sorted(SAID))
def test_a_question_tells_its_language(code: str) -> None:
    assert language_of(SAID[code]) == code
    assert NAMES[code]
    assert bool(search_terms(SAID[code], code)) == (code != "en")


@pytest.mark.parametrize("text", ["", "1866", "???", "Xqzt vrbl"])
def test_what_tells_nothing_has_no_language(text: str) -> None:
    assert language_of(text) == ""
    assert search_terms(text, "") == []


def test_a_long_name_in_other_letters_changes_no_language() -> None:
    assert language_of("“Great Eastern” 于1866年铺设了电缆。") == "zh"
    assert language_of("The poet 李白 was born in 701, and 杜甫 in 712.") == "en"
    assert language_of("東京大学 University of Tokyo は東京にある。") == "ja"


def test_forms_of_a_word_are_one_term() -> None:
    assert search_terms("die Gesellschaften", "de") == search_terms("der Gesellschaft", "de")
    assert search_terms("защиты", "ru") == search_terms("защитой", "ru")
    assert search_terms("الكِتاب", "ar") == search_terms("الكتاب", "ar"), "vowel marks are mostly left out"
    assert search_terms("समुद्र", "hi") == ["समुद्र"], "the marks of Hindi belong to the word"


def test_scripts_without_spaces_count_by_pairs_of_letters() -> None:
    assert search_terms("大西洋电报", "zh") == ["大西", "西洋", "洋电", "电报"]
    assert search_terms("水と Apollo 11", "ja") == ["水と", "apollo", "11"]
    assert search_terms("케이블을", "ko") == ["케이", "이블", "블을"]


def test_lucene_finds_no_syntax_in_a_query() -> None:
    hostile = 'wer AND "oder" * text:~ [a TO b] (c) \\ / ^2 und'
    query = full_text_query(search_terms(hostile, "de"))
    assert set(query.replace('" "', "").strip('"')) <= set("abcdefghijklmnopqrstuvwxyz0123456789")
