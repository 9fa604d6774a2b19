"""Bounding by the schema (eq. 2) and accepting proposals (eq. 3)."""

import random
from collections import Counter

from proposals import accepted

from kgplatform.extract.bound import Tally, bound
from kgplatform.extract.schema import AttributeType, EntityType, Expansion, RelationType, Schema, load_schema
from kgplatform.records import ExtractedAttribute, ExtractedEntity, ExtractedTriple, Extraction, Proposal

SCHEMA = Schema(
    "films",
    (EntityType("Person", aliases=("Human",)), EntityType("Film"), EntityType("Drug"), EntityType("Company")),
    (
        RelationType("directed_by", aliases=("helmed by",), heads=("Film",), tails=("Person",)),
        RelationType("manufacture", heads=("Company",), tails=("Drug",)),
        RelationType("about"),
    ),
    (AttributeType("release date", entities=("Film",)), AttributeType("description")),
)
FILM, ADA = ExtractedEntity("Psycho", "Film"), ExtractedEntity("Ada", "Person")


def triples(extraction: Extraction) -> list[tuple[str, str, str, bool]]:
    return [(each.subject, each.predicate, each.object, each.in_schema) for each in extraction.triples]


def test_strict_keeps_what_equation_2_allows() -> None:
    extraction = Extraction(
        entities=(FILM, ADA, ExtractedEntity("Enterprise", "Spaceship"), ExtractedEntity("Thing")),
        triples=(
            *(ExtractedTriple("Psycho", "directed_by", "Ada"), ExtractedTriple("Psycho", "filmed at", "Ada")),
            *(ExtractedTriple("Ada", "directed_by", "Psycho"), ExtractedTriple("Psycho", "about", "Enterprise")),
            *(ExtractedTriple("Psycho", "about", "Thing"), ExtractedTriple("Psycho", "about", "nobody listed")),
        ),
        attributes=(
            *(ExtractedAttribute("Psycho", "release date", "1960"), ExtractedAttribute("Ada", "release date", "1960")),
            *(ExtractedAttribute("Psycho", "colour", "none"), ExtractedAttribute("Enterprise", "description", "big")),
            ExtractedAttribute("unlisted", "description", "x"),
        ),
    )
    bounded, counts = bound(extraction, SCHEMA, "strict")
    assert [each.name for each in bounded.entities] == ["Psycho", "Ada"]
    assert triples(bounded) == [("Psycho", "directed_by", "Ada", True)] * 2, "one of them was said backwards"
    assert bounded.attributes == (ExtractedAttribute("Psycho", "release date", "1960"),)
    assert counts == Tally(kept=5, mapped=0, dropped=10, off_schema=0, turned=1)
    assert sum(map(Counter.total, counts.left_out.values())) == 10
    assert counts.left_out["relation"]["filmed at"] == 1
    assert counts.left_out["attribute"] == {
        "release date (of other types)": 1,
        "colour": 1,
        "description (of other types)": 2,
    }


def test_everything_strict_keeps_satisfies_the_schema() -> None:
    random_ = random.Random(7)
    names = ["Psycho", "ADA", "ada", "Acme", "Pill", "x"]
    types = ["film", "Human", "person", "Alien", None, "DRUG", "company"]
    predicates = ["Directed By", "helmed_by", "manufacture", "about", "likes"]
    for _ in range(200):
        extraction = Extraction(
            tuple(ExtractedEntity(random_.choice(names), random_.choice(types)) for _ in range(5)),
            tuple(
                ExtractedTriple(random_.choice(names), random_.choice(predicates), random_.choice(names))
                for _ in range(6)
            ),
            tuple(
                ExtractedAttribute(random_.choice(names), random_.choice(["release_date", "Size"]), "v")
                for _ in range(3)
            ),
        )
        bounded, counts = bound(extraction, SCHEMA, "strict")
        kinds: dict[str, str | None] = {}
        for entity in bounded.entities:
            assert entity.type in {"Person", "Film", "Drug", "Company"}
            kinds.setdefault(entity.name.lower(), entity.type)
        for triple in bounded.triples:
            relation = next(each for each in SCHEMA.relations if each.name == triple.predicate)
            assert relation.joins(kinds[triple.subject.lower()], kinds[triple.object.lower()])
        assert all(each.key == "release date" and kinds[each.entity.lower()] == "Film" for each in bounded.attributes)
        assert counts.kept + counts.dropped == 14
        again, second = bound(bounded, SCHEMA, "strict")
        assert again == bounded
        assert (second.mapped, second.dropped) == (0, 0)
        flexible, flexible_counts = bound(extraction, SCHEMA, "flexible")
        assert flexible_counts.dropped == 0
        assert len(flexible.triples) == 6
        assert {e for e in flexible.entities if e.in_schema} == set(bounded.entities)


