"""A stand-in for a language model that answers every prompt of every reader by counting words that texts share.

    with OpenAIServer(reply) as server: ...
    python tests/kit/simulated_readers.py       # serves until it is stopped, and prints its address

It understands nothing. A sentence that shares enough words with a question is what it says; where a question needs a
second sentence, it looks for one that has a name of the first. The same prompt gets the same reply, always, so a run
that was killed and goes on comes to what an undisturbed one does. Figures that it makes say what a reader's way of
looking brings before a model's eyes, and nothing of how well a real model reads.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Mapping

from model_by_prompt import Prompt
from rule_reader import extract
from shared_words import WORD, by_rank, names_in, sentences_of, shared, stems_of, tell, tell_of

from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer

NO_MENTION = "No Mention"
REFUSES = "The documents do not say."
_UNANSWERABLE = "[unanswerable]"
_ASKED_AGAIN = re.compile(r"\ASay what is told of (?P<name>.+?), asked: (?P<question>.+)", re.DOTALL)


def reply(messages: Messages) -> str:
    """The reply to any prompt of the platform. Raises ``LookupError`` for one that it has no rule for."""
    prompt = Prompt(messages)
    return RULES[prompt.name](prompt)


# ----------------------------------------------------------------------------------------- retrieve, youtu, plain texts


def _answer(asked: Prompt) -> str:
    told = tell(asked.question, asked.passages.values())
    cited = [(_holding(each, asked.passages), each) for each in told.sentences]
    if not cited:
        return json.dumps({"sufficient": False, "answer": "", "citations": []})
    text = " ".join(f"{said} [{number}]" for number, said in cited)
    citations = [{"passage": number, "quote": said} for number, said in cited]
    return json.dumps({"sufficient": True, "answer": text, "citations": citations}, ensure_ascii=False)


def _holding(sentence: str, passages: Mapping[int, str]) -> int:
    return next((number for number, text in passages.items() if sentence in " ".join(text.split())), 1)


def _stand_alone(asked: Prompt) -> str:
    """The first name of the last answer in place of the first pronoun."""
    follow_up = asked.user.rpartition("The follow-up question: ")[2]
    names = names_in(asked.data.rpartition("\nAnswer: ")[2])
    made = re.sub(r"\b(?:he|she|it|they)\b", names[0], follow_up, count=1) if names else follow_up
    return json.dumps({"reasoning": "By the first name.", "question": made}, ensure_ascii=False)


def _decompose(asked: Prompt) -> str:
    """A sub-question for each of the first names, or for each part of a list of numbers: the question itself."""
    names = names_in(asked.question)[:3]
    parts = [f"What is told of {name}?" for name in names] if len(names) > 1 else [asked.question]
    involved: dict[str, list[str]] = {"nodes": [], "relations": [], "attributes": []}
    return json.dumps({"sub_questions": [{"sub-question": each} for each in parts], "involved_types": involved})


def _fill_in(asked: Prompt) -> str:
    parts = re.split(r"^Question (\d+): ", asked.data, flags=re.MULTILINE)[1:]
    answers = []
    for number, part in zip(parts[::2], parts[1::2], strict=True):
        question, _, found = part.partition("\n")
        names = names_in(tell(question, [found]).text, question)
        answers.append({"number": int(number), "answer": names[0] if names else ""})
    return json.dumps({"answers": answers}, ensure_ascii=False)


def _reflect(asked: Prompt) -> str:
    told = tell(asked.question, asked.passages.values())
    name = told.lead(asked.question)
    if name:
        return f"Still missing: {', '.join(told.lacks)}.\nThe new query is: {name} {' '.join(told.lacks)}"
    return f"By shared words.\nSo the answer is: {told.text or REFUSES}"


def _from_text(asked: Prompt) -> str:
    told = tell(asked.question, [asked.data])
    return f"[answerable] {told.text}" if told.text else _UNANSWERABLE


def _from_piece(asked: Prompt) -> str:
    """With notes: all that helps is noted; the answer where no name is left to follow."""
    piece, _, notes = asked.data.removeprefix("Piece:\n").rpartition("\n\nNotes on what came before:\n")
    told = tell(asked.question, [notes, piece])
    if not told.text:
        return _UNANSWERABLE
    ending = _UNANSWERABLE if told.lead(asked.question) else f"[answerable] {told.text}"
    return f"[summary] {told.text}\n{ending}"


# ---------------------------------------------------------------------------------------------------------- graphreader


def _nodes(asked: Prompt) -> str:
    names = asked.data.partition("Nodes:\n")[2].splitlines()
    scored = sorted(((_likeness(name, asked.question), name) for name in names), key=lambda each: (-each[0], each[1]))
    return "\n".join(f"Node: {name}, Score: {score}" for score, name in scored[:10]) or "Node: none, Score: 0"


def _likeness(name: str, question: str) -> int:
    """0 to 100: the share of the name's words that the question has."""
    return 100 * shared(name, question) // max(1, len(stems_of(name)))


