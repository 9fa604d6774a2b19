"""What a statement may not have that somebody wrote who is not trusted, whatever the server's plan of it says.

why_refused("CALL apoc.load.json($address)")      # 'apoc.load.json may not be called here.'

The server looks at the time-out between two rows. So nothing may pass whose work is one expression, however long, whose
values grow from step to step, or that is planned for ever; nor what reads anything but this graph. Of each of these
Neo4j 5.26 ran on for minutes after a time-out of a second.

How large a statement and its parameters may be holds for everybody, since Neo4j has no bounds of its own
(``why_too_large``). One that is nested deeply overflows the stack of the thread that plans it, which leaves classes of
the server broken until it is restarted; a long one is planned for minutes, and no time-out ends that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

from kgplatform.errors import Code, InputError, coded

ESCAPE = re.compile(r"\\u+([0-9a-f]{4})", re.I)
# As the server reads: a carriage return ends a comment too, and the vowel separator is white space to some versions.
# What does not end is left to the server to complain of.
_TOKEN = re.compile(
    r"(?:[\s\u180e]|//[^\r\n]*|/\*.*?(?:\*/|\Z))+"
    r"|(?P<text>'(?:[^'\\]|\\.)*(?:'|\\?\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z))"
    r"|(?P<given>\$(?:`(?:[^`]|``)*`|\w+))"
    r"|`(?P<quoted>(?:[^`]|``)*)(?:`|\Z)"
    r"|(?P<word>\w+)"
    r"|(?P<sign>=~|\|\||.)",
    re.S,
)


class Token(NamedTuple):
    """``kind``: text, given (a parameter), quoted (a name in backticks), word or sign."""

    kind: str
    text: str

    def is_word(self, *words: str) -> bool:
        """Whether it is one of ``words``, in whatever case."""
        return self.kind == "word" and self.text.lower() in words

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of ``signs``."""
        return self.kind == "sign" and self.text in signs

    @property
    def is_name(self) -> bool:
        """Whether it can name something."""
        return self.kind in ("quoted", "word")


def letter_of(escape: re.Match[str]) -> str:
    """The letter that an ``ESCAPE`` stands for."""
    return chr(int(escape[1], 16))


def tokens_of(statement: str) -> Iterator[Token]:
    """All that is neither white space nor a comment; escaped letters (``\\u0041``) are those letters."""
    statement = ESCAPE.sub(letter_of, statement)
    for found in _TOKEN.finditer(statement):
        if found.lastgroup:
            yield Token(found.lastgroup, found[found.lastgroup])


@dataclass(frozen=True, slots=True)
class Bounds:
    """``texts``: characters of all texts in the parameters; ``values``: how many there are, lists and maps too.
    ``nearest``: the most nodes of a search by vectors."""

    characters: int
    tokens: int
    depth: int
    operators: int
    clauses: int
    texts: int
    values: int
    nearest: int


OWN = Bounds(100_000, 20_000, 60, 1_000, 200, 32_000_000, 1_000_000, 100_000)
FOREIGN = Bounds(20_000, 5_000, 30, 200, 60, 1_000_000, 100_000, 10_000)
"""For statements of others (``why_refused``)."""

_DIGITS = 18
"""More of a number say nothing new."""
_COUNTED = (
    *("match", "merge", "create", "with", "return", "unwind", "call", "union", "foreach"),
    *("exists", "count", "collect"),
)
_MOST_CASES, _MANY = 10_000, 10**9
_CHOICES = ("or", "xor")
_LEVELS = (
    (False, ("match", "where", "with", "return", "unwind", "call", "union")),
    (True, _CHOICES),
    (False, ("and", ",")),
    (True, ("|",)),
    (False, ("&",)),
)
"""What parts conditions, from the weakest: whether one of the parts will do, and the words and signs between them."""
_NEAREST = ("querynodes", "queryrelationships")
_OPERATORS = ("and", "or", "xor", "not")


