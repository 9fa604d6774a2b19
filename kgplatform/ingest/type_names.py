"""Names of types: when two are the same, and what they are called in Neo4j.

``directed by``, ``directed_by``, ``Directed-By`` and ``directedBy`` are one name. Its label is ``DirectedBy``, its
relationship type ``DIRECTED_BY``. Names stay in their script: ``人物`` is the label ``人物``.
"""

from __future__ import annotations

import unicodedata

from kgplatform.text import in_word, type_key

RELATED_TO = "RELATED_TO"
"""The relationship type of triples whose predicate no schema names. A schema may define it too."""

_LABELS = (
    *("Document", "Chunk", "Fact", "Entity", "KeyElement", "Attribute", "Keyword", "Community", "Page"),
    *("Run", "Step", "Graph", "Pending"),
)
_RELATIONSHIPS = (
    *("FROM_DOCUMENT", "NEXT_CHUNK", "FROM_CHUNK", "SUBJECT", "OBJECT", "VALUE", "MENTIONS", "HAS_ATTRIBUTE"),
    *("MEMBER_OF", "KEYWORD_OF", "REPRESENTED_BY", "SAME_AS", "PAGE_OF", "NEXT_PAGE", "PARENT", "FORM_OF"),
    *("HAS_STEP", "NEXT_STEP", "FOUND", "CITES", "AT"),
)
_LONGEST = 100


def words_of(name: str) -> list[str]:
    """The words of a type's name: cut at everything that is no letter, digit or mark, and where camelCase steps.

    >>> words_of("HTTPServer has-part")
    ['HTTP', 'Server', 'has', 'part']
    """
    words: list[str] = []
    text = unicodedata.normalize("NFKC", name)
    for place, letter in enumerate(text):
        if not in_word(letter):
            continue
        if place == 0 or not in_word(text[place - 1]) or _steps(text, place):
            words.append("")
        words[-1] += letter
    return words


def match_key(name: str) -> str:
    """Equal for names that mean one type."""
    return type_key(name)


def label_for(name: str) -> str:
    """The Neo4j label of an entity type, in CamelCase; a name all in capitals is taken for shouting if it is long."""
    words = words_of(name)
    if name.isupper() and len("".join(words)) > 4:
        words = [word.lower() for word in words]
    return "".join(word[:1].upper() + word[1:] for word in words)


def relationship_for(name: str) -> str:
    """The Neo4j relationship type of a relation, in UPPER_SNAKE."""
    return "_".join(words_of(name)).upper()


def fault_of_name(name: str) -> str | None:
    """Why ``name`` cannot name a type at all, as the end of a sentence, or None."""
    letters = "".join(words_of(name))
    if not letters:
        return "has no letter in it"
    if not letters[0].isalpha():
        return "does not start with a letter"
    if len(name) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    return None


def reserved_label(name: str) -> str | None:
    """The platform's own label that an entity type of this name would take, or None."""
    return _RESERVED_LABELS.get(match_key(name))


def reserved_relationship(name: str) -> str | None:
    """The platform's own relationship type that a relation of this name would take, or None."""
    return _RESERVED_RELATIONSHIPS.get(match_key(name))


def _steps(text: str, place: int) -> bool:
    """Whether a new camelCase word starts at ``place``: ``d|B`` in directedBy, ``P|S`` in HTTPServer."""
    before, here, after = text[place - 1], text[place], text[place + 1 : place + 2]
    return here.isupper() and (before.islower() or (before.isupper() and after.islower()))


_RESERVED_LABELS = {match_key(name): name for name in _LABELS}
_RESERVED_RELATIONSHIPS = {match_key(name): name for name in _RELATIONSHIPS}
