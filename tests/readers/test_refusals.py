"""Which answers say that there is none, in a dozen languages, and which only have such words in another role."""

from __future__ import annotations

import pytest

from kgplatform.readers.refusals import is_members_refusal

BARE = """
None | none. | NONE | N/A | n/a | NA | null | "null" | - | — | ... | [] | {} | ? | Unknown | *Unknown.*
Not stated | not specified
Not mentioned. | Not available | Not given | not known | No Mention | NO MENTION | No answer. | no answer found
No information
No data | None found | None mentioned | Nothing | Nothing found. | Unanswerable | Not applicable | I don't know.
Don't know
The answer is: none | Answer: unknown | Final answer: N/A | Unclear | unspecified
keine Angabe | Keine Angaben. | k. A. | k.A. | Unbekannt | Nicht erwähnt | nicht genannt | Keine Information
Keine Erwähnung
Keine Angaben zum Datum | Weiß ich nicht | Antwort: unbekannt
Aucune mention | Aucune information | Non mentionné | non précisée | Inconnu | Pas mentionné | Je ne sais pas
Réponse : inconnue
Sin mención | Ninguna mención | No se menciona | No mencionado | Desconocido | No consta | Sin información
No se especifica la fecha
Nessuna menzione | Nessuna informazione | Non menzionato | Non specificata | Sconosciuto | Non è indicato nel testo
Nenhuma menção | Não mencionado | Desconhecido | Não consta | Sem informação | Não especificado
Geen vermelding | Niet vermeld | Onbekend | Geen informatie | Niet genoemd
无 | 未提及 | 没有提到 | 未知 | 不详 | 无相关信息 | 無法確定 | 没有相关信息。 | 答案：未提及
なし | 不明 | 記載なし | 言及なし | 記載されていません。 | わかりません | 情報なし
없음 | 언급 없음 | 정보 없음 | 알 수 없음 | 언급되지 않았습니다.
Не упоминается | Нет информации | Нет упоминания | Неизвестно | Не указано | нет данных
لا يوجد | غير مذكور | لم يُذكر | لا توجد معلومات | غير معروف
"""
"""All of an answer, divided by bars."""

SENTENCES = """
The text gives no date.
The passage names no keeper.
The passage does not say who kept it.
This part doesn't mention any ship.
The documents do not say.
The date of the launch is not stated.
Her name is not mentioned in the passage.
The treasure is not mentioned.
There is no mention of a lamp here.
No information about the lamp is available.
No answer is given in the text.
No evidence of that in this part.
There isn't enough information to answer.
I cannot find the answer in this passage.
I'm sorry, but the passage does not contain information about the keeper.
None of the passages mention it.
It is not stated who paid for the cable.
Insufficient information
The lamp? I am not sure who that was.
Der Text nennt kein Datum.
Im Abschnitt wird der Name nicht erwähnt.
Das geht aus dem Text nicht hervor.
Dazu sagt der Text nichts.
Es gibt im Dokument keine Angaben dazu.
Die Frage kann nicht beantwortet werden.
Le texte ne mentionne pas la date.
Le passage n'indique aucun nom.
Ce n'est pas précisé dans le document.
El texto no menciona la fecha.
El pasaje no dice quién la pagó.
Il testo non menziona la data.
Il brano non dice chi era.
O texto não menciona a data.
O trecho não informa quem era.
De tekst vermeldt geen datum.
In de passage staat niet wie dat was.
文中没有提到日期。
该段落未提及作者。
本文には日付の記載がありません。
この部分では言及されていない。
본문에 날짜가 언급되어 있지 않습니다.
이 문서에는 정보가 없습니다.
В тексте не упоминается дата.
Документ не содержит информации об этом.
النص لا يذكر التاريخ.
المقطع لا يحتوي على معلومات عن ذلك.
"""

ANSWERS = """
No answer was given by the ambassador.
No answer was given by the ambassador, who had left the room.
The treasure was not found.
The divers could not find the wreck.
No evidence was found at the scene by the police.
No
no.
Nein
Non
нет
0
None of them
None of the ships
Unknown Pleasures
The Unknown Soldier
The tomb of the Unknown Soldier
Nobody
Nobody Knows My Name
No Country for Old Men
not guilty
Not Mentioned in Dispatches, a play of 1926
The price was not disclosed to the heirs by the bank.
Dr. No
Nada Surf
Null Island
Rien ne va plus
Nichts als die Wahrheit
Keine Macht den Drogen
Nessuno tocchi Caino
Der Botschafter gab keine Antwort.
L'ambassadeur n'a donné aucune réponse.
El embajador no respondió.
無印良品
没有国王
不明飛行物体
Ignotus
Nichtraucher
Unbekannter Soldat
The prophet said nothing.
They are not available in the north
Section 4 gives no right of appeal
The author is anonymous
1859
NA-7
Nadia
The sources do not say when, but it was Field who paid.
Der Text nennt kein Datum, aber das Schiff sank 1859.
The letter was unsigned and no date was written on the envelope by the clerk.
He left no will
No ships were lost
No. 10 Downing Street
The king refused to answer
The police do not have any evidence
He was released for insufficient evidence
The divers were unable to find the wreck
The wreck could not be found
The king's reply did not mention the treaty.
I need more time
这一阶段没有提供援助
Les informations n'ont pas été données à la police
"""


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("text", [each.strip() for line in lines(BARE) for each in line.split("|")])
def test_a_word_for_none_is_a_refusal(text: str) -> None:
    assert is_members_refusal(text)


@pytest.mark.parametrize("text", lines(SENTENCES))
def test_that_the_text_does_not_say_it_is_a_refusal(text: str) -> None:
    assert is_members_refusal(text)


@pytest.mark.parametrize("text", lines(ANSWERS))
def test_such_words_in_another_role_are_an_answer(text: str) -> None:
    assert not is_members_refusal(text)


def test_in_a_long_text_only_the_first_clause_refuses() -> None:
    story = "Mara Voss kept the lamp from 1871 on, and lit it every evening until the year in which she went to Hull. "
    assert not is_members_refusal(f"{story}What became of her is not mentioned in the text.")
    assert is_members_refusal(f"The text does not say who. {story}")
