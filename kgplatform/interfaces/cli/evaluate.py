"""The commands ``evaluate``: what is asked, who answers, and where the results go; and ``anonymise``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgplatform.errors import InputError
from kgplatform.interfaces.cli.shared import (
    EXTRACTOR_NAMES,
    AsJson,
    Home,
    TokenBudget,
    Where,
    alternatives,
    flag,
    known_extractor,
    note,
    settings_of,
)
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.evaluate.anonymise import AnonymityReport
    from kgplatform.evaluate.costs import Prices
    from kgplatform.evaluate.hidden_names import SourceNames
    from kgplatform.evaluate.terms import DataSet, Results, Setup, Timing
    from kgplatform.records import Document
    from kgplatform.settings import Settings


_LENGTHS = "1000,2000,4000,8000"
_NONE = "none"
_FAULTS_TOLD = 5

Questions = Annotated[
    Path | None,
    typer.Argument(
        help="Your own questions about the graph (JSON lines), or the file or folder of a data set.",
        show_default=False,
    ),
]
Readers = Annotated[
    str | None,
    typer.Option(
        "--readers",
        metavar="READER[:OPTION=VALUE…],…",
        help="Readers, such as youtu,youtu:agent=false,bm25,closed. Default: the five readers of the papers.",
    ),
]
GridFile = Annotated[Path | None, typer.Option("--grid", help="A YAML file with readers and their options to vary.")]
RetrievalOnly = Annotated[
    bool, typer.Option("--retrieval-only", help="Measure only retrieval by each route. Needs no language model.")
]
NeedleKind = Annotated[
    str | None,
    typer.Option(
        "--needles",
        metavar="KIND[:TOKENS,…]",
        help=f"Needle-in-a-haystack tasks (docs/how-to/needle-tasks.md) in texts of {_LENGTHS} tokens, or of your own "
        "lengths.",
        hidden=True,
    ),
]
Raters = Annotated[
    list[str] | None,
    typer.Option("--rate", metavar="RATER", help="Raters (language models): judge (default), lr; or none."),
]
JudgeModel = Annotated[
    str | None,
    typer.Option("--judge-model", metavar="MODEL", help="Model of the raters. Default: the answering model."),
]
Prepare = Annotated[
    bool, typer.Option("--prepare", help="First build what the readers need: gists, the tree, atomic facts.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Ask only the first N questions.")]
Parallel = Annotated[
    int | None,
    typer.Option("--parallel", min=1, help="Parallel questions. Default: 1, which keeps timings comparable."),
]
Repeat = Annotated[
    int | None, typer.Option("--repeat", min=1, help="Number of repetitions, to see how replies vary. Default: 1.")
]
PricesFile = Annotated[Path | None, typer.Option("--prices", help="Your own table of prices per million tokens.")]
Extractor = Annotated[
    str | None,
    typer.Option(
        "--extractor", metavar=EXTRACTOR_NAMES, callback=known_extractor, help="The extractor for a data set's texts."
    ),
]
Out = Annotated[Path, typer.Option("--out", help="The folder for results, traces and plots.")]

_NOT_WITH = (
    *(("questions", "needles"), ("readers", "grid"), ("needles", "retrieval_only"), ("needles", "limit")),
    *(("needles", "where"), ("prepare", "where")),
    *product(
        ("retrieval_only",), ("readers", "grid", "rate", "judge_model", "prepare", "parallel", "prices", "repeat")
    ),
)


def evaluate(
    questions: Questions = None,
    readers: Readers = None,
    grid: GridFile = None,
    retrieval_only: RetrievalOnly = False,
    needles: NeedleKind = None,
    rate: Raters = None,
    judge_model: JudgeModel = None,
    prepare: Prepare = False,
    limit: Limit = None,
    parallel: Parallel = None,
    repeat: Repeat = None,
    prices: PricesFile = None,
    extractor: Extractor = None,
    where: Where = None,
    out: Out = Path("evaluation"),
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Compare readers on questions: answers, scores, costs, tables and plots. Stop and resume it at any time."""
    given = {name: value for name, value in locals().items() if value not in (None, False, [])}
    _check_options(given)
    from kgplatform.settings import load_settings

    settings = load_settings(home=home, token_budget=token_budget)
    dataset = _data_set(given)
    if retrieval_only:
        _measure_retrieval(settings, dataset, given)
    else:
        _evaluate(settings, dataset, given)


def _check_options(given: Mapping[str, Any]) -> None:
    """Raise ``InputError`` where options contradict each other, or where there is nothing to ask."""
    for one, other in _NOT_WITH:
        if one in given and other in given:
            named = "QUESTIONS" if one == "questions" else flag(one)
            raise InputError(f"{named} and {flag(other)} cannot be combined: leave one of them out.")
    if not given.keys() & {"questions", "needles"}:
        raise InputError(
            "There are no questions. Name a file of your own (`kgplatform evaluate questions.jsonl`), or the file or "
            "folder of a data set."
        )
    rates = given.get("rate", [])
    if _NONE in rates and (len(rates) > 1 or "judge_model" in given):
        raise InputError("--rate none turns the raters off: leave out the other raters and --judge-model.")


