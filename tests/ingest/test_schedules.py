"""Several processes write one graph at once; ``make bench ONLY=faults`` makes hundreds of such schedules."""

from pathlib import Path

import pytest
from schedules import Campaign

from kgplatform.neo4j.store import Connection, Store


@pytest.mark.killed
@pytest.mark.parametrize("number", (21,))
def test_whatever_processes_do_at_once_they_could_have_done_in_some_order(
    neo4j_server: Connection, store: Store, tmp_path: Path, number: int
) -> None:
    with Campaign(neo4j_server, store, tmp_path, seed=20) as campaign:
        outcome = campaign.run(number)
    assert outcome.faults == [], [str(each) for each in outcome.operations]
