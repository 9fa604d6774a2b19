"""What becomes of a notebook: forgotten notes stay, and where it is too long the newest are kept."""

from __future__ import annotations

from answers import passage

from kgplatform.readers.graphreader.explore import gathered, renewed
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.window import tokens

OLD = "The mill was built by Anna Reed [1.1]. It grinds oats [1.2]."


def test_what_the_reply_repeats_is_as_it_wrote_it() -> None:
    new = f"{OLD} Anna Reed died in 1730 [4.1]."
    assert renewed(OLD, new, 500).text == new
    assert renewed(OLD, new, 500).said == ""
    assert renewed("", new, 500).text == new


def test_notes_whose_marks_are_nowhere_in_the_reply_stay() -> None:
    noted = renewed(f"{OLD} Pike built a bridge [2.1].", "Anna Reed died in 1730 [4.1]. Oats [1.1-2].", 500)
    assert noted.text == "Pike built a bridge [2.1].\nAnna Reed died in 1730 [4.1]. Oats [1.1-2]."
    assert noted.said == "1 earlier note kept that it forgot"
    assert renewed("A guess.", "Anna Reed died in 1730.", 500).text == "Anna Reed died in 1730.", (
        "replaced, as in the paper"
    )


def test_numbers_behind_the_end_of_a_note_belong_to_it() -> None:
    old = "He built it. [1.1] Nobody helped him."
    assert renewed(old, "A new note [2.1].", 500).text == "He built it [1.1].\nA new note [2.1]."


def test_notebooks_of_several_walks_have_one_numbering() -> None:
    walks = [Numbering(), Numbering()]
    walks[0].passages([passage("a", "It is a mill. It grinds.")])
    walks[1].passages([passage("b", "It rains."), passage("a", "It is a mill. It grinds.")])
    noted = [("It grinds [1.2]. Nobody said this [7.1].", walks[0]), ("Rain [1.1], and it grinds [2.1-2].", walks[1])]
    notebooks, shown = gathered(noted)
    assert notebooks == ["It grinds [1.2]. Nobody said this.", "Rain [2.1], and it grinds [1.1][1.2]."]
    sources = [shown.source(number) for number in ("1.1", "1.2", "2.1", "1.3")]
    assert [source.citation.text if source else "" for source in sources] == [
        *("It is a mill.", "It grinds.", "It rains.", "")
    ]


def test_the_newest_notes_are_kept() -> None:
    old = " ".join(f"Note number {n} is about the old mill." for n in range(40))
    new = f"Anna Reed died in 1730 [4.1]. {old} She had three sons."
    noted = renewed(old, new, 120)
    assert "Anna Reed died in 1730 [4.1]." in noted.text
    assert "She had three sons." in noted.text
    assert "Note number 0 " not in noted.text
    assert "Note number 39 " in noted.text
    assert tokens(noted.text) <= 120
    assert "oldest notes left out" in noted.said


def test_one_endless_note_keeps_its_end() -> None:
    endless = "salt and " * 400 + "at last the castle"
    noted = renewed("", endless, 60)
    assert noted.text.endswith("at last the castle")
    assert tokens(noted.text) <= 60
