"""The record of a reader: all that the platform knows of it, and what every door is made from.

    @dataclass(frozen=True, slots=True)
    class Options:
        mode: AnswerMode = mode_option()
        top_k: int = option(5, "how many facts", least=1)

        def __post_init__(self) -> None:
            check(self)

    READER = Reader("bestfact", "The nearest fact, without a model.", Options, answer)

The command line, HTTP, MCP, the explorer's form, ``evaluate`` and the documentation read the fields of ``Options``:
their types, defaults, bounds and help.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from kgplatform.errors import InputError
from kgplatform.readers.run import Run
from kgplatform.readers.window import SMALLEST
from kgplatform.records import Answer
from kgplatform.text import unknown

AnswerMode = Literal["reject", "open"]
"""What happens where the documents do not say: a refusal, or the model's own knowledge."""
Need = Literal["entities", "facts", "gists", "tree"]
"""What a reader reads beside the texts: extracted entities, atomic facts by a model, gists of pages, the tree."""
AnswerStyle = Literal["phrase", "sentences", "report"]
"""How long an answer is: the bare answer, one to three sentences, or as long as it takes, with headings."""
Preset = Literal["window", "paper"]
"""Where a reader's sizes come from: the window of the model that is set, or its paper."""
LARGEST = 1_000_000
"""The largest number of an option that has no other bound."""

_WANTED: dict[str, tuple[Any, str]] = {
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "number": (float, "a number"),
    "string": (str, "text"),
    "list": (tuple[str, ...], "a list of texts"),
}
_TYPES = {kind: name for name, (kind, _) in _WANTED.items()}
_ADAPTERS: dict[str, TypeAdapter[Any]] = {name: TypeAdapter(kind) for name, (kind, _) in _WANTED.items()}


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a reader's ``Options``.

    ``type``: "boolean", "integer", "number", "string" or "list" (of strings). ``optional``: None is a value too.
    ``choices``: the only values, or the only items of a list; any where there are none. ``least`` and ``most``: the
    bounds of a number. ``help``: a phrase without a full stop; of a switch that is on by default, what it is that can
    be left out. ``example``: what a value looks like. ``one``: what an item of a list is called.
    """

    name: str
    type: str
    default: Any
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    optional: bool = False
    example: str = ""
    one: str = ""

    def typed(self, value: Any) -> Any:
        """``value`` as this type: a tuple for a list. Raises ``InputError`` where it is of another one, as "5" is."""
        if isinstance(value, str) and self.type not in ("string", "list"):
            raise self._wrong(value)
        return self.read(value)

    def read(self, value: Any) -> Any:
        """The same of what may be written as a text: 5 for "5"."""
        if value is None and self.optional:
            return None
        items = (value,) if self.type == "list" and isinstance(value, str) else value
        try:
            return _ADAPTERS[self.type].validate_python(items)
        except ValidationError as error:
            raise self._wrong(value) from error

    def _wrong(self, value: Any) -> InputError:
        wanted = _WANTED[self.type][1] + (" or none" if self.optional else "")
        shown = f"{value:.100}" if isinstance(value, str) else f"{value!r:.100}"
        return InputError(f"{self.name}={shown} cannot be used: it must be {wanted}.", self.name)

    def check(self, value: Any) -> None:
        """Raise ``InputError`` for a ``value`` of the right type that is out of bounds or none of the choices."""
        if self.choices:
            for item in value if self.type == "list" else (value,):
                if item not in self.choices:
                    raise InputError(unknown(self.one or self.name, str(item), self.choices))
        elif value is not None and self.type in ("integer", "number"):
            least, most = self.bounds
            if not value >= least:  # nor is NaN
                raise InputError(f"{self.name} must be at least {least:,}.", self.name)
            if not value <= most:
                raise InputError(f"{self.name} must be at most {most:,}.", self.name)

    @property
    def singular(self) -> str:
        """Its name where it is given item by item: "document" for "documents"."""
        return self.one if self.name == f"{self.one}s" else self.name

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest number."""
        return -LARGEST if self.least is None else self.least, LARGEST if self.most is None else self.most


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader by its ``name``; ``about`` says in a sentence or two what it does.

    ``title``: what people choose it by, where there is room for more than its name. ``takes``: how many calls of the
    model a question usually takes.

    ``Options``: a frozen dataclass whose fields have their help (``option``) and which checks them (``check``).
    ``answer(question, run, options)`` reads; without a language model it gives the evidence.

    What interfaces and ``evaluate`` ask beside that: ``needs_model``: whether it does less without a language model.
    ``needs``: what it reads beside the texts, by its options. ``usual``: `kgplatform evaluate` asks it by default.
    ``stages``: where its model chooses a function, in their order; the functions are counted as "stage.function"
    (``Answer.counts``), and the prompts are called after the stages. ``reads``: the prompts whose steps read the
    passages that they name, where other steps found theirs. ``whole_graph``: it reads what speaks of all documents at
    once, such as communities: kept to some, it is given a graph of these.
    """

    name: str
    about: str
    Options: type[Any]
    answer: Callable[[str, Run, Any], Answer]
    title: str = ""
    takes: str = ""
    needs_model: bool = True
    needs: Callable[[Any], Sequence[Need]] = lambda options: ("entities",)
    usual: bool = False
    stages: Sequence[str] = ()
    reads: Collection[str] = ()
    whole_graph: bool = False

    @property
    def options(self) -> tuple[Option, ...]:
        """Its options, in the order of their fields."""
        return options_of(self.Options)

    def made(self, given: Mapping[str, Any]) -> Any:
        """The ``Options`` with what is ``given``, else as by default; raises ``InputError`` for what is wrong."""
        known = {option.name: option for option in self.options}
        return self.Options(**{name: known[name].typed(value) for name, value in given.items()})


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: Sequence[str] = (),
    example: str = "",
    one: str = "",
) -> Any:
    """A field of ``Options``; what is said of it is as ``Option`` has it. A ``Literal`` type has its choices itself."""
    said = {"help": help, "least": least, "most": most, "choices": tuple(choices), "example": example, "one": one}
    return field(default=default, metadata=said)


def mode_option() -> Any:
    """The option that all readers have."""
    return option(
        "reject",
        "if the documents do not contain the answer, reject declines to answer; open lets the model answer from its "
        "own knowledge and marks such an answer",
    )


def style_option() -> Any:
    """The option that all readers have."""
    return option(
        "sentences",
        "the length of an answer: the bare answer (phrase), one to three sentences, or a report with headings",
    )


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The options of every reader that asks a model; a reader's own come after them."""

    mode: AnswerMode = mode_option()
    answer_style: AnswerStyle = style_option()

    def __post_init__(self) -> None:
        check(self)


