"""Synthetic tasks for readers of long texts: needles in haystacks, keys and numbers in noise, dictionaries, lists; as a
data set for any reader, and what was found of them as a map over length and depth (LongAgent, figure 3).

    tasks = starmap(single_needle, product(LENGTHS, DEPTHS, range(10)))
    write_tasks("needles.jsonl", tasks)                                    # 1,500 tasks, as in the paper
    data_set = needle_data_set("single", (1_000, 8_000), (0, 0.5, 1))
    heat_map(results).found["longagent"]         # rows: depths; columns: lengths; the mean of each cell

The tasks are those of LongAgent (section 3.1): Needle-in-a-Haystack PLUS (one statement, or two that must both be
found), and those that need no understanding: a pass key or a number in noise, the value of a key, a number by its rank.
What statements say is not true, so that nobody can know the answers; they are about things that everybody knows.

No model is needed, and the same seed gives the same text, to the letter. docs/how-to/needle-tasks.md tells more.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from importlib.resources import files
from itertools import accumulate, combinations, count, islice, product, repeat
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from kgplatform.errors import InputError
from kgplatform.evaluate.terms import DataSet, Mean, Question, Results, Setup, Text
from kgplatform.text import count_tokens, unknown
from kgplatform.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class NeedleTask:
    """One text and one question.

    ``kind``: LongAgent's name of the work, "qa", "kv", "number", "passkey" or "math"; ``form``: which task of that
    kind, "single", "multi", "second largest" … Each of ``answers`` is right. ``hidden``: the needles' texts;
    ``wanted``: the depths that were asked for, ``depths``: where the needles do stand, the share of the haystack's
    tokens before each (LongAgent, section 3.1). ``length``: the tokens that were asked for, ``tokens``: those that the
    text has.
    """

    id: str
    kind: str
    form: str
    text: str
    question: str
    answers: tuple[str, ...]
    hidden: tuple[str, ...]
    wanted: tuple[float, ...]
    depths: tuple[float, ...]
    length: int
    tokens: int

    def as_published(self) -> dict[str, Any]:
        """The task with the keys of Needle-in-a-Haystack PLUS."""
        depths = [100 * depth for depth in self.wanted]
        return {
            "id": self.id,
            "context": self.text,
            "context_length": self.length,
            "depth_percent": depths[0] if len(depths) == 1 else depths,
            "input": self.question,
            "dataset": f"needle_{'math' if self.kind == 'math' else self.form.replace(' ', '-')}",
            "answers": list(self.answers),
        }


_SYLLABLES = (
    *("ba", "dor", "el", "fin", "gar", "hol", "im", "jas", "kel", "lor", "mun", "nev", "os"),
    *("pra", "quil", "ras", "sol", "tem", "ul", "vor", "wyn", "yar", "zel", "bri", "cath", "dun"),
)
_TITLES = ("Captain", "Doctor", "Widow", "Abbot", "Mayor", "Smith", "Scribe", "Miller")
_THINGS = (
    *("harbour", "orchard", "mill", "tower", "bridge", "library", "market", "granary", "chapel", "foundry"),
    *("lighthouse", "quarry"),
)
_DEEDS = (
    *("repaired", "painted", "sold", "visited", "measured", "described", "praised", "rented", "guarded", "inherited"),
)
_TIMES = ("in spring", "before the harvest", "after the flood", "on a Sunday", "at noon", "in the third year")
_ASIDES = (
    "Nobody wrote down why.",
    "The rain had come early that year.",
    "It was spoken of for a long time.",
    "Some said otherwise, but they were few.",
    "The accounts of that season are lost.",
)
SHORT_NAME = (2, 3, 3)
"""Syllables of the names in ``filler``, to draw from."""
RARE_NAME = (4, 4, 5)
"""Syllables of a name that no other text has by chance, to draw from."""
_SENTENCES = 6  # sentences in a paragraph: about 75 tokens


def invented_name(chance: random.Random, syllables: tuple[int, ...] = SHORT_NAME) -> str:
    """One capitalised word: ``Dorfincath``."""
    return "".join(chance.choice(_SYLLABLES) for _ in range(chance.choice(syllables))).capitalize()


def filler(chance: random.Random, tokens: int) -> Iterator[str]:
    """Sentences of ``tokens`` tokens or a few more; names come back, the more the longer the text is."""
    people = [f"{chance.choice(_TITLES)} {invented_name(chance)}" for _ in range(max(4, tokens // 60))]
    places = [invented_name(chance) for _ in range(max(3, tokens // 120))]
    while tokens > 0:
        said = (
            f"{chance.choice(people)} {chance.choice(_DEEDS)} the {chance.choice(_THINGS)} at {chance.choice(places)} "
            f"{chance.choice(_TIMES)}."
        )
        sentence = said if chance.random() < 0.7 else chance.choice(_ASIDES)
        tokens -= count_tokens(sentence)
        yield sentence


def paragraphs(sentences: Iterable[str]) -> Iterator[str]:
    """Every six sentences as a paragraph."""
    rest = iter(sentences)
    while some := list(islice(rest, _SENTENCES)):
        yield " ".join(some)


@dataclass(frozen=True, slots=True)
class Needles:
    """Statements to hide, each a paragraph; the question needs all of them. Each of ``answers`` is right."""

    question: str
    answers: tuple[str, ...]
    statements: tuple[str, ...]


Tell = Callable[[random.Random], tuple[Needles, Iterable[str]]]
"""What is hidden, and the pieces of the haystack, by the task's own source of chance."""


