"""The commands about kept answers: ``recheck``, ``answer export`` and ``answer verify``."""

from pathlib import Path

from command_line import Run

from kgplatform.client import KnowledgeGraph

pytest_plugins = ["command_line"]


def test_the_command(run: Run, kg: KnowledgeGraph, tmp_path: Path) -> None:
    file = tmp_path / "tower.txt"
    file.write_text("The tower of Riga was built in 1209. It burnt down in 1721.", "utf-8")
    kg.ingest([file], extractor="local")
    answer = kg.ask("When was the tower of Riga built?", keep=True)
    assert run("recheck", "--fail-on", "lost,changed").code == 0
    file.write_text("The tower of Riga was built in 1211. It burnt down in 1721.", "utf-8")
    kg.ingest([file], extractor="local")
    done = run("recheck", answer.run, "--fail-on", "lost,changed")
    assert done.code == 4
    assert "then: The tower of Riga was built in 1209." in done.out
    assert "now:  The tower of Riga was built in 1211." in done.out
    assert done.out.endswith("Of 1 kept answer, 1 cites a sentence that changed.\n")
    shown = run("recheck", "--json", "--fail-on", "lost")
    assert (shown.code, shown.document["answers"][0]["state"]) == (0, "changed")
    assert run("recheck", "--fail-on", "gone").code == 2
    written = run("answer", "export", answer.run)
    assert (written.code, Path(f"answer-{answer.run}.zip").is_file()) == (0, True)
    verified = run("answer", "verify", f"answer-{answer.run}.zip", file)
    assert (verified.code, "the document does not have these words" in verified.out) == (4, True)
    file.write_text("The tower of Riga was built in 1209. It burnt down in 1721.", "utf-8")
    assert run("answer", "verify", f"answer-{answer.run}.zip", tmp_path, "--json").document["holds"]
    assert run("answer", "export", "nothing").code == 2