def test_names_that_differ_in_form_are_mapped_and_counted() -> None:
    extraction = Extraction(
        (ExtractedEntity("PSYCHO", "film"), ExtractedEntity("Ada", "HUMAN")),
        (ExtractedTriple("Psycho", "helmedBy", " ada "), ExtractedTriple("psycho", "Directed-By", "ADA")),
        (ExtractedAttribute("psycho", "Release_Date", "1960"),),
    )
    bounded, counts = bound(extraction, SCHEMA, "strict")
    assert [each.type for each in bounded.entities] == ["Film", "Person"]
    assert [each.predicate for each in bounded.triples] == ["directed_by", "directed_by"]
    assert bounded.attributes[0].key == "release date"
    assert counts == Tally(kept=5, mapped=5)


def test_what_is_said_backwards_is_turned_round() -> None:
    """Where both ways are allowed, or neither, it stays as it is."""
    people = (FILM, ADA, ExtractedEntity("Acme", "Company"), ExtractedEntity("Pill", "Drug"))
    said = [("Ada", "directed", "Psycho"), ("Ada", "directed_by", "Psycho"), ("Pill", "manufacture by", "Acme")]
    said += [("Pill", "about", "Ada"), ("Ada", "manufacture", "Pill")]
    extraction = Extraction(people, tuple(ExtractedTriple(*each) for each in said))
    bounded, counts = bound(extraction, SCHEMA, "strict")
    assert [each[:3] for each in triples(bounded)] == [
        *[("Psycho", "directed_by", "Ada")] * 2,
        ("Acme", "manufacture", "Pill"),
        ("Pill", "about", "Ada"),
    ]
    assert (counts.turned, counts.dropped) == (3, 1)
    assert bound(extraction, SCHEMA, "flexible")[1].turned == 3


def test_a_date_for_an_object_is_an_attribute() -> None:
    general = load_schema("general")
    entities = (ExtractedEntity("Ada Lovelace", "Person"), ExtractedEntity("Acme", "Company"))
    entities += (ExtractedEntity("1815", "Time"), ExtractedEntity("Battle of Sund", "Event"))
    said = [("Ada Lovelace", "born_in", "1815"), ("Acme", "founded in", "10 May 1837"), ("Ada Lovelace", "knows", "7")]
    said += [("Battle of Sund", "took_place_in", "1658"), ("Acme", "cost", "£2,500"), ("Ada Lovelace", "knows", "Bo")]
    bounded, counts = bound(Extraction(entities, tuple(ExtractedTriple(*each) for each in said)), general, "strict")
    assert [(each.entity, each.key, each.value) for each in bounded.attributes] == [
        ("Ada Lovelace", "birth date", "1815"),
        ("Acme", "founding date", "10 May 1837"),
        ("Battle of Sund", "date", "1658"),
        ("Acme", "cost", "£2,500"),
    ]
    assert (bounded.triples, counts.turned) == ((), 4)


def test_a_shorter_name_means_the_one_longer_name_that_is_listed() -> None:
    general = load_schema("general")
    people = [ExtractedEntity(name, "Person") for name in ("Ada Lovelace", "Charles Babbage", "Henry Babbage")]
    said = (ExtractedTriple("Lovelace", "knows", "Charles"), ExtractedTriple("Ada", "knows", "Babbage"))
    owned = (ExtractedAttribute("Ada", "occupation", "writer"),)
    bounded, counts = bound(Extraction(tuple(people), said, owned), general, "strict")
    assert [each[:3] for each in triples(bounded)] == [("Ada Lovelace", "knows", "Charles Babbage")]
    assert bounded.attributes == (ExtractedAttribute("Ada Lovelace", "occupation", "writer"),)
    assert (counts.turned, counts.dropped) == (3, 1), "which Babbage is not clear"


