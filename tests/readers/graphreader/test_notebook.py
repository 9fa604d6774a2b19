"""What becomes of a notebook: forgotten notes stay, and where it is too long the newest are kept."""

from kgplatform.readers.graphreader.explore import renewed
from kgplatform.readers.window import tokens

OLD = "The mill was built by Anna Reed [1.1]. It grinds oats [1.2]."


def test_what_the_reply_repeats_is_as_it_wrote_it() -> None:
    new = f"{OLD} Anna Reed died in 1730 [4.1]."
    assert renewed(OLD, new, 500) == renewed("", new, 500) == (new, "")


def test_notes_whose_marks_are_nowhere_in_the_reply_stay() -> None:
    noted, said = renewed(f"{OLD} Pike built a bridge [2.1].", "Anna Reed died in 1730 [4.1]. Oats [1.1-2].", 500)
    assert noted == "Pike built a bridge [2.1].\nAnna Reed died in 1730 [4.1]. Oats [1.1-2]."
    assert said == "1 earlier note kept that it forgot"
    old = "He built it. [1.1] Nobody helped him."
    assert renewed(old, "A new note [2.1].", 500)[0] == "He built it [1.1].\nA new note [2.1]."
    replaced, _ = renewed("A guess.", "Anna Reed died in 1730.", 500)
    assert replaced == "Anna Reed died in 1730.", "replaced, as in the paper"


def test_the_newest_notes_are_kept() -> None:
    old = " ".join(f"Note number {n} is about the old mill." for n in range(40))
    new = f"Anna Reed died in 1730 [4.1]. {old} She had three sons."
    noted, said = renewed(old, new, 120)
    assert all(each in noted for each in ("Anna Reed died in 1730 [4.1].", "She had three sons.", "Note number 39 "))
    assert "Note number 0 " not in noted
    assert tokens(noted) <= 120
    assert "oldest notes left out" in said


def test_one_endless_note_keeps_its_end() -> None:
    endless = "salt and " * 400 + "at last the castle"
    noted, _ = renewed("", endless, 60)
    assert noted.endswith("at last the castle")
    assert tokens(noted) <= 60
