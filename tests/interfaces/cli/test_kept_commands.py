"""The commands about kept answers: ``recheck``, ``answer export`` and ``answer verify``."""

import hmac
import json
import sys
from pathlib import Path

import pytest
from command_line import Run
from pytest_httpserver import HTTPServer

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import StoppedError

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


def test_a_subscription_is_told_of_what_came_and_went(
    run: Run, kg: KnowledgeGraph, tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, question = tmp_path / "tower.txt", "When was the tower of Riga built?"
    file.write_text("The tower of Riga was built in 1209.", "utf-8")
    kg.ingest([file], extractor="local")
    stop = Stop()
    changes = kg.within(stop).watch(question, every=0.01)
    file.write_text("The tower of Riga was built in 1211.", "utf-8")
    kg.ingest([file], extractor="local")
    change = next(changes)
    texts = [[each.text for each in cited] for cited in (change.came, change.gone)]
    assert texts == [["The tower of Riga was built in 1211."], ["The tower of Riga was built in 1209."]]
    stop.set()
    with pytest.raises(StoppedError):
        next(changes)

    monkeypatch.setattr(KnowledgeGraph, "watch", lambda *_, **__: iter([change, change]))
    httpserver.expect_ordered_request("/hook").respond_with_data("")
    httpserver.expect_ordered_request("/hook").respond_with_data("", status=500)
    heard = tmp_path / "heard.json"
    into = f"{sys.executable} -c \"import sys; open('{heard}', 'a').write(sys.stdin.read())\""
    asked = ("watch", question, "--webhook", httpserver.url_for("/hook"), "--command", into)
    assert "KGPLATFORM_WEBHOOK_SECRET" in run(*asked).err
    monkeypatch.setenv("KGPLATFORM_WEBHOOK_SECRET", "quite secret")
    done = run(*asked)
    assert (done.code, done.out.count("+ tower"), done.out.count("- tower")) == (0, 2, 2)
    assert "500" in done.err
    sent = [request for request, _ in httpserver.log]
    signed = hmac.new(b"quite secret", sent[0].data, "sha256").hexdigest()
    assert sent[0].headers["X-Kgplatform-Signature"] == f"sha256={signed}"
    assert json.loads(sent[0].data) == json.loads(heard.read_text("utf-8")) == change.to_dict()
    for address in ("http://example.org/hook", "file:///etc/passwd", "ftp://localhost/", "https://", "localhost:80"):
        assert run("watch", question, "--webhook", address).code == 2
