"""The command ``evaluate``: what is asked, who answers, and where the results go. And ``anonymise``: names out of a
folder of texts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote, urlsplit

import typer

from kgplatform.errors import InputError, SettingError
from kgplatform.interfaces.cli.shared import (
    EXTRACTOR_NAMES,
    AsJson,
    Home,
    TokenBudget,
    flag,
    known_extractor,
    note,
    settings_of,
)
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.evaluate.anonymise import AnonymityReport
    from kgplatform.evaluate.costs import Prices
    from kgplatform.evaluate.evaluation import EvaluationPlan
    from kgplatform.evaluate.hidden_names import SourceNames
    from kgplatform.evaluate.terms import DataSet, Results, Setup, Timing
    from kgplatform.records import Document
    from kgplatform.settings import Settings

_LENGTHS = "1000,2000,4000,8000"
_NONE = "none"
_FAULTS_TOLD = 5

Questions = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Your own questions about the graph (JSON lines), or files or folders of data sets.", show_default=False
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
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Ask only the first N questions of each data set.")]
Parallel = Annotated[
    int | None,
    typer.Option("--parallel", min=1, help="Parallel questions. Default: 1, which keeps timings comparable."),
]
Repeat = Annotated[int, typer.Option("--repeat", min=1, help="Number of repetitions, to see how replies vary.")]
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
    repeat: Repeat = 1,
    prices: PricesFile = None,
    extractor: Extractor = None,
    out: Out = Path("evaluation"),
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Compare readers on questions: answers, scores, costs, tables and plots. Stop and resume it at any time."""
    given = {name: value for name, value in locals().items() if value not in (None, False, [])}
    if repeat == 1:
        del given["repeat"]
    _check_options(given)
    from kgplatform.evaluate.evaluation import NO_MODEL
    from kgplatform.settings import load_settings

    settings = load_settings(home=home, token_budget=token_budget)
    datasets = _data_sets(given)
    if retrieval_only:
        _measure_retrieval(settings, datasets, given)
    elif settings.openai_api_key is None and settings.openai_base_url is None:
        raise SettingError(NO_MODEL, "retrieval_only")
    else:
        _evaluate(settings, datasets, given)


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


def _data_sets(given: Mapping[str, Any]) -> list[DataSet]:
    """The data sets that are named. The same one from two places is two: each has its own folder of results."""
    from kgplatform.evaluate.datasets import load
    from kgplatform.evaluate.needles import needle_data_set, parse_lengths

    if "needles" in given:
        kind, _, lengths = given["needles"].partition(":")
        return [needle_data_set(kind, parse_lengths(lengths or _LENGTHS))]
    found: list[DataSet] = []
    names: list[str] = []
    for path in given["questions"]:
        dataset = load(path, limit=given.get("limit"))
        for fault in dataset.faults[:_FAULTS_TOLD]:
            note(fault)
        if (more := len(dataset.faults) - _FAULTS_TOLD) > 0:
            note(f"… and {more:,} more. {dataset.skipped:,} questions were left out.")
        names.append(dataset.name)
        number = names.count(dataset.name)
        found.append(replace(dataset, name=f"{dataset.name} {number}") if number > 1 else dataset)
    return found


def _setups(given: Mapping[str, Any]) -> tuple[tuple[Setup, ...], tuple[Path, ...]]:
    """The setups, with how their graphs are built, and the files that a grid builds graphs from."""
    from kgplatform.evaluate.setups import parse_setups, read_grid, usual

    if "grid" in given:
        grid = read_grid(given["grid"])
        setups, corpus = grid.setups, grid.corpus
    else:
        setups, corpus = parse_setups(given.get("readers") or usual()), ()
    extractor = given.get("extractor")
    if extractor is not None:  # where a grid does not say otherwise
        builds = [replace(setup.build, extractor=setup.build.extractor or extractor) for setup in setups]
        setups = tuple(replace(setup, build=build) for setup, build in zip(setups, builds, strict=True))
    return setups, corpus