def why_too_large(statement: str, parameters: dict[str, Any], bounds: Bounds = OWN) -> str:
    """One sentence, or "" for what may be sent to the server."""
    if not hasattr(statement, "encode"):
        return f"A statement is a text, not a value of type {type(statement).__name__}."
    if not statement.strip():
        return "The statement is empty."
    if len(statement) > bounds.characters:
        return (
            f"The statement has {len(statement):,} characters; {bounds.characters:,} are allowed: pass values as "
            "parameters."
        )
    tokens = list(tokens_of(statement))
    if len(tokens) > bounds.tokens:
        return f"The statement has {len(tokens):,} words and signs; {bounds.tokens:,} are allowed: use parameters."
    if _depth(tokens) > bounds.depth:
        return f"Brackets, CASEs or NOTs are nested too deeply: at most {bounds.depth} levels are allowed."
    if sum(token.is_word(*_OPERATORS) or token.is_sign("+", "||") for token in tokens) > bounds.operators:
        return f"The statement has more than {bounds.operators:,} operators (AND, OR, NOT, +): use lists and IN."
    if sum(token.is_word(*_COUNTED) for token in tokens) > bounds.clauses:
        return f"The statement has more than {bounds.clauses:,} clauses: run it in parts, or use UNWIND."
    if _cases(tokens)[0] > _MOST_CASES:
        return (
            f"The labels of the statement can be combined in more than {_MOST_CASES:,} ways, which Neo4j plans one by "
            "one: use fewer | and OR."
        )
    nearest = list(_nearest_asked(tokens, parameters))
    if any(most is None for most in nearest) and bounds is not OWN:  # in one's own it may be worked out
        return "A vector search must give its number of nodes as a plain number or a parameter here."
    if any(most is not None and most > bounds.nearest for most in nearest):
        return (
            f"A vector search may ask for at most {bounds.nearest:,} nodes: the server allocates memory for all of "
            "them first."
        )
    return _why_given_too_much(parameters, bounds)


def _nearest_asked(tokens: Sequence[Token], parameters: dict[str, Any]) -> Iterator[int | None]:
    """How many nodes each search by vectors asks for; None where that is not told by a number or a parameter."""
    for at, token in enumerate(tokens):
        if token.text.lower() not in _NEAREST or not tokens[at - 2].text.lower().endswith("vector"):
            continue
        depth, after = 0, at + 1
        while after < len(tokens) and not (depth == 1 and tokens[after].is_sign(",")):
            depth += tokens[after].is_sign(*"([{") - tokens[after].is_sign(*")]}")
            after += 1
        asked = [*tokens[after + 1 : after + 3]]
        is_plain = len(asked) == 2 and asked[1].is_sign(",")
        text = asked[0].text if is_plain else ""
        if text.startswith("$"):
            value = parameters.get(text.strip("$`"))
        else:
            value = int(text[:_DIGITS]) if text.isdecimal() else None
        yield value if isinstance(value, int) else None


def _cases(tokens: Sequence[Token]) -> tuple[int, int]:
    """In how many ways labels can make a condition true, and false: the planner writes them all down. ``n:(A|B)&(C|D)``
    is true in four and false in two. All clauses count as one, as consecutive MATCHes are planned."""
    for is_choice, marks in _LEVELS:
        parts = list(_parts(tokens, *marks))
        if len(parts) > 1:
            if marks == _CHOICES and not any(token.is_sign(":") or token.is_word("is") for token in tokens):
                return 1, 1  # properties do no harm
            counts = [_cases(part) for part in parts]
            trues, falses = [true for true, _ in counts], [false for _, false in counts]
            if is_choice:
                return min(sum(trues), _MANY), min(prod(falses), _MANY)
            return min(prod(trues), _MANY), min(sum(falses), _MANY)
    true = false = 1
    at = 0
    while at < len(tokens):
        if tokens[at].is_sign(*"([{"):
            end, before = _closing(tokens, at), _at(tokens, at - 1)
            inside = [tokens[at + 1 : end]]
            if tokens[at].is_sign("["):  # types of relationships do no harm, and a list has its own |
                inside = [] if before.is_sign("-") else [*_parts(inside[0], "|")]
            for more, less in map(_cases, inside):
                more, less = (less, more) if before.is_sign("!") or before.is_word("not") else (more, less)
                true, false = min(true * more, _MANY), max(false, less)
            at = end
        at += 1
    return true, false


