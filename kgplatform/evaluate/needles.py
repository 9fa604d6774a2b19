"""Synthetic tasks for readers of long texts: needles in haystacks, keys and numbers in noise, dictionaries, lists; as a
data set for any reader, and what was found of them as a map over length and depth (LongAgent, figure 3).

    from kgplatform.evaluate.needles import DEPTHS, LENGTHS, grid, single_needle, write_tasks

    write_tasks("needles.jsonl", grid(single_needle, LENGTHS, DEPTHS, samples=10))    # 1,500 tasks, as in the paper
    data_set = needle_data_set("single", parse_lengths("1000-16000:4"), (0, 0.5, 1), samples=2)
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
from heapq import nlargest
from importlib.resources import files
from itertools import accumulate, combinations, count, islice, product, repeat
from pathlib import Path
from typing import Any, TypeVar
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
    ``wanted``: the depths that were asked for; ``before``: the tokens of the haystack that stand before each needle,
    out of ``haystack``. ``length``: the tokens that were asked for, ``tokens``: those that the text has.
    """

    id: str
    kind: str
    form: str
    text: str
    question: str
    answers: tuple[str, ...]
    hidden: tuple[str, ...]
    wanted: tuple[float, ...]
    before: tuple[int, ...]
    length: int
    tokens: int
    haystack: int

    @property
    def depths(self) -> tuple[float, ...]:
        """Where the needles do stand: the share of the haystack's tokens before each (LongAgent, section 3.1)."""
        return tuple(before / self.haystack if self.haystack else 0.0 for before in self.before)

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


LONGEST_PARAGRAPH = 200
"""Tokens. A longer paragraph of somebody's own text is parted at the ends of its sentences, so that depths are met."""
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, slots=True)
class Needles:
    """Statements to hide, each a paragraph; the question needs all of them. Each of ``answers`` is right.

    ``world``: what the answers would be outside of these statements; a paragraph of the haystack that says one of
    these is left out.
    """

    question: str
    answers: tuple[str, ...]
    statements: tuple[str, ...]
    world: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Text:
    """A text in the making: the same values give the same text. Its pieces stand between ``begin`` and ``end``."""

    kind: str
    form: str
    length: int
    depths: tuple[float, ...]
    seed: int
    begin: str = ""
    between: str = "\n\n"
    end: str = ""

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InputError(f"A text cannot have {self.length} tokens: ask for a length of 1 or more.")
        for depth in self.depths:
            if not 0 <= depth <= 1:
                raise InputError(f"{depth:g} is not a depth: give a share of the text from 0 to 1, such as 0.5.")

    @property
    def id(self) -> str:
        """``single-8000-0.5-3``; also a good name for a file, and so for a document."""
        depths = (f"{depth:.6g}" for depth in self.depths)
        return "-".join([self.form.replace(" ", ""), str(self.length), *depths, str(self.seed)])

    def chance(self) -> random.Random:
        """The task's own source of chance, at its beginning."""
        return random.Random(self.id)

    def hide(self, told: Needles, pieces: Iterable[str]) -> NeedleTask:
        """The task whose text has the statements of ``told`` between ``pieces``: the first ones, as many as fit.

        A statement stands between those two pieces where the share of the haystack's tokens before it is nearest to its
        depth. Raises ``InputError`` if the text is too short for the statements, or if the pieces end before it.
        """
        around = count_tokens(self.begin) + count_tokens(self.end) - count_tokens(self.between)
        room = self.length - around - sum(map(self._cost, told.statements))
        if room < 0:
            least = self.length - room
            raise InputError(
                f"A text of {self.length:,} tokens has no room for what is to be hidden: ask for {least:,}."
            )
        chosen = self._filled(pieces, room)
        totals = [0, *accumulate(map(self._cost, chosen))]
        # The number of pieces before each statement: the nearest border, of two equally near the earlier one.
        borders = [
            min(range(len(totals)), key=lambda border: abs(totals[border] - depth * totals[-1]))
            for depth in self.depths
        ]
        for border, number in sorted(zip(borders, count()), reverse=True):
            chosen.insert(border, told.statements[number])
        text = self.begin + self.between.join(chosen) + self.end
        return NeedleTask(
            id=self.id,
            kind=self.kind,
            form=self.form,
            text=text,
            question=told.question,
            answers=told.answers,
            hidden=told.statements,
            wanted=self.depths,
            before=tuple(totals[border] for border in borders),
            length=self.length,
            tokens=count_tokens(text),
            haystack=totals[-1],
        )

    def _cost(self, piece: str) -> int:
        """The tokens of ``piece`` with what parts it from the next."""
        return count_tokens(piece) + count_tokens(self.between)

    def _filled(self, pieces: Iterable[str], room: int) -> list[str]:
        """The first pieces that fit into ``room`` tokens; of prose the last one is cut at the end of a sentence."""
        chosen: list[str] = []
        longest = 0
        for piece in pieces:
            cost = self._cost(piece)
            if cost > room:
                cut = "" if self.begin else next(_parted(piece, room), "")
                return [*chosen, cut] if cut and self._cost(cut) <= room else chosen
            chosen.append(piece)
            room, longest = room - cost, max(longest, cost)
        if room > longest:
            raise InputError(
                f"The haystack is too short by {room:,} tokens for a text of {self.length:,}: give a longer one, or "
                "ask for shorter texts."
            )
        return chosen


