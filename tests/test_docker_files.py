"""The container files agree with the package. No engine runs here: what they say is read, not done."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kgplatform.neo4j.config import TEMPLATES, VERSION
from kgplatform.neo4j.memory import Machine, StoreSize, choose
from kgplatform.settings import env_name, settings_table

ROOT = Path(__file__).parents[1]
DOCKER = ROOT / "docker"
SETTINGS = {row[0] for row in settings_table()}
ONLY_HERE = {"DOCUMENTS", "EXTRAS"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))
    return loaded


def test_every_variable_is_a_setting_and_is_explained(compose: dict[str, Any]) -> None:
    text = (DOCKER / "compose.yaml").read_text("utf-8")
    used = set(re.findall(r"\$\{(\w+)", text)) | set(compose["services"]["kgplatform"]["environment"])
    assert used - ONLY_HERE <= SETTINGS
    readme = (DOCKER / "README.md").read_text("utf-8")
    assert {name for name in used if f"`{name}`" not in readme} == {"KGPLATFORM_HOME"}


def test_password_is_asked_for_and_no_empty_key_is_given(compose: dict[str, Any]) -> None:
    assert compose["services"]["kgplatform"]["environment"]["OPENAI_API_KEY"] is None, "an empty key counts as a key"
    for service, name in (("neo4j", "NEO4J_AUTH"), ("kgplatform", "NEO4J_PASSWORD")):
        assert "${NEO4J_PASSWORD:?" in compose["services"][service]["environment"][name]


def test_memory_is_that_of_the_managed_server_for_a_small_graph() -> None:
    small = choose(Machine(2**33, 2**33), StoreSize(0, 0))
    for name in ("heap", "page_cache"):
        variable = env_name(f"neo4j_{name}")
        found = set(re.findall(rf"\$\{{{variable}:-(\w+)\}}", (DOCKER / "compose.yaml").read_text("utf-8")))
        assert found == {getattr(small, name)}


def test_server_is_told_the_same_as_the_managed_one(compose: dict[str, Any]) -> None:
    managed = dict(
        line.split("=", 1) for line in (TEMPLATES / "neo4j.conf").read_text("utf-8").splitlines() if "=" in line
    )
    told = {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): value
        for name, value in compose["services"]["neo4j"]["environment"].items()
        if name != "NEO4J_AUTH"
    }
    assert set(told) <= set(managed)
    fixed = {name: value for name, value in told.items() if "$" not in value}
    assert fixed == {name: managed[name] for name in fixed} and len(fixed) >= 5


def test_server_is_of_the_same_release_on_loopback_only_and_keeps_its_data(compose: dict[str, Any]) -> None:
    server = compose["services"]["neo4j"]
    assert compose["services"]["kgplatform"]["depends_on"]["neo4j"]["condition"] == "service_healthy"
    assert server["image"] == f"neo4j:{VERSION.rpartition('.')[0]}-community"
    assert server["ports"] and all(port.startswith("127.0.0.1:") for port in server["ports"])
    used = [volume for service in compose["services"].values() for volume in service["volumes"]]
    named = {volume.split(":")[0] for volume in used if not volume.startswith("$")}
    assert named == set(compose["volumes"]) and "neo4j-data:/data" in used


def test_image_copies_files_that_exist_and_are_not_ignored(compose: dict[str, Any]) -> None:
    build = compose["services"]["kgplatform"]["build"]
    assert (DOCKER / build["context"]).resolve() == ROOT
    recipe = (ROOT / build["dockerfile"]).read_text("utf-8")
    copied = {name for line in re.findall(r"^COPY (.+) \S+$", recipe, re.MULTILINE) for name in line.split()}
    assert {"pyproject.toml", "kgplatform", "cypher", "schemas"} <= copied
    assert [name for name in sorted(copied) if not (ROOT / name).exists()] == []
    ignore = (DOCKER / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in ignore if line.startswith("!")} == copied
    assert re.search(r"^USER kgplatform$", recipe, re.MULTILINE)
    assert 'ENTRYPOINT ["kgplatform"]' in recipe