def _depth(tokens: Sequence[Token]) -> int:
    """How many brackets, CASEs and repeated signs (NOT NOT, - -) stand inside of one another."""
    depth = deepest = run = 0
    for before, token in zip((None, *tokens), tokens, strict=False):
        if before is not None and before.is_sign("."):  # a property that is called so
            continue
        is_prefix = token.is_word("not") or token.is_sign("-", "+", "!")
        run = run + 1 if is_prefix else 0
        depth += token.is_sign(*"([{") + token.is_word("case") - token.is_sign(*")]}") - token.is_word("end")
        depth = max(0, depth)
        deepest = max(deepest, depth, run)
    return deepest


def _why_given_too_much(parameters: dict[str, Any], bounds: Bounds) -> str:
    texts = 0
    for values, (value, depth) in enumerate(values_in(parameters)):
        texts += len(value) if isinstance(value, str | bytes | bytearray) else 0
        if depth > bounds.depth:
            return f"A parameter is nested more than {bounds.depth} lists or maps deep."
        if values > bounds.values:
            return f"The parameters have more than {bounds.values:,} values: run the statement for a part at a time."
        if texts > bounds.texts:
            return f"The parameters have more than {bounds.texts:,} characters: run the statement for a part at a time."
    return ""


def values_in(parameters: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    """Every value and key in ``parameters``, with how deep it lies."""
    left: list[tuple[Iterator[Any], int]] = [(iter((parameters,)), 0)]
    while left:
        inner, depth = left[-1]
        for value in inner:
            yield value, depth
            if isinstance(value, dict):
                left.append((iter((*value.keys(), *value.values())), depth + 1))
                break
            if isinstance(value, list | tuple):
                left.append((iter(value), depth + 1))
                break
        else:
            left.pop()


_PROCEDURES = (
    *("db.index.fulltext.querynodes", "db.index.fulltext.queryrelationships"),
    *("db.index.vector.querynodes", "db.labels", "db.relationshiptypes", "db.propertykeys"),
)
_NAMESPACES = ("date", "datetime", "localdatetime", "localtime", "time", "duration", "point", "vector")
_ENDLESS = ("range", "reduce")
_PREDICATES = ("all", "any", "none", "single")
_CLAUSES = (
    *("match", "optional", "where", "with", "return", "unwind", "call", "order", "skip", "limit", "offset", "union"),
    *("use", "finish", "yield"),
)
_WORDS = (
    *("distinct", "in", "is", "not", "and", "or", "xor", "null", "true", "false"),
    *("case", "when", "then", "else", "end"),
)
_LONGEST_RANGE = 10_000
_LONGEST_NUMBER = 16
"""Digits of a number that is looked at."""
_MOST_COPIES = 64
_COPIES_OF_LOOP = 32
_DEEPEST_SUBQUERY = 5
"""Braces inside of one another."""
_MOST_XOR = 4
_FULL_TEXT = "db.index.fulltext."
_LONGEST_SEARCH, _MOST_WILDCARDS = 2000, 10
"""Characters of a query in Lucene's language, and how many signs it may have that stand for many words."""
_WILDCARDS = "*?~/"


_END = Token("end", "")
_NOTHING = (Token("text", "''"), Token("text", '""'))


def why_refused(statement: str, parameters: dict[str, Any]) -> str:
    """One sentence, or "" for a statement that may be planned and, where its plan only reads, run. Plug-ins of a
    server, such as APOC, have some that read files and addresses, and count as reading."""
    if any(not (letter.isalnum() or letter in "_ ") for letter in map(letter_of, ESCAPE.finditer(statement))):
        return "\\u escapes are not allowed here: write the characters themselves, or use a parameter."
    if why := why_too_large(statement, parameters, FOREIGN):
        return why
    tokens = list(tokens_of(statement))
    if calls := sorted(set(_foreign_calls(tokens))):
        short = f" (UNWIND range(1, {_LONGEST_RANGE}) may, with plain numbers)" if "range" in calls else ""
        return f"{', '.join(calls)} may not be called here{short}."
    if any(token.is_word("cypher") for token in tokens[:2]):
        return "Options of the planner (CYPHER …) may not be given here: begin with the first clause."
    if any(token.is_sign("=~") for token in tokens):
        return "Regular expressions (=~) may not be used here: use CONTAINS, STARTS WITH or ENDS WITH."
    for at, token in enumerate(tokens):
        is_name = _at(tokens, at - 1).is_word("as") or _at(tokens, at - 1).is_sign(".", ":", ",")
        if token.is_word("use") and _at(tokens, at + 1).is_name and not is_name:
            return "USE may not be used here: there is one graph."
    if max(accumulate(token.is_sign("{") - token.is_sign("}") for token in tokens), default=0) > _DEEPEST_SUBQUERY:
        return "Brackets are nested too deeply."
    if sum(token.is_word("xor") for token in tokens) > _MOST_XOR:
        return "The statement has too many XORs."
    if _loops_inside_loops(tokens):
        return "Nested loops over lists are not allowed here: use UNWIND."
    if any(_grows(tokens, at) for at in range(len(tokens)) if _is_loop(tokens, at)):
        return "A loop over a list may not combine its items with other values or split texts here: use UNWIND."
    if _searches_hard(tokens, parameters):
        return f"Full-text queries may have {_LONGEST_SEARCH:,} characters and {_MOST_WILDCARDS} of * ? ~ / here."
    # How often a value may be in what the statement makes of it: what the clauses multiply it by.
    copies = 1
    for clause in _projections(tokens):
        made = 0
        for item in _parts(clause, ","):
            if any(token.is_sign("+", "||", "[", "{") for token in item):  # else it only hands a value on
                made += sum(_is_value(item, at) for at in range(len(item)))
                made += _COPIES_OF_LOOP * sum(_copied_by_loop(item, at) for at in range(len(item)))
        copies *= max(1, made)
    if copies > _MOST_COPIES:
        return "The statement combines values too often: use fewer + and lists in WITH."
    return ""


def _foreign_calls(tokens: Sequence[Token]) -> Iterator[str]:
    """Procedures and functions that are not known to only read this graph, in time."""
    before = _END
    for at, token in enumerate(tokens):
        if token.is_name and not before.is_sign("."):
            name, end = _dotted(tokens, at)
            if before.is_word("call"):
                if name.lower() not in _PROCEDURES:
                    yield name
            elif _at(tokens, end).is_sign("(") and _is_foreign(tokens, name.lower(), end):
                yield name
        before = token


def _searches_hard(tokens: Sequence[Token], parameters: dict[str, Any]) -> bool:
    """Whether any text could be a full-text query that matches words for ever: no time-out ends that either."""
    begins = (at for at, each in enumerate(tokens) if each.is_name and not _at(tokens, at - 1).is_sign("."))
    if not any(_dotted(tokens, at)[0].lower().startswith(_FULL_TEXT) for at in begins):
        return False
    texts = [token.text for token in tokens if token.kind == "text"]
    texts += [value for value, _ in values_in(parameters) if isinstance(value, str)]
    wildcards = sum(text.count(sign) for text in texts for sign in _WILDCARDS)
    return wildcards > _MOST_WILDCARDS or any(len(text) > _LONGEST_SEARCH for text in texts)


def _dotted(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The name with its dots that begins ``at``, and where it ends."""
    parts = [tokens[at].text]
    while _at(tokens, at + 1).is_sign(".") and _at(tokens, at + 2).is_name:
        at += 2
        parts.append(tokens[at].text)
    return ".".join(parts), at + 1


def _is_foreign(tokens: Sequence[Token], name: str, opening: int) -> bool:
    if name == "replace":  # what takes out cannot grow
        last = _closing(tokens, opening) - 1
        return tokens[last] not in _NOTHING or not tokens[last - 1].is_sign(",")
    if name == "range" and _at(tokens, opening - 2).is_word("unwind"):
        # ``UNWIND range(1, 5000)``: rows, which the time-out ends, of few numbers that are written there.
        given = tokens[opening + 1 : _closing(tokens, opening)]
        numbers = [int(each.text) for each in given[::2] if len(each.text) < _LONGEST_NUMBER and each.text.isdecimal()]
        is_written = len(numbers) == len(given[::2]) in (2, 3) and all(each.is_sign(",") for each in given[1::2])
        if is_written and abs(numbers[1] - numbers[0]) < _LONGEST_RANGE:
            return False
    return name in _ENDLESS or ("." in name and name.partition(".")[0] not in _NAMESPACES)


def _at(tokens: Sequence[Token], place: int) -> Token:
    return tokens[place] if 0 <= place < len(tokens) else _END


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """Where the bracket ends that opens there."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += tokens[at].is_sign(*"([{") - tokens[at].is_sign(*")]}")
        if depth == 0:
            return at
    return len(tokens) - 1


def _loops_inside_loops(tokens: Sequence[Token]) -> bool:
    open_loops: list[bool] = []
    for at, token in enumerate(tokens):
        if token.is_sign(*"([{"):
            open_loops.append(_is_loop(tokens, at))
            if open_loops[-1] and sum(open_loops) > 1:
                return True
        elif token.is_sign(*")]}") and open_loops:
            open_loops.pop()
    return False


def _is_loop(tokens: Sequence[Token], opening: int) -> bool:
    """Whether a list comprehension, or a predicate over a list, begins with the bracket at ``opening``."""
    over_list = _at(tokens, opening + 1).is_name and _at(tokens, opening + 2).is_word("in")
    return over_list and (tokens[opening].is_sign("[") or _at(tokens, opening - 1).is_word(*_PREDICATES))


def _grows(tokens: Sequence[Token], opening: int) -> bool:
    """Whether the loop at ``opening`` makes more of each item than there is of it: it joins values from outside."""
    inside = tokens[opening + 1 : _closing(tokens, opening)]
    ends = [at for at, token in enumerate(inside) if token.is_word("where") or token.is_sign("|")]
    made = inside[ends[0] + 1 :] if ends else ()
    if any(token.is_word("split") and _at(made, at + 1).is_sign("(") for at, token in enumerate(made)):
        return True
    if not any(token.is_sign("+", "||") for token in made):
        return False
    for at, token in enumerate(made):  # a parameter or a variable, or a property of one, but not the loop's own
        is_property = token.is_name and _at(made, at + 1).is_sign(".") and not _at(made, at - 1).is_sign(".")
        if token.kind == "given" or ((is_property or _is_value(made, at)) and token.text != inside[0].text):
            return True
    return False


def _projections(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """What stands behind each WITH and RETURN, and behind STARTS WITH, which does no harm."""
    for at, token in enumerate(tokens):
        if token.is_word("with", "return"):
            end = at + 1
            while end < len(tokens) and not tokens[end].is_sign(*")]}"):
                before = tokens[end - 1]
                is_word = before.kind != "sign" and not before.is_word(*_WORDS, "as", "with", "return")
                ended = is_word or before.is_sign(*")]}*") or before.is_word("end", "null", "true", "false")
                if ended and tokens[end].is_word(*_CLAUSES):  # and no name that is written like a clause
                    break
                end = _closing(tokens, end) + 1 if tokens[end].is_sign(*"([{") else end + 1
            yield tokens[at + 1 : end]


def _parts(tokens: Sequence[Token], *marks: str) -> Iterator[Sequence[Token]]:
    """What stands between the marks, signs or words, that are in no bracket."""
    start, depth = 0, 0
    for at, token in enumerate(tokens):
        depth += token.is_sign(*"([{") - token.is_sign(*")]}")
        if depth == 0 and (token.is_sign(*marks) or token.is_word(*marks)):
            yield tokens[start:at]
            start = at + 1
    yield tokens[start:]


def _copied_by_loop(tokens: Sequence[Token], opening: int) -> int:
    """How many values from outside a list comprehension makes each item of, if one begins at ``opening``."""
    is_pattern = _at(tokens, opening + 1).is_sign("(") or _at(tokens, opening + 2).is_sign("=")
    if not tokens[opening].is_sign("[") or not (is_pattern or _is_loop(tokens, opening)):
        return 0
    inside = tokens[opening + 1 : _closing(tokens, opening)]
    *before, made = _parts(inside, "|")
    own = {token.text for part in before for token in (part if is_pattern else part[:1])}
    return sum(_is_value(made, at) and made[at].text not in own for at in range(len(made))) if before else 0


def _is_value(tokens: Sequence[Token], at: int) -> bool:
    """Whether a variable stands there as a whole, not for a property of it."""
    token, before, after = tokens[at], _at(tokens, at - 1), _at(tokens, at + 1)
    is_variable = token.kind in ("quoted", "given") or (token.kind == "word" and not token.is_word(*_WORDS))
    in_map = before.is_sign(":") and _at(tokens, at - 3).is_sign("{", ",")
    is_part = (before.is_sign(".", ":", "|") and not in_map) or after.is_sign(".", "(", ":") or before.is_word("as")
    return is_variable and not is_part and not token.text[:1].isdigit()


_EXPLAIN = "EXPLAIN "
# White space or a comment. A comment ends at its first end: longer ones would hide what stands between. That of a line
# is a carriage return too.
_GAP = r"(?:[\s\u180e]|//[^\r\n]*[\r\n]|/\*(?:(?!\*/).)*\*/)"
_PLAN_ASKED = re.compile(rf"{_GAP}*(?:explain|profile)\b", re.I | re.S)
_LOAD_CSV = re.compile(rf"\bload{_GAP}+csv\b", re.I | re.S)
_SUBQUERY_EXPRESSION = re.compile(rf"\b(?:collect|count|exists){_GAP}*\{{", re.I | re.S)
_POSITION = re.compile(r"\(line 1, column (\d+) \(offset: (\d+)\)\)")
_SERVER_COMMANDS = ("ShowTransactions", "TerminateTransactions", "ShowSettings")


def as_explain(statement: str) -> str:
    """``statement`` as one that is only planned, whatever it asks for itself."""
    asked = _PLAN_ASKED.match(statement)
    return _EXPLAIN + (statement[asked.end() :].lstrip() if asked else statement)


def refuse_plan(statement: str, plan: dict[str, Any], query_type: str | None, *, write: bool) -> None:
    """Raise ``InputError`` for what users may not run; also for what writes, unless ``write``."""
    operators = set(_operators(plan))
    names = {name for name, _ in operators}
    # The plan does not always show a LOAD CSV in a subquery expression. ``\u0041`` is a letter anywhere in Cypher, and
    # words inside of quotes count too: a parameter can carry those.
    text = ESCAPE.sub(letter_of, statement)
    may_hide = _LOAD_CSV.search(text) is not None and _SUBQUERY_EXPRESSION.search(text) is not None
    if may_hide or any(name.startswith("LoadCSV") for name in names):
        raise coded(Code.STATEMENT_LOADS)
    if any(name == "ProcedureCall" and detail.lstrip().startswith("dbms.") for name, detail in operators):
        raise InputError("Procedures under `dbms.` are refused: they act on the server, not on the graph.")
    is_index_change = any("Index" in name or "Constraint" in name for name in names)
    if names.intersection(_SERVER_COMMANDS) or (query_type == "s" and not is_index_change):
        raise InputError("Administrative commands are refused. Run them in Neo4j Browser as the administrator.")
    if not write and query_type != "r":
        raise coded(Code.STATEMENT_WRITES, "write")


def without_explain(message: str) -> str:
    """The server's complaint, with the line as the user typed it where it is the first, which ``EXPLAIN`` opens."""
    if f'"{_EXPLAIN}' not in message:
        return message
    moved = _POSITION.sub(_moved, message).replace(f'"{_EXPLAIN}', '"')
    text, mark, caret = moved.rpartition("\n")
    return f"{text}{mark}{caret[len(_EXPLAIN) :] if caret.strip() == '^' else caret}"


def _moved(position: re.Match[str]) -> str:
    column, offset = (int(number) - len(_EXPLAIN) for number in position.groups())
    return f"(line 1, column {column} (offset: {offset}))"


def _operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and details of each operator of ``plan``."""
    name = str(plan.get("operatorType", "")).partition("@")[0]
    yield name, str(plan.get("args", {}).get("Details", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)