def _with_corpus(settings: Settings, dataset: DataSet, corpus: Sequence[Path]) -> DataSet:
    """``dataset`` with the texts in the files of ``corpus``. Raises ``InputError`` where it has its own."""
    from kgplatform.evaluate.terms import Text
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
        # A file of its own: questions may name it, and its texts go without its name.
        if document.uri == document.source:
            titles[unquote(urlsplit(document.uri).path.rsplit("/", 1)[-1])] = document.title
    questions = [
        replace(
            question,
            supports=tuple(replace(each, title=titles.get(each.title, each.title)) for each in question.supports),
            within=tuple(titles.get(each, each) for each in question.within),
        )
        for question in dataset.questions
    ]
    return replace(dataset, corpus=tuple(texts), questions=tuple(questions))


def _evaluate(settings: Settings, datasets: Sequence[DataSet], given: Mapping[str, Any]) -> None:
    from kgplatform.evaluate.costs import load_prices
    from kgplatform.evaluate.evaluation import EvaluationPlan
    from kgplatform.evaluate.kept_answers import slug
    from kgplatform.interfaces.cli.show.answers import trace_in_words
    from kgplatform.interfaces.cli.show.evaluation import show_results
    from kgplatform.interfaces.cli.show.terminal import print_json

    prices = load_prices(given.get("prices"))
    setups, corpus = _setups(given)
    needles = "needles" in given  # they are found or not: no rater is needed, unless one is asked for
    raters = given.get("rate") or ([] if needles else ["judge"])
    plans = [
        EvaluationPlan(
            _with_corpus(settings, data_set, corpus),
            setups,
            given["out"] / slug(data_set.name) if len(datasets) > 1 else given["out"],
            parallel=given.get("parallel", 1),
            prepare=given.get("prepare", False),
            raters=() if _NONE in raters else tuple(dict.fromkeys(raters)),
            judge_model=given.get("judge_model"),
            chief="contains" if needles else None,
            alone=len(datasets) == 1,
            in_words=trace_in_words,
        )
        for data_set in datasets
    ]
    done: list[tuple[EvaluationPlan, Results, Timing]] = []
    try:
        _run(settings, plans, prices, given.get("repeat", 1), done)
    finally:  # what is done is shown, though the next data set cannot be
        if not given.get("as_json"):
            for plan, results, timing in done:
                show_results(results, timing, prices, plan.out)
            sys.stdout.flush()  # before what is said on the error stream after it
    if given.get("as_json"):
        documents = [{"out": plan.out, "results": results, "timing": timing} for plan, results, timing in done]
        print_json(documents[0] if len(documents) == 1 else {"evaluations": documents})
    if any(setup.failed for _, results, _ in done for setup in results.setups):
        raise typer.Exit(1)


def _run(
    settings: Settings,
    plans: Sequence[EvaluationPlan],
    prices: Prices,
    repeat: int,
    done: list[tuple[EvaluationPlan, Results, Timing]],
) -> None:
    """Follow ``plans``, each of which is in ``done`` once its results are written, before the next one begins.

    Runs after the first have a folder and a cache of their own; at the end the reports tell of all of them.
    """
    from kgplatform.evaluate.evaluation import evaluate as run
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.journal import write_whole
    from kgplatform.evaluate.outcome import as_json, spread, write_results
    from kgplatform.interfaces.cli.show.terminal import ProgressLines

    runs: list[list[Results]] = [[] for _ in plans]
    with ProgressLines() as progress:
        for number in range(1, repeat + 1):
            with Graphs(settings, note, progress, run=number) as graphs:
                for plan, every in zip(plans, runs, strict=True):
                    this = plan if number == 1 else replace(plan, out=plan.out / f"run-{number}")
                    results, timing = run(graphs, this, note, progress)
                    write_results(this.out, results, timing)
                    _write_report(this.out, results, timing, prices)
                    every.append(results)
                    done += [(plan, results, timing)] if number == 1 else []
    for (plan, results, timing), every in zip(done, runs, strict=True):
        if repeat > 1:
            _write_report(plan.out, results, timing, prices, every)
            write_whole(plan.out / "repeated.json", as_json({"runs": len(every), "scores": spread(every)}), mode=0o644)


def _write_report(
    out: Path, results: Results, timing: Timing, prices: Prices, repeated: Sequence[Results] = ()
) -> None:
    """The pictures, and the report that shows them."""
    from kgplatform.evaluate.journal import write_whole
    from kgplatform.evaluate.needles import heat_map
    from kgplatform.evaluate.plots import draw, draw_heat_map
    from kgplatform.evaluate.report import markdown

    found = heat_map(results)
    pictures = draw(results, timing, out) + (draw_heat_map(found, out) if found else [])
    names = [picture.relative_to(out) for picture in pictures]
    write_whole(out / "report.md", markdown(results, timing, prices, names, repeated).encode(), mode=0o644)


