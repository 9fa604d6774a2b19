"""Settings: one table, read when asked, the environment before ``.env``, errors in words."""

import os
from pathlib import Path

import pytest
from platformdirs import user_cache_path, user_data_path

from kgplatform.errors import SettingError
from kgplatform.settings import (
    GivenSettings,
    Settings,
    load_settings,
    settings_table,
    unknown_variables,
    values_in_force,
)


def test_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KGPLATFORM_HOME")
    monkeypatch.delenv("KGPLATFORM_NEO4J_JARS", raising=False)
    settings = load_settings()
    assert (settings.neo4j_uri, settings.neo4j_username, settings.passage_tokens) == (None, "neo4j", 400)
    assert settings.home_folder == user_data_path("kgplatform")
    checkout = tmp_path / "jars"
    monkeypatch.setattr("kgplatform.settings._OF_CHECKOUT", checkout)
    assert settings.jar_folder == user_cache_path("kgplatform") / "neo4j"
    checkout.mkdir()
    assert settings.jar_folder == checkout, "what `make demo` has fetched is fetched once"


def test_given_then_environment_then_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Path(".env").write_text("KGPLATFORM_CONCURRENCY=2\nNEO4J_USERNAME=of_the_file\nOPENAI_API_KEY=k\nOTHER=x\n")
    monkeypatch.setenv("KGPLATFORM_CONCURRENCY", "3")
    settings = load_settings()
    assert (settings.concurrency, settings.neo4j_username) == (3, "of_the_file")
    assert settings.openai_api_key and settings.openai_api_key.get_secret_value() == "k"
    assert load_settings(concurrency=4).concurrency == 4
    assert load_settings(concurrency=None).concurrency == 3


def test_conventional_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_USER", "ada")
    assert load_settings().neo4j_username == "ada"
    monkeypatch.setenv("NEO4J_USERNAME", "grace")
    assert load_settings().neo4j_username == "grace"
    monkeypatch.setenv("KGPLATFORM_CHUNK_TOKENS", "300")  # what it was called until November 2026
    assert load_settings().passage_tokens == 300
    monkeypatch.setenv("KGPLATFORM_PASSAGE_TOKENS", "200")
    assert load_settings().passage_tokens == 200
    monkeypatch.setenv("NEO4J_DATABASE", "facts")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert (load_settings().neo4j_database, load_settings().openai_base_url) == ("facts", "http://127.0.0.1:1/v1")


def test_a_wrong_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"CONCURRENCY": "many", "PASSAGE_TOKENS": "19", "SAME_AS_THRESHOLD": "0", "MODEL_RETRIES": "-1"}
    for name, value in wrong.items():
        monkeypatch.setenv(f"KGPLATFORM_{name}", value)
        with pytest.raises(SettingError, match=rf"^A setting cannot be used: KGPLATFORM_{name}: [^\n]*$"):
            load_settings()
        monkeypatch.delenv(f"KGPLATFORM_{name}")
    with pytest.raises(SettingError, match="KGPLATFORM_TOKEN_BUDGET"):
        load_settings(token_budget=-5)


def test_secrets_do_not_show_and_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "s3cret")
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.concurrency = 3
    assert "s3cret" not in repr(settings) + str(settings) + settings.model_dump_json()


