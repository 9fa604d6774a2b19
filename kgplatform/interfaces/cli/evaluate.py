"""The command ``evaluate``: what is asked, who answers, and where the results go."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote, urlsplit

import typer

from kgplatform.errors import InputError, SettingError
from kgplatform.interfaces.cli.shared import EXTRACTOR_NAMES, AsJson, Home, TokenBudget, flag, known_extractor, note

if TYPE_CHECKING:
    from kgplatform.evaluate.costs import Prices
    from kgplatform.evaluate.evaluation import EvaluationPlan
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.terms import DataSet, Question, Results, Setup, Timing
    from kgplatform.interfaces.cli.show.terminal import ProgressLines
    from kgplatform.settings import Settings

_LENGTHS, _DEPTHS = "1000,2000,4000,8000", "0,0.25,0.5,0.75,1"
_NONE = "none"
_FAULTS_TOLD = 5

Questions = Annotated[
    Path | None, typer.Argument(help="Questions of your own (JSON lines) about the graph.", show_default=False)
]
DataSets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", metavar="NAME", help="The format of the data set at --path. Default: detected from its content."
    ),
]
Paths = Annotated[
    list[Path] | None,
    typer.Option("--path", help="File or folder of a data set, including its texts. May be repeated."),
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
Routes = Annotated[
    list[str] | None, typer.Option("--route", help="With --retrieval-only: a route to measure. Default: all.")
]
Cuts = Annotated[
    str | None, typer.Option("--at", metavar="K,…", help="With --retrieval-only: recall at K. Default: 2,5,10.")
]
NeedleKind = Annotated[
    str | None, typer.Option("--needles", metavar="KIND", help="Needle-in-a-haystack tasks: single, multi, pass-key …")
]
Lengths = Annotated[
    str | None, typer.Option("--lengths", help=f"With --needles: text lengths in tokens. Default: {_LENGTHS}.")
]
Depths = Annotated[
    str | None, typer.Option("--depths", help=f"With --needles: depths of the needles. Default: {_DEPTHS}.")
]
Samples = Annotated[
    int | None, typer.Option("--samples", min=1, help="With --needles: tasks per length and depth. Default: 1.")
]
Haystack = Annotated[Path | None, typer.Option("--haystack", help="With --needles: your own text to hide them in.")]
Seed = Annotated[int | None, typer.Option("--seed", help="With --needles: random seed. Default: 0.")]
Rank = Annotated[
    str | None, typer.Option("--rank", help="With --needles math: which number to ask for. Default: largest.")
]
Raters = Annotated[
    list[str] | None,
    typer.Option(
        "--rate", metavar="RATER", help="Raters, which are models: judge (default), lr, rubric, facts; or none."
    ),
]
JudgeModel = Annotated[
    str | None,
    typer.Option("--judge-model", metavar="MODEL", help="The raters' model. Default: the model that answers."),
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
Out = Annotated[Path, typer.Option("--out", help="The folder for results, traces and plots.")]
Caption = Annotated[str | None, typer.Option("--caption", help="A caption for every plot.")]

_ONLY_WITH = {
    "retrieval_only": ("route", "at"),
    "needles": ("lengths", "depths", "samples", "haystack", "seed", "rank"),
    "path": ("dataset", "recorded"),
}
_NOT_WITH = {
    "questions": ("path", "needles"),
    "path": ("needles",),
    "readers": ("grid",),
    "needles": ("retrieval_only", "limit"),
    "retrieval_only": ("readers", "grid", "rate", "judge_model", "prepare", "parallel", "prices", "caption", "repeat"),
}


def evaluate(
    questions: Questions = None,
    dataset: DataSets = None,
    path: Paths = None,
    readers: Readers = None,
    grid: GridFile = None,
    retrieval_only: RetrievalOnly = False,
    route: Routes = None,
    at: Cuts = None,
    needles: NeedleKind = None,
    lengths: Lengths = None,
    depths: Depths = None,
    samples: Samples = None,
    haystack: Haystack = None,
    seed: Seed = None,
    rank: Rank = None,
    rate: Raters = None,
    judge_model: JudgeModel = None,
    prepare: Prepare = False,
    limit: Limit = None,
    parallel: Parallel = None,
    repeat: Repeat = 1,
    prices: PricesFile = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            "--extractor", metavar=EXTRACTOR_NAMES, callback=known_extractor, help="The extractor for the texts."
        ),
    ] = None,
    recorded: Annotated[Path | None, typer.Option("--recorded", help="A recorded extraction of the texts.")] = None,
    schema: Annotated[str | None, typer.Option("--schema", help="A schema file, or the name of a shipped one.")] = None,
    out: Out = Path("evaluation"),
    caption: Caption = None,
    token_budget: TokenBudget = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Compare readers on questions: answers, scores, costs, tables and plots. Stop and resume it at any time."""
    given = {name: value for name, value in locals().items() if value not in (None, False)}
    if repeat == 1:
        del given["repeat"]
    check_options(given)
    from kgplatform.settings import load_settings

    settings = load_settings(home=home, token_budget=token_budget)
    datasets = _data_sets(given)
    if not retrieval_only:
        _need_model(settings)
    if retrieval_only:
        _measure_retrieval(settings, datasets, given)
    else:
        _evaluate(settings, datasets, given)