def _task(
    kind: str,
    form: str,
    length: int,
    depths: tuple[float, ...],
    seed: int,
    tell: Tell,
    begin: str = "",
    between: str = "\n\n",
    end: str = "",
) -> NeedleTask:
    """The task whose text has the statements between pieces of the haystack: the first ones, as many as fit.

    A statement stands between those two pieces where the share of the haystack's tokens before it is nearest to its
    depth. Raises ``InputError`` if the text is too short for the statements.
    """
    if length < 1:
        raise InputError(f"A text cannot have {length} tokens: ask for a length of 1 or more.")
    for depth in depths:
        if not 0 <= depth <= 1:
            raise InputError(f"{depth:g} is not a depth: give a share of the text from 0 to 1, such as 0.5.")
    # Also a good name for a file, and so for a document: single-8000-0.5-3.
    identity = "-".join([form.replace(" ", ""), str(length), *(f"{depth:.6g}" for depth in depths), str(seed)])
    told, pieces = tell(random.Random(identity))
    parting = count_tokens(between)
    room = length - count_tokens(begin) - count_tokens(end) + parting
    room -= sum(count_tokens(each) + parting for each in told.statements)
    if room < 0:
        raise InputError(
            f"A text of {length:,} tokens has no room for what is to be hidden: ask for {length - room:,}."
        )
    chosen = _filled(pieces, room, parting, cut=not begin)
    totals = [0, *accumulate(count_tokens(piece) + parting for piece in chosen)]
    # The number of pieces before each statement: the nearest border, of two equally near the earlier one.
    borders = [min(range(len(totals)), key=lambda border: abs(totals[border] - depth * totals[-1])) for depth in depths]
    for border, number in sorted(zip(borders, count()), reverse=True):
        chosen.insert(border, told.statements[number])
    text = begin + between.join(chosen) + end
    found = tuple(totals[border] / totals[-1] if totals[-1] else 0.0 for border in borders)
    of_text = (text, told.question, told.answers, told.statements, depths, found, length, count_tokens(text))
    return NeedleTask(identity, kind, form, *of_text)


def _filled(pieces: Iterable[str], room: int, parting: int, *, cut: bool) -> list[str]:
    """The first pieces that fit into ``room`` tokens, ``parting`` between them; of prose the last one is ``cut`` at the
    end of a sentence."""
    chosen: list[str] = []
    for piece in pieces:
        cost = count_tokens(piece) + parting
        if cost > room:
            ends = [each.end for each in sentences(piece)] if cut else []
            fitting = [end for end in ends if count_tokens(piece[:end]) + parting <= room]
            return [*chosen, piece[: fitting[-1]]] if fitting else chosen
        chosen.append(piece)
        room -= cost
    return chosen


