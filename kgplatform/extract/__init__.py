"""Extractors: what a passage says, before the schema bounds it. ``llm``, ``local`` and ``recorded`` are alike here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from kgplatform.concurrency import plug_ins
from kgplatform.errors import InputError, SettingError, wrong_value
from kgplatform.extract.llm import LlmExtractor
from kgplatform.extract.local import LocalExtractor
from kgplatform.extract.recorded import RecordedExtractor, is_open_ie
from kgplatform.extract.schema import Schema
from kgplatform.models.chat import Chat
from kgplatform.records import Document, Extraction, Passage
from kgplatform.sources.objects import Given
from kgplatform.text import unknown

EXTRACTORS = ("llm", "local", "recorded")


class Extractor(Protocol):
    """Reads passages, from several threads at once."""

    @property
    def name(self) -> str: ...

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What ``passage`` says. Whatever it raises is the reason why this passage could not be read."""


def default_extractor(recorded: str | Path | None, chat: Callable[[], Chat | None]) -> str:
    """``recorded`` where there is a recording, else ``llm`` where there is a model, else ``local``."""
    return "recorded" if recorded is not None else "llm" if chat() is not None else "local"


def make_extractor(
    name: str | Extractor | None, recorded: str | Path | None, chat: Callable[[], Chat | None]
) -> Extractor:
    """One's own extractor, the one called ``name``, or the default one; ``chat`` opens the model where one is asked.
    Raises ``InputError`` for an unknown name or a missing recording, ``SettingError`` for a missing model."""
    if name is not None and not isinstance(name, str):
        lacking = [each for each in ("name", "extract") if not hasattr(name, each)]
        if lacking:
            raise wrong_value("extractor", name, f"it has no {' and no '.join(lacking)} (see kgplatform.Extractor)")
        return name
    chosen = name or default_extractor(recorded, chat)
    if chosen == "recorded":
        if recorded is None:
            raise InputError("The extractor recorded needs a recording. Name it with recorded=FILE.", "recorded")
        return RecordedExtractor(recorded)
    if chosen == "llm":
        if (model := chat()) is None:
            raise SettingError(
                "`llm` needs a language model. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, or use "
                "extractor=local.",
                "extractor",
            )
        return LlmExtractor(model)
    if chosen == "local":
        return LocalExtractor()
    if plug_ins.is_installed("extractor", chosen):
        return cast(Extractor, plug_ins.made("extractor", chosen, chat(), "name", "extract"))
    raise InputError(unknown("extractor", chosen, extractors()))


def extractors() -> tuple[str, ...]:
    """The names of the platform's own, and of those that other packages add."""
    return (*EXTRACTORS, *plug_ins.names("extractor"))


def with_recording(given: Given, recorded: str | Path | None, extractor: str | Extractor | None) -> str | Path | None:
    """The recording of what is ``given``. Where one open-IE file is all there is, it is both of them."""
    if recorded is not None and not given:
        if not is_open_ie(Path(recorded)) and Path(recorded).is_file():
            raise InputError(f"{recorded} does not contain its texts. Name their files too.")
        given.paths.append(recorded)
        return recorded
    is_alone = recorded is None and len(given.paths) == 1 and not given.texts
    if is_alone and extractor in (None, "recorded") and is_open_ie(Path(given.paths[0])):
        return given.paths[0]
    return recorded