def window_option() -> Any:
    """The option of the readers that divide the window of the model among the parts of their prompts. None: the window
    that the model has (``Run.context``)."""
    return option(
        None,
        "maximum tokens of a prompt and its reply; by default the model's context window",
        least=SMALLEST,
        example="8192",
    )


def preset_option() -> Any:
    """The option of the readers whose sizes follow the window of the model, or are those of their paper."""
    return option("window", "sizes to suit the model's window, or those of the paper")


def documents_option() -> Any:
    """The option of the readers that can read some documents alone."""
    return option((), "read only this document; may be repeated", example="notes.md", one="document")


def options_of(kind: type[Any]) -> tuple[Option, ...]:
    """The options that the fields of the dataclass ``kind`` are, in their order."""
    found, hints = [], get_type_hints(kind)
    for each in fields(kind):
        hint = hints[each.name]
        kinds = [arg for arg in get_args(hint) if arg is not type(None)]
        optional, is_choice = type(None) in get_args(hint), get_origin(hint) is Literal
        is_list = get_origin(hint) is tuple
        type_ = "list" if is_list else "string" if is_choice else _TYPES[kinds[0] if optional else hint]
        said = {**each.metadata, **({"choices": tuple(kinds)} if is_choice else {})}
        found.append(Option(each.name, type_, each.default, optional=optional, **said))
    return tuple(found)


def check(options: Any) -> None:
    """Raise ``InputError`` where a number of ``options`` is out of bounds, or a text is not one of the choices."""
    for option in options_of(type(options)):
        option.check(getattr(options, option.name))
