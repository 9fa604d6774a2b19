"""Structured answers: everything that models put around, into and instead of JSON."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import RootModel

from kgplatform.errors import ReplyError
from kgplatform.models.chat import Reply, Wanted
from kgplatform.models.forms import Form, aside_of, items, text
from kgplatform.models.reply import Show, ask, json_values, parse_reply
from kgplatform.models.request import json_schema
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

QUESTION = [{"role": "system", "content": "Extract."}, {"role": "user", "content": "A text."}]


class Entity(Form):
    name: str
    type: str = ""


class Graph(Form):
    entities: list[Entity] = []
    triples: list[list[str]] = []


class Choice(Form):
    answer: str
    score: float = 0


ONE = Graph(entities=[Entity(name="Ada")])
ADA = '{"entities": [{"name": "Ada"}]}'


@pytest.mark.parametrize(
    "text",
    [
        f"  \n{ADA}\n\n",
        f"Here is the graph:\n```json\n{ADA}\n```\nTell me if you need more [or less].",
        f"Here it is, as in [1] and {{this}}: {ADA} Done {{",
        f'<think>{{"entities": [{{"name": "a longer draft than the answer"}}]}}</think>{ADA}',
        f"I think {{}} so </think>\n{ADA}",
        f"<thinking>one</thinking><think>two</think>{ADA}",
        f"<think>I never close this. {ADA}",
        f"[{ADA}]",
        json.dumps({"result": ADA}),
        f'{{"name": "extract", "parameters": {ADA}}}',
        f'[{{"type": "function", "name": "extract", "arguments": {json.dumps(ADA)}}}]',
        f'{{"a": {{"b": {ADA}}}}}',
        '{"ENTITIES ": [{" Name": "Ada", "type": null, "age": 36}], "triples": null}',
        f'{{"entities": []}} no, this: {ADA}',
        "\ufeff" + ADA,
    ],
)
def test_what_stands_around_the_answer_is_left_out(text: str) -> None:
    chat = ScriptedChat([text])
    assert ask(chat, QUESTION, Graph, stage="extract") == (ONE, 0)
    assert parse_reply(text, Graph)[0] == ONE


@pytest.mark.parametrize(
    "text",
    [
        *("{'entities': [{'name': 'Ada'}]}", '{"entities": [{"name": "Ada",}],}', '{entities: [{name: "Ada"}]}'),
        *('{"entities": [{"name": "Ada"}] // all\n}', '```json\n{"entities": [{"name": "Ada"}]\n```'),
        '{"entities": [{"name": "Ada"}, {"name": "Charles", "type"',
        '{"entities": [{"name": "Ada"}], "triples": [["Ada", "wro',
    ],
)
def test_broken_json_is_repaired_and_counted(text: str) -> None:
    chat = ScriptedChat([text])
    assert ask(chat, QUESTION, Graph, stage="extract") == (ONE, 1)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ('{"answer": "He said "yes" to me", "score": 1}', 'He said "yes" to me'),
        ('{"answer": "two\nlines\tand 東京 é"}', "two\nlines\tand 東京 é"),
        ('{"answer": "a\\ud800b"}', "a\ufffdb"),
        ('Answer: {"answer": "models write <think>so</think> first"}', "models write <think>so</think> first"),
        ('{"note": "a long object, which is not what was asked for"} {"answer": "yes"} {"answer": ""}', "yes"),
        ('{"answer": "1"} or rather {"answer": "2"}', "2"),
    ],
    ids=["quotes", "odd characters", "half a surrogate pair", "tags", "the largest that validates", "the later"],
)
def test_the_text_of_a_field(reply: str, answer: str) -> None:
    assert parse_reply(reply, Choice)[0].answer == answer


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ('{"nodes": [{"name": "Ada"}], "edges": []}', "it has nothing of what is asked for"),
        ('{"entities": null}', "it has nothing of what is asked for"),
        ('{"entities": [{"type": "Person"}, "Ada"]}', "entities: Field required"),
        ('["a", "b"]', "it: Input should be a valid dictionary"),
    ],
)
def test_a_reply_of_which_nothing_is_kept_is_none(reply: str, fault: str) -> None:
    with pytest.raises(ReplyError, match=fault):
        parse_reply(reply, Graph)


def test_lists_without_items_are_a_reply() -> None:
    assert parse_reply('{"entities": [], "triples": []}', Graph)[0] == Graph()


def test_a_wrong_item_costs_itself_alone() -> None:
    chat = ScriptedChat(['{"entities": [{"name": "Ada"}, {"type": "Person"}, 7], "triples": [["a", 1], "b"]}'])
    found, repairs = ask(chat, QUESTION, Graph, stage="extract")
    assert (found, repairs) == (Graph(entities=ONE.entities, triples=[["a", "1"]]), 1)


def test_numbers_and_texts_stand_for_each_other() -> None:
    assert parse_reply('{"Answer": 1965, "score": "0.5"}', Choice)[0] == Choice(answer="1965", score=0.5)


def test_a_field_that_cannot_be_read_is_asked_for_again_and_costs_itself_alone() -> None:
    chat = ScriptedChat(['{"answer": "b", "score": "high"}', '{"answer": "b", "score": 1}'])
    assert ask(chat, QUESTION, Choice, stage="answer") == (Choice(answer="b", score=1), 1)
    assert "score: Input should be a valid number" in chat.calls[1].messages[-1]["content"]
    chat = ScriptedChat(['{"answer": "b", "score": "high"}'] * 2)
    assert ask(chat, QUESTION, Choice, stage="answer") == (Choice(answer="b"), 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  \n", "it is empty"),
        ("I cannot do that.", "no JSON in it; it begins 'I cannot do that.'"),
        ('{"answer": ', "broken beyond repair"),
        ('{"answer":' * 50_000, "it begins"),
        ('{"answer": [' + "[" * 100_000 + "]" * 100_000 + "]}", "it begins"),
        ('"' * 100_000, "no JSON"),
        ("{}[](" * 20_000, "it: Input should be a valid dictionary"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_short_sentence(text: str, words: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_reply(text, Choice)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600


EXAMPLE = """Reply with one JSON object, such as:
{"reasoning": "Passage 2 says that Mara Quill built it.", "missing": "where Mara Quill was born", "answer": ""}"""


class Said(Form):
    reasoning: str = text(200)
    missing: str = ""
    answer: str = ""


@pytest.mark.parametrize(
    "beside", ["", "\n\nPassage 2 was cut.", "\n\n<data-0123456789ab>\nA text.\n</data-0123456789ab>"]
)
def test_the_example_of_the_prompt_is_no_reply(beside: str) -> None:
    example = EXAMPLE.splitlines()[1]
    system, user = {"role": "system", "content": "Answer."}, {"role": "user", "content": f"{EXAMPLE}{beside}"}
    for messages in ([system, user], [{**user, "role": "system"}, {"role": "user", "content": "Who built it?"}]):
        chat = ScriptedChat([example, '{"answer": "Anna Reed built it"}'])
        assert ask(chat, messages, Said, stage="answer") == (Said(answer="Anna Reed built it"), 1)
        assert "repeats the example" in chat.calls[1].messages[-1]["content"]


@pytest.mark.parametrize(
    ("line", "copied"),
    [
        ('For example: {"answer": "Pell Harbour", "missing": "4.1"}', '{"answer": "Pell Harbour", "missing": "1.1"}'),
        (
            '{"reasoning": "The Sea Lark won [2.3].", "answer": "7"}',
            '{"reasoning": "The Sea Lark won [2.3].", "answer": "2"}',
        ),
    ],
)
def test_a_text_of_the_example_is_no_reply_unless_the_prompt_has_it_elsewhere(line: str, copied: str) -> None:
    asked = {"role": "user", "content": f"{line}\n\nQuestion: Who?"}
    chat = ScriptedChat([copied, '{"answer": "Anna Reed"}'])
    assert ask(chat, [asked], Said, stage="answer") == (Said(answer="Anna Reed"), 1)
    data = "<data-0123456789ab>\nPell Harbour. The Sea Lark won [2.3].\n</data-0123456789ab>\n"
    told = ScriptedChat([copied])
    assert ask(told, [{**asked, "content": data + asked["content"]}], Said, stage="answer")[1] == 0


def test_an_object_in_the_data_is_no_example() -> None:
    user = '<data-0123456789ab>\n{"answer": "Anna Reed built the mill"}\n</data-0123456789ab>\n\nWho built the mill?'
    chat = ScriptedChat(['{"answer": "Anna Reed built the mill"}'])
    assert ask(chat, [{"role": "user", "content": user}], Said, stage="answer")[0].answer == "Anna Reed built the mill"


class TestCutOff:
    def reply(self, text: str) -> Reply:
        return Reply(text, Usage(1, 1, 1), cut_off=True)

    def test_the_whole_is_asked_for_once_more_with_more_room(self) -> None:
        chat = ScriptedChat([self.reply('{"entities": [{"name": "Ada"}, {"name"'), '{"entities": [{"name": "Bo"}]}'])
        value, repairs = ask(chat, QUESTION, Graph, stage="extract", tokens=50)
        assert ([entity.name for entity in value.entities], repairs) == (["Bo"], 1)
        assert [call.messages for call in chat.calls] == [QUESTION, QUESTION]
        assert [call.wanted for call in chat.calls] == [Wanted(Graph, 50), Wanted(Graph, 200)]

    def test_where_there_is_no_more_room_a_shorter_one_is_asked_for(self) -> None:
        half = replace(self.reply('{"entities": [{"name": "Ada"}, {"name"'), full=True)
        chat = ScriptedChat([half, '{"entities": [{"name": "Bo"}]}'])
        value, _ = ask(chat, QUESTION, Graph, stage="extract", tokens=50)
        assert [entity.name for entity in value.entities] == ["Bo"]
        assert chat.calls[1].wanted == Wanted(Graph, 50, again=True)
        assert "there is no more room: say less" in chat.calls[1].messages[-1]["content"]

    def test_a_list_that_breaks_off_is_read_and_no_error(self) -> None:
        chat = ScriptedChat([self.reply('["Ada", "Char'), "Sorry."])
        assert ask(chat, QUESTION, RootModel[list[str]], stage="extract")[0].root == ["Ada"]

    def test_a_reply_that_repeats_itself_gets_no_more_room(self) -> None:
        chat = ScriptedChat([self.reply('{"answer": "' + "the cable and " * 60), '{"answer": "No"}'])
        assert ask(chat, QUESTION, Choice, stage="answer", tokens=50) == (Choice(answer="No"), 1)
        assert chat.calls[1].wanted == Wanted(Choice, 50, again=True)
        assert "repeated itself" in chat.calls[1].messages[-1]["content"]

    def test_an_item_without_its_last_bracket_may_lack_more_and_goes(self) -> None:
        chat = ScriptedChat([self.reply('{"entities": [{"name": "Ada"}, {"name": "Bo"')] * 2)
        assert ask(chat, QUESTION, Graph, stage="extract") == (ONE, 2)

    def test_half_a_sentence_is_no_answer(self) -> None:
        chat = ScriptedChat([self.reply('{"score": 1, "answer": "It was not'), '{"answer": "No"}'])
        assert ask(chat, QUESTION, Choice, stage="answer") == (Choice(answer="No"), 1)

    def test_reasoning_alone_is_no_reply(self) -> None:
        half = self.reply('{"reasoning": "The ship was built in Millwall, and", "answer": "In')
        with pytest.raises(ReplyError, match="nothing of what is asked for. It broke off"):
            ask(ScriptedChat([half, half]), QUESTION, Said, stage="answer")

    def test_a_thought_that_is_cut_off_holds_no_answer(self) -> None:
        chat = ScriptedChat([self.reply(f"<think>Perhaps {ADA} or"), '{"entities": []}'])
        assert ask(chat, QUESTION, Graph, stage="extract") == (Graph(), 1)

    @pytest.mark.parametrize(
        ("broken", "kept"),
        [
            ('{"f": [{"t": "a", "k": ["x"]}, {"t": "b", "k": ["y", "z"], ', {"f": [{"t": "a", "k": ["x"]}]}),
            ('{"f": ["a]}", "b\\"}", "c', {"f": ["a]}", 'b"}']}),
            ('{"f": [["a", "\\\\\\u001f"], ["b"', {"f": [["a", "\\\x1f"]]}),
            ('{"f": [["a"]], "g": ["b', {"f": [["a"]]}),
            ('{"f": [{"t": "a"', None),
        ],
    )
    def test_the_last_item_of_the_outermost_list_goes(self, broken: str, kept: object) -> None:
        assert next(json_values(broken, cut_off=True), (None, True)) == (kept, True)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.lists(st.text(max_size=6), min_size=3, max_size=3), min_size=1, max_size=5), st.data())
    def test_wherever_it_breaks_what_is_kept_is_a_beginning(
        self, triples: list[list[str]], data: st.DataObject
    ) -> None:
        text = json.dumps({"triples": triples}, ensure_ascii=data.draw(st.booleans()))
        for value, _ in json_values(text[: data.draw(st.integers(0, len(text)))], cut_off=True):
            kept = [[text.rstrip() for text in triple] for triple in value["triples"]]
            assert kept == [[text.rstrip() for text in triple] for triple in triples[: len(kept)]]


class TestAskAgain:
    def test_the_error_is_sent_along_and_the_bad_answer_is_not(self) -> None:
        chat = ScriptedChat(['{"score": 5}', '{"answer": "five"}'])
        assert ask(chat, QUESTION, Choice, stage="answer") == (Choice(answer="five"), 1)
        again = chat.calls[1]
        assert again.stage == "answer"
        assert again.wanted == Wanted(Choice, again=True)
        assert again.messages[0] == QUESTION[0]
        assert len(again.messages) == 2
        assert again.messages[1]["content"].startswith(QUESTION[1]["content"])
        assert "answer: Field required" in again.messages[1]["content"]
        assert '"score": 5' not in again.messages[1]["content"]

    def test_what_came_in_place_of_a_reply_is_said(self) -> None:
        silent = Reply("", Usage(1, 1, 1), cut_off=False, lack="the model refused: I cannot help with that")
        with pytest.raises(ReplyError, match="The model refused: I cannot help with that"):
            ask(ScriptedChat([silent, silent]), QUESTION, Choice, stage="answer")

    def test_the_text_of_a_field_is_shown_while_it_is_written(self) -> None:
        shown: list[str] = []
        chat = ScriptedChat(['{"score": 1, "answer": "In Kingst\\u00f6n."}'])
        ask(chat, QUESTION, Choice, stage="answer", show=Show("answer", shown.append))
        assert shown[-1] == "In Kingstön."

    @pytest.mark.parametrize(("kind", "told"), [("answer", "Hull"), ("ANSWER", "Hull"), ("instruction", "")])
    def test_a_text_is_shown_only_where_another_field_says_so(self, kind: str, told: str) -> None:
        shown: list[str] = []
        chat = ScriptedChat([json.dumps({"type": kind, "answer": "Hull"})])
        ask(chat, QUESTION, Choice, stage="answer", show=Show("answer", shown.append, only=("type", "answer")))
        assert shown[-1] == told

    def test_the_second_form_is_shorter(self) -> None:
        chat = ScriptedChat(["The answer is five.", '{"answer": "five"}'])
        assert ask(chat, QUESTION, Said, stage="answer") == (Said(answer="five"), 1)
        first, second = (json_schema(call.wanted.form or Said) for call in chat.calls)
        assert aside_of(Said) == ["reasoning"]
        assert list(first["properties"]) == ["reasoning", "missing", "answer"]
        assert second["required"] == ["missing", "answer"]
        assert 'Leave out "reasoning".' in chat.calls[1].messages[-1]["content"]

    def test_it_is_asked_for_only_once_more(self) -> None:
        chat = ScriptedChat(["no $error ${x", "never", '{"answer": "too late"}'])
        with pytest.raises(ReplyError, match="stage answer cannot be used.*begins 'never'"):
            ask(chat, QUESTION, Choice, stage="answer")
        assert len(chat.calls) == 2
        assert "'no $error ${x'" in chat.calls[1].messages[1]["content"], "its dollar signs are only text"


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet='{}[]",:\\ab1 \n', max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse_reply(text, Graph)
    except ReplyError as error:
        assert str(error)


def test_bounds_are_the_servers_alone() -> None:
    class Bounded(Form):
        name: str = text(3)
        pages: list[int] = items(2)

    assert json_schema(Bounded)["properties"]["name"] == {"type": "string", "maxLength": 3}
    assert json_schema(Bounded)["properties"]["pages"]["maxItems"] == 2
    assert parse_reply('{"name": "Brunel", "pages": [1, 2, 3]}', Bounded)[0] == Bounded(name="Brunel", pages=[1, 2, 3])
