"""Several results in one."""

from kgplatform.records import FoundCommunity, FoundFact, FoundPassage, FoundPath, SearchResult
from kgplatform.search.search import fuse_results


def passage(name: str, score: float = 0.5, route: str = "passage") -> FoundPassage:
    return FoundPassage(name, f"{name}.txt", name, 0, 1, None, name, score, (route,))


def fact(name: str, score: float = 0.5, route: str = "triple") -> FoundFact:
    return FoundFact(name, name, score, (route,), ())


def result(*passages: FoundPassage, facts: tuple[FoundFact, ...] = ()) -> SearchResult:
    return SearchResult(f"about {passages[0].id}" if passages else "", passages, facts, 0.25)


def letters(text: str) -> SearchResult:
    return result(*(passage(each) for each in text))


def order(*texts: str, top_k: int = 10) -> str:
    return "".join(each.id for each in fuse_results([letters(text) for text in texts], top_k).passages)


def test_the_best_of_each_then_the_next_of_each() -> None:
    assert order("abc", "xyz") == "axbycz"
    assert order("abc", "xyz", top_k=3) == "axb"


def test_what_several_have_comes_before_what_stands_as_high_in_one() -> None:
    assert order("ab", "ac", "ad") == "abcd"
    assert order("abm", "xyn", "nmq") == "naxmbyq"
    assert order("abpqr", "xyrpq") == "axprbyq"


def test_what_several_have_far_behind_does_not_pass_the_first_of_one() -> None:
    assert order("abcm", "xyzm") == "axbymcz"


def test_one_result_keeps_its_order_and_none_is_nothing() -> None:
    assert order("abc") == "abc"
    assert order("abc", "") == "abc"
    assert fuse_results([], 5) == SearchResult("", (), (), 0.0)


def test_what_comes_once_has_its_best_score_and_all_routes() -> None:
    one = result(passage("a", 0.2, "path"), facts=(fact("f", 0.9),))
    other = result(passage("b"), passage("a", 0.7, "entity"), facts=(fact("g"), fact("f", 0.1, "community")))
    merged = fuse_results([one, other], 5)
    assert merged.passages == (FoundPassage("a", "a.txt", "a", 0, 1, None, "a", 0.7, ("entity", "path")), passage("b"))
    assert merged.facts == (FoundFact("f", "f", 0.9, ("community", "triple"), ()), fact("g"))
    assert (merged.question, merged.seconds) == ("about a", 0.5)


def test_paths_and_communities_are_merged_alike() -> None:
    there = FoundPath(("1", "2"), ("A", "B"), ("met",), (True,), (fact("f"),), 0.4)
    back = FoundPath(("2", "1"), ("B", "A"), ("met",), (False,), (fact("f"),), 0.6)
    near, far = FoundCommunity("c", "c", "", 3, 0.9), FoundCommunity("d", "d", "", 2, 0.1)
    one = SearchResult("?", (), (), 0.0, (there,), (near,))
    other = SearchResult("?", (), (), 0.0, (back,), (far, near))
    merged = fuse_results([one, other], 5)
    assert merged.paths == (back,)
    assert merged.communities == (near, far)