def _data_set(given: Mapping[str, Any]) -> DataSet:
    """The data set that is named."""
    from kgplatform.evaluate.datasets import load
    from kgplatform.evaluate.needles import needle_data_set, parse_lengths
    from kgplatform.evaluate.terms import first_of

    if "needles" in given:
        kind, _, lengths = given["needles"].partition(":")
        return needle_data_set(kind, parse_lengths(lengths or _LENGTHS))
    dataset = load(given["questions"], limit=given.get("limit"))
    for fault in first_of(dataset.faults, _FAULTS_TOLD):
        note(fault)
    return dataset


def _setups(given: Mapping[str, Any]) -> tuple[tuple[Setup, ...], tuple[Path, ...]]:
    """The setups, with how their graphs are built, and the files that a grid builds graphs from."""
    from kgplatform.evaluate.setups import parse_setups, read_grid, usual

    corpus: tuple[Path, ...] = ()
    if "grid" in given:
        setups, corpus = read_grid(given["grid"])
    else:
        setups = parse_setups(given.get("readers") or usual())
    extractor = given.get("extractor")
    if extractor is not None:  # where a grid does not say otherwise
        builds = [replace(setup.build, extractor=setup.build.extractor or extractor) for setup in setups]
        setups = tuple(replace(setup, build=build) for setup, build in zip(setups, builds, strict=True))
    return setups, corpus


def _with_corpus(settings: Settings, dataset: DataSet, corpus: Sequence[Path]) -> DataSet:
    """``dataset`` with the texts in the files of ``corpus``. Raises ``InputError`` where it has its own."""
    from kgplatform.evaluate.terms import Text, file_name
    from kgplatform.records import SkippedFile
    from kgplatform.sources.load import load_within

    if not corpus:
        return dataset
    if dataset.corpus or dataset.apart:
        raise InputError(f"{dataset.name} has its own texts: leave corpus out of the grid.")
    texts, titles = [], {}
    for document in load_within(settings, corpus):
        if isinstance(document, SkippedFile):
            note(f"{document.path} is left out: {document.reason}")
            continue
        texts.append(Text(document.title, document.text))
        titles[file_name(document.uri)] = document.title  # its texts go without it
    titles.pop("", None)
    questions = [
        replace(
            question,
            supports=tuple(replace(each, title=titles.get(each.title, each.title)) for each in question.supports),
            within=tuple(titles.get(each, each) for each in question.within),
        )
        for question in dataset.questions
    ]
    return replace(dataset, corpus=tuple(texts), questions=tuple(questions))


def _evaluate(settings: Settings, dataset: DataSet, given: Mapping[str, Any]) -> None:
    """Ask, write, show. Runs after the first have a folder and a cache of their own; at the end the report tells of all
    of them."""
    from kgplatform.evaluate.costs import load_prices
    from kgplatform.evaluate.evaluation import EvaluationPlan
    from kgplatform.evaluate.evaluation import evaluate as run
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.journal import write_whole
    from kgplatform.evaluate.outcome import as_json, spread
    from kgplatform.interfaces.cli.show.answers import trace_in_words
    from kgplatform.interfaces.cli.show.evaluation import show_results
    from kgplatform.interfaces.cli.show.terminal import ProgressLines, print_json

    prices = load_prices(given.get("prices"))
    setups, corpus = _setups(given)
    needles = "needles" in given  # they are found or not: no rater is needed, unless one is asked for
    raters = given.get("rate") or ([] if needles else ["judge"])
    plan = EvaluationPlan(
        _with_corpus(settings, dataset, corpus),
        setups,
        given["out"],
        parallel=given.get("parallel", 1),
        prepare=given.get("prepare", False),
        raters=() if _NONE in raters else tuple(dict.fromkeys(raters)),
        judge_model=given.get("judge_model"),
        chief="contains" if needles else None,
        in_words=trace_in_words,
    )
    runs: list[tuple[Results, Timing]] = []
    with ProgressLines() as progress:
        for number in range(1, given.get("repeat", 1) + 1):
            out = plan.out if number == 1 else plan.out / f"run-{number}"
            with Graphs(settings, note, progress, run=number, where=alternatives(given.get("where"))) as graphs:
                runs.append(run(graphs, replace(plan, out=out), note, progress))
            _write(out, *runs[-1], prices)
    (results, timing), every = runs[0], [results for results, _ in runs]
    if len(runs) > 1:
        _write(plan.out, results, timing, prices, every)
        write_whole(plan.out / "repeated.json", as_json({"runs": len(runs), "scores": spread(every)}), mode=0o644)
    if given.get("as_json"):
        print_json({"out": plan.out, "results": results, "timing": timing})
    else:
        show_results(results, timing, prices, plan.out)
    if any(setup.failed for setup in results.setups):
        raise typer.Exit(1)