def _facts(asked: Prompt) -> str:
    """The passages not yet read whose facts share most with the question, two at most."""
    done, notebook, listed = _walk(asked, "Node: ")
    facts = listed.partition("Its atomic facts")[2]
    read = set(re.findall(r"ID-\d+", done))
    parts = re.split(r"^(ID-\d+)", facts, flags=re.MULTILINE)[1:]
    wanted = {number: shared(asked.question, text) for number, text in zip(parts[::2], parts[1::2], strict=True)}
    best = sorted((number for number in wanted if wanted[number] and number not in read), key=lambda n: (-wanted[n], n))
    action = f"read_chunk({json.dumps(best[:2])})" if best else "stop_and_read_neighbor()"
    return _step(notebook, action)


def _passage(asked: Prompt) -> str:
    _, notebook, shown = _walk(asked, "Chunk ID-")
    parts = re.split(r"(?:\A|\n\n)Chunk (ID-\d+)[^\n]*:\n", shown)[1:]
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    told = tell(asked.question, [*_noted(notebook), *texts.values()])
    for said in told.sentences:
        here = next((id_ for id_, text in texts.items() if said in sentences_of(text)), "")
        if here and said.partition('"')[0] not in notebook:
            notebook += f'\n{said.replace(chr(34), "")} [{here} "{said.partition(chr(34))[0].rstrip(" .")}"]'
    complete = told.sentences and not told.lead(asked.question)
    return _step(notebook, "termination()" if complete else "search_more()")


def _neighbours(asked: Prompt) -> str:
    """A neighbour that the notebook names, else one that the question does."""
    done, notebook, listed = _walk(asked, "Node: ")
    names = [name for name in listed.partition("Its neighbours")[2].splitlines()[1:] if name and name not in done]
    found = next((name for text in (notebook, asked.question) for name in names if len(name) > 3 and name in text), "")
    action = f"read_neighbor_node({found})" if found else "termination()"
    return f"Rationale for Next Action: by shared words.\nChosen Action: {action}"


def _from_notebooks(asked: Prompt) -> str:
    """The noted sentences that answer, each with its mark."""
    marks = {said.strip(): mark for said, mark in re.findall(r'^(.+?) (\[ID-\d+ "[^"]*"\])$', asked.data, re.MULTILINE)}
    told = tell(asked.question, marks)
    final = " ".join(f"{said} {marks[said]}" for said in told.sentences if said in marks)
    return f"Analyze: by shared words.\nFinal answer: {final or REFUSES}"


def _walk(asked: Prompt, label: str) -> tuple[str, str, str]:
    """Previous actions, notebook, and what is shown, which begins with ``label``."""
    done, _, rest = asked.data.partition("\n\nNotebook:\n")
    notebook, _, shown = rest.partition(f"\n\n{label}")
    return done, "" if notebook.strip() == "(empty)" else notebook.strip(), label + shown