def _measure_retrieval(settings: Settings, datasets: Sequence[DataSet], given: Mapping[str, Any]) -> None:
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.journal import claimed, write_whole
    from kgplatform.evaluate.outcome import as_json
    from kgplatform.evaluate.retrieval import evaluate_retrieval, retrieval_markdown
    from kgplatform.evaluate.terms import Build
    from kgplatform.interfaces.cli.show.evaluation import show_retrieval
    from kgplatform.interfaces.cli.show.terminal import ProgressLines

    build = Build(extractor=given.get("extractor"))
    with claimed(given["out"]), ProgressLines() as progress, Graphs(settings, note, progress) as graphs:
        report = evaluate_retrieval(datasets, graphs, build=build, progress=progress)
    show_retrieval(report, given.get("as_json", False))  # first: a full disk takes nothing from a person
    write_whole(given["out"] / "retrieval.md", retrieval_markdown(report).encode(), mode=0o644)
    write_whole(given["out"] / "retrieval.json", as_json(asdict(report)), mode=0o644)


_LEFT_OUT_SHOWN = 20

Folder = Annotated[Path, typer.Argument(help="The folder with the texts.", show_default=False)]
NewFolder = Annotated[Path, typer.Option("--out", help="The output folder, new or empty.", show_default=False)]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Hide names that the graph has of this type. May be repeated. Default: Person and Location, if --names is "
        "not given.",
    ),
]
NamesFile = Annotated[
    Path | None, typer.Option("--names", metavar="FILE", help="Your own names: JSON lines {name, type, aliases}.")
]
QuestionsFile = Annotated[
    Path | None, typer.Option("--questions", metavar="FILE", help="A file of questions to anonymise in the same way.")
]


def anonymise(
    folder: Folder,
    out: NewFolder,
    types: Types = None,
    names: NamesFile = None,
    questions: QuestionsFile = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Replace names in texts by placeholders such as [PERSON#12], and write a map of what each stands for."""
    from kgplatform.evaluate.anonymise import anonymise as run
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.hidden_names import DEFAULT_TYPES, names_from_file, names_of_texts
    from kgplatform.interfaces.cli.show import terminal

    with terminal.ProgressLines() as progress:

        def found(documents: Sequence[Document]) -> Sequence[SourceNames]:
            own = [names_from_file(names)] if names else []
            if own and not types:
                return own
            with Graphs(settings_of(home), note, progress) as graphs:
                return [*own, names_of_texts(graphs, folder.resolve().name, documents, types or DEFAULT_TYPES)]

        report = run(folder, out, found, questions)
    terminal.show(as_json, report, _show_anonymity)


def _show_anonymity(report: AnonymityReport) -> None:
    from kgplatform.interfaces.cli.show.terminal import console, safe

    kinds = ", ".join(f"{count:,} {label}" for label, count in report.entities.items())
    made = ", ".join(f"{count:,} {kind}" for kind, count in report.built.items())
    left_out = [f"Left out: {each.path}: {each.reason}" for each in report.skipped]
    more = (
        [f"and {len(left_out) - _LEFT_OUT_SHOWN:,} more (--json lists all)"] if len(left_out) > _LEFT_OUT_SHOWN else []
    )
    names = ", ".join(f"{name} ({count:,})" for name, count in report.left)
    lines = [
        f"{counted(report.texts, 'text')} in {report.out}: {counted(report.mentions, 'mention')} of "
        f"{counted(sum(report.entities.values()), 'name')} replaced ({kinds}).",
        f"Map: {report.map}. Store it apart from the texts: it has every name.",
        f"Questions: {report.questions}" if report.questions else "",
        f"Questions about the hidden names: {report.built_file} ({made})" if report.built_file else "",
        *left_out[:_LEFT_OUT_SHOWN],
        *more,
        f"Names of unknown type, left unchanged (add those that matter with --names): {names}" if names else "",
    ]
    for line in filter(None, lines):
        console().print(safe(line))
