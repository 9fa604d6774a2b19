"""Prices: the shipped table, one's own, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.costs import load_prices
from kgplatform.models.embed import OPENAI_DEFAULT, embedding_model
from kgplatform.records import Usage
from kgplatform.settings import Settings


def test_the_shipped_table_has_the_default_model_and_a_date() -> None:
    prices = load_prices()
    default = str(Settings.model_fields["chat_model"].default)
    assert default in prices.models
    assert (prices.currency, prices.as_of) == ("USD", "2026-04-02")
    assert OPENAI_DEFAULT in prices.models
    assert [embedding_model(each) for each in ("openai", "openai:big", "hash:64", "local:x")] == [
        OPENAI_DEFAULT,
        "big",
        "",
        "",
    ]
    for model, (given, written) in prices.models.items():
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
    assert prices.lacking("small") == ""
    assert prices.lacking("small-2").startswith("The table has no price for small-2, so amounts are missing")
    assert (prices.currency, prices.as_of) == ("EUR", "2026-11-01")


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
