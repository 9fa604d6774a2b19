"""Structured answers: everything that models put around, into and instead of JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Reply, Wanted
from kgplatform.models.json_text import pieces, whole_items
from kgplatform.models.reply import ask, parse_reply
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

QUESTION = [{"role": "system", "content": "Extract."}, {"role": "user", "content": "A text."}]


class Entity(BaseModel):
    name: str
    type: str = ""


class Graph(BaseModel):
    entities: list[Entity] = []
    triples: list[list[str]] = []


class Choice(BaseModel):
    answer: str
    score: float = 0


class Names(BaseModel):
    names: list[str]


ONE = Graph(entities=[Entity(name="Ada")])
ADA = '{"entities": [{"name": "Ada"}]}'


@pytest.mark.parametrize(
    "text",
    [
        ADA,
        f"  \n{ADA}\n\n",
        f"```json\n{ADA}\n```",
        f"```\n{ADA}\n```",
        f"Here is the graph:\n```json\n{ADA}\n```\nTell me if you need more [or less].",
        f"Here it is, as in [1] and {{this}}: {ADA} Done {{",
        f'<think>{{"entities": [{{"name": "a longer draft than the answer"}}]}}</think>{ADA}',
        f"<think>I see [a {{ and</think>\n{ADA}",
        f"I think {{}} so </think>\n{ADA}",
        f"<thinking>one</thinking><think>two</think>{ADA}",
        f"<think>I never close this. {ADA}",
        f"[{ADA}]",
        f'{{"result": {ADA}}}',
        f'{{"entities": []}} no, this: {ADA}',
        "\ufeff" + ADA,
    ],
)
def test_what_stands_around_the_answer_is_left_out(text: str) -> None:
    chat = ScriptedChat([text])
    assert ask(chat, QUESTION, Graph, stage="extract") == (ONE, 0)
    assert parse_reply(text, Graph) == ONE


@pytest.mark.parametrize(
    "text",
    [
        "{'entities': [{'name': 'Ada'}]}",
        '{"entities": [{"name": "Ada"},]}',
        '{"entities": [{"name": "Ada",}],}',
        '{entities: [{name: "Ada"}]}',
        '{"entities": [{"name": "Ada"}] // all\n}',
        '{"entities": [{"name": "Ada"}]',
        '```json\n{"entities": [{"name": "Ada"}]\n```',
        '{"entities": [{"name": "Ada", "type": None}, ]}'.replace("None", '""'),
        '{"entities": [{"name": "Ada"}, {"name": "Charl',
        '{"entities": [{"name": "Ada"}, {"name": "Charles", "type"',
        '{"entities": [{"name": "Ada"}], "triples": [["Ada", "wro',
    ],
)
def test_broken_json_is_repaired_and_counted(text: str) -> None:
    chat = ScriptedChat([text])
    assert ask(chat, QUESTION, Graph, stage="extract") == (ONE, 1)


def test_quotes_inside_of_a_string() -> None:
    assert parse_reply('{"answer": "He said "yes" to me", "score": 1}', Choice).answer == 'He said "yes" to me'


def test_line_breaks_and_odd_characters_inside_of_a_string() -> None:
    assert parse_reply('{"answer": "two\nlines\tand 東京 é"}', Choice).answer == "two\nlines\tand 東京 é"


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert parse_reply('{"answer": "a\\ud800b"}', Choice).answer == "a\ufffdb"


def test_tags_inside_of_an_answer_stay() -> None:
    text = '{"answer": "models write <think>so</think> first"}'
    assert parse_reply(text, Choice).answer == "models write <think>so</think> first"
    assert parse_reply("Answer: " + text, Choice).answer == "models write <think>so</think> first"


def test_the_largest_value_that_validates_counts() -> None:
    text = (
        '{"note": "a long object that is not what was asked for, though it is long"} {"answer": "yes"} {"answer": ""}'
    )
    assert parse_reply(text, Choice).answer == "yes"


def test_of_equally_long_values_the_later_counts() -> None:
    assert parse_reply('{"answer": "1"} or rather {"answer": "2"}', Choice).answer == "2"


def test_an_object_of_other_keys_is_no_empty_answer() -> None:
    with pytest.raises(ReplyError, match="entities: Field required"):
        parse_reply('{"nodes": [{"name": "Ada"}], "edges": []}', Graph)


def test_an_empty_object_is_an_answer() -> None:
    assert parse_reply("{}", Graph) == Graph()


def test_a_bare_list_is_the_only_field() -> None:
    assert parse_reply('["a", "b"]', Names).names == ["a", "b"]
    with pytest.raises(ReplyError):
        parse_reply('["a", "b"]', Graph)


def test_a_shape_that_is_a_list() -> None:
    assert parse_reply('Sure: ["a", "b"]', RootModel[list[str]]).root == ["a", "b"]


def test_fields_with_an_alias() -> None:
    class Aliased(BaseModel):
        kind: str = Field("", alias="type")
        other: str = Field("", validation_alias="Other")

    assert parse_reply('{"type": "x", "Other": "y"}', Aliased) == Aliased(type="x", Other="y")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("  \n", "it is empty"),
        ("I cannot do that.", "no JSON in it; it begins 'I cannot do that.'"),
        ('{"answer": ', "broken beyond repair"),
        ('{"answer": 5}', "answer: Input should be a valid string"),
        ("[" * 100_000, "it begins"),
        ('{"answer":' * 50_000, "it begins"),
        ('{"answer": [' + "[" * 100_000 + "]" * 100_000 + "]}", "it begins"),
        ('"' * 100_000, "no JSON"),
        ("{}[](" * 20_000, "answer: Field required"),
        ("{a " * 20_000, "it begins"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_short_sentence(text: str, words: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_reply(text, Choice)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600


class TestCutOff:
    def reply(self, text: str) -> Reply:
        return Reply(text, Usage(1, 1, 1), cut_off=True)

    def test_complete_items_are_kept(self) -> None:
        chat = ScriptedChat([self.reply('{"entities": [{"name": "Ada"}, {"name": "Bo", "type": "Per')])
        assert ask(chat, QUESTION, Graph, stage="extract") == (ONE, 1)

    def test_an_item_without_its_last_bracket_may_lack_more_and_goes(self) -> None:
        chat = ScriptedChat([self.reply('{"entities": [{"name": "Ada"}, {"name": "Bo"')])
        assert ask(chat, QUESTION, Graph, stage="extract") == (ONE, 1)

    def test_half_a_sentence_is_no_answer(self) -> None:
        chat = ScriptedChat([self.reply('{"score": 1, "answer": "It was not'), '{"answer": "No"}'])
        assert ask(chat, QUESTION, Choice, stage="answer") == (Choice(answer="No"), 1)
        assert "length limit" in chat.calls[1].messages[-1]["content"]

    def test_a_thought_that_is_cut_off_holds_no_answer(self) -> None:
        chat = ScriptedChat([self.reply(f"<think>Perhaps {ADA} or"), '{"entities": []}'])
        assert ask(chat, QUESTION, Graph, stage="extract") == (Graph(), 1)

    def test_nested_lists_count_as_parts_of_their_item(self) -> None:
        assert (
            whole_items('{"f": [{"t": "a", "k": ["x"]}, {"t": "b", "k": ["y", "z"], ')
            == '{"f": [{"t": "a", "k": ["x"]}]}'
        )

    def test_brackets_in_strings_are_no_brackets(self) -> None:
        assert whole_items('{"f": ["a]}", "b\\"}", "c') == '{"f": ["a]}", "b\\"}"]}'

    def test_nothing_complete(self) -> None:
        assert whole_items('{"f": [{"t": "a"') is None
        assert whole_items('{"f') is None

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.lists(st.text(max_size=6), min_size=3, max_size=3), min_size=1, max_size=5), st.data())
    def test_wherever_it_breaks_what_is_kept_is_a_beginning(
        self, triples: list[list[str]], data: st.DataObject
    ) -> None:
        text = json.dumps({"triples": triples}, ensure_ascii=data.draw(st.booleans()))
        kept = whole_items(text[: data.draw(st.integers(0, len(text)))])
        if kept is not None:
            value = json.loads(kept)
            assert value["triples"] == triples[: len(value["triples"])]


class TestAskAgain:
    def test_the_error_and_the_bad_answer_are_sent_along(self) -> None:
        chat = ScriptedChat(['{"answer": 5}', '{"answer": "five"}'])
        assert ask(chat, QUESTION, Choice, stage="answer") == (Choice(answer="five"), 1)
        again = chat.calls[1]
        assert again.stage == "answer"
        assert again.messages[:2] == QUESTION
        assert again.messages[2] == {"role": "assistant", "content": '{"answer": 5}'}
        assert again.messages[3]["role"] == "user"
        assert "answer: Input should be a valid string" in again.messages[3]["content"]

    def test_a_repaired_second_answer_counts_twice(self) -> None:
        chat = ScriptedChat(["no", "{'answer': 'yes'}"])
        assert ask(chat, QUESTION, Choice, stage="answer") == (Choice(answer="yes"), 2)

    def test_an_empty_answer_is_quoted_as_something(self) -> None:
        chat = ScriptedChat(["", '{"answer": "x"}'])
        ask(chat, QUESTION, Choice, stage="answer")
        assert chat.calls[1].messages[2]["content"] == "(nothing)"

    def test_it_is_asked_for_only_once_more(self) -> None:
        chat = ScriptedChat(["no", "never", '{"answer": "too late"}'])
        with pytest.raises(ReplyError, match="stage answer cannot be used.*begins 'never'"):
            ask(chat, QUESTION, Choice, stage="answer")
        assert len(chat.calls) == 2

    def test_the_form_that_is_read_is_asked_for(self) -> None:
        chat = ScriptedChat(['{"answer": "b"}'])
        ask(chat, QUESTION, Choice, stage="answer", tokens=70)
        assert chat.calls[0].wanted == Wanted(Choice, 70)

    def test_dollar_signs_of_the_answer_are_only_text(self) -> None:
        chat = ScriptedChat(["$error $question ${x", '{"answer": "a"}'])
        ask(chat, QUESTION, Choice, stage="answer")
        assert "'$error $question ${x'" in chat.calls[1].messages[3]["content"]


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet='{}[]",:\\ab1 \n', max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse_reply(text, Graph)
    except ReplyError as error:
        assert str(error)


def test_pieces_of_a_long_text_are_few() -> None:
    assert len(pieces("[] " * 10_000)) <= 100