_KNOWN: dict[str, dict[str, str]] = yaml.safe_load((files(__package__) / "known_facts.yaml").read_text("utf-8"))
"""Facts of the world, to be altered: ``the author of Moby-Dick`` was ``Herman Melville``; by kind."""
_LIVES = (
    ("{} was born in the town of {}.", "In which town was {} born?"),
    ("{} went to school in the town of {}.", "In which town did {} go to school?"),
    ("{} spent the last winter of a long life in the town of {}.", "In which town did {} spend the last winter?"),
    ("{} owned a ship with the name {}.", "What was the name of the ship that {} owned?"),
    ("{} learned to swim in the lake of {}.", "In which lake did {} learn to swim?"),
    ("{} grew up on the island of {}.", "On which island did {} grow up?"),
)
_FIRST_YEAR, _LAST_YEAR = 1000, 2099


def single_statement(chance: random.Random) -> Needles:
    """One statement that answers the question: ``The capital of Australia is Zelquilvordun.``"""
    kind, subject, world = chance.choice([(kind, *fact) for kind, facts in _KNOWN.items() for fact in facts.items()])
    if kind == "people":
        who = _person(chance)
        return Needles(f"Who was {subject}?", (who,), (_stated(subject, "was", who),))
    if kind != "years":
        answer = invented_name(chance, RARE_NAME)
    else:  # another of four digits, from 5 to 90 years before or after
        years = [*range(int(world) - 5, int(world) - 91, -1), *range(int(world) + 5, int(world) + 91)]
        answer = str(chance.choice([each for each in years if _FIRST_YEAR <= each <= _LAST_YEAR]))
    return Needles(f"What is {subject}?", (answer,), (_stated(subject, "is", answer),))


def joined_statements(chance: random.Random) -> Needles:
    """Two statements: who did something that everybody knows, and something of the life of whoever that is."""
    subject, (life, asked) = chance.choice(list(_KNOWN["people"])), chance.choice(_LIVES)
    person, answer = _person(chance), invented_name(chance, RARE_NAME)
    said = _stated(subject, "was", person), life.format(person, answer)
    return Needles(asked.format(subject), (answer,), said)


def _stated(subject: str, verb: str, answer: str) -> str:
    return f"{subject[0].upper()}{subject[1:]} {verb} {answer}."


def _person(chance: random.Random) -> str:
    return f"{invented_name(chance)} {invented_name(chance, RARE_NAME)}"


_SPARE = 200  # tokens of invented text more than is needed, since its last paragraph is cut to what fits