def _noted(notebook: str) -> list[str]:
    return [re.sub(r' \[ID-\d+ "[^"]*"\]$', "", line) for line in notebook.splitlines()]


def _step(notebook: str, action: str) -> str:
    rationale = "Rationale for Next Action: by shared words."
    return f"Updated Notebook: {notebook.strip() or '(empty)'}\n{rationale}\nChosen Action: {action}"


# --------------------------------------------------------------------------------------------------------------- cypher


def _write_cypher(asked: Prompt) -> str:
    """What is told of the names that the question has, those that the prompt lists first; else of any words of it."""
    question = re.findall(r"^Question: (.+)", asked.user, re.MULTILINE)[-1]
    listed = asked.user.partition("Names in the graph that the question may mean:\n")[2].splitlines()
    known = [name for name in (line.rpartition(" (")[0] for line in listed) if name and name in question]
    names = known or names_in(question) or list(stems_of(question).values())
    statement = (
        "MATCH (e:Entity)<-[:SUBJECT|OBJECT|MENTIONS]-(f:Fact) WHERE any(name IN $names WHERE e.name CONTAINS name) "
        "RETURN DISTINCT f.text AS fact, f.id AS sources ORDER BY fact"
    )
    return json.dumps({"statement": statement, "parameters": {"names": names}}, ensure_ascii=False)