def _write(out: Path, results: Results, timing: Timing, prices: Prices, repeated: Sequence[Results] = ()) -> None:
    """``results.json``, the same for the same answers, ``timing.json``, which no two runs have alike, the pictures, and
    the report that shows them."""
    from kgplatform.evaluate.journal import write_whole
    from kgplatform.evaluate.needles import heat_map
    from kgplatform.evaluate.outcome import as_json
    from kgplatform.evaluate.plots import draw, draw_heat_map
    from kgplatform.evaluate.report import markdown

    write_whole(out / "timing.json", as_json(asdict(timing)), mode=0o644)
    write_whole(out / "results.json", as_json(asdict(results)), mode=0o644)
    found = heat_map(results)
    pictures = draw(results, timing, out) + (draw_heat_map(found, out) if found else [])
    names = [picture.relative_to(out) for picture in pictures]
    write_whole(out / "report.md", markdown(results, timing, prices, names, repeated).encode(), mode=0o644)


def _measure_retrieval(settings: Settings, dataset: DataSet, given: Mapping[str, Any]) -> None:
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.journal import claimed, write_whole
    from kgplatform.evaluate.outcome import as_json
    from kgplatform.evaluate.retrieval import evaluate_retrieval, retrieval_markdown
    from kgplatform.evaluate.terms import Build
    from kgplatform.interfaces.cli.show.evaluation import show_retrieval
    from kgplatform.interfaces.cli.show.terminal import ProgressLines

    build = Build(extractor=given.get("extractor"))
    where = alternatives(given.get("where"))
    with claimed(given["out"]), ProgressLines() as progress, Graphs(settings, note, progress, where=where) as graphs:
        report = evaluate_retrieval(dataset, graphs, build, progress)
    show_retrieval(report, given.get("as_json", False))  # first: a full disk takes nothing from a person
    write_whole(given["out"] / "retrieval.md", retrieval_markdown(report).encode(), mode=0o644)
    write_whole(given["out"] / "retrieval.json", as_json(asdict(report)), mode=0o644)


_SHOWN = 20

Folder = Annotated[Path, typer.Argument(help="The folder with the texts.", show_default=False)]
NewFolder = Annotated[Path, typer.Option("--out", help="The output folder, new or empty.", show_default=False)]
NamesFile = Annotated[
    Path | None,
    typer.Option(
        "--names",
        metavar="FILE",
        help="Names of your own, besides persons and places: JSON lines {name, type, aliases}.",
    ),
]
ToAnonymise = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="A file of questions to anonymise in the same way."),
]


def anonymise(
    folder: Folder,
    out: NewFolder,
    names: NamesFile = None,
    questions: ToAnonymise = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Replace names in texts by placeholders such as [PERSON#12], and write a map of what each stands for."""
    from kgplatform.evaluate.anonymise import anonymise as run
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.hidden_names import names_from_file, names_of_texts
    from kgplatform.interfaces.cli.show import terminal

    own = names_from_file(names) if names else ()
    with terminal.ProgressLines() as progress:

        def find(documents: Sequence[Document]) -> SourceNames:
            with Graphs(settings_of(home), note, progress) as graphs:
                found = names_of_texts(graphs, folder.resolve().name, documents)
            return replace(found, candidates=(*own, *found.candidates))

        report = run(folder, out, find, questions)
    terminal.show(as_json, report, _show_anonymised)


def _show_anonymised(report: AnonymityReport) -> None:
    from kgplatform.evaluate.terms import first_of
    from kgplatform.interfaces.cli.show.terminal import console, safe

    kinds = ", ".join(f"{count:,} {label}" for label, count in report.entities.items())
    made = ", ".join(f"{count:,} {kind}" for kind, count in report.built.items())
    left_out = [f"Left out: {each.path}: {each.reason}" for each in report.skipped]
    names = ", ".join(f"{name} ({count:,})" for name, count in report.left)
    lines = [
        f"{counted(report.texts, 'text')} in {report.out}: {counted(report.mentions, 'mention')} of "
        f"{counted(sum(report.entities.values()), 'name')} replaced ({kinds}).",
        f"Map: {report.map}. Store it apart from the texts: it has every name.",
        f"Questions: {report.questions}" if report.questions else "",
        f"Questions about the hidden names: {report.built_file} ({made})" if report.built_file else "",
        *first_of(left_out, _SHOWN),
        f"Names of unknown type, left unchanged (add those that matter with --names): {names}" if names else "",
    ]
    for line in filter(None, lines):
        console().print(safe(line))