def test_values_in_force_and_where_they_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(
        "KGPLATFORM_CONCURRENCY=2\nNEO4J_USER=of_the_file\nOPENAI_API_KEY=s3cret\nKGPLATFORM_ENCODING=\n"
    )
    monkeypatch.setenv("KGPLATFORM_CONCURRENCY", "3")
    monkeypatch.setenv("NEO4J_URI", "bolt://ada:s3cret@example.org:7687")
    monkeypatch.setenv("KGPLATFORM_WORKERS", "many")
    monkeypatch.delenv("KGPLATFORM_NEO4J_JARS", raising=False)
    monkeypatch.setattr("kgplatform.settings._OF_CHECKOUT", Path("of a checkout"))
    names = [name for name, *_ in settings_table()]
    found = dict(zip(names, values_in_force(home=Path("graph")), strict=True))
    assert found["KGPLATFORM_HOME"] == ("graph", "argument")
    assert found["KGPLATFORM_CONCURRENCY"] == ("3", "environment")
    assert found["KGPLATFORM_WORKERS"] == ("many", "environment")
    assert found["NEO4J_USERNAME"] == ("of_the_file", ".env")
    assert found["OPENAI_API_KEY"] == ("********", ".env")
    assert found["NEO4J_PASSWORD"] == ("", "default")
    assert found["NEO4J_URI"] == ("bolt://********@example.org:7687", "environment")
    assert found["KGPLATFORM_ENCODING"] == ("", "default")
    assert found["KGPLATFORM_NEO4J_JARS"] == (str(user_cache_path("kgplatform") / "neo4j"), "default")
    assert "s3cret" not in str(found)
    monkeypatch.setenv("KGPLATFORM_CHAT_PARAMETERS", "{")
    with pytest.raises(SettingError, match="KGPLATFORM_CHAT_PARAMETERS cannot be used: give one JSON object"):
        values_in_force()


def test_the_folder_that_one_is_in_is_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A path of one dot is not the default."""
    assert load_settings(home=".").home_folder == load_settings(home=Path()).home_folder == tmp_path
    monkeypatch.setenv("KGPLATFORM_HOME", ".")
    monkeypatch.setenv("KGPLATFORM_NEO4J_JARS", ".")
    assert load_settings().home_folder == load_settings().jar_folder == tmp_path
    assert load_settings(home=Path("~/graph")).home_folder == Path.home() / "graph"
    with pytest.raises(SettingError, match=r"^The name of the home folder is empty\."):
        load_settings(home="")


def test_a_variable_that_is_no_setting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in os.environ if each.startswith("KGPLATFORM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KGPLATFORM_CHAT_MODEL", "small")
    monkeypatch.setenv("KGPLATFORM_BENCH_SEED", "7")
    assert unknown_variables() == []
    monkeypatch.setenv("KGPLATFORM_CHAT_MODLE", "small")
    assert unknown_variables() == [
        "KGPLATFORM_CHAT_MODLE is not a setting and is ignored. Did you mean KGPLATFORM_CHAT_MODEL?"
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-bom", "cp1252"])
def test_a_file_of_settings_is_read_in_the_encodings_of_editors_or_refused_by_its_name(
    encoding: str, tmp_path: Path
) -> None:
    text = "KGPLATFORM_CHAT_MODEL=größe\nKGPLATFORM_CHAT_MODLE=x\nOTHER=1\n"
    mark = "\ufeff" if encoding.endswith("-bom") else ""
    (tmp_path / ".env").write_bytes((mark + text).encode(encoding.removesuffix("-bom")))
    if encoding == "cp1252":
        with pytest.raises(SettingError, match=r"/\.env is not in UTF-8\. Save it again"):
            load_settings()
        return
    assert load_settings().chat_model == "größe"
    assert ("größe", ".env") in values_in_force()
    assert unknown_variables() == [
        "KGPLATFORM_CHAT_MODLE in .env is not a setting and is ignored. Did you mean KGPLATFORM_CHAT_MODEL?"
    ]


def test_a_setting_that_is_gone_says_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGPLATFORM_CYPHER_LIMIT", "5")
    assert "KGPLATFORM_CYPHER_LIMIT is not a setting and is ignored. Give the statement a limit." in unknown_variables()
    with pytest.raises(SettingError, match='no setting "cypher_timeout". Give the statement a time limit.'):
        load_settings(cypher_timeout=3)


def test_type_checkers_know_all_settings() -> None:
    assert GivenSettings.__annotations__.keys() == Settings.model_fields.keys() - {"home", "embedder"}
