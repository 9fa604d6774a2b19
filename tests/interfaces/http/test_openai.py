"""OpenAI's chat protocol over the graph, spoken by the ``openai`` package."""

from collections.abc import Iterator

import openai
import pytest
from web_answers import QUESTION
from web_server import served

from kgplatform.client import KnowledgeGraph
from kgplatform.readers.readers import names

pytest_plugins = ["sample_server"]


@pytest.fixture(scope="module")
def chat(sample: KnowledgeGraph) -> Iterator[openai.OpenAI]:
    """A client with the token of the server."""
    with (
        served(sample, token="secret") as address,
        openai.OpenAI(base_url=f"{address}/v1", api_key="secret", max_retries=0) as client,
    ):
        yield client


def test_readers_are_models(chat: openai.OpenAI) -> None:
    assert [model.id for model in chat.models.list()] == ["kgplatform", *names()]
    with pytest.raises(openai.AuthenticationError):
        chat.with_options(api_key="wrong").models.list()


def test_an_answer_has_its_citations_as_annotations_and_lines(chat: openai.OpenAI, sample: KnowledgeGraph) -> None:
    made = chat.chat.completions.create(
        model="retrieve", messages=[{"role": "user", "content": QUESTION}], temperature=1
    )
    wanted = sample.ask(QUESTION, "retrieve")
    assert wanted.text
    (choice,) = made.choices
    content = choice.message.content
    assert content is not None
    assert (choice.finish_reason, content[: len(wanted.text)]) == ("stop", wanted.text)
    assert choice.message.annotations
    for each in choice.message.annotations:
        cited = each.url_citation
        number = int(content[cited.start_index + 1 : cited.end_index - 1])
        place = wanted.citations[number - 1]
        assert (cited.title, cited.url) == (place.title, f"{place.document}#char={place.start},{place.end}")
        assert f"\n[{number}] {place.title} (" in content and f"“{place.text}”" in content
    assert made.usage
    assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens > 0


def test_a_stream_has_the_same_in_chunks(chat: openai.OpenAI) -> None:
    asked = {"model": "kgplatform", "messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]}
    whole = chat.chat.completions.create(**asked)  # type: ignore[call-overload]  # as a client sends it
    chunks = list(chat.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))  # type: ignore[call-overload]  # as above
    said = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in said) == whole.choices[0].message.content
    assert said[0].role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage


def test_what_was_said_before_is_what_a_question_may_refer_to(chat: openai.OpenAI, sample: KnowledgeGraph) -> None:
    before = chat.chat.completions.create(model="retrieve", messages=[{"role": "user", "content": QUESTION}])
    messages = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": before.choices[0].message.content},
        {"role": "user", "content": "And who financed it?"},
    ]
    said = chat.chat.completions.create(model="retrieve", messages=messages)  # type: ignore[arg-type]  # as a client sends it
    assert said.choices[0].message.content
    assert "pirate" not in said.choices[0].message.content


def test_what_cannot_be_answered_is_said(chat: openai.OpenAI) -> None:
    for model, role, why in (("retrive", "user", "retrieve"), ("retrieve", "assistant", "The last message must be")):
        with pytest.raises(openai.BadRequestError, match=why):
            chat.chat.completions.create(model=model, messages=[{"role": role, "content": QUESTION}])  # type: ignore[misc, list-item]  # wrong
    events = chat.chat.completions.create(model="retrieve", messages=[{"role": "user", "content": "?"}], stream=True)
    with pytest.raises(openai.APIError, match="The question is empty"):
        list(events)