def _own_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of somebody's own text, which empty lines part; long ones in several."""
    for paragraph in filter(None, map(str.strip, _EMPTY_LINE.split(text))):
        yield from _parted(paragraph, LONGEST_PARAGRAPH)


def _parted(paragraph: str, most: int) -> Iterator[str]:
    """``paragraph``, or its sentences in pieces of at most ``most`` tokens, but for a sentence that is longer alone."""
    if count_tokens(paragraph) <= most:
        yield paragraph
        return
    start = end = tokens = 0
    for sentence in sentences(paragraph):
        more = count_tokens(paragraph[end : sentence.end])
        if end and tokens + more > most:
            yield paragraph[start:end]
            start, tokens = sentence.start, 0
            more = count_tokens(paragraph[start : sentence.end])
        tokens, end = tokens + more, sentence.end
    if end > start:
        yield paragraph[start:end]


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
        return Needles(f"Who was {subject}?", (who,), (_stated(subject, "was", who),), (world,))
    answer = _other_year(chance, int(world)) if kind == "years" else invented_name(chance, RARE_NAME)
    return Needles(f"What is {subject}?", (answer,), (_stated(subject, "is", answer),), (world,))


def joined_statements(chance: random.Random) -> Needles:
    """Two statements: who did something that everybody knows, and something of the life of whoever that is."""
    (subject, world), (life, asked) = chance.choice(list(_KNOWN["people"].items())), chance.choice(_LIVES)
    person, answer = _person(chance), invented_name(chance, RARE_NAME)
    said = _stated(subject, "was", person), life.format(person, answer)
    return Needles(asked.format(subject), (answer,), said, (world,))


def _other_year(chance: random.Random, year: int) -> str:
    """A year of four digits from 5 to 90 years before or after ``year``."""
    years = [*range(year - 5, year - 91, -1), *range(year + 5, year + 91)]
    return str(chance.choice([each for each in years if _FIRST_YEAR <= each <= _LAST_YEAR]))


def _stated(subject: str, verb: str, answer: str) -> str:
    return f"{subject[0].upper()}{subject[1:]} {verb} {answer}."


def _person(chance: random.Random) -> str:
    return f"{invented_name(chance)} {invented_name(chance, RARE_NAME)}"


_SPARE = 200  # tokens of invented text more than is needed, since its last paragraph is cut to what fits


def single_needle(
    length: int, depth: float, seed: int = 0, *, haystack: str | None = None, needles: Sequence[Needles] | None = None
) -> NeedleTask:
    """A text of ``length`` tokens with one statement at ``depth`` (0 to 1) that answers the question.

    ``haystack``: your own text, taken from its beginning; else an invented one. ``needles``: your own, to draw the
    statement from; else it is a fact that everybody knows, altered. Raises ``InputError`` for a length or a depth that
    cannot be had, and for a haystack that is too short.
    """
    return _in_prose(_Text("qa", "single", length, (depth,), seed), haystack, needles, single_statement)


def multi_needle(
    length: int,
    depths: tuple[float, ...],
    seed: int = 0,
    *,
    haystack: str | None = None,
    needles: Sequence[Needles] | None = None,
) -> NeedleTask:
    """As ``single_needle``, with two statements at two ``depths`` that one name joins: neither answers alone.

    With ``needles`` of your own there may be more: as many as ``depths``.
    """
    return _in_prose(_Text("qa", "multi", length, depths, seed), haystack, needles, joined_statements)


def _in_prose(
    wanted: _Text,
    haystack: str | None,
    needles: Sequence[Needles] | None,
    invent: Callable[[random.Random], Needles],
) -> NeedleTask:
    chance = wanted.chance()
    choices = [invent(chance)] if needles is None else needles
    fitting = [choice for choice in choices if len(choice.statements) == len(wanted.depths)]
    if not fitting:
        raise InputError(f"None of the needles has as many passages as there are depths ({len(wanted.depths)}).")
    told = chance.choice(fitting)
    source = paragraphs(filler(chance, wanted.length + _SPARE)) if haystack is None else _own_paragraphs(haystack)
    # No paragraph gives the answer, nor says what the world says.
    telling = "|".join(map(re.escape, sorted(filter(None, (*told.answers, *told.world)))))
    tells = re.compile(rf"(?<!\w)(?:{telling})(?!\w)", re.IGNORECASE)
    return wanted.hide(told, (piece for piece in source if not (telling and tells.search(piece))))