def test_flexible_keeps_the_rest_marked_and_in_its_words() -> None:
    extraction = Extraction(
        (FILM, ExtractedEntity("Enterprise", "Spaceship")),
        (
            ExtractedTriple("Psycho", "was shot at", "Universal  Studios"),
            ExtractedTriple("Psycho", "Directed By", "Enterprise"),
            ExtractedTriple("Psycho", "Directed By", "Hitchcock"),
            ExtractedTriple("Hitchcock", "born", "1899"),
        ),
        (ExtractedAttribute("Bates", "job", "clerk"), ExtractedAttribute("Psycho", "description", "a film")),
    )
    bounded, counts = bound(extraction, SCHEMA, "flexible")
    assert [(each.name, each.type, each.in_schema) for each in bounded.entities] == [
        *(("Psycho", "Film", True), ("Enterprise", "Spaceship", False), ("Universal Studios", None, False)),
        *(("Hitchcock", None, False), ("1899", None, False), ("Bates", None, False)),
    ]
    assert triples(bounded) == [
        ("Psycho", "was shot at", "Universal  Studios", False),
        ("Psycho", "Directed By", "Enterprise", False),
        ("Psycho", "directed_by", "Hitchcock", True),
        ("Hitchcock", "born", "1899", False),
    ]
    assert [each.in_schema for each in bounded.attributes] == [False, True]
    assert counts == Tally(kept=12, mapped=1, dropped=0, off_schema=9)


def test_the_first_listed_type_speaks_for_a_name() -> None:
    both = (ExtractedEntity("Psycho", "Person"), ExtractedEntity("psycho", "Film"), ADA)
    bounded, _ = bound(Extraction(both, (ExtractedTriple("Psycho", "directed_by", "Ada"),)), SCHEMA, "strict")
    assert bounded.triples == ()
    assert len(bounded.entities) == 3
    bounded, _ = bound(Extraction(both[1:], (ExtractedTriple("Psycho", "directed_by", "Ada"),)), SCHEMA, "strict")
    assert len(bounded.triples) == 1
    dropped_first = (ExtractedEntity("Psycho", "Alien"), *both[1:])
    bounded, _ = bound(Extraction(dropped_first, (ExtractedTriple("Psycho", "directed_by", "Ada"),)), SCHEMA, "strict")
    assert len(bounded.triples) == 1


def test_only_the_sure_candidate_is_accepted() -> None:
    proposals = [("c1", "d1", Proposal("relation", "starring", 0.95, "Leigh in Psycho"))]
    proposals += [("c1", "d1", Proposal("relation", "shot_in", 0.85))]
    expansions = accepted(proposals, SCHEMA, 0.9, 1)
    assert expansions == [Expansion("relation", "starring", 0.95, "Leigh in Psycho", 1, "c1")]
    assert "- starring" in SCHEMA.with_expansions(expansions).prompt_text()


def test_support_counts_documents_and_joins_spellings() -> None:
    proposals = [
        ("c1", "d1", Proposal("entity", "Film Studio", 0.9, "first")),
        ("c2", "d1", Proposal("entity", "film_studio", 0.99, "best")),
        ("c3", "d2", Proposal("entity", "FilmStudio", 0.92, "third")),
        ("c4", "d2", Proposal("entity", "Film Studio", 0.92, "fourth")),
        ("c5", "d3", Proposal("entity", "film-studio", 0.5, "unsure")),
        ("c6", "d1", Proposal("attribute", "budget", 1.0)),
        ("c7", "d1", Proposal("attribute", "budget", 1.0)),
    ]
    expected = [Expansion("entity", "Film Studio", 0.99, "best", 2, "c2")]
    for seed in range(10):
        random.Random(seed).shuffle(proposals)
        assert accepted(iter(proposals), SCHEMA, 0.9, 2) == expected
    assert [each.kind for each in accepted(proposals, SCHEMA, 0.9, 1)] == ["attribute", "entity"]
    of_a_book = [(f"p{page}", "book", Proposal("attribute", "budget", 1.0)) for page in range(6)]
    assert accepted(of_a_book[:5], SCHEMA, 0.9, 2) == []
    assert [(each.name, each.count) for each in accepted(of_a_book, SCHEMA, 0.9, 2)] == [("budget", 1)]
    assert accepted(proposals, SCHEMA, 0.9, 3) == []


def test_names_that_are_taken_or_cannot_be_are_not_accepted() -> None:
    names = ["person", "Human", "Chunk", "key_element", "123", "", "!!!", "x" * 200]
    proposals = [("c", "d", Proposal("entity", name, 1.0)) for name in names]
    proposals += [("c", "d", Proposal("relation", name, 1.0)) for name in ("helmed by", "FROM_CHUNK", "sameAs")]
    assert accepted(proposals, SCHEMA, 0.9, 1) == []
    assert len(accepted([("c", "d", Proposal("relation", "passage", 1.0))], SCHEMA, 0.9, 1)) == 1
