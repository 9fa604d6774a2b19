"""The wheel, built from this tree and installed where there is nothing else of it: all that it needs is inside."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, variables

import kgplatform
from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Connection
from kgplatform.query import query_names

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built with what is installed here: no network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and an empty folder to work in."""

    bin: Path
    folder: Path

    def run(self, *command: str, **environment: str) -> str:
        """What a command prints, run in the empty folder with no setting but ``environment``."""
        ours = ("PYTHON", "VIRTUAL_ENV", "NEO4J", "OPENAI", "KGPLATFORM")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        done = subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=self.folder,
            env={**clean, "KGPLATFORM_HOME": str(self.folder / "home"), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A new environment with the wheel, and the dependencies of the one that runs the tests.

    They are reached by a ``.pth`` file, since nothing may be downloaded here. A folder that a ``.pth`` file names has
    its own ``.pth`` files ignored, hence also the one that makes this tree importable: ``kgplatform`` is the wheel's.
    """
    root = tmp_path_factory.mktemp("empty")
    venv.create(root / "venv", symlinks=True)
    python = root / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    (site,) = (root / "venv" / "lib").glob("python*/site-packages")
    dependencies = [path for path in sys.path if Path(path).name == "site-packages"]
    (site / "dependencies.pth").write_text("\n".join(dependencies) + "\n", encoding="utf-8")
    (root / "folder").mkdir()
    return Installed(python.parent, root / "folder")


def test_statements_schemas_and_prompts_are_inside(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"kgplatform/{path.relative_to(ROOT)}" for path in (ROOT / "cypher").rglob("*.cypher")}
    wanted |= {f"kgplatform/{path.relative_to(ROOT)}" for path in (ROOT / "schemas").glob("*.yaml")}
    wanted |= {f"kgplatform/{path.relative_to(ROOT)}" for path in (ROOT / "examples" / "corpus").iterdir()}
    wanted.add("kgplatform/examples/extraction.jsonl")
    package = ROOT / "kgplatform"
    files = (path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    wanted |= {str(path.relative_to(ROOT)) for path in files}
    assert len([each for each in wanted if each.endswith(".cypher")]) == len(query_names())
    assert any(each.startswith("kgplatform/prompts/") for each in wanted)
    assert "kgplatform/interfaces/explorer/index.html" in wanted
    assert wanted - inside == set()
    others = {each for each in inside - wanted if ".dist-info/" not in each}
    assert others == set(), "nothing else comes along"
    assert any(each.endswith("licenses/LICENSE") for each in inside)


def test_it_is_the_wheel_that_runs_also_without_a_graph(installed: Installed) -> None:
    code = (
        "import kgplatform; from kgplatform.query import data_folder; sample = data_folder('examples') / 'corpus'; "
        "print(kgplatform.__file__, data_folder('cypher'), len(list(sample.iterdir())))"
    )
    package, folder, texts = installed.run("python", "-c", code).split()
    assert int(texts) == len(list((ROOT / "examples" / "corpus").iterdir())), "the sample of the explorer"
    assert Path(package).is_relative_to(installed.bin.parent)
    assert folder == str(Path(package).parent / "cypher")
    assert kgplatform.__file__ != package
    assert "is not running" in installed.run("kgplatform", "status")


def test_ingest_and_search_from_an_empty_folder(
    installed: Installed, kg: KnowledgeGraph, neo4j_server: Connection
) -> None:
    def command(*arguments: str) -> Any:
        return json.loads(installed.run("kgplatform", *arguments, "--json", **variables(neo4j_server)))

    (installed.folder / "ada.txt").write_text("Ada Lovelace was born in London in 1815.", encoding="utf-8")
    report = command("ingest", "ada.txt", "--schema", "literature", "--extractor", "local")
    assert (report["added"], report["schema"]) == (1, "literature")
    assert kg.stats().nodes["Document"] == 1
    assert command("search", "Where was Ada Lovelace born?")["passages"][0]["title"] == "ada"
