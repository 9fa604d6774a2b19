"""The report and its prices: tables whatever the names are, who is right where, and no text of a user is markup."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import results_of, timing_of
from markdown_it import MarkdownIt
from rich.console import Console

from kgplatform.errors import InputError
from kgplatform.evaluate.costs import Prices, load_prices, per_question
from kgplatform.evaluate.kept_answers import slug
from kgplatform.evaluate.report import markdown, right_where
from kgplatform.evaluate.terms import Setup, Timing
from kgplatform.interfaces.cli.show import evaluation
from kgplatform.models.embed import OPENAI_DEFAULT, embedding_model
from kgplatform.records import Usage
from kgplatform.settings import Settings

FIVE = {
    **{"retrieve": "+--0+---+-", "youtu": "++-++-0-+-", "graphreader": "+++-+--++-", "readagent": "+-0++---+-"},
    "longagent": "xxxxxxxxxx",
}
NASTY = "a|b *c* `d` <b>e</b> [f](g) $x^2$ #h & ~i~ \\"
PRICES = Prices.model_validate(
    {
        "currency": "USD",
        "as_of": "2026-04-02",
        "models": {"gpt-4o-mini": {"input": 0.15, "output": 0.60}, "gpt-4o": {"input": 2.5, "output": 10.0}},
    }
)


def tables(report: str) -> list[list[list[str]]]:
    """Of every table its rows, of those the cells' text, as a reader of Markdown sees them."""
    found: list[list[list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(report):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found and token.map is not None and token.level >= 4:
            found[-1][-1].append("".join(child.content for child in token.children or ()))
    return found


def table(report: str, title: str, place: int = 0) -> list[list[str]]:
    """The first table below the heading ``title``, or a later one."""
    return tables(report[report.index(f"\n## {title}") :])[place]


def test_the_first_tables_have_scores_with_intervals_and_what_a_question_costs() -> None:
    results = results_of(FIVE)
    report = markdown(results, timing_of(results), PRICES)
    scores, costs = ({row[0]: row[1:] for row in table(report, "Scores and costs", place)[1:]} for place in range(2))
    assert list(scores) == list(costs) == list(FIVE)
    assert re.fullmatch(r"60\.0 \(\d+\.\d–\d+\.\d\)", scores["graphreader"][0])
    # Seconds 40 … 49: the median is 44.5, the 95th percentile 48.55. Tokens: 50,000 × 0.15 + 50 × 0.60 a million.
    assert costs["graphreader"] == ["30.0", "50,000", "50", "44.5 s", "48.5 s", "0", "0.0075"]
    assert scores["longagent"][0] == "0.0 (0.0–0.0)"
    assert costs["longagent"] == ["–", "–", "–", "–", "–", "10", "–"]


def test_the_members_of_a_team_are_paid_by_their_own_model() -> None:
    setup = Setup("longagent", "longagent", {"member_model": "gpt-4o"})
    results = results_of({"longagent": "+"})
    spent = {"member": Usage(4, 1_000_000, 0), "lead": Usage(1, 1_000_000, 0)}
    results = replace(
        results,
        setups=(replace(results.setups[0], setup=setup),),
        answers=(replace(results.answers[0], spent=spent),),
    )
    cost = per_question(results, Timing({}), PRICES)["longagent"]
    assert cost is not None
    assert cost.money == pytest.approx(2.5 + 0.15)
    unknown = PRICES.model_copy(update={"models": {"gpt-4o-mini": PRICES.models["gpt-4o-mini"]}})
    assert (cost := per_question(results, Timing({}), unknown)["longagent"]) is not None
    assert cost.money is None


def test_the_date_of_the_prices_and_a_model_without_a_price_are_told() -> None:
    results = results_of(FIVE)
    assert "by prices of 2026-04-02" in markdown(results, timing_of(results), PRICES)
    other = replace(results, model="a-model-of-my-own")
    report = markdown(other, timing_of(results), PRICES)
    assert "The table has no price for a-model-of-my-own" in report
    assert "USD" not in markdown(results, timing_of(results))


def test_who_is_right_where() -> None:
    where = right_where(results_of({"a": "++--0", "b": "+-+-x", "c": "+---+"}))
    assert where is not None
    assert list(where.marks) == ["q04", "q02", "q03", "q05", "q01"]
    assert [where.right_are(setups) for setups in ("abc", "", "a", "b", "c")] == [
        *(["q01"], ["q04"], ["q02"], ["q03"], ["q05"]),
    ]
    assert where.marks["q05"] == {"a": "refused", "b": "failed", "c": "right"}
    graded = right_where(results_of({"a": "+-0", "b": "---"}, values={"+": 0.5, "-": 0.49}))
    assert graded is not None
    assert graded.right_are("a") == ["q01"], "right from a half on"


def test_questions_lead_to_their_traces_those_first_on_which_the_setups_differ() -> None:
    results = results_of({"retrieve": "++-", "youtu agent=false": "+x-"}, ids=["a/b", "q 2", "q3"])
    report = markdown(results, timing_of(results))
    assert [row[0] for row in table(report, "Questions")] == ["Question", "q 2", "q3", "a/b"]
    links = re.findall(r"\]\((traces/[^)]+)\)", report)
    assert links[0] == f"traces/retrieve/{slug('q 2')}.txt"
    assert links[2] == f"traces/{slug('youtu agent=false')}/q3.txt"
    assert len(links) == 5  # a failure has none


def test_names_of_users_are_no_markup() -> None:
    results = results_of(
        {NASTY: "+-x", "other": "+++"},
        ids=["<script>", "*x*|y", "q\n# 3\ud800"],
        kinds=["$k$ | k", ""],
        dataset="![d](e)",
        notes=["A note with | and <i>.\n# No heading"],
    )
    report = markdown(results, timing_of(results), PRICES)
    report.encode()
    html = MarkdownIt("commonmark").enable("table").render(report)
    assert not re.search(r"<(?:script|b|i|em|code|img)\b", html)
    assert len(re.findall(r"<h1>", html)) == 1
    for rows in tables(report):
        assert {len(row) for row in rows} == {len(rows[0])}
    assert NASTY in [row[0] for row in table(report, "Scores and costs")]
    assert "q # 3" in [row[0] for row in table(report, "Questions")]


def test_every_stage_of_a_setup_is_paid_by_its_own_model() -> None:
    results = results_of({"retrieve": "+-"})
    spent = {"embed": Usage(2, 1_000_000, 0), "answer": Usage(2, 1_000_000, 500_000)}
    setups = tuple(replace(each, spent=spent) for each in results.setups)
    results = replace(results, setups=setups, embedder="small")
    small = PRICES.models["gpt-4o"].model_copy(update={"input": 0.02, "output": 0.0})
    prices = PRICES.model_copy(update={"models": {**PRICES.models, "small": small}})
    built = {"graph": {"extract": Usage(3, 1_000_000, 0), "embed": Usage(3, 2_000_000, 0)}}
    timing = replace(timing_of(results), construction=built, rating={"judge": Usage(7, 100_000, 0)})
    report = markdown(results, timing, prices)
    assert table(report, "Costs by stage")[1:] == [
        ["retrieve", "embed", "2", "1,000,000", "0", "0.020"],
        ["retrieve", "answer", "2", "1,000,000", "500,000", "0.45"],
    ]
    assert table(report, "Construction and rating")[1:] == [
        ["graph", "embed", "3", "2,000,000", "0", "0.040"],
        ["graph", "extract", "3", "1,000,000", "0", "0.15"],
        ["rating", "judge", "7", "100,000", "0", "0.25"],  # by the rater's own model
    ]


def test_a_terminal_says_who_is_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = results_of({"retrieve": "-" * 20, "youtu": "+" * 20, "[bold]x": "-" * 19 + "x"})
    terminal = Console(
        highlight=False, width=160, force_terminal=True, record=True, file=(tmp_path / "terminal").open("w")
    )
    monkeypatch.setattr(evaluation, "console", lambda: terminal)
    evaluation.show_results(results, timing_of(results), PRICES, tmp_path)
    out = terminal.export_text()
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "retrieve │ youtu │ -100.0 (-100.0 to -100.0) │ 1.9e-06 │ 5.7e-06 │ 20 │ youtu is better" in rows
    assert "retrieve │ [bold]x │ +0.0 (+0.0 to +0.0) │ 1 │ 1 │ 20 │ no difference shown" in rows


def test_the_shipped_table_has_the_default_model_and_a_date() -> None:
    prices = load_prices()
    default = str(Settings.model_fields["chat_model"].default)
    assert default in prices.models
    assert (prices.currency, str(prices.as_of)) == ("USD", "2026-04-02")
    assert OPENAI_DEFAULT in prices.models
    assert [embedding_model(each) for each in ("openai", "openai:big", "hash:64", "local:x")] == [
        OPENAI_DEFAULT,
        "big",
        "",
        "",
    ]
    for model, price in prices.models.items():
        given, written = price.input, price.output
        assert 0 < given < written or (model.startswith("text-embedding") and given > 0 and written == 0)


def test_an_amount_is_tokens_times_price(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "currency: EUR\nas_of: 2026-11-01\nmodels:\n  small: {input: 2, output: 10.5}\n  free: {input: 0, output: 0}\n"
    )
    prices = load_prices(file)
    assert prices.cost(Usage(3, 500_000, 200_000), "small") == pytest.approx(1.0 + 2.1)
    assert prices.cost(Usage(), "small") == 0
    assert prices.cost(Usage(1, 10, 10), "free") == 0
    assert prices.cost(Usage(1, 10, 10), "small-2") is None
    assert (prices.currency, str(prices.as_of)) == ("EUR", "2026-11-01")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it: "),
        ("currency: USD\nas_of: 2026-01-01\nmodels: {a: {input: .nan, output: 2}}", "models.a.input: "),
        ("currency: USD\nas_of: 2026-01-01\nmodels: {a: {input: 1}}", "models.a.output: Field required"),
        ("currency: USD\nas_of: soon\nmodels: {}", "as_of: "),
    ],
)
def test_what_is_no_table_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_prices(file)
    assert str(caught.value).startswith(f"{file} is not a table of prices: {said}")
    assert str(caught.value).endswith("models: {NAME: {input: 0.40, output: 1.60}}.")
    assert "\n" not in str(caught.value)
