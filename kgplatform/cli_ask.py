"""The command ``ask``: an option of the command line is the option of the same name of a reader."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from kgplatform.cli_base import connect_to
from kgplatform.cli_options import Home, Json, Question, Route

_READERS = "retrieve, youtu, graphreader, readagent, longagent, cypher, fulltext, chunkread or chunknotes"


class AnswerModeName(str, Enum):
    """What happens where the documents do not say."""

    reject = "reject"
    open = "open"


class LookupName(str, Enum):
    """How ReadAgent finds the pages that it reads again."""

    parallel = "parallel"
    sequential = "sequential"
    none = "none"
    nearest = "nearest"
    bm25 = "bm25"
    dense = "dense"


class TaskName(str, Enum):
    """What LongAgent's team works at."""

    qa = "qa"
    kv = "kv"
    number = "number"
    passkey = "passkey"
    math = "math"
    auto = "auto"


class ConflictName(str, Enum):
    """How LongAgent resolves a conflict between two members."""

    each = "each"
    once = "once"
    off = "off"


ReaderName = Annotated[str, typer.Option("--reader", help=f"Who reads: {_READERS}.")]
Mode = Annotated[
    AnswerModeName, typer.Option("--mode", help="reject refuses, open answers from the model's own knowledge.")
]
Documents = Annotated[
    list[str] | None,
    typer.Option(
        "--document",
        metavar="NAME",
        help="readagent, longagent, fulltext: read this document alone; may be given several times.",
    ),
]
WindowTokens = Annotated[
    int | None,
    typer.Option(
        "--window-tokens",
        min=1,
        metavar="N",
        help="graphreader, readagent, longagent, fulltext, chunkread, chunknotes: the most tokens of a prompt; else "
        "4096, readagent 8192.",
    ),
]
Trace = Annotated[bool, typer.Option("--trace", help="Show every step, with its Cypher to paste.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the run in the graph, to be looked at there.")]

RouteOfReader = Annotated[Route | None, typer.Option("--route", help="retrieve: which way to retrieve; else all.")]
TopK = Annotated[
    int | None, typer.Option("--top-k", min=1, help="retrieve, youtu: how many passages and facts; else 10, youtu 20.")
]

NoAgent = Annotated[bool | None, typer.Option(" /--no-agent", help="youtu: one pass, without reflection.")]
NoCommunity = Annotated[bool | None, typer.Option(" /--no-community", help="youtu: without the communities.")]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="ROUTE",
        help="youtu: without this route: entity, triple, path, community or passage; may be given several times.",
    ),
]
NoSchema = Annotated[bool | None, typer.Option(" /--no-schema", help="youtu: decompose without the schema.")]

Nodes = Annotated[int | None, typer.Option("--nodes", min=1, help="graphreader: how many nodes to start from; else 5.")]
MostCalls = Annotated[
    int | None,
    typer.Option(
        "--calls", min=1, help="graphreader: most function calls of a path, else 10; chunkread, chunknotes: most calls."
    ),
]
NoPlan = Annotated[bool | None, typer.Option(" /--no-plan", help="graphreader: without the rational plan.")]
RandomNodes = Annotated[
    int | None,
    typer.Option("--random-nodes", metavar="SEED", help="graphreader: nodes and neighbours drawn at random."),
]
Prefilter = Annotated[
    int | None,
    typer.Option("--prefilter", min=1, metavar="K", help="graphreader: choose among the K nodes nearest by meaning."),
]

Lookup = Annotated[
    LookupName | None,
    typer.Option(
        "--lookup",
        help="readagent: pages to read again are asked for all at once (parallel), one by one (sequential), not at all "
        "(none), or are those nearest by meaning (nearest); bm25, dense: the best pages alone, without gists.",
    ),
]
Pages = Annotated[int | None, typer.Option("--pages", min=1, help="readagent: most pages that are read again; else 5.")]
ByImportance = Annotated[
    bool | None, typer.Option("--by-importance", help="readagent: the most important page first, as many as fit.")
]
Interim = Annotated[
    bool | None, typer.Option("--interim", help="readagent, sequential: an answer after each page, shown at the next.")
]
Choices = Annotated[
    list[str] | None, typer.Option("--choice", metavar="TEXT", help="readagent: an answer to choose from; give all.")
]
FromEnd = Annotated[bool | None, typer.Option("--from-end", help="fulltext: the end of the text, not its beginning.")]

Members = Annotated[
    str | None,
    typer.Option(
        "--members", metavar="all|retrieved:K", help="longagent: who sits at the table; else all, a member a part."
    ),
]
MemberTokens = Annotated[
    int | None, typer.Option("--member-tokens", min=1, metavar="N", help="longagent: a member's text; else 1024.")
]
MemberModel = Annotated[
    str | None,
    typer.Option("--member-model", metavar="MODEL", help="longagent: the members' model; else the leader's."),
]
Rounds = Annotated[int | None, typer.Option("--rounds", min=1, help="longagent: most rounds of questions; else 5.")]
Task = Annotated[
    TaskName | None,
    typer.Option("--task", help="longagent: what the team works at, else qa; auto lets the leader choose."),
]
Conflict = Annotated[
    ConflictName | None,
    typer.Option(
        "--conflict",
        help="longagent: of two members with different answers, each reads both texts (each, the default), or one of "
        "them does (once); off: the leader sees both answers.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", help="longagent: which member speaks for those that agree; else 0.")
]

MostRows = Annotated[int | None, typer.Option("--rows", min=1, help="cypher: most rows that are read; else 50.")]
StatementTime = Annotated[
    float | None, typer.Option("--timeout", min=0.001, help="cypher: most seconds of the statement; else 10.")
]
Repairs = Annotated[
    int | None,
    typer.Option(
        "--repairs",
        min=0,
        max=3,
        help="cypher: how often a statement that does not work, or finds nothing, is written again; else once.",
    ),
]


def ask(
    question: Question,
    reader: ReaderName = "retrieve",
    mode: Mode = AnswerModeName.reject,
    documents: Documents = None,
    window_tokens: WindowTokens = None,
    route: RouteOfReader = None,
    top_k: TopK = None,
    agent: NoAgent = None,
    community: NoCommunity = None,
    schema: NoSchema = None,
    without: Without = None,
    nodes: Nodes = None,
    calls: MostCalls = None,
    plan: NoPlan = None,
    random_nodes: RandomNodes = None,
    prefilter: Prefilter = None,
    lookup: Lookup = None,
    pages: Pages = None,
    by_importance: ByImportance = None,
    interim: Interim = None,
    choices: Choices = None,
    from_end: FromEnd = None,
    members: Members = None,
    member_tokens: MemberTokens = None,
    member_model: MemberModel = None,
    rounds: Rounds = None,
    task: Task = None,
    conflict: Conflict = None,
    seed: Seed = None,
    rows: MostRows = None,
    timeout: StatementTime = None,
    repairs: Repairs = None,
    trace: Trace = False,
    keep: Keep = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Answer a question with checked citations; without a language model, give the evidence."""
    options = {name: _plain(value) for name, value in locals().items() if name not in _OF_THE_COMMAND}
    from kgplatform.show_trace import show_run

    with connect_to(home) as graph:
        answer = graph.ask(question, reader, keep=keep, **options)
    show_run(answer, as_json=as_json, trace=trace)


_OF_THE_COMMAND = {"question", "reader", "trace", "keep", "home", "as_json"}


def _plain(value: Any) -> Any:
    """A choice as its word, several values as a tuple."""
    if isinstance(value, Enum):
        return value.value
    return tuple(value) if isinstance(value, list) else value