def check_options(given: Mapping[str, Any]) -> None:
    """Raise ``InputError`` where options contradict each other, or where there is nothing to ask."""
    for option, others in _NOT_WITH.items():
        for other in others:
            if option in given and other in given:
                raise InputError(f"{_flag(option)} and {_flag(other)} cannot be combined: leave one of them out.")
    for option, dependent in _ONLY_WITH.items():
        for other in dependent:
            if other in given and option not in given:
                raise InputError(
                    f"{_flag(other)} only works with {_flag(option)}: add {_flag(option)}, or leave {_flag(other)} out."
                )
    if not given.keys() & {"questions", "path", "needles"}:
        raise InputError(
            "There are no questions. Name a file of your own (`kgplatform evaluate questions.jsonl`), a data set "
            "(--path), or needles (--needles single)."
        )
    names, paths = given.get("dataset", []), given.get("path", [])
    if names and len(names) != len(paths):
        raise InputError("Give --dataset once for each --path, in the same order, or leave it out.")
    if "recorded" in given and len(paths) > 1:
        raise InputError("--recorded works with one data set only: give one --path.")
    rates = given.get("rate", [])
    if _NONE in rates and (len(rates) > 1 or "judge_model" in given):
        raise InputError("--rate none turns the raters off: leave out the other raters and --judge-model.")


def _flag(option: str) -> str:
    return "QUESTIONS" if option == "questions" else flag(option)


def _need_model(settings: Settings) -> None:
    from kgplatform.evaluate.evaluation import NO_MODEL

    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise SettingError(NO_MODEL, "retrieval_only")


def _data_sets(given: Mapping[str, Any]) -> list[DataSet]:
    """The data sets that are named, each with a name of its own."""
    from kgplatform.evaluate.datasets import load

    if "needles" in given:
        return [_needles(given)]
    paths = [given["questions"]] if "questions" in given else given["path"]
    names = given.get("dataset") or [None] * len(paths)
    found = [load(path, name, limit=given.get("limit")) for path, name in zip(paths, names, strict=True)]
    if "recorded" in given:
        found[0] = replace(found[0], recording=given["recorded"])
    for dataset in found:
        _tell_faults(dataset)
    return _distinct(found)


def _needles(given: Mapping[str, Any]) -> DataSet:
    from kgplatform.evaluate.needles.heat_map import needle_data_set, parse_depths, parse_lengths

    kind = given["needles"]
    return needle_data_set(
        kind,
        parse_lengths(given.get("lengths", _LENGTHS)),
        parse_depths(kind, given.get("depths", _DEPTHS)),
        given.get("samples", 1),
        haystack=given.get("haystack"),
        seed=given.get("seed", 0),
        rank=given.get("rank", "largest"),
    )


def _tell_faults(dataset: DataSet) -> None:
    for fault in dataset.faults[:_FAULTS_TOLD]:
        note(fault)
    if len(dataset.faults) > _FAULTS_TOLD:
        note(f"… and {len(dataset.faults) - _FAULTS_TOLD:,} more. {dataset.skipped:,} questions were left out.")