def single_needle(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A text of ``length`` tokens with one statement at ``depth`` (0 to 1) that answers the question: a fact that
    everybody knows, altered. Raises ``InputError`` for a length or a depth that cannot be had."""
    return _task("qa", "single", length, (depth,), seed, partial(_in_prose, length, single_statement))


def multi_needle(length: int, depths: tuple[float, float], seed: int = 0) -> NeedleTask:
    """As ``single_needle``, with two statements at two ``depths`` that one name joins: neither answers alone."""
    return _task("qa", "multi", length, depths, seed, partial(_in_prose, length, joined_statements))


def _in_prose(
    length: int, invent: Callable[[random.Random], Needles], chance: random.Random
) -> tuple[Needles, Iterable[str]]:
    """The invented text neither gives the answer nor says what the world says: its names are shorter, it has no
    numbers."""
    told = invent(chance)
    chance.choice([told])  # one draw more, as in earlier releases: so texts stay the same, to the letter
    return told, paragraphs(filler(chance, length + _SPARE))


_NOISE = (
    "The door is shut and the lamp is lit. The road goes up, and then the road goes down. We walk for an hour, and we "
    "rest for an hour. Tomorrow will be as today was."
)
_RUNS = (4, 3, 2, 1)
"""The number of ten digits in the task "number" has runs of so many equal ones, in any order."""
_SMALLEST, _LARGEST = 100_000, 999_999
_TOKENS_OF_A_NUMBER = 3  # with its comma
_FEWEST = 3  # numbers of a list, so that it has one of each rank
RANKS = {"largest": 1, "second largest": 2, "third largest": 3}
"""What may be asked for: how many of the largest numbers tell it.

A median is not among them: members that each know a part of the list cannot tell it from their parts' medians.
"""


def pass_key(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A pass key of five digits, said twice, in noise: a few sentences again and again (LongAgent, section 3.1)."""

    def tell(chance: random.Random) -> tuple[Needles, Iterable[str]]:
        return _in_noise("pass key", str(chance.randrange(10_000, 100_000)))

    return _task("passkey", "pass key", length, (depth,), seed, tell)


def hidden_number(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A number of ten digits that come in runs ("7777222550"), said twice, in noise."""

    def tell(chance: random.Random) -> tuple[Needles, Iterable[str]]:
        digits = [chance.choice("123456789")]
        digits += chance.sample([digit for digit in "0123456789" if digit != digits[0]], len(_RUNS) - 1)
        runs = zip(digits, chance.sample(_RUNS, len(_RUNS)), strict=True)
        return _in_noise("hidden number", "".join(digit * length for digit, length in runs))

    return _task("number", "number", length, (depth,), seed, tell)


def _in_noise(what: str, answer: str) -> tuple[Needles, Iterable[str]]:
    said = f"The {what} is {answer}. Keep it in mind: {answer} is the {what}."
    return Needles(f"What is the {what}?", (answer,), (said,)), repeat(_NOISE)


def key_value(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A dictionary in JSON, of random UUIDs and a line a pair; one of its keys is asked for."""

    def tell(chance: random.Random) -> tuple[Needles, Iterable[str]]:
        values = (str(UUID(int=chance.getrandbits(128), version=4)) for _ in count())
        pairs = zip(values, values, strict=True)  # of one row: each pair takes two
        key, value = next(pairs)
        told = Needles(f'Which value belongs to the key "{key}"?', (value,), (f'"{key}": "{value}"',))
        return told, (f'"{one}": "{other}"' for one, other in pairs)

    return _task("kv", "key value", length, (depth,), seed, tell, "{\n", ",\n", "\n}")


def math_find(length: int, depth: float, seed: int = 0, *, rank: str = "largest") -> NeedleTask:
    """A list of different numbers of six digits; the number of ``rank``, one of ``RANKS``, stands at ``depth``.

    Raises ``InputError`` for another rank, for a list that is too short to have it, and for one of more than about
    2.7 million tokens, which would need more numbers of six digits than there are.
    """
    if rank not in RANKS:
        raise InputError(f"{rank!r} cannot be asked for: choose one of {', '.join(RANKS)}.")
    number, most = (length - 1) // _TOKENS_OF_A_NUMBER, _LARGEST - _SMALLEST + 1
    if not _FEWEST <= number <= most:
        least, longest = (_TOKENS_OF_A_NUMBER * each + 1 for each in (_FEWEST, most))
        raise InputError(f"A list of {length:,} tokens cannot be made: ask for {least} to {longest:,}.")

    def tell(chance: random.Random) -> tuple[Needles, Iterable[str]]:
        numbers = chance.sample(range(_SMALLEST, _LARGEST + 1), number)
        sought = nlargest(RANKS[rank], numbers)[-1]
        numbers.remove(sought)
        return Needles(f"What is the {rank} number of the list?", (str(sought),), (str(sought),)), map(str, numbers)

    return _task("math", rank, length, (depth,), seed, tell, "[", ", ", "]")


LENGTHS = tuple(1_000 + round(step * 127_000 / 14) for step in range(15))
"""LongAgent's: 15 lengths evenly from 1,000 to 128,000 tokens."""
DEPTHS = tuple(step / 9 for step in range(10))
"""LongAgent's for one needle: 10 depths evenly from 0 to 1 (A, appendix A.1)."""
DEPTH_PAIRS = tuple(combinations((0.0, 0.33, 0.66, 1.0), 2))
"""LongAgent's for two needles: the six pairs of 0, 33, 66 and 100 % (A, appendix A.2)."""


def write_tasks(file: str | Path, tasks: Iterable[NeedleTask]) -> int:
    """Write ``tasks`` to ``file`` as they come, in the form of Needle-in-a-Haystack PLUS; returns how many.
    ``examples/convert_data_sets.py`` makes a data set of them. Raises ``InputError`` if they cannot be written."""
    number = 0
    try:
        with Path(file).open("w", encoding="utf-8", newline="\n") as stream:
            for number, task in enumerate(tasks, 1):  # noqa: B007 - returned
                stream.write(json.dumps(task.as_published(), ensure_ascii=False) + "\n")
    except (OSError, UnicodeEncodeError) as error:
        raise InputError(f"The tasks cannot be written to {file}: {error}.") from error
    return number


Depths = float | tuple[float, ...]
"""Where one needle stands, or several that belong together: shares of the text from 0 to 1."""

METRIC = "contains"
"""A needle is found where its answer is in the reply, word for word: LongAgent's check without a person."""

_TASKS: dict[str, tuple[Callable[[int, Any], NeedleTask], str]] = {
    "single": (single_needle, "qa"),
    "multi": (multi_needle, "qa"),
    "pass-key": (pass_key, "passkey"),
    "number": (hidden_number, "number"),
    "key-value": (key_value, "kv"),
    "math": (math_find, "math"),
}
"""What makes each from a length and a depth, and what LongAgent calls such work."""
KINDS = tuple(_TASKS)
_USUAL_DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CELL = re.compile(rf"({'|'.join(KINDS)}), (\d+) tokens, depths? ([\d./e-]+)")


def needle_data_set(kind: str, lengths: Sequence[int], depths: Sequence[Depths] | None = None) -> DataSet:
    """A task of ``kind`` at each length and depth, each about a text of its own, which is made when it is asked for.

    ``depths``: as a rule every quarter of the text; where two needles belong together, every pair of these.
    Raises ``InputError`` for what cannot be made, before anybody is asked anything.
    """
    if kind not in KINDS:
        raise InputError(unknown("needle task", kind, KINDS))
    if depths is None:
        depths = tuple(combinations(_USUAL_DEPTHS, 2)) if kind == "multi" else _USUAL_DEPTHS
    make, _ = _TASKS[kind]
    cells: dict[str, tuple[int, Depths]] = {}
    questions: list[Question] = []
    for length, depth in product(dict.fromkeys(lengths), dict.fromkeys(depths)):
        task = make(length, depth)
        cells[task.id] = (length, depth)
        at = f"depth{'s' if len(task.wanted) > 1 else ''} {'/'.join(f'{each:.6g}' for each in task.wanted)}"
        questions.append(
            Question(
                id=task.id,
                text=task.question,
                answers=task.answers,
                facts=task.hidden,  # which the answer needs: so it shows whether a reader read them at all
                within=(task.id,),
                kind=f"{kind}, {length} tokens, {at}",
            )
        )
    return DataSet(
        f"needles, {kind}",
        tuple(questions),
        apart=True,
        text_of=lambda title: Text(title, make(*cells[title]).text),
    )


def reader_options(setup: Setup, question: Question, names: Collection[str]) -> dict[str, Any]:
    """What ``question`` adds to the options of ``setup``, whose reader has those of ``names``: the kind of work, where
    the reader can be told (LongAgent, as in the paper)."""
    cell = _CELL.fullmatch(question.kind)
    if cell is None or "task" not in names or "task" in setup.options:
        return {}
    return {"task": _TASKS[cell[1]][1]}


def parse_lengths(text: str) -> tuple[int, ...]:
    """Tokens of texts: "1000,8000". Raises ``InputError``."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not re.fullmatch("[1-9][0-9]{0,8}", word):
            raise InputError(f"{word!r} is not a length. Write the tokens of each text, as in 1000,8000.")
    return tuple(map(int, words))


@dataclass(frozen=True, slots=True)
class HeatMap:
    """What was found of the needles, by setup: rows are ``depths``, columns are ``lengths`` (tokens).

    ``found``: by ``METRIC``, over the answers of each cell; None where none was scored. Two needles have both their
    depths in one name: "0/0.33".
    """

    lengths: tuple[int, ...]
    depths: tuple[str, ...]
    found: Mapping[str, tuple[tuple[Mean | None, ...], ...]]


def heat_map(results: Results) -> HeatMap | None:
    """What each setup found, by length and depth; None where no answer is to a needle task."""
    cells = {
        (setup.setup.name, int(cell[2]), cell[3]): scores.get(METRIC)
        for setup in results.setups
        for kind, scores in setup.by_kind.items()
        if (cell := _CELL.fullmatch(kind))
    }
    lengths = tuple(sorted({length for _, length, _ in cells}))
    depths = tuple(sorted({depth for *_, depth in cells}, key=lambda depth: tuple(map(float, depth.split("/")))))
    found = {
        name: tuple(tuple(cells.get((name, length, depth)) for length in lengths) for depth in depths)
        for name in (setup.setup.name for setup in results.setups)
    }
    return HeatMap(lengths, depths, found) if cells else None