def _from_rows(asked: Prompt) -> str:
    """The rows that share enough words with the question."""
    rows = dict(re.findall(r"^\[(\d+)\] fact: (.+)$", asked.data, re.MULTILINE))
    told = tell(asked.question, rows.values())
    said = [(n, row) for n, row in rows.items() if any(each in row for each in told.sentences)]
    text = " ".join(f"{row} [{n}]" for n, row in said)
    return json.dumps({"sufficient": bool(said), "answer": text}, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------------------ readagent


def _pause(asked: Prompt) -> str:
    labels = re.findall(r"^<(\d+)>$", asked.data, re.MULTILINE)
    return f"Break point: <{labels[len(labels) // 2]}>\nBecause it is the one in the middle."


def _gist(asked: Prompt) -> str:
    """The first sentence of each paragraph."""
    firsts = (sentences_of(each) for each in re.split(r"\n\s*\n", asked.data))
    return "\n".join(each[0] for each in firsts if each)


def _lookup(asked: Prompt) -> str:
    return f"I want to look up Page [{', '.join(map(str, _best_pages(asked)[:2]))}] to see what they say."


def _next_page(asked: Prompt) -> str:
    read = set(map(int, re.findall(r"Page (\d+)", asked.user.rpartition("Read again already")[2])))
    return next((f"Page {number}" for number in _best_pages(asked) if number not in read), "STOP")


def _best_pages(asked: Prompt) -> list[int]:
    """Those whose gists share words with the question, most first."""
    found = {number: shared(asked.question, text) for number, text in asked.pages.items()}
    return sorted((number for number in found if found[number]), key=lambda each: (-found[each], each))


def _from_memory(asked: Prompt) -> str:
    return tell(asked.question, asked.pages.values()).text or _UNANSWERABLE


def _choose(asked: Prompt) -> str:
    """The option that shares most with what is remembered about the question."""
    options = re.findall(r"^\(([A-Z])\) (.+)", asked.user, re.MULTILINE)
    told = tell(asked.question, asked.pages.values()).text
    letter, text = max(options, key=lambda each: (shared(each[1], told), -ord(each[0])))
    return f"Answer: ({letter}) {text}"


# ------------------------------------------------------------------------------------------------------------ longagent


def _member(asked: Prompt) -> str:
    instruction, passage = asked.section("Instruction"), asked.section("Passage")
    of_name = _ASKED_AGAIN.match(instruction)
    if of_name:
        said = tell_of(of_name["name"], of_name["question"], [passage])
    else:
        said = by_rank(instruction, passage, most=3) or tell(instruction, [passage]).text
    return f"<scratchpad>By shared words.</scratchpad>\n{_envelope('response', said or NO_MENTION)}"


def _decide(asked: Prompt) -> str:
    """An answer, or in the first round an instruction that asks for what a name was told of."""
    objective = asked.section("Objective")
    told = tell(objective, _said(asked))
    name = told.lead(objective)
    if name and re.match(r"Round 1 of (?!at most 1\.)", asked.messages[-1]["content"]):
        return _envelope("instruction", f"Say what is told of {name}, asked: {objective}")
    return _envelope("answer", told.text or NO_MENTION)


def _batch(asked: Prompt) -> str:
    objective = asked.section("Objective")
    said = _said(asked)
    return _envelope("response", by_rank(objective, " ".join(said), most=3) or tell(objective, said).text or NO_MENTION)


def _said(asked: Prompt) -> list[str]:
    """All members' replies, those of earlier rounds too, less their quotes."""
    shown = [asked.section("Replies", each["content"]) for each in asked.messages[1:] if each["role"] == "user"]
    lines = re.findall(r"^Members? [\d-]+: (.*)$", "\n".join(shown), re.MULTILINE)
    return list(dict.fromkeys(line.partition(" — “")[0] for line in lines))


def _rivals(replies: str) -> str:
    """All replies contradict each other."""
    members = list(range(1, len(replies.splitlines()) + 1))
    return json.dumps({"groups": [{"members": members, "relation": "conflicting"}]})


def _envelope(kind: str, content: str) -> str:
    return json.dumps({"type": kind, "content": content}, ensure_ascii=False)


# --------------------------------------------------------------------------------------------------------------- global


def _from_communities(asked: Prompt) -> str:
    """The facts that say most, or the statements that remain."""
    listed = dict(re.findall(r"^\[(\d+)\] (.+)$", asked.data, re.MULTILINE))
    told = tell(asked.question, listed.values())
    said = [(int(n), text) for n, text in listed.items() if any(each in text for each in told.sentences)]
    points = [{"point": text, "facts": [n], "score": 60} for n, text in said]
    return json.dumps({"reasoning": "By shared words.", "points": points, "items": []}, ensure_ascii=False)


def _from_findings(asked: Prompt) -> str:
    found = json.loads(_from_communities(asked))["points"]
    text = " ".join(f"{each['point']} [{each['facts'][0]}]" for each in found)
    return json.dumps({"answer": text, "citations": [], "sufficient": bool(text)}, ensure_ascii=False)


# --------------------------------------------------------------------------------------------------- building the graph


def _extract(asked: Prompt) -> str:
    """Facts alone, and what they name: all of it people, since nothing tells them from other things."""
    named = [(str(number), names_in(said)) for number, said in asked.sentences.items()]
    facts = [[number, *names] for number, names in named if names]
    entities = [[name, "Person"] for name in sorted({name for _, names in named for name in names})]
    found = {"facts": facts, "entities": entities, "statements": [], "proposals": []}
    return json.dumps(found, ensure_ascii=False)


def _name_communities(asked: Prompt) -> str:
    centres = re.findall(r"^Community (\d+), .*\ncentre: (.*)", asked.data, re.MULTILINE)
    named = [{"id": int(n), "name": f"Around {centre}", "summary": f"{centre} and others."} for n, centre in centres]
    return json.dumps({"communities": named}, ensure_ascii=False)


# --------------------------------------------------------------------------------------------------------------- rating


def _strict(asked: Prompt) -> str:
    agrees = _stands(asked.section("The right answer"), asked.section("What John answered"))
    return _rated(agrees="yes" if agrees else "no")


def _permissive(asked: Prompt) -> str:
    right, said = asked.section("The right answer"), asked.section("What John answered")
    if _stands(right, said):
        return _rated(agrees="yes")
    return _rated(agrees="partially" if shared(right, said) else "no")


def _judge(asked: Prompt) -> str:
    said = asked.section("The answer to be judged")
    return _rated(correct=int(any(_stands(each, said) for each in asked.section("The right answers").splitlines())))


def _rubric(asked: Prompt) -> str:
    """2 where a right answer stands there whole, 1 where at least half of its words do."""
    right, said = asked.section("The right answers").splitlines(), asked.section("The answer to be scored")
    whole = any(_stands(each, said) for each in right)
    half = any(2 * shared(each, said) >= len(stems_of(each)) > 0 for each in right)
    return _rated(score=2 if whole else int(half))


def _rate_facts(asked: Prompt) -> str:
    """All facts are needed; recalled are those of which a sentence has three words in four."""
    text, facts = asked.section("The text"), asked.section("The supporting facts").splitlines()
    found = [any(4 * shared(fact, each) >= 3 * len(stems_of(fact)) for each in sentences_of(text)) for fact in facts]
    verdicts = [{"fact": n, "needed": True, "recalled": is_there} for n, is_there in enumerate(found, 1)]
    return json.dumps({"facts": verdicts})


def _rated(**verdict: str | int) -> str:
    return json.dumps({"reasoning": "By shared words.", **verdict})


def _stands(right: str, said: str) -> bool:
    """Whether ``right`` stands in ``said``, word by word."""
    words = [" ".join(WORD.findall(each.lower())) for each in (right, said)]
    return bool(words[0]) and f" {words[0]} " in f" {words[1]} "


RULES: dict[str, Callable[[Prompt], str]] = {
    "models/trial": lambda prompt: "ready",
    "readers/answer": _answer,
    "readers/standalone": _stand_alone,
    "youtu/decompose": _decompose,
    "youtu/fill_in": _fill_in,
    "youtu/reflect": _reflect,
    "baselines/full_text": _from_text,
    "baselines/chunk_read": _from_text,
    "baselines/chunk_notes": _from_piece,
    "graphreader/plan": lambda asked: (
        f"Find sentences that have these words: {', '.join(stems_of(asked.question).values())}."
    ),
    "graphreader/nodes": _nodes,
    "graphreader/facts": _facts,
    "graphreader/chunk": _passage,
    "graphreader/neighbours": _neighbours,
    "graphreader/answer": _from_notebooks,
    "ingest/atomic_facts": lambda asked: extract(asked.sentences),
    "cypher/write": _write_cypher,
    "cypher/answer": _from_rows,
    "gist/pause": _pause,
    "gist/gist": _gist,
    "gist/merge": lambda asked: "no",
    "readagent/lookup": _lookup,
    "readagent/lookup_ordered": _lookup,
    "readagent/next": _next_page,
    "readagent/answer": _from_memory,
    "readagent/choose": _choose,
    "longagent/expert": lambda asked: _envelope("member", "QA member"),
    "longagent/instruct": lambda asked: _envelope("instruction", asked.section("Objective")),
    "longagent/member": _member,
    "longagent/joint": _member,
    "longagent/group": lambda asked: _rivals(asked.section("Replies")),
    "longagent/decide": _decide,
    "longagent/end": _decide,
    "longagent/batch": _batch,
    "corpus/map": _from_communities,
    "corpus/merge": _from_communities,
    "corpus/reduce": _from_findings,
    "ingest/extract": _extract,
    "tree/name_communities": _name_communities,
    "doors/mcp_answer": lambda asked: "No tool can be called here.",
    "evaluate/zero_shot": lambda asked: "I do not know.",
    "evaluate/anonymity_zero_shot": lambda asked: "I do not know.",
    "evaluate/rater_strict": _strict,
    "evaluate/rater_permissive": _permissive,
    "evaluate/rater_judge": _judge,
    "evaluate/rater_rubric": _rubric,
    "evaluate/rater_facts": _rate_facts,
}


def main() -> None:
    """Serve until standard input or the process ends; the address is the first line that is printed."""
    with OpenAIServer(reply) as server:
        print(server.base_url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.exit(0)


if __name__ == "__main__":
    main()