def _distinct(datasets: Sequence[DataSet]) -> list[DataSet]:
    """The same data set from two places is two: each has its own folder of results."""
    names = [data_set.name for data_set in datasets]
    numbers = [names[:place].count(name) for place, name in enumerate(names)]
    return [
        replace(dataset, name=f"{dataset.name} {number + 1}") if number else dataset
        for dataset, number in zip(datasets, numbers, strict=True)
    ]


def _setups(given: Mapping[str, Any]) -> tuple[tuple[Setup, ...], tuple[Path, ...]]:
    """The setups, with how their graphs are built, and the files that a grid builds graphs from."""
    from kgplatform.evaluate.setups import parse_setups, read_grid, usual

    if "grid" in given:
        grid = read_grid(given["grid"])
        setups, corpus = grid.setups, grid.corpus
    else:
        setups, corpus = parse_setups(given.get("readers") or usual()), ()
    return tuple(_built(setup, given) for setup in setups), corpus


def _built(setup: Setup, given: Mapping[str, Any]) -> Setup:
    """``setup`` over a graph that is built as the command line says, where a grid does not say otherwise."""
    extractor, schema = setup.build.extractor or given.get("extractor"), setup.build.schema or given.get("schema")
    return replace(setup, build=replace(setup.build, extractor=extractor, schema=schema))


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
    questions = tuple(_by_title(question, titles) for question in dataset.questions)
    return replace(dataset, corpus=tuple(texts), questions=questions)


def _by_title(question: Question, titles: Mapping[str, str]) -> Question:
    """``question`` with the titles of the documents whose files it names."""
    supports = tuple(replace(support, title=titles.get(support.title, support.title)) for support in question.supports)
    return replace(question, supports=supports, within=tuple(titles.get(each, each) for each in question.within))


def _evaluate(settings: Settings, datasets: Sequence[DataSet], given: Mapping[str, Any]) -> None:
    from kgplatform.evaluate.costs import load_prices
    from kgplatform.evaluate.evaluation import EvaluationPlan
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.kept_answers import slug
    from kgplatform.interfaces.cli.show.answers import trace_in_words
    from kgplatform.interfaces.cli.show.terminal import ProgressLines, print_json

    prices = load_prices(given.get("prices"))
    setups, corpus = _setups(given)
    needles = "needles" in given
    plans = [
        EvaluationPlan(
            _with_corpus(settings, data_set, corpus),
            setups,
            given["out"] / slug(data_set.name) if len(datasets) > 1 else given["out"],
            parallel=given.get("parallel", 1),
            prepare=given.get("prepare", False),
            raters=_raters(given),
            judge_model=given.get("judge_model"),
            chief="contains" if needles else None,
            alone=len(datasets) == 1,
            in_words=trace_in_words,
        )
        for data_set in datasets
    ]
    done: list[tuple[EvaluationPlan, Results, Timing]] = []
    try:
        with ProgressLines() as progress:
            with Graphs(settings, note, progress) as graphs:
                for plan in plans:
                    done.append((plan, *_run(graphs, plan, prices, given, progress)))
            _repeat(settings, done, prices, given, progress)
    finally:  # what is done is shown, though the next data set cannot be
        if not given.get("as_json"):
            _show(done, prices)
    if given.get("as_json"):
        documents = [{"out": plan.out, "results": results, "timing": timing} for plan, results, timing in done]
        print_json(documents[0] if len(documents) == 1 else {"evaluations": documents})
    if any(setup.failed for _, results, _ in done for setup in results.setups):
        raise typer.Exit(1)


