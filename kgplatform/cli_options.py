"""The options of the command line: their names, their bounds and what ``--help`` says of them."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Route(str, Enum):
    """Ways to retrieve."""

    all = "all"
    entity = "entity"
    triple = "triple"
    path = "path"
    community = "community"
    passage = "passage"
    bm25 = "bm25"
    dense = "dense"


class ExtractorName(str, Enum):
    """Ways to extract."""

    llm = "llm"
    local = "local"
    recorded = "recorded"


class SchemaMode(str, Enum):
    """What happens to what the schema does not have."""

    strict = "strict"
    flexible = "flexible"


class AnswerModeName(str, Enum):
    """What happens where the documents do not say."""

    reject = "reject"
    open = "open"


Home = Annotated[Path | None, typer.Option("--home", help="Home folder of the managed graph (KGPLATFORM_HOME).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, on standard output.")]
Question = Annotated[str, typer.Argument(help="A question, in words.", show_default=False)]
TopK = Annotated[int, typer.Option("--top-k", min=1, help="How many passages and facts.")]
RouteOption = Annotated[Route, typer.Option("--route", help="Which way to retrieve.")]
SchemaOption = Annotated[str, typer.Option("--schema", help="A schema file, or the name of a shipped one.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# --------------------------------------------------------------------------------------------------------------- tree

UpdateTree = Annotated[bool, typer.Option("--update", help="Only what changed; all of it where there is no tree yet.")]
RebuildTree = Annotated[bool, typer.Option("--rebuild", help="All communities anew, by the tree's method or --method.")]
TreeMethod = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="How communities are found: multiplex, paper, leidenalg, leiden, louvain or kmeans; else as those of the "
        "tree that is there, or multiplex.",
    ),
]

# ---------------------------------------------------------------------------------------------------------------- ask

ReaderName = Annotated[
    str,
    typer.Option("--reader", help="Who reads: retrieve, youtu, graphreader, fulltext, chunkread or chunknotes."),
]
Mode = Annotated[
    AnswerModeName, typer.Option("--mode", help="reject refuses, open answers from the model's own knowledge.")
]
RouteOfReader = Annotated[Route | None, typer.Option("--route", help="retrieve: which way to retrieve; else all.")]
TopKOfReader = Annotated[
    int | None, typer.Option("--top-k", min=1, help="retrieve, youtu: how many passages and facts; else 10, youtu 20.")
]
NoAgent = Annotated[bool, typer.Option("--no-agent", help="youtu: one pass, without reflection.")]
NoCommunity = Annotated[bool, typer.Option("--no-community", help="youtu: without the communities.")]
NoSchema = Annotated[bool, typer.Option("--no-schema", help="youtu: decompose without the schema.")]
NodesOfReader = Annotated[
    int | None, typer.Option("--nodes", min=1, help="graphreader: how many nodes to start from; else 5.")
]
CallsOfReader = Annotated[
    int | None,
    typer.Option(
        "--calls", min=1, help="graphreader: most function calls of a path, else 10; chunkread, chunknotes: most calls."
    ),
]
NoPlan = Annotated[bool, typer.Option("--no-plan", help="graphreader: without the rational plan.")]
RandomNodes = Annotated[
    int | None,
    typer.Option("--random-nodes", metavar="SEED", help="graphreader: nodes and neighbours drawn at random."),
]
Prefilter = Annotated[
    int | None,
    typer.Option("--prefilter", min=1, metavar="K", help="graphreader: choose among the K nodes nearest by meaning."),
]
WindowTokens = Annotated[
    int | None,
    typer.Option(
        "--window-tokens",
        min=1,
        metavar="N",
        help="graphreader, fulltext, chunkread, chunknotes: the most tokens of a prompt; else 4096.",
    ),
]
Trace = Annotated[bool, typer.Option("--trace", help="Show every step, with its Cypher to paste.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the run in the graph, to be looked at there.")]