_NOISE = (
    "The door is shut and the lamp is lit. The road goes up, and then the road goes down. We walk for an hour, and we "
    "rest for an hour. Tomorrow will be as today was."
)
_RUNS = (4, 3, 2, 1)
"""The number of ten digits in the task "number" has runs of so many equal ones, in any order."""
_SMALLEST, _LARGEST = 100_000, 999_999
_TOKENS_OF_A_NUMBER = 3  # with its comma
_FEWEST = 3  # numbers of a list, so that it has one of each rank
RANKS = {"largest": 1, "second largest": 2, "third largest": 3, "smallest": -1}
"""What may be asked for: how many of the largest numbers tell it, or of the smallest.

A median is not among them: members that each know a part of the list cannot tell it from their parts' medians.
"""


def pass_key(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A pass key of five digits, said twice, in noise: a few sentences again and again (LongAgent, section 3.1)."""
    wanted = _Text("passkey", "pass key", length, (depth,), seed)
    return _in_noise(wanted, str(wanted.chance().randrange(10_000, 100_000)))


def hidden_number(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A number of ten digits that come in runs ("7777222550"), said twice, in noise."""
    wanted = _Text("number", "number", length, (depth,), seed)
    chance = wanted.chance()
    digits = [chance.choice("123456789")]
    digits += chance.sample([digit for digit in "0123456789" if digit != digits[0]], len(_RUNS) - 1)
    runs = zip(digits, chance.sample(_RUNS, len(_RUNS)), strict=True)
    return _in_noise(wanted, "".join(digit * length for digit, length in runs))


def _in_noise(wanted: _Text, answer: str) -> NeedleTask:
    what = "pass key" if wanted.kind == "passkey" else "hidden number"
    said = f"The {what} is {answer}. Keep it in mind: {answer} is the {what}."
    return wanted.hide(Needles(f"What is the {what}?", (answer,), (said,)), repeat(_NOISE))


def key_value(length: int, depth: float, seed: int = 0) -> NeedleTask:
    """A dictionary in JSON, of random UUIDs and a line a pair; one of its keys is asked for."""
    wanted = _Text("kv", "key value", length, (depth,), seed, "{\n", ",\n", "\n}")
    chance = wanted.chance()
    pairs = ((_uuid(chance), _uuid(chance)) for _ in count())
    key, value = next(pairs)
    told = Needles(f'Which value belongs to the key "{key}"?', (value,), (f'"{key}": "{value}"',))
    return wanted.hide(told, (f'"{one}": "{other}"' for one, other in pairs))


def math_find(length: int, depth: float, seed: int = 0, *, rank: str = "largest") -> NeedleTask:
    """A list of different numbers of six digits; the number of ``rank``, one of ``RANKS``, stands at ``depth``.

    Raises ``InputError`` for another rank, for a list that is too short to have it, and for one of more than about
    2.7 million tokens, which would need more numbers of six digits than there are.
    """
    if rank not in RANKS:
        raise InputError(f"{rank!r} cannot be asked for: choose one of {', '.join(RANKS)}.")
    wanted = _Text("math", rank, length, (depth,), seed, "[", ", ", "]")
    number, most = (length - 1) // _TOKENS_OF_A_NUMBER, _LARGEST - _SMALLEST + 1
    if not _FEWEST <= number <= most:
        least, longest = (_TOKENS_OF_A_NUMBER * each + 1 for each in (_FEWEST, most))
        raise InputError(f"A list of {length:,} tokens cannot be made: ask for {least} to {longest:,}.")
    numbers = wanted.chance().sample(range(_SMALLEST, _LARGEST + 1), number)
    sought = nlargest(RANKS[rank], numbers)[-1] if RANKS[rank] > 0 else min(numbers)
    numbers.remove(sought)
    told = Needles(f"What is the {rank} number of the list?", (str(sought),), (str(sought),))
    return wanted.hide(told, map(str, numbers))


def _uuid(chance: random.Random) -> str:
    return str(UUID(int=chance.getrandbits(128), version=4))


def even(least: int, most: int, count: int) -> tuple[int, ...]:
    """``count`` whole numbers at even distances, both ends included.

    >>> even(1_000, 128_000, 3)
    (1000, 64500, 128000)
    """
    if count < 2 or least >= most:
        raise InputError(f"{count} lengths from {least:,} to {most:,} make no grid: ask for two or more, least first.")
    return tuple(least + round(step * (most - least) / (count - 1)) for step in range(count))


LENGTHS = even(1_000, 128_000, 15)
"""LongAgent's: 15 lengths evenly from 1,000 to 128,000 tokens."""
DEPTHS = tuple(step / 9 for step in range(10))
"""LongAgent's for one needle: 10 depths evenly from 0 to 1 (A, appendix A.1)."""
DEPTH_PAIRS = tuple(combinations((0.0, 0.33, 0.66, 1.0), 2))
"""LongAgent's for two needles: the six pairs of 0, 33, 66 and 100 % (A, appendix A.2)."""

Depth = TypeVar("Depth")


def grid(
    make: Callable[[int, Depth, int], NeedleTask],
    lengths: Sequence[int],
    depths: Sequence[Depth],
    samples: int = 1,
    seed: int = 0,
) -> Iterator[NeedleTask]:
    """``samples`` tasks for each length and depth, by length, then depth; ``make`` gets length, depth and a seed.

    The seeds of a cell are ``seed``, ``seed + 1`` and so on; another length or depth draws another needle for them.
    """
    for length, depth, number in product(lengths, depths, range(samples)):
        yield make(length, depth, seed + number)


def write_tasks(file: str | Path, tasks: Iterable[NeedleTask]) -> int:
    """Write ``tasks`` to ``file`` as they come, in the form of Needle-in-a-Haystack PLUS; returns how many.

    ``examples/convert_data_sets.py`` makes a data set of them. Raises ``InputError`` if they cannot be written.
    """
    number = 0
    try:
        with Path(file).open("w", encoding="utf-8", newline="\n") as stream:
            for task in tasks:
                stream.write(json.dumps(task.as_published(), ensure_ascii=False) + "\n")
                number += 1
    except (OSError, UnicodeEncodeError) as error:
        raise InputError(f"The tasks cannot be written to {file}: {error}.") from error
    return number


Depths = float | tuple[float, ...]
"""Where one needle stands, or several that belong together: shares of the text from 0 to 1."""

METRIC = "contains"
"""A needle is found where its answer is in the reply, word for word: LongAgent's check without a person."""

_TASKS: dict[str, tuple[Callable[[int, Any, int], NeedleTask], str]] = {
    "single": (single_needle, "qa"),
    "multi": (multi_needle, "qa"),
    "pass-key": (pass_key, "passkey"),
    "number": (hidden_number, "number"),
    "key-value": (key_value, "kv"),
    "math": (math_find, "math"),
}
"""What makes each from a length, a depth and a seed, and what LongAgent calls such work."""
KINDS = tuple(_TASKS)
_USUAL_DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CELL = re.compile(rf"({'|'.join(KINDS)}), (\d+) tokens, depths? ([\d./e-]+)")
_RANGE = re.compile(r"([1-9]\d{0,8})\s*-\s*([1-9]\d{0,8})\s*:\s*(\d{1,4})")


def needle_data_set(
    kind: str, lengths: Sequence[int], depths: Sequence[Depths] | None = None, samples: int = 1, *, seed: int = 0
) -> DataSet:
    """``samples`` tasks of ``kind`` at each length and depth, each about a text of its own, which is made when it is
    asked for.

    ``depths``: as a rule every quarter of the text; where two needles belong together, every pair of these.
    Raises ``InputError`` for what cannot be made, before anybody is asked anything.
    """
    if kind not in KINDS:
        raise InputError(unknown("needle task", kind, KINDS))
    if depths is None:
        depths = tuple(combinations(_USUAL_DEPTHS, 2)) if kind == "multi" else _USUAL_DEPTHS
    if any(isinstance(depth, tuple) != (kind == "multi") for depth in depths):
        wants = "the depths of two needles, such as 0/0.33" if kind == "multi" else "one depth, such as 0.5"
        raise InputError(f"A task {kind} has {wants}.")
    make, _ = _TASKS[kind]
    cells: dict[str, tuple[int, Depths, int]] = {}
    questions: list[Question] = []
    for length, depth, number in product(dict.fromkeys(lengths), dict.fromkeys(depths), range(seed, seed + samples)):
        task = make(length, depth, number)
        cells[task.id] = (length, depth, number)
        places = depth if isinstance(depth, tuple) else (depth,)
        at = f"depth{'s' if len(places) > 1 else ''} {'/'.join(f'{each:.6g}' for each in places)}"
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
    if not questions:
        raise InputError("There is nothing to ask: give at least one length, one depth and one sample.")
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
    """Tokens of texts: "1000,8000", or "1000-16000:4" for four lengths at even distances, both ends included.

    Raises ``InputError``.
    """
    if between := _RANGE.fullmatch(text.strip()):
        least, most, number = map(int, between.groups())
        return even(least, most, number)
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not re.fullmatch("[1-9][0-9]{0,8}", word):
            raise InputError(f"{word!r} is not a length. Write tokens as 1000,8000 or as 1000-16000:4.")
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