def _repeat(
    settings: Settings,
    done: Sequence[tuple[EvaluationPlan, Results, Timing]],
    prices: Prices,
    given: Mapping[str, Any],
    progress: ProgressLines,
) -> None:
    """The runs after the first, each with a folder and a cache of its own; then the reports that tell of them all."""
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.journal import write_whole
    from kgplatform.evaluate.outcome import as_json, spread

    runs = [[results] for _, results, _ in done]
    for number in range(2, given.get("repeat", 1) + 1):
        with Graphs(settings, note, progress, run=number) as graphs:
            for (plan, _, _), every in zip(done, runs, strict=True):
                again = replace(plan, out=plan.out / f"run-{number}")
                every.append(_run(graphs, again, prices, given, progress)[0])
    for (plan, results, timing), every in zip(done, runs, strict=True):
        if len(every) > 1:
            _write_report(plan, results, timing, prices, given, every)
            write_whole(plan.out / "repeated.json", as_json({"runs": len(every), "scores": spread(every)}), mode=0o644)


def _raters(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Needles are found or not: no rater is needed, unless one is asked for."""
    rates = given.get("rate") or ([] if "needles" in given else ["judge"])
    return () if _NONE in rates else tuple(dict.fromkeys(rates))


def _run(
    graphs: Graphs, plan: EvaluationPlan, prices: Prices, given: Mapping[str, Any], progress: ProgressLines
) -> tuple[Results, Timing]:
    """One data set: its results are written before the next one begins."""
    from kgplatform.evaluate.evaluation import evaluate as run
    from kgplatform.evaluate.outcome import write_results

    results, timing = run(graphs, plan, note, progress)
    write_results(plan.out, results, timing)
    _write_report(plan, results, timing, prices, given)
    return results, timing


def _write_report(
    plan: EvaluationPlan,
    results: Results,
    timing: Timing,
    prices: Prices,
    given: Mapping[str, Any],
    repeated: Sequence[Results] = (),
) -> None:
    """The report, and then again with the pictures."""
    from kgplatform.evaluate.journal import write_whole
    from kgplatform.evaluate.needles.heat_map import heat_map
    from kgplatform.evaluate.plots import draw, draw_heat_map
    from kgplatform.evaluate.report import markdown

    report, caption = plan.out / "report.md", given.get("caption", "")
    write_whole(report, markdown(results, timing, prices, (), repeated).encode(), mode=0o644)
    pictures = draw(results, timing, plan.out, caption)
    if found := heat_map(results):
        pictures += draw_heat_map(found, plan.out, caption)
    names = [picture.relative_to(plan.out) for picture in pictures]
    write_whole(report, markdown(results, timing, prices, names, repeated).encode(), mode=0o644)


def _show(done: Sequence[tuple[EvaluationPlan, Results, Timing]], prices: Prices) -> None:
    from kgplatform.interfaces.cli.show.evaluation import show_results

    for plan, results, timing in done:
        show_results(results, timing, prices, plan.out)
    sys.stdout.flush()  # before what is said on the error stream after it


def _measure_retrieval(settings: Settings, datasets: Sequence[DataSet], given: Mapping[str, Any]) -> None:
    from kgplatform.evaluate.graphs import Graphs
    from kgplatform.evaluate.journal import claimed, write_whole
    from kgplatform.evaluate.outcome import as_json
    from kgplatform.evaluate.retrieval import CUTS, evaluate_retrieval, retrieval_markdown
    from kgplatform.evaluate.terms import Build
    from kgplatform.interfaces.cli.show.evaluation import show_retrieval
    from kgplatform.interfaces.cli.show.terminal import ProgressLines

    cuts = _cuts(given["at"]) if "at" in given else CUTS
    build = Build(extractor=given.get("extractor"), schema=given.get("schema"))
    with claimed(given["out"]), ProgressLines() as progress, Graphs(settings, note, progress) as graphs:
        report = evaluate_retrieval(
            datasets, graphs, routes=given.get("route", ()), cuts=cuts, build=build, progress=progress
        )
    show_retrieval(report, given.get("as_json", False))  # first: a full disk takes nothing from a person
    write_whole(given["out"] / "retrieval.md", retrieval_markdown(report).encode(), mode=0o644)
    write_whole(given["out"] / "retrieval.json", as_json(asdict(report)), mode=0o644)


def _cuts(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() and int(word) for word in words):
        raise InputError(f"--at {text} cannot be used: write ranks from 1 as 2,5,10.")
    return tuple(map(int, words))
